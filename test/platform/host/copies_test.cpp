// SPDX-License-Identifier: MIT
// Copies and fills: the copied bytes, and the arguments that are rejected before any byte is
// copied.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>

#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

class HostCopies : public testing::Test {
 protected:
  static constexpr std::size_t bytes = 4096;

  void SetUp() override {
    ok(hipMalloc(&device_, bytes));
    ok(hipMalloc(&other_, bytes));
    ok(hipHostMalloc(&pinned_, bytes, hipHostMallocPortable));
    std::iota(host_.begin(), host_.end(), static_cast<unsigned char>(0));
    ok(hipMemcpy(device_, host_.data(), bytes, hipMemcpyHostToDevice));
  }
  void TearDown() override {
    ok(hipFree(device_));
    ok(hipFree(other_));
    ok(hipHostFree(pinned_));
  }

  std::vector<unsigned char> read(void const* from) {
    std::vector<unsigned char> result(bytes);
    ok(hipMemcpy(result.data(), from, bytes, hipMemcpyDeviceToHost));
    return result;
  }

  char* device_ = nullptr;
  char* other_ = nullptr;
  char* pinned_ = nullptr;
  std::vector<unsigned char> host_ = std::vector<unsigned char>(bytes);
};

TEST_F(HostCopies, BytesAreCopiedBetweenHostPinnedAndDeviceMemory) {
  ok(hipMemcpyAsync(other_, device_, bytes, hipMemcpyDeviceToDevice, nullptr));
  ok(hipMemcpyAsync(pinned_, other_, bytes, hipMemcpyDefault, nullptr));
  std::vector<unsigned char> back(bytes);
  ok(hipMemcpy(back.data(), pinned_, bytes, hipMemcpyHostToHost));
  EXPECT_EQ(host_, back);
  EXPECT_EQ(host_, read(other_));
}

TEST_F(HostCopies, LargeCopyIsComplete) {
  std::vector<unsigned> from(std::size_t{5} << 20);
  std::iota(from.begin(), from.end(), 0u);
  std::vector<unsigned> back(from.size());
  std::size_t const size = from.size() * sizeof(unsigned) - 3;
  void* data = nullptr;
  ok(hipMalloc(&data, size));
  ok(hipMemcpy(data, from.data(), size, hipMemcpyHostToDevice));
  ok(hipMemcpy(back.data(), data, size, hipMemcpyDeviceToHost));
  EXPECT_EQ(0, std::memcmp(from.data(), back.data(), size));
  ok(hipFree(data));
}

TEST_F(HostCopies, LargeBoxIsComplete) {
  constexpr std::size_t width = 1000;
  constexpr std::size_t rows = 700;
  constexpr std::size_t planes = 5;
  std::vector<unsigned char> from(width * rows * planes);
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<unsigned char>(i * 7 + i / 251);
  // The source is packed. The destination is packed, has gaps between rows, or between planes.
  for (auto [pitch, lines] :
       {std::pair{width, rows}, std::pair{width + 24, rows}, std::pair{width, rows + 3}}) {
    char* data = nullptr;
    std::size_t const size = pitch * lines * planes;
    ok(hipMalloc(&data, size));
    ok(hipMemsetAsync(data, 0xEE, size, nullptr));
    hipMemcpy3DParms box{};
    box.srcPtr = make_hipPitchedPtr(from.data(), width, width, rows);
    box.dstPtr = make_hipPitchedPtr(data, pitch, width, lines);
    box.extent = make_hipExtent(width, rows, planes);
    box.kind = hipMemcpyHostToDevice;
    ok(hipMemcpy3DAsync(&box, nullptr));
    std::vector<unsigned char> back(size);
    ok(hipMemcpy(back.data(), data, size, hipMemcpyDeviceToHost));
    for (std::size_t i = 0; i < size; ++i) {
      std::size_t const x = i % pitch;
      std::size_t const y = i / pitch % lines;
      std::size_t const z = i / pitch / lines;
      bool const inside = x < width && y < rows;
      ASSERT_EQ(inside ? from[(z * rows + y) * width + x] : 0xEE, back[i]) << i;
    }
    ok(hipFree(data));
  }
}

