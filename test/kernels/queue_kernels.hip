// SPDX-License-Identifier: MIT
#include "kernels/queue_kernels.hpp"

#include <roc/for_each.hpp>
#include <roc/kernel.hpp>

#include "platform/host/host_stub.hpp"

#if !ROCARRAY_KERNEL_HOST_STUB
#include <roc/launch.hpp>
#else
#include <roc/native/for_each_kernel.hpp>
#endif

namespace roc::test {

namespace {

// Notes a popped element.
template <class T>
__device__ void note_pop(T const& value, queue_log const& log) {
  if (!value.is_intact()) atomicAdd(&log.damaged(0), 1u);
  atomicAdd(&log.popped(value.number()), 1u);
}

__device__ unsigned thread_of_grid() {
  unsigned const block = blockIdx.x;
  return block * blockDim.x + threadIdx.x;
}

}  // namespace

// The numbers of a thread are first + thread, first + thread + step, ....

template <class T>
__global__ void push_kernel(device_queue_view<T> queue, queue_use use, unsigned attempts,
                            unsigned first, unsigned count, queue_log log) {
  unsigned const step = gridDim.x * blockDim.x;
  unsigned i = thread_of_grid();
  for (; attempts != 0; --attempts) {
    unsigned const most = use == queue_use::thread ? 1 : 3;
    unsigned numbers[3];
    unsigned found = 0;
    for (; i < count && found < most; i += step) {
      if (log.pushed(first + i) == 0) numbers[found++] = first + i;
    }
    if (found == 0) return;
    if (use == queue_use::thread) {
      if (queue.push(T::of(numbers[0]))) log.pushed(numbers[0]) = 1;
      continue;
    }
    auto slots = queue.reserve_push(found, 1);
    for (unsigned k = 0; k < slots.size(); ++k) {
      slots[k] = T::of(numbers[k]);
      log.pushed(numbers[k]) = 1;
    }
    slots.commit();
  }
}

template <class T>
__global__ void pop_kernel(device_queue_view<T> queue, queue_use use, unsigned attempts,
                           queue_log log) {
  for (; attempts != 0; --attempts) {
    if (use == queue_use::thread) {
      T value;
      if (queue.pop(value)) note_pop(value, log);
      continue;
    }
    auto elements = queue.reserve_pop(3, 1);
    for (std::size_t i = 0; i < elements.size(); ++i) note_pop(elements[i], log);
    elements.commit();
  }
}

// All lanes of a warp make the same number of attempts.
template <class T>
__global__ void push_warp_kernel(device_queue_view<T> queue, unsigned attempts, unsigned first,
                                 unsigned count, queue_log log) {
  unsigned const step = gridDim.x * blockDim.x;
  unsigned i = thread_of_grid();
  for (; attempts != 0; --attempts) {
    while (i < count && log.pushed(first + i) != 0) i += step;
    bool const active = i < count;
    if (queue.warp_push(T::of(first + i), active)) log.pushed(first + i) = 1;
  }
}

template <class T>
__global__ void pop_warp_kernel(device_queue_view<T> queue, unsigned attempts, queue_log log) {
  for (; attempts != 0; --attempts) {
    T value;
    // Some lanes are not active.
    if (queue.warp_pop(value, (threadIdx.x + attempts) % 5 != 0)) note_pop(value, log);
  }
}

// Each block has its part of the numbers, and pushes them in their order.
template <class T>
__global__ void push_block_kernel(device_queue_view<T> queue, unsigned attempts, unsigned first,
                                  unsigned count, queue_log log) {
  __shared__ unsigned shared_next;
  unsigned const part = (count + gridDim.x - 1) / gridDim.x;
  unsigned const block = blockIdx.x;
  unsigned const thread = threadIdx.x;
  unsigned const begin = first + block * part < first + count ? first + block * part : first + count;
  unsigned const end = begin + part < first + count ? begin + part : first + count;
  if (thread == 0) {
    unsigned next = begin;
    while (next < end && log.pushed(next) != 0) ++next;
    shared_next = next;
  }
  __syncthreads();
  unsigned next = shared_next;
  for (; attempts != 0 && next < end; --attempts) {
    unsigned const wanted = blockDim.x + 7;  // more than one for some threads
    auto slots = queue.block_reserve_push(end - next < wanted ? end - next : wanted, 1);
    std::size_t const size = slots.size();
    // A thread does not fill the slots that it publishes.
    for (std::size_t i = blockDim.x - 1 - thread; i < size; i += blockDim.x) {
      unsigned const number = next + static_cast<unsigned>(i);
      slots[i] = T::of(number);
      log.pushed(number) = 1;
    }
    slots.commit();
    next += static_cast<unsigned>(size);
  }
}

template <class T>
__global__ void pop_block_kernel(device_queue_view<T> queue, unsigned attempts, queue_log log) {
  unsigned const thread = threadIdx.x;
  for (; attempts != 0; --attempts) {
    auto elements = queue.block_reserve_pop(blockDim.x + 7, 1);
    for (std::size_t i = blockDim.x - 1 - thread; i < elements.size(); i += blockDim.x) {
      note_pop(elements[i], log);
    }
    elements.commit();
  }
}

#define ROCARRAY_TEST_ELEMENT(T)        \
  ROCARRAY_HOST_STUB(push_kernel<T>);       \
  ROCARRAY_HOST_STUB(pop_kernel<T>);        \
  ROCARRAY_HOST_STUB(push_warp_kernel<T>);  \
  ROCARRAY_HOST_STUB(pop_warp_kernel<T>);   \
  ROCARRAY_HOST_STUB(push_block_kernel<T>); \
  ROCARRAY_HOST_STUB(pop_block_kernel<T>)
ROCARRAY_TEST_ELEMENT(element_1);
ROCARRAY_TEST_ELEMENT(element_3);
ROCARRAY_TEST_ELEMENT(element_4);
ROCARRAY_TEST_ELEMENT(element_16);
ROCARRAY_TEST_ELEMENT(element_24);
#undef ROCARRAY_TEST_ELEMENT

__global__ void push_in_order_kernel(device_queue_view<unsigned> queue, unsigned first,
                                     unsigned most, device_view<unsigned> out) {
  unsigned count = 0;
  while (count < most && queue.push(first + count)) ++count;
  out(0) = count;
}
ROCARRAY_HOST_STUB(push_in_order_kernel);

__global__ void pop_in_order_kernel(device_queue_view<unsigned> queue, unsigned most,
                                    device_view<unsigned> out) {
  unsigned count = 0;
  unsigned value = 12345;
  for (; count < most && queue.pop(value); ++count) out(1 + count) = value;
  out(0) = count;
}
ROCARRAY_HOST_STUB(pop_in_order_kernel);

__global__ void push_by_warp_kernel(device_queue_view<unsigned> queue, unsigned divisor,
                                    device_view<unsigned> out) {
  unsigned const thread = threadIdx.y * blockDim.x + threadIdx.x;
  out(thread) = queue.warp_push(thread, thread % divisor == 0) ? 1 : 0;
}
ROCARRAY_HOST_STUB(push_by_warp_kernel);

__global__ void pop_by_warp_kernel(device_queue_view<unsigned> queue, unsigned divisor,
                                   device_view<unsigned> out) {
  unsigned const thread = threadIdx.y * blockDim.x + threadIdx.x;
  unsigned value = ~0u;
  bool const popped = queue.warp_pop(value, thread % divisor == 0);
  out(thread) = popped ? value : ~0u;
}
ROCARRAY_HOST_STUB(pop_by_warp_kernel);

__global__ void push_by_block_kernel(device_queue_view<unsigned> queue, std::size_t count,
                                     std::size_t min_count, unsigned first, device_view<unsigned> out) {
  unsigned const thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned const threads = blockDim.x * blockDim.y * blockDim.z;
  auto slots = min_count == count ? queue.block_reserve_push(count)
                               : queue.block_reserve_push(count, min_count);
  for (std::size_t i = thread; i < slots.size(); i += threads) {
    slots[i] = first + static_cast<unsigned>(i);
  }
  if (thread == 0) out(0) = static_cast<unsigned>(slots.size());
  slots.commit();
}
ROCARRAY_HOST_STUB(push_by_block_kernel);

__global__ void pop_by_block_kernel(device_queue_view<unsigned> queue, std::size_t count,
                                    std::size_t min_count, device_view<unsigned> out) {
  unsigned const thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned const threads = blockDim.x * blockDim.y * blockDim.z;
  auto elements =
      min_count == count ? queue.block_reserve_pop(count) : queue.block_reserve_pop(count, min_count);
  for (std::size_t i = thread; i < elements.size(); i += threads) out(1 + i) = elements[i];
  if (thread == 0) out(0) = static_cast<unsigned>(elements.size());
  elements.commit();
}
ROCARRAY_HOST_STUB(pop_by_block_kernel);

__global__ void overlap_kernel(device_queue_view<unsigned> queue, device_view<unsigned> out) {
  unsigned value = 77;
  unsigned n = 0;
  auto first = queue.reserve_push(2);
  auto second = queue.reserve_push(1);
  out(n++) = static_cast<unsigned>(first.size());          // 2
  out(n++) = static_cast<unsigned>(queue.size());          // 3
  out(n++) = static_cast<unsigned>(queue.reserve_push(2).size());  // 0: one slot is left
  second[0] = 30;
  second.commit();
  out(n++) = queue.pop(value) ? 1 : 0;  // 0: the first element is not pushed yet
  out(n++) = value;                     // 77
  first[1] = 20;
  first[-2] = 10;
  first.commit();
  first.commit();                                         // does nothing
  out(n++) = first ? 1 : 0;                               // 0
  auto third = queue.reserve_pop(2);
  out(n++) = third[0];                                    // 10
  out(n++) = queue.pop(value) ? value : 0;                // 30: after those of the reservation
  out(n++) = queue.push(40) ? 1 : 0;                      // 1: the fourth slot
  out(n++) = queue.push(50) ? 1 : 0;                      // 0: the next slot is reserved
  out(n++) = static_cast<unsigned>(queue.size());         // 1
  out(n++) = third[1];                                    // 20
  third.commit();
  out(n++) = queue.push(50) ? 1 : 0;                      // 1
  out(n++) = static_cast<unsigned>(queue.reserve_pop(0).size());     // 0
  out(n++) = static_cast<unsigned>(queue.reserve_pop(5).size());     // 0: beyond the capacity
  auto fourth = queue.reserve_pop(100, 1);
  out(n++) = static_cast<unsigned>(fourth.size());  // 2
  out(n++) = fourth[0];                             // 40
  out(n++) = fourth[1];                             // 50
  fourth.commit();
  auto fifth = queue.reserve_push(100, 4);
  out(n++) = static_cast<unsigned>(fifth.size());  // 4
  for (unsigned i = 0; i < 4; ++i) fifth[i] = i;
  fifth.commit();
  out(n++) = static_cast<unsigned>(queue.reserve_push(1, 0).size());  // 0
}
ROCARRAY_HOST_STUB(overlap_kernel);

// Uses two queues in turn.
__global__ void move_by_block_kernel(device_queue_view<unsigned> from,
                                     device_queue_view<unsigned> to) {
  for (;;) {
    auto elements = from.block_reserve_pop(7, 1);
    if (!elements) return;
    auto slots = to.block_reserve_push(elements.size());
    for (std::size_t i = threadIdx.x; i < slots.size(); i += blockDim.x) slots[i] = elements[i];
    slots.commit();
    elements.commit();
  }
}
ROCARRAY_HOST_STUB(move_by_block_kernel);

// Reads the elements of all slots.
__global__ void inspect_kernel(device_queue_view<unsigned> queue, device_view<unsigned> out) {
  auto slots = queue.reserve_push(queue.capacity());
  for (std::size_t i = 0; i < slots.size(); ++i) out(i) = slots[i];
}
ROCARRAY_HOST_STUB(inspect_kernel);

__global__ void leave_kernel(device_queue_view<unsigned> queue, std::size_t pushes,
                             std::size_t pops) {
  static_cast<void>(queue.reserve_push(pushes));
  static_cast<void>(queue.reserve_pop(pops));
}
ROCARRAY_HOST_STUB(leave_kernel);

__global__ void query_kernel(device_queue_view<unsigned> queue, device_view<unsigned> out) {
  out(0) = static_cast<unsigned>(queue.capacity());
  out(1) = static_cast<unsigned>(queue.size());
}
ROCARRAY_HOST_STUB(query_kernel);

/// Pushes the numbers that are divisible by 3.
struct push_some {
  device_queue_view<unsigned> queue;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    if (i % 3 == 0) static_cast<void>(queue.push(static_cast<unsigned>(i)));
  }
};

