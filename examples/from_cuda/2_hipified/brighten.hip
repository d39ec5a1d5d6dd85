#include <roc/native/hip.hpp>
// SPDX-License-Identifier: MIT
// Brightens a picture in pinned memory. Each of two streams copies one half of the columns to the
// device, runs a kernel on it, and copies it back.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "brighten_kernel.cuh"

#define CHECK(call)                                                          \
  do {                                                                       \
    hipError_t const error_ = (call);                                       \
    if (error_ != hipSuccess) {                                             \
      std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error_));   \
      std::exit(1);                                                          \
    }                                                                        \
  } while (false)

int main() {
  int devices = 0;
  if (hipGetDeviceCount(&devices) != hipSuccess || devices == 0) {
    std::puts("no device");
    return 77;
  }
  std::size_t const width = 1000;
  std::size_t const height = 700;
  unsigned char* picture = nullptr;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&picture), width * height));
  for (std::size_t i = 0; i < width * height; ++i) {
    picture[i] = static_cast<unsigned char>(i % 251);
  }

  int const parts = 2;
  std::size_t const part_width = width / parts;
  hipStream_t streams[parts];
  unsigned char* tiles[parts];
  for (int part = 0; part < parts; ++part) {
    CHECK(hipStreamCreateWithFlags(&streams[part], hipStreamNonBlocking));
    CHECK(hipMalloc(reinterpret_cast<void**>(&tiles[part]), part_width * height));
  }
  for (int part = 0; part < parts; ++part) {
    unsigned char* const columns = picture + static_cast<std::size_t>(part) * part_width;
    CHECK(hipMemcpy2DAsync(tiles[part], part_width, columns, width, part_width, height,
                            hipMemcpyHostToDevice, streams[part]));
    dim3 const block(32, 8);
    dim3 const grid(static_cast<unsigned>((part_width + block.x - 1) / block.x),
                    static_cast<unsigned>((height + block.y - 1) / block.y));
    brighten<<<grid, block, 0, streams[part]>>>(tiles[part], part_width, height);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy2DAsync(columns, width, tiles[part], part_width, part_width, height,
                            hipMemcpyDeviceToHost, streams[part]));
  }
  for (int part = 0; part < parts; ++part) {
    CHECK(hipStreamSynchronize(streams[part]));
    CHECK(hipFree(tiles[part]));
    CHECK(hipStreamDestroy(streams[part]));
  }

  unsigned long sum = 0;
  unsigned long white = 0;
  for (std::size_t i = 0; i < width * height; ++i) {
    sum += picture[i];
    if (picture[i] == 255) ++white;
  }
  std::printf("%zu x %zu pixels, sum %lu, %lu of them white\n", height, width, sum, white);
  std::printf("first %d, last %d\n", picture[0], picture[width * height - 1]);
  CHECK(hipHostFree(picture));
  return 0;
}
