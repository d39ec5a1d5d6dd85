// SPDX-License-Identifier: MIT
#include "kernels/launch_kernels.hpp"

#include <roc/kernel.hpp>

#include "platform/host/host_stub.hpp"

#if !ROCARRAY_KERNEL_HOST_STUB
#include <roc/launch.hpp>
#endif

namespace roc::test {

__global__ void number_kernel(device_view<unsigned> out) {
  unsigned const block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned const thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned const i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
  out(i) = i;
}
ROCARRAY_HOST_STUB(number_kernel);

__global__ void static_reverse_kernel(device_view<int> values) {
  __shared__ int tile[64];
  unsigned const begin = blockIdx.x * 64;
  tile[threadIdx.x] = values(begin + threadIdx.x);
  __syncthreads();
  values(begin + threadIdx.x) = tile[63 - threadIdx.x];
}
ROCARRAY_HOST_STUB(static_reverse_kernel);

__global__ void dynamic_reverse_kernel(device_view<int> values) {
  int* const tile = dynamic_shared<int>();
  unsigned const begin = blockIdx.x * blockDim.x;
  tile[threadIdx.x] = values(begin + threadIdx.x);
  __syncthreads();
  values(begin + threadIdx.x) = tile[blockDim.x - 1 - threadIdx.x];
}
ROCARRAY_HOST_STUB(dynamic_reverse_kernel);

__global__ void count_positive_kernel(device_view<int const> values, device_view<int> out) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  int const is_positive = values(i) > 0 ? 5 : 0;  // any value that is not 0
  int const count = __syncthreads_count(is_positive);
  int const all = __syncthreads_and(is_positive);
  int const any = __syncthreads_or(is_positive);
  if (threadIdx.x != 0) return;
  out(3 * blockIdx.x) = count;
  out(3 * blockIdx.x + 1) = all != 0;
  out(3 * blockIdx.x + 2) = any != 0;
}
ROCARRAY_HOST_STUB(count_positive_kernel);

template <class T>
__global__ void add_kernel(device_view<T const> values, device_view<T> sums) {
  __shared__ T partial[256];
  std::size_t const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  partial[threadIdx.x] = i < values.size() ? values(i) : T(0);
  for (unsigned half = blockDim.x / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  unsigned const block = blockIdx.x;
  if (threadIdx.x == 0) sums(block) = partial[0];
}
ROCARRAY_HOST_STUB(add_kernel<float>);
ROCARRAY_HOST_STUB(add_kernel<double>);

__global__ void count_values_kernel(device_view<int const> values, device_view<unsigned> counts) {
  __shared__ unsigned local[16];
  unsigned const thread = threadIdx.x;  // on AMD, HIP's coordinates are not integers
  if (thread < 16) local[thread] = 0;
  __syncthreads();
  std::size_t const step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < values.size();
       i += step) {
    atomicAdd(&local[values(i)], 1u);
  }
  __syncthreads();
  if (thread < 16) atomicAdd(&counts(thread), local[thread]);
}
ROCARRAY_HOST_STUB(count_values_kernel);

__global__ void atomics_kernel(int* out, double* sum) {
  int const thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(out, 3);
  atomicSub(out + 1, 2);
  atomicMin(out + 2, -thread);
  atomicMax(out + 3, thread);
  atomicOr(out + 4, 1 << (thread % 8));
  atomicXor(out + 5, 1);
  atomicAnd(out + 6, 6);  // the element is 0 at first
  int old = atomicAdd(out + 7, 0);
  int expected;
  do {  // adds 2
    expected = old;
    old = atomicCAS(out + 7, expected, expected + 2);
  } while (old != expected);
  atomicExch(out + 8, 7);
  atomicInc(reinterpret_cast<unsigned*>(out + 9), 4u);  // 0, 1, ..., 4, 0, ...
  atomicDec(reinterpret_cast<unsigned*>(out + 10), 4u);
  atomicAdd(sum, 0.5);
}
ROCARRAY_HOST_STUB(atomics_kernel);

