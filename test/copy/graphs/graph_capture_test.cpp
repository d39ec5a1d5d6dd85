// SPDX-License-Identifier: MIT
// What can be captured moves the current bytes at each launch: the rows of the guide's table.
#include "copy/graphs/support.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include <roc/native.hpp>

#include "memory/device/graph_memory.hpp"
#include "platform/call.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"

namespace {

using namespace roc::test;

using GraphCapture = roc::test::graph_fixture;

TEST_F(GraphCapture, ContiguousCopiesOfPinnedMemory) {
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    other.copy_to_device(device, stream);
    other.copy_to_host(output, stream);
  });
  expect_output_is_input(executable);
}

// HIP refuses to wait for a device while a graph is captured, so that work of other code may be
// pending after the library's wait.
TEST_F(GraphCapture, WaitDuringACaptureDoesNotRecoverAbandonedWork) {
  roc::runtime::abandoned_waits.fetch_add(1);
  bool has_recovered = true;
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    has_recovered = roc::runtime::wait_for_abandoned_work();
    device.copy_to_host(output, stream);
  });
  EXPECT_FALSE(has_recovered);
  EXPECT_TRUE(roc::runtime::has_abandoned_work());
  EXPECT_TRUE(roc::runtime::wait_for_abandoned_work());
  EXPECT_FALSE(roc::runtime::has_abandoned_work());
  expect_output_is_input(executable);
}

TEST_F(GraphCapture, StridedCopiesOnTheDevice) {
  auto turned = roc::device_array<int, 2>({columns, rows});
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    turned.copy_to_device(device.transpose(), stream);
    other.transpose().copy_to_device(turned, stream);
    other.copy_to_host(output, stream);
  });
  expect_output_is_input(executable);
}

TEST_F(GraphCapture, RowsOfPinnedMemoryByTheCopyEngines) {
  auto const upload = roc::options{.memcpy2d_min_row = 1};
  roc::scoped_options const engines(upload);
  auto wide = roc::device_array<int, 2>({rows, 2 * columns});
  auto part = wide(roc::all, roc::slice(columns, roc::none));
  auto executable = captured([&](roc::stream_ref stream) {
    part.copy_to_device(input, stream);
    part.copy_to_host(output, stream);
  });
  expect_output_is_input(executable);
}

#if ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS
TEST_F(GraphCapture, PackedCopiesOfPinnedMemory) {
  auto wide = roc::device_array<int, 2>({2 * rows, 2 * columns});
  auto part = wide(roc::slice(0, roc::none, 2), roc::slice(0, roc::none, 2));
  auto executable = captured([&](roc::stream_ref stream) {
    part.copy_to_device(input, stream);
    device.transpose().copy_to_device(other.transpose(), stream);
    part.copy_to_host(output, stream);
  });
  expect_output_is_input(executable);
}

TEST_F(GraphCapture, PackedCopiesOfStridedPinnedMemory) {
  auto turned = roc::device_array<int, 2>({columns, rows});
  auto const source = roc::host_view<int const, 2>(input.data(), {columns, rows},
                                                   roc::strides<2>{1, std::ptrdiff_t{columns}});
  auto const target = roc::host_view<int, 2>(output.data(), {columns, rows},
                                             roc::strides<2>{1, std::ptrdiff_t{columns}});
  auto executable = captured([&](roc::stream_ref stream) {
    turned.copy_to_device(source, stream);
    turned.copy_to_host(target, stream);
  });
  expect_output_is_input(executable);
}
#endif

TEST_F(GraphCapture, RegisteredMemory) {
  std::vector<int> source(rows * columns);
  std::vector<int> target(source.size());
  auto const registered = roc::register_host(source, target);
  auto flat = roc::device_array<int, 1>({source.size()});
  auto executable = captured([&](roc::stream_ref stream) {
    flat.copy_to_device(source, stream);
    flat.copy_to_host(target, stream);
  });
  launch_repeatedly(
      executable, [&](int round) { std::iota(source.begin(), source.end(), round); },
      [&] { EXPECT_EQ(source, target); });
}