TEST_F(HostCopies, InvalidRangesAreRejected) {
  auto const to_device = [&](void* to, void const* from, std::size_t size) {
    return hipMemcpyAsync(to, from, size, hipMemcpyHostToDevice, nullptr);
  };
  expect(hipErrorInvalidValue, to_device(device_ + 1, host_.data(), bytes));
  expect(hipErrorInvalidValue, to_device(other_ + bytes, host_.data(), 1));
  expect(hipErrorInvalidValue, to_device(device_, host_.data(), SIZE_MAX));
  expect(hipErrorInvalidValue, to_device(device_ + 8, host_.data(), SIZE_MAX - 4));
  expect(hipErrorInvalidValue, to_device(device_, pinned_ + 1, bytes));
  expect(hipErrorInvalidValue, to_device(nullptr, host_.data(), 1));
  expect(hipErrorInvalidValue, to_device(device_, nullptr, 1));
  ok(to_device(device_ + bytes - 1, host_.data(), 1));
  ok(to_device(nullptr, nullptr, 0));
  char* freed = nullptr;
  ok(hipMalloc(&freed, 64));
  ok(hipFree(freed));
  expect(hipErrorInvalidValue, to_device(freed, host_.data(), 1));
  // Copies that straddle the beginning or the end of a registered range.
  ok(hipHostRegister(host_.data() + 1000, 1000, 0));
  expect(hipErrorInvalidValue, to_device(device_, host_.data(), 1001));
  expect(hipErrorInvalidValue, to_device(device_, host_.data() + 1999, 2));
  expect(hipErrorInvalidValue, to_device(device_, host_.data(), bytes));
  ok(to_device(device_, host_.data(), 1000));
  ok(to_device(device_, host_.data() + 1000, 1000));
  ok(to_device(device_, host_.data() + 2000, 1000));
  ok(hipHostUnregister(host_.data() + 1000));
}

TEST_F(HostCopies, KindMustMatchMemory) {
  void* const sources[2] = {host_.data(), device_};
  hipMemcpyKind const kinds[2][2] = {{hipMemcpyHostToHost, hipMemcpyHostToDevice},
                                     {hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice}};
  std::vector<char> other_host(64);
  for (int from = 0; from < 2; ++from) {
    for (int to = 0; to < 2; ++to) {
      void* const target = to == 1 ? static_cast<void*>(other_) : other_host.data();
      for (int kind = 0; kind < 4; ++kind) {
        bool const is_valid = kind == kinds[from][to];
        expect(is_valid ? hipSuccess : hipErrorInvalidValue,
               hipMemcpy(target, sources[from], 64, static_cast<hipMemcpyKind>(kind)));
      }
      ok(hipMemcpy(target, sources[from], 64, hipMemcpyDefault));
      expect(hipErrorInvalidValue,
             hipMemcpy(target, sources[from], 64, static_cast<hipMemcpyKind>(9)));
    }
  }
}

TEST_F(HostCopies, RowsAreCopiedWithPitches) {
  ok(hipMemsetAsync(other_, 0, bytes, nullptr));
  // 7 rows of 13 bytes.
  ok(hipMemcpy2DAsync(other_ + 2, 16, device_ + 1, 20, 13, 7, hipMemcpyDeviceToDevice, nullptr));
  auto const back = read(other_);
  for (std::size_t i = 0; i < bytes; ++i) {
    std::size_t const row = (i - 2) / 16;
    std::size_t const column = (i - 2) % 16;
    bool const inside = i >= 2 && row < 7 && column < 13;
    ASSERT_EQ(inside ? host_[1 + row * 20 + column] : 0, back[i]) << i;
  }
  auto const rows = [&](std::size_t to_pitch, std::size_t from_pitch, std::size_t width,
                        std::size_t height) {
    return hipMemcpy2DAsync(other_, to_pitch, device_, from_pitch, width, height,
                            hipMemcpyDeviceToDevice, nullptr);
  };
  expect(hipErrorInvalidPitchValue, rows(12, 20, 13, 7));
  expect(hipErrorInvalidPitchValue, rows(20, 12, 13, 7));
  expect(hipErrorInvalidPitchValue, rows(20, 12, 13, 1));
  expect(hipErrorInvalidValue, rows(20, 1000, 13, 6));
  expect(hipErrorInvalidValue, rows(20, SIZE_MAX / 2, 13, 4));
  ok(rows(1024, 1024, 1024, 4));
  ok(rows(1, 1, 13, 0));
  ok(rows(1, 1, 0, 13));
}

