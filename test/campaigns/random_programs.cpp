// SPDX-License-Identifier: MIT
// Random programs of copies, fills, batches, registrations, streams, events, threads and host
// functions, executed by the library and by a model of every byte.
//
// The model executes the operations one after the other. Its clocks contain what the contract says
// about the order of streams, threads and the host, and nothing else: if two operations touch the
// same byte and the contract does not order them, the program is given an event or a wait. If the
// contract does order them, it is not, so that a missing order in the library shows as wrong bytes.
//
//   random_programs [--seed N] [--programs N] [--seconds S] [--length N]
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "campaigns/arguments.hpp"
#include "campaigns/random_programs.hpp"
#include "platform/call.hpp"
#include "support/captures.hpp"
#include "support/environment.hpp"
#include "support/layouts.hpp"
#include "support/options.hpp"

namespace {

using namespace roc::test;
using roc::test::program;

// The arguments of the program.
struct {
  std::optional<std::uint64_t> seed;
  std::size_t programs = 0;  // 0: as many as the seconds allow, or the short form
  double seconds = 0;
  std::size_t length = 70;
} arguments;

// A thread that executes functions for the main thread.
class worker {
 public:
  worker() : thread_([this] { loop(); }) {}
  ~worker() {
    start({});
    thread_.join();
  }
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;

  // Starts a function; an empty one ends the thread.
  void start(std::function<void()> f) {
    std::lock_guard const lock(mutex_);
    function_ = std::move(f);
    is_busy_ = true;
    changed_.notify_all();
  }
  // Waits for the function and throws what it threw.
  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !is_busy_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return is_busy_; });
      auto const f = std::move(function_);
      if (!f) return;
      lock.unlock();
      std::exception_ptr error;
      try {
        f();
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      error_ = error;
      is_busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> function_;
  std::exception_ptr error_;
  bool is_busy_ = false;
  std::thread thread_;
};

// The resources of one device that a program's arrays use besides the default one.
struct device_resources {
  explicit device_resources(int device) : hip(device), small(hip, {.slab_bytes = 64 << 10}) {
    try {
      hip_async = std::make_unique<roc::hip_async_memory_resource>(device);
    } catch (roc::error const&) {  // this device has no pool of the driver
    }
  }
  roc::hip_memory_resource hip;
  roc::pool_resource small;
  std::unique_ptr<roc::hip_async_memory_resource> hip_async;
};

// What all programs of the process share. Foreign streams must outlive the memory that they use.
struct machine {
  machine() : devices(std::min(roc::device::count(), 2)) {
    for (int d = 0; d < devices; ++d) {
      resources.push_back(std::make_unique<device_resources>(d));
      roc::device_guard const guard{roc::device(d)};
      hipStream_t stream = nullptr;
      ROCARRAY_HIP(hipStreamCreateWithFlags, &stream, hipStreamDefault);
      foreign[d][0] = stream;
      ROCARRAY_HIP(hipStreamCreateWithFlags, &stream, hipStreamNonBlocking);
      foreign[d][1] = stream;
    }
    has_managed = true;
    for (int d = 0; d < devices; ++d) {
      has_managed = has_managed && roc::device(d).has_concurrent_managed_access();
    }
  }
  static machine& instance() {
    static auto* const result = new machine;  // its threads run until the process ends
    return *result;
  }

  int devices;
  bool has_managed;
  std::vector<std::unique_ptr<device_resources>> resources;
  hipStream_t foreign[2][2]{};
  std::array<worker, thread_count - 1> workers;
};

// What was executed, so that the campaign shows that it is not vacuous.
struct statistics {
  std::size_t programs = 0, operations = 0, skipped = 0, copies = 0, bytes = 0;
  std::size_t orders_of_contract = 0;  // conflicting uses that the library had to order
  std::size_t orders_added = 0;
  std::size_t refused = 0;  // calls that had to throw, and did
  // Copies and fills of memory whose kind was looked up or stated, and calls of roc::memcpy.
  std::size_t of_memory_views = 0, of_bytes = 0;
  std::size_t groups = 0;       // calls made at the same time by several threads
  std::size_t host_checks = 0;  // comparisons of host memory
  std::size_t device_checks = 0;
} counts;

// A byte, an order or an error that differs from the model.
struct mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The bytes of a buffer that an operation touches.
class byte_set {
 public:
  explicit byte_set(std::size_t capacity) : words_((capacity + 63) / 64) {}
  void add(std::size_t first, std::size_t count) {
    for (std::size_t i = first; i != first + count; ++i) words_[i / 64] |= bit(i);
  }
  bool intersects(byte_set const& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }

 private:
  static std::uint64_t bit(std::size_t i) { return std::uint64_t{1} << (i % 64); }
  std::vector<std::uint64_t> words_;
};

// How many operations of each stream are known to be done.
class clock {
 public:
  unsigned& operator[](std::size_t i) {
    if (i >= times_.size()) times_.resize(i + 1);
    return times_[i];
  }
  unsigned at(std::size_t i) const { return i < times_.size() ? times_[i] : 0; }
  void join(clock const& other) {
    for (std::size_t i = 0; i < other.times_.size(); ++i) {
      auto& time = (*this)[i];
      time = std::max(time, other.times_[i]);
    }
  }

 private:
  std::vector<unsigned> times_;
};

// The order of the work of one stream in the model. Timelines outlive their streams.
struct timeline {
  int device = 0;
  int number = 0;  // of the stream on its device
  int thread = 0;  // that a per-thread stream belongs to
  bool blocking = true;
  bool is_live = true;
  unsigned time = 0;                 // operations so far
  clock seen;                        // what later work of this stream comes after
  clock committed;                   // what the last work of this stream came after, and itself
  std::shared_ptr<roc::event> last;  // recorded before the stream was destroyed
};

// A use of a buffer by work that may be pending.
struct use {
  int serial = 0;  // of the buffer
  byte_set bytes{0};
  bool writes = false;
  bool by_user = false;  // by a host function, which the library does not know
  std::vector<int> registrations;
  std::size_t line = 0;  // the timeline
  unsigned time = 0;
  clock done;  // what is done once this is
  bool in_group = false;
  bool at_once = false;  // done once the calls of the group have returned

  bool known_to(clock const& c) const { return c.at(line) >= time; }
};

// A use that an operation is about to make.
struct planned_use {
  struct buffer* target = nullptr;
  byte_set bytes{0};
  bool writes = false;
  bool by_user = false;
  bool at_once = false;  // the call itself reads the memory, or the host accesses it
  bool is_partly_pinned = false;
  bool is_host_memory = false;  // of any kind but managed, not used by its device address
  std::vector<int> registrations;
};

struct registered_range {
  std::size_t first, bytes;
  int serial;
  bool mapped;
  bool adopted;  // registered by HIP
  std::vector<roc::registration> guards;
};

struct buffer {
  buffer() = default;
  buffer(buffer const&) = delete;
  buffer& operator=(buffer const&) = delete;
  ~buffer() {
    for (auto& r : registrations) {
      r.guards.clear();
      if (r.adopted) static_cast<void>(ROCARRAY_HIP_QUIET(hipHostUnregister, data + r.first));
    }
  }

  int serial = 0;
  memory_kind kind = memory_kind::pageable;
  int device = 0;
  std::size_t capacity = 0;
  roc::device_array<std::byte> array;
  roc::host_array<std::byte> host;
  std::vector<std::byte> raw;
  std::byte* data = nullptr;  // a device address for memory of a device
  std::vector<std::byte> expected;
  std::vector<registered_range> registrations;
  bool is_dirty = false;

  bool on_device() const { return is_device(kind); }
  bool is_pinned() const {
    return kind == memory_kind::pinned || kind == memory_kind::mapped ||
           kind == memory_kind::managed;
  }
};

// One side of a call: memory and the part of it.
struct endpoint {
  view_spec const* spec = nullptr;
  std::byte* base = nullptr;
  std::size_t capacity = 0;
  bool device_space = false;
  bool alias = false;  // host memory through its device address
  bool is_managed = false;
  int device = -1;

  // Returns true if a memory_view of the memory means the same as a view of it.
  bool may_be_unknown() const { return !alias && !is_managed; }
  std::byte* data() const { return base + spec->offset; }
};

template <class View, std::size_t Size, std::size_t N>
View transformed(view_spec const& spec, std::byte* base, int device) {
  using T = element_of<Size>;
  roc::shape<N> extents{};
  roc::strides<N> steps{};
  for (std::size_t i = 0; i < N; ++i) {
    extents[i] = spec.extents[i];
    steps[i] = spec.strides[i];
  }
  auto const make = [&](std::byte* address, roc::shape<N> const& shape, auto const& layout) {
    if constexpr (std::is_same_v<View, roc::device_view<T, N>>) {
      return View(reinterpret_cast<T*>(address), shape, layout, device);
    } else {
      return View(reinterpret_cast<T*>(address), shape, layout);
    }
  };
  if constexpr (N > 0) {
    if (spec.recipe) {
      view_recipe const& recipe = *spec.recipe;
      roc::shape<N> parent{};
      std::array<std::size_t, N> axes{};
      for (std::size_t i = 0; i < N; ++i) {
        parent[i] = recipe.parent[i];
        axes[i] = recipe.axes[i];
      }
      auto const order = recipe.fortran ? roc::order::f : roc::order::c;
      View view = make(base + recipe.origin, parent, order);
      if (recipe.reshaped) {
        roc::shape<1> const all{view.size()};
        auto const line = [&] {
          if constexpr (std::is_same_v<View, roc::device_view<T, N>>) {
            return roc::device_view<T, 1>(view.data(), all, roc::order::c, device);
          } else {
            return roc::host_view<T, 1>(view.data(), all);
          }
        }();
        view = line.reshape(parent, order);
      }
      auto const slice_of = [&](std::size_t axis) {
        auto const start = recipe.start[axis], step = recipe.step[axis];
        auto const stop = start + static_cast<std::ptrdiff_t>(recipe.sliced[axis]) * step;
        auto const extent = static_cast<std::ptrdiff_t>(recipe.parent[axis]);
        if (stop < 0 || stop > extent) return roc::slice(start, roc::none, step);
        return roc::slice(axis % 2 == 0 ? start : start - extent, stop, step);
      };
      view = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return View(view.region(slice_of(I)...));
      }(std::make_index_sequence<N>());
      view = view.transpose(axes);
      if (recipe.split) view = view.split(view.shape()[0], 0).front();
      if constexpr (N < max_rank) {
        if (recipe.new_axis) {
          view = view.region(roc::newaxis, roc::ellipsis).region(0, roc::ellipsis);
        }
      }
      bool const is_right = reinterpret_cast<std::byte*>(view.data()) == base + spec.offset &&
                            view.shape() == extents && view.strides() == steps;
      if (!is_right) throw mismatch("a slice differs from the model: " + text_of(spec));
      return view;
    }
  }
  return make(base + spec.offset, extents, steps);
}