TEST_F(GraphCapture, MappedMemory) {
  auto mapped = roc::mapped_array<int>(roc::shape<2>{rows, columns});
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(mapped, stream);
    device.copy_to_host(output, stream);
  });
  launch_repeatedly(
      executable, [&](int round) { renew(mapped, round); },
      [&] { EXPECT_EQ(values(mapped), values(output)); });
}

TEST_F(GraphCapture, ManagedMemory) {
  std::optional<pinned<2>> managed;
  try {
    managed.emplace(roc::managed_array<int>(roc::shape<2>{rows, columns}));
  } catch (roc::error const& error) {
    GTEST_SKIP() << "no managed memory: " << error.what();
  }
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    device.copy_to_host(*managed, stream);
  });
  launch_repeatedly(
      executable, [&](int round) { renew(input, round); },
      [&] { EXPECT_EQ(values(input), values(*managed)); });
}

TEST_F(GraphCapture, MemoryThatOtherCodeHasPinned) {
  std::size_t const count = input.size();
  void* data = nullptr;
  ROCARRAY_HIP(hipHostMalloc, &data, count * sizeof(int), 0);
  auto* const numbers = static_cast<int*>(data);
  {
    auto flat = roc::device_array<int, 1>({count});
    auto executable = captured([&](roc::stream_ref stream) {
      roc::copy(roc::memory_view(numbers, roc::shape<1>{count}), flat, stream);
      roc::copy(flat, roc::host_view<int, 1>(output.data(), {count}), stream);
    });
    launch_repeatedly(
        executable, [&](int round) { std::iota(numbers, numbers + count, round); },
        [&] { EXPECT_EQ(std::vector<int>(numbers, numbers + count), values(output)); });
  }
  ROCARRAY_HIP(hipHostFree, data);
}

TEST_F(GraphCapture, ContiguousCopiesBetweenDevices) {
  if (roc::device::count() < 2) GTEST_SKIP() << "there is one device";
  std::optional<roc::device_array<int, 2>> there;
  {
    roc::device_guard const second{roc::device(1)};
    there.emplace(roc::shape<2>{rows, columns});
  }
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(*there, stream);
    device.copy_to_host(output, stream);
  });
  launch_repeatedly(
      executable, [&](int round) { there->fill(round); },
      [&] { EXPECT_EQ(values(there->copy_to_host()), values(output)); });
}

TEST_F(GraphCapture, BatchThatCopiesToAnotherDevice) {
  if (roc::device::count() < 2) GTEST_SKIP() << "there is one device";
  std::optional<roc::device_array<int, 2>> there;
  {
    roc::device_guard const second{roc::device(1)};
    there.emplace(roc::shape<2>{rows, columns});
  }
  // The stream is one of the first device, which does not execute the copy.
  auto executable = captured([&](roc::stream_ref stream) {
    roc::copy_batch batch;
    batch.add(device, *there);
    batch.submit(stream);
  });
  launch_repeatedly(
      executable, [&](int round) { device.fill(round); },
      [&] { EXPECT_EQ(values(device.copy_to_host()), values(there->copy_to_host())); });
}

TEST_F(GraphCapture, StridedCopiesBetweenDevicesWithPeerAccess) {
  if (roc::device::count() < 2) GTEST_SKIP() << "there is one device";
  if (!roc::device(0).can_access(roc::device(1))) GTEST_SKIP() << "the devices are not connected";
  std::optional<roc::device_array<int, 2>> there;
  {
    roc::device_guard const second{roc::device(1)};
    there.emplace(roc::shape<2>{columns, rows});
  }
  roc::device(0).enable_access(roc::device(1));
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(there->transpose(), stream);
    device.copy_to_host(output, stream);
  });
  launch_repeatedly(
      executable,
      [&](int round) {
        there->fill(round);
        there->view()(3, 5).fill(-round);
      },
      [&] {
        EXPECT_EQ(there->view()(0, 0).get(), output(0, 0));
        EXPECT_EQ(there->view()(3, 5).get(), output(5, 3));
      });
}

