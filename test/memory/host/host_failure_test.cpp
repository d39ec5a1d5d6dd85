// SPDX-License-Identifier: MIT
// Host memory that is freed or deregistered while waiting fails or memory is exhausted: it is never
// reused or freed under pending work, and nothing ends the process.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/failing_new.hpp"
#include "support/gate.hpp"

namespace {

constexpr std::size_t count = 100'000;

std::mutex log_mutex;
std::string logged;  // guarded by log_mutex

std::atomic<int> freed = 0;
std::atomic<int> registered = 0;

// Counts what was freed, and the ranges that are registered.
void count_call(roc::platform::call_record const& record) {
  if (record.result != hipSuccess) return;
  std::string_view const name = record.name;
  if (name == "hipHostFree") ++freed;
  if (name == "hipHostRegister") ++registered;
  if (name == "hipHostUnregister") --registered;
}

void fail_once(char const* call) {
  ASSERT_TRUE(roc::platform::fail_call(call, 1, hipErrorLaunchFailure));
}

// Makes every way to wait for one stream fail once.
void fail_next_wait() {
  for (auto const* const call :
       {"hipEventSynchronize", "hipStreamSynchronize", "hipDeviceSynchronize"}) {
    fail_once(call);
  }
}

class HostFailure : public testing::Test {
 protected:
  void SetUp() override {
    device_.fill('d', stream_);  // starts threads, too
    stream_.synchronize();
    roc::trim_pinned_cache();
    logged.clear();
    freed = registered = 0;
    initial_ = roc::pinned_cache();
    previous_log_ = roc::set_log_hook([](char const* text) noexcept {
      std::lock_guard const lock(log_mutex);
      logged += std::string(text) + "\n";
    });
    previous_hook_ = roc::platform::set_call_hook(count_call);
  }
  void TearDown() override {
    roc::platform::clear_failures();
    roc::platform::set_call_hook(previous_hook_);
    roc::set_log_hook(previous_log_);
  }
  bool has_logged(char const* text) const {
    std::lock_guard const lock(log_mutex);
    return logged.find(text) != std::string::npos;
  }

  // HIP on the CPU may need memory to unregister a range. The range stays registered then.
  void deregister_if_hip_failed(std::vector<char> const& memory) {
    if (registered != 0) {
      EXPECT_TRUE(has_logged("hipHostUnregister failed: out of memory")) << logged;
      roc::deregister(memory);
    }
    EXPECT_EQ(0, registered);
    logged.clear();
  }
  std::size_t pinned() const { return roc::pinned_cache().pinned - initial_.pinned; }

  roc::pinned_cache_information initial_ = roc::pinned_cache();
  roc::device_array<char> device_{roc::shape<1>{count}};
  roc::stream stream_;
  roc::log_hook previous_log_ = nullptr;
  roc::platform::call_hook previous_hook_ = nullptr;
};

TEST_F(HostFailure, DestructorLeaksMemoryThatPendingCopiesMayUse) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  static char* leaked[2];  // static, because LeakSanitizer finds the memory then
  int i = 0;
  for (auto const kind : {roc::host_memory::pageable, roc::host_memory::pinned}) {
    roc::test::gate gate;
    {
      roc::host_array<char> array({count}, roc::order::c, kind);
      leaked[i] = array.data();
      gate.close(stream_);
      roc::copy(device_, array, stream_);
      fail_next_wait();
    }
    roc::platform::clear_failures();
    EXPECT_TRUE(has_logged("host memory is leaked")) << logged;
    EXPECT_TRUE(has_logged("97.66 KiB")) << logged;
    gate.open();
    stream_.synchronize();
    EXPECT_EQ('d', leaked[i][count - 1]) << "the copy writes memory that was not freed";
    EXPECT_EQ(0, freed);
    EXPECT_EQ(0u, roc::pinned_cache().blocks);
    logged.clear();
    ++i;
  }
}

