// SPDX-License-Identifier: MIT
#include <roc/event.hpp>

#include <utility>

#include <roc/error.hpp>

#include "platform/call.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/opened_events.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"

namespace roc {
namespace {

hipEvent_t native(detail::native_event* handle) { return reinterpret_cast<hipEvent_t>(handle); }

}  // namespace

event_base::event_base(unsigned flags) : is_timed_((flags & hipEventDisableTiming) == 0) {
  hipEvent_t created = nullptr;
  ROCARRAY_HIP(hipEventCreateWithFlags, &created, flags);
  handle_ = reinterpret_cast<detail::native_event*>(created);
}

event_base::~event_base() {
  if (handle_ == nullptr) return;
  runtime::forget_event(handle_);
  runtime::forget_opened_event(handle_);
  ROCARRAY_HIP_QUIET(hipEventDestroy, native(handle_));
}

event_base::event_base(event_base&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), is_timed_(other.is_timed_) {}

event_base& event_base::operator=(event_base&& other) noexcept {
  // The temporary destroys the event that is replaced.
  if (this != &other) event_base(std::move(other)).swap(*this);
  return *this;
}

void event_base::swap(event_base& other) noexcept { std::swap(handle_, other.handle_); }

detail::native_event* event_base::handle() const {
  if (handle_ == nullptr) {
    throw lifetime_error("the event was moved from; use the event that it was moved to");
  }
  return handle_;
}

void event_base::record(stream_ref stream, detail::caller at) {
  detail::call_scope const call(__func__, at);
  static_cast<void>(handle());
  static_cast<void>(runtime::handle(stream));
  runtime::on_stream_device const guard(stream);
  runtime::record_opened_event(handle_);
  if (!is_timed_ && runtime::needs_relay(stream)) {
    runtime::record_on_relay(*this, runtime::stream_id_of(stream));
  } else {
    record_on(stream.handle());
  }
  runtime::record_captured_event(handle_, stream);
  // Later work of blocking streams comes after the event, and so after the work before it.
  if (stream.kind() == detail::stream_kind::default_stream) runtime::record_work(stream);
}

void event_base::record_on(detail::native_stream* stream) {
  hipEvent_t const native_event = native(handle());
  ROCARRAY_HIP(hipEventRecord, native_event, reinterpret_cast<hipStream_t>(stream));
}

void event_base::make_wait(detail::native_stream* stream) const {
  hipEvent_t const native_event = native(handle());
  ROCARRAY_HIP(hipStreamWaitEvent, reinterpret_cast<hipStream_t>(stream), native_event, 0);
}

void event_base::synchronize(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  hipEvent_t const native_event = native(handle());
  runtime::refuse_captured_event(handle_, "synchronization");
  if (runtime::synchronize_opened_event(handle_)) return;
  // The failure of another device than the current one is found by a wait for that device.
  runtime::reporting_failure(-1, nullptr, [=] { ROCARRAY_HIP(hipEventSynchronize, native_event); });
}

bool event_base::query(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  hipEvent_t const native_event = native(handle());
  runtime::refuse_captured_event(handle_, "a query");
  return runtime::reporting_failure(
      -1, nullptr, [=] { return ROCARRAY_HIP_READY(hipEventQuery, native_event); });
}

event::event(detail::caller at)
    : event_base((detail::call_scope("event", at), hipEventDisableTiming)) {}

timed_event::timed_event(detail::caller at)
    : event_base((detail::call_scope("timed_event", at), hipEventDefault)) {}

double timed_event::elapsed_time(timed_event const& end, detail::caller at) const {
  detail::call_scope const call(__func__, at);
  float milliseconds = 0;
  hipEvent_t const native_begin = native(handle());
  hipEvent_t const native_end = native(end.handle());
  for (auto* const event : {handle(), end.handle()}) {
    runtime::refuse_captured_event(event, "a measurement");
  }
  ROCARRAY_HIP(hipEventElapsedTime, &milliseconds, native_begin, native_end);
  return static_cast<double>(milliseconds);
}

}  // namespace roc