#if ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS
TEST_F(GraphCapture, CopiesBetweenPinnedMemories) {
  auto executable = captured([&](roc::stream_ref stream) { roc::copy(input, output, stream); });
  expect_output_is_input(executable);
}
#endif

TEST_F(GraphCapture, MemcpyOfRawPointers) {
  std::size_t const bytes = input.size() * sizeof(int);
  auto executable = captured([&](roc::stream_ref stream) {
    roc::memcpy(device.data(), input.data(), bytes, stream);
    roc::memcpy(output.data(), device.data(), bytes, stream);
  });
  expect_output_is_input(executable);
}

#if ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS
TEST_F(GraphCapture, Memcpy2dAndMemcpy3d) {
  constexpr std::size_t row = columns * sizeof(int);
  constexpr std::size_t planes = 4;
  constexpr std::size_t height = rows / planes;
  auto const wide = roc::device_array<int, 2>({rows, 2 * columns});
  auto const boxes = roc::device_array<int, 3>({planes, height + 3, columns + 5});
  hipMemcpy3DParms to_boxes{};
  to_boxes.srcPtr = {device.data(), row, row, height};
  to_boxes.dstPtr = {boxes.data(), row + 5 * sizeof(int), row + 5 * sizeof(int), height + 3};
  to_boxes.extent = {row, height, planes};
  to_boxes.kind = hipMemcpyDefault;
  hipMemcpy3DParms from_boxes = to_boxes;
  from_boxes.srcPtr = to_boxes.dstPtr;
  from_boxes.dstPtr = {output.data(), row, row, height};
  auto executable = captured([&](roc::stream_ref stream) {
    roc::memcpy_2d(wide.data(), 2 * row, input.data(), row, row, rows, stream);
    roc::memcpy_2d(device.data(), row, wide.data(), 2 * row, row, rows, stream);
    roc::memcpy_3d(to_boxes, stream);
    roc::memcpy_3d(from_boxes, stream);
  });
  expect_output_is_input(executable);
}
#endif

TEST_F(GraphCapture, CallsOfHipOnTheNativeStream) {
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    hipStream_t const native = roc::native(stream);
    void* const first_row = device.data();
    ROCARRAY_HIP(hipMemsetAsync, first_row, 0, columns * sizeof(int), native);
    device.copy_to_host(output, stream);
  });
  launch_repeatedly(
      executable, [&](int round) { renew(input, round + 1); },
      [&] {
        EXPECT_EQ(0, output(0, 3));
        EXPECT_EQ(input(1, 3), output(1, 3));
      });
}

#if ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS
TEST_F(GraphCapture, FillsOfAnyLayout) {
  auto executable = captured([&](roc::stream_ref stream) {
    device.zero(stream);
    device(roc::all, roc::slice(0, roc::none, 2)).fill(7, stream);
    device.copy_to_host(output, stream);
    roc::fill(output.view(), 3, stream);
    device(roc::all, 1)
        .copy_to_host(
            roc::host_view<int, 1>(output.data(), {rows}, roc::strides<1>{std::ptrdiff_t{columns}}),
            stream);
  });
  launch_repeatedly(
      executable, [&](int round) { device.fill(round); },
      [&] {
        EXPECT_EQ(0, output(1, 0));
        EXPECT_EQ(3, output(1, 1));
        auto const result = device.copy_to_host();
        EXPECT_EQ(7, result(2, 2));
        EXPECT_EQ(0, result(2, 3));
      });
}