#if !ROCARRAY_KERNEL_HOST_STUB

template <class T>
void push_numbers(stream_ref stream, queue_launch const& size, device_queue_view<T> queue,
                  unsigned first, unsigned count, queue_log log) {
  if (size.use == queue_use::warp) {
    launch(push_warp_kernel<T>, size.blocks, size.threads, 0, stream, queue, size.attempts, first,
           count, log);
  } else if (size.use == queue_use::block) {
    launch(push_block_kernel<T>, size.blocks, size.threads, 0, stream, queue, size.attempts, first,
           count, log);
  } else {
    launch(push_kernel<T>, size.blocks, size.threads, 0, stream, queue, size.use, size.attempts,
           first, count, log);
  }
}

template <class T>
void pop_numbers(stream_ref stream, queue_launch const& size, device_queue_view<T> queue,
                 queue_log log) {
  if (size.use == queue_use::warp) {
    launch(pop_warp_kernel<T>, size.blocks, size.threads, 0, stream, queue, size.attempts, log);
  } else if (size.use == queue_use::block) {
    launch(pop_block_kernel<T>, size.blocks, size.threads, 0, stream, queue, size.attempts, log);
  } else {
    launch(pop_kernel<T>, size.blocks, size.threads, 0, stream, queue, size.use, size.attempts,
           log);
  }
}