template <std::size_t Size, std::size_t N, class F>
void with_view(endpoint const& side, F f) {
  using T = element_of<Size>;
  if (!side.device_space) {
    return f(transformed<roc::host_view<T, N>, Size, N>(*side.spec, side.base, -1));
  }
  std::byte* base = side.base;
  int device = side.device;
  if (side.alias) {
    // Only the range itself need be registered.
    auto const [low, high] = side.spec->span(Size);
    auto const bytes = static_cast<std::size_t>(high - low);
    if (bytes != 0) {
      roc::host_view<std::byte> const range(base + low, roc::shape<1>{bytes});
      auto const view = roc::device_view_of(range);
      base = view.data() - low;
      device = view.device_ordinal();
    }
  }
  f(transformed<roc::device_view<T, N>, Size, N>(*side.spec, base, device));
}

template <std::size_t Size, class F>
void with_rank(int rank, F f) {
  switch (rank) {
    case 0: return f.template operator()<Size, 0>();
    case 1: return f.template operator()<Size, 1>();
    case 2: return f.template operator()<Size, 2>();
    case 3: return f.template operator()<Size, 3>();
    case 4: return f.template operator()<Size, 4>();
    case 5: return f.template operator()<Size, 5>();
    default: return f.template operator()<Size, 6>();
  }
}

// Calls f<Size, N>().
template <class F>
void with_type(std::size_t size, int rank, F f) {
  switch (size) {
    case 1: return with_rank<1>(rank, f);
    case 3: return with_rank<3>(rank, f);
    case 4: return with_rank<4>(rank, f);
    default: return with_rank<16>(rank, f);
  }
}

// Returns the same elements as a memory_view. `is_located`: with the location of the memory.
template <class View>
auto memory_of(View const& view, bool is_located) {
  using T = typename View::element_type;
  roc::memory_view<T, View::rank> const memory(view.data(), view.shape(), view.strides());
  if (!is_located) return memory;
  if constexpr (std::is_same_v<View, roc::host_view<T, View::rank>>) {
    return memory.at(roc::memory_location::host());
  } else {
    return memory.at(roc::device(view.device_ordinal()));
  }
}

// Rows of bytes.
struct byte_rows {
  std::size_t width = 0, height = 1, pitch = 0;
};

// Returns the rows that the elements are, in their order; nullopt for another layout.
std::optional<byte_rows> rows_of(view_spec const& v, std::size_t size) {
  byte_rows result{size, 1, size};
  bool is_pitched = false;
  for (int axis = v.rank; axis-- != 0;) {
    std::size_t const extent = v.extents[axis];
    if (extent == 1) continue;
    if (v.strides[axis] <= 0) return std::nullopt;
    std::size_t const step = static_cast<std::size_t>(v.strides[axis]) * size;
    if (!is_pitched && result.height == 1 && step == result.width) {
      result.width *= extent;
    } else if (!is_pitched && step > result.width) {
      result.height = extent;
      result.pitch = step;
      is_pitched = true;
    } else if (is_pitched && step == result.pitch * result.height) {
      result.height *= extent;
    } else {
      return std::nullopt;
    }
  }
  if (!is_pitched) result.pitch = result.width;
  return result;
}

std::byte value_of(unsigned value, std::size_t i) {
  return static_cast<std::byte>(value * 31 + i * 7 + (i >> 8) * 3);
}

// Executes one program.
class execution {
 public:
  execution(program const& source, bool traces)
      : machine_(machine::instance()), traces_(traces), setting_(source.setting) {
    for (int d = 0; d < machine_.devices; ++d) {
      for (int s = 0; s < per_thread; ++s) lines_of_[d].push_back(add_line(d, s, 0));
      for (int t = 0; t < thread_count; ++t) {
        lines_of_[d].push_back(add_line(d, per_thread, t));
      }
      lines_[lines_of_[d][foreign_non_blocking]].blocking = false;
    }
    buffers_.resize(buffer_count);
  }

