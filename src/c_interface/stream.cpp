// SPDX-License-Identifier: MIT
// Devices, streams and events.
#include <roc/c.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/event.hpp>
#include <roc/native.hpp>
#include <roc/stream.hpp>

#include "c_interface/call.hpp"
#include "c_interface/handles.hpp"
#include "runtime/stream_capture.hpp"

namespace roc::c_interface {
namespace {

struct event_entry {
  std::variant<event, timed_event> value;
  bool is_captured = false;  // the last record was in a capture, also in one of the program

  event_base& get() noexcept {
    if (auto* const timed = std::get_if<timed_event>(&value)) return *timed;
    return *std::get_if<event>(&value);
  }
};

struct event_table : handle_table<roc_event, event_entry> {
  event_table() noexcept : handle_table("event") {}
};

roc_stream add_stream(stream&& owned) {
  stream_ref const reference = owned;
  return table<stream_table>().add(
      std::make_shared<stream_entry>(stream_entry{std::move(owned), reference}));
}

roc_stream add_stream(stream_ref reference) {
  return table<stream_table>().add(
      std::make_shared<stream_entry>(stream_entry{std::nullopt, reference}));
}

template <class Event>
roc_event add_event() {
  return table<event_table>().add(
      std::make_shared<event_entry>(event_entry{std::variant<event, timed_event>(Event()), false}));
}

// Throws roc::error if the last record was in a capture. HIP refuses the call too, but its refusal
// invalidates a capture that is in progress.
void refuse_captured(event_entry const& entry) {
  if (!entry.is_captured) return;
  constexpr int captured_event = 907;  // hipErrorCapturedEvent, which old HIP does not name
  throw error({captured_event, hip_category()},
              "the event was recorded in a capture, and HIP does not tell when work of a graph has "
              "finished; record the event on the stream on which the graph is launched");
}

// Returns the event of an entry. Throws roc::error if it does not measure time.
timed_event& timed(event_entry& entry, char const* parameter) {
  if (auto* const result = std::get_if<timed_event>(&entry.value)) return *result;
  throw_invalid(std::string(parameter) +
                " does not measure time; create the event with roc_event_create_timed");
}

}  // namespace
}  // namespace roc::c_interface

using namespace roc::c_interface;

// Devices

roc_status roc_device_count(int32_t* count) {
  return run("roc_device_count", [&] {
    require(count, "count");
    *count = roc::device::count();
  });
}

roc_status roc_get_device(int32_t* device) {
  return run("roc_get_device", [&] {
    require(device, "device");
    *device = roc::device().ordinal();
  });
}

roc_status roc_set_device(int32_t device) {
  return run("roc_set_device", [&] { roc::device(device).make_current(); });
}

roc_status roc_synchronize_device(int32_t device) {
  return run("roc_synchronize_device", [&] { roc::device(device).synchronize(); });
}

// Streams

roc_status roc_stream_create(int32_t kind, int32_t priority, roc_stream* stream) {
  return run("roc_stream_create", [&] {
    require(stream, "stream");
    switch (kind) {
      case ROCARRAY_STREAM_BLOCKING: *stream = add_stream(roc::stream(priority)); break;
      case ROCARRAY_STREAM_NON_BLOCKING:
        *stream = add_stream(roc::stream(roc::non_blocking, priority));
        break;
      default:
        throw_invalid("the kind of the stream is invalid: " + std::to_string(kind) +
                      "; use an enumerator of roc_stream_kind");
    }
  });
}

roc_status roc_stream_from_native(void* native_stream, roc_stream* stream) {
  return run("roc_stream_from_native", [&] {
    require(stream, "stream");
    *stream = add_stream(roc::from_native(static_cast<hipStream_t>(native_stream)));
  });
}

roc_status roc_stream_per_thread(roc_stream* stream) {
  return run("roc_stream_per_thread", [&] {
    require(stream, "stream");
    *stream = add_stream(roc::per_thread_stream());
  });
}

roc_status roc_stream_native(roc_stream stream, void** native_stream) {
  return run("roc_stream_native", [&] {
    require(native_stream, "native_stream");
    *native_stream = roc::native(stream_argument(stream).get());
  });
}

roc_status roc_stream_device(roc_stream stream, int32_t* device) {
  return run("roc_stream_device", [&] {
    require(device, "device");
    int const ordinal = stream_argument(stream).get().device_ordinal();
    *device = ordinal >= 0 ? ordinal : roc::device().ordinal();
  });
}

roc_status roc_stream_synchronize(roc_stream stream) {
  return run("roc_stream_synchronize", [&] {
    stream_argument const argument(stream);
    argument.get().synchronize();
  });
}

roc_status roc_stream_query(roc_stream stream, int32_t* is_idle) {
  return run("roc_stream_query", [&] {
    require(is_idle, "is_idle");
    stream_argument const argument(stream);
    *is_idle = argument.get().query() ? 1 : 0;
  });
}

roc_status roc_stream_wait(roc_stream stream, roc_event event) {
  return run("roc_stream_wait", [&] {
    stream_argument const argument(stream);
    argument.get().wait(table<event_table>().get(event)->get());
  });
}

roc_status roc_stream_destroy(roc_stream stream) {
  return run("roc_stream_destroy", [&] {
    if (stream != ROCARRAY_DEFAULT_STREAM) table<stream_table>().remove(stream);
  });
}

// Events

roc_status roc_event_create(roc_event* event) {
  return run("roc_event_create", [&] {
    require(event, "event");
    *event = add_event<roc::event>();
  });
}

roc_status roc_event_create_timed(roc_event* event) {
  return run("roc_event_create_timed", [&] {
    require(event, "event");
    *event = add_event<roc::timed_event>();
  });
}

roc_status roc_event_record(roc_event event, roc_stream stream) {
  return run("roc_event_record", [&] {
    auto const recorded = table<event_table>().get(event);
    stream_argument const argument(stream);
    recorded->get().record(argument.get());
    recorded->is_captured = true;  // if the question fails
    recorded->is_captured = roc::runtime::is_captured_by_hip(argument.get());
  });
}

roc_status roc_event_query(roc_event event, int32_t* is_done) {
  return run("roc_event_query", [&] {
    require(is_done, "is_done");
    auto const queried = table<event_table>().get(event);
    refuse_captured(*queried);
    *is_done = queried->get().query() ? 1 : 0;
  });
}

roc_status roc_event_synchronize(roc_event event) {
  return run("roc_event_synchronize", [&] {
    auto const awaited = table<event_table>().get(event);
    refuse_captured(*awaited);
    awaited->get().synchronize();
  });
}

roc_status roc_event_elapsed_time(roc_event begin, roc_event end, double* milliseconds) {
  return run("roc_event_elapsed_time", [&] {
    require(milliseconds, "milliseconds");
    auto const first = table<event_table>().get(begin);
    auto const second = table<event_table>().get(end);
    roc::timed_event const& from = timed(*first, "begin");
    roc::timed_event const& to = timed(*second, "end");
    refuse_captured(*first);
    refuse_captured(*second);
    *milliseconds = from.elapsed_time(to);
  });
}

roc_status roc_event_destroy(roc_event event) {
  return run("roc_event_destroy", [&] {
    if (event != nullptr) table<event_table>().remove(event);
  });
}
