// SPDX-License-Identifier: MIT
#include "stream.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace roc::python {
namespace {

template <class Create>
stream make_stream(char const* name, Create create) {
  roc_stream created = nullptr;
  call(name, [&] { return create(&created); });
  return stream(std::make_shared<stream_handle>(created));
}

/// Python's Event.
class event {
 public:
  /// Creates an event on the current device. Throws.
  explicit event(bool is_timed) : device_(current_device()), is_timed_(is_timed) {
    handle_ = std::make_shared<event_handle>(device_, is_timed_);
  }

  void record(py::object const& stream) {
    stream_argument const argument(stream);
    bool is_recorded = true;
    call("record", [&]() -> roc_status {
      std::lock_guard const lock(mutex_);
      is_recorded = handle_.use_count() == 1;
      if (!is_recorded) return ROCARRAY_SUCCESS;
      // After the last use by another thread: use_count() does not synchronize with it.
      std::atomic_thread_fence(std::memory_order_acquire);
      return roc_event_record(handle_->get(), argument.get());
    });
    if (is_recorded) return;
    // Another thread uses the handle and may be waiting for it.
    auto replacement = std::make_shared<event_handle>(device_, is_timed_);
    call("record", [&] {
      // Locked during the record: of two records of a stream, the later one must be kept.
      std::lock_guard const lock(mutex_);
      roc_status const status = roc_event_record(replacement->get(), argument.get());
      if (status == ROCARRAY_SUCCESS) handle_.swap(replacement);
      return status;
    });
  }
  void wait(py::object const& stream) const {
    stream_argument const argument(stream);
    call("wait", [&] { return roc_stream_wait(argument.get(), handle()->get()); });
  }
  void synchronize() const {
    call("synchronize", [&] { return roc_event_synchronize(handle()->get()); });
    pending_work::instance().release_finished();
  }
  bool query() const {
    std::int32_t is_done = 0;
    call("query", [&] { return roc_event_query(handle()->get(), &is_done); });
    if (is_done != 0) pending_work::instance().release_finished();
    return is_done != 0;
  }
  double elapsed_time(event const& end) const {
    double milliseconds = 0;
    call("elapsed_time", [&] {
      return roc_event_elapsed_time(handle()->get(), end.handle()->get(), &milliseconds);
    });
    return milliseconds;
  }

 private:
  static int current_device() {
    std::int32_t device = 0;
    call("event", [&] { return roc_get_device(&device); });
    return device;
  }
  // Returns the handle of the last record. Blocks during a record. Called without the GIL.
  std::shared_ptr<event_handle> handle() const {
    std::lock_guard const lock(mutex_);
    return handle_;
  }

  int device_;
  bool is_timed_;
  // The C interface does not allow other calls with a handle during its record. A call with the
  // handle owns a copy of the pointer; a record that finds such a copy uses a new handle.
  std::shared_ptr<event_handle> handle_;
  // Guards handle_. Locked only without the GIL: a thread that waits for it must not hold up the
  // one that has it. Not held in a call that waits for work.
  mutable std::mutex mutex_;
};

/// What Stream.auto_synchronize returns. Keeps the stream alive.
struct synchronize_guard {
  py::object owner;  // a Stream
};

}  // namespace

event_handle::event_handle(int device, bool is_timed) {
  call("event", [&] {
    return with_device(device, [&] {
      return is_timed ? roc_event_create_timed(&value_) : roc_event_create(&value_);
    });
  });
}

void order_streams(char const* name, roc_stream before, roc_stream after, int device) {
  event_handle const reached(device);
  call(name, [&] {
    roc_status const status = roc_event_record(reached.get(), before);
    return status != ROCARRAY_SUCCESS ? status : roc_stream_wait(after, reached.get());
  });
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
  auto const used = handle();
  void* result = nullptr;
  call("handle", [&] { return roc_stream_native(used->get(), &result); });
  return reinterpret_cast<std::uintptr_t>(result);
}

