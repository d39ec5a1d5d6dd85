// SPDX-License-Identifier: MIT
// Ownership of device memory that is adopted, released or shared by several arrays.
#include <roc/device_array.hpp>

namespace {
// The function `adopt` may be declared after a use of the class.
struct owner {
  roc::device_array<int> array;
};
}  // namespace

#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

void* allocate(std::size_t bytes) {
  void* data = nullptr;
  ROCARRAY_HIP(hipMalloc, &data, bytes);
  return data;
}

// Frees the memory, and counts how often it is called.
struct finalizer {
  std::atomic<int>* calls;
  void operator()(void* data) const {
    ++*calls;
    ROCARRAY_HIP(hipFree, data);
  }
};

TEST(AdoptedArray, MayBeOfAnEarlierInstanceOfTheClass) {
  std::atomic<int> calls = 0;
  auto* const data = static_cast<int*>(allocate(4 * sizeof(int)));
  {
    owner const o{roc::adopt(data, roc::shape<1>{4}, finalizer{&calls})};
    EXPECT_EQ(data, o.array.data());
  }
  EXPECT_EQ(1, calls);
}

TEST(AdoptedArray, FinalizerRunsOnceAfterTheLastOwner) {
  std::atomic<int> calls = 0;
  {
    auto* const data = static_cast<int*>(allocate(64));
    auto array = roc::adopt(data, roc::shape<2>{4, 4}, finalizer{&calls});
    EXPECT_EQ(data, array.data());
    EXPECT_EQ(0, array.device_ordinal());
    array.fill(3);
    EXPECT_EQ(3, array(3, 3).get());
    auto moved = std::move(array);
    auto row = std::move(moved)(2, roc::all);
    auto matrix = std::move(row).reshape(2, 2);
    EXPECT_EQ(0, calls);
    EXPECT_EQ(3, matrix(1, 1).get());
  }
  EXPECT_EQ(1, calls);
}

TEST(AdoptedArray, HasTheGivenStridesOrOrder) {
  std::atomic<int> calls = 0;
  auto* const data = static_cast<int*>(allocate(96));
  {
    auto const array =
        roc::adopt(data, roc::shape<2>{2, 3}, roc::strides<2>{10, 2}, finalizer{&calls});
    EXPECT_EQ((roc::strides<2>{10, 2}), array.strides());
  }
  EXPECT_EQ(1, calls);
  auto const f = roc::adopt(static_cast<int*>(allocate(24)), roc::shape<2>{2, 3}, finalizer{&calls},
                            roc::order::f);
  EXPECT_TRUE(f.is_f_contiguous());
}

TEST(Adopt, ThrowsForAPointerOfTheWrongKind) {
  std::atomic<int> calls = 0;
  auto const adopt = [&](int* data) {
    static_cast<void>(roc::adopt(data, roc::shape<1>{4}, finalizer{&calls}));
  };
  auto pinned = roc::pinned_array<int>(4);
  try {
    adopt(pinned.data());
    FAIL();
  } catch (roc::error const& error) {
    EXPECT_EQ(std::errc::invalid_argument, error.code());
    EXPECT_NE(std::string::npos, std::string(error.what()).find("pinned or registered host memory"))
        << error.what();
  }
  std::vector<int> pageable(4);
  EXPECT_THROW(adopt(pageable.data()), roc::error);
  EXPECT_THROW(adopt(nullptr), roc::lifetime_error);
  roc::device_array<char> const chars({64});
  EXPECT_THROW(adopt(reinterpret_cast<int*>(chars.data() + 1)), roc::layout_error);
  EXPECT_EQ(0, calls);
}

TEST(Adopt, DoesNotCallTheFinalizerForZeroElements) {
  std::atomic<int> calls = 0;
  {
    auto const array = roc::adopt(static_cast<int*>(nullptr), roc::shape<1>{0}, finalizer{&calls});
    EXPECT_EQ(nullptr, array.data());
  }
  EXPECT_EQ(0, calls);
}

std::string logged;

TEST(AdoptedArray, ExceptionOfTheFinalizerGoesToTheLogHook) {
  logged.clear();
  auto const previous_hook =
      roc::set_log_hook([](char const* message) noexcept { logged = message; });
  auto* const data = static_cast<int*>(allocate(16));
  {
    auto const array = roc::adopt(data, roc::shape<1>{4}, [](void* memory) {
      ROCARRAY_HIP(hipFree, memory);
      throw std::runtime_error("out of space");
    });
  }
  roc::set_log_hook(previous_hook);
  EXPECT_NE(std::string::npos, logged.find("out of space")) << logged;
}

TEST(AdoptedArray, FinalizerIsDestroyedWithTheArray) {
  auto const owner = std::make_shared<int>();
  {
    auto const array = roc::adopt(static_cast<int*>(allocate(16)), roc::shape<1>{4},
                                  [owner](void* memory) { ROCARRAY_HIP(hipFree, memory); });
    EXPECT_LT(1, owner.use_count());
  }
  EXPECT_EQ(1, owner.use_count());
}

TEST(AdoptedArray, FinalizerRunsAfterAllWorkOnTheDevice) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  roc::stream const stream;
  std::vector<int> host(1000, 1);
  auto const pins = roc::register_host(host);
  std::atomic<int> seen = -1;
  {
    auto* const data = static_cast<int*>(allocate(4000));
    auto array = roc::adopt(data, roc::shape<1>{1000}, [&](void* memory) {
      seen = host[999];  // written by the copy
      ROCARRAY_HIP(hipFree, memory);
    });
    array.fill(7, stream);
    array.copy_to_host(host, stream);
  }
  EXPECT_EQ(7, seen);
}