hipMemcpy3DParms boxes(void* to, std::size_t to_pitch, std::size_t to_rows, void* from,
                       std::size_t from_pitch, std::size_t from_rows, hipExtent extent) {
  hipMemcpy3DParms result{};
  result.dstPtr = make_hipPitchedPtr(to, to_pitch, to_pitch, to_rows);
  result.srcPtr = make_hipPitchedPtr(from, from_pitch, from_pitch, from_rows);
  result.extent = extent;
  result.kind = hipMemcpyDeviceToDevice;
  return result;
}

TEST_F(HostCopies, BoxIsCopiedWithPositionsAndPitches) {
  ok(hipMemsetAsync(other_, 0, bytes, nullptr));
  auto box = boxes(other_, 10, 6, device_, 16, 8, make_hipExtent(5, 3, 4));
  box.srcPos = make_hipPos(3, 2, 1);
  box.dstPos = make_hipPos(1, 2, 3);
  ok(hipMemcpy3DAsync(&box, nullptr));
  auto const back = read(other_);
  std::size_t filled = 0;
  for (std::size_t z = 0; z < 4; ++z) {
    for (std::size_t y = 0; y < 3; ++y) {
      for (std::size_t x = 0; x < 5; ++x) {
        auto const expected = host_[((z + 1) * 8 + y + 2) * 16 + x + 3];
        ASSERT_EQ(expected, back[((z + 3) * 6 + y + 2) * 10 + x + 1]);
        if (expected != 0) ++filled;
      }
    }
  }
  EXPECT_EQ(filled, bytes - static_cast<std::size_t>(std::count(back.begin(), back.end(), 0)));
}

TEST_F(HostCopies, InvalidBoxesAreRejected) {
  auto const extent = make_hipExtent(8, 4, 4);
  auto box = boxes(other_, 8, 4, device_, 8, 4, extent);
  ok(hipMemcpy3DAsync(&box, nullptr));
  expect(hipErrorInvalidValue, hipMemcpy3DAsync(nullptr, nullptr));
  box = boxes(other_, 7, 4, device_, 8, 4, extent);
  expect(hipErrorInvalidPitchValue, hipMemcpy3DAsync(&box, nullptr));
  box = boxes(other_, 8, 4, device_, 8, 3, extent);  // planes would overlap
  expect(hipErrorInvalidValue, hipMemcpy3DAsync(&box, nullptr));
  box = boxes(other_, 8, 4, device_, 8, 4, extent);
  box.srcPos.x = 1;  // beyond the end of a row
  expect(hipErrorInvalidPitchValue, hipMemcpy3DAsync(&box, nullptr));
  box = boxes(other_, 8, 4, device_, 8, 4, extent);
  box.srcPos.z = 125;
  expect(hipErrorInvalidValue, hipMemcpy3DAsync(&box, nullptr));
  box.srcPos.z = SIZE_MAX / 8;
  expect(hipErrorInvalidValue, hipMemcpy3DAsync(&box, nullptr));
  box = boxes(other_, 8, 4, device_, 8, 4, make_hipExtent(0, 4, 4));
  ok(hipMemcpy3DAsync(&box, nullptr));
  // A position in the next allocation is out of range.
  box = boxes(other_, 8, 4, device_, 8, 4, make_hipExtent(8, 1, 1));
  box.srcPos.z = bytes / 32;
  expect(hipErrorInvalidValue, hipMemcpy3DAsync(&box, nullptr));
}

TEST_F(HostCopies, FillNeedsDeviceMemory) {
  ok(hipMemsetAsync(device_ + 10, 0x1AB, 20, nullptr));
  auto const back = read(device_);
  for (std::size_t i = 0; i < bytes; ++i) {
    ASSERT_EQ(i >= 10 && i < 30 ? 0xAB : host_[i], back[i]);
  }
  expect(hipErrorInvalidValue, hipMemsetAsync(host_.data(), 0, 1, nullptr));
  expect(hipErrorInvalidValue, hipMemsetAsync(device_ + 1, 0, bytes, nullptr));
  expect(hipErrorInvalidValue, hipMemsetAsync(nullptr, 0, 1, nullptr));
  ok(hipMemsetAsync(nullptr, 0, 0, nullptr));
}

}  // namespace