  void run(std::vector<operation> const& operations) {
    apply_setting();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      number_ = i;
      operation const& op = operations[i];
      ++counts.operations;
      if (!execute(op)) ++counts.skipped;
      check_host();
    }
    number_ = operations.size();
    flush();
    for (int d = 0; d < machine_.devices; ++d) synchronize_device(d);
    check_host();
    for (auto& b : buffers_) {
      if (b) download(*b);
    }
  }

  // Waits for everything after a failure, so that nothing touches the buffers.
  void abandon() noexcept {
    for (int d = 0; d < machine_.devices; ++d) {
      try {
        roc::device_guard const guard{roc::device(d)};
        roc::device(d).synchronize();
      } catch (std::exception const&) {
      }
    }
  }

  std::vector<std::string> const& trace() const { return trace_; }

 private:
  void note(std::string const& text) {
    if (traces_) trace_.push_back("  " + std::to_string(number_) + ": " + text);
  }

  void apply_setting() {
    auto const small = small_staging();
    constexpr auto values = roc::stream_staging_method::values;
    constexpr auto host_functions = roc::stream_staging_method::host_functions;
    switch (setting_) {
      case 0:
        return roc::set_options({.path = roc::copy_path::none,
                                 .copy_threads = 3,
                                 .staging_threshold = 0,
                                 .stream_staging = values});
      case 1:
        return roc::set_options({.path = roc::copy_path::none,
                                 .copy_threads = 1,
                                 .staging_threshold = 2048,
                                 .stream_staging = host_functions});
      case 2:
        return roc::set_options({.path = roc::copy_path::none,
                                 .copy_threads = 2,
                                 .staging_threshold = 0,
                                 .staging_limit = small.staging_limit,
                                 .staging_block = small.staging_block,
                                 .staging_chunk = small.staging_chunk,
                                 .stream_staging = values});
      case 3:
        return roc::set_options({.path = roc::copy_path::packed,
                                 .copy_threads = 3,
                                 .staging_threshold = 0,
                                 .staging_limit = small.staging_limit,
                                 .staging_block = small.staging_block,
                                 .staging_chunk = small.staging_chunk,
                                 .stream_staging = host_functions});
      default:
        return roc::set_options({.path = roc::copy_path::dma_2d,
                                 .copy_threads = 2,
                                 .staging_threshold = 1 << 20,
                                 .stream_staging = values});
    }
  }

  // Streams and threads

  std::size_t add_line(int device, int number, int thread) {
    timeline line;
    line.device = device;
    line.number = number;
    line.thread = thread;
    lines_.push_back(line);
    return lines_.size() - 1;
  }

  std::size_t line_of(int device, int stream, int thread) const {
    return lines_of_[device]
                    [static_cast<std::size_t>(stream == per_thread ? stream + thread : stream)];
  }

  // Returns the stream; for a per-thread stream in its thread, with its device current.
  roc::stream_ref stream_of(std::size_t line) {
    timeline const& t = lines_[line];
    switch (t.number) {
      case default_stream: return {};
      case foreign_blocking:
      case foreign_non_blocking:
        return roc::from_native(machine_.foreign[t.device][t.number - foreign_blocking]);
      case per_thread: return roc::per_thread_stream();
      default: break;
    }
    auto& owned = owned_[t.device][t.number - owned_stream];
    if (!owned) owned = std::make_unique<roc::stream>();
    return *owned;
  }

  // Calls f(stream) in a thread that may use the stream, with its device current.
  template <class F>
  void with_stream(std::size_t line, int thread, F f) {
    flush();
    if (lines_[line].number == per_thread) thread = lines_[line].thread;
    in_thread(thread, lines_[line].device, [&] { f(stream_of(line)); });
  }

  void in_thread(int thread, int device, std::function<void()> f) {
    auto const call = [&] {
      roc::device_guard const guard{roc::device(device)};
      f();
    };
    if (thread == 0) return call();
    auto& target = machine_.workers[static_cast<std::size_t>(thread - 1)];
    target.start(call);
    target.finish();
  }

  // Makes the calls of the group at the same time: those of each thread in their order.
  void flush() {
    if (group_.empty()) return;
    auto const group = std::exchange(group_, {});
    group_begin_.clear();
    std::erase_if(uses_, [](use const& u) { return u.in_group && u.at_once; });
    for (auto& pending : uses_) pending.in_group = false;
    std::array<std::vector<std::function<void()>>, thread_count> calls;
    for (auto const& [thread, f] : group) calls[static_cast<std::size_t>(thread)].push_back(f);
    auto const run_all = [](std::vector<std::function<void()>> const& functions) {
      for (auto const& f : functions) f();
    };
    std::exception_ptr error;
    auto const attempt = [&](auto f) {
      try {
        f();
      } catch (...) {
        if (!error) error = std::current_exception();
      }
    };
    for (std::size_t t = 1; t < calls.size(); ++t) {
      machine_.workers[t - 1].start([&calls, &run_all, t] { run_all(calls[t]); });
    }
    attempt([&] { run_all(calls[0]); });
    for (auto& w : machine_.workers) attempt([&] { w.finish(); });
    if (group.size() > 1) ++counts.groups;
    if (error) std::rethrow_exception(error);
  }

  // The order of operations

  // Returns what work that is enqueued now on a stream comes after.
  clock start_of(std::size_t line) const {
    timeline const& t = lines_[line];
    clock result = host_;
    result.join(t.seen);
    if (t.number == default_stream) {
      for (timeline const& other : lines_) {
        if (other.device == t.device && other.blocking && other.is_live) {
          result.join(other.committed);
        }
      }
    } else if (t.blocking) {
      result.join(lines_[lines_of_[t.device][default_stream]].committed);
    }
    return result;
  }

  // Returns what a call without a stream on the device comes after.
  clock all_work_of(int device) const {
    clock result = host_;
    for (timeline const& t : lines_) {
      if (t.device == device) result.join(t.committed);
    }
    return result;
  }

  void host_knows(clock const& done) {
    host_.join(done);
    std::erase_if(uses_, [&](use const& u) { return u.known_to(host_); });
  }

  void synchronize_device(int device) {
    flush();
    note("device " + std::to_string(device) + ": synchronize");
    in_thread(0, device, [&] { roc::device(device).synchronize(); });
    clock done = all_work_of(device);
    for (timeline const& t : lines_) {
      if (t.device == device) done.join(t.seen);
    }
    host_knows(done);
  }

  static std::string name_of_line(timeline const& t) {
    operation op;
    op.stream = t.number;
    return stream_text(op).substr(4) + " of device " + std::to_string(t.device) +
           (t.number == per_thread ? ", thread " + std::to_string(t.thread) : "");
  }

  void synchronize_stream(std::size_t line) {
    note("synchronize " + name_of_line(lines_[line]));
    clock done = lines_[line].seen;
    done.join(lines_[line].committed);
    with_stream(line, 0, [](roc::stream_ref s) { s.synchronize(); });
    host_knows(done);
  }

  // Makes the host wait for a use.
  void order_host(use const& earlier, unsigned choice) {
    flush();
    ++counts.orders_added;
    timeline const& t = lines_[earlier.line];
    if (!t.is_live) {
      if (!t.last) return synchronize_device(t.device);
      note("synchronize the event recorded before the stream was destroyed");
      clock const done = t.committed;
      t.last->synchronize();
      return host_knows(done);
    }
    if (choice % 3 == 1) return synchronize_device(t.device);
    if (choice % 3 == 0) return synchronize_stream(earlier.line);
    note("record an event on " + name_of_line(t) + "; synchronize the event");
    clock done = t.committed;
    done.join(t.seen);
    with_stream(earlier.line, 0, [](roc::stream_ref s) {
      roc::event done_event;
      done_event.record(s);
      done_event.synchronize();
    });
    host_knows(done);
  }

  // Makes later work of a stream wait for a use.
  void order_stream(use const& earlier, std::size_t line, unsigned choice) {
    timeline const& t = lines_[earlier.line];
    if (choice % 4 == 3 || !t.is_live) return order_host(earlier, choice / 4);
    flush();
    ++counts.orders_added;
    note("record an event on " + name_of_line(t) + "; let " + name_of_line(lines_[line]) +
         " wait for it");
    clock done = t.committed;
    done.join(t.seen);
    std::optional<roc::event> recorded;
    with_stream(earlier.line, 0, [&](roc::stream_ref s) {
      recorded.emplace();
      recorded->record(s);
    });
    with_stream(line, 0, [&](roc::stream_ref s) { s.wait(*recorded); });
    lines_[line].seen.join(done);
  }

  // Returns true if the contract orders the operation after the earlier use, although neither a
  // stream nor the host does.
  static bool library_orders(use const& earlier, planned_use const& later, bool has_stream) {
    if (earlier.by_user || later.by_user) return false;
    if (later.is_partly_pinned) return true;
    if (!has_stream && later.is_host_memory) return true;
    return has_stream && later.at_once && earlier.writes;
  }

  // Orders the operation after every earlier use of the same bytes, unless the contract does.
  // Returns what the operation comes after. `line` is nullopt for a call without a stream, which
  // `all` belongs to, and for the host itself, if `all` is null.
  clock prepare(std::vector<planned_use> const& planned, std::optional<std::size_t> line,
                std::vector<int> const& devices, unsigned choice, bool is_batch = false) {
    for (;;) {
      clock start = line ? start_of(*line) : host_;
      if (!line) {
        for (int d : devices) start.join(all_work_of(d));
      }
      clock implied, stream_implied;
      std::size_t orders = 0;
      use const* unordered = nullptr;
      bool by_host = false, needs_flush = false;
      for (planned_use const& later : planned) {
        for (use const& earlier : uses_) {
          if (earlier.serial != later.target->serial || !(earlier.writes || later.writes) ||
              !earlier.bytes.intersects(later.bytes)) {
            continue;
          }
          if (earlier.in_group) {  // the order of the calls matters
            needs_flush = true;
            break;
          }
          bool const at_once = !line || later.at_once;
          clock const& known = line && later.at_once ? host_ : start;
          if (earlier.known_to(known)) continue;
          bool const is_call = line || !devices.empty();
          if (is_call && library_orders(earlier, later, line.has_value())) {
            ++orders;
            if (at_once) implied.join(earlier.done);
            // A copy of a batch that waits does not make the others wait.
            (is_batch ? stream_implied : start).join(earlier.done);
            continue;
          }
          unordered = &earlier;
          by_host = at_once;
          break;
        }
        if (unordered || needs_flush) break;
      }
      if (needs_flush) {
        flush();
        continue;
      }
      if (!unordered) {
        counts.orders_of_contract += orders;
        has_implied_order_ = orders != 0;
        implied_ = implied;
        stream_implied_ = stream_implied;
        return start;
      }
      use const earlier = *unordered;
      if (by_host) {
        order_host(earlier, choice);
      } else {
        order_stream(earlier, *line, choice);
      }
    }
  }

  // Adds the work of an operation that comes after `start` to the model.
  void commit(std::vector<planned_use> const& planned, std::optional<std::size_t> line, clock start,
              bool in_group, bool is_batch = false) {
    host_.join(std::exchange(implied_, {}));
    if (!line) {
      start.join(std::exchange(stream_implied_, {}));
      return host_knows(start);
    }
    timeline& t = lines_[*line];
    // The parts of a batch may be done in any order: one that is done says nothing of the others.
    clock part = start;
    start.join(std::exchange(stream_implied_, {}));
    unsigned const before = t.time++;
    start[*line] = t.time;
    if (in_group) {
      // Neither does one of the group's calls, which may be made in any order.
      part[*line] = group_begin_.try_emplace(*line, before).first->second;
    } else if (!is_batch) {
      part = start;
    }
    t.seen.join(start);
    t.committed = t.seen;
    for (planned_use const& p : planned) {
      if (p.writes) p.target->is_dirty = true;
      if (p.at_once && !in_group) continue;
      use next;
      next.serial = p.target->serial;
      next.bytes = p.bytes;
      next.writes = p.writes;
      next.by_user = p.by_user;
      next.registrations = p.registrations;
      next.line = *line;
      next.time = t.time;
      next.done = part;
      next.in_group = in_group;
      next.at_once = p.at_once;
      uses_.push_back(std::move(next));
    }
  }

  // Comparison

  bool has_pending_use(buffer const& b, bool only_writes) const {
    return std::any_of(uses_.begin(), uses_.end(), [&](use const& u) {
      return u.serial == b.serial && (u.writes || !only_writes);
    });
  }

  // Compares the host buffers that nothing pending writes.
  void check_host() {
    if (!group_.empty()) return;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      auto& b = buffers_[i];
      if (!b || b->on_device() || !b->is_dirty || has_pending_use(*b, true)) continue;
      ++counts.host_checks;
      compare(i, b->data, b->expected);
      b->is_dirty = false;
    }
  }

  void compare(std::size_t index, std::byte const* found, std::vector<std::byte> const& expected) {
    if (std::memcmp(found, expected.data(), expected.size()) == 0) return;
    std::size_t first = 0, wrong = 0;
    for (std::size_t i = expected.size(); i-- != 0;) {
      if (found[i] == expected[i]) continue;
      first = i;
      ++wrong;
    }
    throw mismatch("b" + std::to_string(index) + " (" + name_of(buffers_[index]->kind) +
                   "): byte " + std::to_string(first) + " is " +
                   std::to_string(std::to_integer<int>(found[first])) + " instead of " +
                   std::to_string(std::to_integer<int>(expected[first])) + "; " +
                   std::to_string(wrong) + " of " + std::to_string(expected.size()) +
                   " bytes are wrong after operation " + std::to_string(number_));
  }

  void download(buffer& b) {
    flush();
    if (!b.on_device()) return;
    ++counts.device_checks;
    planned_use read;
    read.target = &b;
    read.bytes = byte_set(b.capacity);
    read.bytes.add(0, b.capacity);
    auto const start = prepare({read}, {}, {b.device}, 0);
    std::vector<std::byte> found(b.capacity);
    in_thread(0, b.device, [&] { b.array.copy_to_host(found); });
    commit({read}, {}, start, false);
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (buffers_[i].get() == &b) compare(i, found.data(), b.expected);
    }
  }

  // Buffers

  void destroy(std::unique_ptr<buffer>& b, unsigned choice) {
    if (!b) return;
    flush();
    while (!b->registrations.empty()) end_registration(*b, 0, choice);
    // Device memory and the memory of host arrays are waited for by the library.
    bool const waits_for_copies = b->kind >= memory_kind::pageable_array;
    for (;;) {
      auto const found = std::find_if(uses_.begin(), uses_.end(), [&](use const& u) {
        if (u.serial != b->serial || b->on_device()) return false;
        return !waits_for_copies || u.by_user;
      });
      if (found == uses_.end()) break;
      use const earlier = *found;
      order_host(earlier, choice);
    }
    int const serial = b->serial;
    bool const is_host_array = waits_for_copies;
    b.reset();
    if (!is_host_array) return;
    clock done;
    for (use const& u : uses_) {
      if (u.serial == serial) done.join(u.done);
    }
    host_knows(done);
  }

  bool create(operation const& op) {
    flush();
    auto& slot = buffers_[static_cast<std::size_t>(op.buffer)];
    int const device = op.device % machine_.devices;
    memory_kind kind = op.memory;
    if (kind == memory_kind::managed && !machine_.has_managed) kind = memory_kind::pinned;
    auto& resources = *machine_.resources[static_cast<std::size_t>(device)];
    if (kind == memory_kind::device_hip_async && !resources.hip_async) {
      kind = memory_kind::device_hip;
    }
    note("b" + std::to_string(op.buffer) + " = " + std::to_string(op.capacity) + " bytes, " +
         name_of(kind) +
         (is_device(kind) ? " of device " + std::to_string(device) + stream_text(op) : ""));
    destroy(slot, op.choice);
    slot = std::make_unique<buffer>();
    buffer& b = *slot;
    b.serial = ++serials_;
    b.kind = kind;
    b.device = device;
    b.capacity = op.capacity;
    b.expected.resize(op.capacity);
    for (std::size_t i = 0; i < op.capacity; ++i) b.expected[i] = value_of(op.value, i);
    roc::shape<1> const extents{op.capacity};
    switch (kind) {
      case memory_kind::pageable: {
        b.raw.resize(op.capacity + page);
        auto const address = reinterpret_cast<std::uintptr_t>(b.raw.data());
        b.data = b.raw.data() + (page - address % page) % page;
        break;
      }
      case memory_kind::pageable_array: b.host = roc::host_array<std::byte>(extents); break;
      case memory_kind::pinned: b.host = roc::pinned_array<std::byte>(extents); break;
      case memory_kind::mapped: b.host = roc::mapped_array<std::byte>(extents); break;
      case memory_kind::managed: b.host = roc::managed_array<std::byte>(extents); break;
      default: return create_on_device(b, op, device);
    }
    if (kind != memory_kind::pageable) b.data = b.host.data();
    std::copy(b.expected.begin(), b.expected.end(), b.data);
    return true;
  }

  bool create_on_device(buffer& b, operation const& op, int device) {
    auto& resources = *machine_.resources[static_cast<std::size_t>(device)];
    bool const has_stream = op.stream != no_stream;
    auto const line = line_of(device, has_stream ? op.stream : static_cast<int>(default_stream), 0);
    with_stream(line, op.thread, [&](roc::stream_ref stream) {
      roc::shape<1> const extents{op.capacity};
      roc::memory_resource* resource = nullptr;
      if (b.kind == memory_kind::device_small_pool) resource = &resources.small;
      if (b.kind == memory_kind::device_hip) resource = &resources.hip;
      if (b.kind == memory_kind::device_hip_async) resource = resources.hip_async.get();
      b.array = resource ? roc::device_array<std::byte>(extents, *resource, roc::order::c, stream)
                         : roc::device_array<std::byte>(extents, roc::order::c, stream);
      b.data = b.array.data();
      auto source = b.expected;
      if (has_stream) {
        b.array.copy_to_device(source, stream);
        std::fill(source.begin(), source.end(), std::byte{0xEE});  // has been read
      } else {
        b.array.copy_to_device(source);
      }
    });
    planned_use write;
    write.target = &b;
    write.writes = true;
    write.bytes = byte_set(b.capacity);
    write.bytes.add(0, b.capacity);
    if (has_stream) {
      commit({write}, line, start_of(line), false);
    } else {
      commit({write}, {}, all_work_of(device), false);
    }
    return true;
  }

  buffer* find(int index) { return buffers_[static_cast<std::size_t>(index)].get(); }

  // Registrations

  bool register_pages(operation const& op) {
    flush();
    buffer* const b = find(op.buffer);
    std::size_t const first = op.first * page, bytes = op.count * page;
    if (!b || b->kind != memory_kind::pageable || bytes == 0 || first + bytes > b->capacity) {
      return false;
    }
    roc::host_view<std::byte> const range(b->data + first, roc::shape<1>{bytes});
    registered_range* same = nullptr;
    bool conflict = false;
    for (auto& r : b->registrations) {
      bool const overlaps = first < r.first + r.bytes && r.first < first + bytes;
      if (r.first == first && r.bytes == bytes) {
        same = &r;
      } else if (overlaps) {
        conflict = true;
      }
    }
    note("register b" + std::to_string(op.buffer) + "[" + std::to_string(first) + ", " +
         std::to_string(first + bytes) + ")" + (conflict ? ", which must fail" : ""));
    bool const mapped = same ? same->mapped : op.choice % 2 == 0;
    if (conflict) {
      return must_throw<roc::registration_error>(
          [&] { roc::register_host({.mapped = mapped}, range).release(); });
    }
    bool const adopted = same ? same->adopted : !mapped && op.choice % 3 == 0;
    if (adopted && !same) {
      ROCARRAY_HIP(hipHostRegister, range.data(), bytes, hipHostRegisterPortable);
    }
    auto guard = adopted ? roc::adopt_registered(range)
                         : roc::register_host({.mapped = mapped, .portable = true}, range);
    if (same) {
      same->guards.push_back(std::move(guard));
    } else {
      registered_range next{first, bytes, ++serials_, mapped, adopted, {}};
      next.guards.push_back(std::move(guard));
      b->registrations.push_back(std::move(next));
    }
    return true;
  }

  // Ends a registration once. Waits for copies that used it.
  void end_registration(buffer& b, std::size_t index, unsigned choice) {
    flush();
    auto& r = b.registrations[index];
    note("deregister [" + std::to_string(r.first) + ", " + std::to_string(r.first + r.bytes) + ")");
    switch (choice % 3) {
      case 0: r.guards.pop_back(); break;
      case 1:
        r.guards.back().deregister();
        r.guards.pop_back();
        break;
      default: {
        r.guards.back().release();
        r.guards.pop_back();
        roc::deregister(roc::host_view<std::byte>(b.data + r.first, roc::shape<1>{r.bytes}));
      }
    }
    if (!r.guards.empty()) return;
    clock done;
    for (use const& u : uses_) {
      if (u.serial == b.serial && !u.by_user &&
          std::find(u.registrations.begin(), u.registrations.end(), r.serial) !=
              u.registrations.end()) {
        done.join(u.done);
      }
    }
    bool const adopted = r.adopted;
    std::byte* const data = b.data + r.first;
    b.registrations.erase(b.registrations.begin() + static_cast<std::ptrdiff_t>(index));
    host_knows(done);
    if (!adopted) return;
    try {
      check_host();  // HIP may wait, so before it
    } catch (mismatch const&) {
      static_cast<void>(ROCARRAY_HIP_QUIET(hipHostUnregister, data));
      throw;
    }
    ROCARRAY_HIP(hipHostUnregister, data);
  }

  template <class Error, class F>
  bool must_throw(F f) {
    try {
      f();
    } catch (Error const&) {
      ++counts.refused;
      return true;
    }
    throw mismatch("operation " + std::to_string(number_) + " must throw, and did not");
  }

  // Views

  // Returns true if the view and its elements are inside of the buffer's usable part.
  static bool fits(view_spec const& v, std::size_t size, buffer const& b) {
    auto const [low, high] = v.span(size);
    if (low < static_cast<std::ptrdiff_t>(guard_bytes) ||
        high > static_cast<std::ptrdiff_t>(b.capacity - guard_bytes)) {
      return false;
    }
    if (!v.recipe) return true;
    std::size_t bytes = size;
    for (int i = 0; i < v.rank; ++i) bytes *= v.recipe->parent[i];
    return v.recipe->origin + bytes <= b.capacity;
  }

  // A side of a copy with what the model knows about its memory. Returns nullopt if the buffer does
  // not have the view.
  struct side {
    endpoint end;
    planned_use access;
    bool pinned = false;
    buffer* memory = nullptr;
  };
  std::optional<side> side_of(view_spec const& v, std::size_t size, bool writes) {
    buffer* const b = find(v.buffer);
    if (!b || !fits(v, size, *b)) return std::nullopt;
    side result;
    result.memory = b;
    result.end.spec = &v;
    result.end.base = b->data;
    result.end.capacity = b->capacity;
    result.end.device_space = b->on_device();
    result.end.device = b->on_device() ? b->device : -1;
    result.end.is_managed = b->kind == memory_kind::managed;
    auto& access = result.access;
    access.target = b;
    access.writes = writes;
    access.bytes = byte_set(b->capacity);
    v.for_each(size, [&](std::size_t offset) { access.bytes.add(offset, size); });
    auto const [low, high] = v.span(size);
    bool is_mapped = b->kind == memory_kind::mapped || b->kind == memory_kind::managed;
    result.pinned = b->is_pinned();
    for (auto const& r : b->registrations) {
      auto const first = static_cast<std::ptrdiff_t>(r.first);
      auto const end = first + static_cast<std::ptrdiff_t>(r.bytes);
      if (low >= end || first >= high) continue;
      access.registrations.push_back(r.serial);
      if (first <= low && high <= end) {
        result.pinned = true;
        is_mapped = is_mapped || r.mapped;
      } else {
        access.is_partly_pinned = true;
      }
    }
    if (v.as_device && is_mapped) result.end.device_space = result.end.alias = true;
    access.is_host_memory = !result.end.device_space && !result.end.is_managed;
    return result;
  }

  // Returns the devices of the sides' memory.
  static std::vector<int> devices_of(std::vector<side> const& sides) {
    std::vector<int> result;
    for (side const& s : sides) {
      if (s.end.device >= 0 &&
          std::find(result.begin(), result.end(), s.end.device) == result.end())
        result.push_back(s.end.device);
    }
    return result;
  }

  void model_copy(view_spec const& from, view_spec const& to, std::size_t size) {
    auto& source = find(from.buffer)->expected;
    auto& target = find(to.buffer)->expected;
    std::vector<std::size_t> offsets;
    from.for_each(size, [&](std::size_t offset) { offsets.push_back(offset); });
    std::size_t i = 0;
    to.for_each(size, [&](std::size_t offset) {
      std::memcpy(&target[offset], &source[offsets[i++]], size);
    });
    find(to.buffer)->is_dirty = true;
    ++counts.copies;
    counts.bytes += size * offsets.size();
  }

  struct copy_call {
    std::size_t size = 1;
    bool borrow = false;
    call_form form = call_form::views;
    roc::copy_options how;

    bool is_plain() const { return how.path == roc::copy_path::none && how.threads == 0; }
  };

  // Calls roc::memcpy or memcpy_2d. Returns false if they cannot do the copy.
  static bool call_memcpy(endpoint const& from, endpoint const& to, copy_call const& c,
                          roc::stream_ref const* stream) {
    auto const source = rows_of(*from.spec, c.size), target = rows_of(*to.spec, c.size);
    bool const has_options = !c.is_plain() || c.borrow;
    if (!source || !target || has_options || from.spec->count() == 0) return false;
    auto const is_one_range = [](byte_rows const& rows) { return rows.pitch == rows.width; };
    std::size_t const bytes = source->width * source->height;
    if (is_one_range(*source) && is_one_range(*target)) {
      if (stream == nullptr) {
        roc::memcpy(to.data(), from.data(), bytes);
      } else {
        roc::memcpy(to.data(), from.data(), bytes, *stream);
      }
      return true;
    }
    byte_rows const& rows = is_one_range(*source) ? *target : *source;
    bool const has_rows =
        is_one_range(*source) || is_one_range(*target) || source->width == target->width;
    if (!has_rows) return false;
    std::size_t const source_pitch = is_one_range(*source) ? rows.width : source->pitch;
    std::size_t const target_pitch = is_one_range(*target) ? rows.width : target->pitch;
    if (stream == nullptr) {
      roc::memcpy_2d(to.data(), target_pitch, from.data(), source_pitch, rows.width, rows.height);
    } else {
      roc::memcpy_2d(to.data(), target_pitch, from.data(), source_pitch, rows.width, rows.height,
                     *stream);
    }
    return true;
  }

  template <class Source, class Target>
  static void call_typed_copy(Source const& source, Target const& target, copy_call const& c,
                              roc::stream_ref const* stream) {
    bool const plain = c.is_plain();
    if (stream == nullptr)
      return plain ? roc::copy(source, target) : roc::copy(source, target, c.how);
    if (c.borrow) return roc::copy(source, target, *stream, roc::borrow_source, c.how);
    return plain ? roc::copy(source, target, *stream) : roc::copy(source, target, *stream, c.how);
  }

  // Calls roc::copy in one of its forms.
  static void call_copy(endpoint const& from, endpoint const& to, copy_call const& c,
                        roc::stream_ref const* stream) {
    bool const of_memory =
        c.form != call_form::views && from.may_be_unknown() && to.may_be_unknown();
    if (of_memory && c.form == call_form::bytes && call_memcpy(from, to, c, stream)) return;
    bool const is_located = c.form == call_form::located;
    with_type(c.size, from.spec->rank, [&]<std::size_t Size, std::size_t N>() {
      with_view<Size, N>(from, [&](auto source) {
        with_view<Size, N>(to, [&](auto target) {
          if (!of_memory) return call_typed_copy(source, target, c, stream);
          call_typed_copy(memory_of(source, is_located), memory_of(target, is_located), c, stream);
        });
      });
    });
  }

  static void add_to(roc::copy_batch& batch, endpoint const& from, endpoint const& to,
                     std::size_t size, call_form form) {
    bool const of_memory = form != call_form::views && from.may_be_unknown() && to.may_be_unknown();
    bool const is_located = form == call_form::located;
    with_type(size, from.spec->rank, [&]<std::size_t Size, std::size_t N>() {
      with_view<Size, N>(from, [&](auto source) {
        with_view<Size, N>(to, [&](auto target) {
          if (!of_memory) return void(batch.add(source, target));
          batch.add(memory_of(source, is_located), memory_of(target, is_located));
        });
      });
    });
  }

  // Returns true if a graph may use the memory: it is no pageable memory. By its device address,
  // host memory is not found.
  static bool can_be_captured(side const& s) {
    if (s.end.alias) return false;
    return s.end.device_space || (s.pinned && !s.access.is_partly_pinned);
  }

  static std::string text_of_copy(operation const& op, copy_spec const& c) {
    return text_of(c.from) + " -> " + text_of(c.to) + " of " + std::to_string(op.size) + " bytes";
  }

  static std::string text_of_call(operation const& op, int device) {
    std::string text = stream_text(op) + " of device " + std::to_string(device);
    if (op.borrow && op.stream != no_stream) text += ", borrowed";
    constexpr char const* forms[] = {"", ", memory looked up", ", memory stated", ", memcpy"};
    text += forms[static_cast<int>(op.form)];
    if (op.path != 0)
      text += std::string(", path ") + to_string(static_cast<roc::copy_path>(op.path));
    if (op.threads != 0) text += ", " + std::to_string(op.threads) + " copy threads";
    if (op.thread != 0) text += ", in thread " + std::to_string(op.thread);
    return text;
  }

  static void count_form(call_form form, endpoint const& from, endpoint const& to) {
    if (form == call_form::views || !from.may_be_unknown() || !to.may_be_unknown()) return;
    ++(form == call_form::bytes ? counts.of_bytes : counts.of_memory_views);
  }

  bool copy(operation const& op) {
    if (op.copies.size() != 1) return false;
    copy_spec const& c = op.copies[0];
    auto from = side_of(c.from, op.size, false), to = side_of(c.to, op.size, true);
    if (!from || !to || c.from.rank != c.to.rank || c.from.extents != c.to.extents) return false;
    auto const devices = devices_of({*from, *to});
    bool const has_alias = from->end.alias || to->end.alias;
    if (has_alias && devices.size() > 1) return false;
    int const device = devices.empty()      ? op.device % machine_.devices
                       : op.choice % 2 == 0 ? devices.front()
                                            : devices.back();
    bool const has_stream = op.stream != no_stream;
    std::optional<std::size_t> line;
    if (has_stream) line = line_of(device, op.stream, op.thread);
    // Captured, and launched at once. The path of the launch is that of the capture.
    bool const by_graph = has_stream && captures_host_functions && (op.choice >> 8) % 4 == 0 &&
                          devices.size() < 2 && can_be_captured(*from) && can_be_captured(*to);
    note("copy " + text_of_copy(op, c) + text_of_call(op, device) +
         (by_graph ? ", by a graph" : ""));
    bool const overlaps = from->memory == to->memory &&
                          from->access.bytes.intersects(to->access.bytes) && c.to.count() != 0;
    if (overlaps && from->end.device_space != to->end.device_space) return false;
    copy_call const call{op.size,
                         op.borrow,
                         op.form,
                         {.path = static_cast<roc::copy_path>(op.path), .threads = op.threads}};
    count_form(op.form, from->end, to->end);
    auto const run = [this, from_end = from->end, to_end = to->end, a = c.from, b = c.to, call,
                      line, device, by_graph]() mutable {
      from_end.spec = &a;
      to_end.spec = &b;
      roc::device_guard const guard{roc::device(device)};
      if (!line) return call_copy(from_end, to_end, call, nullptr);
      auto const stream = stream_of(*line);
      if (!by_graph) return call_copy(from_end, to_end, call, &stream);
      roc::graph_exec executable(roc::capture(
          [&](roc::stream_ref captured) { call_copy(from_end, to_end, call, &captured); }));
      executable.launch(stream);
      // Kept, because its destructor blocks.
      std::lock_guard const lock(graphs_mutex_);
      graphs_.push_back(std::move(executable));
    };
    if (overlaps) {
      flush();
      return must_throw<roc::overlap_error>([&] { in_thread(op.thread, device, run); });
    }
    if (c.to.count() == 0) {
      flush();
      try {
        in_thread(op.thread, device, run);
      } catch (roc::error const& error) {
        if (op.path == 0 || error.code() != std::errc::invalid_argument) throw;
      }
      return true;
    }
    bool const from_host = !from->end.device_space;
    if (from_host && has_stream && !from->pinned && !op.borrow) from->access.at_once = true;
    if (!from_host) from->access.is_partly_pinned = false;
    if (to->end.device_space) to->access.is_partly_pinned = false;
    std::vector<planned_use> const planned{from->access, to->access};
    std::vector<int> const waited = devices.empty() ? std::vector{device} : devices;
    auto const start = prepare(planned, line, waited, op.choice / 2);
    bool const may_refuse = op.path != 0;
    bool const grouped = may_be_grouped(op) && !may_refuse;
    if (!grouped) flush();
    if (grouped) {
      static_cast<void>(prepare_stream(*line, op.thread));
      group_.emplace_back(lines_[*line].number == per_thread ? lines_[*line].thread : op.thread,
                          run);
    } else {
      try {
        in_thread(op.thread, device, run);
      } catch (roc::error const& error) {
        if (!may_refuse || error.code() != std::errc::invalid_argument) throw;
        ++counts.refused;
        return true;
      }
    }
    model_copy(c.from, c.to, op.size);
    commit(planned, line, start, grouped);
    return true;
  }

  // Returns true if the prepared call can be made at the same time as others.
  bool may_be_grouped(operation const& op) const {
    return op.concurrent && op.stream != no_stream && op.stream != default_stream &&
           !has_implied_order_;
  }

  // Creates an owned stream before several threads use it.
  bool prepare_stream(std::size_t line, int) {
    timeline const& t = lines_[line];
    if (t.number < owned_stream || t.number >= foreign_blocking) return false;
    roc::device_guard const guard{roc::device(t.device)};
    static_cast<void>(stream_of(line));
    return true;
  }

  bool batch(operation const& op) {
    flush();
    struct item {
      copy_spec const* copy;
      side from, to;
    };
    std::vector<item> items;
    int device = -1;
    for (copy_spec const& c : op.copies) {
      auto from = side_of(c.from, op.size, false), to = side_of(c.to, op.size, true);
      if (!from || !to || c.from.rank != c.to.rank || c.from.extents != c.to.extents) continue;
      int const used = std::max(from->end.device, to->end.device);
      bool const is_between =
          from->end.device >= 0 && to->end.device >= 0 && from->end.device != to->end.device;
      if (is_between || (used >= 0 && device >= 0 && used != device)) continue;
      bool const overlaps =
          from->memory == to->memory && from->access.bytes.intersects(to->access.bytes);
      if (overlaps && from->end.device_space != to->end.device_space) continue;
      if (used >= 0) device = used;
      items.push_back({&c, std::move(*from), std::move(*to)});
    }
    if (items.empty()) return false;
    if (device < 0) device = op.device % machine_.devices;
    bool const has_stream = op.stream != no_stream;
    std::optional<std::size_t> line;
    if (has_stream) line = line_of(device, op.stream, op.thread);
    note("batch" + text_of_call(op, device));
    roc::copy_batch batch;
    roc::device_guard const guard{roc::device(device)};
    std::vector<item*> added;
    std::vector<planned_use> planned;
    for (item& i : items) {
      bool const overlaps = i.from.memory == i.to.memory && i.copy->to.count() != 0 &&
                            i.from.access.bytes.intersects(i.to.access.bytes);
      note("    " + text_of_copy(op, *i.copy) + (overlaps ? ", which must fail" : ""));
      auto const add = [&] { add_to(batch, i.from.end, i.to.end, op.size, op.form); };
      if (overlaps) {
        must_throw<roc::overlap_error>(add);
        continue;
      }
      if (op.what == action::invalid_batch) add_invalid(batch, i.from.end, i.to.end, op);
      add();
      if (i.copy->to.count() == 0) continue;
      added.push_back(&i);
      if (!i.from.end.device_space && has_stream && !i.from.pinned && !op.borrow) {
        i.from.access.at_once = true;
      }
      if (i.from.end.device_space) i.from.access.is_partly_pinned = false;
      if (i.to.end.device_space) i.to.access.is_partly_pinned = false;
      planned.push_back(i.from.access);
      planned.push_back(i.to.access);
    }
    if (batch.size() != added.size()) throw mismatch("copy_batch::size() is wrong");
    if (added.empty()) return true;
    auto const start = prepare(planned, line, {device}, op.choice / 2, true);
    roc::copy_options const how{.path = static_cast<roc::copy_path>(op.path)};
    // Some copies of a batch that throws may be done: all must be able to take the path.
    bool const has_path = op.path != 0 && added.size() == 1;
    in_thread(op.thread, device, [&] {
      try {
        if (!line) return has_path ? batch.submit(how) : batch.submit();
        auto const stream = stream_of(*line);
        if (op.borrow) return batch.submit(stream, roc::borrow_source);
        has_path ? batch.submit(stream, how) : batch.submit(stream);
      } catch (roc::error const& error) {
        if (!has_path || error.code() != std::errc::invalid_argument) throw;
        ++counts.refused;
        added.clear();
      }
    });
    if (added.empty()) return true;
    for (item const* i : added) model_copy(i->copy->from, i->copy->to, op.size);
    commit(planned, line, start, false, true);
    return true;
  }

  // Adds a copy that must be refused.
  void add_invalid(roc::copy_batch& batch, endpoint from, endpoint to, operation const& op) {
    view_spec wrong = *to.spec;
    to.spec = &wrong;
    if (!make_invalid(wrong, op)) return;
    invalid_throws(wrong, [&] { add_to(batch, from, to, op.size, op.form); });
  }

  // Changes the destination so that a copy is an error: a stride of 0, or another shape. Returns
  // false if the view has no such change.
  static bool make_invalid(view_spec& v, operation const& op) {
    if (v.rank == 0 || v.count() == 0) return false;
    v.recipe.reset();
    for (int i = 0; i < v.rank; ++i) {
      if (v.extents[i] < 2) continue;
      if (op.choice % 2 == 0) {
        v.strides[i] = 0;
      } else {
        --v.extents[i];
      }
      return true;
    }
    return false;
  }
  template <class F>
  void invalid_throws(view_spec const& wrong, F f) {
    bool const has_zero_stride = [&] {
      for (int i = 0; i < wrong.rank; ++i) {
        if (wrong.strides[i] == 0 && wrong.extents[i] > 1) return true;
      }
      return false;
    }();
    if (has_zero_stride) {
      must_throw<roc::layout_error>(f);
    } else {
      must_throw<roc::shape_error>(f);
    }
  }

  bool invalid_copy(operation const& op) {
    flush();
    if (op.copies.size() != 1) return false;
    copy_spec c = op.copies[0];
    if (!make_invalid(c.to, op)) return false;
    auto const from = side_of(c.from, op.size, false), to = side_of(c.to, op.size, true);
    if (!from || !to || devices_of({*from, *to}).size() > 1) return false;
    auto const devices = devices_of({*from, *to});
    int const device = devices.empty() ? op.device % machine_.devices : devices.front();
    // memcpy has one size for both sides.
    auto const form = op.form == call_form::bytes ? call_form::memory_views : op.form;
    note("copy, which must fail: " + text_of_copy(op, c) + text_of_call(op, device));
    invalid_throws(c.to, [&] {
      in_thread(op.thread, device, [&] {
        if (op.stream == no_stream)
          return call_copy(from->end, to->end, {op.size, false, form, {}}, nullptr);
        auto const stream = stream_of(line_of(device, op.stream, op.thread));
        call_copy(from->end, to->end, {op.size, op.borrow, form, {}}, &stream);
      });
    });
    return true;
  }

  bool fill(operation const& op) {
    if (op.copies.size() != 1) return false;
    view_spec const& v = op.copies[0].to;
    auto target = side_of(v, op.size, true);
    if (!target) return false;
    int const device = target->end.device >= 0 ? target->end.device : op.device % machine_.devices;
    bool const has_stream = op.stream != no_stream;
    std::optional<std::size_t> line;
    if (has_stream) line = line_of(device, op.stream, op.thread);
    bool const zeroes = op.what == action::zero;
    note((zeroes ? "zero " : "fill ") + text_of(v) + " of " + std::to_string(op.size) + " bytes" +
         text_of_call(op, device));
    if (target->end.device_space) target->access.is_partly_pinned = false;
    auto const run = [this, end = target->end, spec = v, line, device, zeroes, size = op.size,
                      value = op.value, form = op.form]() mutable {
      end.spec = &spec;
      roc::device_guard const guard{roc::device(device)};
      with_type(size, spec.rank, [&]<std::size_t Size, std::size_t N>() {
        with_view<Size, N>(end, [&](auto view) {
          if (form != call_form::views && end.may_be_unknown()) {
            auto const memory = memory_of(view, form == call_form::located);
            auto const element = element_of<Size>::number(value);
            if (line) {
              auto const stream = stream_of(*line);
              return zeroes ? roc::zero(memory, stream) : roc::fill(memory, element, stream);
            }
            return zeroes ? roc::zero(memory) : roc::fill(memory, element);
          }
          if (line) {
            auto const stream = stream_of(*line);
            return zeroes ? view.zero(stream) : view.fill(element_of<Size>::number(value), stream);
          }
          zeroes ? view.zero() : view.fill(element_of<Size>::number(value));
        });
      });
    };
    if (v.count() == 0) {
      flush();
      in_thread(op.thread, device, run);
      return true;
    }
    auto const start = prepare({target->access}, line, {device}, op.choice);
    bool const grouped = may_be_grouped(op);
    if (grouped) {
      static_cast<void>(prepare_stream(*line, op.thread));
      group_.emplace_back(op.thread, run);
    } else {
      flush();
      in_thread(op.thread, device, run);
    }
    auto& expected = target->memory->expected;
    auto const pattern = element_of<16>::number(op.value);  // begins with the shorter ones
    v.for_each(op.size, [&](std::size_t offset) {
      if (zeroes) {
        std::memset(&expected[offset], 0, op.size);
      } else {
        std::memcpy(&expected[offset], &pattern, op.size);
      }
    });
    target->memory->is_dirty = true;
    commit({target->access}, line, start, grouped);
    return true;
  }

  // Returns the use of bytes of a host buffer by the user; nullopt if it has no such bytes.
  std::optional<planned_use> use_of_bytes(operation const& op) {
    buffer* const b = find(op.buffer);
    if (!b || b->on_device() || op.count == 0 || op.first < guard_bytes ||
        op.first + op.count > b->capacity - guard_bytes) {
      return std::nullopt;
    }
    planned_use result;
    result.target = b;
    result.bytes = byte_set(b->capacity);
    result.bytes.add(op.first, op.count);
    result.writes = result.by_user = true;
    return result;
  }

  bool host_function(operation const& op) {
    flush();
    auto const planned = use_of_bytes(op);
    int const device = op.device % machine_.devices;
    if (!planned || op.stream == no_stream || planned->target->kind == memory_kind::managed) {
      return false;
    }
    auto const line = line_of(device, op.stream, op.thread);
    note("host function: add " + std::to_string(op.value) + " to b" + std::to_string(op.buffer) +
         "[" + std::to_string(op.first) + ", " + std::to_string(op.first + op.count) + ")" +
         text_of_call(op, device));
    auto const start = prepare({*planned}, line, {}, op.choice);
    auto const add = [value = op.value](std::byte* data, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        data[i] = static_cast<std::byte>(std::to_integer<unsigned>(data[i]) + value);
      }
    };
    with_stream(line, op.thread, [&](roc::stream_ref stream) {
      stream.launch_host_function(
          [add, data = planned->target->data + op.first, count = op.count] { add(data, count); });
    });
    add(&planned->target->expected[op.first], op.count);
    planned->target->is_dirty = true;
    commit({*planned}, line, start, false);
    return true;
  }

  bool delay(operation const& op) {
    int const device = op.device % machine_.devices;
    if (op.stream == no_stream) return false;
    auto const line = line_of(device, op.stream, op.thread);
    note("delay" + text_of_call(op, device));
    auto const start = prepare({}, line, {}, 0);
    with_stream(line, op.thread, [&](roc::stream_ref stream) {
      stream.launch_host_function(
          [] { std::this_thread::sleep_for(std::chrono::microseconds(150)); });
    });
    commit({}, line, start, false);
    return true;
  }

  bool host_write(operation const& op) {
    flush();
    auto planned = use_of_bytes(op);
    if (!planned) return false;
    planned->by_user = true;
    for (use const& u : uses_) {
      if (u.serial == planned->target->serial && u.bytes.intersects(planned->bytes)) return false;
    }
    note("the host writes b" + std::to_string(op.buffer) + "[" + std::to_string(op.first) + ", " +
         std::to_string(op.first + op.count) + ")");
    for (std::size_t i = op.first; i < op.first + op.count; ++i) {
      planned->target->data[i] = planned->target->expected[i] = value_of(op.value, i);
    }
    return true;
  }

  template <class View, class Access>
  void map_view(View view, Access kind, roc::stream_ref const* stream, view_spec const& v,
                operation const& op, buffer& b) {
    auto const change = [&](auto mapping) {
      if constexpr (Access::value == roc::access_kind::read) {
        check_mapped(mapping.view(), v, b);
      } else {
        if constexpr (Access::value == roc::access_kind::read_write) {
          check_mapped(mapping.view(), v, b);
        }
        unsigned number = op.value;
        auto const elements = mapping.view();
        for (std::size_t i = 0; i < v.extents[0]; ++i) {
          for (std::size_t k = 0; k < v.extents[1]; ++k) {
            elements(i, k) = element_of<4>::number(number++);
          }
        }
      }
      mapping.unmap();
    };
    if (stream) {
      change(roc::map(view, kind, *stream));
    } else {
      change(roc::map(view, kind));
    }
  }

  template <class Elements>
  void check_mapped(Elements const& elements, view_spec const& v, buffer const& b) {
    std::vector<std::size_t> offsets;
    v.for_each(4, [&](std::size_t offset) { offsets.push_back(offset); });
    for (std::size_t i = 0, n = 0; i < v.extents[0]; ++i) {
      for (std::size_t k = 0; k < v.extents[1]; ++k, ++n) {
        if (std::memcmp(&elements(i, k), &b.expected[offsets[n]], 4) != 0) {
          throw mismatch("an element of a mapped array is wrong");
        }
      }
    }
  }

  bool map(operation const& op) {
    flush();
    if (op.copies.size() != 1) return false;
    view_spec const& v = op.copies[0].to;
    if (v.rank != 2 || v.count() == 0) return false;
    auto target = side_of(v, 4, true);
    if (!target) return false;
    bool const on_device = target->end.device_space;
    int const device = target->end.device >= 0 ? target->end.device : op.device % machine_.devices;
    std::optional<std::size_t> line;
    if (op.stream != no_stream) line = line_of(device, op.stream, op.thread);
    unsigned const kind = op.choice % 3;  // read, write, read_write
    constexpr char const* names[] = {"map to read ", "map to write ", "map to change "};
    note(names[kind] + text_of(v) + text_of_call(op, device));
    // The host uses the memory in place, or a copy that the stream makes.
    planned_use before = target->access;
    before.writes = kind != 0;
    before.is_partly_pinned = false;
    bool const reads = !on_device || kind != 1;
    clock start;
    if (line) {
      if (on_device) {
        start = prepare({before}, line, {}, op.choice / 3);
      } else {
        before.by_user = true;
        static_cast<void>(prepare({before}, {}, {}, op.choice / 3));  // other streams
        start = host_;
        start.join(lines_[*line].seen);
        start.join(lines_[*line].committed);
      }
    } else {
      start = prepare({before}, {}, {device}, op.choice / 3);
    }
    auto& b = *target->memory;
    in_thread(op.thread, device, [&] {
      std::optional<roc::stream_ref> stream;
      if (line) stream = stream_of(*line);
      auto const with_kind = [&](auto access) {
        with_view<4, 2>(target->end, [&](auto view) {
          map_view(view, access, stream ? &*stream : nullptr, v, op, b);
        });
      };
      if (kind == 0) with_kind(roc::access::read);
      if (kind == 1) with_kind(roc::access::write);
      if (kind == 2) with_kind(roc::access::read_write);
    });
    if (reads) host_knows(start);
    if (kind != 0) {
      unsigned number = op.value;
      v.for_each(4, [&](std::size_t offset) {
        auto const element = element_of<4>::number(number++);
        std::memcpy(&b.expected[offset], &element, 4);
      });
      b.is_dirty = true;
    }
    if (!line) {
      host_knows(start);
    } else if (on_device && kind != 0) {
      commit({before}, line, start_of(*line), false);
    }
    return true;
  }

  // Events and streams

  struct event_slot {
    std::optional<roc::event> event;
    clock done;
  };

  event_slot& event_of(operation const& op, int device) {
    return events_[device][op.choice % event_count];
  }

  bool record_event(operation const& op) {
    int const device = op.device % machine_.devices;
    int const stream = op.stream == no_stream ? static_cast<int>(default_stream) : op.stream;
    auto const line = line_of(device, stream, op.thread);
    auto& slot = event_of(op, device);
    note("record event " + std::to_string(op.choice % event_count) + text_of_call(op, device));
    with_stream(line, op.thread, [&](roc::stream_ref s) {
      if (!slot.event) slot.event.emplace();
      slot.event->record(s);
    });
    slot.done = host_;
    slot.done.join(lines_[line].seen);
    slot.done.join(lines_[line].committed);
    return true;
  }

  bool wait_event(operation const& op) {
    int const device = op.device % machine_.devices;
    auto& slot =
        events_[op.value % static_cast<unsigned>(machine_.devices)][op.choice % event_count];
    if (!slot.event || op.stream == no_stream) return false;
    auto const line = line_of(device, op.stream, op.thread);
    note("wait for event " + std::to_string(op.choice % event_count) + text_of_call(op, device));
    with_stream(line, op.thread, [&](roc::stream_ref s) { s.wait(*slot.event); });
    lines_[line].seen.join(slot.done);
    return true;
  }

  bool synchronize_event(operation const& op) {
    flush();
    auto& slot = event_of(op, op.device % machine_.devices);
    if (!slot.event) return false;
    note("synchronize event " + std::to_string(op.choice % event_count));
    slot.event->synchronize();
    if (!slot.event->query()) throw mismatch("a synchronized event is not done");
    host_knows(slot.done);
    return true;
  }

  bool new_stream(operation const& op) {
    flush();
    int const device = op.device % machine_.devices;
    std::size_t const which = op.value % 3;
    auto const line = lines_of_[device][owned_stream + which];
    roc::device_guard const guard{roc::device(device)};
    bool const keeps_event = op.choice % 2 == 0;
    note("replace s" + std::to_string(owned_stream + static_cast<int>(which)) + " of device " +
         std::to_string(device) + (keeps_event ? ", after an event" : ""));
    if (keeps_event) {
      lines_[line].last = std::make_shared<roc::event>();
      lines_[line].last->record(stream_of(line));
      lines_[line].committed.join(lines_[line].seen);
    }
    auto& owned = owned_[device][which];
    owned.reset();
    lines_[line].is_live = false;
    auto const next = add_line(device, static_cast<int>(owned_stream + which), 0);
    bool const is_blocking = op.choice % 3 != 0;
    lines_[next].blocking = is_blocking;
    lines_of_[device][owned_stream + which] = next;
    owned = is_blocking ? std::make_unique<roc::stream>(static_cast<int>(op.choice % 5) - 2)
                        : std::make_unique<roc::stream>(roc::non_blocking);
    return true;
  }

  bool execute(operation const& op) {
    int const device = op.device % machine_.devices;
    switch (op.what) {
      case action::create: return create(op);
      case action::copy: return copy(op);
      case action::batch:
      case action::invalid_batch: return batch(op);
      case action::fill:
      case action::zero: return fill(op);
      case action::invalid_copy: return invalid_copy(op);
      case action::host_function: return host_function(op);
      case action::delay: return delay(op);
      case action::host_write: return host_write(op);
      case action::map: return map(op);
      case action::register_pages: return register_pages(op);
      case action::deregister: {
        buffer* const b = find(op.buffer);
        if (!b || b->registrations.empty()) return false;
        end_registration(*b, op.value % b->registrations.size(), op.choice);
        return true;
      }
      case action::record_event: return record_event(op);
      case action::wait_event: return wait_event(op);
      case action::synchronize_event: return synchronize_event(op);
      case action::synchronize_stream:
        if (op.stream == no_stream) return false;
        synchronize_stream(line_of(device, op.stream, op.thread));
        return true;
      case action::synchronize_device: synchronize_device(device); return true;
      case action::new_stream: return new_stream(op);
      case action::check: {
        buffer* const b = find(op.buffer);
        if (!b || !b->on_device()) return false;
        note("download b" + std::to_string(op.buffer) + " and compare");
        download(*b);
        return true;
      }
    }
    return false;
  }

  machine& machine_;
  bool traces_;
  unsigned setting_;
  std::size_t number_ = 0;  // of the operation
  std::vector<std::string> trace_;
  int serials_ = 0;
  clock host_;  // what the host knows to be done
  // What the host will know after the prepared call, because the call waits for it.
  clock implied_;
  // The prepared call gives its stream an order. The next call on the stream has to come after it.
  bool has_implied_order_ = false;
  clock stream_implied_;  // what later work of the stream comes after, besides
  std::vector<timeline> lines_;
  std::array<std::vector<std::size_t>, 2> lines_of_;
  std::vector<use> uses_;  // that the host does not know to be done
  std::unique_ptr<roc::stream> owned_[2][3];
  event_slot events_[2][event_count];
  // The calls that several threads will make at the same time, and for each of their timelines the
  // time before.
  std::vector<std::pair<int, std::function<void()>>> group_;
  std::map<std::size_t, unsigned> group_begin_;
  std::mutex graphs_mutex_;
  std::vector<roc::graph_exec> graphs_;           // guarded by graphs_mutex_
  std::vector<std::unique_ptr<buffer>> buffers_;  // destroyed first
};

