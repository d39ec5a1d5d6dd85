// SPDX-License-Identifier: MIT
// Scenarios of the fault matrix: arrays, copies, memory, streams and devices, and the program. See
// fault_matrix_driver.cpp.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <roc/interop/span.hpp>
#include <roc/native.hpp>
#if __has_include(<dlpack/dlpack.h>)
#include <roc/interop/dlpack.hpp>
#endif

#include "campaigns/fault_matrix.hpp"
#include "support/captures.hpp"
#include "support/trim.hpp"

namespace roc::test::faults {
namespace {

constexpr std::size_t large_count = 40'000;  // more than all staging memory

bool holds(array const& memory, word seed) { return is_made(memory.copy_to_host(), seed); }

// Arrays and their copies to and from host memory

void create_arrays(context& c) {
  bool right = false;
  if (!c.run([&] {
        array const a({count});
        matrix const f({side, side}, order::f);
        matrix const strided({side, side}, strides<2>{2 * side, 2});
        matrix const padded_rows({side, side}, padded<2>{side, padding().coalesced()});
        hip_memory_resource resource;
        array const direct({count}, resource);
        a.fill(1);
        f.zero();
        strided.fill(2);
        padded_rows.zero();
        direct.fill(3);
        right = a(5).get() == 1 && f(7, 8).get() == 0 && strided(99, 99).get() == 2 &&
                padded_rows(3, 4).get() == 0 && direct(-1).get() == 3;
      }))
    return;
  c.expect(right, "elements of new arrays");
}

void move_and_release_arrays(context& c) {
  words const& from = c.source(count);
  array a = to_device(from);
  words& to = c.target(count);
  if (!c.run([&] {
        array b = std::move(a);
        auto m = std::move(b).reshape(side, side).transpose();
        a = std::move(m).transpose().ravel();
        array c1({1000});
        c1 = array({2000});
        c1.swap(a);
        a.swap(c1);
        a.copy_to_host(to);
      }))
    return;
  c.expect(is_made(to, 1), "array moved several times");
}

void release_array(context& c) {
  hip_memory_resource resource;
  bool right = false;
  if (!c.run([&] {
        array a({count}, resource);
        a.fill(4);
        right = a(0).get() == 4;
        word* const data = a.release();
        ROCARRAY_HIP_QUIET(hipFree, data);
      }))
    return;
  c.expect(right, "released array");
}

void to_device_without_stream(context& c) {
  words const& from = c.source(count);
  std::optional<array> a;
  if (!c.call([&] { a = to_device(from); })) return;
  c.expect(holds(*a, 1), "to_device");
}

void to_device_on_stream(context& c) {
  words const& from = c.source(large_count);
  stream s;
  std::optional<array> a;
  if (!c.call([&] { a = to_device(from, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  c.expect(holds(*a, 1), "to_device on a stream");
}

void to_device_into_array(context& c) {
  words const& from = c.source(count);
  array a({count});
  a.fill(9);
  c.watch(a.view());
  if (!c.call([&] { to_device(from, a); })) return;
  if (!c.call([&] { to_device(from, a.view(), stream_ref()); })) return;
  if (!c.run([&] { stream_ref().synchronize(); })) return;
  c.expect(holds(a, 1), "to_device into an array");
}

void arrays_like_others(context& c) {
  words const& from = c.source(count);
  if (!c.run([&] {
        matrix const f({side, side}, order::f);
        stream s;
        auto const like_f = device_array_like(f);
        auto const like_view = device_array_like(f.view()(roc::all, slice(0, 50)), s);
        auto const like_host = device_array_like(from);
        if (!like_f.is_f_contiguous() || like_view.extent(1) != 50 || like_host.size() != count) {
          throw std::logic_error("shape");
        }
      }))
    return;
  c.expect(true, "");
}

void download_to_new_array(context& c) {
  array const a = to_device(c.source(count));
  std::optional<host_array<word>> h;
  if (!c.run([&] { h = a.copy_to_host(); })) return;
  c.expect(is_made(*h, 1), "copy_to_host");
}

void download_to_new_array_on_stream(context& c) {
  array const a = to_device(c.source(count));
  stream s;
  std::optional<host_array<word>> h;
  if (!c.run([&] {
        h = a.copy_to_host(s);
        s.synchronize();
      }))
    return;
  c.expect(is_made(*h, 1), "copy_to_host on a stream");
}

void runtime_copies_of_small_arrays(context& c) {
  words const& from = c.source(500);
  words& to = c.target(500);
  array const a({500});
  stream s;
  c.watch(a.view());
  a.fill(9);
  scoped_options const scope({.staging_threshold = 1 << 20});
  if (!c.call([&] { a.copy_to_device(from); })) return;
  if (!c.call([&] { a.copy_to_device(from, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { a.copy_to_host(to, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { a.copy_to_host(to); })) return;
  c.expect(is_made(to, 1), "small copies");
}

void upload_pageable(context& c) {
  words const& from = c.source(large_count);
  array const a({large_count});
  a.fill(9);
  c.watch(a.view());
  if (!c.call([&] { a.copy_to_device(from); })) return;
  c.expect(holds(a, 1), "staged upload");
}

void upload_pageable_on_stream(context& c) {
  words const& from = c.source(large_count);
  array const a({large_count});
  a.fill(9);
  c.watch(a.view());
  stream s;
  if (!c.call([&] { a.copy_to_device(from, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  c.expect(holds(a, 1), "staged upload on a stream");
}

void upload_borrowed(context& c) {
  words const& from = c.source(large_count);
  array const a({large_count});
  a.fill(9);
  c.watch(a.view());
  stream s;
  if (!c.call([&] { a.copy_to_device(from, s, borrow_source); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  c.expect(holds(a, 1), "borrowed upload");
}

void download_pageable(context& c) {
  array const a = to_device(make_words(large_count, 1));
  words& to = c.target(large_count);
  if (!c.call([&] { a.copy_to_host(to); })) return;
  c.expect(is_made(to, 1), "staged download");
}

void download_pageable_on_stream(context& c) {
  array const a = to_device(make_words(large_count, 1));
  words& to = c.target(large_count);
  stream s;
  if (!c.call([&] { a.copy_to_host(to, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  c.expect(is_made(to, 1), "staged download on a stream");
}

// Returns how often the device was told to wait for values.
unsigned value_waits() { return call_uses[index_of_call("hipStreamWaitValue64")]; }

// Returns true if the library must take the path that the scenario tests: HIP is that of the host
// platform, and nothing fails. Not every GPU can wait for values, and a vendor's runtime may wait
// for pending work in any call.
bool is_path_known([[maybe_unused]] context const& c) {
#if ROCARRAY_PLATFORM_HOST
  return c.is_faultless();
#else
  return false;
#endif
}

// Returns the mode of the host platform as it is set, because run_mode() calls HIP.
std::string_view host_mode() {
  char const* const text = std::getenv("ROCARRAY_HOST_MODE");
  return text == nullptr || std::string_view(text).empty() ? "threaded" : text;
}

// Holds back the work of streams, so that all of a scenario's copies are pending at the same time,
// and the library makes the same calls in each run. If the fault occurs, the work goes on: the
// library may wait for it then. Holds nothing back in mode inline, where no work is pending, nor in
// mode deferred, where enqueued work runs in the call that queries it or waits for it.
class holding_gate {
 public:
  ~holding_gate() { open(); }

  void hold(stream const& s) {
    if (host_mode() != "threaded") return;
    s.launch_host_function([state = state_] {
      // Limited, because a vendor's runtime may wait for pending work when it allocates memory.
      for (int i = 0; i != 50'000 && !state->is_open && !has_fault_occurred(); ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      state->has_passed = true;
    });
  }
  void open() { state_->is_open = true; }
  // Returns false if work of a stream that was held back may have begun.
  bool has_held() const { return !state_->has_passed; }

 private:
  struct gate_state {
    std::atomic<bool> is_open = false;
    std::atomic<bool> has_passed = false;
  };
  std::shared_ptr<gate_state> state_ = std::make_shared<gate_state>();
};

// The threads of the library do the CPU's work.
void copies_staged_by_values(context& c) {
  scoped_options const scope({.stream_staging = stream_staging_method::values});
  words const& from = c.source(large_count);
  words& to = c.target(large_count);
  array const a({large_count});
  array const b = to_device(make_words(large_count, 1));
  a.fill(9);
  c.watch(a.view());
  stream up;
  stream down;
  if (!c.call([&] { a.copy_to_device(from, up, borrow_source); })) return;
  if (!c.run([&] { up.synchronize(); })) return;
  if (!c.call([&] { b.copy_to_host(to, down); })) return;
  if (!c.run([&] { down.synchronize(); })) return;
  c.expect(holds(a, 1) && is_made(to, 1), "copies staged by values");
}

void streams_in_both_directions_staged_by_values(context& c) {
  scoped_options const scope({.stream_staging = stream_staging_method::values});
  words const& from = c.source(count);
  words& to = c.target(count);
  array const a({count});
  array const b = to_device(make_words(count, 1));
  a.fill(9);
  stream up;
  stream down;
  bool are_pending = false;
  if (!c.run([&] {
        holding_gate gate;
        gate.hold(up);
        gate.hold(down);
        a.copy_to_device(from, up, borrow_source);
        b.copy_to_host(to, down);
        are_pending = gate.has_held();
        gate.open();
        down.synchronize();
        up.synchronize();
      }))
    return;
  c.expect(are_pending || !is_path_known(c), "the copies are not pending at the same time");
  c.expect(holds(a, 1) && is_made(to, 1), "copies in both directions staged by values");
}

// Several copies are pending on each of three streams. Those that were enqueued before the failed
// one must be right.
void tiles_staged_by_values(context& c) {
  constexpr std::size_t tile = 2000, tiles = 6;  // two chunks each
  scoped_options const scope({.stream_staging = stream_staging_method::values});
  words& from = c.source(tiles * tile);
  words& to = c.target(tiles * tile);
  std::array<array, 3> const arrays{array({tile}), array({tile}), array({tile})};
  std::array<stream, 3> streams;
  std::size_t enqueued = 0;
  bool are_pending = false;
  bool const succeeded = c.run([&] {
    holding_gate gate;
    for (stream const& s : streams) gate.hold(s);
    for (; enqueued != tiles; ++enqueued) {
      std::size_t const i = enqueued % streams.size();
      host_view<word> const source(from.data() + enqueued * tile, {tile});
      host_view<word> const target(to.data() + enqueued * tile, {tile});
      arrays[i].copy_to_device(source, streams[i], borrow_source);
      arrays[i].copy_to_host(target, streams[i]);
    }
    are_pending = gate.has_held();
    gate.open();
    for (stream const& s : streams) s.synchronize();
  });
  c.expect(std::equal(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(enqueued * tile),
                      from.begin()),
           "tiles staged by values");
  if (!succeeded) return;
  c.expect(are_pending || !is_path_known(c), "the tiles are not pending at the same time");
  c.expect(value_waits() >= 2 * tiles || !is_path_known(c), "tiles are not staged by values");
}

// A small copy without a stream that another thread makes. It is pending from the constructor to
// finish(): its thread stops after it has given the copy to HIP.
class pending_copy {
 public:
  // Calls copy() in the thread. Returns when the copy is pending or has failed; or after it, if the
  // thread cannot start.
  template <class F>
  explicit pending_copy(F copy) {
    try {
      thread_ = std::thread([this, copy] {
        held_ = this;
        run(copy);
        held_ = nullptr;
        stop_here(false);
      });
    } catch (std::system_error const&) {
      run(copy);  // the fault was the start of this thread
      return;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return has_stopped_; });
  }
  ~pending_copy() { join(); }
  pending_copy(pending_copy const&) = delete;
  pending_copy& operator=(pending_copy const&) = delete;

  // Lets the copy end. Throws its exception.
  void finish() {
    join();
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

  // Counts the calls as before, and stops a thread that makes a pending copy.
  class hook_scope {
   public:
    hook_scope() {
      platform::set_call_hook([](platform::call_record const& record) {
        count_call(record);
        bool const is_copy = record.name == std::string_view("hipMemcpyAsync");
        if (is_copy && held_ != nullptr) std::exchange(held_, nullptr)->stop_here(true);
      });
    }
    ~hook_scope() { platform::set_call_hook(count_call); }
    hook_scope(hook_scope const&) = delete;
    hook_scope& operator=(hook_scope const&) = delete;
  };

 private:
  template <class F>
  void run(F const& copy) {
    try {
      copy();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  // Tells the constructor that the copy is pending or has ended.
  void stop_here(bool waits) {
    std::unique_lock lock(mutex_);
    has_stopped_ = true;
    changed_.notify_all();
    if (waits) changed_.wait(lock, [this] { return is_released_; });
  }
  void join() {
    {
      std::lock_guard const lock(mutex_);
      is_released_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  static inline thread_local pending_copy* held_ = nullptr;  // in the thread that is to stop
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_stopped_ = false;
  bool is_released_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

// Of two copies without a stream in both directions, the second is staged by values: it begins
// while the first is pending.
void opposite_copies_without_stream(context& c) {
  constexpr std::size_t small_count = 500;  // one chunk, which the copy's own thread gives to HIP
  scoped_options const scope({.stream_staging = stream_staging_method::values});
  words const& from = c.source(count);
  words const& small_from = c.source(small_count, 2);
  words& to = c.target(count);
  words& small_to = c.target(small_count);
  array const a({count});
  array const b = to_device(make_words(count, 1));
  array const small_a({small_count});
  array const small_b = to_device(make_words(small_count, 2));
  a.fill(9);
  small_a.fill(9);
  c.watch(a.view());
  c.watch(small_a.view());
  pending_copy::hook_scope const hook;
  unsigned uploads_by_values = 0, downloads_by_values = 0;
  if (!c.call([&] {
        unsigned const before = value_waits();
        pending_copy download([&] { small_b.copy_to_host(small_to); });
        a.copy_to_device(from);
        uploads_by_values = value_waits() - before;
        download.finish();
      }))
    return;
  if (!c.call([&] {
        unsigned const before = value_waits();
        pending_copy upload([&] { small_a.copy_to_device(small_from); });
        b.copy_to_host(to);
        downloads_by_values = value_waits() - before;
        upload.finish();
      }))
    return;
  c.expect((uploads_by_values != 0 && downloads_by_values != 0) || !is_path_known(c),
           "opposite copies are not staged by values");
  c.expect(holds(a, 1) && is_made(to, 1) && holds(small_a, 2) && is_made(small_to, 2),
           "opposite copies without a stream");
}

void upload_after_pending_download(context& c) {
  array const a = to_device(make_words(count, 1));
  array const b({count});
  words& through = c.target(count);
  stream s;
  if (!c.run([&] {
        a.copy_to_host(through, s);
        b.copy_to_device(through, s);
        s.synchronize();
      }))
    return;
  c.expect(holds(b, 1), "upload of memory that a pending copy writes");
}

void pinned_copies(context& c) {
  auto from = pinned_array<word>(count);
  auto to = pinned_array<word>(count);
  for (std::size_t i = 0; i != count; ++i) from(i) = value_at(i, 1);
  to.fill(7);
  c.track(from, true);
  c.track(to, false);
  array const a({count});
  a.fill(9);
  c.watch(a.view());
  if (!c.call([&] { a.copy_to_device(from); })) return;
  if (!c.call([&] { a.copy_to_host(to); })) return;
  c.expect(is_made(to, 1), "pinned copies");
}

void pinned_copies_on_stream(context& c) {
  auto from = pinned_array<word>(count);
  auto to = pinned_array<word>(count);
  for (std::size_t i = 0; i != count; ++i) from(i) = value_at(i, 1);
  to.fill(7);
  array const a({count});
  a.fill(9);
  stream s;
  if (!c.run([&] {
        a.copy_to_device(from, s);
        a.copy_to_host(to, s);
        s.synchronize();
      }))
    return;
  c.expect(is_made(to, 1), "pinned copies on a stream");
}

void pinned_download_on_stream(context& c) {
  array const a = to_device(make_words(count, 1));
  auto to = pinned_array<word>(count);
  to.fill(7);
  c.track(to, false);
  stream s{non_blocking};
  if (!c.call([&] { a.copy_to_host(to, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  c.expect(is_made(to, 1), "pinned download on a non-blocking stream");
}

void pinned_array_is_freed_under_copy(context& c) {
  array const a({count});
  stream s;
  if (!c.run([&] {
        auto from = pinned_array<word>(count);
        std::fill(from.begin(), from.end(), word{5});
        a.copy_to_device(from, s);
        from = pinned_array<word>(10);
        host_array<word> const pageable = a.copy_to_host(s);
      }))
    return;
  c.finish();
  s.synchronize();
  c.expect(a(-1).get() == 5, "copy of a pinned array that was freed");
}

void bound_views(context& c) {
  words const& from = c.source(count);
  words& to = c.target(count);
  array const a({count});
  stream s;
  if (!c.run([&] {
        auto const bound = a.bind(s);
        bound.copy_to_device(from);
        bound(slice(0, 10)).fill(3);
        bound(slice(10, 20)).zero();
        bound(20).set(6);
        bound.copy_to_host(to);
        bound.synchronize();
      }))
    return;
  c.expect(to[0] == 3 && to[10] == 0 && to[20] == 6 && to[21] == value_at(21, 1), "bound view");
}

void scalars(context& c) {
  stream s;
  word found = 0;
  std::size_t empty = 1;
  if (!c.run([&] {
        device_array<word, 0> const scalar(shape<0>{});
        scalar.set(3);
        scalar.set(4, s);
        s.synchronize();
        found = scalar.get();
        array const none({0});
        none.zero();
        words nothing;
        none.copy_to_host(nothing, s);
        none.copy_to_device(nothing);
        empty = none.size();
      }))
    return;
  c.expect(found == 4 && empty == 0, "arrays of rank 0 and of no elements");
}

// Registered memory

void registered_copies(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  array const a({count});
  stream s;
  c.will_register(from);
  c.will_register(to);
  if (!c.run([&] {
        auto guard = register_host(from, to);
        a.copy_to_device(from, s);
        a.copy_to_host(to, s);
        s.synchronize();
        guard.deregister();
      }))
    return;
  c.expect(is_made(to, 1), "registered copies");
}

void registered_memory_is_deregistered_under_copy(context& c) {
  array const a = to_device(make_words(count, 1));
  words& to = c.target(count);
  stream s;
  c.will_register(to);
  if (!c.run([&] {
        auto guard = register_host(to);
        a.copy_to_host(to, s);
      }))
    return;
  c.finish();
  s.synchronize();
  c.expect(is_made(to, 1), "download to memory that was deregistered");
}

void partly_registered_download(context& c) {
  array const a = to_device(make_words(count, 1));
  words& to = c.target(count);
  stream s;
  auto guard = register_host(host_view<word>(to.data() + 1000, shape<1>{3000}));
  c.will_register(host_view<word>(to.data() + 1000, shape<1>{3000}));
  if (!c.call([&] { a.copy_to_host(to, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { a.copy_to_host(to); })) return;
  c.expect(is_made(to, 1), "download to partly registered memory");
}

void partly_registered_upload(context& c) {
  words& from = c.source(count);
  array const a({count});
  a.fill(9);
  c.watch(a.view());
  stream s;
  auto guard = register_host(host_view<word>(from.data() + 1000, shape<1>{3000}));
  c.will_register(host_view<word>(from.data() + 1000, shape<1>{3000}));
  if (!c.call([&] { a.copy_to_device(from, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { a.copy_to_device(from); })) return;
  c.expect(holds(a, 1), "upload of partly registered memory");
}

void upload_across_two_registrations(context& c) {
  array const a = to_device(make_words(count, 1));
  array const b({count});
  words& through = c.target(count);
  host_view<word> first(through.data(), shape<1>{count / 2});
  host_view<word> second(through.data() + count / 2, shape<1>{count / 2});
  stream s;
  c.will_register(first);
  c.will_register(second);
  if (!c.run([&] {
        auto guard = register_host(first, second);
        a(slice(0, count / 2)).copy_to_host(first, s);
        a(slice(count / 2, none)).copy_to_host(second, s);
        b.copy_to_device(through, s);
        s.synchronize();
      }))
    return;
  c.expect(holds(b, 1), "upload across two registrations");
}

void registration_in_segments(context& c) {
  words& from = c.source(large_count);
  words& to = c.target(large_count);
  array const a({large_count});
  scoped_options const scope({.register_chunk = 64 << 10});
  stream s;
  c.will_register(from);
  c.will_register(to);
  if (!c.run([&] {
        auto first = register_host(from);
        auto second = register_host(to);
        a.copy_to_device(from, s);
        a.copy_to_host(to, s);
        s.synchronize();
      }))
    return;
  c.expect(is_made(to, 1), "memory registered in segments");
}

void registrations_are_counted(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  words& small = c.target(100);
  array const a({count});
  bool right = false;
  auto const all_of = [](words& memory) { return host_view<word>(memory.data(), {memory.size()}); };
  c.will_register(from);
  c.will_register(to);
  c.will_register(small);
  if (!c.run([&] {
        auto first = register_host({.mapped = true, .portable = true}, from);
        auto again = register_host({.mapped = true, .portable = true}, from);
        auto read_only = register_host({.huge_pages = true}, to, small);
        right = false;
        try {
          auto const overlap = register_host(all_of(from).region(slice(1, 50)));
        } catch (registration_error const&) {
          right = true;
        }
        a.copy_to_device(from);
        a.copy_to_host(to);
        first.deregister();
        again = std::move(read_only);
        again.deregister();
      }))
    return;
  c.expect(right && is_made(to, 1), "counted registrations");
}

void released_registration(context& c) {
  words& to = c.target(count);
  array const a = to_device(make_words(count, 1));
  c.will_register(to);
  if (!c.run([&] {
        auto guard = register_host(to);
        a.copy_to_host(to);
        guard.release();
        guard = adopt_registered(to);
        guard.deregister();
      }))
    return;
  c.finish();
  deregister(to);
  c.expect(is_made(to, 1), "released registration");
}

void adopted_registration(context& c) {
  array const a = to_device(make_words(count, 1));
  void* data = nullptr;
  ROCARRAY_HIP(hipHostMalloc, &data, count * sizeof(word), hipHostMallocDefault);
  struct free_at_end {
    void* data;
    ~free_at_end() { ROCARRAY_HIP_QUIET(hipHostFree, data); }
  } const owner{data};
  host_view<word> to(static_cast<word*>(data), shape<1>{count});
  std::fill_n(to.data(), count, word{7});
  stream s;
  c.will_register(to);
  if (!c.run([&] {
        auto guard = adopt_registered(to);
        a.copy_to_host(to, s);
        guard.deregister();
      }))
    return;
  c.finish();
  s.synchronize();
  c.expect(std::equal(to.data(), to.data() + count, make_words(count, 1).begin()),
           "adopted registration");
}

// Strided copies

void rows(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  matrix const a({side, side});
  a.fill(9);
  stream s;
  if (!c.run([&] {
        auto const columns = slice(0, 60);
        auto pinned = pinned_array<word>(shape<2>{side, side});
        a(roc::all, columns).copy_to_device(matrix_of(from)(roc::all, columns), s);
        a(roc::all, columns).copy_to_host(pinned(roc::all, columns), s);
        a(roc::all, columns).copy_to_host(matrix_of(to)(roc::all, columns), s);
        s.synchronize();
        a(roc::all, columns).copy_to_device(pinned(roc::all, columns));
      }))
    return;
  c.expect(to[0] == value_at(0, 1) && to[59] == value_at(59, 1) && to[60] == 7 &&
               a(99, 59).get() == value_at(99 * side + 59, 1) && a(99, 60).get() == 9,
           "rows");
}

void rows_of_one_call(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  matrix const a({side, side});
  a.fill(9);
  c.watch(a.view().ravel());
  stream s;
  auto const columns = slice(0, 60);
  auto const target = matrix_of(to)(roc::all, columns);
  auto const source = matrix_of(from)(roc::all, columns);
  if (!c.call([&] { a(roc::all, columns).copy_to_device(source, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { a(roc::all, columns).copy_to_host(target, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  c.expect(to[59] == value_at(59, 1) && to[60] == 7, "rows on a stream");
}

void elements(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  matrix const a({side, side});
  a.fill(9);
  c.watch(a.view().ravel());
  stream s;
  auto const every_second = slice(0, none, 2);
  auto const source = matrix_of(from)(roc::all, every_second);
  auto const target = matrix_of(to)(roc::all, every_second);
  if (!c.call([&] { a(roc::all, every_second).copy_to_device(source); })) return;
  if (!c.call([&] { a(roc::all, every_second).copy_to_host(target); })) return;
  if (!c.call([&] { a(roc::all, every_second).copy_to_device(source, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { a(roc::all, every_second).copy_to_host(target, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  c.expect(to[2] == value_at(2, 1) && to[3] == 7, "strided elements");
}

void boxes(context& c) {
  words& from = c.source(8000);
  words& to = c.target(8000);
  device_array<word, 3> const a({20, 20, 20});
  a.fill(9);
  auto const cube = [](words& memory) { return host_view<word, 3>(memory.data(), {20, 20, 20}); };
  auto const region = slice(2, 18);
  auto pinned = pinned_array<word>(shape<3>{20, 20, 20});
  pinned.fill(7);
  if (!c.run([&] {
        a(region, region, region).copy_to_device(cube(from)(region, region, region));
        a(region, region, region).copy_to_host(pinned(region, region, region));
        a(region, region, region).copy_to_host(cube(to)(region, region, region));
      }))
    return;
  c.expect(
      to[0] == 7 && to[17 * 421] == value_at(17 * 421, 1) && pinned(17, 17, 17) == to[17 * 421],
      "boxes");
}

void copies_within_device(context& c) {
  matrix const a = to_device(matrix_of(c.source(count)));
  matrix const b({side, side});
  matrix const t({side, side});
  stream s;
  if (!c.run([&] {
        roc::copy(a, b);
        roc::copy(b.transpose(), t, s);
        roc::copy(t(roc::all, slice(none, none, -1)), b, s);
        s.synchronize();
      }))
    return;
  c.expect(t(2, 3).get() == value_at(3 * side + 2, 1) &&
               b(2, 3).get() == value_at((side - 1 - 3) * side + 2, 1),
           "copies within the device");
}

device last_device() { return device(device::count() - 1); }

void copies_between_devices(context& c) {
  array const a = to_device(c.source(count));
  std::optional<array> b;
  std::optional<stream> other;
  {
    device_guard const current(last_device());
    b.emplace(shape<1>{count});
    other.emplace();
  }
  stream s;
  array const back({count});
  if (!c.run([&] {
        roc::copy(a, *b);
        roc::copy(a, *b, s);
        s.synchronize();
        roc::copy(*b, back, *other);
        other->synchronize();
      }))
    return;
  c.expect(holds(*b, 1) && holds(back, 1), "copies between devices");
}

void strided_copies_between_devices(context& c) {
  matrix const a = to_device(matrix_of(c.source(count)));
  std::optional<matrix> b;
  {
    device_guard const current(last_device());
    b.emplace(shape<2>{side, side});
  }
  stream s;
  if (!c.run([&] {
        roc::copy(a.transpose(), *b);
        roc::copy(a(roc::all, slice(0, none, 2)), (*b)(roc::all, slice(0, none, 2)), s);
        s.synchronize();
      }))
    return;
  c.expect((*b)(2, 3).get() == value_at(3 * side + 2, 1) &&
               (*b)(2, 4).get() == value_at(2 * side + 4, 1),
           "strided copies between devices");
}

void arrays_on_several_devices(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  std::vector<device> const devices{device(), last_device(), last_device()};
  std::optional<std::vector<array>> parts;
  std::vector<stream> streams;
  if (!c.call([&] { parts.emplace(split_to_devices(from, devices)); })) return;
  if (!c.run([&] {
        for (device const& item : devices) {
          device_guard const current(item);
          streams.emplace_back();
        }
      }))
    return;
  for (array const& part : *parts) c.watch(part);
  if (!c.call([&] { split_to_devices(from, *parts, 0, streams); })) return;
  if (!c.call([&] { gather(*parts, to, 0, streams); })) return;
  if (!c.run([&] {
        for (stream const& item : streams) item.synchronize();
      }))
    return;
  if (!c.call([&] { gather(*parts, to); })) return;
  std::optional<array> whole;
  std::optional<std::vector<array>> copies;
  if (!c.run([&] {
        whole.emplace(gather_to_device(*parts, last_device()));
        copies.emplace(broadcast_to_devices(*whole, devices));
        broadcast(*whole, *copies, streams);
        for (stream const& item : streams) item.synchronize();
      }))
    return;
  c.expect(is_made(to, 1) && holds((*copies)[0], 1) && holds((*copies)[2], 1),
           "arrays on several devices");
}

void gather_to_new_host_array(context& c) {
  std::vector<device> const devices{device(), last_device()};
  auto const parts = split_to_devices(c.source(count), devices);
  std::optional<host_array<word>> h;
  if (!c.run([&] { h = gather_to_host(parts); })) return;
  c.expect(is_made(*h, 1), "gather to a new host array");
}

// Expressions of indices and rectangles only calculate; what is copied and filled are views with
// gaps and with axes of extent 1.
void parts_of_arrays(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  matrix const a({side, side});
  a.fill(9);
  c.watch(a.view().ravel());
  stream s;
  constexpr std::size_t pitch = side * sizeof(word);
  auto const source = rectangle<2>(from, {10, 40}, {20, 120}, {pitch});
  auto const target = rectangle<2>(to, {10, 40}, {20, 120}, {pitch});
  auto const on_device = rectangle<2>(a, {5, 0}, {20, 120}, {pitch});
  if (!c.call([&] { roc::copy(source, on_device); })) return;
  if (!c.call([&] { roc::copy(source, on_device, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { roc::copy(on_device, target, s); })) return;
  if (!c.run([&] {
        s.synchronize();
        a(newaxis, ellipsis, slice(90, none)).fill(1, s);
        roc::fill(a(roc::all, slice(80, 81)).squeeze<1>(), word{2}, s);
        for (auto const& row : a(slice(50, 60), roc::all).split(5)) row.fill(3, s);
        s.synchronize();
      }))
    return;
  c.expect(to[10 * side + 10] == value_at(10 * side + 10, 1) && to[10 * side + 9] == 7 &&
               a(7, 95).get() == 1 && a(99, 80).get() == 2 && a(55, 80).get() == 3,
           "parts of arrays");
}

void host_copies(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  words& filled = c.target(count);
  stream s;
  if (!c.call([&] { roc::copy(from, to); })) return;
  std::fill(to.begin(), to.end(), word{7});
  if (!c.call([&] { roc::copy(from, to, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { roc::fill(filled, word{3}, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { roc::zero(filled); })) return;
  c.expect(is_made(to, 1) && filled[17] == 0, "copies within the host");
}

// Fills

template <std::size_t Bytes>
struct element {
  unsigned char bytes[Bytes];
};

template <std::size_t Bytes>
void fill_elements(context& c) {
  using type = element<Bytes>;
  type value{};
  value.bytes[0] = 1;
  value.bytes[Bytes - 1] = 2;
  device_array<type, 2> const a({50, 50});
  stream s;
  type first{}, second{};
  if (!c.run([&] {
        a.zero();
        a.fill(value);
        a(roc::all, slice(0, none, 2)).fill(value, s);
        a(slice(0, 10), slice(0, 10)).zero(s);
        s.synchronize();
        first = a(0, 0).get();
        second = a(49, 49).get();
      }))
    return;
  c.expect(first.bytes[Bytes - 1] == 0 && std::memcmp(&second, &value, Bytes) == 0, "fills");
}

// Batches

void batch_of_uploads(context& c) {
  words& from = c.source(count);
  matrix const a({side, side});
  stream s;
  if (!c.run([&] {
        copy_batch batch;
        for (std::size_t i = 0; i != side; ++i)
          batch.add(matrix_of(from)(i, roc::all), a(i, roc::all));
        batch.submit();
        a.zero();
        batch.submit(s);
        batch.submit(s, borrow_source);
        s.synchronize();
      }))
    return;
  c.expect(is_made(a.ravel_copy().copy_to_host(), 1), "batch of uploads");
}

void batch_of_downloads(context& c) {
  matrix const a = to_device(matrix_of(c.source(count)));
  words& to = c.target(count);
  stream s;
  copy_batch batch;
  for (std::size_t i = 0; i != side; ++i) batch.add(a(i, roc::all), matrix_of(to)(i, roc::all));
  if (!c.call([&] { batch.submit(s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  std::fill(to.begin(), to.end(), word{7});
  if (!c.call([&] { batch.submit(); })) return;
  c.expect(is_made(to, 1), "batch of downloads");
}

void batch_with_conflicts(context& c) {
  matrix const a = to_device(matrix_of(c.source(count)));
  matrix const b({side, side});
  words& through = c.target(count);
  stream s;
  if (!c.run([&] {
        copy_batch batch;
        for (std::size_t i = 0; i != 5; ++i) {
          batch.add(a(i, roc::all), matrix_of(through)(i, roc::all));
          batch.add(matrix_of(through)(i, roc::all), b(i, roc::all));
          batch.add(b(i, roc::all), b(i + 5, roc::all));
        }
        batch.submit(s);
        s.synchronize();
      }))
    return;
  c.expect(b(9, 7).get() == value_at(4 * side + 7, 1), "batch of copies that depend on each other");
}

void batch_of_all_kinds(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  matrix const a({side, side});
  matrix const b({side, side});
  auto pinned = pinned_array<word>(shape<2>{side, side});
  std::optional<array> other;
  {
    device_guard const current(last_device());
    other.emplace(shape<1>{side});
  }
  if (!c.run([&] {
        a.fill(5);
        copy_batch batch;
        for (std::size_t i = 0; i != 20; ++i) {
          batch.add(matrix_of(from)(i, roc::all), b(i, roc::all));
          batch.add(a(i, slice(0, none, 2)), b(i + 20, slice(0, none, 2)));
          batch.add(a(i, roc::all), pinned(i, roc::all));
          batch.add(a(roc::all, i), matrix_of(to)(roc::all, i));
        }
        batch.add(a(99, roc::all), *other);
        batch.add(matrix_of(from)(50, slice(20, none)), matrix_of(to)(50, slice(20, none)));
        batch.submit();
        copy_batch moved = std::move(batch);
        moved.clear();
        for (std::size_t i = 0; i != 3; ++i)
          moved.add(matrix_of(from)(i, roc::all), a(i, roc::all));
        moved.submit({.path = copy_path::staged});
      }))
    return;
  c.expect(b(3, 3).get() == value_at(3 * side + 3, 1) && b(22, 4).get() == 5 && pinned(3, 3) == 5 &&
               to[19] == 5 && (*other)(7).get() == 5 && a(2, 2).get() == value_at(2 * side + 2, 1),
           "batch of all kinds");
}

// New arrays from others

struct record {
  word first;
  word second;
  unsigned char tail[8];
};

void copies_to_new_arrays(context& c) {
  matrix const a = to_device(matrix_of(c.source(count)));
  device_array<record> const records({1000});
  records.zero();
  bool right = false;
  if (!c.run([&] {
        auto const reshaped = a.view().transpose().reshape_copy(50, 200);
        auto const raveled = a.ravel_copy(order::f);
        auto const bytes = a(roc::all, slice(0, 50)).as_copy<unsigned char>();
        auto const field = records.field_copy(&record::second);
        right = reshaped(0, 1).get() == value_at(side, 1) &&
                raveled(2).get() == value_at(2 * side, 1) && bytes.extent(1) == 200 &&
                field(999).get() == 0;
      }))
    return;
  c.expect(right, "copies to new arrays");
}

// Host memory

void host_arrays_of_all_kinds(context& c) {
  array const a = to_device(c.source(count));
  stream s;
  bool right = false;
  if (!c.run([&] {
        host_array<word> pageable({count});
        auto pinned = pinned_array<word>(count);
        auto combined = pinned_array<word>(count, host_flags::write_combined);
        auto portable = host_array<word, 2>({side, side}, padded<2>{side, padding().align(64)},
                                            order::f, host_memory::pinned);
        static_cast<void>(pinned.flags());
        pinned.zero(s);
        pageable.fill(2, s);
        s.synchronize();
        right = pinned(3) == 0 && pageable(3) == 2;
        a.copy_to_host(pageable, s);
        a.copy_to_host(combined, s);
        roc::copy(a.view().reshape(side, side), portable, s);
        pinned = std::move(pageable);
        s.synchronize();
        right = right && pinned(5) == value_at(5, 1) && portable(0, 5) == value_at(5, 1);
      }))
    return;
  c.expect(right, "host arrays");
}

void pinned_cache_is_used(context& c) {
  stream s;
  array const a({count});
  bool right = false;
  if (!c.run([&] {
        a.fill(6);
        for (int i = 0; i != 3; ++i) {
          auto p = pinned_array<word>(count);
          a.copy_to_host(p, s);
          s.synchronize();
          right = p(0) == 6;
        }
        {
          scoped_options const scope({.pinned_cache = 0});
          auto const p = pinned_array<word>(100);
        }
        trim_pinned_cache(1000);
        trim_pinned_cache();
      }))
    return;
  c.expect(right && pinned_cache().bytes == 0, "pinned cache");
}

// The arrays have the least size that is cached. A part is copied, because the cache does not see
// through how many chunks of staging memory a copy goes.
void pageable_cache_is_used(context& c) {
  constexpr std::size_t words = (std::size_t{2} << 20) / sizeof(word);
  constexpr std::size_t offset = words - count;
  stream s;
  array const a({count});
  bool right = false;
  if (!c.run([&] {
        a.fill(6);
        for (int i = 0; i != 3; ++i) {
          host_array<word> h({words});
          a.copy_to_host(host_view<word>(h.data() + offset, {count}), s);
          s.synchronize();
          right = h(-1) == 6;
        }
        trim_pageable_cache();
      }))
    return;
  c.expect(right && pageable_cache().bytes == 0, "pageable cache");
}

void mapped_memory(context& c) {
  bool right = false;
  words& registered = c.source(count);
  array const a({count});
  stream s;
  c.will_register(registered);
  if (!c.run([&] {
        auto mapped = mapped_array<word>(count);
        auto const view = mapped.device_view();
        view.fill(4, s);
        roc::copy(view, a, s);
        s.synchronize();
        right = mapped(9) == 4 && a(9).get() == 4;
        auto guard = register_host({.mapped = true}, registered);
        roc::copy(device_view_of(registered), a);
      }))
    return;
  c.expect(right && holds(a, 1), "mapped memory");
}

bool has_managed_memory() {
  return device().has_managed_memory() && device().has_concurrent_managed_access();
}

void managed_memory(context& c) {
  if (!has_managed_memory()) return;
  array const a = to_device(c.source(count));
  stream s;
  bool right = false;
  if (!c.run([&] {
        auto m = managed_array<word>(count);
        advise(m, advice::read_mostly, device());
        advise(m, advice::not_read_mostly, device());
        advise(m, advice::preferred_location, memory_location::host());
        prefetch(m, device(), s);
        roc::copy(a, m, s);
        prefetch(m, memory_location::host(), s);
        s.synchronize();
        right = m(7) == value_at(7, 1);
        attach(m, s, attachment::global);
        migrate(m, device());
        {
          auto access = map(m, access::read_write);
          access(0) = 1;
        }
        auto access = map(m, access::read, s);
        right = right && access(0) == 1;
        access.unmap();
      }))
    return;
  c.expect(right, "managed memory");
}

void map_arrays(context& c) {
  array const a = to_device(c.source(count));
  words& to = c.target(count);
  bool right = false;
  if (!c.run([&] {
        {
          auto m = map(a, access::read);
          right = m(5) == value_at(5, 1);
        }
        {
          auto m = map(a, access::read_write);
          m(0) = 11;
          m.unmap();
        }
        auto m = map(a, access::write);
        for (std::size_t i = 0; i != count; ++i) m(i) = value_at(i, 2);
        m.unmap();
        auto h = map(to, access::write);
        h(0) = 3;
      }))
    return;
  c.expect(right && holds(a, 2) && to[0] == 3, "map");
}

void map_arrays_on_stream(context& c) {
  array const a = to_device(c.source(count));
  stream s;
  bool right = false;
  if (!c.run([&] {
        {
          auto m = map(a, access::read_write, s);
          right = m(5) == value_at(5, 1);
          for (std::size_t i = 0; i != count; ++i) m(i) = value_at(i, 2);
          m.unmap();
        }
        auto m = map(a, access::read, s);
        right = right && m(5) == value_at(5, 2);
        m.unmap();
      }))
    return;
  c.finish();
  s.synchronize();
  c.expect(right && holds(a, 2), "map on a stream");
}

// Memory resources

void pool_of_my_own(context& c) {
  hip_memory_resource upstream;
  pool_resource pool(upstream, {.slab_bytes = 1 << 20});
  stream s, t;
  bool right = false;
  if (!c.run([&] {
        {
          array const a({count}, pool, order::c, s);
          a.fill(1, s);
          a.fill(2, t);
        }
        array const b({count}, pool, order::c, t);
        b.fill(3, t);
        array const big({large_count * 10}, pool);
        big.fill(4);
        t.synchronize();
        right = b(9).get() == 3 && big(-1).get() == 4;
        void* const data = pool.allocate(1000, s);
        pool.deallocate(data, 1000, t);
      })) {
    if (pool.statistics().current_bytes != 0) c.expect(false, "bytes of a pool are lost");
    return;
  }
  c.expect(right && pool.statistics().current_bytes == 0, "pool");
  if (!right) return;
  s.synchronize();
  t.synchronize();
  roc::test::trim_to(pool, 0);
  c.expect(pool.statistics().reserved_bytes == 0, "memory that trim returns");
}

void pool_at_its_limit(context& c) {
  hip_memory_resource upstream;
  pool_resource pool(upstream, {.limit = 8 << 20, .slab_bytes = 1 << 20});
  stream s;
  bool right = false;
  if (!c.run([&] {
        pool.set_limit(2 << 20);
        array const a({200'000}, pool, order::c, s);
        a.fill(1, s);
        { array const b({200'000}, pool, order::c, s); }
        stream t;
        array const d({200'000}, pool, order::c, t);
        d.fill(3, t);
        try {
          array const e({200'000}, pool, order::c, t);
        } catch (out_of_memory const&) {
          right = true;
        }
        t.synchronize();
        pool.trim();
        pool.set_limit(8 << 20);
      }))
    return;
  c.expect(right && pool.statistics().current_bytes == 0, "pool at its limit");
}

void adaptors(context& c) {
  hip_memory_resource upstream;
  limiting_resource_adaptor limit(upstream, 1 << 20);
  statistics_resource_adaptor statistics(limit);
  logging_resource_adaptor logging(statistics, [](char const*) noexcept {});
  failing_resource_adaptor failing(logging);
  zeroing_resource_adaptor zeroing(failing);
  pool_resource pool(zeroing, {.slab_bytes = 64 << 10});
  stream s;
  bool right = false;
  if (!c.run([&] {
        {
          array const a({count}, zeroing, order::c, s);
          a.fill(1, s);
          array const b({count}, pool, order::c, s);
          b.fill(2, s);
          right = a(1).get() == 1 && b(1).get() == 2;
        }
        failing.fail_at(1);
        try {
          array const a({count}, zeroing);
          right = false;
        } catch (out_of_memory const&) {
        }
        failing.fail_at(0);
        pool.trim();
      })) {
    failing.fail_at(0);
    return;
  }
  c.finish();
  s.synchronize();
  roc::test::trim_until(
      pool, [&] { return statistics.statistics().current_bytes == 0 || log_lines != 0; });
  // Memory that cannot be zeroed is leaked, and the log says so.
  c.expect(right && (statistics.statistics().current_bytes == 0 || log_lines != 0), "adaptors");
}

void asynchronous_resource(context& c) {
  std::optional<hip_async_memory_resource> resource;
  try {
    resource.emplace();
  } catch (roc::error const& error) {
    if (error.code() == std::errc::not_supported) return;
    throw;
  }
  stream s;
  bool right = false;
  if (!c.run([&] {
        { hip_async_memory_resource const another; }
        array const a({count}, *resource, order::c, s);
        a.fill(1, s);
        right = a(1).get() == 1;
        { array const b({count}, *resource, order::c, s); }
        s.synchronize();
        resource->trim();
      }))
    return;
  c.expect(right, "driver's memory pool");
}

void resource_of_device(context& c) {
  hip_memory_resource resource;
  statistics_resource_adaptor statistics(resource);
  bool right = false;
  if (!c.run([&] {
        static_cast<void>(device_resource(0));
        set_device_resource(0, &statistics);
        array const a({count});
        a.fill(1);
        right = a(1).get() == 1 && statistics.statistics().current_blocks == 1 &&
                device().memory_statistics().current_blocks == 1;
      })) {
    set_device_resource(0, nullptr);
    return;
  }
  c.expect(true, "");
  set_device_resource(0, nullptr);
  c.expect(right && statistics.statistics().current_blocks == 0, "resource of a device");
}

void adopted_memory(context& c) {
  int freed = 0;
  bool right = false;
  void* data = nullptr;
  ROCARRAY_HIP(hipMalloc, &data, count * sizeof(word));
  bool is_adopted = false;
  stream s;
  bool const succeeded = c.run([&] {
    array const a = adopt(static_cast<word*>(data), shape<1>{count}, [&freed](void* memory) {
      ++freed;
      ROCARRAY_HIP_QUIET(hipFree, memory);
    });
    is_adopted = true;
    a.fill(3, s);
    a.record_stream(s);
    right = a(4).get() == 3;
  });
  if (!is_adopted) ROCARRAY_HIP_QUIET(hipFree, data);
  if (freed > 1 || (!is_adopted && freed != 0)) c.expect(false, "deleter of adopted memory");
  if (!succeeded) return;
  c.expect(right, "adopted memory");
}

void shared_allocation(context& c) {
  bool right = false;
  if (!c.run([&] {
        device_allocation memory(100'000);
        auto const a = memory.array<word>(0, shape<1>{1000});
        auto const b = memory.array<word>(2048, shape<2>{20, 20}, padded<2>{20, 32});
        device_allocation const moved = std::move(memory);
        a.fill(1);
        b.fill(2);
        right = a(0).get() == 1 && b(19, 19).get() == 2;
      }))
    return;
  c.expect(right, "arrays of one allocation");
}

// Streams and events

void streams(context& c) {
  if (!c.run([&] {
        stream s;
        stream low(device().stream_priorities().least);
        stream const n(non_blocking, device().stream_priorities().greatest);
        static_cast<void>(low.priority());
        array const a({count}, order::c, s);
        a.fill(1, s);
        a.fill(2, n);
        static_cast<void>(s.query());
        {
          auto guard = s.auto_synchronize();
          a.fill(3, s);
          guard.synchronize();
          auto again = low.auto_synchronize();
        }
        low = std::move(s);
        a.fill(4, low);
        low.synchronize();
        auto const own = per_thread_stream();
        a.fill(5, own);
        own.synchronize();
      }))
    return;
  c.expect(true, "");
}

void destroyed_streams(context& c) {
  array const a({count});
  auto to = pinned_array<word>(count);
  if (!c.run([&] {
        for (std::ptrdiff_t i = 0; i != 3; ++i) {
          stream s;
          auto const part = slice(1000 * i, 1000 * i + 1000);
          a(part).fill(2, s);
          a(part).copy_to_host(to(part), s);
        }
        array const b({count});
        roc::copy(a, b);
      }))
    return;
  c.finish();
  synchronize_devices();
  c.expect(to(0) == 2 && to(2999) == 2, "work of destroyed streams");
}

void foreign_stream(context& c) {
  // Of the process: the library keeps what it knows of a foreign stream until its handle is reused.
  static hipStream_t native_handle = nullptr;
  if (native_handle == nullptr) {
    ROCARRAY_HIP(hipStreamCreateWithFlags, &native_handle, hipStreamNonBlocking);
  }
  words const& from = c.source(count);
  words& to = c.target(count);
  bool const succeeded = c.run([&] {
    auto const s = from_native(native_handle);
    auto p = pinned_array<word>(count);
    array const a({count}, order::c, s);
    a.copy_to_device(from, s);
    a.copy_to_host(p, s);
    a.copy_to_host(to, s);
    event e;
    e.record(s);
    stream_ref().wait(e);
    s.synchronize();
  });
  c.finish();
  synchronize_devices();
  if (succeeded) c.expect(is_made(to, 1), "foreign stream");
}

void events(context& c) {
  array const a({count});
  stream s, t;
  bool right = false;
  if (!c.run([&] {
        event e;
        right = e.query();
        a.fill(1, s);
        e.record(s);
        t.wait(e);
        a.fill(2, t);
        event const f = std::move(e);
        f.synchronize();
        timed_event begin, end;
        begin.record(t);
        a.fill(3, t);
        end.record(t);
        end.synchronize();
        right = right && begin.elapsed_time(end) >= 0;
        event g;
        {
          stream u;
          a.fill(4, u);
          g.record(u);
        }
        s.wait(g);
        g.synchronize();
        right = right && g.query();
      }))
    return;
  c.expect(right && a(0).get() == 4, "events");
}

void pool_of_streams(context& c) {
  array const a({count});
  if (!c.run([&] {
        stream_pool pool(3);
        stream_pool const others(2, non_blocking);
        for (std::size_t i = 0; i != 4; ++i) {
          auto const first = static_cast<std::ptrdiff_t>(i) * 100;
          a(slice(first, first + 100)).fill(static_cast<word>(i), pool.get());
        }
        a(slice(400, 500)).fill(4, others.get(1));
        pool.synchronize();
        others.synchronize();
      }))
    return;
  c.expect(a(150).get() == 1 && a(350).get() == 3 && a(450).get() == 4, "stream pool");
}

void arrays_on_several_streams(context& c) {
  stream s{non_blocking}, t;
  bool right = false;
  if (!c.run([&] {
        for (word i = 0; i != 4; ++i) {
          array const a({count}, order::c, s);
          a.fill(i, s);
          a.record_stream(t);
          array const b({count}, order::c, t);
          event filled;
          filled.record(s);
          t.wait(filled);
          roc::copy(a, b, t);
          right = b(3).get() == i;
        }
      }))
    return;
  c.expect(right, "arrays on several streams");
}

struct host_failure : std::exception {};

void host_functions(context& c) {
  stream s;
  int calls = 0;
  bool has_thrown = false;
  // Shared with the functions, which may run after the scenario.
  auto const work = std::make_shared<std::atomic<int>>(0);
  auto const refused = std::make_shared<std::atomic<int>>(0);
  bool const succeeded = c.run([&] {
    s.launch_host_function([work] { ++*work; });
    stream_ref().launch_host_function([work] { ++*work; });
    stream_ref().synchronize();
    s.synchronize();
    s.launch_host_function([] { throw host_failure(); });
    try {
      s.synchronize();
    } catch (host_failure const&) {
      has_thrown = true;
    }
    s.launch_host_function([refused] {
      try {
        array const a({10});
      } catch (roc::error const&) {
        *refused = 1;
      } catch (std::bad_alloc const&) {
        *refused = 2;  // of the message
      }
    });
    s.synchronize();
  });
  c.finish();
  synchronize_devices();
  calls = *work;
  if (!succeeded) return;
  c.expect(calls == 2 && has_thrown && *refused != 0, "host functions");
}

void graphs(context& c) {
  auto from = pinned_array<word, 2>({side, side});
  auto to = pinned_array<word, 2>({side, side});
  matrix const a({side, side});
  matrix const wide({side, 2 * side});
  auto const part = wide(all, slice(0, none, 2));
  for (std::size_t i = 0; i != side * side; ++i) from.data()[i] = value_at(i, 1);
  to.fill(7);
  stream s;
  if (!c.run([&] {
        auto const make = [&] {
          return capture([&](stream_ref captured) {
            a.copy_to_device(from, captured);
            matrix const scratch({side, side}, order::c, captured);
            scratch.copy_to_device(a, captured);
            part.copy_to_device(scratch, captured);
            copy_batch batch;
            batch.add(scratch, a);
            batch.submit(captured);
            if constexpr (captures_host_functions) {
              captured.launch_host_function([] {});
              part.copy_to_host(to, captured);
            } else {
              a.copy_to_host(to, captured);
            }
          });
        };
        graph_exec executable(make());
        executable.launch(s);
        executable.update(make());
        executable.launch(s);
        s.synchronize();
        executable.launch();
      }))
    return;
  bool right = true;
  for (std::size_t i = 0; i != side * side; ++i) right = right && to.data()[i] == value_at(i, 1);
  c.expect(right, "graphs");
}

void functions_for_each(context& c) {
#if ROCARRAY_PLATFORM_HOST
  stream s;
  words& to = c.target(count);
  if (!c.run([&] {
        matrix const a({side, side}, order::c, s);
        for_each(s, {side, side}, [v = a.view()](std::size_t i, std::size_t k) {
          v(i, k) = value_at(i * side + k, 1);
        });
        a.copy_to_host(host_view<word, 2>(to.data(), {side, side}), s);
        for_each(stream_ref(), 10,
                 [v = a.view()](std::size_t i) { v(i, 1) = value_at(i * side + 1, 1); });
        {
          array const b({100}, order::c, s);
          for_each(s, 100, [v = b.view()](std::size_t i) { v(i) = 1; });
        }
        array const d({100});
        for_each(per_thread_stream(), 100, [v = d.view()](std::size_t i) { v(i) = 2; });
        s.synchronize();
      }))
    return;
  c.expect(is_made(to, 1), "for_each");
#else
  // Needs a device compiler. The launches of the library's own kernels are tested by other
  // scenarios.
  static_cast<void>(c);
#endif
}

// Devices, options, interoperation

void devices(context& c) {
  bool right = false;
  if (!c.run([&] {
        device const d;
        static_cast<void>(d.name());
        static_cast<void>(d.pci_bus_id());
        right = d.memory().total >= d.memory().free && d.multiprocessor_count() > 0 &&
                d.warp_size() >= 1 && d.max_threads_per_block() > 0;
        static_cast<void>(d.compute_capability());
        static_cast<void>(d.l2_cache_size());
        static_cast<void>(d.clock_rate());
        static_cast<void>(d.is_integrated());
        static_cast<void>(d.has_cooperative_launch());
        static_cast<void>(d.can_access_peer(last_device()));
        static_cast<void>(d.link_to(last_device()));
        static_cast<void>(d.memory_statistics());
        {
          device_guard const current(last_device());
          array const a({10});
          a.fill(1);
          device().synchronize();
        }
        last_device().make_current();
        d.make_current();
        d.synchronize();
      })) {
    device(0).make_current();
    return;
  }
  c.expect(right && device().ordinal() == 0, "devices");
}

void default_stream(context& c) {
  words const& from = c.source(count);
  words& to = c.target(count);
  stream s, n{non_blocking};
  if (!c.run([&] {
        array const a({count});
        array const b({count}, order::c, n);
        a.copy_to_device(from, stream_ref());
        stream_ref().synchronize();
        roc::copy(a, b, n);
        b.copy_to_host(to);
        static_cast<void>(stream_ref().query());
        stream_ref().synchronize();
      }))
    return;
  c.expect(is_made(to, 1), "default stream");
}

void paths(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  array const a({count});
  matrix const m({side, side});
  stream s;
  if (!c.run([&] {
        roc::copy(from, a, {.path = copy_path::staged, .threads = 2});
        roc::copy(a, to, s, {.path = copy_path::staged});
        s.synchronize();
        auto const even = slice(0, none, 2);
        roc::copy(matrix_of(from)(roc::all, even), m(roc::all, even), {.path = copy_path::packed});
        roc::copy(from, a, s, borrow_source, {.path = copy_path::staged});
        s.synchronize();
        static_cast<void>(planned_path(from, a));
        try {
          roc::copy(a, to, {.path = copy_path::dma_3d});
        } catch (roc::error const&) {
        }
      }))
    return;
  c.expect(is_made(to, 1) && m(99, 98).get() == value_at(9998, 1) && holds(a, 1), "forced paths");
}

void option_scopes(context& c) {
  words const& from = c.source(count);
  array const a({count});
  options const before = get_options();
  bool const succeeded = c.run([&] {
    scoped_options const scope({.copy_threads = 3, .memcpy2d_min_row = 4096});
    set_options({.staging_chunk = 8 << 10});
    a.copy_to_device(from);
    set_options(before);
  });
  if (!succeeded) {
    set_options(before);
    return;
  }
  c.expect(holds(a, 1) && get_options() == before, "options");
}

void dlpack(context& c) {
#if __has_include(<dlpack/dlpack.h>)
  words const& from = c.source(count);
  stream s;
  bool right = false;
  if (!c.run([&] {
        array a = to_device(from);
        DLManagedTensor* tensor = to_dlpack(std::move(a));
        struct delete_at_end {
          DLManagedTensor*& tensor;
          ~delete_at_end() {
            if (tensor != nullptr) tensor->deleter(tensor);
          }
        };
        {
          delete_at_end const owner{tensor};
          auto const b = from_dlpack<word, 1>(tensor);
          tensor = nullptr;
          right = b(5).get() == value_at(5, 1);
        }
        array d({100}, order::c, s);
        tensor = to_dlpack(std::move(d), stream_ref());
        { delete_at_end const owner{tensor}; }
      })) {
    return;
  }
  c.expect(right, "DLPack");
#else
  static_cast<void>(c);
#endif
}

void spans(context& c) {
  words& memory = c.source(count);
  array const a({count});
  bool right = false;
  if (!c.run([&] {
        std::span<word> const span(memory);
        a.copy_to_device(span);
        auto const back = as_device_view(as_span(a), 0);
        right = back(5).get() == value_at(5, 1);
        std::array<word, 100> small{};
        a(slice(0, 100)).copy_to_host(small);
        right = right && small[99] == value_at(99, 1);
      }))
    return;
  c.expect(right, "spans");
}

void threads_copy(context& c) {
  words const& from = c.source(count);
  std::array<words*, 2> targets{&c.target(count), &c.target(count)};
  std::array<std::exception_ptr, 2> errors;
  bool const succeeded = c.run([&] {
    auto const work = [&](std::size_t i) {
      try {
        stream s;
        array const a({count}, order::c, s);
        a.copy_to_device(from, s);
        a.copy_to_host(*targets[i], s);
        s.synchronize();
        profiler_range const range("thread");
      } catch (...) {
        errors[i] = std::current_exception();
      }
    };
    std::thread other;
    try {
      other = std::thread(work, 1u);
    } catch (std::system_error const&) {
      work(1);  // the fault was the start of this thread
    }
    work(0);
    if (other.joinable()) other.join();
    for (auto const& error : errors) {
      if (error != nullptr) std::rethrow_exception(error);
    }
  });
  if (!succeeded) return;
  c.expect(is_made(*targets[0], 1) && is_made(*targets[1], 1), "copies of two threads");
}

std::vector<scenario> const own_scenarios{
    {"create arrays", create_arrays},
    {"move arrays", move_and_release_arrays},
    {"release array", release_array},
    {"to_device", to_device_without_stream},
    {"to_device on stream", to_device_on_stream},
    {"to_device into array", to_device_into_array},
    {"device_array_like", arrays_like_others},
    {"download to new array", download_to_new_array},
    {"download to new array on stream", download_to_new_array_on_stream},
    {"small copies by the runtime", runtime_copies_of_small_arrays},
    {"upload pageable", upload_pageable},
    {"upload pageable on stream", upload_pageable_on_stream},
    {"upload borrowed", upload_borrowed},
    {"download pageable", download_pageable},
    {"download pageable on stream", download_pageable_on_stream},
    {"copies staged by values", copies_staged_by_values},
    {"streams in both directions staged by values", streams_in_both_directions_staged_by_values},
    {"tiles staged by values", tiles_staged_by_values},
    {"opposite copies without stream", opposite_copies_without_stream},
    {"upload after pending download", upload_after_pending_download},
    {"pinned copies", pinned_copies},
    {"pinned copies on stream", pinned_copies_on_stream},
    {"pinned download on stream", pinned_download_on_stream},
    {"pinned array freed under copy", pinned_array_is_freed_under_copy},
    {"bound views", bound_views},
    {"scalars", scalars},
    {"registered copies", registered_copies},
    {"deregistered under copy", registered_memory_is_deregistered_under_copy},
    {"partly registered download", partly_registered_download},
    {"partly registered upload", partly_registered_upload},
    {"upload across two registrations", upload_across_two_registrations},
    {"registration in segments", registration_in_segments},
    {"counted registrations", registrations_are_counted},
    {"released registration", released_registration},
    {"adopted registration", adopted_registration},
    {"rows", rows},
    {"rows, single calls", rows_of_one_call},
    {"elements", elements},
    {"boxes", boxes},
    {"copies within device", copies_within_device},
    {"copies between devices", copies_between_devices},
    {"strided copies between devices", strided_copies_between_devices},
    {"arrays on several devices", arrays_on_several_devices},
    {"gather to new host array", gather_to_new_host_array},
    {"parts of arrays", parts_of_arrays},
    {"host copies", host_copies},
    {"fill 1 byte", fill_elements<1>},
    {"fill 3 bytes", fill_elements<3>},
    {"fill 8 bytes", fill_elements<8>},
    {"fill 16 bytes", fill_elements<16>},
    {"batch of uploads", batch_of_uploads},
    {"batch of downloads", batch_of_downloads},
    {"batch with conflicts", batch_with_conflicts},
    {"batch of all kinds", batch_of_all_kinds},
    {"copies to new arrays", copies_to_new_arrays},
    {"host arrays", host_arrays_of_all_kinds},
    {"pinned cache", pinned_cache_is_used},
    {"pageable cache", pageable_cache_is_used},
    {"mapped memory", mapped_memory},
    {"managed memory", managed_memory},
    {"map", map_arrays},
    {"map on stream", map_arrays_on_stream},
    {"pool", pool_of_my_own},
    {"pool at its limit", pool_at_its_limit},
    {"adaptors", adaptors},
    {"asynchronous resource", asynchronous_resource},
    {"resource of device", resource_of_device},
    {"adopted memory", adopted_memory},
    {"shared allocation", shared_allocation},
    {"streams", streams},
    {"destroyed streams", destroyed_streams},
    {"foreign stream", foreign_stream},
    {"events", events},
    {"stream pool", pool_of_streams},
    {"arrays on several streams", arrays_on_several_streams},
    {"host functions", host_functions},
    {"graphs", graphs},
    {"for_each", functions_for_each},
    {"devices", devices},
    {"default stream", default_stream},
    {"paths", paths},
    {"options", option_scopes},
    {"dlpack", dlpack},
    {"spans", spans},
    {"threads", threads_copy},
};

}  // namespace

std::vector<scenario> const& scenarios() {
  static std::vector<scenario> const all = [] {
    std::vector<scenario> result = own_scenarios;
    for (auto const* more : {&interface_scenarios(), &exchange_scenarios()}) {
      result.insert(result.end(), more->begin(), more->end());
    }
    return result;
  }();
  return all;
}

}  // namespace roc::test::faults

int main(int size, char** arguments) {
  return roc::test::faults::run_fault_matrix(size, arguments);
}
