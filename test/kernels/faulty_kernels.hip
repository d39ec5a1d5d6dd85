// SPDX-License-Identifier: MIT
#undef ROCARRAY_CHECK_BOUNDS  // a precompiled header sets the default
#define ROCARRAY_CHECK_BOUNDS 1
#undef NDEBUG

#include "kernels/faulty_kernels.hpp"

#include <cassert>
#include <cstdio>
#include <stdexcept>

#include <roc/kernel.hpp>

#include "platform/host/host_stub.hpp"

#if !ROCARRAY_KERNEL_HOST_STUB
#include <roc/launch.hpp>
#endif

namespace roc::test {

__global__ void left_out_barrier() {
  if (threadIdx.x == 5) return;
  __syncthreads();
}
ROCARRAY_HOST_STUB(left_out_barrier);

__global__ void two_barriers() {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}
ROCARRAY_HOST_STUB(two_barriers);

__device__ void wait_in_function() { __syncthreads(); }

__global__ void correct_barriers() {
  for (int i = 0; i < 10; ++i) __syncthreads();
  wait_in_function();
  if (threadIdx.x == 3) return;
}
ROCARRAY_HOST_STUB(correct_barriers);

__global__ void inactive_lane(int* out) {
  if (threadIdx.x % 2 == 0) *out = shuffle(1, lane_index() + 1);
}
ROCARRAY_HOST_STUB(inactive_lane);

// HIP of some versions has no functions with masks.
#if !defined(__HIP__)
__global__ void left_out_lanes(int* out) {
  if (threadIdx.x < 16) {
    __syncwarp(0xffffffff);
  } else {
    *out = __any_sync(0xffffffff, 1);
  }
}
__global__ void lanes_at_barrier() {
  if (threadIdx.x < 16 && threadIdx.x != 3) __syncwarp(0xffffffff);
  __syncthreads();
}
__global__ void two_places() {
  if (threadIdx.x < 16) {
    __syncwarp(0xffffffff);
  } else {
    __syncwarp(0xffffffff);
  }
}
__global__ void outside_mask(unsigned mask) { __syncwarp(mask); }
#else
__global__ void left_out_lanes(int*) {}
__global__ void lanes_at_barrier() {}
__global__ void two_places() {}
__global__ void outside_mask(unsigned) {}
#endif
ROCARRAY_HOST_STUB(left_out_lanes);
ROCARRAY_HOST_STUB(lanes_at_barrier);
ROCARRAY_HOST_STUB(two_places);
ROCARRAY_HOST_STUB(outside_mask);

__global__ void ballot_of_branch(int* out) {
  if (lane_index() < 10) *out = static_cast<int>(ballot(true));
  __syncthreads();
}
ROCARRAY_HOST_STUB(ballot_of_branch);

__global__ void static_overrun(int* out, int index) {
  alignas(64) __shared__ int volatile before;
  __shared__ char volatile odd[13];
  alignas(64) __shared__ int volatile after;
  char volatile* const bytes = odd;  // UndefinedBehaviorSanitizer does not check its indices
  bytes[index] = 1;
  before = 2;
  after = 2;
  *out = before + after + bytes[index];
}
ROCARRAY_HOST_STUB(static_overrun);

__global__ void victim(unsigned long long* address) {
  __shared__ int values[16];
  values[*address % 16] = 1;
  *address = reinterpret_cast<unsigned long long>(&values[3]);
}
ROCARRAY_HOST_STUB(victim);

__global__ void stray_writer(unsigned long long const* address) {
  __shared__ int own[16];
  own[*address % 16] = 1;
  *reinterpret_cast<int*>(*address) = own[*address % 16];
}
ROCARRAY_HOST_STUB(stray_writer);

__global__ void wide_groups(int* out, int width) { atomicAdd(out, shuffle(1, 0, width)); }
ROCARRAY_HOST_STUB(wide_groups);

__global__ void out_of_bounds(device_view<int> out) {
  int const i = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  out(blockIdx.x == 3 && threadIdx.x == 1 && threadIdx.y == 2 ? 12 : i) = 1;
}
ROCARRAY_HOST_STUB(out_of_bounds);

__global__ void uninitialized(device_view<unsigned> out) {
  __shared__ unsigned fixed[8];
  unsigned* const dynamic = dynamic_shared<unsigned>();
  out(2 * blockIdx.x) = fixed[3];
  out(2 * blockIdx.x + 1) = dynamic[3];
  fixed[3] = dynamic[3] = 1;
}
ROCARRAY_HOST_STUB(uninitialized);

__global__ void overrun(int index) { dynamic_shared<int>()[index] = 1; }
ROCARRAY_HOST_STUB(overrun);

__global__ void thrower() {
#if !defined(__CUDACC__) && !defined(__HIP__)
  throw std::runtime_error("thrown in a kernel");
#endif
}
ROCARRAY_HOST_STUB(thrower);

__global__ void failed_assert(int zero) { assert(zero == 1); }
ROCARRAY_HOST_STUB(failed_assert);

__global__ void printer() {
  printf("block %d, thread %d\n", static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x));
}
ROCARRAY_HOST_STUB(printer);

