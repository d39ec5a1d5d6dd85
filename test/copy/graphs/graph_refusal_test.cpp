// SPDX-License-Identifier: MIT
// What cannot be captured is refused before anything reaches the capture, which stays valid.
#include "copy/graphs/support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace roc::test;

// Checks that `call(stream)` throws an error during a capture whose message contains `text`, and
// that what is captured before and after it works.
template <class Call>
void expect_refused(char const* text, Call const& call) {
  auto source = roc::pinned_array<int>(roc::shape<1>{100});
  auto target = roc::pinned_array<int>(roc::shape<1>{100});
  auto array = roc::device_array<int, 1>({100});
  roc::graph_exec executable(roc::capture([&](roc::stream_ref stream) {
    array.copy_to_device(source, stream);
    try {
      call(stream);
      ADD_FAILURE() << "was not refused: " << text;
    } catch (roc::error const& refused) {
      EXPECT_NE(std::string::npos, std::string(refused.what()).find(text)) << refused.what();
    }
    array.copy_to_host(target, stream);
  }));
  launch_repeatedly(
      executable, [&](int round) { renew(source, round); },
      [&] { EXPECT_EQ(values(source), values(target)); });
}

struct GraphRefuses : roc::test::graph_fixture {
  std::vector<int> pageable = std::vector<int>(rows * columns);
  roc::device_array<int, 1> flat{{rows * columns}};
};

TEST_F(GraphRefuses, PageableMemory) {
  constexpr auto text = "register it, or use a pinned array";
  expect_refused(text, [&](auto stream) { flat.copy_to_device(pageable, stream); });
  expect_refused(text, [&](auto stream) { flat.copy_to_host(pageable, stream); });
  expect_refused(text,
                 [&](auto stream) { flat.copy_to_device(pageable, stream, roc::borrow_source); });
  expect_refused(text, [&](auto stream) { static_cast<void>(roc::to_device(pageable, stream)); });
  std::vector<int> target(pageable.size());
  expect_refused(text, [&](auto stream) { roc::copy(pageable, target, stream); });
  expect_refused(text, [&](auto stream) { roc::fill(pageable, 1, stream); });
  expect_refused(text, [&](auto stream) {
    roc::copy_batch batch;
    batch.add(device, other);
    batch.add(flat, pageable);
    batch.submit(stream);
  });
}

TEST_F(GraphRefuses, BatchThatWritesReadOnlyMemory) {
  std::vector<int> constant(100);
  auto small = roc::device_array<int, 1>({100});
  roc::registration_options options;
  options.read_only = true;
  std::optional<roc::registration> registered;
  try {
    registered.emplace(roc::register_host(options, constant));
  } catch (roc::error const& error) {
    GTEST_SKIP() << "the device cannot register read-only memory: " << error.what();
  }
  expect_refused("read-only", [&](auto stream) {
    roc::copy_batch batch;
    batch.add(small, constant);
    batch.submit(stream);
  });
}

TEST_F(GraphRefuses, MemoryThatIsPinnedInPart) {
  auto const half = roc::register_host(roc::host_view<int, 1>(pageable.data(), {100}));
  expect_refused("pageable in part", [&](auto stream) { flat.copy_to_device(pageable, stream); });
}

TEST_F(GraphRefuses, CallsWithoutAStream) {
  expect_refused("without a stream", [&](auto) { flat.copy_to_device(pageable); });
  expect_refused("without a stream", [&](auto) { flat.fill(1); });
  expect_refused("without a stream", [&](auto) { static_cast<void>(flat.copy_to_host()); });
  expect_refused("without a stream", [&](auto) {
    roc::copy_batch batch;
    batch.add(device, other);
    batch.submit();
  });
}

TEST_F(GraphRefuses, CallsOnTheDefaultStream) {
  constexpr auto text = "default stream";
  roc::stream_ref const default_stream;
  expect_refused(text, [&](auto) { flat.fill(1, default_stream); });
  expect_refused(text, [&](auto) { flat.copy_to_device(pageable, default_stream); });
  expect_refused(text, [&](auto) { static_cast<void>(flat.copy_to_host(default_stream)); });
  expect_refused(text, [&](auto) { default_stream.launch_host_function([] {}); });
  expect_refused(text, [&](auto) {
    roc::copy_batch batch;
    batch.add(device, other);
    batch.submit(default_stream);
  });
  expect_refused(text, [&](auto) { roc::map(flat, roc::access::read, default_stream).unmap(); });
}

TEST_F(GraphRefuses, MappingOfArrays) {
  constexpr auto text = "the mapping of an array";
  expect_refused(text, [&](auto stream) { static_cast<void>(roc::map(flat, roc::access::read, stream)); });
  expect_refused(text, [&](auto stream) { static_cast<void>(roc::map(flat, roc::access::read_write, stream)); });
  expect_refused(text, [&](auto stream) { static_cast<void>(roc::map(flat, roc::access::write, stream)); });
  expect_refused(text, [&](auto stream) { static_cast<void>(roc::map(input, roc::access::read, stream)); });
  expect_refused("without a stream", [&](auto) { static_cast<void>(roc::map(flat, roc::access::write)); });
}

TEST_F(GraphRefuses, EndOfTheMappingOfADeviceArray) {
  roc::stream const branch(roc::non_blocking);
  auto mapped = roc::map(flat, roc::access::write, branch);
  std::fill(mapped.data(), mapped.data() + flat.size(), 5);
  expect_refused("the mapping of an array", [&](auto stream) {
    roc::event forked;
    forked.record(stream);
    branch.wait(forked);
    mapped.unmap();
  });
  mapped.unmap();
  EXPECT_EQ(5, flat.copy_to_host()(17));
}