__global__ void warp_kernel(device_view<warp_results> out) {
  int const lane = lane_index();
  int const value = 100 + lane;
  warp_results result;
  result.warp_size = warp_size();
  result.lane = lane;
  result.shuffled = shuffle(value, 3);
  result.up = shuffle_up(value, 1);
  result.down = shuffle_down(value, 2);
  result.exchanged = shuffle_xor(value, 1);
  result.up_in_group = shuffle_up(value, 3, 16);
  result.down_in_group = shuffle_down(value, 3, 16);
  result.next_in_group = shuffle(value, lane + 1, 16);
  result.last_in_group = shuffle(value, -1, 16);
  result.wide = shuffle((1LL << 40) + lane, lane + 1);
  result.is_odd = ballot(lane % 2 != 0);
  result.any = warp_any(lane == 5);
  result.all = warp_all(lane < 64);
  unsigned const thread = threadIdx.x;
  out(thread) = result;
}
ROCARRAY_HOST_STUB(warp_kernel);

__global__ void branch_kernel(device_view<unsigned long long> out) {
  unsigned long long lanes = 0;
  // The mask of CUDA's function names the lanes; HIP's takes those that are active.
#if defined(__CUDACC__)
  if (lane_index() < 10) lanes = __ballot_sync(0x3ff, 1);
#else
  if (lane_index() < 10) lanes = __ballot(1);
#endif
  unsigned const thread = threadIdx.x;
  out(thread) = lanes;
}
ROCARRAY_HOST_STUB(branch_kernel);

// The functions with masks of CUDA, which the CPU has too. HIP of some versions has none: its
// functions take the lanes that are active.
#if defined(__HIP__)
#define ROCARRAY_TEST_SHUFFLE(mask, value, lane) (static_cast<void>(mask), __shfl(value, lane))
#define ROCARRAY_TEST_BALLOT(mask, predicate) (static_cast<void>(mask), __ballot(predicate))
#define ROCARRAY_TEST_SYNC(mask) static_cast<void>(mask)
#else
#define ROCARRAY_TEST_SHUFFLE(mask, value, lane) __shfl_sync(mask, value, lane)
#define ROCARRAY_TEST_BALLOT(mask, predicate) __ballot_sync(mask, predicate)
#define ROCARRAY_TEST_SYNC(mask) __syncwarp(mask)
#endif
#if defined(__CUDACC__)
using lane_mask = unsigned;
#else
using lane_mask = unsigned long long;
#endif

__global__ void warp_branches_kernel(device_view<warp_branch_results> out) {
  __shared__ int values[64];
  int const lane = lane_index();
  int const last = warp_size() - 1;
  lane_mask const all = static_cast<lane_mask>(~0ULL >> (63 - last));
  unsigned const thread = threadIdx.x;
  warp_branch_results result;

  int value = lane;
  if (lane < 16) value = ROCARRAY_TEST_SHUFFLE(0xffff, value, 3);
  result.after_branch = value + ROCARRAY_TEST_SHUFFLE(all, lane, last);

  value = 1;
  lane_mask const first_lanes = static_cast<lane_mask>(ROCARRAY_TEST_BALLOT(all, lane < 16));
  if (lane < 16) {
    for (int delta = 8; delta != 0; delta /= 2) {
      value += ROCARRAY_TEST_SHUFFLE(first_lanes, value, lane ^ delta);
    }
  }
  result.after_reduction = ROCARRAY_TEST_SHUFFLE(all, value, 0);

  // The other lanes wait in the other arm, with another mask and more often.
  value = lane;
  if (lane < 20) {
    value = ROCARRAY_TEST_SHUFFLE(0xfffff, value, 7);
  } else {
    for (int i = 0; i < 3; ++i) value = ROCARRAY_TEST_SHUFFLE(all & ~lane_mask{0xfffff}, value + 1, 20);
  }
  result.after_arms = value + ROCARRAY_TEST_SHUFFLE(all, value, lane ^ 31);

  // One barrier of the warp, at two places.
  values[thread] = lane;
  if (lane < 16) {
    ROCARRAY_TEST_SYNC(all);
    result.after_synchronization = values[thread ^ 31];
  } else {
    ROCARRAY_TEST_SYNC(all);
    result.after_synchronization = values[thread ^ 31];
  }

  // Without masks on the CPU too.
#if defined(__CUDACC__)
  value = lane < 16 ? 16 : 0;
#else
  value = 0;
  if (lane < 16) value = static_cast<int>(__popcll(__ballot(1)));
#endif
  result.after_ballot = value + shuffle(lane, last);

  // The mask names lanes that have ended.
  result.after_end = -1;
  if (lane < 24) result.after_end = ROCARRAY_TEST_SHUFFLE(0xffffff, lane, 23);
  if (lane >= 24) {
    out(thread) = result;
    return;
  }
  result.after_end += ROCARRAY_TEST_SHUFFLE(all, lane, lane ^ 1);
  out(thread) = result;
}
ROCARRAY_HOST_STUB(warp_branches_kernel);

