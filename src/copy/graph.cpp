// SPDX-License-Identifier: MIT
// Graphs. The calls themselves check whether their stream is captured: see runtime::capture_of and
// memory::captured_memory_of.
#include <roc/graph.hpp>

#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include <roc/error.hpp>

#include "copy/operation.hpp"
#include "memory/device/graph_memory.hpp"
#include "memory/host/host_table.hpp"
#include "memory/host/host_uses.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"

namespace roc {
namespace {

hipGraph_t native(detail::native_graph* handle) { return reinterpret_cast<hipGraph_t>(handle); }

hipGraphExec_t native(detail::native_graph_exec* handle) {
  return reinterpret_cast<hipGraphExec_t>(handle);
}

[[noreturn]] void throw_moved_from() {
  throw lifetime_error("the graph was moved from; use the graph that it was moved to");
}

void throw_if_failed(memory::graph_memory const& memory) {
  if (!memory.has_failed()) return;
  throw error(std::error_code(hipErrorStreamCaptureInvalidated, hip_category()),
              "a call failed during the capture, and a part of it is in the graph; capture again "
              "without that call, or correct what its exception says");
}

detail::native_graph_exec* instantiate(detail::native_graph* source) {
  hipGraphExec_t created = nullptr;
  hipGraph_t const graph = native(source);
  ROCARRAY_HIP(hipGraphInstantiateWithFlags, &created, graph, 0);
  return reinterpret_cast<detail::native_graph_exec*>(created);
}

// Records a launch on `stream` as a use of the host memory of the graph.
void record_host_uses(memory::graph_memory const& graph, stream_ref stream) {
  using memory::access;
  auto& table = memory::host_table::instance();
  table.record_reads(graph.untracked(false), stream);
  table.record_writes(graph.untracked(true), stream);
  auto const uses = graph.host();
  if (uses.empty()) return;
  runtime::stream_id const id = runtime::stream_id_of(stream);
  for (auto const& item : uses) {
    if (auto const owner = item.memory.lock()) {
      owner->record(id, item.is_write ? access::write : access::read);
    }
  }
}

// Blocks until the work is done that a launch without a stream comes after, of other devices whose
// memory the graph uses.
void synchronize_other_devices(std::vector<memory::allocation_record*> const& records, int device) {
  std::set<int> others;
  for (memory::allocation_record const* const record : records) {
    int const other = record->allocation_stream.device();
    if (other >= 0 && other != device) others.insert(other);
  }
  for (int const other : others) {
    runtime::on_device const guard(other);
    runtime::synchronize_all_streams(other);
  }
}

// Returns the host memory that the graph reads, or that it writes.
std::vector<base::byte_range> host_ranges(memory::graph_memory const& graph, bool are_written) {
  std::vector<base::byte_range> result = graph.untracked(are_written);
  for (auto const& use : graph.host()) {
    if (use.is_write == are_written) result.push_back(use.range);
  }
  return result;
}

// Lets the next synchronization of the stream rethrow what host functions of the launch threw.
void forward_exceptions(memory::graph_memory& graph, stream_ref stream) {
  auto slot = graph.host_errors();
  if (slot == nullptr) return;
  detail::launch_host_function(stream, detail::make_host_function([errors = std::move(slot)] {
                                 if (auto const failure = errors->take()) {
                                   std::rethrow_exception(failure);
                                 }
                               }));
}

// AMD's runtime compares no dependencies of the calls, and if one call differs, it has changed
// those before it.
#if ROCARRAY_PLATFORM_AMD
constexpr bool can_update_in_place = false;
#else
constexpr bool can_update_in_place = true;
#endif

// Makes an executable graph run `source`. Returns false, and leaves it unchanged, if the runtime
// cannot do that.
bool update_in_place(hipGraphExec_t executable, hipGraph_t source) {
  if (!can_update_in_place) return false;
  hipGraphNode_t failed_node = nullptr;
  auto reason = hipGraphExecUpdateSuccess;
  return ROCARRAY_HIP_CODE(hipGraphExecUpdate, executable, source, &failed_node, &reason) ==
         hipSuccess;
}

// Returns true for the errors that tell the state of a capture: the call that returns them must not
// be repeated.
bool is_capture_error(hipError_t code) {
  return code == hipErrorIllegalState ||
         (code >= hipErrorStreamCaptureUnsupported && code <= hipErrorStreamCaptureWrongThread);
}

}  // namespace

graph::~graph() {
  if (handle_ == nullptr) return;
  platform::retry_then_log([&] {
    hipGraph_t const destroyed = native(handle_);
    ROCARRAY_HIP(hipGraphDestroy, destroyed);
  });
}

graph::graph(graph&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), memory_(std::move(other.memory_)) {}

graph& graph::operator=(graph&& other) noexcept {
  graph moved(std::move(other));  // destroys the graph that is replaced
  std::swap(handle_, moved.handle_);
  std::swap(memory_, moved.memory_);
  return *this;
}

detail::native_graph* graph::handle() const {
  if (handle_ == nullptr) throw_moved_from();
  return handle_;
}

graph_exec::graph_exec(graph const& source, detail::caller at) {
  detail::call_scope const call("graph_exec", at);
  platform::refuse_in_host_function();
  detail::native_graph* const handle = source.handle();
  runtime::on_device const guard(source.memory_->device());
  handle_ = instantiate(handle);
  memory_ = source.memory_;
}

graph_exec::~graph_exec() { destroy(); }

graph_exec::graph_exec(graph_exec&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), memory_(std::move(other.memory_)) {}

graph_exec& graph_exec::operator=(graph_exec&& other) noexcept {
  graph_exec moved(std::move(other));  // destroys the graph that is replaced
  std::swap(handle_, moved.handle_);
  std::swap(memory_, moved.memory_);
  return *this;
}

// Waits, because not every runtime may destroy a graph that is running.
void graph_exec::destroy() noexcept {
  if (handle_ == nullptr) return;
  if (!memory_->wait_for_launches_quietly()) return;
  platform::retry_then_log([&] {
    hipGraphExec_t const destroyed = native(handle_);
    ROCARRAY_HIP(hipGraphExecDestroy, destroyed);
  });
}

detail::native_graph_exec* graph_exec::handle() const {
  if (handle_ == nullptr) throw_moved_from();
  return handle_;
}

void graph_exec::launch_on(stream_ref const* stream) {
  platform::refuse_in_host_function();
  hipGraphExec_t const executable = native(handle());
  runtime::refuse_uncaptured_call(stream);
  if (stream != nullptr) runtime::refuse_captured(*stream, "the launch of a graph");
  memory_->check_alive();
  std::vector<memory::allocation_record*> const records = memory_->records();
  transfer::operation op;
  op.device = memory_->device();
  op.records = records;
  std::vector<base::byte_range> reads;
  std::vector<base::byte_range> writes;
  if (stream == nullptr) {
    synchronize_other_devices(records, op.device);
  }
  if (stream == nullptr && !runtime::has_one_device()) {
    reads = host_ranges(*memory_, false);
    writes = host_ranges(*memory_, true);
    op.host_reads = reads;
    op.host_writes = writes;
  }
  auto const work = [&](stream_ref target) {
    hipStream_t const native_stream = runtime::handle(target);
    // The exceptions are forwarded before the next launch begins, which may be on another stream.
    memory_->add_launch(runtime::stream_id_of(target, op.device), [&] {
      ROCARRAY_HIP(hipGraphLaunch, executable, native_stream);
      forward_exceptions(*memory_, target);
    });
    if (stream != nullptr) record_host_uses(*memory_, target);
  };
  transfer::run_operation(transfer::trace_scope("roc::graph_exec::launch"), op, stream, work);
}

void graph_exec::launch(detail::caller at) {
  detail::call_scope const call(__func__, at);
  launch_on(nullptr);
}

void graph_exec::launch(stream_ref stream, detail::caller at) {
  detail::call_scope const call(__func__, at);
  launch_on(&stream);
}

void graph_exec::update(graph const& source, detail::caller at) {
  detail::call_scope const call(__func__, at);
  platform::refuse_in_host_function();
  hipGraphExec_t const executable = native(handle());
  hipGraph_t const graph = native(source.handle());
  memory_->wait_for_launches();  // they use what the graph that is replaced keeps alive
  runtime::on_device const guard(source.memory_->device());
  if (update_in_place(executable, graph)) {
    memory_ = source.memory_;
  } else {
    *this = graph_exec(source, at);
  }
}

struct detail::graph_capture::state {
  runtime::capturing_thread_scope const thread;
  int device = runtime::current_device();
  std::shared_ptr<memory::graph_memory> memory = memory::graph_memory::make(device);
  roc::stream stream{non_blocking};
  std::optional<runtime::capture_registration> registration;
  bool has_ended = false;

