// SPDX-License-Identifier: MIT
// Runs with the profiler library of fake_profiler.cpp (ROCARRAY_PROFILER).
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

// Returns the ranges of the calling thread since the last call.
std::string record() {
  static auto const get = [] {
    void* const library = dlopen(std::getenv("ROCARRAY_PROFILER"), RTLD_NOW);
    return reinterpret_cast<char const* (*)()>(dlsym(library, "fake_profiler_record"));
  }();
  return get();
}

TEST(ProfilerRange, NestsByScope) {
  EXPECT_TRUE(roc::profiler_range::active());
  {
    roc::profiler_range const outer("outer");
    { roc::profiler_range const inner("inner"); }
    roc::profiler_range const last(std::string("last").c_str());
  }
  EXPECT_EQ("[outer[inner][last]]", record());
}

TEST(ProfilerRange, EndsDuringUnwinding) {
  try {
    roc::profiler_range const range("unwound");
    throw std::runtime_error("thrown in the range");
  } catch (std::runtime_error const&) {
  }
  EXPECT_EQ("[unwound]", record());
}

TEST(ProfilerRange, BelongsToItsThread) {
  roc::profiler_range const first_range("mine");
  std::thread([] {
    roc::profiler_range const second_range("theirs");
    EXPECT_EQ("[theirs", record());
  }).join();
  EXPECT_EQ("[mine", record());
}

TEST(ProfilerRange, CoversCopiesAndFills) {
  roc::device_array<int, 2> const array({10, 20});
  auto host = roc::pinned_array<int>(roc::shape<2>{10, 20});
  roc::stream const stream;
  static_cast<void>(record());
  array.copy_to_device(host, stream);
  EXPECT_EQ("[roc::copy host_to_device dma 800 bytes]", record());
  stream.synchronize();
  array.fill(7);
  EXPECT_EQ("[roc::fill device 800 bytes]", record());
  array(roc::all, roc::slice(0, 5)).copy_to_host(host(roc::all, roc::slice(0, 5)));
  EXPECT_EQ("[roc::copy device_to_host packed 200 bytes]", record());
  std::vector<int> pageable(200);
  roc::host_view<int, 2> const view(pageable.data(), {10, 20});
  array.copy_to_host(view);
  EXPECT_EQ("[roc::copy device_to_host staged 800 bytes]", record());
  roc::copy(host, view);
  EXPECT_EQ("[roc::copy host_to_host host 800 bytes]", record());
  roc::fill(view, 1);
  EXPECT_EQ("[roc::fill host 800 bytes]", record());
}

TEST(ProfilerRange, IsNotRecordedIfDisabledByOptions) {
  static_cast<void>(record());
  roc::profiler_range const outer("outer");
  {
    roc::scoped_options const disabled({.profiler_ranges = false});
    EXPECT_FALSE(roc::profiler_range::active());
    roc::profiler_range const inner("inner");
  }
  EXPECT_TRUE(roc::profiler_range::active());
  EXPECT_EQ("[outer", record());
}

TEST(ProfilerRange, EndsIfDisabledMeanwhile) {
  static_cast<void>(record());
  roc::options const previous = roc::get_options();
  {
    roc::profiler_range const range("range");
    roc::set_options({.profiler_ranges = false});
  }
  roc::set_options(previous);
  EXPECT_EQ("[range]", record());
}

TEST(ProfilerRange, EndsIfTheCopyFails) {
  roc::device_array<int> const array({10});
  std::vector<int> host(10);
  roc::stream moved;
  roc::stream const to = std::move(moved);
  EXPECT_THROW(array.copy_to_host(host, moved), roc::error);
  EXPECT_EQ("[roc::copy device_to_host staged 40 bytes]", record());
}

}  // namespace
