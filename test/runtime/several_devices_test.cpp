// SPDX-License-Identifier: MIT
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <numeric>
#include <string_view>
#include <thread>
#include <vector>

#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

// Returns 0, 1, ..., n - 1.
std::vector<int> numbers(std::size_t n) {
  std::vector<int> result(n);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

// Returns the elements of an array.
std::vector<int> to_vector(roc::device_array<int> const& array) {
  auto const host = array.copy_to_host();
  return {host.begin(), host.end()};
}

TEST(SeveralDevices, ArrayStaysOnTheDeviceWhereItWasCreated) {
  ASSERT_EQ(3, roc::device::count());
  auto const host = numbers(1000);
  roc::device_array<int> array;
  {
    roc::device_guard const guard{roc::device(2)};
    array = roc::to_device(host);
  }
  EXPECT_EQ(2, array.device_ordinal());
  EXPECT_EQ(0, roc::device().ordinal());
  std::vector<int> back(host.size());
  array.copy_to_host(back);  // another device is current
  EXPECT_EQ(host, back);
  EXPECT_EQ(0, roc::device().ordinal());
}

TEST(SeveralDevices, ArrayIsCreatedOnTheDeviceOfItsStream) {
  roc::device_guard const guard{roc::device(1)};
  roc::stream const stream;
  roc::device(0).make_current();
  auto const host = numbers(64);
  auto const array = roc::to_device(host, stream);
  stream.synchronize();
  EXPECT_EQ(1, array.device_ordinal());
  std::vector<int> back(host.size());
  array.copy_to_host(back);
  EXPECT_EQ(host, back);
}

TEST(SeveralDevices, PerThreadStreamBelongsToTheDeviceThatWasCurrent) {
  roc::device_array<int> array;
  roc::stream_ref stream;
  {
    roc::device_guard const guard{roc::device(1)};
    array = roc::device_array<int>({100});
    stream = roc::per_thread_stream();
  }
  EXPECT_EQ(1, stream.device_ordinal());
  array.fill(6, stream);
  bool done = false;
  stream.launch_host_function([&] { done = true; });
  roc::event reached;
  {
    roc::device_guard const guard{roc::device(1)};
    reached = roc::event();
  }
  reached.record(stream);  // device 0 is current
  stream.synchronize();
  EXPECT_TRUE(done);
  EXPECT_TRUE(reached.query());
  EXPECT_EQ(0, roc::device().ordinal());
  EXPECT_EQ(6, array.copy_to_host()(99));
}

// If events do not outlive their streams, the event is recorded on an internal stream, which must
// be on device 1.
TEST(SeveralDevices, EventIsRecordedOnAForeignStreamOfADeviceThatIsNotCurrent) {
  roc::device(1).make_current();
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  auto const stream = roc::from_native(native);
  roc::device_array<int> const array({100});
  roc::event reached;
  roc::device(0).make_current();
  for (int round = 0; round < 2; ++round) {
    bool done = false;
    stream.launch_host_function([&] { done = true; });
    reached.record(stream);
    reached.synchronize();
    EXPECT_TRUE(done);
    EXPECT_EQ(round, roc::device().ordinal());
    array.fill(round, stream);  // its use is an event too
    roc::device(1).make_current();
  }
  EXPECT_EQ(1, array.copy_to_host()(99));
  roc::device(0).make_current();
  stream.synchronize();
  ROCARRAY_HIP(hipStreamDestroy, native);
}

TEST(SeveralDevices, HostFunctionExceptionIsRethrownOnItsDeviceOnly) {
  roc::stream_ref().launch_host_function([] { throw 1; });
  {
    roc::device_guard const guard{roc::device(1)};
    EXPECT_NO_THROW(roc::stream_ref().synchronize());
    EXPECT_NO_THROW(roc::device().synchronize());
  }
  EXPECT_THROW(roc::stream_ref().synchronize(), int);
}

TEST(SeveralDevices, CanAccessPeerIsTrueForOtherDevices) {
  EXPECT_TRUE(roc::device(0).can_access_peer(roc::device(2)));
  EXPECT_FALSE(roc::device(1).can_access_peer(roc::device(1)));
}

TEST(SeveralDevices, CanAccessIsTrueForTheDeviceItselfToo) {
  EXPECT_TRUE(roc::device(0).can_access(roc::device(2)));
  EXPECT_TRUE(roc::device(1).can_access(roc::device(1)));
}

TEST(SeveralDevices, LinkDescribesTheConnection) {
  roc::peer_link const link = roc::device(2).link_to(roc::device(0));
  EXPECT_EQ((roc::peer_link{.type = roc::peer_link_type::gpu_fabric,
                            .hops = 1,
                            .performance_rank = 0,
                            .has_access = true,
                            .has_native_atomics = true}),
            link);
  EXPECT_EQ((roc::peer_link{.has_access = true}), roc::device(2).link_to(roc::device(2)));
}

// As on NVIDIA, whose runtime does not tell it.
TEST(SeveralDevices, TypeOfLinkFollowsFromAtomicsIfTheRuntimeDoesNotTellIt) {
  roc::platform::fail_call("hipExtGetLinkTypeAndHopCount", 1, hipErrorNotSupported);
  roc::peer_link const link = roc::device(0).link_to(roc::device(1));
  EXPECT_EQ(roc::peer_link_type::gpu_fabric, link.type);
  EXPECT_EQ(0, link.hops);
  roc::platform::fail_call("hipExtGetLinkTypeAndHopCount", 1, hipErrorLaunchFailure);
  EXPECT_THROW(static_cast<void>(roc::device(0).link_to(roc::device(1))), roc::error);
}

TEST(SeveralDevices, KernelAccessesMemoryOfAPeerAfterAccessIsEnabled) {
  roc::device_array<int> there;
  {
    roc::device_guard const guard{roc::device(1)};
    there = roc::device_array<int>({100});
  }
  roc::device(0).enable_access(roc::device(1));
  roc::device(0).enable_access(roc::device(1));  // again
  roc::stream const stream;
  auto const view = there.view();
  roc::for_each(stream, roc::shape<1>{100},
                [view](std::size_t i) { view(i) = static_cast<int>(i); });
  stream.synchronize();
  EXPECT_EQ(99, there(99).get());
}

TEST(SeveralDevices, DeviceGuardRestoresDuringUnwinding) {
  try {
    roc::device_guard const guard{roc::device(2)};
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(0, roc::device().ordinal());
}

TEST(SeveralDevices, CopyBetweenDevicesKeepsTheElements) {
  auto const host = numbers(500);
  auto const first = roc::to_device(host);
  roc::device_guard const guard{roc::device(1)};
  auto second = roc::device_array_like(first);
  EXPECT_EQ(1, second.device_ordinal());
  second.copy_to_device(first);
  std::vector<int> back(host.size());
  second.copy_to_host(back);
  EXPECT_EQ(host, back);
}

TEST(SeveralDevices, CopyBetweenDevicesWaitsForTheSourceDevice) {
  auto const host = numbers(500);
  roc::device_array<int> const first({500});
  roc::stream const stream;
  first.copy_to_device(host, stream);
  roc::device_guard const guard{roc::device(1)};
  roc::device_array<int> const second({500});
  second.copy_to_device(first);
  auto const back = second.copy_to_host();
  EXPECT_TRUE(std::equal(host.begin(), host.end(), back.begin()));
}

TEST(SeveralDevices, StreamOfAnotherDeviceThrowsError) {
  roc::device_array<int> const array({500});
  std::vector<int> host(500);
  roc::device_guard const guard{roc::device(1)};
  roc::stream const stream;
  EXPECT_THROW(array.copy_to_host(host, stream), roc::error);
  EXPECT_THROW(array.copy_to_host(host, roc::stream_ref()), roc::error);
}

// The default stream depends on the current device. The copy of an array on another device must use
// that device's default stream, and not remember the current one's.
TEST(SeveralDevices, CopyOfAnArrayIsOnTheDeviceOfTheArray) {
  roc::device_array<int, 2> array;
  {
    roc::device_guard const guard{roc::device(1)};
    array = roc::device_array<int, 2>({4, 5});
  }
  array.fill(7);
  auto const flat = array.transpose().ravel_copy();
  EXPECT_EQ(1, flat.device_ordinal());
  EXPECT_EQ(roc::stream_ref(), flat.stream());
  EXPECT_EQ(7, flat(19).get());
}

TEST(SeveralDevices, FinalizerRunsAfterWorkOnAllDevices) {
  roc::device_array<int> target;
  std::vector<int> const host = numbers(1000);
  {
    roc::device_guard const guard{roc::device(1)};
    target = roc::device_array<int>({1000});
    roc::stream const stream;
    roc::device(0).make_current();
    roc::hip_memory_resource direct;
    roc::device_array<int> memory({1000}, direct);
    memory.copy_to_device(host);
    auto const source = roc::adopt(memory.release(), roc::shape<1>{1000}, [](void* data) {
      // Reuses the memory at once.
      roc::device_view<int>(static_cast<int*>(data), {1000}, roc::order::c, 0).fill(-1);
    });
    roc::copy(source, target, stream);
  }
  EXPECT_EQ(999, target(999).get());
}

TEST(SeveralDevices, HostMemoryCanBeFilledOnAStreamOfAnyDevice) {
  std::vector<int> host(100);
  roc::device_guard const guard{roc::device(1)};
  roc::stream const stream;
  roc::device(0).make_current();
  roc::fill(host, 3, stream);
  std::vector<int> other(100);
  roc::copy(host, other, stream);
  stream.synchronize();
  EXPECT_EQ(3, host[99]);
}

// A stream of device 1, whose work waits until the gate is opened, and an array on that device.
struct pending_work {
  pending_work() {
    roc::device_guard const guard{roc::device(1)};
    stream = roc::stream();
    array = roc::to_device(numbers(1000));
    hold.close(stream);
  }

  // Opens the gate after a while, in another thread.
  std::thread open_later() {
    return std::thread([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      hold.open();
    });
  }

  roc::stream stream;
  roc::device_array<int> array;
  roc::test::gate hold;
};

struct named_call {
  char const* name;
  std::function<void()> call;
};

// Calls without a stream come after pending uses of their host memory on any device.
TEST(SeveralDevices, CallWithoutStreamOverwritesHostMemoryAfterItWasRead) {
  auto pinned = roc::pinned_array<int>(1000);
  std::vector<int> const ones(1000, 1);
  auto const other = roc::to_device(ones);
  std::vector const parts{other(roc::slice(0, 500)), other(roc::slice(500, 1000))};
  roc::graph_exec graph(
      roc::capture([&](roc::stream_ref stream) { roc::copy(other, pinned, stream); }));
  named_call const calls[] = {{"zero", [&] { pinned.zero(); }},
                              {"copy from the host", [&] { roc::copy(ones, pinned); }},
                              {"copy from a device", [&] { roc::copy(other, pinned); }},
                              {"gather", [&] { roc::gather(parts, pinned); }},
                              {"launch of a graph", [&] { graph.launch(); }},
                              {"batch",
                               [&] {
                                 roc::copy_batch batch;
                                 batch.add(other, pinned);
                                 batch.submit();
                               }},
                              {"map", [&] {
                                 auto const mapping = roc::map(pinned, roc::access::write);
                                 for (std::size_t i = 0; i < pinned.size(); ++i) mapping(i) = 0;
                               }}};
  for (auto const& [name, call] : calls) {
    pinned.fill(7);
    pending_work work;
    roc::copy(pinned, work.array, work.stream);
    std::thread opener = work.open_later();
    call();
    opener.join();
    work.stream.synchronize();
    EXPECT_EQ(std::vector<int>(1000, 7), to_vector(work.array)) << name;
  }
}

TEST(SeveralDevices, CallWithoutStreamReadsHostMemoryAfterItWasWritten) {
  auto pinned = roc::pinned_array<int>(1000);
  std::vector<int> pageable(1000);
  std::vector<int> result(1000);
  auto const target = roc::device_array<int>({1000});
  std::vector const targets{target.view()};
  std::vector const halves{target(roc::slice(0, 500)), target(roc::slice(500, 1000))};
  roc::graph_exec graph(
      roc::capture([&](roc::stream_ref stream) { roc::copy(pinned, target, stream); }));
  for (bool const is_pinned : {true, false}) {
    auto const host = is_pinned ? roc::host_view<int>(pinned) : roc::host_view<int>(pageable);
    auto const read_back = [&] { result = to_vector(target); };
    named_call const calls[] = {{"copy to the host", [&] { roc::copy(host, result); }},
                                {"copy to a device",
                                 [&] {
                                   roc::copy(host, target);
                                   read_back();
                                 }},
                                {"broadcast",
                                 [&] {
                                   roc::broadcast(host, targets);
                                   read_back();
                                 }},
                                {"split_to_devices",
                                 [&] {
                                   roc::split_to_devices(host, halves);
                                   read_back();
                                 }},
                                {"batch",
                                 [&] {
                                   roc::copy_batch batch;
                                   batch.add(host, target);
                                   batch.submit();
                                   read_back();
                                 }},
                                {"map",
                                 [&] {
                                   auto const mapping = roc::map(host, roc::access::read);
                                   for (std::size_t i = 0; i < host.size(); ++i) {
                                     result[i] = mapping(i);
                                   }
                                 }},
                                {"launch of a graph", [&] {
                                   if (!is_pinned) return roc::copy(host, result);
                                   graph.launch();
                                   read_back();
                                 }}};
    for (auto const& [name, call] : calls) {
      host.fill(7);
      target.fill(0);
      pending_work work;
      roc::copy(work.array, host, work.stream);
      std::thread opener = work.open_later();
      call();
      opener.join();
      work.stream.synchronize();
      EXPECT_EQ(numbers(1000), result) << name << (is_pinned ? ", pinned" : ", pageable");
    }
  }
}

// Memory of the program that the CPU and devices may access at the same address.
TEST(SeveralDevices, BatchWithoutStreamReadsUntrackedMemoryAfterItWasWritten) {
  int* managed = nullptr;
  ROCARRAY_HIP(hipMallocManaged, reinterpret_cast<void**>(&managed), 1000 * sizeof(int),
               hipMemAttachGlobal);
  roc::memory_view<int, 1> const memory(managed, {1000});
  roc::zero(memory);
  auto const target = roc::device_array<int>({1000});
  {
    pending_work work;
    roc::copy(work.array, memory, work.stream);
    std::thread opener = work.open_later();
    roc::copy_batch batch;
    batch.add(memory, target);
    batch.submit();
    opener.join();
    work.stream.synchronize();
  }
  EXPECT_EQ(numbers(1000), to_vector(target));
  ROCARRAY_HIP(hipFree, managed);
}

// Only calls of the thread itself: threads that the library has just started set their device.
thread_local int device_calls = 0;

// Copy engines accept a stream of any device; kernels need its device to be current.
TEST(SeveralDevices, SmallCopyOnAStreamDoesNotCallGetOrSetDevice) {
  roc::device_guard const guard{roc::device(1)};
  roc::stream const stream;
  roc::device_array<int> array(roc::shape<1>{1000}, roc::order::c, stream);
  auto const host = numbers(1000);
  auto pinned = roc::pinned_array<int>(1000);
  std::copy(host.begin(), host.end(), pinned.begin());
  roc::device(0).make_current();
  for (int i = 0; i < 2; ++i) roc::copy(pinned, array, stream);  // first uses may query the device
  auto const previous_hook =
      roc::platform::set_call_hook([](roc::platform::call_record const& record) {
        std::string_view const name = record.name;
        if (name == "hipGetDevice" || name == "hipSetDevice") ++device_calls;
      });
  roc::copy(pinned, array, stream);
  roc::copy(array, pinned, stream);
  EXPECT_EQ(0, device_calls);
  roc::platform::set_call_hook(previous_hook);
  EXPECT_EQ(0, roc::device().ordinal());
}

TEST(SeveralDevices, CopyWorksOnAStreamOfADeviceThatIsNotCurrent) {
  roc::device_guard const guard{roc::device(1)};
  roc::stream const stream;
  roc::stream_ref const per_thread = roc::per_thread_stream();
  roc::device_array<int> const array(roc::shape<1>{1000}, roc::order::c, stream);
  roc::device(0).make_current();
  auto pinned = roc::pinned_array<int>(1000);
  auto back = roc::pinned_array<int>(1000);
  auto const host = numbers(1000);
  std::copy(host.begin(), host.end(), pinned.begin());
  for (auto const ref : {roc::stream_ref(stream), per_thread}) {
    std::fill(back.begin(), back.end(), 0);
    roc::copy(pinned, array, ref);
    roc::copy(array, back, ref);
    ref.synchronize();
    EXPECT_EQ(host, std::vector<int>(back.begin(), back.end()));
    std::fill(back.begin(), back.end(), 0);
    roc::copy(host, array, ref, roc::borrow_source);
    roc::copy(array(roc::slice(roc::none, roc::none, -1)), back, ref);
    ref.synchronize();
    EXPECT_EQ(host, std::vector<int>(std::make_reverse_iterator(back.end()),
                                     std::make_reverse_iterator(back.begin())));
    EXPECT_EQ(0, roc::device().ordinal());
  }
}

// Otherwise later work would be enqueued on the wrong device.
TEST(DeviceGuard, RestoresTheDeviceAfterATransientFailure) {
  roc::device(0).make_current();
  {
    roc::device_guard const current(roc::device(1));
    ASSERT_TRUE(roc::platform::fail_call("hipSetDevice", 1, hipErrorUnknown));
  }
  roc::platform::clear_failures();
  EXPECT_EQ(0, roc::device().ordinal());
}

}  // namespace
