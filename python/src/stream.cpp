// SPDX-License-Identifier: MIT
#include "stream.hpp"

#include <iterator>
#include <string>

namespace roc::python {
namespace {

template <class Create>
stream make_stream(char const* name, Create create) {
  roc_stream created = nullptr;
  call(name, [&] { return create(&created); });
  return stream(std::make_shared<stream_handle>(created));
}

/// Python's Event. What does not block keeps the GIL: an event must not be used while another
/// thread records it.
class event {
 public:
  explicit event(bool is_timed) : handle_(-1, is_timed) {}

  void record(py::object const& stream) {
    stream_argument const argument(stream);
    detail::call_scope const scope("record");
    check(roc_event_record(get(), argument.get()));
  }
  void wait(py::object const& stream) const {
    stream_argument const argument(stream);
    detail::call_scope const scope("wait");
    check(roc_stream_wait(argument.get(), get()));
  }
  void synchronize() const {
    call("synchronize", [&] { return roc_event_synchronize(get()); });
    pending_work::instance().release_finished();
  }
  bool query() const {
    std::int32_t is_done = 0;
    detail::call_scope const scope("query");
    check(roc_event_query(get(), &is_done));
    return is_done != 0;
  }
  double elapsed_time(event const& end) const {
    double milliseconds = 0;
    detail::call_scope const scope("elapsed_time");
    check(roc_event_elapsed_time(get(), end.get(), &milliseconds));
    return milliseconds;
  }

 private:
  roc_event get() const noexcept { return handle_.get(); }

