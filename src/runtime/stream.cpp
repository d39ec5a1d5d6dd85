// SPDX-License-Identifier: MIT
#include <roc/stream.hpp>

#include <exception>
#include <memory>
#include <utility>

#include <roc/error.hpp>
#include <roc/event.hpp>
#include <roc/native.hpp>

#include "base/error.hpp"
#include "base/log.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/host_function_errors.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"
#include "runtime/stream_watchers.hpp"

namespace roc {

using detail::stream_kind;

stream_ref detail::adopt_stream(native_stream* handle) {
  if (handle == nullptr || runtime::is_legacy_handle(handle)) return {};
  runtime::mark_handle_alive(handle);
  unsigned flags = 0;
  ROCARRAY_HIP(hipStreamGetFlags, reinterpret_cast<hipStream_t>(handle), &flags);
  bool const is_blocking = (flags & hipStreamNonBlocking) == 0;
  return {handle, runtime::current_device(),
          is_blocking ? stream_kind::blocking : stream_kind::non_blocking};
}

synchronize_guard::synchronize_guard(stream_ref stream) noexcept
    : handle_(stream.handle()), device_(stream.device_ordinal()), kind_(stream.kind()) {}

synchronize_guard::synchronize_guard(synchronize_guard&& other) noexcept
    : handle_(other.handle_),
      device_(other.device_),
      kind_(std::exchange(other.kind_, stream_kind::none)) {}

synchronize_guard::~synchronize_guard() {
  if (kind_ == stream_kind::none) return;
  try {
    runtime::synchronize({handle_, device_, kind_});
  } catch (error const& exception) {
    // At the end of the process the runtime may have shut down, and destroyed its streams.
    if (!platform::is_runtime_shut_down(exception)) base::log_error(exception.what());
  } catch (...) {
    runtime::log_host_error(std::current_exception());
  }
}

void synchronize_guard::synchronize(detail::caller at) {
  detail::call_scope const call(__func__, at);
  auto const kind = std::exchange(kind_, stream_kind::none);
  if (kind != stream_kind::none) runtime::synchronize({handle_, device_, kind});
}

void stream_ref::synchronize(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  runtime::synchronize(*this);
}

bool stream_ref::query(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  hipStream_t const native = runtime::handle(*this);
  runtime::refuse_captured(*this, "a query");
  runtime::on_stream_device const guard(*this);
  return runtime::reporting_failure(
      device_ordinal(), native, [native] { return ROCARRAY_HIP_READY(hipStreamQuery, native); });
}

void stream_ref::wait(event_base const& event, detail::caller at) const {
  detail::call_scope const call(__func__, at);
  static_cast<void>(runtime::handle(*this));
  runtime::on_stream_device const guard(*this);
  if (runtime::check_join(*this, event.handle())) {
    runtime::record_join(*this, event.handle(), runtime::record(runtime::stream_id_of(*this)));
  }
  event.make_wait(handle_);
  if (kind_ == stream_kind::default_stream)
    runtime::record_work(*this);  // other streams wait for it
}

int stream_ref::priority(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  hipStream_t const native = runtime::handle(*this);
  runtime::on_stream_device const guard(*this);
  int value = 0;
  ROCARRAY_HIP(hipStreamGetPriority, native, &value);
  return value;
}

stream_ref per_thread_stream(detail::caller at) {
  detail::call_scope const call(__func__, at);
  return detail::adopt_stream(reinterpret_cast<detail::native_stream*>(hipStreamPerThread));
}

synchronize_guard stream_ref::auto_synchronize(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  static_cast<void>(runtime::handle(*this));  // throws if the stream cannot be used
  return synchronize_guard(*this);
}

stream::stream(detail::caller at) : stream(0, at) {}

stream::stream(int priority, detail::caller at)
    : stream_ref(nullptr, (detail::call_scope("stream", at), runtime::current_device()),
                 stream_kind::none) {
  detail::call_scope const call(__func__, at);
  begin(stream_kind::blocking, priority);
}

stream::stream(non_blocking_t, int priority, detail::caller at)
    : stream_ref(nullptr, (detail::call_scope("stream", at), runtime::current_device()),
                 stream_kind::none) {
  detail::call_scope const call(__func__, at);
  begin(stream_kind::non_blocking, priority);
}

void stream::begin(stream_kind kind, int priority) {
  stream_ref const created = runtime::create_stream(kind, priority);
  handle_ = created.handle();
  kind_ = kind;
}

stream::~stream() { destroy(); }

stream::stream(stream&& other) noexcept
    : stream_ref(std::exchange(other.handle_, nullptr), other.device_,
                 std::exchange(other.kind_, stream_kind::none)) {}

stream& stream::operator=(stream&& other) noexcept {
  if (this == &other) return *this;
  destroy();
  handle_ = std::exchange(other.handle_, nullptr);
  device_ = other.device_;
  kind_ = std::exchange(other.kind_, stream_kind::none);
  return *this;
}

void stream::destroy() noexcept {
  if (kind_ == stream_kind::none) return;
  runtime::detach_host_errors(*this);
  runtime::forget_watchers(*this);
  runtime::retire(*this);
}

}  // namespace roc