int stream::device() const {
  auto const used = handle();
  std::int32_t result = 0;
  call("device", [&] { return roc_stream_device(used->get(), &result); });
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

pending_work::identity pending_work::add(char const* name,
                                         std::shared_ptr<stream_handle> const& stream,
                                         std::vector<py::object> owners) {
  queue_key key;
  call(name, [&] {
    roc_status const status = roc_stream_native(stream->get(), &key.first);
    return status != ROCARRAY_SUCCESS ? status : roc_stream_device(stream->get(), &key.second);
  });
  entry added{event_handle(key.second), stream, std::move(owners)};
  identity const result{key, ++last_serial_, added.done.get()};
  queues_[key].emplace_hint(queues_[key].end(), result.serial, std::move(added));
  return result;
}

pending_work::queue::node_type pending_work::end_call(identity const& added,
                                                      progress reached) noexcept {
  if (reached == progress::pending) {
    queues_.find(added.key)->second.find(added.serial)->second.is_recorded = true;
    return {};
  }
  auto removed = extract(added);
  if (reached == progress::unknown) unknown_.insert(std::move(removed));
  return removed;
}

std::vector<pending_work::identity> pending_work::recorded(std::size_t limit) const {
  std::vector<identity> result;
  for (auto const& [key, entries] : queues_) {
    std::size_t count = 0;
    for (auto const& [serial, item] : entries) {
      if (!item.is_recorded) continue;
      if (++count > limit) break;
      result.push_back({key, serial, item.done.get()});
    }
  }
  return result;
}

pending_work::queue::node_type pending_work::extract(identity const& item) noexcept {
  auto const position = queues_.find(item.key);
  if (position == queues_.end()) return {};
  auto result = position->second.extract(item.serial);
  if (position->second.empty()) queues_.erase(position);
  return result;
}

bool pending_work::remove(std::vector<identity> const& items, nodes& finished) noexcept {
  bool is_any = false;
  for (auto const& item : items) {
    if (item.reached == progress::pending) continue;
    is_any = true;
    auto removed = extract(item);
    if (removed.empty()) continue;
    if (item.reached == progress::unknown) {
      unknown_.insert(std::move(removed));
    } else {
      finished.push_back(std::move(removed));
    }
  }
  return is_any;
}

pending_work::progress pending_work::query(roc_event done) noexcept {
  std::int32_t is_done = 0;
  roc_status const status = roc_event_query(done, &is_done);
  // Another thread has removed the entry.
  if (status == ROCARRAY_ERROR_LIFETIME) return progress::finished;
  constexpr std::int32_t captured_event = 907;  // hipErrorCapturedEvent
  if (status == ROCARRAY_ERROR_HIP && roc_last_hip_error() == captured_event) {
    return progress::unknown;
  }
  return is_done != 0 ? progress::finished : progress::pending;  // pending after other errors
}

void pending_work::release_finished() {
  // Few entries at first: of a queue whose first one is pending, only that one is asked for.
  for (std::size_t limit = 4;; limit *= 4) {
    auto items = recorded(limit);
    if (items.empty()) return;
    nodes finished;
    finished.reserve(items.size());
    roc_status const status = status_of("release_finished", [&] {
      for (std::size_t i = 0; i < items.size(); ++i) {
        bool const is_after_pending =
            i != 0 && items[i].key == items[i - 1].key && items[i - 1].reached == progress::pending;
        if (!is_after_pending) items[i].reached = query(items[i].done);
      }
      return ROCARRAY_SUCCESS;
    });
    if (status != ROCARRAY_SUCCESS || !remove(items, finished)) return;
  }
}

void pending_work::order_before(char const* name, roc_stream consumer) {
  auto items = recorded(SIZE_MAX);
  if (items.empty()) return;
  nodes finished;
  finished.reserve(items.size());
  roc_status const status = status_of(name, [&]() -> roc_status {
    for (auto& item : items) {
      item.reached = query(item.done);
      if (item.reached != progress::pending) continue;
      roc_status const result = roc_stream_wait(consumer, item.done);
      if (result == ROCARRAY_SUCCESS) continue;
      // Another thread may have removed the entry since.
      if (result == ROCARRAY_ERROR_LIFETIME && query(item.done) == progress::finished) continue;
      return result;
    }
    return ROCARRAY_SUCCESS;
  });
  remove(items, finished);
  check(status);
}

void pending_work::wait_all() {
  // Other threads may continue to enqueue work until the interpreter stops them. The entries that
  // they add after this, and those that are not recorded yet, are never destroyed.
  auto items = recorded(SIZE_MAX);
  nodes finished;
  finished.reserve(items.size());
  roc_status const status = status_of("wait_all", [&] {
    for (auto& item : items) {
      roc_status const result = roc_event_synchronize(item.done);
      bool const is_done = result == ROCARRAY_SUCCESS || result == ROCARRAY_ERROR_LIFETIME;
      item.reached = is_done ? progress::finished : progress::unknown;
    }
    return ROCARRAY_SUCCESS;
  });
  if (status == ROCARRAY_SUCCESS) remove(items, finished);
}

void define_streams(py::module_& module) {
  // All classes first: the docstrings of methods name those that are known.
  py::class_<stream> stream_class(module, "Stream",
                                  "An ordered queue of work on a device. Create it with stream().");
  py::class_<event> event_class(module, "Event",
                                "A point in the work of a stream. Create it with event().");
  py::class_<synchronize_guard> guard_class(module, "SynchronizeGuard",
                                            "The context manager of Stream.auto_synchronize.");

  stream_class
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

  guard_class
      .def(
          "__enter__", [](synchronize_guard const& self) { return self.owner; },
          "Return the stream.")
      .def(
          "__exit__",
          [](synchronize_guard const& self, py::object const&, py::object const&,
             py::object const&) { self.owner.cast<stream const&>().synchronize(); },
          py::arg("kind"), py::arg("value"), py::arg("traceback"), py::pos_only(),
          "Synchronize the stream.");

  event_class
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
      "event", [](bool is_timed) { return std::make_unique<event>(is_timed); },
      py::arg("timing") = false,
      "Create an event on the current device.\n\n"
      "timing: also record the time, for elapsed_time; such an event costs a little more.");
  module.def(
      "synchronize",
      [] {
        call("synchronize", [] {
          std::int32_t device = 0;
          roc_status const status = roc_get_device(&device);
          return status != ROCARRAY_SUCCESS ? status : roc_synchronize_device(device);
        });
        pending_work::instance().release_finished();
      },
      "Block until all work on the current device has finished, and raise its errors.");
  module.def("_wait_for_pending_work", [] { pending_work::instance().wait_all(); });
}

}  // namespace roc::python