// Executes the program. Returns what is wrong with it; empty if nothing is.
std::string failure_of(program const& p, std::vector<std::string>* trace = nullptr) {
  auto run = std::make_unique<execution>(p, trace != nullptr);
  std::string result;
  try {
    run->run(p.operations);
  } catch (std::exception const& error) {
    result = error.what();
    run->abandon();
  }
  if (trace) *trace = run->trace();
  return result;
}

// Makes a failing program smaller while it still fails. A program whose failure depends on chance
// is tried several times.
class reducer {
 public:
  explicit reducer(program p) : best_(std::move(p)) {}

  program reduce() {
    bool is_smaller = true;
    while (is_smaller && !is_over()) {
      is_smaller = false;
      for (std::size_t n = std::max<std::size_t>(best_.operations.size() / 2, 1); n != 0; n /= 2) {
        for (std::size_t i = 0; i < best_.operations.size() && !is_over();) {
          program next = best_;
          auto const first = next.operations.begin() + static_cast<std::ptrdiff_t>(i);
          auto const count = std::min(n, next.operations.size() - i);
          next.operations.erase(first, first + static_cast<std::ptrdiff_t>(count));
          if (keep_if_failing(next)) {
            is_smaller = true;
          } else {
            i += n;
          }
        }
      }
      for (std::size_t i = 0; i < best_.operations.size() && !is_over(); ++i) {
        is_smaller = simplify(i) || is_smaller;
      }
    }
    return best_;
  }