TEST(DeviceArrayRelease, TransfersOwnershipToTheCaller) {
  roc::hip_memory_resource direct;
  roc::device_array<int> array({3}, direct);
  array.copy_to_device(std::vector<int>{1, 2, 3});
  int* const data = array.release();
  EXPECT_THROW(array.data(), roc::lifetime_error);
  EXPECT_THROW(array.release(), roc::lifetime_error);
  std::vector<int> back(3);
  roc::device_view<int>(data, {3}).copy_to_host(back);
  EXPECT_EQ(3, back[2]);
  ROCARRAY_HIP(hipFree, data);
}

TEST(DeviceArrayRelease, DoesNotCallTheFinalizer) {
  std::atomic<int> calls = 0;
  auto* const data = static_cast<int*>(allocate(16));
  {
    auto array = roc::adopt(data, roc::shape<1>{4}, finalizer{&calls});
    EXPECT_EQ(data, array.release());
  }
  EXPECT_EQ(0, calls);
  ROCARRAY_HIP(hipFree, data);
}

TEST(DeviceArrayRelease, ThrowsLayoutErrorForAPartOfAnAllocation) {
  roc::device_array<int> array({10});
  auto part = std::move(array)(roc::slice(2, 5));
  EXPECT_THROW(part.release(), roc::layout_error);
  EXPECT_EQ(3u, part.size());
}

TEST(DeviceAllocation, ArraysBeginAtTheirOffsets) {
  roc::device_allocation memory(4096);
  EXPECT_EQ(4096u, memory.size_bytes());
  auto const a = memory.array<float>(0, roc::shape<2>{4, 8});
  auto const b = memory.array<double>(1024, roc::shape<1>{16});
  auto const f = memory.array<int>(2048, roc::shape<2>{4, 8}, roc::order::f);
  auto const strided = memory.array<int>(2560, roc::shape<2>{2, 3}, roc::strides<2>{16, 2});
  auto const padded = memory.array<int>(3072, roc::shape<2>{3, 5}, roc::padded<2>{4, 8});
  auto const base = reinterpret_cast<std::uintptr_t>(a.data());
  EXPECT_EQ(base + 1024, reinterpret_cast<std::uintptr_t>(b.data()));
  EXPECT_EQ(base + 3072, reinterpret_cast<std::uintptr_t>(padded.data()));
  a.fill(1);
  b.fill(2);
  f.fill(3);
  strided.fill(4);
  padded.zero();
  EXPECT_EQ(1.0f, a(3, 7).get());
  EXPECT_EQ(2.0, b(15).get());
  EXPECT_EQ(3, f(3, 7).get());
  EXPECT_EQ(4, strided(1, 2).get());
  EXPECT_EQ(0, padded.padded_view()(3, 7).get());
}

TEST(DeviceAllocation, LivesAsLongAsItsLastArray) {
  roc::device_array<int> second;
  {
    roc::device_allocation memory(256);
    auto const first = memory.array<int>(0, roc::shape<1>{16});
    second = memory.array<int>(64, roc::shape<1>{16});
  }
  second.fill(9);  // would fault on freed memory
  EXPECT_EQ(9, second(15).get());
  EXPECT_THROW(second.release(), roc::lifetime_error);
}

TEST(DeviceAllocation, ArraysMayOverlap) {
  roc::device_allocation memory(1024);
  auto const whole = memory.array<int>(0, roc::shape<1>{256});
  auto const half = memory.array<int>(512, roc::shape<1>{128});
  whole.fill(5);
  EXPECT_EQ(5, half(0).get());
  EXPECT_THROW(roc::copy(half, whole(roc::slice(100, 228))), roc::overlap_error);
  EXPECT_NO_THROW(roc::copy(half, whole(roc::slice(0, 128))));
}

TEST(DeviceAllocation, InvalidOffsetsThrow) {
  roc::device_allocation memory(100);
  EXPECT_THROW(memory.array<int>(0, roc::shape<1>{26}), roc::shape_error);
  EXPECT_THROW(memory.array<int>(104, roc::shape<1>{0}), roc::shape_error);
  EXPECT_THROW(memory.array<int>(SIZE_MAX - 3, roc::shape<1>{1}), roc::shape_error);
  EXPECT_THROW(memory.array<int>(2, roc::shape<1>{4}), roc::layout_error);
  EXPECT_NO_THROW(memory.array<char>(2, roc::shape<1>{98}));
  EXPECT_NO_THROW(memory.array<int>(100, roc::shape<1>{0}));
  auto const moved = std::move(memory);
  EXPECT_THROW(memory.array<int>(0, roc::shape<1>{1}), roc::lifetime_error);
  EXPECT_EQ(0u, memory.size_bytes());
}

TEST(DeviceAllocation, PaddedRowsNeedAnAlignedOffset) {
  roc::device_allocation memory(4096);
  roc::padded<2> const rows{roc::padding(), roc::padding().coalesced()};
  EXPECT_THROW(memory.array<float>(4, roc::shape<2>{3, 5}, rows), roc::layout_error);
  EXPECT_NO_THROW(memory.array<float>(128, roc::shape<2>{3, 5}, rows));
}

}  // namespace