  event_handle handle_;
};

/// What Stream.auto_synchronize returns. Keeps the stream alive.
struct synchronize_guard {
  py::object owner;  // a Stream
};

}  // namespace

event_handle::event_handle(int device, bool is_timed) {
  device_scope const current(device);
  call("event",
       [&] { return is_timed ? roc_event_create_timed(&value_) : roc_event_create(&value_); });
}

void order_streams(roc_stream before, roc_stream after, int device) {
  event_handle const reached(device);
  check(roc_event_record(reached.get(), before));
  check(roc_stream_wait(after, reached.get()));
}

stream stream::create(int priority, bool is_non_blocking) {
  return make_stream("stream", [&](roc_stream* created) {
    return roc_stream_create(
        is_non_blocking ? ROCARRAY_STREAM_NON_BLOCKING : ROCARRAY_STREAM_BLOCKING, priority,
        created);
  });
}
stream stream::default_stream() {
  return stream(std::make_shared<stream_handle>(ROCARRAY_DEFAULT_STREAM));
}
stream stream::per_thread_stream() {
  return make_stream("per_thread_default_stream", roc_stream_per_thread);
}
stream stream::external(std::uintptr_t native) {
  return make_stream("external_stream", [&](roc_stream* created) {
    return roc_stream_from_native(reinterpret_cast<void*>(native), created);
  });
}

std::shared_ptr<stream_handle> const& stream::handle() const {
  if (handle_ == nullptr) raise(PyExc_ValueError, "the stream was closed; use one that is open");
  return handle_;
}

void stream::synchronize() const {
  auto const used = handle();
  call("synchronize", [&] { return roc_stream_synchronize(used->get()); });
  pending_work::instance().release_finished();
}

bool stream::query() const {
  auto const used = handle();
  std::int32_t is_idle = 0;
  call("query", [&] { return roc_stream_query(used->get(), &is_idle); });
  pending_work::instance().release_finished();
  return is_idle != 0;
}

std::uintptr_t stream::native() const {
  void* result = nullptr;
  check(roc_stream_native(handle()->get(), &result));
  return reinterpret_cast<std::uintptr_t>(result);
}

int stream::device() const {
  std::int32_t result = 0;
  check(roc_stream_device(handle()->get(), &result));
  return result;
}

stream_argument::stream_argument(py::handle object) {
  if (object.is_none()) return;
  if (py::isinstance<stream>(object)) {
    handle_ = object.cast<stream const&>().handle();
    return;
  }
  // numba.cuda writes stream=0 for a call without a stream.
  if (PyLong_CheckExact(object.ptr()) && PyObject_IsTrue(object.ptr()) == 0) return;
  raise(PyExc_TypeError, "the stream is of type " + type_name(object) +
                             "; use a Stream, or None to wait for the result");
}

pending_work& pending_work::instance() {
  // Never destroyed: it owns Python objects, and the interpreter may be gone when the process ends.
  static auto* const instance = new pending_work;
  return *instance;
}

void pending_work::take_finished(queue& entries, std::vector<entry>& finished) {
  auto const is_done = [](entry const& item) {
    std::int32_t result = 0;  // stays 0 after an error: the work may be pending
    roc_event_query(item.done.get(), &result);
    return result != 0;
  };
  // Tests one entry that is pending, not all: a program may have enqueued many.
  auto end = entries.begin();
  while (end != entries.end() && is_done(*end)) ++end;
  finished.insert(finished.end(), std::make_move_iterator(entries.begin()),
                  std::make_move_iterator(end));
  entries.erase(entries.begin(), end);
}

int pending_work::device_of(roc_stream stream) {
  std::int32_t device = 0;
  check(roc_stream_device(stream, &device));
  return device;
}

void pending_work::add(int device, entry added) {
  std::vector<entry> finished;
  queue& entries = queues_[{added.stream->get(), device}];
  // Not the new entry: on the host platform a query may run the work, which hides a missing
  // synchronization of the program.
  take_finished(entries, finished);
  entries.push_back(std::move(added));
}

void pending_work::release_finished() {
  std::vector<entry> finished;
  for (auto position = queues_.begin(); position != queues_.end();) {
    take_finished(position->second, finished);
    position = position->second.empty() ? queues_.erase(position) : std::next(position);
  }
}

void pending_work::order_before(roc_stream consumer) {
  release_finished();
  for (auto const& [stream, entries] : queues_) {
    for (auto const& item : entries) check(roc_stream_wait(consumer, item.done.get()));
  }
}

void pending_work::wait_all() {
  while (!queues_.empty()) {
    auto const waited = std::exchange(queues_, {});
    // No guard, for the reason in status_of. The message of an error is the next call's.
    status_of("wait_all", [&] {
      for (auto const& [stream, entries] : waited) {
        for (auto const& item : entries) roc_event_synchronize(item.done.get());
      }
      return ROCARRAY_SUCCESS;
    });
  }
}

void define_streams(py::module_& module) {
  py::class_<stream>(module, "Stream",
                     "An ordered queue of work on a device. Create it with stream().")
      .def("synchronize", &stream::synchronize,
           "Block until all work enqueued so far has finished, and raise its errors.")
      .def("query", &stream::query, "Return True if all work enqueued so far has finished.")
      .def(
          "wait", [](stream const& self, event const& waited) { waited.wait(py::cast(self)); },
          py::arg("event"),
          "Make work that is enqueued from now on wait for the last record of an event.")
      .def(
          "auto_synchronize",
          [](py::object self) {
            static_cast<void>(self.cast<stream const&>().handle());
            return synchronize_guard{std::move(self)};
          },
          "Return a context manager that synchronizes the stream at its end, also after an "
          "exception.")
      .def("close", &stream::close,
           "Give up the stream without blocking: its work is still done. Any further use is an "
           "error.")
      .def_property_readonly(
          "handle", &stream::native,
          "The hipStream_t or cudaStream_t as an integer; 0 for the default stream.")
      .def_property_readonly("device", &stream::device, "The ordinal of the stream's device.");

  py::class_<synchronize_guard>(module, "SynchronizeGuard",
                                "The context manager of Stream.auto_synchronize.")
      .def("__enter__", [](synchronize_guard const& self) { return self.owner; })
      .def("__exit__", [](synchronize_guard const& self, py::args const&) {
        self.owner.cast<stream const&>().synchronize();
      });

  py::class_<event>(module, "Event", "A point in the work of a stream. Create it with event().")
      .def("record", &event::record, py::arg("stream") = py::none(),
           "Record the end of the work enqueued on the stream so far; None: the default stream.")
      .def("wait", &event::wait, py::arg("stream") = py::none(),
           "Make later work of the stream wait for the last record; None: the default stream.")
      .def("synchronize", &event::synchronize, "Block until the recorded work has finished.")
      .def("query", &event::query,
           "Return True if the recorded work has finished, or nothing was recorded.")
      .def("elapsed_time", &event::elapsed_time, py::arg("end"),
           "Return the milliseconds from this record to that of `end`, on the device's clock.\n\n"
           "Both are events of event(timing=True) whose work has finished.");

  module.def(
      "stream", &stream::create, py::arg("priority") = 0, py::arg("non_blocking") = false,
      "Create a stream on the current device. Lower priorities run first.\n\n"
      "non_blocking: not ordered with the default stream. Calls without a stream come after the\n"
      "copies on it. If your own kernels run on it, synchronize it before such a call.");
  module.def("default_stream", &stream::default_stream,
             "Return the legacy default stream of the device that is current when it is used.");
  module.def("per_thread_default_stream", &stream::per_thread_stream,
             "Return the calling thread's own default stream on the current device.");
  module.def(
      "external_stream", &stream::external, py::arg("handle"),
      "Borrow a stream that other code created on the current device, by its integer handle.\n\n"
      "It must outlive the work and the arrays that use it.");
  module.def(
      "event", [](bool is_timed) { return event(is_timed); }, py::arg("timing") = false,
      "Create an event on the current device.\n\n"
      "timing: also record the time, for elapsed_time; such an event costs a little more.");
  module.def(
      "synchronize",
      [] {
        std::int32_t device = 0;
        check(roc_get_device(&device));
        call("synchronize", [&] { return roc_synchronize_device(device); });
        pending_work::instance().release_finished();
      },
      "Block until all work on the current device has finished, and raise its errors.");
  module.def("_wait_for_pending_work", [] { pending_work::instance().wait_all(); });
}

}  // namespace roc::python
