// SPDX-License-Identifier: MIT
// The path and the number of threads of one copy, and of a batch.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "platform/call.hpp"

namespace {

using roc::copy_path;

// Returns the trace line of the copy that f makes.
std::string trace_of(auto&& f) {
  f();  // allocates staging memory, which has a line too
  roc::scoped_options const scope({.log = roc::log_level::trace});
  testing::internal::CaptureStderr();
  f();
  return testing::internal::GetCapturedStderr();
}

// Calls may come from any thread, because worker threads take part in copies.
std::mutex mutex;
int memcpy_calls = 0;                 // guarded by mutex
std::set<std::size_t> thread_limits;  // options::copy_threads of the callers; guarded by mutex

// Records the copy calls of HIP that f makes.
void record_calls_of(auto&& f) {
  memcpy_calls = 0;
  thread_limits.clear();
  auto const previous_hook =
      roc::platform::set_call_hook([](roc::platform::call_record const& record) {
        std::lock_guard const lock(mutex);
        if (std::string(record.name).find("hipMemcpy") != 0) return;
        ++memcpy_calls;
        thread_limits.insert(roc::get_options().copy_threads);
      });
  f();
  roc::platform::set_call_hook(previous_hook);
}

// Returns the message of the error that f throws, without the call and its place.
std::string message_of(auto&& f) {
  try {
    f();
  } catch (roc::error const& error) {
    EXPECT_EQ(std::errc::invalid_argument, error.code());
    std::string const text = error.what();
    EXPECT_TRUE(text.starts_with("copy")) << text;
    return text.substr(text.find(": ") + 2);
  }
  return "no error";
}

std::vector<int> numbered(std::size_t count) {
  std::vector<int> result(count);
  std::iota(result.begin(), result.end(), 1);
  return result;
}

roc::host_array<int> pinned_numbers(std::size_t count) {
  auto result = roc::pinned_array<int>(count);
  std::iota(result.data(), result.data() + count, 1);
  return result;
}

std::vector<int> to_vector(roc::device_array<int> const& device) {
  std::vector<int> result(device.size());
  device.copy_to_host(result);
  return result;
}

TEST(CopyOptions, SelectThePathOfOneCopy) {
  auto const pinned = pinned_numbers(100);
  std::vector<int> const pageable = numbered(100);
  roc::device_array<int> const device({100});
  roc::stream const stream;
  EXPECT_EQ("rocarray: trace: roc::copy host_to_device staged 400 bytes\n",
            trace_of([&] { roc::copy(pinned, device, {.path = copy_path::staged}); }));
  EXPECT_EQ(pageable, to_vector(device));
  EXPECT_EQ("rocarray: trace: roc::copy host_to_device staged 400 bytes\n",
            trace_of([&] { roc::copy(pinned, device, stream, {.path = copy_path::staged}); }));
  EXPECT_EQ("rocarray: trace: roc::copy host_to_device staged 400 bytes\n", trace_of([&] {
              roc::copy(pageable, device, stream, roc::borrow_source, {.path = copy_path::staged});
            }));
  EXPECT_EQ("rocarray: trace: roc::copy host_to_device dma 400 bytes\n",
            trace_of([&] { roc::copy(pinned, device); }));
  EXPECT_EQ("rocarray: trace: roc::copy host_to_device dma 400 bytes\n",
            trace_of([&] { roc::copy(pageable, device, {.path = copy_path::dma}); }));
  stream.synchronize();
}

TEST(CopyOptions, PathWinsOverThatOfTheScope) {
  auto const pinned = pinned_numbers(100);
  roc::device_array<int> const device({100});
  roc::scoped_options const scope({.path = copy_path::staged});
  EXPECT_EQ("rocarray: trace: roc::copy host_to_device dma 400 bytes\n",
            trace_of([&] { roc::copy(pinned, device, {.path = copy_path::dma}); }));
  EXPECT_EQ("rocarray: trace: roc::copy host_to_device staged 400 bytes\n",
            trace_of([&] { roc::copy(pinned, device, roc::copy_options()); }));
}

TEST(CopyOptions, ImpossiblePathIsAnError) {
  auto const pinned = pinned_numbers(100);
  std::vector<int> other(100);
  roc::device_array<int> const device({100});
  device.fill(7);
  roc::stream const stream;
  std::string const message =
      "the copy cannot take the path of its copy_options: packed; use copy_path::none, or a path "
      "that its layouts and kinds of memory allow";
  roc::copy_options const packed{.path = copy_path::packed};
  EXPECT_EQ(message, message_of([&] { roc::copy(pinned, device, packed); }));
  EXPECT_EQ(message, message_of([&] { roc::copy(pinned, device, stream, packed); }));
  EXPECT_EQ(message, message_of([&] { roc::copy(pinned, other, packed); }));
  EXPECT_EQ(message, message_of([&] { roc::copy(device, other, stream, packed); }));
  stream.synchronize();
  EXPECT_EQ(std::vector<int>(100, 7), to_vector(device));
  EXPECT_EQ(std::vector<int>(100), other);
  // HIP reads pageable memory during the call, which a copy on a stream may allow only if it is
  // small.
  std::vector<int> const large(1 << 18);
  roc::device_array<int> const target({large.size()});
  EXPECT_EQ("no error", message_of([&] { roc::copy(large, target, {.path = copy_path::dma}); }));
  EXPECT_NE("no error",
            message_of([&] { roc::copy(large, target, stream, {.path = copy_path::dma}); }));
  // As an option it is a preference.
  roc::scoped_options const scope({.path = copy_path::packed});
  EXPECT_EQ("no error", message_of([&] { roc::copy(pinned, device); }));
}

TEST(CopyOptions, AreCheckedAlsoForCopiesOfNothing) {
  std::vector<int> const nothing;
  roc::device_array<int> const device({0});
  roc::copy(nothing, device, {.path = copy_path::kernel});
  EXPECT_EQ("copy_options::threads is out of range: 257; use a number from 1 to 256",
            message_of([&] { roc::copy(nothing, device, {.threads = 257}); }));
  EXPECT_EQ("copy_options::path is invalid: 9; use an enumerator of copy_path",
            message_of([&] { roc::copy(nothing, device, {.path = static_cast<copy_path>(9)}); }));
}

// Workers that take part have the options of the copy; thread_pool_test.cpp counts them.
TEST(CopyOptions, LimitTheThreadsOfOneCopy) {
  std::vector<int> const host = numbered(1 << 20);
  roc::device_array<int> const device({host.size()});
  roc::scoped_options const scope({.copy_threads = 6, .staging_block = 16 << 10});
  std::vector<int> back(host.size());
  for (std::size_t const threads : {1, 2, 6}) {
    record_calls_of([&] {
      roc::copy(host, device, {.threads = threads});
      roc::copy(device, back, {.threads = threads});
    });
    EXPECT_GT(memcpy_calls, 500);
    EXPECT_EQ(std::set<std::size_t>{threads}, thread_limits);
  }
  EXPECT_EQ(host, back);
}

TEST(CopyOptions, PathOfABatchIsThatOfEachCopy) {
  constexpr int count = 5;
  auto const pinned = pinned_numbers(100 * count);
  roc::device_array<int> const device({100 * count});
  roc::copy_batch batch;
  for (int i = 0; i != count; ++i) {
    auto const part = roc::slice(100 * i, 100 * (i + 1));
    batch.add(pinned(part), device(part));
  }
  record_calls_of([&] { batch.submit(); });
  EXPECT_LT(memcpy_calls, count);
  for (bool const on_stream : {false, true}) {
    roc::stream const stream;
    device.fill(0);
    record_calls_of([&] {
      if (on_stream) {
        batch.submit(stream, {.path = copy_path::dma});
      } else {
        batch.submit({.path = copy_path::dma});
      }
    });
    stream.synchronize();
    EXPECT_EQ(count, memcpy_calls);
    EXPECT_EQ(numbered(100 * count), to_vector(device));
  }
}

TEST(CopyOptions, ImpossiblePathOfACopyInABatchIsAnError) {
  auto const pinned = pinned_numbers(100);
  roc::device_array<int> const device({100});
  roc::copy_batch batch;
  batch.add(pinned(roc::slice(0, 100, 2)), device(roc::slice(0, 100, 2)));
  EXPECT_NE("no error", message_of([&] { batch.submit({.path = copy_path::dma}); }));
  EXPECT_EQ("no error", message_of([&] { batch.submit({.path = copy_path::packed}); }));
  EXPECT_EQ("copy_options::threads is out of range: 1000; use a number from 1 to 256",
            message_of([&] { batch.submit({.threads = 1000}); }));
  batch.submit({.threads = 1});
  EXPECT_EQ(99, device(98).get());
}

}  // namespace