 private:
  bool is_over() const { return std::chrono::steady_clock::now() > end_; }

  bool keep_if_failing(program const& next) {
    for (int i = 0; i < attempts; ++i) {
      if (failure_of(next).empty()) continue;
      best_ = next;
      return true;
    }
    return false;
  }

  template <class Change>
  bool attempt(std::size_t i, Change change) {
    program next = best_;
    if (!change(next.operations[i]) || is_over()) return false;
    return keep_if_failing(next);
  }

  bool simplify(std::size_t i) {
    auto const reset = [](auto& value, auto simple) {
      bool const changes = value != simple;
      value = simple;
      return changes;
    };
    bool done = attempt(i, [&](operation& op) { return reset(op.thread, 0); });
    done |= attempt(i, [&](operation& op) { return reset(op.concurrent, false); });
    done |= attempt(i, [&](operation& op) { return reset(op.path, 0); });
    done |= attempt(i, [&](operation& op) { return reset(op.threads, std::size_t{0}); });
    done |= attempt(i, [&](operation& op) { return reset(op.borrow, false); });
    done |= attempt(i, [&](operation& op) { return reset(op.form, call_form::views); });
    done |= attempt(i, [&](operation& op) { return reset(op.device, 0); });
    done |= attempt(i, [&](operation& op) { return reset(op.stream, int{owned_stream}); });
    done |= attempt(i, [&](operation& op) {
      for (auto& c : op.copies) {
        c.from.recipe.reset();  // which have their size in them
        c.to.recipe.reset();
      }
      return reset(op.size, std::size_t{1});
    });
    for (std::size_t k = best_.operations[i].copies.size(); k-- != 0;) {
      if (best_.operations[i].copies.size() > 1) {
        done |= attempt(i, [&](operation& op) {
          op.copies.erase(op.copies.begin() + static_cast<std::ptrdiff_t>(k));
          return true;
        });
      }
      if (k < best_.operations[i].copies.size()) done |= shrink(i, k);
    }
    return done;
  }

