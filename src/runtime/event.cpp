// SPDX-License-Identifier: MIT
#include <roc/event.hpp>

#include <utility>

#include <roc/error.hpp>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"

namespace roc {
namespace {

hipEvent_t native(detail::native_event* handle) { return reinterpret_cast<hipEvent_t>(handle); }

}  // namespace

event_base::event_base(unsigned flags) {
  hipEvent_t created = nullptr;
  ROCARRAY_HIP(hipEventCreateWithFlags, &created, flags);
  handle_ = reinterpret_cast<detail::native_event*>(created);
}

event_base::~event_base() {
  if (handle_ != nullptr) ROCARRAY_HIP_QUIET(hipEventDestroy, native(handle_));
}

event_base::event_base(event_base&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

event_base& event_base::operator=(event_base&& other) noexcept {
  // The event replaced here is destroyed with the temporary.
  if (this != &other) event_base(std::move(other)).swap(*this);
  return *this;
}

void event_base::swap(event_base& other) noexcept { std::swap(handle_, other.handle_); }

detail::native_event* event_base::handle() const {
  if (handle_ == nullptr) {
    throw lifetime_error("use of an event that was moved from: use the event it went to");
  }
  return handle_;
}

void event_base::record(stream_ref stream) {
  hipEvent_t const recorded = native(handle());
  hipStream_t const on = runtime::handle(stream);
  runtime::on_stream_device const guard(stream);
  ROCARRAY_HIP(hipEventRecord, recorded, on);
}

void event_base::synchronize() const {
  hipEvent_t const awaited = native(handle());
  ROCARRAY_HIP(hipEventSynchronize, awaited);
}

bool event_base::query() const {
  hipEvent_t const asked = native(handle());
  return ROCARRAY_HIP_READY(hipEventQuery, asked);
}

event::event() : event_base(hipEventDisableTiming) {}

timed_event::timed_event() : event_base(hipEventDefault) {}

double timed_event::elapsed_time(timed_event const& end) const {
  float milliseconds = 0;
  hipEvent_t const first = native(handle());
  hipEvent_t const last = native(end.handle());
  ROCARRAY_HIP(hipEventElapsedTime, &milliseconds, first, last);
  return static_cast<double>(milliseconds);
}

}  // namespace roc
