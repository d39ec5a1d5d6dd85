// SPDX-License-Identifier: MIT
// Copies and memsets: all intended bytes change, and no others.
#include "support.hpp"

#include <cstring>

namespace probe {

namespace {

using bytes = std::vector<unsigned char>;

bytes download(void const* device, std::size_t size) {
  bytes host(size);
  need(hipMemcpy(host.data(), device, size, hipMemcpyDeviceToHost), "hipMemcpy to host");
  return host;
}

void upload(void* device, bytes const& host) {
  need(hipMemcpy(device, host.data(), host.size(), hipMemcpyHostToDevice), "hipMemcpy to device");
}

void contiguous() {
  bytes const source = pattern(5001, 1);
  device_memory a(source.size());
  device_memory b(source.size());
  upload(a.data, source);
  need(hipMemcpyAsync(b.data, a.data, source.size(), hipMemcpyDeviceToDevice, nullptr),
       "on device");
  check(download(b.data, source.size()) == source, "copies to the device, on the device, and back");

  bytes expected = source;
  std::memcpy(expected.data() + 3, source.data() + 1001, 777);
  need(hipMemcpy(static_cast<char*>(b.data) + 3, source.data() + 1001, 777, hipMemcpyDefault),
       "hipMemcpyDefault");
  check(download(b.data, source.size()) == expected, "odd offsets and sizes with hipMemcpyDefault");

  bytes host_copy(source.size());
  need(hipMemcpy(host_copy.data(), source.data(), source.size(), hipMemcpyHostToHost),
       "on the host");
  check(host_copy == source, "copy from host to host");
  expect(hipSuccess, hipMemcpyAsync(nullptr, nullptr, 0, hipMemcpyHostToDevice, nullptr),
         "copy of 0 bytes with null pointers succeeds");
}

void memsets() {
  owned_stream stream;
  constexpr std::size_t size = 1024;
  device_memory memory(size);
  bool all_match = true;
  for (std::size_t offset : {0U, 1U, 3U, 254U}) {
    for (std::size_t count : {0U, 1U, 2U, 3U, 7U, 255U, 256U, 511U}) {
      bytes expected = pattern(size, 5);
      upload(memory.data, expected);
      char* const begin = static_cast<char*>(memory.data) + offset;
      need(hipMemsetAsync(begin, 0xA5, count, stream.handle), "hipMemsetAsync");
      need(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
      std::memset(expected.data() + offset, 0xA5, count);
      all_match = all_match && download(memory.data, size) == expected;
    }
  }
  check(all_match, "memsets of odd sizes at odd offsets set the intended bytes only");
}

void rows() {
  constexpr std::size_t width = 37;
  constexpr std::size_t height = 11;
  constexpr std::size_t host_pitch = 41;
  constexpr std::size_t device_pitch = 53;
  bytes const source = pattern(host_pitch * height, 2);
  bytes expected = pattern(device_pitch * height, 3);
  device_memory memory(expected.size());
  upload(memory.data, expected);
  owned_stream stream;
  need(hipMemcpy2DAsync(memory.data, device_pitch, source.data(), host_pitch, width, height,
                        hipMemcpyHostToDevice, stream.handle),
       "hipMemcpy2DAsync to device");
  need(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
  for (std::size_t row = 0; row < height; ++row) {
    std::memcpy(&expected[row * device_pitch], &source[row * host_pitch], width);
  }
  check(download(memory.data, expected.size()) == expected,
        "a 2-D copy to the device leaves gaps unchanged");

  bytes back = pattern(host_pitch * height, 4);
  bytes expected_back = back;
  need(hipMemcpy2DAsync(back.data(), host_pitch, memory.data, device_pitch, width, height,
                        hipMemcpyDeviceToHost, stream.handle),
       "hipMemcpy2DAsync to host");
  need(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
  for (std::size_t row = 0; row < height; ++row) {
    std::memcpy(&expected_back[row * host_pitch], &source[row * host_pitch], width);
  }
  check(back == expected_back, "a copy back to the host leaves gaps unchanged");

  expect(hipErrorInvalidPitchValue,
         hipMemcpy2DAsync(memory.data, width - 1, source.data(), host_pitch, width, height,
                          hipMemcpyHostToDevice, stream.handle),
         "a pitch smaller than the width returns 12");
  expect(hipSuccess,
         hipMemcpy2DAsync(memory.data, device_pitch, source.data(), host_pitch, 0, height,
                          hipMemcpyHostToDevice, stream.handle),
         "a 2-D copy of width 0 succeeds");
}

/// The layout of a 3-D copy's source or destination: pitch, rows of a slice, position of the box.
struct box_layout {
  std::size_t pitch;
  std::size_t rows;
  std::size_t x, y, z;

  std::size_t at(std::size_t column, std::size_t row, std::size_t slice) const {
    return (((slice + z) * rows) + row + y) * pitch + column + x;
  }
  hipPitchedPtr pointer(void* memory) const {
    return make_hipPitchedPtr(memory, pitch, pitch, rows);
  }
};

void boxes() {
  constexpr std::size_t width = 13;
  constexpr std::size_t height = 5;
  constexpr std::size_t depth = 4;
  box_layout const from{19, 8, 3, 2, 1};
  box_layout const to{23, 7, 5, 1, 2};
  bytes source = pattern(from.pitch * from.rows * 6, 8);
  bytes expected = pattern(to.pitch * to.rows * 7, 9);
  device_memory memory(expected.size());
  upload(memory.data, expected);

  hipMemcpy3DParms copy;
  std::memset(&copy, 0, sizeof copy);
  copy.srcPtr = from.pointer(source.data());
  copy.srcPos = make_hipPos(from.x, from.y, from.z);
  copy.dstPtr = to.pointer(memory.data);
  copy.dstPos = make_hipPos(to.x, to.y, to.z);
  copy.extent = make_hipExtent(width, height, depth);
  copy.kind = hipMemcpyHostToDevice;
  owned_stream stream;
  need(hipMemcpy3DAsync(&copy, stream.handle), "hipMemcpy3DAsync to device");
  need(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
  for (std::size_t slice = 0; slice < depth; ++slice) {
    for (std::size_t row = 0; row < height; ++row) {
      std::memcpy(&expected[to.at(0, row, slice)], &source[from.at(0, row, slice)], width);
    }
  }
  check(download(memory.data, expected.size()) == expected,
        "a 3-D copy to the device leaves gaps unchanged");

  bytes back = pattern(source.size(), 10);
  bytes expected_back = back;
  copy.srcPtr = to.pointer(memory.data);
  copy.srcPos = make_hipPos(to.x, to.y, to.z);
  copy.dstPtr = from.pointer(back.data());
  copy.dstPos = make_hipPos(from.x, from.y, from.z);
  copy.kind = hipMemcpyDeviceToHost;
  need(hipMemcpy3DAsync(&copy, stream.handle), "hipMemcpy3DAsync to host");
  need(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
  for (std::size_t slice = 0; slice < depth; ++slice) {
    for (std::size_t row = 0; row < height; ++row) {
      std::size_t const begin = from.at(0, row, slice);
      std::memcpy(&expected_back[begin], &source[begin], width);
    }
  }
  check(back == expected_back, "a copy back to the host leaves gaps unchanged");
}

}  // namespace

void probe_copies() {
  section("copies");
  contiguous();
  memsets();
  rows();
  boxes();
}

}  // namespace probe
