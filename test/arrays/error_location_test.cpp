// SPDX-License-Identifier: MIT
// Every error names the program's call: operation, direction, file and line.
#include <gtest/gtest.h>
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "platform/call.hpp"

namespace {

using roc::shape;

// Expects that `call`, on the line of this function's call, throws E, whose message begins with the
// operation and that line, and contains `problem`.
template <class E, class F>
void expect_error(char const* operation, char const* problem, F&& call,
                  std::source_location here = std::source_location::current()) {
  try {
    call();
    ADD_FAILURE() << "line " << here.line() << ": nothing was thrown";
  } catch (roc::error const& error) {
    EXPECT_NE(nullptr, dynamic_cast<E const*>(&error)) << error.what();
    EXPECT_EQ(here.line(), error.location().line()) << error.what();
    EXPECT_STREQ(here.file_name(), error.location().file_name()) << error.what();
    std::string const begin =
        operation + (" at error_location_test.cpp:" + std::to_string(here.line())) + ": ";
    EXPECT_EQ(begin, std::string(error.what()).substr(0, begin.size())) << error.what();
    EXPECT_NE(std::string::npos, std::string(error.what()).find(problem)) << error.what();
  }
}

// A macro, so that all of it is on one line for the compiler, which the error names.
#define EXPECT_ERROR(type, operation, problem, ...) \
  expect_error<type>(operation, problem, [&] { __VA_ARGS__; })

struct ErrorLocation : testing::Test {
  roc::device_array<int, 2> array{shape<2>{2, 3}};
  std::vector<int> wrong = std::vector<int>(5);
  roc::stream stream;
};

TEST_F(ErrorLocation, IsThatOfACopyWithAnotherShape) {
  EXPECT_ERROR(roc::shape_error, "copy_to_host (device to host)", "incompatible shape",
               array.copy_to_host(wrong));
  EXPECT_ERROR(roc::shape_error, "copy_to_host (device to host)", "incompatible shape",
               array.copy_to_host(wrong, stream));
  EXPECT_ERROR(roc::shape_error, "copy_to_device (host to device)", "incompatible shape",
               array.copy_to_device(wrong));
  EXPECT_ERROR(roc::shape_error, "copy_to_device (host to device)", "incompatible shape",
               array.view().copy_to_device(wrong, stream));
  EXPECT_ERROR(roc::shape_error, "copy_to_device (device to device)", "incompatible shape",
               array.copy_to_device(roc::device_array<int, 2>({3, 2})));
  EXPECT_ERROR(roc::shape_error, "to_device (host to device)", "incompatible shape",
               roc::to_device(wrong, array));
  EXPECT_ERROR(roc::shape_error, "copy_to_host (device to host)", "incompatible shape",
               array.bind(stream).copy_to_host(wrong));
}

TEST_F(ErrorLocation, IsThatOfALayoutThatDoesNotFit) {
  auto const columns = array.transpose();
  EXPECT_ERROR(roc::layout_error, "ravel", "needs a copy", columns.ravel());
  EXPECT_ERROR(roc::layout_error, "reshape", "needs a copy", columns.reshape(shape<1>{6}));
  EXPECT_ERROR(roc::shape_error, "reshape_copy", "cannot reshape", array.reshape_copy(shape<1>{7}));
  EXPECT_ERROR(roc::layout_error, "transpose", "not a permutation", array.transpose({1, 1}));
  EXPECT_ERROR(roc::shape_error, "squeeze", "extent is not 1", array.squeeze<0>());
  EXPECT_ERROR(roc::shape_error, "split", "sections of 0", array.split(0));
  EXPECT_ERROR(roc::layout_error, "as", "a size that divides the other",
               array.transpose()(roc::all, 0).as<std::array<char, 3>>());
  roc::host_array<int, 2> host(shape<2>{2, 3});
  EXPECT_ERROR(roc::layout_error, "ravel", "needs a copy", host.transpose().ravel());
}

TEST_F(ErrorLocation, IsThatOfAConstructor) {
  constexpr std::size_t huge = std::size_t{1} << 62;
  EXPECT_ERROR(roc::shape_error, "device_array", "array size overflows",
               roc::device_array<int, 2>({huge, huge}));
  EXPECT_ERROR(roc::shape_error, "device_array", "negative", roc::device_array<int, 1>(-1));
  EXPECT_ERROR(roc::layout_error, "device_array", "strides",
               roc::device_array<int, 1>({5}, roc::strides<1>{0}));
  EXPECT_ERROR(roc::out_of_memory, "device_array", "", roc::device_array<char, 1>(huge / 2));
  EXPECT_ERROR(roc::shape_error, "host_array", "array size overflows",
               roc::host_array<int, 2>({huge, huge}));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // end the process instead
  EXPECT_ERROR(roc::out_of_memory, "host_array", "", roc::host_array<char, 1>(huge / 2));
#endif
}

TEST_F(ErrorLocation, IsThatOfACopyThatOverlaps) {
  auto const row = array.reshape(shape<1>{6});
  EXPECT_ERROR(roc::overlap_error, "copy_to_device (device to device)", "overlap",
               row(roc::slice(0, 4)).copy_to_device(row(roc::slice(1, 5))));
}

TEST_F(ErrorLocation, IsThatOfARegistration) {
  auto const guard = roc::register_host(wrong);
  roc::host_view<int, 1> const part(wrong.data() + 1, shape<1>{2});
  EXPECT_ERROR(roc::registration_error, "register_host", "overlaps",
               static_cast<void>(roc::register_host(part)));
  EXPECT_ERROR(roc::registration_error, "register_host", "overlaps",
               static_cast<void>(roc::register_host(roc::registration_options{}, part)));
  EXPECT_ERROR(roc::registration_error, "deregister", "", roc::deregister(part));
  roc::host_array<int, 1> pageable(4);
  EXPECT_ERROR(roc::registration_error, "require", "wrong kind of memory",
               pageable.require(roc::host_memory::pinned));
}

TEST_F(ErrorLocation, IsThatOfAnEarlyDeregistration) {
  auto guard = roc::register_host(wrong);
  roc::deregister(wrong);
  EXPECT_ERROR(roc::registration_error, "deregister", "is not registered", guard.deregister());
  guard.release();
}

TEST_F(ErrorLocation, IsNotRepeatedByTheMessage) {
  auto const guard = roc::register_host(wrong);
  roc::host_view<int, 1> const part(wrong.data() + 1, shape<1>{2});
  auto const problem_of = [](auto&& call) -> std::string {
    try {
      call();
    } catch (roc::error const& error) {
      std::string const text = error.what();
      return text.substr(text.find(": ") + 2);
    }
    return "nothing was thrown";
  };
  for (std::string const& problem :
       {problem_of([&] { static_cast<void>(roc::register_host(part)); }),
        problem_of([&] { roc::deregister(part); }),
        problem_of([&] { static_cast<void>(roc::adopt_registered(part)); })}) {
    EXPECT_EQ(0u, problem.find("[0x")) << problem;
    EXPECT_NE(std::string::npos, problem.find("; ")) << problem;
  }
  auto const owner = std::move(array);
  EXPECT_EQ("the destination was moved from or never allocated; use an array that owns memory",
            problem_of([] { roc::fill(roc::device_view<int, 1>(nullptr, {3}), 1); }));
}

TEST_F(ErrorLocation, IsThatOfManagedMemory) {
  std::vector<int> const host(5);
  auto const location = roc::memory_location::host();
  EXPECT_ERROR(roc::error, "advise", "is not managed memory",
               roc::advise(host, roc::advice::read_mostly, location));
  EXPECT_ERROR(roc::error, "prefetch", "is not managed memory",
               roc::prefetch(host, location, stream));
  EXPECT_ERROR(roc::error, "migrate", "is not managed memory", roc::migrate(host, location));
  EXPECT_ERROR(roc::error, "attach", "is not managed memory", roc::attach(host, stream));
}

TEST_F(ErrorLocation, IsThatOfAMapping) {
  array.zero();
  auto mapped = roc::map(array, roc::access::read);
  mapped.unmap();
  EXPECT_ERROR(roc::lifetime_error, "unmap", "map the array again", mapped.unmap());
  EXPECT_ERROR(roc::registration_error, "device_view_of", "is not mapped",
               static_cast<void>(roc::device_view_of(wrong)));
  auto const owner = std::move(array);
  EXPECT_ERROR(roc::lifetime_error, "map", "moved from",
               static_cast<void>(roc::map(array, roc::access::read)));
  EXPECT_ERROR(roc::lifetime_error, "map", "moved from",
               static_cast<void>(roc::map(array, roc::access::read, stream)));
}

TEST_F(ErrorLocation, IsThatOfAnAdoption) {
  auto const keep = [](void*) {};
  EXPECT_ERROR(roc::error, "adopt", "adopt device or managed memory",
               static_cast<void>(roc::adopt(wrong.data(), shape<1>{5}, keep)));
  EXPECT_ERROR(roc::lifetime_error, "adopt", "null pointer",
               static_cast<void>(
                   roc::adopt(static_cast<int*>(nullptr), shape<1>{5}, roc::strides<1>{1}, keep)));
}

TEST_F(ErrorLocation, IsThatOfAMemoryResource) {
  struct nameless_resource : roc::memory_resource {
    void* do_allocate(std::size_t, roc::stream_ref) override { return nullptr; }
    void do_deallocate(void*, std::size_t, roc::stream_ref) noexcept override {}
  } nameless;
  EXPECT_ERROR(roc::error, "pool_resource", "does not name its device",
               roc::pool_resource{nameless});
  EXPECT_ERROR(roc::error, "hip_memory_resource", "does not exist", roc::hip_memory_resource(1000));
  EXPECT_ERROR(roc::error, "hip_async_memory_resource", "does not exist",
               roc::hip_async_memory_resource(1000));
  EXPECT_ERROR(roc::error, "device_resource", "does not exist", roc::device_resource(1000));
  EXPECT_ERROR(roc::error, "set_device_resource", "does not exist",
               roc::set_device_resource(1000, nullptr));
  EXPECT_ERROR(roc::out_of_memory, "allocate", "address space",
               static_cast<void>(nameless.allocate(SIZE_MAX)));
}

TEST_F(ErrorLocation, IsThatOfOptions) {
  EXPECT_ERROR(roc::error, "set_options", "copy_threads is out of range: 0",
               roc::set_options({.copy_threads = 0}));
  EXPECT_ERROR(roc::error, "scoped_options", "copy_threads is out of range: 0",
               roc::scoped_options({.copy_threads = 0}));
}

TEST_F(ErrorLocation, IsThatOfAStreamOrADevice) {
  EXPECT_ERROR(roc::error, "device", "device 1000 does not exist", roc::device(1000));
  EXPECT_ERROR(roc::error, "stream_pool", "0 streams", roc::stream_pool(0));
  roc::stream const other = std::move(stream);
  EXPECT_ERROR(roc::lifetime_error, "auto_synchronize", "moved from",
               static_cast<void>(stream.auto_synchronize()));
  EXPECT_ERROR(roc::lifetime_error, "priority", "moved from", static_cast<void>(stream.priority()));
}

// Expects that `call`, on the line of this macro, reports the next failure of the HIP call.
#define EXPECT_FAILURE(hip_call, operation, ...)                             \
  ASSERT_TRUE(roc::platform::fail_call(#hip_call, 1, hipErrorInvalidValue)); \
  EXPECT_ERROR(roc::error, operation, #hip_call " failed", __VA_ARGS__)

TEST_F(ErrorLocation, IsThatOfAFailingHipCall) {
  roc::device const device;
  // They take the native streams that the library has kept, so that the next stream creates one.
  device.synchronize();
  roc::stream_pool const blocking(50);
  roc::stream_pool const non_blocking(50, roc::non_blocking);
  EXPECT_FAILURE(hipStreamCreateWithFlags, "stream", roc::stream());
  EXPECT_FAILURE(hipStreamCreateWithFlags, "stream", roc::stream(roc::non_blocking));
  EXPECT_FAILURE(hipDeviceGetStreamPriorityRange, "stream", roc::stream(-1));
  EXPECT_FAILURE(hipStreamCreateWithFlags, "stream_pool", roc::stream_pool(2));
  EXPECT_FAILURE(hipEventCreateWithFlags, "event", roc::event());
  EXPECT_FAILURE(hipEventCreateWithFlags, "timed_event", roc::timed_event());
  EXPECT_FAILURE(hipStreamGetFlags, "per_thread_stream",
                 static_cast<void>(roc::per_thread_stream()));
  EXPECT_FAILURE(hipStreamGetFlags, "from_native",
                 static_cast<void>(roc::from_native(roc::native(stream))));
  EXPECT_FAILURE(hipDeviceSynchronize, "synchronize", device.synchronize());
  EXPECT_FAILURE(hipDeviceGetName, "name", static_cast<void>(device.name()));
  EXPECT_FAILURE(hipMemGetInfo, "memory", static_cast<void>(device.memory()));
  EXPECT_FAILURE(hipSetDevice, "make_current", device.make_current());
  EXPECT_FAILURE(hipGetDeviceCount, "count", static_cast<void>(roc::device::count()));
  EXPECT_FAILURE(hipGetDevice, "device", static_cast<void>(roc::device()));
  auto guard = stream.auto_synchronize();
  EXPECT_FAILURE(hipStreamSynchronize, "synchronize", guard.synchronize());
}

TEST_F(ErrorLocation, IsThatOfTheUseOfAMovedFromObject) {
  auto const owner = std::move(array);
  EXPECT_ERROR(roc::lifetime_error, "copy_to_host (device to host)", "moved from",
               array.copy_to_host());
  EXPECT_ERROR(roc::lifetime_error, "zero", "moved from", array.zero());
  EXPECT_ERROR(roc::lifetime_error, "fill", "moved from", roc::fill(array, 3));
  EXPECT_ERROR(roc::lifetime_error, "device_array_like", "moved from",
               static_cast<void>(roc::device_array_like(array)));
  EXPECT_ERROR(roc::lifetime_error, "release", "moved from", array.release());
  roc::stream const other = std::move(stream);
  EXPECT_ERROR(roc::lifetime_error, "synchronize", "moved from", stream.synchronize());
  EXPECT_ERROR(roc::lifetime_error, "query", "moved from", static_cast<void>(stream.query()));
  roc::event event;
  roc::event const taken = std::move(event);
  EXPECT_ERROR(roc::lifetime_error, "record", "moved from", event.record());
  EXPECT_ERROR(roc::lifetime_error, "wait", "moved from", other.wait(event));
}

// Empty operations check their stream too.
TEST_F(ErrorLocation, IsThatOfAMovedFromStreamOfAnEmptyOperation) {
  roc::device_array<int> const empty({0});
  roc::host_array<int> const host({0});
  roc::stream const other = std::move(stream);
  EXPECT_ERROR(roc::lifetime_error, "copy (device to device)", "moved from",
               roc::copy(empty, empty, stream));
  EXPECT_ERROR(roc::lifetime_error, "copy_to_device (host to device)", "moved from",
               empty.copy_to_device(host, stream));
  EXPECT_ERROR(roc::lifetime_error, "zero", "moved from", empty.zero(stream));
  EXPECT_ERROR(roc::lifetime_error, "fill", "moved from", empty.fill(3, stream));
  EXPECT_ERROR(roc::lifetime_error, "device_array", "moved from",
               roc::device_array<int>(roc::shape<1>{0}, roc::order::c, stream));
  roc::hip_memory_resource resource;
  EXPECT_ERROR(roc::lifetime_error, "device_array", "moved from",
               roc::device_array<int>(roc::shape<1>{0}, resource, roc::order::c, stream));
  EXPECT_ERROR(roc::lifetime_error, "for_each", "moved from",
               roc::for_each(stream, 0, [](std::size_t) {}));
}

TEST_F(ErrorLocation, IsThatOfForEach) {
  constexpr std::size_t huge = std::size_t{1} << 62;
  EXPECT_ERROR(roc::shape_error, "for_each", "array size overflows",
               roc::for_each({}, shape<2>{huge, huge}, [](std::size_t, std::size_t) {}));
  EXPECT_ERROR(roc::shape_error, "for_each", "negative", roc::for_each({}, -1, [](std::size_t) {}));
}

TEST_F(ErrorLocation, IsUnknownIfTheLibraryCallsItself) {
  try {
    static_cast<void>(array.transpose().reshape(6));  // a list of extents leaves no place for it
    ADD_FAILURE() << "nothing was thrown";
  } catch (roc::layout_error const& error) {
    EXPECT_EQ(0u, error.location().line()) << error.what();
    EXPECT_EQ(std::string::npos, std::string(error.what()).find(".hpp")) << error.what();
  }
}

TEST_F(ErrorLocation, LeavesEmptyBracesToTheStream) {
  std::vector<int> host(6);
  array.fill(7, {});
  array.zero({});
  array.copy_to_host(host, {});
  roc::to_device(host, array, {});
  roc::copy(array, host, {});
  roc::copy(array, host, {}, {.threads = 2});
  roc::copy(array, host, {.path = roc::copy_path::staged});
  roc::copy_batch batch;
  batch.add(array, host);
  batch.submit({});
  batch.submit({.threads = 2});
  roc::stream_ref{}.synchronize();
  EXPECT_EQ(std::vector<int>(6), host);
}

TEST_F(ErrorLocation, IsForgottenAfterTheCall) {
  EXPECT_THROW(array.split(0), roc::shape_error);
  EXPECT_EQ(0u, roc::shape_error("mine").location().line());
  EXPECT_STREQ("mine", roc::shape_error("mine").what());
}

}  // namespace