TEST_F(HostFailure, PinnedCacheLeaksMemoryThatPendingCopiesMayUse) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  if (roc::pinned_cache().limit == 0) GTEST_SKIP() << "ROCARRAY_PINNED_CACHE=0";
  roc::test::gate gate;
  auto mapping = roc::map(device_, roc::access::write, stream_);
  std::fill_n(mapping.data(), count, 'm');
  gate.close(stream_);
  mapping.unmap();
  ASSERT_EQ(1u, roc::pinned_cache().blocks);
  fail_next_wait();
  roc::trim_pinned_cache();
  EXPECT_TRUE(has_logged("host memory is leaked")) << logged;
  EXPECT_EQ(0, freed);
  EXPECT_EQ(0u, roc::pinned_cache().blocks);
  gate.open();
  stream_.synchronize();
  EXPECT_EQ('m', device_(-1).get());
}

TEST_F(HostFailure, PinnedArrayIsAllocatedIfAQueryOfCachedMemoryFails) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  if (roc::pinned_cache().limit == 0) GTEST_SKIP() << "ROCARRAY_PINNED_CACHE=0";
  roc::test::gate gate;
  auto mapping = roc::map(device_, roc::access::write, stream_);
  gate.close(stream_);
  mapping.unmap();
  gate.open();
  stream_.synchronize();
  ASSERT_EQ(1u, roc::pinned_cache().blocks);
  fail_once("hipEventQuery");
  auto const array = roc::pinned_array<char>(count);
  EXPECT_EQ(2u, pinned());
  EXPECT_EQ(1u, roc::pinned_cache().blocks);
}

TEST_F(HostFailure, DeregisterWaitsInAnotherWayIfEventsFail) {
  std::vector<char> memory(count);
  auto guard = roc::register_host(memory);
  device_.copy_to_host(memory, stream_);
  fail_once("hipEventSynchronize");
  guard.deregister();
  EXPECT_EQ('d', memory.back());
  EXPECT_EQ(0, registered);
  EXPECT_TRUE(has_logged("hipEventSynchronize"));
}

TEST_F(HostFailure, DeregisterThrowsAndCanBeRepeatedIfNothingCanWait) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  std::vector<char> memory(count);
  auto guard = roc::register_host(memory);
  roc::test::gate gate;
  gate.close(stream_);
  device_.copy_to_host(memory, stream_);
  fail_next_wait();
  EXPECT_THROW(guard.deregister(), roc::error);
  EXPECT_EQ(1, registered);
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(memory, device_)) << "it can be used as before";
  gate.open();
  guard.deregister();
  EXPECT_EQ('d', memory.back());
  EXPECT_EQ(0, registered);
}

TEST_F(HostFailure, AdoptionAndDeviceAddressesCallHipWithoutALock) {
  static roc::host_view<char> range;
  roc::host_array<char> memory({3 * 4096});
  auto const skip = 4096 - reinterpret_cast<std::uintptr_t>(memory.data()) % 4096;
  range = roc::host_view<char>(memory.data() + skip, roc::shape<1>{4096});
  ROCARRAY_HIP(hipHostRegister, range.data(), range.size(), hipHostRegisterMapped);
  roc::platform::set_call_hook([](roc::platform::call_record const& record) {
    std::string_view const name = record.name;
    if (!name.starts_with("hipPointerGetAttribute") && name != "hipHostGetDevicePointer") return;
    // With the mutex of the table or of the aliases held this would not return.
    roc::host_array<char> const other({100});
    roc::device_array<char> const device({100});
    static_cast<void>(roc::planned_path(other, device));
    std::vector<char> unknown(8);
    EXPECT_THROW(roc::deregister(unknown), roc::registration_error);
  });
  {
    auto const guard = roc::adopt_registered(range);
    static_cast<void>(roc::device_view_of(range));
  }
  roc::platform::set_call_hook(count_call);
  ROCARRAY_HIP(hipHostUnregister, range.data());
}

#if !ROCARRAY_PLATFORM_NVIDIA  // a program for amd also runs on the fake HIP runtime

// Each allocation of memory that the functions below make fails once. A vendor's runtime may not
// survive that itself.
class ExhaustedMemory : public HostFailure {
 protected:
  void SetUp() override {
    HostFailure::SetUp();
    if (!roc::test::on_cpu()) GTEST_SKIP() << "only HIP on the CPU survives failures of new";
  }
};