__device__ int use_stack(int depth, device_view<int> out) {
  int volatile local[256];
  local[depth % 256] = depth;
  if (depth > 1'000'000) return out(0);
  return use_stack(depth + 1, out) + local[depth % 256];
}
__global__ void overflower(device_view<int> out) { out(0) = use_stack(out(0), out); }
ROCARRAY_HOST_STUB(overflower);

__global__ void meet_kernel(unsigned* arrived) {
  __syncthreads();
  unsigned const thread = threadIdx.x;
  if (thread == 0) {
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {
    }
  }
  __syncthreads();
}
ROCARRAY_HOST_STUB(meet_kernel);

#if !ROCARRAY_KERNEL_HOST_STUB

void leave_barrier_out(stream_ref stream) { launch(left_out_barrier, {2}, {32}, 0, stream); }
void wait_at_two_barriers(stream_ref stream) { launch(two_barriers, {2}, {64}, 0, stream); }
void wait_correctly(stream_ref stream) { launch(correct_barriers, {2}, {64}, 0, stream); }
void read_inactive_lane(stream_ref stream) {
  device_array<int> const out({1});
  launch(inactive_lane, {1}, {2}, 0, stream, out.data());
}
void leave_lanes_of_mask_out(stream_ref stream) {
  device_array<int> const out({1});
  launch(left_out_lanes, {1}, {32}, 0, stream, out.data());
}
void leave_lanes_at_barrier(stream_ref stream) { launch(lanes_at_barrier, {1}, {32}, 0, stream); }
void call_in_branch(stream_ref stream) {
  device_array<int> const out({1});
  launch(ballot_of_branch, {1}, {64}, 0, stream, out.data());
}
void overrun_static(stream_ref stream, int index) {
  device_array<int> const out({1});
  launch(static_overrun, {1}, {1}, 0, stream, out.data(), index);
}
void write_to_other_kernel(stream_ref stream) {
  device_array<unsigned long long> const address({1});
  address.zero(stream);
  launch(victim, {1}, {1}, 0, stream, address.data());
  launch(stray_writer, {1}, {1}, 0, stream, address.data());
}
void synchronize_warp_at_two_places(stream_ref stream) {
  launch(two_places, {1}, {32}, 0, stream);
}
void call_outside_mask(stream_ref stream, unsigned threads, unsigned mask) {
  launch(outside_mask, {1}, {threads}, 0, stream, mask);
}
void shuffle_in_groups(stream_ref stream, int width) {
  device_array<int> const out({1});
  launch(wide_groups, {1}, {64}, 0, stream, out.data(), width);
}
void write_out_of_bounds(stream_ref stream, device_view<int> out) {
  launch(out_of_bounds, {4}, {2, 3}, 0, stream, out);
}
void read_uninitialized(stream_ref stream, device_view<unsigned> out) {
  launch(uninitialized, {out.size() / 2}, {1}, 8 * sizeof(unsigned), stream, out);
}
void overrun_shared_memory(stream_ref stream, int index) {
  launch(overrun, {1}, {1}, 64, stream, index);
}
void throw_exception(stream_ref stream) { launch(thrower, {1}, {1}, 0, stream); }
void fail_assert(stream_ref stream) { launch(failed_assert, {1}, {1}, 0, stream, 0); }
void print_threads(stream_ref stream) { launch(printer, {2}, {3}, 0, stream); }
void overflow_stack(stream_ref stream, device_view<int> out) {
  launch(overflower, {1}, {1}, 0, stream, out);
}
#if ROCARRAY_PLATFORM_HOST
void call_outside_of_kernel(stream_ref stream, device_view<int> out) {
  for_each(stream, out.shape(), [out](std::size_t i) { out(i) = lane_index(); });
}
void use_shared_memory_outside_of_kernel() { dynamic_shared<int>()[0] = 1; }
void use_lane_outside_of_kernel() { std::printf("%u", __lane_id()); }
#endif

void meet(stream_ref stream, unsigned blocks, device_view<unsigned> arrived) {
  launch(meet_kernel, {blocks}, {1024}, 0, stream, arrived.data());
}

#endif

}  // namespace roc::test
