// SPDX-License-Identifier: MIT
// roc::device_queue: its functions for kernels, and those of the host.
#include "kernels/queue_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <roc/roc.hpp>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/expect_error.hpp"
#include "support/failing_new.hpp"
#include "support/gate.hpp"

namespace {

using roc::test::expect_error;
using roc::test::queue_use;

constexpr unsigned none = ~0u;

std::vector<unsigned> numbers_from(unsigned first, std::size_t count) {
  std::vector<unsigned> result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

template <class T>
std::vector<T> read(roc::device_array<T> const& array) {
  std::vector<T> result(array.size());
  array.copy_to_host(result);
  return result;
}

template <class T>
std::vector<T> drained(roc::device_queue<T> const& queue) {
  auto const elements = queue.drain();
  return std::vector<T>(elements.data(), elements.data() + elements.size());
}

// Returns the elements that one thread pops, until the queue is empty or `most` are popped.
std::vector<unsigned> popped(roc::device_queue_view<unsigned> queue, unsigned most = 1000) {
  roc::device_array<unsigned> const out({most + 1});
  out.zero();
  roc::test::pop_in_order({}, queue, most, out.view());
  auto result = read(out);
  result.resize(result[0] + 1);
  result.erase(result.begin());
  return result;
}

// Lets one thread push `first`, first + 1, ..., and returns how many it pushed.
unsigned pushed(roc::device_queue_view<unsigned> queue, unsigned first, unsigned most) {
  roc::device_array<unsigned> const out({1});
  roc::test::push_in_order({}, queue, first, most, out.view());
  return read(out)[0];
}

// A queue of the test's own, which begins at any position, and whose control words can be set.
template <class T>
class queue_at {
 public:
  queue_at(std::size_t capacity, roc::detail::kernel_word position)
      : ring_(roc::detail::queue_ring::with_capacity(capacity)),
        values_({capacity}),
        control_({roc::detail::queue_first_slot + capacity}) {
    std::vector<roc::detail::kernel_word> words(control_.size());
    words[roc::detail::queue_push_position] = position;
    words[roc::detail::queue_pop_position] = position;
    for (std::size_t i = 0; i < capacity; ++i) {
      auto const slot = ring_.advance(position, i);
      words[roc::detail::queue_first_slot + ring_.index(slot)] = ring_.free_word(slot);
    }
    control_.copy_to_device(words);
    values_.zero();  // tests set slots to be ready whose elements were not pushed
  }
  // Sets a control word, on a stream of its own.
  void set(std::size_t index, roc::detail::kernel_word value) const {
    std::vector<roc::detail::kernel_word> const word{value};
    control_.view()(roc::slice(index, index + 1)).copy_to_device(word, setter_);
    setter_.synchronize();
  }
  void set_slot(std::size_t index, roc::detail::kernel_word value) const {
    set(roc::detail::queue_first_slot + index, value);
  }
  roc::device_queue_view<T> view() const {
    return roc::device_queue_view<T>({control_.data(), values_.data(), ring_});
  }
  roc::detail::kernel_word push_position() const {
    return control_(roc::detail::queue_push_position).get();
  }
  roc::detail::kernel_word pop_position() const {
    return control_(roc::detail::queue_pop_position).get();
  }

 private:
  roc::detail::queue_ring ring_;
  roc::device_array<T> values_;
  roc::device_array<roc::detail::kernel_word> control_;
  roc::stream setter_{roc::non_blocking};
};

TEST(DeviceQueue, IsFullWithItsCapacityAndEmptyWithoutElements) {
  for (unsigned capacity : {1u, 2u, 3u, 5u, 8u, 64u, 100u}) {
    roc::device_queue<unsigned> const queue(capacity);
    EXPECT_EQ(capacity, queue.capacity());
    EXPECT_EQ(std::vector<unsigned>(), popped(queue.view()));
    EXPECT_EQ(capacity, pushed(queue.view(), 7, capacity + 3));
    EXPECT_EQ(0u, pushed(queue.view(), 7, 1));
    EXPECT_EQ(capacity, queue.size());
    EXPECT_EQ(numbers_from(7, capacity), popped(queue.view()));
    EXPECT_EQ(0u, queue.size());
    EXPECT_EQ(capacity, pushed(queue.view(), 9, capacity));
    EXPECT_EQ(numbers_from(9, capacity), popped(queue.view()));
  }
}

TEST(DeviceQueue, KeepsTheOrderAcrossTheEndOfTheMemory) {
  for (unsigned capacity : {1u, 3u, 4u, 7u}) {
    roc::device_queue<unsigned> const queue(capacity);
    unsigned next_push = 0;
    unsigned next_pop = 0;
    for (unsigned i = 0; i < 12; ++i) {
      next_push += pushed(queue.view(), next_push, 1 + i % 3);
      auto const values = popped(queue.view(), 1 + (i + 1) % 3);
      EXPECT_EQ(numbers_from(next_pop, values.size()), values);
      next_pop += static_cast<unsigned>(values.size());
      EXPECT_EQ(next_push - next_pop, queue.size());
    }
    EXPECT_GT(next_pop, 2 * capacity);
  }
}

TEST(DeviceQueue, PositionsWrapToZero) {
  for (unsigned capacity : {1u, 2u, 3u, 5u, 8u}) {
    auto const ring = roc::detail::queue_ring::with_capacity(capacity);
    auto const start = std::uint64_t{0} - 2 * ring.lap() + (capacity - 1);
    queue_at<unsigned> const queue(capacity, start);
    unsigned next = 0;
    for (unsigned i = 0; i < 6; ++i) {
      EXPECT_EQ(capacity, pushed(queue.view(), next, capacity + 1));
      roc::device_array<unsigned> const sizes({2});
      roc::test::query_queue({}, queue.view(), sizes.view());
      EXPECT_EQ((std::vector<unsigned>{capacity, capacity}), read(sizes));
      EXPECT_EQ(numbers_from(next, capacity), popped(queue.view()));
      next += capacity;
    }
    EXPECT_LT(queue.push_position(), start);
  }
}

TEST(QueueRing, AdvancesAndCountsOverLapsAndTheWrap) {
  using roc::detail::kernel_word;
  for (std::size_t capacity = 1; capacity < 40; ++capacity) {
    auto const ring = roc::detail::queue_ring::with_capacity(capacity);
    for (kernel_word const lap : {kernel_word{0}, ring.lap(), kernel_word{0} - ring.lap()}) {
      for (kernel_word index = 0; index < capacity; ++index) {
        kernel_word const position = lap + index;
        for (kernel_word count = 0; count <= capacity; ++count) {
          kernel_word const end = ring.advance(position, count);
          ASSERT_LT(ring.index(end), capacity);
          ASSERT_EQ(count, ring.count(position, end));
          // The position of pushes was read before that of pops.
          ASSERT_EQ(0u, ring.count(end, position));
          ASSERT_EQ(0u, ring.count(position + 7 * ring.lap(), position));
          ASSERT_EQ(capacity, ring.count(position, end + 7 * ring.lap()));
        }
      }
    }
  }
}

// Slot 2 is not ready, as if the push to it has not finished.
TEST(DeviceQueue, TakesTheSlotsBeforeOneThatIsNotUsable) {
  roc::device_array<unsigned> const out({10});
  out.zero();
  auto const prepare = [](queue_at<unsigned> const& queue) {
    for (std::size_t i : {0, 1, 3, 4}) queue.set_slot(i, 1);
    queue.set(roc::detail::queue_push_position, 5);
  };
  {
    queue_at<unsigned> const queue(8, 0);
    prepare(queue);
    roc::test::pop_by_block({}, queue.view(), 40, 5, 5, out.view());
    EXPECT_EQ(0u, read(out)[0]);
    EXPECT_EQ(0u, queue.pop_position());
    roc::test::pop_by_block({}, queue.view(), 40, 5, 1, out.view());
    EXPECT_EQ(2u, read(out)[0]);
    EXPECT_EQ(2u, queue.pop_position());
    EXPECT_EQ(std::vector<unsigned>(), popped(queue.view()));
    queue.set_slot(2, 1);
    EXPECT_EQ(3u, popped(queue.view()).size());
  }
  {
    queue_at<unsigned> const queue(8, 0);
    prepare(queue);
    EXPECT_EQ(2u, popped(queue.view()).size());
    EXPECT_EQ(2u, queue.pop_position());
  }
  {
    queue_at<unsigned> const queue(8, 0);
    EXPECT_EQ(8u, pushed(queue.view(), 40, 8));
    queue.set_slot(2, 0);
    roc::test::pop_by_warp({}, queue.view(), 10, 2, out.view());
    EXPECT_EQ((std::vector<unsigned>{40, none, 41, none, none, none, none, none, none, none}),
              read(out));
    EXPECT_EQ(2u, queue.pop_position());
  }
}

#if ROCARRAY_PLATFORM_HOST
// The position of pushes is older than the slots, as if another thread has used them but its
// exchange is not visible yet. The kernel repeats its attempt until the position is.
class DeviceQueueStale : public testing::Test {
 protected:
  template <class F>
  void expect_retries(F push) {
    if (roc::test::run_mode() != roc::test::mode::threaded) {
      GTEST_SKIP() << "needs a copy that runs at the same time as a kernel";
    }
    queue_at<unsigned> const queue(8, 0);
    for (std::size_t i = 0; i < 3; ++i) queue.set_slot(i, 1);
    roc::stream const stream(roc::non_blocking);
    roc::device_array<unsigned> const out({4}, roc::order::c, stream);
    push(stream, queue.view(), out.view());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(stream.query());
    queue.set(roc::detail::queue_push_position, 3);
    stream.synchronize();
    EXPECT_EQ(7u, queue.push_position());
    auto const values = popped(queue.view());
    ASSERT_EQ(7u, values.size());
    EXPECT_EQ(numbers_from(0, 4), std::vector<unsigned>(values.begin() + 3, values.end()));
  }
};

TEST_F(DeviceQueueStale, ThreadRepeatsItsAttempt) {
  expect_retries([](auto const& stream, auto queue, auto out) {
    roc::test::push_in_order(stream, queue, 0, 4, out);
  });
}

TEST_F(DeviceQueueStale, WarpRepeatsItsAttempt) {
  expect_retries([](auto const& stream, auto queue, auto out) {
    roc::test::push_by_warp(stream, queue, 4, 1, out);
  });
}

TEST_F(DeviceQueueStale, BlockRepeatsItsAttempt) {
  expect_retries([](auto const& stream, auto queue, auto out) {
    roc::test::push_by_block(stream, queue, 40, 4, 1, 0, out);
  });
}
#endif

TEST(DeviceQueue, CountsElementsInKernels) {
  roc::device_queue<unsigned> const queue(5);
  roc::device_array<unsigned> const sizes({2});
  roc::test::query_queue({}, queue.view(), sizes.view());
  EXPECT_EQ((std::vector<unsigned>{5, 0}), read(sizes));
  queue.assign(numbers_from(0, 3));
  roc::test::query_queue({}, queue, sizes.view());
  EXPECT_EQ((std::vector<unsigned>{5, 3}), read(sizes));
}

TEST(DeviceQueue, ReservationsMayOverlapAndBeCommittedInAnyOrder) {
  roc::device_queue<unsigned> const queue(4);
  roc::device_array<unsigned> const out({20});
  roc::test::overlap_reservations({}, queue.view(), out.view());
  EXPECT_EQ(
      (std::vector<unsigned>{2, 3, 0, 0, 77, 0, 10, 30, 1, 0, 1, 20, 1, 0, 0, 2, 40, 50, 4, 0}),
      read(out));
  EXPECT_EQ(numbers_from(0, 4), drained(queue));
}

TEST(DeviceQueue, WarpsPushAndPopInTheOrderOfTheirLanes) {
  unsigned const lanes = static_cast<unsigned>(roc::device().warp_size());
  for (unsigned threads : {1u, 20u, lanes, lanes + 1, 150u}) {
    for (unsigned divisor : {1u, 3u}) {
      roc::device_queue<unsigned> const queue(200);
      unsigned const active = (threads + divisor - 1) / divisor;
      roc::device_array<unsigned> const out({threads});
      roc::test::push_by_warp({}, queue.view(), threads, divisor, out.view());
      auto const results = read(out);
      for (unsigned i = 0; i < threads; ++i) EXPECT_EQ(i % divisor == 0 ? 1u : 0u, results[i]) << i;
      auto const values = drained(queue);
      EXPECT_EQ(active, values.size());
      // Each warp is in order; the order of the warps is not specified.
      std::vector<std::vector<unsigned>> of_warps((threads + lanes - 1) / lanes);
      for (unsigned const value : values) of_warps.at(value / lanes).push_back(value);
      for (unsigned warp = 0; warp < of_warps.size(); ++warp) {
        std::vector<unsigned> expected;
        for (unsigned i = warp * lanes; i < threads && i < (warp + 1) * lanes; ++i) {
          if (i % divisor == 0) expected.push_back(i);
        }
        EXPECT_EQ(expected, of_warps[warp]);
      }
      queue.assign(numbers_from(0, active));
      roc::test::pop_by_warp({}, queue.view(), threads, divisor, out.view());
      auto const elements = read(out);
      std::vector<unsigned> counts(active);
      for (unsigned i = 0; i < threads; ++i) {
        if (i % divisor != 0) {
          EXPECT_EQ(none, elements[i]);
          continue;
        }
        ASSERT_LT(elements[i], active);
        ++counts[elements[i]];
        bool const is_first = i < divisor || (i - divisor) / lanes != i / lanes;
        if (!is_first) {
          EXPECT_EQ(elements[i - divisor] + 1, elements[i]) << i;
        }
      }
      EXPECT_EQ(std::vector<unsigned>(active, 1), counts);
      EXPECT_EQ(0u, queue.size());
    }
  }
}

TEST(DeviceQueue, FirstLanesOfAWarpGetTheSlotsThatAreLeft) {
  for (unsigned capacity : {1u, 3u, 11u}) {
    roc::device_queue<unsigned> const queue(capacity);
    roc::device_array<unsigned> const out({30});
    roc::test::push_by_warp({}, queue.view(), 30, 2, out.view());
    auto const results = read(out);
    for (unsigned i = 0; i < 30; ++i) {
      EXPECT_EQ(i % 2 == 0 && i / 2 < capacity ? 1u : 0u, results[i]) << i;
    }
    roc::test::pop_by_warp({}, queue.view(), 30, 1, out.view());
    auto const elements = read(out);
    for (unsigned i = 0; i < 30; ++i) EXPECT_EQ(i < capacity ? 2 * i : none, elements[i]) << i;
    roc::test::pop_by_warp({}, queue.view(), 30, 1, out.view());
    EXPECT_EQ(std::vector<unsigned>(30, none), read(out));
  }
}

TEST(DeviceQueue, BlocksReserveAllOrAtLeastSomeSlots) {
  for (unsigned threads : {2u, 38u, 64u, 250u}) {
    roc::device_queue<unsigned> const queue(100);
    roc::device_array<unsigned> const out({101});
    out.zero();
    auto const push = [&](std::size_t count, std::size_t least, unsigned first) {
      roc::test::push_by_block({}, queue.view(), threads, count, least, first, out.view());
      return read(out)[0];
    };
    auto const pop = [&](std::size_t count, std::size_t least) {
      roc::test::pop_by_block({}, queue.view(), threads, count, least, out.view());
      auto result = read(out);
      result.resize(result[0] + 1);
      result.erase(result.begin());
      return result;
    };
    EXPECT_EQ(std::vector<unsigned>(), pop(1, 1));
    EXPECT_EQ(70u, push(70, 70, 0));
    EXPECT_EQ(0u, push(31, 31, 500));
    EXPECT_EQ(0u, push(101, 101, 500));
    EXPECT_EQ(30u, push(40, 1, 70));
    EXPECT_EQ(0u, push(1, 1, 500));
    EXPECT_EQ(numbers_from(0, 60), pop(60, 60));
    EXPECT_EQ(std::vector<unsigned>(), pop(41, 41));
    EXPECT_EQ(55u, push(55, 55, 100));  // across the end of the memory
    EXPECT_EQ(numbers_from(60, 95), pop(std::numeric_limits<std::size_t>::max(), 1));
    EXPECT_EQ(0u, push(0, 0, 500));
    EXPECT_EQ(0u, queue.size());
  }
}

// Elements of all sizes pass between kernels on several streams that push and pop in all ways at
// the same time.
template <class T>
class DeviceQueueStress : public testing::Test {};

using element_types =
    testing::Types<roc::test::element_1, roc::test::element_3, roc::test::element_4,
                   roc::test::element_16, roc::test::element_24>;
TYPED_TEST_SUITE(DeviceQueueStress, element_types);

template <class T>
void pass_elements(roc::device_queue_view<T> queue) {
  constexpr unsigned part = 400;  // of each stream that pushes
  constexpr roc::test::queue_launch launches[] = {{queue_use::thread, 2, 33, 3},
                                                  {queue_use::thread_reservation, 3, 50, 2},
                                                  {queue_use::warp, 2, 100, 3},
                                                  {queue_use::block, 3, 45, 3}};
  constexpr unsigned count = 4 * part;
  roc::stream const pushing[4];
  roc::stream const popping[4];
  roc::device_array<unsigned> const pushes({count});
  roc::device_array<unsigned> const pops({count});
  roc::device_array<unsigned> const damaged({1});
  pushes.zero();
  pops.zero();
  damaged.zero();
  roc::test::queue_log const log{pushes.view(), pops.view(), damaged.view()};
  std::vector<unsigned> pop_counts;
  unsigned rounds = 0;
  do {
    for (unsigned i = 0; i < 4; ++i) {
      roc::test::push_numbers(pushing[i], launches[i], queue, i * part, part, log);
      roc::test::pop_numbers(popping[i], launches[3 - i], queue, log);
    }
    pop_counts = read(pops);  // ordered after all streams
    ASSERT_LT(++rounds, 1000u);
  } while (std::accumulate(pop_counts.begin(), pop_counts.end(), 0u) < count);
  EXPECT_EQ(std::vector<unsigned>(count, 1), read(pushes));
  EXPECT_EQ(0u, read(damaged)[0]);
  std::vector<unsigned> expected(count);
  for (unsigned i = 0; i < count; ++i) ++expected[T::of(i).number()];
  EXPECT_EQ(expected, pop_counts);
}

TYPED_TEST(DeviceQueueStress, PassesEachElementOnceBetweenKernelsOfSeveralStreams) {
  roc::device_queue<TypeParam> const queue(61);
  pass_elements(queue.view());
  EXPECT_EQ(0u, queue.drain().size());  // throws if a slot is not as in an empty queue
}

TEST(DeviceQueue, PassesElementsWhilePositionsWrapToZero) {
  using element = roc::test::element_24;
  auto const ring = roc::detail::queue_ring::with_capacity(61);
  queue_at<element> const queue(61, std::uint64_t{0} - 5 * ring.lap() + 13);
  pass_elements(queue.view());
  EXPECT_LT(queue.push_position(), 100 * ring.lap());
}

TEST(DeviceQueue, OneKernelFillsItAndTheNextOneDrainsIt) {
  roc::stream const stream;
  roc::device_queue<unsigned> const queue(1000, stream);
  roc::device_array<unsigned> const out({1001}, roc::order::c, stream);
  out.zero(stream);
  for (unsigned i = 0; i < 3; ++i) {
    roc::test::push_by_block(stream, queue.view(), 64, 700, 700, i * 700, out.view());
    EXPECT_EQ(700u, queue.size(stream));
    roc::test::pop_by_block(stream, queue.view(), 100, 1000, 1, out.view());
    std::vector<unsigned> result(1001);
    out.copy_to_host(result, stream);
    stream.synchronize();
    EXPECT_EQ(700u, result[0]);
    EXPECT_EQ(numbers_from(i * 700, 700),
              std::vector<unsigned>(result.begin() + 1, result.begin() + 701));
  }
}

TEST(DeviceQueue, BlockUsesTwoQueuesInTurn) {
  roc::device_queue<unsigned> const from(200);
  roc::device_queue<unsigned> const to(150);
  from.assign(numbers_from(0, 150));
  roc::test::move_by_block({}, from.view(), to.view());
  EXPECT_EQ(numbers_from(0, 150), drained(to));
  EXPECT_EQ(0u, from.size());
}

TEST(DeviceQueue, FunctorsOfForEachPush) {
  roc::stream const stream;
  roc::device_queue<unsigned> const queue(100, stream);
  roc::test::push_in_loop(stream, queue.view(), 200);
  auto const elements = queue.drain(stream);
  std::vector<unsigned> counts(200);
  for (std::size_t i = 0; i < elements.size(); ++i) ++counts.at(elements(i));
  for (unsigned i = 0; i < 200; ++i) EXPECT_EQ(i % 3 == 0 ? 1u : 0u, counts[i]) << i;
}

TEST(DeviceQueueOnHost, AssignsAndDrainsInOrder) {
  roc::device_queue<unsigned> const queue(10);
  for (std::size_t count : {0, 1, 9, 10}) {
    queue.assign(numbers_from(5, count));
    EXPECT_EQ(count, queue.size());
    EXPECT_EQ(numbers_from(5, count), popped(queue.view()));
    queue.assign(numbers_from(8, count));
    EXPECT_EQ(numbers_from(8, count), drained(queue));
    EXPECT_EQ(0u, queue.size());
  }
}

TEST(DeviceQueueOnHost, AssignedQueueTakesFurtherElements) {
  roc::device_queue<unsigned> const queue(10);
  queue.assign(numbers_from(0, 7));
  EXPECT_EQ(3u, pushed(queue.view(), 7, 5));
  EXPECT_EQ(numbers_from(0, 6), popped(queue.view(), 6));
  EXPECT_EQ(6u, pushed(queue.view(), 10, 8));
  EXPECT_EQ(numbers_from(6, 10), drained(queue));  // across the end of the memory
  EXPECT_EQ(10u, pushed(queue.view(), 0, 20));
}

TEST(DeviceQueueOnHost, AssignsDeviceMemoryOfAnyLayout) {
  auto const array = roc::to_device(numbers_from(0, 20));
  roc::device_queue<unsigned> const queue(10);
  queue.assign(array.view()(roc::slice(0, 20, 4)));
  EXPECT_EQ((std::vector<unsigned>{0, 4, 8, 12, 16}), drained(queue));
}

TEST(DeviceQueueOnHost, FunctionsWithAStreamAreInItsOrder) {
  roc::stream const stream;
  roc::device_queue<unsigned> const queue(10, stream);
  {
    std::vector<unsigned> const values = numbers_from(0, 10);
    queue.assign(values, stream);
  }
  EXPECT_EQ(10u, queue.size(stream));
  roc::device_array<unsigned> const out({5}, roc::order::c, stream);
  roc::test::pop_in_order(stream, queue.view(), 4, out.view());
  std::vector<unsigned> result(12, 99);
  EXPECT_EQ(6u, queue.drain(result, stream));
  result.resize(7);
  EXPECT_EQ((std::vector<unsigned>{4, 5, 6, 7, 8, 9, 99}), result);
  EXPECT_EQ(0u, queue.size(stream));
  queue.assign(result, stream);
  queue.clear(stream);
  EXPECT_EQ(0u, queue.drain(stream).size());
}

// Each call of HIP fails in turn, once or from then on. After the error no copy of the call is
// pending: the program may free its memory.
TEST(DeviceQueue, DrainWritesNothingAfterAnError) {
  roc::device_queue<unsigned> const queue(16);
  roc::stream const stream;
  unsigned failures = 0;
  for (char const* const call : {"hipGetDevice", "hipStreamSynchronize", "hipMemcpyAsync"}) {
    for (auto const uses :
         {roc::platform::failing_uses::one, roc::platform::failing_uses::all_later}) {
      bool has_failed = true;
      for (unsigned nth = 1; has_failed && nth != 100; ++nth) {
        queue.clear();
        queue.assign(numbers_from(1, 16));
        auto result = roc::pinned_array<unsigned>(16);
        result.fill(0);
        ASSERT_TRUE(roc::platform::fail_call(call, nth, hipErrorUnknown, uses));
        has_failed = false;
        try {
          static_cast<void>(queue.drain(result.view(), stream));
        } catch (roc::error const&) {
          has_failed = true;
        }
        roc::platform::clear_failures();
        failures += has_failed ? 1 : 0;
        std::vector<unsigned> const before(result.begin(), result.end());
        roc::device().synchronize();
        ASSERT_TRUE(std::equal(before.begin(), before.end(), result.begin())) << call << ':' << nth;
      }
      EXPECT_FALSE(has_failed) << "raise the limit of nth: more uses of " << call;
    }
  }
  EXPECT_NE(0u, failures);
}

TEST(DeviceQueueOnHost, FunctionsWithoutAStreamAreAfterTheWorkOfAllStreams) {
  roc::stream const first(roc::non_blocking);
  roc::stream const second(roc::non_blocking);
  roc::device_queue<unsigned> const queue(5000);
  roc::device_array<unsigned> const out({2});
  roc::test::push_in_order(first, queue.view(), 0, 2000, out.view());
  EXPECT_EQ(2000u, queue.size());
  roc::test::push_in_order(second, queue.view(), 2000, 2000, out.view());
  EXPECT_EQ(numbers_from(0, 4000), drained(queue));
}

TEST(DeviceQueueInGraph, RefusedAssignCapturesNothing) {
  roc::device_queue<unsigned> const queue(10);
  queue.assign(numbers_from(0, 4));
  std::vector<unsigned> const pageable = numbers_from(50, 7);
  roc::graph_exec executable(roc::capture([&](roc::stream_ref stream) {
    expect_error<roc::error>([&] { queue.assign(pageable, stream); },
                             "register it, or use a pinned array");
  }));
  executable.launch();
  EXPECT_EQ(numbers_from(0, 4), drained(queue));
}

TEST(DeviceQueueInGraph, SizeAndDrainAreRefused) {
  roc::device_queue<unsigned> const queue(10);
  queue.assign(numbers_from(0, 4));
  auto pinned = roc::pinned_array<unsigned>(10);
  roc::graph_exec executable(roc::capture([&](roc::stream_ref stream) {
    constexpr auto text = "cannot be used by captured work";
    expect_error<roc::error>([&] { static_cast<void>(queue.size(stream)); }, text);
    expect_error<roc::error>([&] { static_cast<void>(queue.drain(stream)); }, text);
    expect_error<roc::error>([&] { static_cast<void>(queue.drain(pinned, stream)); }, text);
    expect_error<roc::error>([&] { static_cast<void>(queue.size()); }, "without a stream");
    roc::stream_ref const default_stream;
    constexpr auto on_default_stream = "the default stream cannot be captured";
    expect_error<roc::error>([&] { static_cast<void>(queue.size(default_stream)); },
                             on_default_stream);
    expect_error<roc::error>([&] { static_cast<void>(queue.drain(default_stream)); },
                             on_default_stream);
    expect_error<roc::error>([&] { queue.assign(pinned, default_stream); }, on_default_stream);
  }));
  executable.launch();
  EXPECT_EQ(numbers_from(0, 4), drained(queue));
}

TEST(DeviceQueueInGraph, AssignFromPinnedMemoryAndClearAreRepeated) {
  roc::device_queue<unsigned> const assigned(10);
  roc::device_queue<unsigned> const cleared(10);
  auto pinned = roc::pinned_array<unsigned>(7);
  roc::graph_exec executable(roc::capture([&](roc::stream_ref stream) {
    assigned.assign(pinned, stream);
    cleared.clear(stream);
  }));
  for (unsigned const first : {3u, 20u}) {
    std::iota(pinned.data(), pinned.data() + 7, first);
    cleared.assign(numbers_from(0, 9));
    executable.launch();
    EXPECT_EQ(numbers_from(first, 7), drained(assigned));
    EXPECT_EQ(0u, cleared.size());
  }
}

TEST(DeviceQueueInGraph, KernelsPushAndPop) {
  roc::device_queue<unsigned> const queue(10);
  roc::device_array<unsigned> const count({1});
  roc::device_array<unsigned> const out({11});
  out.zero();
  roc::graph_exec executable(roc::capture([&](roc::stream_ref stream) {
    roc::test::push_in_order(stream, queue.view(), 5, 6, count.view());
    roc::test::pop_in_order(stream, queue.view(), 4, out.view());
  }));
  executable.launch();
  EXPECT_EQ(4u, read(out)[0]);
  executable.launch();
  EXPECT_EQ((std::vector<unsigned>{7, 8, 9, 10}), drained(queue));
}

TEST(DeviceQueueInGraph, LaunchAfterTheEndOfTheQueueIsAnError) {
  auto queue = std::make_optional<roc::device_queue<unsigned>>(10);
  roc::device_array<unsigned> const count({1});
  roc::graph_exec executable(roc::capture([&](roc::stream_ref stream) {
    roc::test::push_in_order(stream, queue->view(), 5, 2, count.view());
  }));
  executable.launch();
  EXPECT_EQ(2u, queue->size());
  queue.reset();
  expect_error<roc::lifetime_error>([&] { executable.launch(); },
                                    "the graph uses the device array at ");
}

#if ROCARRAY_PLATFORM_HOST  // whose allocations can fail
// No memory is left at any of the allocations of assign.
TEST(DeviceQueueOnHost, FailedAssignDoesNotReadItsSourceAfterwards) {
  roc::device_queue<unsigned> const queue(3000);
  auto pinned = roc::pinned_array<unsigned>(3000);
  long nth = 1;
  for (bool has_failed = true; has_failed; ++nth) {
    ASSERT_LT(nth, 1000);
    queue.assign(numbers_from(0, 3000));
    std::iota(pinned.data(), pinned.data() + 3000, 0u);
    roc::stream const stream;
    roc::test::gate gate;
    gate.close(stream);
    std::thread opener([&gate] {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      gate.open();
    });
    bool has_thrown = false;
    {
      roc::test::failing_new const failure(nth);
      try {
        queue.assign(pinned, stream);
      } catch (std::exception const&) {
        has_thrown = true;
      }
      has_failed = failure.has_failed();
    }
    if (has_thrown) std::fill(pinned.data(), pinned.data() + 3000, 99u);
    opener.join();
    stream.synchronize();
    queue.clear();
    roc::device_array<unsigned> const out({3000});
    roc::test::inspect_slots({}, queue.view(), out.view());
    EXPECT_EQ(numbers_from(0, 3000), read(out)) << nth;
    queue.clear();
  }
  EXPECT_GT(nth, 2);
}

TEST(DeviceQueueOnHost, DrainThatRunsOutOfMemoryKeepsTheElements) {
  roc::stream const stream;
  roc::device_queue<unsigned> const queue(3000, stream);
  queue.assign(numbers_from(0, 2000));
  EXPECT_EQ(2000u, popped(queue.view(), 2000).size());
  EXPECT_EQ(2500u, pushed(queue.view(), 7, 2500));  // across the end of the memory
  auto pinned = roc::pinned_array<unsigned>(2500);
  long nth = 1;
  for (bool has_thrown = true; has_thrown; ++nth) {
    ASSERT_LT(nth, 1000);
    has_thrown = false;
    {
      roc::test::failing_new const failure(nth);
      try {
        EXPECT_EQ(2500u, queue.drain(pinned, stream));
      } catch (std::exception const&) {
        has_thrown = true;
      }
    }
    if (has_thrown) {
      EXPECT_EQ(2500u, queue.size(stream)) << nth;
    }
  }
  EXPECT_GT(nth, 2);
  EXPECT_EQ(numbers_from(7, 2500), std::vector<unsigned>(pinned.data(), pinned.data() + 2500));
  EXPECT_EQ(0u, queue.size());
}
#endif

TEST(DeviceQueueOnHost, DrainsToPinnedMemory) {
  roc::device_queue<unsigned> const queue(10);
  queue.assign(numbers_from(3, 10));
  auto pinned = roc::pinned_array<unsigned>(10);
  EXPECT_EQ(10u, queue.drain(pinned));
  EXPECT_EQ(numbers_from(3, 10), std::vector<unsigned>(pinned.data(), pinned.data() + 10));
}

TEST(DeviceQueueOnHost, ClearEndsReservations) {
  roc::device_queue<unsigned> const queue(5);
  queue.assign(numbers_from(0, 3));
  roc::test::leave_reservations({}, queue.view(), 2, 1);
  expect_error<roc::error>([&] { static_cast<void>(queue.drain()); },
                           "the queue has open reservations of 3 slots");
  EXPECT_EQ(4u, queue.size());
  queue.clear();
  EXPECT_EQ(0u, queue.drain().size());
  EXPECT_EQ(5u, pushed(queue.view(), 0, 6));
  EXPECT_EQ(numbers_from(0, 5), popped(queue.view()));
}

TEST(DeviceQueueOnHost, FailedDrainKeepsTheElements) {
  roc::device_queue<unsigned> const queue(5);
  queue.assign(numbers_from(0, 5));
  std::vector<unsigned> small(4, 77);
  expect_error<roc::shape_error>([&] { queue.drain(small); },
                                 "the queue has 5 elements, but the destination 4");
  EXPECT_EQ(std::vector<unsigned>(4, 77), small);
  EXPECT_EQ(numbers_from(0, 5), drained(queue));
}

TEST(DeviceQueueOnHost, ThrowsForTooManyElements) {
  roc::device_queue<unsigned> const queue(5);
  queue.assign(numbers_from(0, 2));
  expect_error<roc::shape_error>([&] { queue.assign(numbers_from(0, 6)); },
                                 "6 elements do not fit into a queue of capacity 5");
  EXPECT_EQ(numbers_from(0, 2), drained(queue));
}

TEST(DeviceQueueOnHost, ThrowsForImpossibleCapacities) {
  using queue = roc::device_queue<roc::test::element_24>;
  expect_error<roc::shape_error>([] { queue q(0); }, "the capacity of a queue is 0");
  expect_error<roc::shape_error>([] { queue q(-3); }, "the capacity of a queue is -3");
  expect_error<roc::shape_error>([] { queue q(std::numeric_limits<std::size_t>::max()); },
                                 "overflow");
  expect_error<roc::shape_error>([] { queue q(std::size_t{1} << 59); }, "overflow");
  expect_error<roc::out_of_memory>([] { queue q(std::size_t{1} << 40); }, "");
  expect_error<roc::shape_error>([] { roc::device_queue<char> q(std::size_t{1} << 60); },
                                 "overflow");
}

TEST(DeviceQueueOnHost, UsesTheGivenResource) {
  roc::hip_memory_resource direct;
  roc::pool_resource pool(direct);
  {
    roc::device_queue<unsigned> const queue(100, pool);
    EXPECT_GE(pool.statistics().current_bytes, 100 * (sizeof(unsigned) + 8));
    queue.assign(numbers_from(0, 100));
    EXPECT_EQ(numbers_from(0, 100), drained(queue));
  }
  roc::device().synchronize();
  EXPECT_EQ(0u, pool.statistics().current_bytes);
}

TEST(DeviceQueueOnHost, MovesOwnership) {
  roc::device_queue<unsigned> queue(5);
  queue.assign(numbers_from(0, 3));
  roc::device_queue<unsigned> moved(std::move(queue));
  EXPECT_EQ(numbers_from(0, 3), popped(moved.view()));
  roc::device_queue<unsigned> other(8);
  other.swap(moved);
  EXPECT_EQ(8u, moved.capacity());
  moved = std::move(other);
  EXPECT_EQ(5u, moved.capacity());
  EXPECT_EQ(0, moved.device_ordinal());
}

TEST(DeviceQueueOnHost, MovesWhileAKernelIsPending) {
  roc::stream const stream;
  roc::device_array<unsigned> const out({1}, roc::order::c, stream);
  roc::device_queue<unsigned> queue(50, stream);
  roc::test::gate gate;
  gate.close(stream);
  roc::test::push_in_order(stream, queue.view(), 3, 40, out.view());
  roc::device_queue<unsigned> const moved(std::move(queue));
  gate.open();
  auto const values = moved.drain(stream);
  EXPECT_EQ(numbers_from(3, 40), std::vector<unsigned>(values.data(), values.data() + 40));
}

TEST(DeviceQueueOnHost, ThrowsAfterMove) {
  roc::device_queue<unsigned> queue(5);
  auto const moved = std::move(queue);
  roc::device_queue<unsigned> const empty;
  for (roc::device_queue<unsigned> const* q : {&std::as_const(queue), &empty}) {
    EXPECT_THROW(static_cast<void>(q->capacity()), roc::lifetime_error);
    EXPECT_THROW(static_cast<void>(q->view()), roc::lifetime_error);
    EXPECT_THROW(static_cast<void>(q->device_ordinal()), roc::lifetime_error);
    EXPECT_THROW(static_cast<void>(q->stream()), roc::lifetime_error);
    EXPECT_THROW(q->record_stream({}), roc::lifetime_error);
    EXPECT_THROW(static_cast<void>(q->size()), roc::lifetime_error);
    EXPECT_THROW(q->clear(), roc::lifetime_error);
    EXPECT_THROW(q->assign(numbers_from(0, 1)), roc::lifetime_error);
    EXPECT_THROW(static_cast<void>(q->drain()), roc::lifetime_error);
  }
}

TEST(DeviceQueueOnHost, ThrowsForAStreamOfAnotherDevice) {
  if (roc::device::count() < 2) GTEST_SKIP() << "one device";
  roc::device_queue<unsigned> const queue(5);
  std::optional<roc::stream> other;
  {
    roc::device(1).make_current();
    other.emplace();
    roc::device(0).make_current();
  }
  expect_error<roc::error>([&] { static_cast<void>(queue.size(*other)); }, "is on device 1");
  expect_error<roc::error>([&] { queue.clear(*other); }, "is on device 1");
  expect_error<roc::error>([&] { static_cast<void>(queue.drain(*other)); }, "is on device 1");
  std::vector<unsigned> const values = numbers_from(0, 3);
  expect_error<roc::error>([&] { queue.assign(values, *other); }, "is on device 1");
  EXPECT_EQ(0u, queue.size());
}

TEST(DeviceQueueOnHost, MemoryIsNotReusedBeforeTheKernelHasFinished) {
  roc::stream const stream;
  roc::stream const other(roc::non_blocking);
  roc::device_array<unsigned> const out({1}, roc::order::c, stream);
  roc::test::gate gate;
  roc::device_queue<unsigned> queue(4096);
  gate.close(stream);
  roc::test::push_in_order(stream, queue.view(), 0, 4096, out.view());
  queue = roc::device_queue<unsigned>();
  roc::device_queue<unsigned> const next(4096, other);
  gate.open();
  stream.synchronize();
  EXPECT_EQ(4096u, read(out)[0]);
  EXPECT_EQ(0u, next.drain(other).size());
}

}  // namespace