TEST_F(GraphCapture, Batches) {
  std::vector<pinned<1>> sources;
  std::vector<pinned<1>> targets;
  std::vector<roc::device_array<int, 1>> arrays;
  for (std::size_t i = 0; i != 20; ++i) {
    sources.push_back(roc::pinned_array<int>(roc::shape<1>{10 + i}));
    targets.push_back(roc::pinned_array<int>(roc::shape<1>{10 + i}));
    arrays.emplace_back(roc::shape<1>{10 + i});
    arrays.emplace_back(roc::shape<1>{10 + i});
  }
  std::optional<roc::graph_exec> executable;
  {
    roc::copy_batch batch;
    for (std::size_t i = 0; i != sources.size(); ++i) {
      batch.add(sources[i], arrays[2 * i]);
      batch.add(arrays[2 * i], arrays[2 * i + 1]);
      batch.add(arrays[2 * i + 1], targets[i]);
    }
    executable = captured([&](roc::stream_ref stream) { batch.submit(stream); });
  }
  launch_repeatedly(
      *executable,
      [&](int round) {
        for (auto& source : sources) renew(source, ++round);
      },
      [&] {
        for (std::size_t i = 0; i != sources.size(); ++i) {
          EXPECT_EQ(values(sources[i]), values(targets[i]));
        }
      });
}
#endif

#if ROCARRAY_PLATFORM_HOST
struct add_one {
  roc::device_view<int, 2> data;
  void operator()(std::size_t i, std::size_t j) const { data(i, j) += 1; }
};

TEST_F(GraphCapture, ForEach) {
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    roc::for_each(stream, {rows, columns}, add_one{device.view()});
    device.copy_to_host(output, stream);
  });
  launch_repeatedly(
      executable, [&](int round) { renew(input, round); },
      [&] { EXPECT_EQ(input(3, 4) + 1, output(3, 4)); });
}
#endif

#if ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS
TEST_F(GraphCapture, HostFunctions) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  {
    auto executable = captured(
        [&](roc::stream_ref stream) { stream.launch_host_function([calls] { ++*calls; }); });
    EXPECT_EQ(0, *calls);
    int launches = 0;
    launch_repeatedly(
        executable, [&](int) { ++launches; }, [&] { EXPECT_EQ(launches, *calls); });
  }
  EXPECT_EQ(1, calls.use_count());
}
#endif

TEST_F(GraphCapture, ArraysMadeDuringTheCapture) {
  std::optional<roc::device_array<int, 2>> kept;
  auto executable = captured([&](roc::stream_ref stream) {
    auto temporary = roc::device_array<int, 2>({rows, columns}, roc::order::c, stream);
    temporary.copy_to_device(input, stream);
    auto next = roc::device_array_like(temporary, stream);
    next.copy_to_device(temporary, stream);
    kept = roc::device_array_like(next, stream);
    kept->copy_to_device(next, stream);
    next.copy_to_host(output, stream);
  });
  expect_output_is_input(executable);
  EXPECT_EQ(values(input), values(kept->copy_to_host()));
}

TEST_F(GraphCapture, ArraysOfOtherResourcesMadeDuringTheCapture) {
  roc::hip_memory_resource direct;
  roc::hip_async_memory_resource ordered;
  for (roc::memory_resource* const resource : {static_cast<roc::memory_resource*>(&direct),
                                               static_cast<roc::memory_resource*>(&ordered)}) {
    auto* const previous = roc::set_device_resource(0, resource);
    {
      auto executable = captured([&](roc::stream_ref stream) {
        auto temporary = roc::device_array<int, 2>({rows, columns}, roc::order::c, stream);
        temporary.copy_to_device(input, stream);
        temporary.copy_to_host(output, stream);
      });
      expect_output_is_input(executable);
    }
    roc::set_device_resource(0, previous);
  }
}

#if ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS
TEST_F(GraphCapture, CopiesOfOneStreamShareTheirStagingMemory) {
  auto wide = roc::device_array<int, 2>({512, 256});
  auto part = wide(roc::all, roc::slice(0, roc::none, 2));
  auto source = roc::pinned_array<int>(roc::shape<2>{512, 128});
  auto const used = [] { return roc::device_resource(0).statistics().current_bytes; };
  auto const before = used();
  auto const graph = roc::capture([&](roc::stream_ref stream) {
    for (int i = 0; i != 4; ++i) {
      part.copy_to_device(source, stream);
      part.copy_to_host(source, stream);
    }
  });
  // Each copy has many chunks, which are at most as large as the two sizes of buffers together.
  EXPECT_LT(before, used());
  EXPECT_GE(before + source.size_bytes() / 4, used());
}
#endif