TEST_F(ExhaustedMemory, IsSurvivedByArraysOfAllKinds) {
  for (auto const kind : {roc::host_memory::pageable, roc::host_memory::pinned}) {
    long const failures = roc::test::fail_each_new([&] {
      roc::host_array<char> array({count}, roc::order::c, kind);
      std::fill(array.begin(), array.end(), 'a');
    });
    EXPECT_GE(failures, 1);
  }
  roc::trim_pinned_cache();
  EXPECT_EQ(pinned(), static_cast<std::size_t>(freed.load())) << logged;
}

TEST_F(ExhaustedMemory, IsSurvivedByDestructorsWithPendingCopies) {
  for (auto const kind : {roc::host_memory::pageable, roc::host_memory::pinned}) {
    bool has_failed = true;
    for (long nth = 1; has_failed; ++nth) {
      std::optional<roc::host_array<char>> array(std::in_place, roc::shape<1>{count}, roc::order::c,
                                                 kind);
      std::fill(array->begin(), array->end(), 'a');
      roc::copy(*array, device_, stream_);
      {
        roc::test::failing_new const failure(nth);
        array.reset();
        has_failed = failure.has_failed();
      }
      roc::host_array<char> reused({count}, roc::order::c, kind);
      std::fill(reused.begin(), reused.end(), 'b');
      stream_.synchronize();
      EXPECT_EQ('a', device_(-1).get());
    }
  }
  roc::trim_pinned_cache();
  EXPECT_EQ(pinned(), static_cast<std::size_t>(freed.load())) << logged;
}

TEST_F(ExhaustedMemory, IsSurvivedByThePinnedCache) {
  bool has_failed = true;
  for (long nth = 1; has_failed; ++nth) {
    auto mapping = roc::map(device_, roc::access::write, stream_);
    std::fill_n(mapping.data(), count, 'm');
    roc::test::failing_new const failure(nth);
    try {
      mapping.unmap();
      roc::trim_pinned_cache(0);
    } catch (std::bad_alloc const&) {
    } catch (roc::out_of_memory const&) {
    }
    has_failed = failure.has_failed();
  }
  stream_.synchronize();
  roc::trim_pinned_cache();
  EXPECT_EQ(pinned(), static_cast<std::size_t>(freed.load())) << logged;
}

TEST_F(ExhaustedMemory, IsSurvivedByRegistrations) {
  std::vector<char> memory(count);
  long nth = 0;
  for (bool has_failed = true; has_failed;) {
    {
      roc::test::failing_new const failure(++nth);
      try {
        auto const guard = roc::register_host(memory);
        roc::copy(device_, memory, stream_);
      } catch (std::bad_alloc const&) {
      } catch (roc::out_of_memory const&) {
      }
      has_failed = failure.has_failed();
    }
    deregister_if_hip_failed(memory);
    EXPECT_THROW(roc::deregister(memory), roc::registration_error);
  }
  EXPECT_GE(nth, 2);
}

TEST_F(ExhaustedMemory, DoesNotKeepAGuardFromWaiting) {
  std::vector<char> memory(count);
  bool has_failed = true;
  for (long nth = 1; has_failed; ++nth) {
    std::fill(memory.begin(), memory.end(), 'a');
    std::optional<roc::registration> guard = roc::register_host(memory);
    roc::copy(device_, memory, stream_);
    {
      roc::test::failing_new const failure(nth);
      guard.reset();
      has_failed = failure.has_failed();
    }
    EXPECT_EQ('d', memory.back()) << nth;
    deregister_if_hip_failed(memory);
  }
}

TEST_F(ExhaustedMemory, DoesNotLoseUses) {
  std::vector<char> memory(count);
  auto guard = roc::register_host(memory);
  for (long nth = 1;; ++nth) {
    roc::stream const stream;
    device_.fill('d', stream);
    stream.synchronize();
    std::fill(memory.begin(), memory.end(), 'a');
    roc::test::failing_new const failure(nth);
    try {
      roc::copy(device_, memory, stream);
    } catch (std::bad_alloc const&) {
    } catch (roc::out_of_memory const&) {
    }
    if (!failure.has_failed()) {
      guard.deregister();
      EXPECT_EQ('d', memory.back());
      break;
    }
  }
}

#endif

}  // namespace