  // Makes the views of a copy smaller: first without slices, then with smaller extents.
  bool shrink(std::size_t i, std::size_t k) {
    bool done = attempt(i, [&](operation& op) {
      auto& c = op.copies[k];
      bool const changes = c.from.recipe || c.to.recipe;
      c.from.recipe.reset();
      c.to.recipe.reset();
      return changes;
    });
    for (int axis = 0; axis < best_.operations[i].copies[k].to.rank; ++axis) {
      for (bool halves : {true, false}) {
        while (attempt(i, [&](operation& op) {
          auto& c = op.copies[k];
          std::size_t& extent = c.to.extents[axis];
          if (extent < 2) return false;
          extent = halves ? extent / 2 : extent - 1;
          c.from.extents[axis] = extent;
          c.from.recipe.reset();
          c.to.recipe.reset();
          return true;
        })) {
          done = true;
        }
      }
    }
    return done;
  }

  static constexpr int attempts = 3;
  program best_;
  std::chrono::steady_clock::time_point const end_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(20);
};

std::string report_of(program const& failing) {
  program const reduced = reducer(failing).reduce();
  std::vector<std::string> trace;
  std::string what;
  for (int i = 0; i < 10 && what.empty(); ++i) what = failure_of(reduced, &trace);
  std::string text = "random_programs --seed " + std::to_string(failing.seed) +
                     " --programs 1: " + (what.empty() ? "failed once" : what) + "\nreduced to " +
                     std::to_string(reduced.operations.size()) + " operations, setting " +
                     std::to_string(reduced.setting) + ":\n";
  for (auto const& line : trace) text += line + "\n";
  return text;
}

