// SPDX-License-Identifier: MIT
// Device arrays and events that two processes use. The second process is this program in a role.
#include <roc/roc.hpp>

#include <roc/native.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstring>
#include <future>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "runtime/ipc_origin.hpp"
#include "support/call_counter.hpp"
#include "support/environment.hpp"
#include "support/expect_error.hpp"
#include "support/gate.hpp"
#include "support/other_process.hpp"

namespace {

using roc::ipc_array_handle;
using roc::ipc_error;
using roc::ipc_event;
using roc::ipc_event_handle;
using roc::ipc_exposure;
using roc::test::channel;
using roc::test::expect_error;
using roc::test::other_process;
using roc::test::role_definition;

static_assert(std::is_trivially_copyable_v<ipc_array_handle>);
static_assert(std::is_trivially_copyable_v<ipc_event_handle>);
static_assert(sizeof(ipc_array_handle) == sizeof(roc::detail::ipc_array_data));
static_assert(sizeof(ipc_event_handle) == sizeof(roc::detail::ipc_event_data));

#if ROCARRAY_PLATFORM_AMD
constexpr bool handles_have_events = false;
#else
constexpr bool handles_have_events = true;
#endif

struct particle {
  float x, y;
  std::int32_t kind;
  friend bool operator==(particle const&, particle const&) = default;
};
struct other_particle {
  float x, y;
  std::int32_t kind;
};

std::vector<int> counted(std::size_t n, int first = 0) {
  std::vector<int> result(n);
  std::iota(result.begin(), result.end(), first);
  return result;
}

std::vector<int> contents(roc::device_view<int, 1> const& view) {
  std::vector<int> result(view.extent(0));
  view.copy_to_host(result);
  return result;
}

// Returns the elements in C order.
std::vector<int> elements(roc::device_view<int, 2> const& view) {
  auto const copy = view.ravel_copy();
  return contents(copy);
}

// Returns a handle whose contents `change` has changed, with a right checksum.
template <class Handle, class F>
Handle changed(Handle const& handle, F change) {
  using data = std::conditional_t<std::is_same_v<Handle, ipc_array_handle>,
                                  roc::detail::ipc_array_data, roc::detail::ipc_event_data>;
  data contents;
  std::memcpy(&contents, &handle, sizeof contents);
  change(contents);
  contents.checksum = roc::runtime::checksum_of(contents);
  Handle result;
  std::memcpy(static_cast<void*>(&result), &contents, sizeof contents);
  return result;
}

// Expects that f() throws an ipc_error with this code whose message contains the texts.
template <class F>
void expect_ipc_error(F f, std::errc code, std::initializer_list<std::string> texts) {
  try {
    f();
    ADD_FAILURE() << "no error: " << *texts.begin();
  } catch (ipc_error const& error) {
    EXPECT_EQ(std::make_error_condition(code), error.code()) << error.what();
    for (std::string const& text : texts) {
      EXPECT_NE(std::string::npos, std::string(error.what()).find(text))
          << text << " is not in: " << error.what();
    }
    EXPECT_STREQ(__FILE__, error.location().file_name());
  }
}

// Returns true if a closed gate of one process holds back work that another process waits for.
bool gates_hold_across_processes() {
  return roc::test::gate::holds() && roc::test::run_mode() == roc::test::mode::threaded;
}

// Makes HIP report all events as pending.
class pending_events {
 public:
  pending_events() {
    EXPECT_TRUE(roc::platform::fail_call("hipEventQuery", 1, hipErrorNotReady,
                                         roc::platform::failing_uses::all_later));
  }
  ~pending_events() { roc::platform::clear_failures(); }
  pending_events(pending_events const&) = delete;
  pending_events& operator=(pending_events const&) = delete;
};

// Counts two kinds of calls of HIP. One at a time.
class ipc_calls {
 public:
  ipc_calls() {
    queries_ = 0;
    closes_ = 0;
    previous_ = roc::platform::set_call_hook([](roc::platform::call_record const& record) {
      if (std::strcmp(record.name, "hipEventQuery") == 0) ++queries_;
      if (std::strcmp(record.name, "hipIpcCloseMemHandle") == 0) ++closes_;
    });
  }
  ~ipc_calls() { roc::platform::set_call_hook(previous_); }
  ipc_calls(ipc_calls const&) = delete;
  ipc_calls& operator=(ipc_calls const&) = delete;
  static int queries() { return queries_; }
  static int closes() { return closes_; }