#define ROCARRAY_TEST_ELEMENT(T)                                                                   \
  template void push_numbers(stream_ref, queue_launch const&, device_queue_view<T>, unsigned,     \
                             unsigned, queue_log);                                                 \
  template void pop_numbers(stream_ref, queue_launch const&, device_queue_view<T>, queue_log)
ROCARRAY_TEST_ELEMENT(element_1);
ROCARRAY_TEST_ELEMENT(element_3);
ROCARRAY_TEST_ELEMENT(element_4);
ROCARRAY_TEST_ELEMENT(element_16);
ROCARRAY_TEST_ELEMENT(element_24);
#undef ROCARRAY_TEST_ELEMENT

void push_in_order(stream_ref stream, device_queue_view<unsigned> queue, unsigned first,
                   unsigned most, device_view<unsigned> out) {
  launch(push_in_order_kernel, 1, 1, 0, stream, queue, first, most, out);
}

void pop_in_order(stream_ref stream, device_queue_view<unsigned> queue, unsigned most,
                  device_view<unsigned> out) {
  launch(pop_in_order_kernel, 1, 1, 0, stream, queue, most, out);
}

void push_by_warp(stream_ref stream, device_queue_view<unsigned> queue, unsigned threads,
                  unsigned divisor, device_view<unsigned> out) {
  launch(push_by_warp_kernel, 1, threads, 0, stream, queue, divisor, out);
}

