// SPDX-License-Identifier: MIT
// The language of kernels beside declarations of the program and of the C library.
extern "C" {
double rsqrt(double) noexcept;  // C23
float rsqrtf(float) noexcept;
}

#include <algorithm>

#include <roc/launch.hpp>
#include <roc/roc.hpp>

using namespace std;

struct lane_values {};
struct kernel_index {};
struct running_block {};
struct host_kernel {};
struct block_reduction {};
struct warp_call {};
void exchange(lane_values, kernel_index, running_block*, host_kernel, block_reduction, warp_call);

__device__ unsigned area(dim3 extent) { return extent.x * extent.y; }

__global__ void kernel(int* out, int n) {
  dim3 const grid = gridDim;
  dim3 const block(blockDim);
  int const i = min(static_cast<int>(threadIdx.x), n);
  out[i] = max(i, 3) + static_cast<int>(area(threadIdx) + area(grid) + block.z);
  unsigned const u = max(i, 3u) + min(2u, i);
  float const f = min(1.0f, 2.0f) + rsqrtf(2.0f);
  double const d = max(1.0f, 2.0) + rsqrt(2.0);
  uint3 const index = threadIdx;
  float4 const v = make_float4(1, 2, 3, 4);
  if (isnan(v.x) || signbit(v.y) || __float_as_int(v.z) == 0 || __brev(index.x) == 1u) out[1] = 0;
  out[0] = static_cast<int>(u + static_cast<unsigned>(f) + static_cast<unsigned>(d));
}

void test(int* out) { roc::launch(kernel, {1}, {1}, 0, {}, out, 3); }