  hipStream_t native_stream() const { return reinterpret_cast<hipStream_t>(stream.handle()); }
  // Ends HIP's capture. Returns the graph, which may be null if `result` is an error.
  detail::native_graph* end(hipError_t& result) noexcept {
    has_ended = true;
    if (registration) platform::retry_then_log([&] { registration->join_all(); });
    hipGraph_t captured = nullptr;
    hipStream_t const native = native_stream();
    result = ROCARRAY_HIP_CODE(hipStreamEndCapture, native, &captured);
    // A transient failure must not leave the stream, and so the device, captured.
    if (result != hipSuccess && !is_capture_error(result)) {
      hipError_t const repeated = ROCARRAY_HIP_CODE(hipStreamEndCapture, native, &captured);
      bool const had_ended = repeated == hipErrorIllegalState;
      if (!had_ended) result = repeated;
    }
    if (result == hipErrorStreamCaptureInvalidated && runtime::may_be_captured(stream)) {
      release_invalidated_streams();
    }
    registration.reset();
    return reinterpret_cast<detail::native_graph*>(captured);
  }

 private:
  // AMD's runtime does not end a capture that has been invalidated: its streams stay captured until
  // another capture, which begins with the same stream, has ended.
  void release_invalidated_streams() noexcept {
    hipStream_t const native = native_stream();
    hipGraph_t captured = nullptr;
    bool const has_begun = platform::retry_then_log(
        [&] { ROCARRAY_HIP(hipStreamBeginCapture, native, hipStreamCaptureModeRelaxed); });
    if (!has_begun) return;
    platform::retry_then_log([&] { ROCARRAY_HIP(hipStreamEndCapture, native, &captured); });
    if (captured != nullptr) ROCARRAY_HIP_QUIET(hipGraphDestroy, captured);
  }
};

// Calls inside the function report their own locations, so this scope ends here.
constexpr char const* capture_name = "capture";

detail::graph_capture::graph_capture(caller at)
    : state_((call_scope(capture_name, at), std::make_unique<state>())) {
  call_scope const call(capture_name, at);
  hipStream_t const native_stream = state_->native_stream();
  // Relaxed: the library may allocate memory, and other threads may do so too.
  ROCARRAY_HIP(hipStreamBeginCapture, native_stream, hipStreamCaptureModeRelaxed);
  try {
    state_->registration.emplace(state_->stream, *state_->memory);
  } catch (...) {
    hipError_t result = hipSuccess;
    static_cast<void>(graph(state_->end(result), nullptr));
    throw;
  }
}

detail::graph_capture::~graph_capture() {
  if (state_->has_ended) return;
  hipError_t result = hipSuccess;
  static_cast<void>(graph(state_->end(result), nullptr));  // destroyed
}

stream_ref detail::graph_capture::stream() const noexcept { return state_->stream; }

graph detail::graph_capture::end(caller at) {
  call_scope const call(capture_name, at);
  hipError_t result = hipSuccess;
  graph captured(state_->end(result), state_->memory);
  if (result == hipErrorStreamCaptureUnjoined) {
    throw error(std::error_code(result, hip_category()),
                "a stream has joined the capture by a call of HIP and was not joined back; record "
                "an event on it and let the captured stream wait for the event");
  }
  if (result != hipSuccess) {
    platform::detail::fail(platform::call::call_hipStreamEndCapture, result,
                           std::source_location::current());
  }
  throw_if_failed(*state_->memory);
  return captured;
}

}  // namespace roc
