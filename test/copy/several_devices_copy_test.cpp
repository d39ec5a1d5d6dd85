// SPDX-License-Identifier: MIT
// Arrays that are split over several devices, gathered from them and copied to each of them, in
// random layouts, with and without streams.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <ranges>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "copy/broadcast_chain.hpp"
#include "platform/call.hpp"
#include "support/array_on_device.hpp"
#include "support/environment.hpp"
#include "support/expect_error.hpp"
#include "support/gate.hpp"
#include "support/layouts.hpp"
#include "support/options.hpp"

namespace {

using roc::test::array_on_device;
using roc::test::element_of;
using roc::test::guarded_array;
using roc::test::random_shape;
using roc::test::random_strides;

// Staging memory is small, so that copies take many chunks.
roc::test::program_options const options_of_tests(roc::test::small_staging);

// The devices of `count` parts, in turn.
std::vector<roc::device> devices(std::size_t count) {
  std::vector<roc::device> result;
  for (std::size_t i = 0; i != count; ++i) {
    result.emplace_back(static_cast<int>(i % static_cast<std::size_t>(roc::device::count())));
  }
  return result;
}

roc::stream stream_on(int ordinal) {
  roc::device_guard const guard{roc::device(ordinal)};
  return roc::stream();
}

template <class Parts>
std::vector<roc::stream> streams_of(Parts const& parts) {
  std::vector<roc::stream> result;
  for (auto const& part : parts) result.push_back(stream_on(part.device_ordinal()));
  return result;
}

void synchronize(std::vector<roc::stream> const& streams) {
  for (roc::stream const& stream : streams) stream.synchronize();
}

std::vector<int> numbers(std::size_t count, int first = 0) {
  std::vector<int> result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

roc::device_array<int> filled_array(int ordinal, std::size_t count, int value) {
  roc::device_guard const guard{roc::device(ordinal)};
  roc::device_array<int> result({count});
  result.fill(value);
  return result;
}

// Through pinned memory, because pageable memory takes thousands of the small chunks.
std::vector<int> contents(roc::device_view<int> const& array) {
  roc::host_array<int> pinned({array.size()}, roc::order::c, roc::host_memory::pinned);
  roc::copy(array, pinned);
  return {pinned.data(), pinned.data() + pinned.size()};
}

// Where the whole array of a random test is.
enum class place { pageable, pinned, device };
constexpr std::size_t place_count = 3;

// A whole array in a random layout in one of the places, whose view is passed to `f`.
template <class T, std::size_t N, class Random, class F>
void with_whole(Random& random, place where, roc::shape<N> const& extents, F f) {
  auto const steps = random_strides(extents, random, true);
  if (where == place::device) {
    int const ordinal = static_cast<int>(random() % static_cast<std::size_t>(roc::device::count()));
    array_on_device<T, N> const whole(ordinal, extents, steps);
    return f(whole.host, whole.view(), [&] { whole.upload(); }, [&] { whole.download(); });
  }
  guarded_array<T, N> whole(extents, steps);
  std::unique_ptr<roc::registration> registered;
  if (where == place::pinned) {
    registered = std::make_unique<roc::registration>(roc::register_host(whole.bytes()));
  }
  f(whole, whole.view(), [] {}, [] {});
}

// The parts of an array of a shape along an axis, at random extents, on random devices.
template <class T, std::size_t N, class Random>
std::vector<std::unique_ptr<array_on_device<T, N>>> random_parts(Random& random,
                                                                 roc::shape<N> const& whole,
                                                                 std::size_t axis) {
  std::vector<std::unique_ptr<array_on_device<T, N>>> parts;
  std::size_t remaining = whole[axis];
  while (remaining != 0) {
    auto extents = whole;
    bool const is_last = parts.size() == 4;
    extents[axis] = is_last ? remaining : random() % (remaining + 1);
    remaining -= extents[axis];
    int const ordinal = static_cast<int>(random() % static_cast<std::size_t>(roc::device::count()));
    parts.push_back(std::make_unique<array_on_device<T, N>>(ordinal, extents,
                                                            random_strides(extents, random, true)));
  }
  return parts;
}

template <class T, std::size_t N>
std::vector<roc::device_view<T, N>> views_of(
    std::vector<std::unique_ptr<array_on_device<T, N>>> const& arrays) {
  std::vector<roc::device_view<T, N>> views;
  for (auto const& array : arrays) views.push_back(array->view());
  return views;
}

// Returns the number, in C order of the whole array, of element `i` of a part that begins at index
// `first` of the axis.
template <std::size_t N>
std::size_t number_in_whole(roc::shape<N> const& whole, roc::shape<N> const& part, std::size_t axis,
                            std::size_t first, std::size_t i) {
  std::array<std::size_t, N> index{};
  for (std::size_t k = N; k-- != 0;) {
    index[k] = i % part[k];
    i /= part[k];
  }
  index[axis] += first;
  std::size_t number = 0;
  for (std::size_t k = 0; k != N; ++k) number = number * whole[k] + index[k];
  return number;
}

template <class T, std::size_t N, class Random>
void split_and_gather_once(Random& random, std::size_t max_extent) {
  auto const extents = random_shape<N>(random, max_extent);
  std::size_t const axis = random() % N;
  auto const where = static_cast<place>(random() % place_count);
  bool const on_streams = random() % 2 == 0;
  bool const has_access = random() % 4 != 0;
  SCOPED_TRACE("rank " + std::to_string(N) + ", axis " + std::to_string(axis) + ", place " +
               std::to_string(static_cast<int>(where)) + ", on streams " +
               std::to_string(on_streams) + ", access " + std::to_string(has_access));
  roc::scoped_options const scope({.peer_access = has_access});
  auto const parts = random_parts<T, N>(random, extents, axis);
  auto const views = views_of(parts);

  with_whole<T, N>(random, where, extents, [&](auto& host, auto view, auto upload, auto) {
    host.for_each_element([](T& element, std::size_t i) { element = T::number(i); });
    upload();
    if (on_streams) {
      auto const streams = streams_of(views);
      roc::split_to_devices(view, views, axis, streams);
      synchronize(streams);
    } else {
      roc::split_to_devices(view, views, axis);
    }
  });
  std::size_t first = 0;
  for (auto const& part : parts) {
    part->download();
    auto const shape = part->host.view().shape();
    bool is_correct = true;
    part->host.for_each_element([&](T& element, std::size_t i) {
      std::size_t const number = number_in_whole(extents, shape, axis, first, i);
      is_correct = is_correct && element == T::number(number);
    });
    ASSERT_TRUE(is_correct) << "split";
    ASSERT_TRUE(part->host.are_gaps_unchanged()) << "split";
    first += shape[axis];
  }

  with_whole<T, N>(random, where, extents, [&](auto& host, auto view, auto, auto download) {
    if (on_streams) {
      auto const streams = streams_of(views);
      roc::gather(views, view, axis, streams);
      synchronize(streams);
    } else {
      roc::gather(views, view, axis);
    }
    download();
    bool is_correct = true;
    host.for_each_element(
        [&](T& element, std::size_t i) { is_correct = is_correct && element == T::number(i); });
    ASSERT_TRUE(is_correct) << "gather";
    ASSERT_TRUE(host.are_gaps_unchanged()) << "gather";
  });
}

template <class T, std::size_t N, class Random>
void broadcast_once(Random& random, std::size_t max_extent) {
  auto const extents = random_shape<N>(random, max_extent);
  auto const where = static_cast<place>(random() % place_count);
  bool const on_streams = random() % 2 == 0;
  roc::scoped_options const scope({.peer_access = random() % 4 != 0});
  std::vector<std::unique_ptr<array_on_device<T, N>>> arrays;
  for (std::size_t i = random() % 6; i-- != 0;) {
    int const ordinal = static_cast<int>(random() % static_cast<std::size_t>(roc::device::count()));
    arrays.push_back(std::make_unique<array_on_device<T, N>>(
        ordinal, extents, random_strides(extents, random, true)));
  }
  auto const views = views_of(arrays);
  bool const in_chain = where == place::device && random() % 2 == 0;
  SCOPED_TRACE("rank " + std::to_string(N) + ", place " + std::to_string(static_cast<int>(where)) +
               ", on streams " + std::to_string(on_streams) + ", in a chain " +
               std::to_string(in_chain));

  with_whole<T, N>(random, where, extents, [&](auto& host, auto view, auto upload, auto) {
    host.for_each_element([](T& element, std::size_t i) { element = T::number(i); });
    upload();
    auto const streams = streams_of(views);
    if constexpr (std::is_same_v<decltype(view), roc::device_view<T, N>>) {
      // A chain is chosen for larger arrays only.
      if (in_chain) {
        auto const region = [](auto const& operand) { return operand.region(); };
        auto const from = roc::detail::operand_of(view);
        std::vector<decltype(roc::detail::operand_of(view))> to;
        for (auto const& destination : views) to.push_back(roc::detail::operand_of(destination));
        std::vector<roc::detail::strided_region> regions;
        std::vector<int> ordinals;
        std::vector<roc::transfer::stream_on_device> executors;
        for (std::size_t i = 0; i != to.size(); ++i) {
          regions.push_back(region(to[i]));
          ordinals.push_back(views[i].device_ordinal());
          executors.push_back({streams[i], ordinals[i]});
        }
        auto const routes = roc::transfer::find_chain(view.device_ordinal(), ordinals);
        roc::transfer::enqueue_chain(region(from), regions, executors, routes, 1 + random() % 9);
        synchronize(streams);
        return;
      }
    }
    if (on_streams) {
      roc::broadcast(view, views, streams);
      synchronize(streams);
    } else {
      roc::broadcast(view, views);
    }
  });
  for (auto const& array : arrays) {
    array->download();
    bool is_correct = true;
    array->host.for_each_element(
        [&](T& element, std::size_t i) { is_correct = is_correct && element == T::number(i); });
    ASSERT_TRUE(is_correct);
    ASSERT_TRUE(array->host.are_gaps_unchanged());
  }
}

template <class T>
void split_and_gather(char const* test_name) {
  auto random = roc::test::random_generator(test_name);
  auto const rounds = static_cast<int>(roc::test::scaled(4000) / 200);
  for (int round = 0; round < rounds; ++round) {
    ASSERT_NO_FATAL_FAILURE((split_and_gather_once<T, 1>(random, 2000)));
    ASSERT_NO_FATAL_FAILURE((split_and_gather_once<T, 2>(random, 60)));
    ASSERT_NO_FATAL_FAILURE((split_and_gather_once<T, 3>(random, 14)));
  }
}
template <class T>
void broadcasts(char const* test_name) {
  auto random = roc::test::random_generator(test_name);
  auto const rounds = static_cast<int>(roc::test::scaled(4000) / 200);
  for (int round = 0; round < rounds; ++round) {
    ASSERT_NO_FATAL_FAILURE((broadcast_once<T, 1>(random, 2000)));
    ASSERT_NO_FATAL_FAILURE((broadcast_once<T, 2>(random, 60)));
    ASSERT_NO_FATAL_FAILURE((broadcast_once<T, 4>(random, 7)));
  }
}

// Chains of broadcasts sort links by performance_rank, which CUDA and AMD's runtime number
// differently.
TEST(PeerLink, FabricHasLowerPerformanceRankThanPcie) {
  std::vector<int> fabric;
  std::vector<int> pcie;
  for (int from = 0; from != roc::device::count(); ++from) {
    for (int to = 0; to != roc::device::count(); ++to) {
      if (from == to) continue;
      roc::peer_link const link = roc::device(from).link_to(roc::device(to));
      auto& ranks = link.type == roc::peer_link_type::gpu_fabric ? fabric : pcie;
      ranks.push_back(link.performance_rank);
    }
  }
  ASSERT_FALSE(fabric.empty());
  ASSERT_FALSE(pcie.empty());
  EXPECT_LT(*std::max_element(fabric.begin(), fabric.end()),
            *std::min_element(pcie.begin(), pcie.end()));
}

TEST(SplitAndGather, RandomLayoutsOf4ByteElementsAreCopied) {
  split_and_gather<element_of<4>>("4 bytes");
}
TEST(SplitAndGather, RandomLayoutsOf3ByteElementsAreCopied) {
  split_and_gather<element_of<3>>("3 bytes");
}
TEST(SplitAndGather, RandomLayoutsOf16ByteElementsAreCopied) {
  split_and_gather<element_of<16>>("16 bytes");
}
TEST(Broadcast, RandomLayoutsOf4ByteElementsAreCopied) { broadcasts<element_of<4>>("4 bytes"); }
TEST(Broadcast, RandomLayoutsOf3ByteElementsAreCopied) { broadcasts<element_of<3>>("3 bytes"); }

// So large that threads copy the parts at the same time.
TEST(SplitAndGather, LargePageableArraysAreCopiedByThreads) {
  roc::scoped_options const scope({.copy_threads = 2});
  std::size_t const count = (std::size_t{5} << 18) + 77;
  auto const source = numbers(count);
  for (bool const on_streams : {false, true}) {
    auto const parts = roc::split_to_devices(source, devices(5));
    ASSERT_EQ(5u, parts.size());
    auto const streams = streams_of(parts);
    auto reversed = source;
    std::reverse(reversed.begin(), reversed.end());
    auto const expected = reversed;
    std::vector<int> seen(count);
    if (on_streams) {
      roc::split_to_devices(reversed, parts, 0, streams);
      std::fill(reversed.begin(), reversed.end(), -1);  // the source has been read
      roc::gather(parts, seen, 0, streams);
      synchronize(streams);
    } else {
      roc::split_to_devices(reversed, parts);
      roc::gather(parts, seen);
    }
    EXPECT_EQ(expected, seen);
    std::vector<roc::device_array<int>> copies = roc::broadcast_to_devices(source, devices(3));
    for (auto const& copy : copies) EXPECT_EQ(source, contents(copy));
  }
}

TEST(SplitToDevices, NewPartsDifferByOneIndexAtMost) {
  auto const source = numbers(10 * 3);
  roc::host_view<int const, 2> const matrix(source.data(), {10, 3});
  auto const parts = roc::split_to_devices(matrix, devices(4));
  ASSERT_EQ(4u, parts.size());
  std::size_t const expected[] = {3, 3, 2, 2};
  for (std::size_t i = 0; i != 4; ++i) {
    EXPECT_EQ((roc::shape<2>{expected[i], 3}), parts[i].shape());
    EXPECT_EQ(devices(4)[i].ordinal(), parts[i].device_ordinal());
  }
  auto const gathered = roc::gather_to_host(parts);
  EXPECT_EQ(matrix.shape(), gathered.shape());
  EXPECT_TRUE(std::equal(source.begin(), source.end(), gathered.data()));
  auto const on_device = roc::gather_to_device(parts, devices(4)[3]);
  EXPECT_EQ(devices(4)[3].ordinal(), on_device.device_ordinal());
  EXPECT_EQ(source, contents(on_device.ravel()));
}

TEST(GatherToDevice, ViewsWithoutADeviceAreOnTheCurrentOne) {
  roc::device_guard const guard(devices(4)[1]);
  auto const array = roc::to_device(numbers(8));
  array.fill(3);
  std::vector<roc::device_view<int, 1>> const parts{{array.data(), {5}}, {array.data() + 5, {3}}};
  auto const gathered = roc::gather_to_device(parts, devices(4)[3]);
  EXPECT_EQ(devices(4)[3].ordinal(), gathered.device_ordinal());
  EXPECT_EQ(std::vector<int>(8, 3), contents(gathered));
}

// Arrays that are returned by value would be destroyed before they are copied.
using array_maker = roc::device_array<int> (*)(int);
static_assert(roc::detail::device_parts<std::vector<roc::device_array<int>>&>);
static_assert(!roc::detail::device_parts<decltype(std::views::transform(
                  std::declval<std::vector<int>&>(), std::declval<array_maker>()))>);

TEST(SplitToDevices, PartsMayBeAViewOfARange) {
  auto const arrays = roc::split_to_devices(numbers(10), devices(2));
  auto const without_last =
      arrays | std::views::transform([](auto const& array) { return array(roc::slice(0, -1)); });
  auto const gathered = roc::gather_to_host(without_last);
  ASSERT_EQ(8u, gathered.size());
  EXPECT_EQ(numbers(10)[3], gathered(3));
  EXPECT_EQ(numbers(10)[5], gathered(4));
}

TEST(SplitToDevices, MoreDevicesThanIndicesGiveEmptyParts) {
  auto const parts = roc::split_to_devices(numbers(2), devices(4));
  EXPECT_EQ(1u, parts[1].size());
  EXPECT_EQ(0u, parts[2].size());
  EXPECT_EQ(nullptr, parts[3].data());
  EXPECT_EQ(numbers(2)[1], roc::gather_to_host(parts)(1));
  auto const none = roc::split_to_devices(std::vector<int>(), devices(2));
  EXPECT_EQ(0u, none[0].size());
  EXPECT_EQ(0u, roc::gather_to_host(none).size());
}

TEST(SplitToDevices, NewPartsKeepTheOrderOfTheAxes) {
  roc::device_array<int, 2> const source({6, 4}, roc::order::f);
  source.fill(3);
  auto const parts = roc::split_to_devices(source, devices(2), 1);
  EXPECT_EQ((roc::shape<2>{6, 2}), parts[1].shape());
  EXPECT_TRUE(parts[1].is_f_contiguous());
  EXPECT_FALSE(parts[1].is_c_contiguous());
  EXPECT_EQ(std::vector<int>(12, 3), contents(parts[1].ravel(roc::order::f)));
}

TEST(SplitToDevices, NewPartsAreWrittenInStreamOrder) {
  auto const source = numbers(1000);
  std::vector<roc::stream> streams;
  for (auto const& device : devices(3)) streams.push_back(stream_on(device.ordinal()));
  auto const parts = roc::split_to_devices(source, devices(3), 0, streams);
  auto const copies = roc::broadcast_to_devices(source, devices(3), streams);
  std::vector<int> gathered(1000);
  roc::gather(parts, gathered, 0, streams);
  synchronize(streams);
  EXPECT_EQ(source, gathered);
  for (auto const& copy : copies) EXPECT_EQ(source, contents(copy));
}

TEST(SplitToDevices, FlatHostMemoryTakesTheShapeOfTheParts) {
  auto const source = numbers(6 * 5);
  roc::device_array<int, 2> const left({6, 2});
  roc::device_array<int, 2> const right({6, 3});
  std::array const parts{left.view(), right.view()};
  roc::split_to_devices(source, parts, 1);
  auto const first_rows = left(roc::slice(0, 2), roc::all).ravel_copy();
  EXPECT_EQ((std::vector{0, 1, 5, 6}), contents(first_rows));
  std::vector<int> gathered(30);
  roc::gather(parts, gathered, 1);
  EXPECT_EQ(source, gathered);
  roc::broadcast(numbers(12), std::array{left.view()});
  EXPECT_EQ(numbers(12), contents(left.ravel()));
}

TEST(SplitToDevices, DefaultStreamIsThatOfThePart) {
  auto const source = numbers(3000);
  auto const parts =
      roc::split_to_devices(source, devices(3), 0, {roc::stream_ref(), roc::stream_ref(), {}});
  std::vector<int> gathered(3000);
  roc::gather(parts, gathered, 0, {roc::stream_ref(), {}, {}});
  for (auto const& device : devices(3)) device.synchronize();
  EXPECT_EQ(source, gathered);
}

TEST(SplitToDevices, PerThreadStreamsAreUsedByTheCallingThread) {
  std::size_t const count = std::size_t{1} << 19;
  auto const source = numbers(count);
  auto const stream = roc::per_thread_stream();
  roc::device const current;
  roc::scoped_options const scope({.copy_threads = 2});
  static std::thread::id caller;
  static std::atomic<int> calls_of_others;
  caller = std::this_thread::get_id();
  calls_of_others = 0;
  // The caller is slow, so that other threads would take copies if they could.
  auto const hook = roc::platform::set_call_hook([](roc::platform::call_record const& record) {
    if (std::string_view(record.name) != "hipMemcpyAsync") return;
    if (std::this_thread::get_id() != caller) ++calls_of_others;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  });
  std::vector<roc::device> const targets(8, current);
  std::vector<roc::stream_ref> const streams(8, stream);
  auto const parts = roc::split_to_devices(source, targets, 0, streams);
  std::vector<int> gathered(count);
  roc::gather(parts, gathered, 0, streams);
  stream.synchronize();
  roc::platform::set_call_hook(hook);
  EXPECT_EQ(source, gathered);
  EXPECT_EQ(0, calls_of_others);
}

TEST(Broadcast, NoDestinationsAreNoError) {
  EXPECT_NO_THROW(roc::broadcast(numbers(3), std::vector<roc::device_view<int>>()));
}

TEST(Broadcast, LargeArrayOnADeviceIsForwarded) {
  std::size_t const count = (std::size_t{7} << 20) + 5;
  auto const source = numbers(count);
  int const last = devices(4)[3].ordinal();
  roc::device_guard const guard{roc::device(last)};
  roc::host_array<int> pinned({count}, roc::order::c, roc::host_memory::pinned);
  std::copy(source.begin(), source.end(), pinned.data());
  auto const from = roc::to_device(pinned);
  for (bool const on_streams : {false, true}) {
    std::vector<roc::device_array<int>> copies;
    for (auto const& device : devices(7)) {
      copies.push_back(filled_array(device.ordinal(), count, -1));
    }
    auto const streams = streams_of(copies);
    if (on_streams) {
      roc::broadcast(from, copies, streams);
      synchronize(streams);
    } else {
      roc::broadcast(from, copies);
    }
    for (auto const& copy : copies) EXPECT_EQ(source, contents(copy));
  }
}

// The other devices get the data from the first one of the chain, not from the source.
TEST(Broadcast, DestinationsWaitForTheDeviceThatSendsToThem) {
  if (roc::device::count() < 4) GTEST_SKIP() << "needs four devices";
  std::size_t const count = std::size_t{7} << 20;
  auto const from = filled_array(0, count, 9);
  std::vector<roc::device_array<int>> copies;
  for (int const ordinal : {1, 2, 3}) copies.push_back(filled_array(ordinal, count, -1));
  auto const streams = streams_of(copies);
  auto const routes = roc::transfer::find_chain(0, std::array{1, 2, 3});
  ASSERT_NE(0u, roc::transfer::chain_slabs(count * sizeof(int), routes.hops));
  std::size_t const first = routes.order[0];
  roc::test::gate gate;
  gate.close(streams[first]);
  roc::broadcast(from, copies, streams);
  if (roc::test::run_mode() == roc::test::mode::threaded && roc::test::gate::holds()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (auto const& stream : streams) EXPECT_FALSE(stream.query());
  }
  gate.open();
  // A later fill comes after the copies from the destination.
  copies[first].fill(4, streams[first]);
  synchronize(streams);
  for (std::size_t i = 0; i != copies.size(); ++i) {
    EXPECT_EQ(std::vector<int>(count, i == first ? 4 : 9), contents(copies[i]));
  }
}

// A destination that others copy from is not overwritten before.
TEST(Broadcast, CallWithoutStreamComesAfterChainOnNonBlockingStreams) {
  if (roc::device::count() < 4) GTEST_SKIP() << "needs four devices";
  std::size_t const count = std::size_t{7} << 20;
  roc::device_array<int> source({count});
  source.fill(3);
  std::vector<roc::device_array<int>> copies;
  std::vector<roc::stream> streams;
  for (int device = 1; device < 4; ++device) {
    roc::device_guard const guard{roc::device(device)};
    copies.emplace_back(roc::shape<1>{count});
    streams.emplace_back(roc::non_blocking);
  }
  roc::broadcast(source, copies, streams);
  copies[0].fill(7);
  for (roc::stream const& stream : streams) stream.synchronize();
  EXPECT_EQ(std::vector<int>(count, 7), contents(copies[0]));
  EXPECT_EQ(std::vector<int>(count, 3), contents(copies[1]));
  EXPECT_EQ(std::vector<int>(count, 3), contents(copies[2]));
}

TEST(SplitToDevices, OnePartDoesNotWaitForTheStreamOfAnother) {
  auto const parts = roc::split_to_devices(numbers(4000), devices(2));
  auto const streams = streams_of(parts);
  roc::host_array<int> pinned({4000}, roc::order::c, roc::host_memory::pinned);
  std::fill_n(pinned.data(), 4000, 6);
  roc::test::gate gate;
  gate.close(streams[0]);
  roc::split_to_devices(pinned, parts, 0, streams);
  streams[1].synchronize();  // would block for ever
  gate.open();
  streams[0].synchronize();
  for (auto const& part : parts) EXPECT_EQ(std::vector<int>(2000, 6), contents(part));
}

TEST(SplitToDevices, CallWithoutStreamsComesAfterEarlierWork) {
  std::size_t const count = 4000;
  std::vector<roc::device_array<int>> parts;
  for (auto const& device : devices(4)) {
    parts.push_back(filled_array(device.ordinal(), count, 0));
  }
  roc::device_array<int> const whole({4 * count});
  roc::host_array<int> pinned({4 * count}, roc::order::c, roc::host_memory::pinned);
  for (bool const non_blocking : {false, true}) {
    std::vector<roc::stream> streams;
    for (auto const& part : parts) {
      roc::device_guard const guard{roc::device(part.device_ordinal())};
      streams.push_back(non_blocking ? roc::stream(roc::non_blocking) : roc::stream());
      part.fill(5 + non_blocking, streams.back());
    }
    roc::gather(parts, whole);
    for (auto const& part : parts) part.fill(1);
    std::vector<int> seen(4 * count);
    roc::copy(whole, seen);
    EXPECT_EQ(std::vector<int>(4 * count, 5 + non_blocking), seen);
    synchronize(streams);
  }
  std::fill_n(pinned.data(), pinned.size(), 8);
  roc::split_to_devices(pinned, parts);
  for (auto const& part : parts) EXPECT_EQ(std::vector<int>(count, 8), contents(part));
}

TEST(SplitToDevices, CapturedStreamsGetTheCopiesOfTheirParts) {
  roc::host_array<int> pinned({1000}, roc::order::c, roc::host_memory::pinned);
  std::fill_n(pinned.data(), 1000, 1);
  roc::device_array<int> const part({1000});
  roc::stream const stream;
  roc::graph_exec graph(roc::capture([&](roc::stream_ref captured) {
    roc::split_to_devices(pinned, std::array{part.view()}, 0, {captured});
  }));
  part.fill(0, stream);
  std::fill_n(pinned.data(), 1000, 2);
  graph.launch(stream);
  stream.synchronize();
  EXPECT_EQ(std::vector<int>(1000, 2), contents(part));
}

// The parts are large enough for worker threads. A part without elements needs no stream.
TEST(SplitToDevices, DefaultStreamsCannotBeUsedDuringCapture) {
  std::size_t const count = std::size_t{1} << 19;
  auto const source = numbers(2 * count);
  std::array const parts{filled_array(0, count, -1), filled_array(0, count, -1)};
  std::vector<int> const nothing;
  std::array const empty{roc::device_array<int>(roc::shape<1>{0})};
  auto const graph = roc::capture([&](roc::stream_ref) {
    roc::test::expect_error<roc::error>(
        [&] { roc::split_to_devices(source, parts, 0, {roc::stream_ref(), roc::stream_ref()}); },
        "work on the default stream cannot be captured");
    EXPECT_NO_THROW(roc::split_to_devices(nothing, empty, 0, {roc::stream_ref()}));
  });
  roc::graph_exec(graph).launch();
  for (auto const& part : parts) EXPECT_EQ(std::vector<int>(count, -1), contents(part));
}

TEST(Broadcast, ChainCannotBeCaptured) {
  if (roc::device::count() < 3) GTEST_SKIP() << "needs three devices";
  std::size_t const count = std::size_t{7} << 20;
  auto const from = filled_array(2, count, 3);
  std::array const copies{filled_array(0, count, -1), filled_array(1, count, -1)};
  roc::stream const other = stream_on(1);
  auto const graph = roc::capture([&](roc::stream_ref captured) {
    roc::test::expect_error<roc::error>([&] { roc::broadcast(from, copies, {captured, other}); },
                                        "a broadcast that devices forward to each other");
    roc::test::expect_error<roc::error>(
        [&] { roc::broadcast(from, copies, {roc::stream_ref(), other}); },
        "work on the default stream cannot be captured");
  });
  roc::graph_exec(graph).launch();
  for (auto const& copy : copies) EXPECT_EQ(std::vector<int>(count, -1), contents(copy));
}

TEST(SeveralDevicesErrors, ShapesMustFitTogether) {
  roc::device_array<int, 2> const whole({10, 5});
  roc::device_array<int, 2> const first({4, 5});
  roc::device_array<int, 2> const second({6, 5});
  roc::device_array<int, 2> const narrow({6, 4});
  using roc::test::expect_error;
  std::array const too_narrow{first.view(), narrow.view()};
  expect_error<roc::shape_error>([&] { roc::split_to_devices(whole, too_narrow); },
                                 "part 1 has shape (6, 4)");
  expect_error<roc::shape_error>([&] { roc::gather(too_narrow, whole); },
                                 "part 1 has shape (6, 4)");
  std::array const too_few{first.view()};
  expect_error<roc::shape_error>([&] { roc::split_to_devices(whole, too_few); },
                                 "the 1 parts have 4 indices of axis 0 in total");
  std::array const parts{first.view(), second.view()};
  expect_error<roc::shape_error>([&] { roc::split_to_devices(whole, parts, 1); },
                                 "part 0 has shape (4, 5)");
  expect_error<roc::shape_error>([&] { roc::gather(parts, whole, 2); },
                                 "axis 2 is out of bounds for an array of rank 2");
  expect_error<roc::shape_error>([&] { static_cast<void>(roc::gather_to_host(parts, 2)); },
                                 "axis 2 is out of bounds");
  expect_error<roc::shape_error>(
      [&] { static_cast<void>(roc::split_to_devices(whole, devices(2), 7)); },
      "axis 7 is out of bounds");
  expect_error<roc::shape_error>([&] { roc::broadcast(first, parts); },
                                 "destination 1 has shape (6, 5)");
  roc::device_array<int, 0> const scalar{roc::shape<0>{}};
  expect_error<roc::shape_error>(
      [&] { static_cast<void>(roc::split_to_devices(scalar, devices(1))); },
      "axis 0 is out of bounds for an array of rank 0");
  std::vector<int> flat(49);
  expect_error<roc::shape_error>([&] { roc::split_to_devices(flat, parts); }, "incompatible shape");
  expect_error<roc::shape_error>([&] { roc::split_to_devices(flat, parts, 2); },
                                 "axis 2 is out of bounds for an array of rank 2");
  expect_error<roc::shape_error>([&] { roc::gather(parts, flat, 2); },
                                 "axis 2 is out of bounds for an array of rank 2");
  std::vector<roc::device_view<int, 2>> const none;
  expect_error<roc::error>([&] { roc::split_to_devices(flat, none); },
                           "the list of parts is empty");
  expect_error<roc::error>([&] { roc::gather(none, flat); }, "the list of parts is empty");
  expect_error<roc::error>([&] { static_cast<void>(roc::gather_to_host(none)); },
                           "the list of parts is empty");
}

TEST(SeveralDevicesErrors, ListsMustNotBeEmpty) {
  using roc::test::expect_error;
  std::vector<int> const source(4);
  expect_error<roc::error>([&] { static_cast<void>(roc::split_to_devices(source, {}, 0)); },
                           "the list of devices is empty");
  expect_error<roc::error>([&] { static_cast<void>(roc::broadcast_to_devices(source, {})); },
                           "the list of devices is empty");
  std::vector<roc::device_view<int>> const none;
  expect_error<roc::error>([&] { roc::split_to_devices(std::vector<int>(), none); },
                           "the list of parts is empty");
  expect_error<roc::error>([&] { static_cast<void>(roc::gather_to_host(none)); },
                           "the list of parts is empty");
}

TEST(SeveralDevicesErrors, ThereMustBeAStreamForEachPart) {
  using roc::test::expect_error;
  auto const source = numbers(8);
  auto const parts = roc::split_to_devices(source, devices(2));
  roc::stream const stream;
  expect_error<roc::error>([&] { roc::split_to_devices(source, parts, 0, {stream}); },
                           "1 streams were given for 2 parts");
  expect_error<roc::error>(
      [&] { static_cast<void>(roc::split_to_devices(source, devices(3), 0, {stream})); },
      "1 streams were given for 3 parts");
  expect_error<roc::error>([&] { roc::broadcast(parts[0], parts, {stream}); },
                           "1 streams were given for 2 parts");
  roc::stream moved;
  roc::stream const taken = std::move(moved);
  expect_error<roc::lifetime_error>(
      [&] { roc::split_to_devices(source, parts, 0, {taken, moved}); }, "moved from");
  if (roc::device::count() < 2) return;
  expect_error<roc::error>([&] { roc::split_to_devices(source, parts, 0, {stream, stream}); },
                           "stream 1 is on device 0, but part 1 is on device 1");
  expect_error<roc::error>(
      [&] { static_cast<void>(roc::broadcast_to_devices(source, devices(2), {stream, stream})); },
      "stream 1 is on device 0, but part 1 is on device 1");
}

TEST(SeveralDevicesErrors, OverlapIsFound) {
  using roc::test::expect_error;
  roc::device_array<int> const memory({100});
  memory.fill(1);
  auto const range = [&](std::ptrdiff_t first, std::ptrdiff_t end) {
    return memory(roc::slice(first, end));
  };
  std::vector<int> const source(20);
  expect_error<roc::overlap_error>(
      [&] { roc::split_to_devices(source, std::array{range(0, 10), range(9, 19)}); },
      "part 0 and part 1 overlap");
  // Part 1 overlaps what part 0 is copied from.
  expect_error<roc::overlap_error>(
      [&] { roc::split_to_devices(range(0, 20), std::array{range(40, 50), range(5, 15)}); },
      "overlap");
  expect_error<roc::overlap_error>(
      [&] { roc::split_to_devices(range(0, 20), std::array{range(40, 50), range(0, 10)}); },
      "part 1 and the source overlap");
  expect_error<roc::overlap_error>(
      [&] { roc::gather(std::array{range(40, 50), range(0, 10)}, range(0, 20)); },
      "part 1 and the destination overlap");
  expect_error<roc::overlap_error>(
      [&] { roc::broadcast(range(0, 20), std::array{range(40, 60), range(50, 70)}); },
      "destination 0 and destination 1 overlap");
  expect_error<roc::overlap_error>(
      [&] { roc::broadcast(range(0, 20), std::array{range(40, 60), range(10, 30)}); }, "overlap");
  EXPECT_EQ(std::vector<int>(100, 1), contents(memory)) << "nothing was copied";
  // Sources may overlap.
  std::vector<int> seen(20);
  roc::gather(std::array{range(0, 10), range(5, 15)}, seen);
  EXPECT_EQ(std::vector<int>(20, 1), seen);
}

TEST(SeveralDevicesErrors, DestinationMustNotOverlapItself) {
  std::vector<int> memory(10);
  roc::host_view<int, 2> const aliased(memory.data(), {4, 2}, roc::strides<2>{0, 1});
  roc::device_array<int, 2> const part({2, 2});
  EXPECT_THROW(roc::gather(std::array{part.view(), part.view()}, aliased), roc::layout_error);
}

TEST(SeveralDevicesErrors, MovedFromArraysAreRefused) {
  auto parts = roc::split_to_devices(numbers(8), devices(2));
  auto const moved = std::move(parts[1]);
  EXPECT_THROW(static_cast<void>(roc::gather_to_host(parts)), roc::lifetime_error);
  EXPECT_THROW(roc::broadcast(moved, parts), roc::lifetime_error);
}

TEST(SeveralDevicesErrors, ErrorInAThreadNamesTheCall) {
  roc::scoped_options const scope({.copy_threads = 2});
  auto const source = numbers(std::size_t{1} << 19);
  auto const parts = roc::split_to_devices(source, devices(4));
  // Fails in the thread of one of the copies, which wait for their events.
  ASSERT_TRUE(roc::platform::fail_call("hipMemcpyAsync", 1, hipErrorLaunchFailure));
  roc::test::expect_error<roc::error>([&] { roc::split_to_devices(source, parts); },
                                      "split_to_devices at several_devices_copy_test.cpp");
  roc::platform::clear_failures();
  EXPECT_NO_THROW(roc::split_to_devices(source, parts));
}

TEST(BroadcastChain, EachDeviceSendsToOneOtherAtMost) {
  if (roc::device::count() < 4) GTEST_SKIP() << "needs four devices";
  using roc::transfer::broadcast_routes;
  std::vector<int> const destinations{3, 0, 1, 3, 2, 1};
  auto const routes = roc::transfer::find_chain(2, destinations);
  EXPECT_EQ(3u, routes.hops);
  ASSERT_EQ(destinations.size(), routes.order.size());
  ASSERT_EQ(destinations.size(), routes.parents.size());
  std::vector<int> sends(4, 0);
  std::vector<int> receives(4, 0);
  std::vector<bool> has_data(destinations.size(), false);
  for (std::size_t const i : routes.order) {
    std::size_t const parent = routes.parents[i];
    bool const from_source = parent == broadcast_routes::source;
    ASSERT_TRUE(from_source || has_data[parent]) << "a destination comes after its parent";
    has_data[i] = true;
    int const sender = from_source ? 2 : destinations[parent];
    if (sender == destinations[i]) continue;
    ++sends[static_cast<std::size_t>(sender)];
    ++receives[static_cast<std::size_t>(destinations[i])];
  }
  EXPECT_EQ((std::vector{1, 1, 0, 1}), receives);
  EXPECT_EQ(3, std::accumulate(sends.begin(), sends.end(), 0));
  EXPECT_EQ(1, *std::max_element(sends.begin(), sends.end()));
  EXPECT_EQ(1, sends[2]);
}

TEST(BroadcastChain, EachDeviceSendsToOneThatItCanAccessIfThereIsOne) {
  if (roc::device::count() < 4) GTEST_SKIP() << "needs four devices";
  for (auto const& destinations : {std::vector{2, 1, 3}, std::vector{3, 2, 1}}) {
    auto const routes = roc::transfer::find_chain(0, destinations);
    std::vector<int> remaining = destinations;
    int sender = 0;
    for (std::size_t const i : routes.order) {
      int const receiver = destinations[i];
      auto const can_access = [&](int to) {
        return roc::device(sender).can_access(roc::device(to));
      };
      EXPECT_EQ(std::any_of(remaining.begin(), remaining.end(), can_access), can_access(receiver))
          << sender << " sends to " << receiver;
      std::erase(remaining, receiver);
      sender = receiver;
    }
  }
}

TEST(BroadcastChain, IsUsedIfItIsFasterThanDirectCopies) {
  using roc::transfer::chain_slabs;
  constexpr std::size_t gigabyte = std::size_t{1} << 30;
  EXPECT_EQ(0u, chain_slabs(gigabyte, 0));
  EXPECT_EQ(0u, chain_slabs(gigabyte, 1));
  EXPECT_EQ(0u, chain_slabs(1, 7));
  EXPECT_EQ(0u, chain_slabs(std::size_t{16} << 20, 2));
  EXPECT_EQ(0u, chain_slabs(std::size_t{16} << 20, 3));
  EXPECT_NE(0u, chain_slabs(std::size_t{28} << 20, 2));
  EXPECT_NE(0u, chain_slabs(std::size_t{28} << 20, 3));
  // The number with which a chain is fastest, if each copy costs as much as 6 MiB.
  EXPECT_EQ(13u, chain_slabs(gigabyte, 2));
  EXPECT_EQ(18u, chain_slabs(gigabyte, 3));
  EXPECT_EQ(36u, chain_slabs(4 * gigabyte, 3));
  EXPECT_EQ(64u, chain_slabs(64 * gigabyte, 3));
}

}  // namespace
