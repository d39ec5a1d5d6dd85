// SPDX-License-Identifier: MIT
// Every HIP call that a copy makes fails once: the error names the call, and the same copy works
// right afterwards.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "platform/call.hpp"
#include "support/options.hpp"

namespace {

namespace platform = roc::platform;

// Staging memory is small, so that copies take many chunks.
roc::test::program_options const options_of_tests(roc::test::small_staging);

// Guarded by a mutex because worker threads call HIP too.
std::mutex recorded_mutex;
// Never destroyed: a worker thread that is starting may still call the hook when the process ends.
auto& recorded = *new std::set<std::string>;

// Returns the names of the HIP calls that `work` makes.
template <class F>
std::set<std::string> calls_of(F work) {
  {
    std::lock_guard const lock(recorded_mutex);
    recorded.clear();
  }
  auto const previous_hook = platform::set_call_hook([](platform::call_record const& record) {
    std::lock_guard const lock(recorded_mutex);
    recorded.insert(record.name);
  });
  work();
  platform::set_call_hook(previous_hook);
  std::lock_guard const lock(recorded_mutex);
  return recorded;
}

template <class F>
void fail_each_call(F work) {
  work();  // allocates staging memory and events
  auto const log = roc::set_log_hook([](char const*) noexcept {});
  for (std::string const& name : calls_of(work)) {
    if (name == "hipGetLastError") continue;
    ASSERT_TRUE(platform::fail_call(name.c_str(), 1, hipErrorLaunchFailure)) << name;
    try {
      work();
      // No exception: the call is made by a destructor, which logs the error.
    } catch (roc::error const& error) {
      EXPECT_EQ(name, error.call());
      EXPECT_EQ(hipErrorLaunchFailure, error.code().value());
    }
    platform::clear_failures();
    EXPECT_NO_THROW(work()) << "after a failing " << name;
  }
  roc::set_log_hook(log);
}

TEST(CopyFailure, PageableCopyWithoutStreamRecovers) {
  std::vector<int> const source(5000, 3);
  roc::device_array<int> const array({5000});
  fail_each_call([&] {
    std::vector<int> back(5000);
    array.copy_to_device(source);
    array.copy_to_host(back);
    if (back != source) throw std::logic_error("wrong bytes");
  });
}

TEST(CopyFailure, PageableCopyOnStreamRecovers) {
  std::vector<int> const source(5000, 4);
  roc::device_array<int> const array({5000});
  roc::stream const stream;
  fail_each_call([&] {
    std::vector<int> back(5000);
    auto const guard = stream.auto_synchronize();
    array.copy_to_device(source, stream);
    array.copy_to_host(back, stream);
    stream.synchronize();
    if (back != source) throw std::logic_error("wrong bytes");
  });
}

// If recording the use of the new array fails, its copy may be pending: the array must wait for it.
TEST(CopyFailure, CopyIntoNewHostArrayOnStreamRecovers) {
  roc::device_array<int> const array({5000});
  array.copy_to_device(std::vector<int>(5000, 6));
  roc::stream const stream;
  fail_each_call([&] {
    auto const back = array.copy_to_host(stream);
    stream.synchronize();
    if (back(4999) != 6) throw std::logic_error("wrong bytes");
  });
}

TEST(CopyFailure, StridedCopyRecovers) {
  std::vector<int> const source(5000, 5);
  roc::device_array<int, 2> const array({50, 100});
  fail_each_call([&] {
    std::vector<int> back(5000);
    array.transpose().copy_to_device(source);
    array.transpose().copy_to_host(back);
    if (back != source) throw std::logic_error("wrong bytes");
  });
}

// All routes of a batch's copies, with and without a stream.
TEST(CopyFailure, BatchRecovers) {
  std::vector<int> const source(5000, 7);
  roc::host_array<int, 1> pinned({5000}, roc::order::c, roc::host_memory::pinned);
  roc::device_array<int> const first({5000});
  roc::device_array<int> const second({5000});
  roc::stream const stream;
  for (bool const on_stream : {false, true}) {
    fail_each_call([&] {
      std::vector<int> back(5000);
      auto const guard = stream.auto_synchronize();
      roc::copy_batch batch;
      for (std::ptrdiff_t i = 0; i != 5000; i += 500) {
        auto const part = roc::slice(i, i + 400);
        roc::host_view const from(source.data() + i, roc::shape<1>{400});
        roc::host_view const to(back.data() + i, roc::shape<1>{400});
        batch.add(from, first(part)).add(first(part), pinned(part));
        batch.add(pinned(part), second(part)).add(second(part), to);
      }
      if (on_stream) {
        batch.submit(stream);
      } else {
        batch.submit();
      }
      stream.synchronize();
      if (back[1] != 7 || back[4899] != 7 || back[450] != 0) throw std::logic_error("wrong bytes");
    });
  }
}

// The pool of device arrays may hold the memory that a copy needs.
TEST(CopyFailure, PoolIsTrimmedIfScratchMemoryCannotBeAllocated) {
  roc::scoped_options const scope({.staging_block = 24 << 10});  // of no other test: not allocated
  roc::hip_memory_resource hip_resource;
  roc::pool_resource pool(hip_resource);
  roc::memory_resource* const previous = roc::set_device_resource(0, &pool);
  // The pool queries this stream when it trims, so one trim frees the memory.
  roc::stream const idle(roc::non_blocking);
  pool.deallocate(pool.allocate(std::size_t{1} << 20, idle), std::size_t{1} << 20, idle);
  EXPECT_NE(0u, pool.statistics().reserved_bytes);
  std::vector<int> const source(5000, 5);
  roc::device_array<int, 2> const array({50, 200}, hip_resource);
  auto const part = array(roc::all, roc::slice(0, 200, 2));
  ASSERT_TRUE(platform::fail_call("hipMalloc", 1, hipErrorOutOfMemory));
  EXPECT_NO_THROW(part.copy_to_device(source));
  platform::clear_failures();
  EXPECT_EQ(0u, pool.statistics().reserved_bytes);
  EXPECT_EQ(5, part(49, 99).get());
  roc::set_device_resource(0, previous);
}

TEST(CopyFailure, FailedStagingAllocationThrowsOutOfMemory) {
  // In a process of its own, which has no staging memory yet.
  EXPECT_EXIT(
      {
        std::vector<int> const source(10, 1);
        roc::device_array<int> const array({10});
        platform::fail_call("hipHostMalloc", 1, hipErrorOutOfMemory);
        try {
          array.copy_to_device(source);
        } catch (roc::out_of_memory const& error) {
          std::exit(std::string(error.call()) == "hipHostMalloc" ? 0 : 2);
        }
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