TEST(GraphMemory, ScratchServesWhatFitsOnOneStream) {
  auto const graph = roc::memory::graph_memory::make(0);
  std::byte data{};
  char kinds[2];
  auto* const stream = reinterpret_cast<roc::detail::native_stream*>(&data);
  graph->add_scratch({stream, &kinds[0], 100, &data, false});
  EXPECT_EQ(nullptr, graph->try_acquire_scratch(stream, &kinds[0], 101));
  EXPECT_EQ(nullptr, graph->try_acquire_scratch(stream, &kinds[1], 100));
  EXPECT_EQ(nullptr, graph->try_acquire_scratch(nullptr, &kinds[0], 100));
  auto* const scratch = graph->try_acquire_scratch(stream, &kinds[0], 100);
  ASSERT_NE(nullptr, scratch);
  EXPECT_EQ(nullptr, graph->try_acquire_scratch(stream, &kinds[0], 1));
  graph->release_scratch(*scratch);
  EXPECT_EQ(scratch, graph->try_acquire_scratch(stream, &kinds[0], 1));
}

TEST_F(GraphCapture, StreamsThatAreJoinedByEvents) {
  roc::stream const branch(roc::non_blocking);
  auto third = roc::device_array_like(device);
  auto second_output = roc::pinned_array<int>(roc::shape<2>{rows, columns});
  auto executable = captured([&](roc::stream_ref stream) {
    roc::event forked;
    roc::event joined;
    device.copy_to_device(input, stream);
    forked.record(stream);
    branch.wait(forked);
    other.copy_to_device(device, branch);
    third.copy_to_device(device, stream);
    joined.record(branch);
    stream.wait(joined);
    other.copy_to_host(output, stream);
    third.copy_to_host(second_output, stream);
  });
  // The branch is an ordinary stream again.
  device.fill(1, branch);
  branch.synchronize();
  EXPECT_TRUE(branch.query());
  launch_repeatedly(
      executable, [&](int round) { renew(input, round); },
      [&] {
        EXPECT_EQ(values(input), values(output));
        EXPECT_EQ(values(input), values(second_output));
      });
}

TEST_F(GraphCapture, StreamsAreJoinedBackAtTheEnd) {
  roc::stream const branch(roc::non_blocking);
  roc::stream const twig(roc::non_blocking);
  auto executable = captured([&](roc::stream_ref stream) {
    roc::event forked;
    device.copy_to_device(input, stream);
    forked.record(stream);
    branch.wait(forked);
    other.copy_to_device(device, branch);
    forked.record(branch);
    twig.wait(forked);
    other.copy_to_host(output, twig);
  });
  for (auto const* const joined : {&branch, &twig}) {
    device.fill(2, *joined);
    joined->synchronize();
    EXPECT_EQ(2, device.copy_to_host()(0, 0));
    device.fill(3);
  }
  roc::device(0).synchronize();
  expect_output_is_input(executable);
}

TEST_F(GraphCapture, StreamOfAnotherDeviceIsJoinedBackAtTheEnd) {
  if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
  std::optional<roc::stream> branch;
  roc::device_array<int, 2> there;
  {
    roc::device_guard const guard{roc::device(1)};
    branch.emplace(roc::non_blocking);
    there = roc::device_array<int, 2>({rows, columns});
  }
  auto executable = captured([&](roc::stream_ref stream) {
    roc::event forked;
    forked.record(stream);
    branch->wait(forked);
    there.copy_to_device(input, *branch);
    there.copy_to_host(output, *branch);
  });
  expect_output_is_input(executable);
}

