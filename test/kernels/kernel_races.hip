// SPDX-License-Identifier: MIT
// A program for ThreadSanitizer: kernel_races NAME runs the kernel of this name. Those that begin with
// "race" have a race, the others have none.
#include <cstdio>
#include <cstring>
#include <vector>

#include <roc/device_queue.hpp>
#include <roc/kernel.hpp>
#include <roc/launch.hpp>
#include <roc/roc.hpp>

__global__ void race_without_barrier(roc::device_view<int> values) {
  __shared__ int tile[64];
  tile[threadIdx.x] = values(threadIdx.x);
  values(threadIdx.x) = tile[63 - threadIdx.x];
}

__global__ void race_before_next_tile(roc::device_view<int> values) {
  int* const tile = roc::dynamic_shared<int>();
  for (int i = 0; i < 3; ++i) {
    tile[threadIdx.x] = values(threadIdx.x);
    __syncthreads();
    values(threadIdx.x) = tile[63 - threadIdx.x];  // no barrier before the next write
  }
}

__global__ void race_in_device_memory(roc::device_view<int> values) { values(0) += 1; }

__global__ void race_between_warps(roc::device_view<int> values) {
  __shared__ int tile[64];
  tile[threadIdx.x] = values(threadIdx.x);
  __syncwarp();
  values(threadIdx.x) = tile[63 - threadIdx.x];
}

__global__ void race_in_second_block(roc::device_view<int> values) {
  __shared__ int tile[64];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0) __syncthreads();
  int const value = tile[63 - threadIdx.x];
  if (value < 0) values(0) = value;
}

bool launch_two_blocks(roc::stream_ref stream) {
  auto const values = roc::to_device(std::vector<int>(64, 1));
  roc::launch(race_in_second_block, {2}, {64}, 0, stream, values.view());
  stream.synchronize();
  return true;
}

__global__ void barriers(roc::device_view<int> values) {
  __shared__ int tile[64];
  int* const dynamic = roc::dynamic_shared<int>();
  for (int i = 0; i < 3; ++i) {
    tile[threadIdx.x] = dynamic[threadIdx.x] = values(threadIdx.x);
    __syncthreads();
    values(threadIdx.x) = tile[63 - threadIdx.x] + dynamic[threadIdx.x ^ 1];
    if (__syncthreads_or(i == 2)) break;
  }
}

__global__ void warps(roc::device_view<int> values) {
  __shared__ int tile[64];
  tile[threadIdx.x] = values(threadIdx.x);
  __syncwarp();
  int const value = tile[threadIdx.x ^ 1];
  values(threadIdx.x) = roc::shuffle(value, 0) + roc::shuffle_down(value, 1);
}

__global__ void warps_in_branches(roc::device_view<int> values) {
  __shared__ int tile[64];
  int const lane = roc::lane_index();
  tile[threadIdx.x] = values(threadIdx.x);
  if (lane < 16) {
    __syncwarp(0xffff);
    int const value = tile[threadIdx.x ^ 1];
    __syncwarp(0xffff);
    tile[threadIdx.x] = value;
  }
  __syncwarp();
  values(threadIdx.x) = tile[threadIdx.x ^ 31];
}

__global__ void race_between_lanes(roc::device_view<int> values) {
  __shared__ int tile[64];
  if (roc::lane_index() < 16) {
    tile[threadIdx.x] = values(threadIdx.x);
    __syncwarp(0xffff);
  }
  values(threadIdx.x) = tile[threadIdx.x & ~31u];  // the other lanes did not wait
}

__global__ void atomics(roc::device_view<int> values) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 1);
  atomicMax(&values(0), static_cast<int>(threadIdx.x));
}

// The last block adds the sums of all blocks.
__global__ void fences(roc::device_view<int> sums, roc::device_view<unsigned> arrived,
                       roc::device_view<int> out) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    sums(blockIdx.x) = static_cast<int>(blockIdx.x);
    __threadfence();
    is_last = atomicInc(&arrived(0), gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  __threadfence();
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += sums(i);
  out(0) = sum;
}

bool launch_fences(roc::stream_ref stream) {
  roc::device_array<int> const sums({64});
  roc::device_array<unsigned> const arrived({1});
  roc::device_array<int> const out({1});
  arrived.zero(stream);
  for (int i = 0; i < 20; ++i) {
    roc::launch(fences, {64}, {4}, 0, stream, sums.view(), arrived.view(), out.view());
  }
  auto const sum = out.copy_to_host(stream);
  stream.synchronize();
  return sum(0) == 64 * 63 / 2;
}