TEST_F(GraphRefuses, SynchronizationAndQueries) {
  expect_refused("synchronization", [](auto stream) { stream.synchronize(); });
  expect_refused("query", [](auto stream) { static_cast<void>(stream.query()); });
  expect_refused("synchronized", [](auto) { roc::device(0).synchronize(); });
  expect_refused("synchronization", [](auto stream) {
    roc::event event;
    event.record(stream);
    event.synchronize();
  });
  expect_refused("query", [](auto stream) {
    roc::event event;
    event.record(stream);
    static_cast<void>(event.query());
  });
  expect_refused("a measurement", [](auto stream) {
    roc::timed_event first;
    roc::timed_event last;
    first.record(stream);
    last.record(stream);
    static_cast<void>(first.elapsed_time(last));
  });
}

TEST_F(GraphRefuses, SynchronizationOfAnotherDevice) {
  if (roc::device::count() < 2) GTEST_SKIP() << "there is one device";
  expect_refused("no device can be synchronized", [](auto) { roc::device(1).synchronize(); });
}

TEST_F(GraphRefuses, JoinOfAStreamThatIsOrderedWithTheDefaultStream) {
  roc::stream const blocking;
  expect_refused("non-blocking", [&](auto stream) {
    roc::event event;
    event.record(stream);
    blocking.wait(event);
  });
}

TEST_F(GraphRefuses, WaitForWorkOutsideOfTheCapture) {
  roc::event before;
  before.record(roc::stream());
  expect_refused("not recorded in the capture", [&](auto stream) { stream.wait(before); });
}

TEST_F(GraphRefuses, WaitForAnEventOfAnotherCapture) {
  expect_refused("another capture", [](auto stream) {
    static_cast<void>(roc::capture([&](roc::stream_ref nested) {
      roc::event event;
      event.record(nested);
      stream.wait(event);
    }));
  });
}

TEST_F(GraphRefuses, PrefetchAndAttachmentOfManagedMemory) {
  std::optional<pinned<1>> managed;
  try {
    managed.emplace(roc::managed_array<int>(roc::shape<1>{100}));
    roc::migrate(*managed, roc::device(0));
  } catch (roc::error const& error) {
    GTEST_SKIP() << "the device cannot migrate managed memory: " << error.what();
  }
  expect_refused("the prefetch",
                 [&](auto stream) { roc::prefetch(*managed, roc::device(0), stream); });
  expect_refused("the attachment", [&](auto stream) { roc::attach(*managed, stream); });
  expect_refused("without a stream", [&](auto) { roc::migrate(*managed, roc::device(0)); });
}

#if !ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS
TEST_F(GraphRefuses, HostFunctionsOfOldHip) {
  expect_refused("before 5.3", [](auto stream) { stream.launch_host_function([] {}); });
  expect_refused("before 5.3", [&](auto stream) { roc::copy(input, output, stream); });
  expect_refused("before 5.3", [&](auto stream) { roc::fill(output.view(), 1, stream); });
  expect_refused("before 5.3", [&](auto stream) {
    roc::copy_batch batch;
    batch.add(device, other);
    batch.add(input, device);
    batch.submit(stream);
  });
}
#endif

TEST_F(GraphRefuses, StridedCopiesBetweenDevicesWithoutPeerAccess) {
  if (roc::device::count() < 2) GTEST_SKIP() << "there is one device";
  roc::scoped_options const scope({.peer_access = false});
  std::optional<roc::device_array<int, 2>> there;
  {
    roc::device_guard const second{roc::device(1)};
    there.emplace(roc::shape<2>{columns, rows});
  }
  expect_refused("between devices",
                 [&](auto stream) { device.copy_to_device(there->transpose(), stream); });
  expect_refused("between devices", [&](auto stream) {
    roc::copy_batch batch;
    batch.add(other, device);
    batch.add(there->transpose(), other);
    batch.submit(stream);
  });
}

TEST_F(GraphRefuses, BatchWithArraysOfAnotherDeviceThanTheStream) {
  if (roc::device::count() < 2) GTEST_SKIP() << "there is one device";
  roc::device_guard const second{roc::device(1)};
  auto const first_there = roc::device_array<int, 1>({10});
  auto const second_there = roc::device_array<int, 1>({10});
  roc::device(0).make_current();
  expect_refused("use a stream of the array's device", [&](auto stream) {
    roc::copy_batch batch;
    batch.add(device, other);
    batch.add(first_there, second_there);
    batch.submit(stream);
  });
}

TEST_F(GraphRefuses, AllocationWithoutAnArray) {
  expect_refused("allocation from a memory resource", [](auto stream) {
    static_cast<void>(roc::device_resource(0).allocate(100, stream));
  });
}

TEST_F(GraphRefuses, LaunchOfAGraph) {
  auto executable = captured([&](roc::stream_ref stream) { device.fill(1, stream); });
  expect_refused("launch of a graph", [&](auto stream) { executable.launch(stream); });
}

TEST_F(GraphRefuses, InvalidArguments) {
  auto small = roc::device_array<int, 1>({3});
  auto elsewhere = roc::pinned_array<int>(roc::shape<1>{4});
  expect_refused("shape", [&](auto stream) { small.copy_to_device(elsewhere, stream); });
}

TEST_F(GraphRefuses, GuardOfTheStreamReportsThatItCannotSynchronize) {
  log_record const log;
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    auto const guard = stream.auto_synchronize();
    device.copy_to_host(output, stream);
  });
  EXPECT_NE(std::string::npos, log.take().find("synchronization is not possible"));
  expect_output_is_input(executable);
}

}  // namespace