namespace roc::detail {
namespace {

// A host function that has been enqueued, and the slot for its exception. Owns the closure.
struct host_job {
  explicit host_job(host_function f) : function(f) {}
  ~host_job() { function.destroy(function.closure); }
  host_job(host_job const&) = delete;
  host_job& operator=(host_job const&) = delete;

  // Runs the job that `argument` points to, as a node of a graph: at each launch.
  static void run(void* argument) {
    platform::host_function_scope const scope;
    auto const& self = *static_cast<host_job*>(argument);
    try {
      self.function.run(self.function.closure);
    } catch (...) {
      self.errors->store(std::current_exception());
    }
  }
  // Runs and deletes the job that `argument` points to. The HIP runtime calls it on its own thread.
  static void run_once(void* argument) {
    platform::host_function_scope const scope;  // also while the closure is destroyed
    std::unique_ptr<host_job> const self(static_cast<host_job*>(argument));
    run(argument);
  }

  host_function function;
  std::shared_ptr<runtime::host_error_slot> errors;
};

}  // namespace

void wait_for_stream(stream_ref stream, int device) {
  if (runtime::is_handle_destroyed(stream.handle())) return runtime::synchronize_all_devices();
  hipStream_t const native = runtime::handle(stream);
  runtime::refuse_captured(stream, "synchronization");
  try {
    runtime::on_device const guard(runtime::device_of(stream, device));
    ROCARRAY_HIP(hipStreamSynchronize, native);
  } catch (...) {
    // The caller may free memory next that the pending work uses.
    runtime::synchronize_quietly(stream, device);
    throw;
  }
}

void launch_host_function(stream_ref stream, host_function function) {
  auto job = [&] {
    try {
      return std::make_unique<host_job>(function);
    } catch (...) {
      function.destroy(function.closure);
      throw;
    }
  }();
  hipStream_t const native = runtime::handle(stream);
  int const device = runtime::device_of(stream, runtime::current_device());
  runtime::on_device const guard(device);
  runtime::refuse_uncaptured_call(&stream);
  if (runtime::stream_capture* const capture = runtime::capture_of(stream)) {
    runtime::require_captured_host_functions();
    job->errors = capture->host_errors(std::make_shared<runtime::host_error_slot>(device));
    std::shared_ptr<host_job> const kept = std::move(job);
    capture->keep(kept);
    try {
      ROCARRAY_HIP(hipLaunchHostFunc, native, &host_job::run, kept.get());
    } catch (...) {
      capture->set_failed();
      throw;
    }
    return;
  }
  job->errors = runtime::host_error_slot_of(stream, device);
  runtime::enqueue_and_record(stream, [&] {
    ROCARRAY_HIP(hipLaunchHostFunc, native, &host_job::run_once, job.get());
    static_cast<void>(job.release());  // host_job::run_once deletes it
  });
}

}  // namespace roc::detail