// The seed of the program that runs, for the message of a crash.
char current_seed[96];
// A program that takes longer hangs.
constexpr unsigned max_program_seconds = 100;

extern "C" void write_seed(int signal) {
  static_cast<void>(!::write(STDERR_FILENO, current_seed, std::strlen(current_seed)));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

TEST(RandomPrograms, MatchTheModelOfEveryByte) {
  auto const first =
      arguments.seed
          ? *arguments.seed
          : random_generator("RandomPrograms.MatchTheModelOfEveryByte")() % 1'000'000'000;
  std::printf("random_programs --seed %llu\n", static_cast<unsigned long long>(first));
  std::fflush(stdout);
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGALRM}) std::signal(signal, write_seed);
  auto const begin = std::chrono::steady_clock::now();
  auto const elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double const seconds =
      arguments.seconds != 0 || arguments.programs != 0 ? arguments.seconds : 2.5;
  for (std::uint64_t seed = first;; ++seed) {
    bool const is_enough = arguments.programs != 0 && counts.programs >= arguments.programs;
    if (is_enough || (seconds != 0 && elapsed() > seconds)) break;
    std::snprintf(current_seed, sizeof current_seed,
                  "the program of random_programs --seed %llu --programs 1 crashed or hung\n",
                  static_cast<unsigned long long>(seed));
    program const p = generator(seed).make(arguments.length);
    ++counts.programs;
    ::alarm(max_program_seconds);
    auto const failure = failure_of(p);
    ::alarm(0);
    if (!failure.empty()) {
      ADD_FAILURE() << "first: " << failure << "\n" << report_of(p);
      break;
    }
  }
  std::printf(
      "%zu programs, %zu operations (%zu skipped), %zu copies of %zu bytes, %zu orders of the "
      "contract, %zu orders added, %zu refused calls, %zu copies of memory views, %zu by memcpy, "
      "%zu groups of threads, %zu comparisons of host memory, %zu of device memory\n",
      counts.programs, counts.operations, counts.skipped, counts.copies, counts.bytes,
      counts.orders_of_contract, counts.orders_added, counts.refused, counts.of_memory_views,
      counts.of_bytes, counts.groups, counts.host_checks, counts.device_checks);
  EXPECT_GT(counts.host_checks + counts.device_checks, counts.programs);
  EXPECT_LT(counts.skipped * 2, counts.operations);
}

}  // namespace

int main(int count, char** values) {
  ::setenv("ROCARRAY_HOST_DEVICES", "2", 0);  // a program depends on the number of devices
  return run_campaign(
      count, values,
      {{"--seed", [](char const* text) { arguments.seed = std::strtoull(text, nullptr, 10); }},
       {"--programs",
        [](char const* text) { arguments.programs = std::strtoull(text, nullptr, 10); }},
       {"--seconds", [](char const* text) { arguments.seconds = std::strtod(text, nullptr); }},
       {"--length",
        [](char const* text) { arguments.length = std::strtoull(text, nullptr, 10); }}});
}