void pop_by_warp(stream_ref stream, device_queue_view<unsigned> queue, unsigned threads,
                 unsigned divisor, device_view<unsigned> out) {
  // Two rows, if the threads allow that.
  unsigned const rows = threads % 2 == 0 ? 2 : 1;
  launch(pop_by_warp_kernel, 1, {threads / rows, rows}, 0, stream, queue, divisor, out);
}

void push_by_block(stream_ref stream, device_queue_view<unsigned> queue, unsigned threads,
                   std::size_t count, std::size_t min_count, unsigned first,
                   device_view<unsigned> out) {
  // Two layers, so that the number of a thread is not that of its column.
  launch(push_by_block_kernel, 1, {threads / 2, 1, 2}, 0, stream, queue, count, min_count, first, out);
}

void pop_by_block(stream_ref stream, device_queue_view<unsigned> queue, unsigned threads,
                  std::size_t count, std::size_t min_count, device_view<unsigned> out) {
  launch(pop_by_block_kernel, 1, {1, threads}, 0, stream, queue, count, min_count, out);
}

void overlap_reservations(stream_ref stream, device_queue_view<unsigned> queue,
                          device_view<unsigned> out) {
  launch(overlap_kernel, 1, 1, 0, stream, queue, out);
}

void move_by_block(stream_ref stream, device_queue_view<unsigned> from,
                   device_queue_view<unsigned> to) {
  launch(move_by_block_kernel, 1, 40, 0, stream, from, to);
}

void inspect_slots(stream_ref stream, device_queue_view<unsigned> queue,
                   device_view<unsigned> out) {
  launch(inspect_kernel, 1, 1, 0, stream, queue, out);
}

void leave_reservations(stream_ref stream, device_queue_view<unsigned> queue, std::size_t pushes,
                        std::size_t pops) {
  launch(leave_kernel, 1, 1, 0, stream, queue, pushes, pops);
}

void query_queue(stream_ref stream, device_queue_view<unsigned> queue, device_view<unsigned> out) {
  launch(query_kernel, 1, 1, 0, stream, queue, out);
}

void push_in_loop(stream_ref stream, device_queue_view<unsigned> queue, unsigned count) {
  for_each(stream, count, push_some{queue});
}

#endif

}  // namespace roc::test

#if ROCARRAY_KERNEL_HOST_STUB
namespace roc::native_detail {
ROCARRAY_FOR_EACH_HOST_STUB(1, roc::test::push_some);
}  // namespace roc::native_detail
#endif