TEST_F(GraphCapture, StreamThatHasJoinedMayBeDestroyed) {
  auto executable = captured([&](roc::stream_ref stream) {
    roc::event forked;
    roc::event joined;
    forked.record(stream);
    {
      roc::stream const branch(roc::non_blocking);
      branch.wait(forked);
      device.copy_to_device(input, branch);
      joined.record(branch);
    }
    // The streams of the program that follow are not captured.
    for (int i = 0; i != 4; ++i) {
      roc::stream const next(roc::non_blocking);
      other.fill(i, next);
      next.synchronize();
    }
    stream.wait(joined);
    device.copy_to_host(output, stream);
  });
  EXPECT_EQ(3, other.copy_to_host()(0, 0));
  expect_output_is_input(executable);
}

TEST_F(GraphCapture, MemoryOfEarlierWorkOfAStreamThatHasJoinedIsFreed) {
  roc::hip_memory_resource direct;
  auto* const previous = roc::set_device_resource(0, &direct);
  auto unpooled = std::make_optional<roc::device_array<int, 1>>(roc::shape<1>{1000});
  roc::set_device_resource(0, previous);
  auto pooled = std::make_optional<roc::device_array<int, 1>>(roc::shape<1>{1000});
  auto host = std::make_optional(roc::pinned_array<int>(roc::shape<1>{1000}));
  roc::stream const branch(roc::non_blocking);
  unpooled->fill(5, branch);
  pooled->copy_to_device(*unpooled, branch);
  pooled->copy_to_host(*host, branch);
  auto executable = captured([&](roc::stream_ref stream) {
    roc::event forked;
    roc::event joined;
    forked.record(stream);
    branch.wait(forked);
    device.copy_to_device(input, branch);
    std::thread([&] {
      EXPECT_EQ(5, pooled->copy_to_host()(999));
      unpooled.reset();
      pooled.reset();
      host.reset();
      auto next = roc::device_array<int, 1>({1000});
      next.fill(1);
      EXPECT_EQ(1, next.copy_to_host()(999));
    }).join();
    joined.record(branch);
    stream.wait(joined);
    device.copy_to_host(output, stream);
  });
  expect_output_is_input(executable);
}

TEST_F(GraphCapture, IsNotRunAndNeedsNoGraphExec) {
  device.fill(1);
  {
    auto const graph = roc::capture([&](roc::stream_ref stream) { device.fill(2, stream); });
    EXPECT_NE(nullptr, roc::native(graph));
  }
  EXPECT_EQ(1, device.copy_to_host()(0, 0));
}

TEST_F(GraphCapture, OfNothingIsValid) {
  auto executable = captured([](roc::stream_ref) {});
  executable.launch();
}

TEST_F(GraphCapture, CapturesMayBeNested) {
  std::optional<roc::graph> inner;
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    inner = roc::capture([&](roc::stream_ref nested) {
      other.copy_to_device(device, nested);
      device.copy_to_host(output, stream);  // belongs to the outer capture
    });
  });
  expect_output_is_input(executable);
  roc::graph_exec second(*inner);
  second.launch();
  EXPECT_EQ(values(input), values(other.copy_to_host()));
}

TEST_F(GraphCapture, ThreadsCaptureAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t) {
    threads.emplace_back([&] {
      auto source = roc::pinned_array<int>(roc::shape<1>{100});
      auto target = roc::pinned_array<int>(roc::shape<1>{100});
      for (int round = 0; round != 10; ++round) {
        auto array = roc::device_array<int, 1>({100});
        roc::graph_exec executable(roc::capture([&](roc::stream_ref stream) {
          array.copy_to_device(source, stream);
          array.copy_to_host(target, stream);
        }));
        renew(source, round);
        roc::stream const stream;
        executable.launch(stream);
        stream.synchronize();
        EXPECT_EQ(values(source), values(target));
        array.fill(round);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_F(GraphCapture, OtherThreadsUseTheDeviceMeanwhile) {
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    std::thread([&] {
      auto array = roc::to_device(std::vector<int>(1000, 5));
      EXPECT_EQ(5, array.copy_to_host()(999));
      roc::stream const own;
      array.fill(6, own);
      own.synchronize();
    }).join();
    device.copy_to_host(output, stream);
  });
  expect_output_is_input(executable);
}

}  // namespace