__global__ void convert_kernel(device_view<long long> out, long long a, double b) {
  out(0) = 10 * a + static_cast<long long>(b);
}
ROCARRAY_HOST_STUB(convert_kernel);

__global__ void wait_kernel() { __syncthreads(); }
ROCARRAY_HOST_STUB(wait_kernel);

template <int Number>
__global__ void add_shared_kernel(device_view<int> out, unsigned count) {
  __shared__ int fixed[10'000];
  int* const dynamic = dynamic_shared<int>();
  for (unsigned i = threadIdx.x; i < 10'000; i += blockDim.x) fixed[i] = 1;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) dynamic[i] = 2;
  __syncthreads();
  int sum = 0;
  if (threadIdx.x == 0) {
    for (int value : fixed) sum += value;
    for (unsigned i = 0; i < count; ++i) sum += dynamic[i];
    out(0) = sum;
  }
}
ROCARRAY_HOST_STUB(add_shared_kernel<0>);
ROCARRAY_HOST_STUB(add_shared_kernel<1>);

__global__ void two_masks_kernel(device_view<int> out) {
  __shared__ int values[32];
  unsigned const thread = threadIdx.x;
  int const lane = lane_index();
  int value;
  values[thread] = lane;
#if defined(__HIP__)
  synchronize_warp();
  value = shuffle(lane, 31 - lane);
#elif defined(__CUDACC__)
  if (lane < 16) {
    __syncwarp();
    value = __shfl_sync(static_cast<unsigned>(-1), lane, 31 - lane);
  } else {
    __syncwarp(0xffffffff);
    value = __shfl_sync(0xffffffff, lane, 31 - lane);
  }
#else
  if (lane < 16) {
    __syncwarp();
    value = __shfl_sync(~0ULL, lane, 31 - lane);
  } else {
    __syncwarp(0xffffffff);
    value = __shfl_sync(0xffffffff, lane, 31 - lane);
  }
#endif
  out(thread) = value + values[31 - thread];
}
ROCARRAY_HOST_STUB(two_masks_kernel);

__global__ void reverse_warps_kernel(device_view<int> values) {
  __shared__ int tile[128];
  unsigned const thread = threadIdx.x;
  unsigned const lane = static_cast<unsigned>(lane_index());
  unsigned const last = static_cast<unsigned>(warp_size()) - 1;
  for (int i = 0; i < 3; ++i) {
    tile[thread] = values(thread);
    synchronize_warp();
    values(thread) = tile[thread - lane + last - lane];
    synchronize_warp();
  }
}
ROCARRAY_HOST_STUB(reverse_warps_kernel);

__global__ void __launch_bounds__(64) bounded_kernel() { __syncthreads(); }
ROCARRAY_HOST_STUB(bounded_kernel);

__global__ void vector_kernel(float4 const* values, float* sums) {
  uint3 const thread = make_uint3(threadIdx.x, threadIdx.y, threadIdx.z);
  float4 const value = values[thread.x];
  float2 const pair = make_float2(value.x + value.y, value.z + value.w);
  sums[thread.x] = pair.x + pair.y + static_cast<float>(thread.x);
}
ROCARRAY_HOST_STUB(vector_kernel);

__global__ void end_early_kernel(unsigned count, device_view<int> out) {
  __shared__ int tile[128];
  unsigned const thread = threadIdx.x;
  if (thread >= count) return;
  tile[thread] = static_cast<int>(thread);
  __syncthreads();
  out(thread) = tile[count - 1 - thread];
}
ROCARRAY_HOST_STUB(end_early_kernel);

#if !ROCARRAY_KERNEL_HOST_STUB

namespace {

launch_extent extent_of(std::ptrdiff_t const (&values)[3]) {
  return {values[0], values[1], values[2]};
}

unsigned line_of_call(std::source_location at = std::source_location::current()) {
  return at.line();
}

}  // namespace

bool passes_places() { return line_of_call() == __LINE__; }

void number_threads(stream_ref stream, launch_size const& size, device_view<unsigned> out) {
  launch(number_kernel, extent_of(size.grid), extent_of(size.block), size.shared_bytes, stream,
         out);
}

void reverse_blocks(stream_ref stream, device_view<int> values) {
  launch(static_reverse_kernel, {values.size() / 64}, {64}, 0, stream, values);
}

void reverse_blocks(stream_ref stream, device_view<int> values, unsigned threads) {
  launch(dynamic_reverse_kernel, {values.size() / threads}, {threads}, threads * sizeof(int),
         stream, values);
}

void count_positive(stream_ref stream, device_view<int const> values, device_view<int> out) {
  launch(count_positive_kernel, {values.size() / 96}, {96}, 0, stream, values, out);
}

template <class T>
void add_blocks(stream_ref stream, device_view<T const> values, device_view<T> sums) {
  launch(add_kernel<T>, {sums.size()}, {256}, 0, stream, values, sums);
}
template void add_blocks(stream_ref, device_view<float const>, device_view<float>);
template void add_blocks(stream_ref, device_view<double const>, device_view<double>);

void count_values(stream_ref stream, device_view<int const> values, device_view<unsigned> counts) {
  launch(count_values_kernel, {8}, {128}, 0, stream, values, counts);
}

void apply_atomics(stream_ref stream, unsigned threads, device_view<int> out,
                   device_view<double> sum) {
  launch(atomics_kernel, {threads / 32}, {32}, 0, stream, out.data(), sum.data());
}

void call_warp_functions(stream_ref stream, unsigned threads, device_view<warp_results> out) {
  launch(warp_kernel, {1}, {threads}, 0, stream, out);
}

void ballot_in_branch(stream_ref stream, unsigned threads, device_view<unsigned long long> out) {
  launch(branch_kernel, {1}, {threads}, 0, stream, out);
}

void call_warp_functions_in_branches(stream_ref stream, device_view<warp_branch_results> out) {
  launch(warp_branches_kernel, {1}, {64}, 0, stream, out);
}

void convert_arguments(stream_ref stream, device_view<long long> out, int a, short b) {
  launch(convert_kernel, dim3(1), dim3(1), 0, stream, out.bind(stream), a, b);
}

void launch_with_bound_view(stream_ref stream, stream_ref bound, device_view<long long> out) {
  launch(convert_kernel, {1}, {1}, 0, stream, out.bind(bound), 1, 2);
}

void wait_only(stream_ref stream, launch_size const& size) {
  launch(wait_kernel, extent_of(size.grid), extent_of(size.block), size.shared_bytes, stream);
}

void add_shared(stream_ref stream, device_view<int> out, unsigned count) {
  launch(add_shared_kernel<0>, {1}, {64}, count * sizeof(int), stream, out, count);
}

void add_shared_in_other_kernel(stream_ref stream, device_view<int> out, unsigned count) {
  launch(add_shared_kernel<1>, {1}, {64}, count * sizeof(int), stream, out, count);
}

void call_with_two_masks(stream_ref stream, device_view<int> out) {
  launch(two_masks_kernel, {1}, {32}, 0, stream, out);
}

void reverse_warps(stream_ref stream, device_view<int> values) {
  launch(reverse_warps_kernel, {1}, {values.size()}, 0, stream, values);
}

void launch_bounded(stream_ref stream, unsigned threads) {
  launch(bounded_kernel, {1}, {threads}, 0, stream);
}

void add_vector_elements(stream_ref stream, device_view<float> values, device_view<float> sums) {
  launch(vector_kernel, {1}, {sums.size()}, 0, stream,
         reinterpret_cast<float4 const*>(values.data()), sums.data());
}

void end_early(stream_ref stream, unsigned count, device_view<int> out) {
  launch(end_early_kernel, {1}, {128}, 0, stream, count, out);
}

#endif

}  // namespace roc::test
