// SPDX-License-Identifier: MIT
#include "runtime/stream_capture.hpp"

#include <exception>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <roc/error.hpp>

#include "base/no_destructor.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"

namespace roc::runtime {
namespace {

// The end of the work of a stream before it joined a capture.
struct joined_stream {
  unsigned long long capture = 0;
  std::shared_ptr<event> before;
  int device = -1;
};

// Captures are known by HIP's numbers.
struct capture_table {
  std::mutex mutex;
  std::map<unsigned long long, stream_capture*> captures;
  // Events last recorded on a captured stream -> id of that capture.
  std::map<detail::native_event*, unsigned long long> events;
  std::map<detail::native_stream*, joined_stream> joined;
};

// Never destroyed, like all state that static objects of the program may use.
capture_table& capture_state() noexcept {
  static base::no_destructor<capture_table> instance;
  return *instance;
}

thread_local unsigned capturing_depth = 0;

struct capture_information {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  unsigned long long id = 0;
};

// The default stream cannot be captured, and HIP must not be asked while others are.
bool can_be_captured(stream_ref stream) {
  return stream.kind() != detail::stream_kind::default_stream &&
         stream.kind() != detail::stream_kind::none;
}

capture_information query(hipStream_t stream) {
  capture_information result;
  ROCARRAY_HIP(hipStreamGetCaptureInfo, stream, &result.status, &result.id);
  return result;
}

capture_information query(stream_ref stream) {
  auto const native = reinterpret_cast<hipStream_t>(stream.handle());
  // The per-thread streams are blocking streams, which the library does not capture.
  bool const is_asked = can_be_captured(stream) && native != hipStreamPerThread;
  return is_asked ? query(native) : capture_information();
}

// Returns true for the error that find throws for an invalid capture.
bool is_invalidated(error const& failure) noexcept {
  return failure.code() == std::error_code(hipErrorStreamCaptureInvalidated, hip_category());
}

[[noreturn]] void throw_refused(std::string const& what) {
  throw error(std::error_code(hipErrorStreamCaptureUnsupported, hip_category()), what);
}

}  // namespace

stream_capture::~stream_capture() {
  while (!kept_.empty()) kept_.pop_back();
}

void stream_capture::keep(std::shared_ptr<void const> object) {
  std::lock_guard const lock(mutex_);
  kept_.push_back(std::move(object));
}

std::shared_ptr<host_error_slot> stream_capture::host_errors(
    std::shared_ptr<host_error_slot> initial) {
  std::lock_guard const lock(mutex_);
  if (host_errors_ == nullptr) host_errors_ = std::move(initial);
  return host_errors_;
}

capture_registration::capture_registration(stream_ref stream, stream_capture& capture)
    : stream_(stream) {
  id_ = query(stream).id;
  std::lock_guard const lock(capture_state().mutex);
  capture_state().captures.emplace(id_, &capture);
  capture_detail::active.fetch_add(1);
}

capture_registration::~capture_registration() {
  std::map<detail::native_stream*, joined_stream> ended;  // destroyed without the lock
  std::lock_guard const lock(capture_state().mutex);
  capture_state().captures.erase(id_);
  if (capture_detail::active.fetch_sub(1) != 1) return;
  // Both maps serve all captures, so they are cleared when the last one ends. HIP itself refuses
  // events of ended captures.
  capture_state().events.clear();
  ended.swap(capture_state().joined);
}

void capture_registration::join_all() {
  if (query(stream_).status != hipStreamCaptureStatusActive) return;
  std::vector<std::pair<detail::native_stream*, int>> joined;
  {
    std::lock_guard const lock(capture_state().mutex);
    for (auto const& [handle, entry] : capture_state().joined) {
      if (entry.capture == id_) joined.emplace_back(handle, entry.device);
    }
  }
  auto const origin = reinterpret_cast<hipStream_t>(stream_.handle());
  for (auto const& [handle, device] : joined) {
    auto const native = reinterpret_cast<hipStream_t>(handle);
    if (query(native).id != id_) continue;
    // An event can only be recorded on streams of its device.
    if (!reached_.contains(device)) {
      on_device const current(device);
      reached_.emplace(device, event());
    }
    auto const reached = reinterpret_cast<hipEvent_t>(reached_.at(device).handle());
    ROCARRAY_HIP(hipEventRecord, reached, native);
    ROCARRAY_HIP(hipStreamWaitEvent, origin, reached, 0);
  }
}

capturing_thread_scope::capturing_thread_scope() noexcept { ++capturing_depth; }
capturing_thread_scope::~capturing_thread_scope() { --capturing_depth; }

stream_capture* capture_detail::find(stream_ref stream) {
  capture_information const found = query(stream);
  if (found.status == hipStreamCaptureStatusNone) return nullptr;
  if (found.status == hipStreamCaptureStatusInvalidated) {
    throw error(std::error_code(hipErrorStreamCaptureInvalidated, hip_category()),
                "the capture of the stream has failed: an earlier call was not allowed in it; "
                "capture again without that call");
  }
  std::lock_guard const lock(capture_state().mutex);
  auto const capture = capture_state().captures.find(found.id);
  return capture == capture_state().captures.end() ? nullptr : capture->second;
}

bool capture_detail::belongs(stream_ref stream) {
  try {
    return find(stream) != nullptr;
  } catch (error const& failure) {
    if (!is_invalidated(failure)) throw;
    return true;
  }
}

bool capture_detail::may_be_captured(stream_ref stream) noexcept {
  try {
    return belongs(stream);
  } catch (std::exception const&) {
    return true;
  }
}

bool is_captured_by_hip(stream_ref stream) {
  auto const native = reinterpret_cast<hipStream_t>(stream.handle());
  return can_be_captured(stream) && query(native).status != hipStreamCaptureStatusNone;
}

bool may_be_captured_by_hip(stream_ref stream) noexcept {
  auto const native = reinterpret_cast<hipStream_t>(stream.handle());
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  hipError_t const result = ROCARRAY_HIP_CODE(hipStreamIsCapturing, native, &status);
  return result != hipSuccess || status != hipStreamCaptureStatusNone;
}

bool capture_detail::fail(stream_ref stream) noexcept {
  bool is_captured = false;  // also if HIP cannot tell: then the stream's work may be pending
  platform::retry_then_log([&] {
    try {
      stream_capture* const capture = find(stream);
      is_captured = capture != nullptr;
      if (is_captured) capture->set_failed();
    } catch (error const& failure) {
      is_captured = is_invalidated(failure);
      if (!is_captured) throw;
    }
  });
  return is_captured;
}

void capture_detail::refuse(stream_ref stream, char const* call) {
  if (find(stream) == nullptr) return;
  throw_refused(std::string(call) +
                " is not possible while the stream is captured, because its work has not been "
                "enqueued; do it on the stream on which the graph is launched");
}

void require_captured_host_functions() {
  // Earlier versions have only hipStreamAddCallback, whose functions run during the capture.
#if ROCARRAY_PLATFORM_AMD && HIP_VERSION < 50300000
  throw_refused(
      "functions that run on the host, and so packed copies, cannot be captured by HIP before 5.3; "
      "build the library with a later version of HIP, or use contiguous pinned memory");
#endif
}

void capture_detail::refuse_uncaptured(stream_ref const* stream) {
  if (capturing_depth == 0) return;
  if (stream != nullptr && stream->kind() != detail::stream_kind::default_stream) return;
  throw_refused(stream == nullptr
                    ? "a call without a stream cannot be captured; pass the stream that "
                      "roc::capture passes to the function"
                    : "work on the default stream cannot be captured; use the stream that "
                      "roc::capture passes to the function");
}

void capture_detail::refuse_devices() {
  throw_refused(
      "no device can be synchronized while a graph is captured; synchronize a stream, or wait "
      "until the capture has ended");
}

void capture_detail::record_event(detail::native_event* event, stream_ref stream) {
  capture_information const found = query(stream);
  std::lock_guard const lock(capture_state().mutex);
  if (found.status != hipStreamCaptureStatusNone) {
    capture_state().events.insert_or_assign(event, found.id);
  } else {
    capture_state().events.erase(event);
  }
}

void capture_detail::forget(detail::native_event* event) noexcept {
  std::lock_guard const lock(capture_state().mutex);
  capture_state().events.erase(event);
}

void capture_detail::refuse_event(detail::native_event* event, char const* call) {
  std::lock_guard const lock(capture_state().mutex);
  if (!capture_state().events.contains(event)) return;
  throw_refused(std::string(call) +
                " is not possible for an event that was recorded in a capture; record it on the "
                "stream on which the graph is launched");
}

bool capture_detail::check_join(stream_ref stream, detail::native_event* event) {
  stream_capture const* joined = nullptr;
  {
    std::lock_guard const lock(capture_state().mutex);
    if (auto const known = capture_state().events.find(event);
        known != capture_state().events.end()) {
      auto const capture = capture_state().captures.find(known->second);
      if (capture != capture_state().captures.end()) joined = capture->second;
    }
  }
  stream_capture const* const own = find(stream);
  if (own == joined) return false;
  if (joined == nullptr) {
    throw error(std::error_code(hipErrorStreamCaptureIsolation, hip_category()),
                "a captured stream cannot wait for an event that was not recorded in the capture; "
                "let the stream on which the graph is launched wait for it");
  }
  if (own != nullptr) {
    throw error(std::error_code(hipErrorStreamCaptureMerge, hip_category()),
                "a captured stream cannot wait for an event of another capture; use separate "
                "streams for the captures");
  }
  if (stream.kind() != detail::stream_kind::non_blocking) {
    throw_refused(
        "only a non-blocking stream can join a capture, because HIP orders others with the default "
        "stream; create it as roc::stream(roc::non_blocking)");
  }
  return true;
}

void capture_detail::record_join(stream_ref stream, detail::native_event* event,
                                 std::shared_ptr<roc::event> before) {
  // The one that it replaces is destroyed unlocked.
  joined_stream entry{0, std::move(before), stream.device_ordinal()};
  std::lock_guard const lock(capture_state().mutex);
  auto const known = capture_state().events.find(event);
  if (known == capture_state().events.end()) return;  // another thread has recorded it elsewhere
  entry.capture = known->second;
  std::swap(capture_state().joined[stream.handle()], entry);
}

std::shared_ptr<event> capture_detail::event_before(stream_ref stream) {
  capture_information const found = query(stream);
  if (found.status == hipStreamCaptureStatusNone) return nullptr;
  std::lock_guard const lock(capture_state().mutex);
  auto const joined = capture_state().joined.find(stream.handle());
  bool const is_known =
      joined != capture_state().joined.end() && joined->second.capture == found.id;
  return is_known ? joined->second.before : nullptr;
}

}  // namespace roc::runtime
