// SPDX-License-Identifier: MIT
#include "runtime/stream.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include <roc/error.hpp>
#include <roc/event.hpp>
#include <roc/native.hpp>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/destroyed_streams.hpp"
#include "base/error.hpp"
#include "runtime/host_function_errors.hpp"
#include "base/log.hpp"
#include "runtime/stream_id.hpp"

namespace roc {

using detail::stream_kind;

namespace runtime {

hipStream_t handle(stream_ref stream) {
  if (stream.kind() == stream_kind::none) {
    throw lifetime_error("use of a stream that was moved from: use the stream it went to");
  }
  if (is_destroyed(stream.handle())) {
    throw lifetime_error(
        "use of a stream that has been destroyed: let the stream live as long as its stream_refs");
  }
  return reinterpret_cast<hipStream_t>(stream.handle());
}

int device_for(stream_ref stream, int first, int second) {
  int const asked = stream.device_ordinal();
  int const current = first < 0 || second < 0 || asked < 0 ? current_device() : asked;
  if (first < 0) first = current;
  if (second < 0) second = current;
  int const used = device_of(stream, current);
  if (used != first && used != second) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "a stream of device " + std::to_string(used) + " with an array of device " +
                    std::to_string(first) + ": use a stream of the array's device");
  }
  return used;
}

void synchronize_quietly(stream_ref stream) noexcept {
  if (stream.kind() == stream_kind::none || is_destroyed(stream.handle())) return;
  ROCARRAY_HIP_QUIET(hipStreamSynchronize, reinterpret_cast<hipStream_t>(stream.handle()));
}

namespace {

// A stream that waits at once: the default stream means the current device's.
void synchronize(stream_ref stream) {
  hipStream_t const native = handle(stream);
  on_stream_device const guard(stream);
  ROCARRAY_HIP(hipStreamSynchronize, native);
  rethrow_host_error(stream);
}

detail::native_stream* create(unsigned flags, int priority) {
  int least = 0;
  int greatest = 0;
  if (priority != 0) {
    ROCARRAY_HIP(hipDeviceGetStreamPriorityRange, &least, &greatest);
    priority = std::clamp(priority, greatest, least);
  }
  hipStream_t native = nullptr;
  if (priority == 0) {
    ROCARRAY_HIP(hipStreamCreateWithFlags, &native, flags);
  } else {
    ROCARRAY_HIP(hipStreamCreateWithPriority, &native, flags, priority);
  }
  auto* const made = reinterpret_cast<detail::native_stream*>(native);
  note_living(made);
  base::log_line(base::log_level::debug, "stream %p, priority %d%s", static_cast<void*>(made), priority,
           flags == hipStreamNonBlocking ? ", non-blocking" : "");
  return made;
}

}  // namespace
}  // namespace runtime

stream_ref detail::adopt_stream(native_stream* handle) {
  if (handle == nullptr) return {};
  runtime::note_living(handle);
  unsigned flags = 0;
  ROCARRAY_HIP(hipStreamGetFlags, reinterpret_cast<hipStream_t>(handle), &flags);
  bool const ordered = (flags & hipStreamNonBlocking) == 0;
  return {handle, runtime::current_device(),
          ordered ? stream_kind::blocking : stream_kind::non_blocking};
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
    synchronize();
  } catch (error const& late) {
    // At the process's end the runtime may be gone, and its streams with it.
    bool const gone = late.code().value() == static_cast<int>(hipErrorDeinitialized);
    if (!gone) base::log(late.what());
  } catch (...) {
    runtime::log_host_error(std::current_exception());
  }
}

void synchronize_guard::synchronize() {
  auto const kind = std::exchange(kind_, stream_kind::none);
  if (kind != stream_kind::none) runtime::synchronize({handle_, device_, kind});
}

void stream_ref::synchronize() const { runtime::synchronize(*this); }

bool stream_ref::query() const {
  hipStream_t const native = runtime::handle(*this);
  runtime::on_stream_device const guard(*this);
  return ROCARRAY_HIP_READY(hipStreamQuery, native);
}

void stream_ref::wait(event_base const& event) const {
  hipStream_t const native = runtime::handle(*this);
  runtime::on_stream_device const guard(*this);
  ROCARRAY_HIP(hipStreamWaitEvent, native, reinterpret_cast<hipEvent_t>(event.handle()), 0);
}

int stream_ref::priority() const {
  hipStream_t const native = runtime::handle(*this);
  runtime::on_stream_device const guard(*this);
  int value = 0;
  ROCARRAY_HIP(hipStreamGetPriority, native, &value);
  return value;
}

stream_ref per_thread_stream() {
  return detail::adopt_stream(reinterpret_cast<detail::native_stream*>(hipStreamPerThread));
}

synchronize_guard stream_ref::auto_synchronize() const {
  static_cast<void>(runtime::handle(*this));
  return synchronize_guard(*this);
}

stream::stream() : stream(0) {}

stream::stream(int priority)
    : stream_ref(nullptr, runtime::current_device(), stream_kind::none) {
  begin(hipStreamDefault, priority);
}

stream::stream(non_blocking_t, int priority)
    : stream_ref(nullptr, runtime::current_device(), stream_kind::none) {
  begin(hipStreamNonBlocking, priority);
}

void stream::begin(unsigned flags, int priority) {
  handle_ = runtime::create(flags, priority);
  kind_ = flags == hipStreamNonBlocking ? stream_kind::non_blocking : stream_kind::blocking;
  try {
    runtime::stream_begins(*this);
  } catch (...) {
    destroy();
    throw;
  }
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
  base::log_line(base::log_level::debug, "stream %p is destroyed",
                    static_cast<void*>(handle_));
  runtime::abandon_host_errors(*this);
  runtime::forget_work(*this);
  runtime::stream_ends(*this);
  // Before: once it is destroyed its handle may come back as another thread's new stream.
  runtime::note_destroyed(handle_);
  ROCARRAY_HIP_QUIET(hipStreamDestroy, reinterpret_cast<hipStream_t>(handle_));
}

}  // namespace roc