 private:
  static inline std::atomic<int> queries_ = 0;
  static inline std::atomic<int> closes_ = 0;
  roc::platform::call_hook previous_;
};

// Roles

// Sends the handle of an array 0, 1, 2, … and waits until the other process has changed it.
role_definition const simple_owner{"simple owner", [](channel& parent) {
                                     auto array = roc::to_device(counted(1000));
                                     parent.send(roc::get_ipc_handle(array));
                                     auto const value = parent.receive<int>();
                                     EXPECT_EQ(std::vector<int>(1000, value), contents(array));
                                     array.fill(value + 1);
                                     parent.send(true);
                                     parent.receive<bool>();
                                   }};

TEST(IpcArray, IsTheSameMemory) {
  other_process owner("simple owner");
  auto const handle = owner.receive<ipc_array_handle>();
  EXPECT_EQ(owner.pid(), handle.process());
  EXPECT_EQ(1u, handle.rank());
  EXPECT_EQ(1000u, handle.extent(0));
  EXPECT_EQ(1, handle.stride(0));
  EXPECT_EQ(sizeof(int), handle.element_bytes());
  EXPECT_FALSE(handle.has_event());
  EXPECT_EQ(roc::device().pci_bus_id(), handle.pci_bus_id());
  auto array = roc::open_ipc_array<int, 1>(handle);
  EXPECT_EQ(roc::device().ordinal(), array.device_ordinal());
  EXPECT_EQ(counted(1000), contents(array));
  array.fill(42);
  owner.send(42);
  owner.receive<bool>();
  EXPECT_EQ(std::vector<int>(1000, 43), contents(array));
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

// Sends handles of views of one array of 6 x 10 numbers, and one of records.
role_definition const view_owner{
    "view owner", [](channel& parent) {
      auto const array = roc::to_device(counted(60)).reshape(6, 10);
      parent.send(roc::get_ipc_handle(array(roc::slice(1, 5), roc::slice(2, 9, 3))));
      parent.send(
          roc::get_ipc_handle(array(roc::slice(roc::none, roc::none, -1), roc::slice(8, 1, -2))));
      parent.send(roc::get_ipc_handle(array.transpose()));
      parent.send(roc::get_ipc_handle(array(3, 4)));
      parent.send(roc::get_ipc_handle(array(roc::slice(2, 2), roc::all)));
      auto const f_order = roc::device_array<double, 3>({2, 3, 4}, roc::order::f);
      f_order.fill(2.5);
      parent.send(roc::get_ipc_handle(roc::device_view<double const, 3>(f_order)));
      auto const records = roc::to_device(std::vector<particle>{{1, 2, 3}, {4, 5, 6}});
      parent.send(roc::get_ipc_handle(records));
      parent.receive<bool>();
      auto const values = counted(60);
      auto changed = values;
      for (int i : {12, 15, 18, 22, 25, 28, 32, 35, 38, 42, 45, 48}) changed[i] = -1;
      EXPECT_EQ(changed, contents(array.ravel()));
    }};

TEST(IpcArray, SliceArrivesAsTheSlice) {
  other_process owner("view owner");
  auto const slice = roc::open_ipc_array<int, 2>(owner.receive<ipc_array_handle>());
  EXPECT_EQ((roc::shape<2>{4, 3}), slice.shape());
  EXPECT_EQ((roc::strides<2>{10, 3}), slice.strides());
  EXPECT_EQ((std::vector<int>{12, 15, 18, 22, 25, 28, 32, 35, 38, 42, 45, 48}), elements(slice));

  auto const reversed = roc::open_ipc_array<int, 2>(owner.receive<ipc_array_handle>());
  EXPECT_EQ((roc::strides<2>{-10, -2}), reversed.strides());
  EXPECT_EQ((roc::shape<2>{6, 4}), reversed.shape());
  EXPECT_EQ((std::vector<int>{58, 56, 54, 52, 48, 46, 44, 42, 38, 36, 34, 32,  //
                              28, 26, 24, 22, 18, 16, 14, 12, 8,  6,  4,  2}),
            elements(reversed));

  auto const transposed = roc::open_ipc_array<int, 2>(owner.receive<ipc_array_handle>());
  EXPECT_EQ((roc::shape<2>{10, 6}), transposed.shape());
  EXPECT_TRUE(transposed.is_f_contiguous());
  EXPECT_EQ(34, transposed(4, 3).get());

  auto const element = roc::open_ipc_array<int, 0>(owner.receive<ipc_array_handle>());
  EXPECT_EQ(34, element.view().get());

  roc::test::call_counter const opened("hipIpcOpenMemHandle");
  auto const empty = roc::open_ipc_array<int, 2>(owner.receive<ipc_array_handle>());
  EXPECT_EQ((roc::shape<2>{0, 10}), empty.shape());
  EXPECT_EQ(nullptr, empty.data());
  EXPECT_EQ(0, opened.count());

  auto const f_order = roc::open_ipc_array<double, 3>(owner.receive<ipc_array_handle>());
  EXPECT_TRUE(f_order.is_f_contiguous());
  EXPECT_EQ(2.5, f_order(1, 2, 3).get());
  auto const records = roc::open_ipc_array<particle, 1>(owner.receive<ipc_array_handle>());
  EXPECT_EQ((particle{4, 5, 6}), records(1).get());

  slice.fill(-1);  // the bytes between the slice's elements stay
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

// Sends two arrays of the pool's slab, then the first one again, and one of its own allocation.
role_definition const slab_owner{"slab owner", [](channel& parent) {
                                   roc::hip_memory_resource upstream;
                                   roc::pool_resource pool(upstream);
                                   roc::device_array<int> const first({100}, pool);
                                   roc::device_array<int> const second({200}, pool);
                                   first.fill(1);
                                   second.fill(2);
                                   parent.send(roc::get_ipc_handle(first));
                                   parent.send(roc::get_ipc_handle(second));
                                   parent.send(roc::get_ipc_handle(first(roc::slice(0, 10))));
                                   parent.receive<bool>();
                                 }};

TEST(IpcArray, ArraysOfOneAllocationShareOneMapping) {
  other_process owner("slab owner");
  auto const first_handle = owner.receive<ipc_array_handle>();
  auto const second_handle = owner.receive<ipc_array_handle>();
  auto const part_handle = owner.receive<ipc_array_handle>();
  EXPECT_EQ(first_handle.allocation(), second_handle.allocation());
  EXPECT_EQ(first_handle.allocation_bytes(), second_handle.allocation_bytes());
  EXPECT_GT(first_handle.allocation_bytes(), 1200u);

  roc::test::call_counter const calls("hipIpcOpenMemHandle");
  std::optional<roc::device_array<int>> first = roc::open_ipc_array<int, 1>(first_handle);
  std::optional<roc::device_array<int>> again = roc::open_ipc_array<int, 1>(first_handle);
  std::optional<roc::device_array<int>> part = roc::open_ipc_array<int, 1>(part_handle);
  std::optional<roc::device_array<int>> second = roc::open_ipc_array<int, 1>(second_handle);
  EXPECT_EQ(1, calls.count());
  EXPECT_EQ(first->data(), again->data());
  EXPECT_EQ(first->data(), part->data());
  EXPECT_EQ(static_cast<std::ptrdiff_t>(second_handle.offset_bytes()) -
                static_cast<std::ptrdiff_t>(first_handle.offset_bytes()),
            (second->data() - first->data()) * static_cast<std::ptrdiff_t>(sizeof(int)));
  again->fill(7);
  EXPECT_EQ(std::vector<int>(100, 7), contents(*first));
  EXPECT_EQ(std::vector<int>(200, 2), contents(*second));
  {
    roc::test::call_counter const closed("hipIpcCloseMemHandle");
    first.reset();
    part.reset();
    EXPECT_EQ(std::vector<int>(100, 7), contents(*again));
    second.reset();
    EXPECT_EQ(0, closed.count());
    again.reset();
    EXPECT_EQ(1, closed.count());
  }
  // After it was closed it can be opened again.
  auto const reopened = roc::open_ipc_array<int, 1>(first_handle);
  EXPECT_EQ(std::vector<int>(100, 7), contents(reopened));
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

// The order of the two processes

// Returns the handle of an array, on a stream whose work a gate holds back. If that blocks until
// the work is done, opens the gate meanwhile.
ipc_array_handle handle_of_gated(roc::device_array<int> const& array, roc::stream const& stream,
                                 roc::test::gate& gate) {
  if (handles_have_events) return roc::get_ipc_handle(array, stream);
  std::thread opening([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  auto const handle = roc::get_ipc_handle(array, stream);
  opening.join();
  EXPECT_TRUE(stream.query());
  return handle;
}

// Sends the handle of an array that pending work fills, with an event. Lets the work run when it is
// told to.
role_definition const pending_owner{"pending owner", [](channel& parent) {
                                      auto array = roc::to_device(std::vector<int>(1 << 16, 1));
                                      roc::stream const stream;
                                      {
                                        roc::test::gate gate;
                                        gate.close(stream);
                                        array.fill(2, stream);
                                        parent.send(handle_of_gated(array, stream, gate));
                                        parent.receive<bool>();
                                        gate.open();
                                        // In mode deferred only the wait of the other process makes
                                        // the work run.
                                        parent.receive<bool>();
                                      }
                                    }};

TEST(IpcArray, OpeningOrdersTheStreamAfterTheExporter) {
  other_process owner("pending owner");
  auto const handle = owner.receive<ipc_array_handle>();
  EXPECT_EQ(handles_have_events, handle.has_event());
  roc::stream const stream;
  auto const array = roc::open_ipc_array<int, 1>(handle, stream);
  EXPECT_EQ(stream, array.stream());
  std::vector<int> result(1 << 16);
  array.copy_to_host(result, stream);
  if (handles_have_events && roc::test::gate::holds() &&
      roc::test::run_mode() == roc::test::mode::threaded) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(stream.query());
  }
  owner.send(true);
  stream.synchronize();
  EXPECT_EQ(std::vector<int>(1 << 16, 2), result);
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

TEST(IpcArray, OpeningOrdersWorkThatTheLibraryDoesNotKnow) {
  other_process owner("pending owner");
  auto const handle = owner.receive<ipc_array_handle>();
  roc::stream const stream;
  auto const array = roc::open_ipc_array<int, 1>(handle, stream);
  auto result = roc::pinned_array<int>(roc::shape<1>{1 << 16});
  ROCARRAY_HIP(hipMemcpyAsync, result.data(), array.data(), array.size_bytes(),
               hipMemcpyDeviceToHost, roc::native(stream));
  owner.send(true);
  stream.synchronize();
  EXPECT_EQ(2, result(0));
  EXPECT_EQ(2, result((1 << 16) - 1));
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

// Exports on one stream an array whose memory pending work of another stream still writes.
role_definition const reused_owner{
    "reused owner", [](channel& parent) {
      roc::hip_memory_resource upstream;
      roc::pool_resource pool(upstream);
      roc::stream const first;
      roc::stream const second;
      roc::test::gate gate;
      gate.close(first);
      void const* address = nullptr;
      {
        roc::device_array<int> destroyed({1000}, pool, roc::order::c, first);
        destroyed.fill(1, first);
        address = destroyed.data();
      }
      roc::device_array<int> const array({1000}, pool, roc::order::c, first);
      EXPECT_EQ(address, array.data());
      parent.send(handle_of_gated(array, second, gate));
      parent.receive<bool>();
      gate.open();
      parent.receive<bool>();
      first.synchronize();
      EXPECT_EQ(std::vector<int>(1000, 9), contents(array));
    }};

TEST(IpcArray, ExportComesAfterEarlierUsesOfTheMemory) {
  other_process owner("reused owner");
  roc::stream const stream;
  auto const array = roc::open_ipc_array<int, 1>(owner.receive<ipc_array_handle>(), stream);
  array.fill(9, stream);
  owner.send(true);
  stream.synchronize();
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

// Sends two handles of one array, which pending work of the first stream fills.
role_definition const two_streams_owner{"two streams owner", [](channel& parent) {
                                          auto array = roc::to_device(std::vector<int>(1 << 16, 1));
                                          roc::stream const first;
                                          roc::stream const second;
                                          roc::test::gate gate;
                                          gate.close(first);
                                          array.fill(2, first);
                                          parent.send(handle_of_gated(array, first, gate));
                                          parent.send(roc::get_ipc_handle(array, second));
                                          parent.receive<bool>();
                                          gate.open();
                                          parent.receive<bool>();
                                        }};

TEST(IpcArray, ExportOnAnotherStreamKeepsTheOrderOfTheEarlierHandle) {
  other_process owner("two streams owner");
  auto const first_handle = owner.receive<ipc_array_handle>();
  owner.receive<ipc_array_handle>();
  roc::stream const stream;
  auto const array = roc::open_ipc_array<int, 1>(first_handle, stream);
  std::vector<int> result(1 << 16);
  array.copy_to_host(result, stream);
  owner.send(true);
  stream.synchronize();
  EXPECT_EQ(std::vector<int>(1 << 16, 2), result);
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

TEST(IpcArray, OpeningOrdersWorkOnOtherStreamsToo) {
  other_process owner("pending owner");
  auto const handle = owner.receive<ipc_array_handle>();
  roc::stream const opening;
  auto const array = roc::open_ipc_array<int, 1>(handle, opening);
  roc::stream const other(roc::non_blocking);
  std::vector<int> result(1 << 16);
  array.copy_to_host(result, other);
  owner.send(true);
  other.synchronize();
  EXPECT_EQ(std::vector<int>(1 << 16, 2), result);
  EXPECT_EQ(std::vector<int>(1 << 16, 2), contents(array));  // on the default stream
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

// Sends the handle of an array twice. Before the second time it enqueues work, which runs when it
// is told to.
role_definition const repeating_owner{"repeating owner", [](channel& parent) {
                                        auto array = roc::to_device(std::vector<int>(1 << 16, 1));
                                        roc::stream const stream;
                                        parent.send(roc::get_ipc_handle(array, stream));
                                        parent.receive<bool>();
                                        roc::test::gate gate;
                                        gate.close(stream);
                                        array.fill(2, stream);
                                        parent.send(handle_of_gated(array, stream, gate));
                                        parent.receive<bool>();
                                        gate.open();
                                        parent.receive<bool>();
                                      }};

TEST(IpcArray, OpeningOrdersTheStreamAlsoIfTheMemoryIsOpen) {
  other_process owner("repeating owner");
  auto const first = roc::open_ipc_array<int, 1>(owner.receive<ipc_array_handle>());
  EXPECT_EQ(std::vector<int>(1 << 16, 1), contents(first));
  owner.send(true);
  auto const handle = owner.receive<ipc_array_handle>();
  roc::stream const stream;
  auto const second = roc::open_ipc_array<int, 1>(handle, stream);
  EXPECT_EQ(first.data(), second.data());
  std::vector<int> result(1 << 16);
  second.copy_to_host(result, stream);
  owner.send(true);
  stream.synchronize();
  EXPECT_EQ(std::vector<int>(1 << 16, 2), result);
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

TEST(IpcArray, OpeningWithoutAStreamBlocksUntilTheExportersWorkIsDone) {
  other_process owner("pending owner");
  auto const handle = owner.receive<ipc_array_handle>();
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    owner.send(true);
  });
  auto const array = roc::open_ipc_array<int, 1>(handle);
  release.join();
  EXPECT_EQ(std::vector<int>(1 << 16, 2), contents(array));
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

TEST(IpcArray, MayBeOpenedOnTheDefaultStream) {
  other_process owner("pending owner");
  auto const handle = owner.receive<ipc_array_handle>();
  owner.send(true);
  auto const array = roc::open_ipc_array<int, 1>(handle, roc::stream_ref());
  EXPECT_EQ(std::vector<int>(1 << 16, 2), contents(array));
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

TEST(IpcArray, DestructorBlocksUntilWorkOnTheMemoryIsDone) {
  other_process owner("simple owner");
  auto const handle = owner.receive<ipc_array_handle>();
  {
    roc::stream const stream;
    roc::test::gate gate;
    gate.close(stream);
    auto array = roc::open_ipc_array<int, 1>(handle, stream);
    array.fill(5, stream);
    std::thread release([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      gate.open();
    });
    array = {};
    release.join();
  }
  owner.send(5);  // the owner finds what was written
  owner.receive<bool>();
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

// What becomes visible

TEST(IpcExposure, HandleNamesTheWholeAllocation) {
  roc::hip_memory_resource upstream;
  roc::pool_resource pool(upstream);
  roc::device_array<int> const array({100}, pool);
  auto const handle = roc::get_ipc_handle(array);
  EXPECT_GE(handle.allocation_bytes(), pool.statistics().reserved_bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()),
            reinterpret_cast<std::uintptr_t>(handle.allocation()) + handle.offset_bytes());
}

TEST(IpcExposure, ArrayOnlyRefusesMemoryOfAPool) {
  roc::hip_memory_resource upstream;
  roc::pool_resource pool(upstream);
  roc::device_array<int> const array({100}, pool);
  auto const all = roc::get_ipc_handle(array).allocation_bytes();
  expect_ipc_error([&] { static_cast<void>(roc::get_ipc_handle(array, ipc_exposure::array_only)); },
                   std::errc::operation_not_permitted,
                   {"400 bytes", std::to_string(all - 400) + " bytes", "hip_memory_resource"});
  roc::stream const stream;
  EXPECT_THROW(
      static_cast<void>(roc::get_ipc_handle(array.view(), stream, ipc_exposure::array_only)),
      ipc_error);
}

TEST(IpcExposure, ArrayOnlyAcceptsAnAllocationOfItsOwn) {
  roc::hip_memory_resource resource;
  roc::device_array<int> const array({100}, resource);
  auto const handle = roc::get_ipc_handle(array, ipc_exposure::array_only);
  EXPECT_EQ(400u, handle.allocation_bytes());
  EXPECT_EQ(0u, handle.offset_bytes());
  EXPECT_EQ(array.data(), handle.allocation());
  EXPECT_THROW(
      static_cast<void>(roc::get_ipc_handle(array(roc::slice(1, 100)), ipc_exposure::array_only)),
      ipc_error);
}

// Errors of exports

TEST(IpcExport, RefusesHostMemory) {
  auto const pinned = roc::pinned_array<int>(roc::shape<1>{10});
  roc::device_view<int, 1> const view(const_cast<int*>(pinned.data()), {10});
  expect_ipc_error([&] { static_cast<void>(roc::get_ipc_handle(view)); },
                   std::errc::invalid_argument, {"pinned or registered host memory", "0x"});
  int pageable[10] = {};
  roc::device_view<int, 1> const unknown(pageable, {10});
  expect_ipc_error([&] { static_cast<void>(roc::get_ipc_handle(unknown)); },
                   std::errc::invalid_argument, {"HIP does not know it"});
}

TEST(IpcExport, RefusesManagedMemory) {
  if (!roc::device().has_managed_memory()) GTEST_SKIP() << "the device has no managed memory";
  auto const managed = roc::managed_array<int>(roc::shape<1>{10});
  roc::device_view<int, 1> const view(const_cast<int*>(managed.data()), {10});
  expect_ipc_error([&] { static_cast<void>(roc::get_ipc_handle(view)); },
                   std::errc::invalid_argument, {"managed memory", "device_array"});
}

TEST(IpcExport, RefusesMemoryOfDriverPools) {
  roc::hip_async_memory_resource resource;
  roc::device_array<int> const array({100}, resource);
  expect_ipc_error([&] { static_cast<void>(roc::get_ipc_handle(array)); }, std::errc::not_supported,
                   {"hipMallocAsync", "pool_resource"});
  roc::pool_resource pool(resource);
  roc::device_array<int> const pooled({100}, pool);
  expect_ipc_error([&] { static_cast<void>(roc::get_ipc_handle(pooled)); },
                   std::errc::not_supported, {"hipMallocAsync", "hip_memory_resource"});
}

TEST(IpcExport, RefusesForeignMemoryOfDriverPools) {
  // The runtime refuses memory of which the library knows nothing.
  void* data = nullptr;
  ROCARRAY_HIP(hipMallocAsync, &data, 400, nullptr);
  roc::device_view<int, 1> const view(static_cast<int*>(data), {100});
  expect_ipc_error([&] { static_cast<void>(roc::get_ipc_handle(view)); }, std::errc::not_supported,
                   {"hipMallocAsync", "hipIpcGetMemHandle failed"});
  ROCARRAY_HIP(hipFreeAsync, data, nullptr);
  ROCARRAY_HIP(hipDeviceSynchronize);
}

TEST(IpcExport, RefusesRegionsBeyondTheAllocation) {
  roc::hip_memory_resource resource;
  roc::device_array<int> const array({100}, resource);
  roc::device_view<int, 1> const view(array.data(), {101});
  expect_error<roc::shape_error>([&] { static_cast<void>(roc::get_ipc_handle(view)); },
                                 "404 bytes");
  roc::device_view<int, 1> const before(array.data(), {2}, {-1});
  expect_error<roc::shape_error>([&] { static_cast<void>(roc::get_ipc_handle(before)); },
                                 "exceeds its allocation of 400 bytes");
}

TEST(IpcExport, FailedCallsLeaveTheArrayUsable) {
  auto const array = roc::to_device(counted(10));
  std::vector<char const*> calls = {"hipIpcGetMemHandle", "hipStreamSynchronize"};
  if (handles_have_events) {
    calls = {"hipIpcGetMemHandle", "hipIpcGetEventHandle", "hipEventRecord"};
  }
  for (char const* const call : calls) {
    roc::stream const stream;
    ASSERT_TRUE(roc::platform::fail_call(call, 1, hipErrorUnknown));
    try {
      static_cast<void>(roc::get_ipc_handle(array, stream));
      ADD_FAILURE() << call;
    } catch (roc::error const& error) {
      EXPECT_EQ(std::error_code(hipErrorUnknown, roc::hip_category()), error.code())
          << error.what();
      EXPECT_STREQ(call, error.call());
    }
    roc::platform::clear_failures();
    static_cast<void>(roc::get_ipc_handle(array, stream));
  }
  EXPECT_EQ(counted(10), contents(array));
}

TEST(IpcExport, ManyStreamsShareOneEvent) {
  auto const array = roc::to_device(counted(10));
  void* foreign = nullptr;
  ROCARRAY_HIP(hipMalloc, &foreign, 400);
  roc::device_view<int, 1> const foreign_view(static_cast<int*>(foreign), {100});
  roc::test::call_counter const created("hipEventCreateWithFlags");
  for (int i = 0; i < 2000; ++i) {
    roc::stream const stream;
    static_cast<void>(roc::get_ipc_handle(array, stream));
    static_cast<void>(roc::get_ipc_handle(foreign_view, stream));
    stream.synchronize();
  }
  EXPECT_GT(1000, created.count());  // some are for the streams
  ROCARRAY_HIP(hipFree, foreign);
}

TEST(IpcExport, RefusesMovedFromArraysAndStreams) {
  auto array = roc::to_device(counted(10));
  roc::stream stream;
  auto const moved_stream = std::move(stream);
  EXPECT_THROW(static_cast<void>(roc::get_ipc_handle(array, stream)), roc::lifetime_error);
  auto const moved = std::move(array);
  EXPECT_THROW(static_cast<void>(roc::get_ipc_handle(array)), roc::lifetime_error);
}

// Errors of openings

TEST(IpcOpen, RefusesHandlesOfThisProcess) {
  auto const array = roc::to_device(counted(10));
  auto const handle = roc::get_ipc_handle(array);
  roc::test::call_counter const calls("hipIpcOpenMemHandle");
  expect_ipc_error([&] { static_cast<void>(roc::open_ipc_array<int, 1>(handle)); },
                   std::errc::operation_not_permitted,
                   {"this process", std::to_string(handle.process()), "use the array itself"});
  EXPECT_EQ(0, calls.count());
}

TEST(IpcOpen, RefusesDamagedHandles) {
  expect_ipc_error([] { static_cast<void>(roc::open_ipc_array<int, 1>(ipc_array_handle())); },
                   std::errc::invalid_argument, {"damaged"});
  auto const array = roc::to_device(counted(10));
  auto const handle = roc::get_ipc_handle(array);
  for (std::size_t i = 0; i < sizeof handle; ++i) {
    unsigned char bytes[sizeof handle];
    std::memcpy(bytes, &handle, sizeof handle);
    bytes[i] ^= 0x10;
    ipc_array_handle damaged;
    std::memcpy(static_cast<void*>(&damaged), bytes, sizeof damaged);
    expect_ipc_error([&] { static_cast<void>(roc::open_ipc_array<int, 1>(damaged)); },
                     std::errc::invalid_argument, {"damaged"});
  }
  expect_ipc_error([] { ipc_event const opened{ipc_event_handle()}; }, std::errc::invalid_argument,
                   {"damaged"});
}

TEST(IpcOpen, RefusesRegionsBeyondTheAllocationOfTheHandle) {
  other_process owner("simple owner");
  auto const handle = owner.receive<ipc_array_handle>();
  auto const longer = changed(handle, [](auto& data) { data.shape[0] = data.bytes; });
  expect_ipc_error([&] { static_cast<void>(roc::open_ipc_array<int, 1>(longer)); },
                   std::errc::invalid_argument, {"damaged"});
  auto const before = changed(handle, [](auto& data) { data.offset = UINT64_MAX - 3; });
  EXPECT_THROW(static_cast<void>(roc::open_ipc_array<int, 1>(before)), roc::error);
  owner.kill();
}

TEST(IpcOpen, RefusesOtherElementTypesAndRanks) {
  auto const array = roc::to_device(std::vector<float>(10));
  auto const handle = roc::get_ipc_handle(array);
  expect_ipc_error([&] { static_cast<void>(roc::open_ipc_array<int, 1>(handle)); },
                   std::errc::invalid_argument, {"float32", "int32"});
  expect_ipc_error([&] { static_cast<void>(roc::open_ipc_array<double, 1>(handle)); },
                   std::errc::invalid_argument, {"float32", "float64"});
  expect_error<roc::shape_error>([&] { static_cast<void>(roc::open_ipc_array<float, 2>(handle)); },
                                 "rank 1, opened with rank 2");
  auto const records = roc::to_device(std::vector<particle>(3));
  auto const record_handle = roc::get_ipc_handle(records);
  expect_ipc_error(
      [&] { static_cast<void>(roc::open_ipc_array<other_particle, 1>(record_handle)); },
      std::errc::invalid_argument, {"records of 12 bytes", "another type"});
  // Types of the same meaning are equal: the error is another one.
  auto const longs = roc::to_device(std::vector<long>(3));
  expect_ipc_error(
      [&] { static_cast<void>(roc::open_ipc_array<long long, 1>(roc::get_ipc_handle(longs))); },
      std::errc::operation_not_permitted, {"this process"});
}

TEST(IpcOpen, RefusesHandlesOfAnotherBoot) {
  auto const array = roc::to_device(counted(10));
  auto const handle =
      changed(roc::get_ipc_handle(array), [](auto& data) { ++data.origin.boot[1]; });
  expect_ipc_error([&] { static_cast<void>(roc::open_ipc_array<int, 1>(handle)); },
                   std::errc::host_unreachable, {"another machine", "restart"});
}

TEST(IpcOpen, RefusesDevicesThatAreNotThere) {
  other_process owner("simple owner");
  auto const handle = changed(owner.receive<ipc_array_handle>(), [](auto& data) {
    std::strcpy(data.origin.pci_bus_id.data(), "0000:ee:1f.7");
  });
  expect_ipc_error([&] { static_cast<void>(roc::open_ipc_array<int, 1>(handle)); },
                   std::errc::no_such_device,
                   {"0000:ee:1f.7", roc::device().pci_bus_id(), std::to_string(owner.pid())});
  owner.kill();
}

TEST(IpcOpen, RefusesHandlesOfProcessesThatHaveEnded) {
  other_process owner("simple owner");
  auto const handle = owner.receive<ipc_array_handle>();
  auto const pid = owner.pid();
  owner.kill(false);
  expect_ipc_error([&] { static_cast<void>(roc::open_ipc_array<int, 1>(handle)); },
                   std::errc::no_such_process, {"process " + std::to_string(pid), "has ended"});
  owner.kill();
  expect_ipc_error([&] { static_cast<void>(roc::open_ipc_array<int, 1>(handle)); },
                   std::errc::no_such_process, {"process " + std::to_string(pid), "has ended"});
  // Another process may have the number.
  auto const reused = changed(handle, [](auto& data) {
    data.origin.pid = ::getpid();
    ++data.origin.start_time;
  });
  expect_ipc_error([&] { static_cast<void>(roc::open_ipc_array<int, 1>(reused)); },
                   std::errc::no_such_process, {"has ended"});
}

TEST(IpcOpen, EndOfTheProcessWhileItsWorkIsAwaitedThrows) {
  if (!handles_have_events) GTEST_SKIP() << "the export waits for the work";
  if (!gates_hold_across_processes()) {
    GTEST_SKIP() << "only in mode threaded, work waits for the other process to open its gate";
  }
  for (bool const is_reaped : {false, true}) {
    other_process owner("pending owner");
    auto const handle = owner.receive<ipc_array_handle>();
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      owner.kill(is_reaped);
    });
    expect_ipc_error([&] { static_cast<void>(roc::open_ipc_array<int, 1>(handle)); },
                     std::errc::no_such_process, {"has ended"});
    killer.join();
    owner.kill();
  }
}

TEST(IpcOpen, EventThatStaysPendingAfterTheEndOfItsProcessThrows) {
  if (!handles_have_events) GTEST_SKIP() << "the export waits for the work";
  other_process owner("pending owner");
  auto const handle = owner.receive<ipc_array_handle>();
  ipc_calls const calls;
  pending_events const pending;
  std::thread killer([&] {
    // Only when the other thread waits: before, it would find the end of the process earlier.
    while (calls.queries() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    owner.kill(false);
  });
  expect_ipc_error([&] { static_cast<void>(roc::open_ipc_array<int, 1>(handle)); },
                   std::errc::no_such_process,
                   {"process " + std::to_string(owner.pid()), "has ended", "not been reached"});
  killer.join();
  EXPECT_EQ(1, calls.closes());
}

TEST(IpcOpen, ReportsErrorsOfHip) {
  other_process owner("simple owner");
  auto const handle = owner.receive<ipc_array_handle>();
  auto const open = [&] { static_cast<void>(roc::open_ipc_array<int, 1>(handle)); };
  ASSERT_TRUE(roc::platform::fail_call("hipIpcOpenMemHandle", 1, hipErrorUnknown));
  try {
    open();
    ADD_FAILURE();
  } catch (ipc_error const& error) {
    EXPECT_EQ(hipErrorUnknown, error.code().value());
    EXPECT_STREQ("hipIpcOpenMemHandle", error.call());
    EXPECT_NE(std::string::npos, std::string(error.what()).find(std::to_string(owner.pid())));
  }
  // What CUDA returns if other code of the process has opened the memory.
  ASSERT_TRUE(roc::platform::fail_call("hipIpcOpenMemHandle", 1, static_cast<hipError_t>(208)));
  expect_ipc_error(open, std::errc::device_or_resource_busy, {"other code of this process"});
  roc::platform::clear_failures();
  // Nothing is left of the failed calls.
  auto const array = roc::open_ipc_array<int, 1>(handle);
  EXPECT_EQ(counted(1000), contents(array));
  owner.kill();
}

TEST(IpcOpen, ClosesTheMemoryIfALaterCallFails) {
  other_process owner("pending owner");
  auto const handle = owner.receive<ipc_array_handle>();
  owner.send(true);
  std::vector<char const*> calls = {"hipPointerGetAttributes"};
  if (handles_have_events) calls.push_back("hipStreamWaitEvent");
  for (char const* const call : calls) {
    roc::test::call_counter const closed("hipIpcCloseMemHandle");
    roc::stream const stream;
    ASSERT_TRUE(roc::platform::fail_call(call, 1, hipErrorUnknown));
    EXPECT_THROW(static_cast<void>(roc::open_ipc_array<int, 1>(handle, stream)), roc::error)
        << call;
    EXPECT_EQ(1, closed.count()) << call;
    roc::platform::clear_failures();
  }
  auto const array = roc::open_ipc_array<int, 1>(handle);
  EXPECT_EQ(std::vector<int>(1 << 16, 2), contents(array));
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

TEST(IpcOpen, MemoryOfAnotherProcessCannotBeExportedAgain) {
  other_process owner("simple owner");
  auto const array = roc::open_ipc_array<int, 1>(owner.receive<ipc_array_handle>());
  expect_ipc_error([&] { static_cast<void>(roc::get_ipc_handle(array)); },
                   std::errc::invalid_argument,
                   {"process " + std::to_string(owner.pid()), "forward the handle"});
  owner.kill();
}

// Closing

TEST(IpcClose, TransientFailureOfHipIsRepeated) {
  other_process owner("simple owner");
  auto const handle = owner.receive<ipc_array_handle>();
  std::optional<roc::device_array<int>> array = roc::open_ipc_array<int, 1>(handle);
  {
    roc::test::call_counter const closed("hipIpcCloseMemHandle");
    ASSERT_TRUE(roc::platform::fail_call("hipIpcCloseMemHandle", 1, hipErrorUnknown));
    array.reset();
    roc::platform::clear_failures();
    EXPECT_EQ(2, closed.count());
  }
  roc::test::call_counter const opened("hipIpcOpenMemHandle");
  array = roc::open_ipc_array<int, 1>(handle);
  EXPECT_EQ(1, opened.count());
  EXPECT_EQ(counted(1000), contents(*array));
  owner.kill();
}

TEST(IpcClose, MemoryThatHipCannotCloseIsUsedByALaterOpening) {
  other_process owner("simple owner");
  auto const handle = owner.receive<ipc_array_handle>();
  std::optional<roc::device_array<int>> array = roc::open_ipc_array<int, 1>(handle);
  int const* const address = array->data();
  static int messages;
  messages = 0;
  auto const previous_hook = roc::set_log_hook([](char const*) noexcept { ++messages; });
  ASSERT_TRUE(roc::platform::fail_call("hipIpcCloseMemHandle", 1, hipErrorUnknown,
                                       roc::platform::failing_uses::all_later));
  array.reset();
  roc::platform::clear_failures();
  roc::set_log_hook(previous_hook);
  EXPECT_EQ(1, messages);
  {
    roc::test::call_counter const opened("hipIpcOpenMemHandle");
    array = roc::open_ipc_array<int, 1>(handle);
    EXPECT_EQ(0, opened.count());
  }
  EXPECT_EQ(address, array->data());
  EXPECT_EQ(counted(1000), contents(*array));
  roc::test::call_counter const closed("hipIpcCloseMemHandle");
  array.reset();
  EXPECT_EQ(1, closed.count());
  owner.kill();
}

TEST(IpcClose, DoesNotDelayOtherThreads) {
  other_process owner("simple owner");
  auto const handle = owner.receive<ipc_array_handle>();
  std::optional<roc::device_array<int>> array = roc::open_ipc_array<int, 1>(handle);
  static roc::device_array<int> const* local;
  static std::future<void> exported;
  static bool has_returned;
  auto const other = roc::to_device(counted(10));
  local = &other;
  has_returned = false;
  // The hook runs in the thread that closes the memory, as a part of the call of HIP.
  auto const previous_hook =
      roc::platform::set_call_hook([](roc::platform::call_record const& record) {
        if (std::strcmp(record.name, "hipIpcCloseMemHandle") != 0) return;
        exported =
            std::async(std::launch::async, [] { static_cast<void>(roc::get_ipc_handle(*local)); });
        has_returned = exported.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
      });
  array.reset();
  roc::platform::set_call_hook(previous_hook);
  ASSERT_TRUE(exported.valid());
  exported.get();
  EXPECT_TRUE(has_returned);
  owner.kill();
}

TEST(IpcClose, MemoryIsNotOpenedAgainWhileHipClosesIt) {
  other_process owner("simple owner");
  static ipc_array_handle handle;
  static std::future<roc::device_array<int>> opened;
  static bool has_opened;
  handle = owner.receive<ipc_array_handle>();
  has_opened = true;
  std::optional<roc::device_array<int>> array = roc::open_ipc_array<int, 1>(handle);
  auto const previous_hook =
      roc::platform::set_call_hook([](roc::platform::call_record const& record) {
        if (std::strcmp(record.name, "hipIpcCloseMemHandle") != 0 || opened.valid()) return;
        opened = std::async(std::launch::async, [] { return roc::open_ipc_array<int, 1>(handle); });
        auto const status = opened.wait_for(std::chrono::milliseconds(100));
        has_opened = status == std::future_status::ready;
      });
  array.reset();
  roc::platform::set_call_hook(previous_hook);
  ASSERT_TRUE(opened.valid());
  EXPECT_FALSE(has_opened);
  array.emplace(opened.get());
  EXPECT_EQ(counted(1000), contents(*array));
  array.reset();
  owner.kill();
}

// Events

// Opens an event and an array, waits for the event on a stream, adds to the array, and records its
// own event, whose handle it has sent before.
role_definition const relay{
    "relay", [](channel& parent) {
      auto const array = roc::open_ipc_array<int, 1>(parent.receive<ipc_array_handle>());
      ipc_event const filled(parent.receive<ipc_event_handle>());
      ipc_event done;
      parent.send(done.ipc_handle());
      roc::stream const stream;
      for (int round = 0; round < 5; ++round) {
        parent.receive<int>();
        stream.wait(filled);
        array(roc::slice(0, 50)).copy_to_device(array(roc::slice(50, 100)), stream);
        done.record(stream);
        parent.send(round);
      }
      parent.receive<bool>();
    }};

TEST(IpcEvent, OrdersStreamsOfTwoProcesses) {
  roc::device_array<int> array({100});
  array.zero();
  ipc_event filled;
  EXPECT_TRUE(filled.query());
  other_process other("relay");
  other.send(roc::get_ipc_handle(array));
  other.send(filled.ipc_handle());
  ipc_event const done(other.receive<ipc_event_handle>());
  EXPECT_TRUE(done.query());  // nothing was recorded
  roc::stream const stream;
  for (int round = 0; round < 5; ++round) {
    array(roc::slice(50, 100)).fill(round + 1, stream);
    filled.record(stream);
    other.send(round);
    EXPECT_EQ(round, other.receive<int>());
    if (round % 2 == 0) {
      stream.wait(done);
    } else {
      done.synchronize();
      EXPECT_TRUE(done.query());
    }
    std::vector<int> result(100);
    array.copy_to_host(result, stream);
    stream.synchronize();
    EXPECT_EQ(std::vector<int>(100, round + 1), result);
  }
  other.send(true);
  EXPECT_TRUE(other.join());
}

#if ROCARRAY_PLATFORM_AMD
TEST(IpcEvent, ConstructorCreatesTheSharedState) {
  roc::test::call_counter const calls("hipIpcGetEventHandle");
  ipc_event const event;
  EXPECT_EQ(1, calls.count());
}
#endif

TEST(IpcEvent, OpenedEventHasTheHandleThatItWasOpenedWith) {
  other_process other("relay");
  roc::device_array<int> array({100});
  ipc_event filled;
  other.send(roc::get_ipc_handle(array));
  other.send(filled.ipc_handle());
  auto const handle = other.receive<ipc_event_handle>();
  EXPECT_EQ(other.pid(), handle.process());
  ipc_event const done(handle);
  auto const again = done.ipc_handle();
  EXPECT_EQ(0, std::memcmp(&handle, &again, sizeof handle));
  other.kill();
}

TEST(IpcEvent, RefusesHandlesOfThisProcessAndOfEndedOnes) {
  ipc_event event;
  auto const handle = event.ipc_handle();
  expect_ipc_error([&] { ipc_event const opened(handle); }, std::errc::operation_not_permitted,
                   {"this process"});
  auto const ended = changed(handle, [](auto& data) { ++data.origin.start_time; });
  expect_ipc_error([&] { ipc_event const opened(ended); }, std::errc::no_such_process,
                   {"has ended"});
  auto const elsewhere = changed(handle, [](auto& data) { ++data.origin.boot[0]; });
  expect_ipc_error([&] { ipc_event const opened(elsewhere); }, std::errc::host_unreachable, {});
  auto const moved = std::move(event);
  EXPECT_THROW(static_cast<void>(event.ipc_handle()), roc::lifetime_error);
}

role_definition const event_owner{"event owner", [](channel& parent) {
                                    ipc_event const event;
                                    parent.send(event.ipc_handle());
                                    parent.receive<bool>();
                                  }};

TEST(IpcEvent, OpeningReportsErrorsOfHip) {
  other_process owner("event owner");
  auto const handle = owner.receive<ipc_event_handle>();
  ASSERT_TRUE(roc::platform::fail_call("hipIpcOpenEventHandle", 1, hipErrorUnknown));
  try {
    ipc_event const opened(handle);
    ADD_FAILURE();
  } catch (ipc_error const& error) {
    EXPECT_EQ(hipErrorUnknown, error.code().value());
    EXPECT_STREQ("hipIpcOpenEventHandle", error.call());
  }
  ipc_event const opened(handle);
  EXPECT_TRUE(opened.query());
  owner.kill();
}

// Records an event after work that a gate holds back until it is told to open it.
role_definition const pending_event_owner{"pending event owner", [](channel& parent) {
                                            roc::device_array<int> array({100});
                                            ipc_event event;
                                            roc::stream const stream;
                                            roc::test::gate gate;
                                            gate.close(stream);
                                            array.fill(1, stream);
                                            event.record(stream);
                                            parent.send(event.ipc_handle());
                                            parent.receive<bool>();
                                            gate.open();
                                            stream.synchronize();
                                            parent.send(true);
                                            parent.receive<bool>();
                                          }};

TEST(IpcEvent, SynchronizationBlocksUntilTheOtherProcessReachesTheEvent) {
  other_process owner("pending event owner");
  ipc_event const opened(owner.receive<ipc_event_handle>());
  if (gates_hold_across_processes()) {
    EXPECT_FALSE(opened.query());
  }
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    owner.send(true);
  });
  opened.synchronize();
  EXPECT_TRUE(opened.query());
  release.join();
  owner.receive<bool>();
  owner.send(true);
  EXPECT_TRUE(owner.join());
}

TEST(IpcEvent, EndOfTheProcessDoesNotLeaveAWaitBlocked) {
  if (!gates_hold_across_processes()) {
    GTEST_SKIP() << "only in mode threaded, work waits for the other process to open its gate";
  }
  for (bool const is_reaped : {false, true}) {
    other_process owner("pending event owner");
    ipc_event const opened(owner.receive<ipc_event_handle>());
    EXPECT_FALSE(opened.query());
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      owner.kill(is_reaped);
    });
#if ROCARRAY_PLATFORM_HOST
    // What the process had recorded counts as reached.
    opened.synchronize();
    EXPECT_TRUE(opened.query());
    killer.join();
    opened.synchronize();
#else
    // HIP does not say what becomes of the event.
    auto const wait = [&] {
      try {
        opened.synchronize();
      } catch (ipc_error const& error) {
        EXPECT_EQ(std::make_error_condition(std::errc::no_such_process), error.code())
            << error.what();
        EXPECT_NE(std::string::npos, std::string(error.what()).find("has ended")) << error.what();
      }
    };
    wait();
    killer.join();
    wait();
#endif
    owner.kill();
  }
}

TEST(IpcEvent, EventThatStaysPendingAfterTheEndOfItsProcessThrows) {
  for (bool const is_reaped : {false, true}) {
    other_process owner("event owner");
    auto const pid = owner.pid();
    ipc_event const opened(owner.receive<ipc_event_handle>());
    pending_events const pending;
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      owner.kill(is_reaped);
    });
    auto const expect_ended = [&](ipc_event const& event) {
      expect_ipc_error([&] { event.synchronize(); }, std::errc::no_such_process,
                       {"process " + std::to_string(pid), "has ended", "not been reached"});
    };
    expect_ended(opened);
    killer.join();
    expect_ended(opened);
  }
}

TEST(IpcEvent, ErrorOfTheWaitNamesTheEndOfTheProcess) {
  other_process owner("event owner");
  ipc_event const opened(owner.receive<ipc_event_handle>());
  ASSERT_TRUE(roc::platform::fail_call("hipEventQuery", 1, hipErrorUnknown));
  try {
    opened.synchronize();
    ADD_FAILURE();
  } catch (roc::error const& error) {
    EXPECT_EQ(hipErrorUnknown, error.code().value());
    EXPECT_STREQ("hipEventQuery", error.call());
  }
  // While another thread captures in global mode, HIP refuses queries: the wait continues.
  ASSERT_TRUE(roc::platform::fail_call("hipEventQuery", 1, hipErrorStreamCaptureUnsupported));
  opened.synchronize();
  owner.kill(false);
  ASSERT_TRUE(roc::platform::fail_call("hipEventQuery", 1, hipErrorUnknown));
  expect_ipc_error([&] { opened.synchronize(); }, std::errc::no_such_process, {"has ended"});
}

TEST(IpcEvent, ReachedEventOfAnEndedProcessDoesNotThrow) {
  for (bool const is_reaped : {false, true}) {
    other_process owner("pending event owner");
    ipc_event opened(owner.receive<ipc_event_handle>());
    owner.send(true);
    owner.receive<bool>();  // the work is done
    owner.kill(is_reaped);
    opened.synchronize();
    // The process may reach the event after a query and before its end.
    ASSERT_TRUE(roc::platform::fail_call("hipEventQuery", 1, hipErrorNotReady));
    ipc_event const moved(std::move(opened));
    moved.synchronize();
    roc::platform::clear_failures();
  }
}

#if ROCARRAY_PLATFORM_HOST  // HIP does not say whether such an event can still be used
TEST(IpcEvent, RecordOfThisProcessIsAwaitedAfterTheEndOfTheCreator) {
  other_process owner("event owner");
  ipc_event opened(owner.receive<ipc_event_handle>());
  roc::stream const stream;
  roc::test::gate gate;
  gate.close(stream);
  opened.record(stream);
  owner.kill();
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open();
  });
  opened.synchronize();
  EXPECT_TRUE(stream.query());
  release.join();
}
#endif

}  // namespace