/// A large element, which is not copied at once.
struct record {
  int values[6];
};

__global__ void queue_producers(roc::device_queue_view<record> queue,
                                roc::device_view<int> counts) {
  int const thread = static_cast<int>(threadIdx.x);
  record const value{{thread, 1, 2, 3, 4, 5}};
  for (int i = 0; i < 3; ++i) {
    if (queue.push(value)) atomicAdd(&counts(0), 1);
    if (queue.warp_push(value, thread % 3 != 0)) atomicAdd(&counts(0), 1);
    auto slots = queue.block_reserve_push(20, 1);
    for (int k = 31 - thread; k < static_cast<int>(slots.size()); k += 32) {
      slots[k] = value;
      atomicAdd(&counts(0), 1);
    }
    slots.commit();
  }
}

__global__ void queue_consumers(roc::device_queue_view<record> queue,
                                roc::device_view<int> counts) {
  int const thread = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 4; ++i) {
    record value;
    if (queue.pop(value)) atomicAdd(&counts(1), value.values[1]);
    if (queue.warp_pop(value, thread % 3 != 0)) atomicAdd(&counts(1), value.values[1]);
    auto elements = queue.block_reserve_pop(20, 1);
    for (int k = 31 - thread; k < static_cast<int>(elements.size()); k += 32) {
      atomicAdd(&counts(1), elements[k].values[1]);
    }
    elements.commit();
  }
}

bool launch_queue(roc::stream_ref stream) {
  roc::stream const other;
  roc::device_queue<record> const queue(40, stream);
  roc::device_array<int> const counts({2}, roc::order::c, stream);
  counts.zero(stream);
  stream.synchronize();
  for (int i = 0; i < 8; ++i) {
    roc::launch(queue_producers, {2}, {32}, 0, stream, queue.view(), counts.view());
    roc::launch(queue_consumers, {2}, {32}, 0, other, queue.view(), counts.view());
  }
  stream.synchronize();
  other.synchronize();
  // The consumers may have found the queue empty each time.
  int const pushed = counts(0).get();
  int const popped = counts(1).get();
  return pushed > 0 && pushed == popped + static_cast<int>(queue.drain().size());
}

__global__ void arguments(roc::device_view<int> values, int index) {
  if (index < 0) values(0) = 1;
}

// The library frees the arguments after the kernels have read them.
bool launch_arguments(roc::stream_ref stream) {
  auto const values = roc::to_device(std::vector<int>(64, 1));
  for (int i = 0; i < 1000; ++i) {
    roc::launch(arguments, {1}, {1}, 0, stream, values.view(), i);
    roc::for_each(stream, values.shape(), [view = values.view()](std::size_t k) { view(k) = 2; });
    if (i % 10 == 0) stream.synchronize();
  }
  return true;
}

int main(int count, char** names) {
  struct {
    char const* name;
    void (*kernel)(roc::device_view<int>);
  } const kernels[] = {{"race_without_barrier", race_without_barrier},
                       {"race_before_next_tile", race_before_next_tile},
                       {"race_in_device_memory", race_in_device_memory},
                       {"race_between_warps", race_between_warps},
                       {"barriers", barriers},
                       {"warps", warps},
                       {"warps_in_branches", warps_in_branches},
                       {"race_between_lanes", race_between_lanes},
                       {"atomics", atomics}};
  roc::stream const stream;
  auto const values = roc::to_device(std::vector<int>(64, 1));
  bool is_done = false;
  for (auto const& entry : kernels) {
    if (count != 2 || std::strcmp(names[1], entry.name) != 0) continue;
    is_done = true;
    for (int i = 0; i < 3; ++i) {
      roc::launch(entry.kernel, {1}, {64}, 64 * sizeof(int), stream, values.view());
    }
  }
  struct {
    char const* name;
    bool (*run)(roc::stream_ref);
  } const programs[] = {{"race_in_second_block", launch_two_blocks},
                        {"fences", launch_fences},
                        {"queue", launch_queue},
                        {"arguments", launch_arguments}};
  for (auto const& entry : programs) {
    if (count != 2 || std::strcmp(names[1], entry.name) != 0) continue;
    is_done = entry.run(stream);
  }
  stream.synchronize();
  std::puts(is_done ? "done" : "unknown kernel, or a wrong result");
  return is_done ? 0 : 1;
}
