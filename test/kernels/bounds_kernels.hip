// SPDX-License-Identifier: MIT
// Kernels with bounds checks, in a program that is otherwise compiled without them.
#undef ROCARRAY_CHECK_BOUNDS  // an option of the build may set it
#define ROCARRAY_CHECK_BOUNDS 1

#include <roc/device_queue.hpp>
#include <roc/native/for_each_kernel.hpp>
#include <roc/roc.hpp>

#include "kernels/bounds_kernels.hpp"
#include "platform/host/host_stub.hpp"

namespace roc::test {

struct write_functor {
  device_view<int> v;
  int index;
  ROCARRAY_HOST_DEVICE void operator()() const { v(index) = 1; }
};

struct slice_functor {
  device_view<int> v;
  int stop;
  ROCARRAY_HOST_DEVICE void operator()() const { v(slice(0, stop))(0) = 1; }
};

struct reservation_functor {
  device_queue_view<int> queue;
  int index;
  ROCARRAY_HOST_DEVICE void operator()() const {
    auto slots = queue.reserve_push(3);
    slots[index] = 1;
    slots.commit();
  }
};

struct queue_misuse_functor {
  device_queue_view<int> queue;  // of capacity 8, empty
  queue_misuse misuse;
  ROCARRAY_HOST_DEVICE void operator()() const {
    auto slots = queue.reserve_push(20, 1);
    auto copy = slots;
    for (int i = 0; i < 8; ++i) slots[i] = i;
    slots.commit();
    slots.commit();
    queue.reserve_pop(0, 1).commit();
    queue.reserve_pop(8, 8).commit();
    if (misuse == queue_misuse::second_commit) copy.commit();
    if (misuse == queue_misuse::beyond_capacity) queue.reserve_push(9).commit();
    if (misuse == queue_misuse::min_beyond_capacity) queue.reserve_pop(20, 9).commit();
    if (misuse == queue_misuse::min_beyond_count) queue.reserve_push(2, 3).commit();
  }
};

#if !ROCARRAY_KERNEL_HOST_STUB

void write_at(stream_ref stream, device_view<int> v, int index) {
  for_each(stream, shape<0>{}, write_functor{v, index});
}

void write_in_slice(stream_ref stream, device_view<int> v, int stop) {
  for_each(stream, shape<0>{}, slice_functor{v, stop});
}

void write_in_reservation(stream_ref stream, int index) {
  device_queue<int> const queue(8, stream);
  for_each(stream, shape<0>{}, reservation_functor{queue.view(), index});
}

void misuse_queue(stream_ref stream, queue_misuse misuse) {
  device_queue<int> const queue(8, stream);
  for_each(stream, shape<0>{}, queue_misuse_functor{queue.view(), misuse});
}

#endif

}  // namespace roc::test

namespace roc::native_detail {

ROCARRAY_FOR_EACH_HOST_STUB(0, test::write_functor);
ROCARRAY_FOR_EACH_HOST_STUB(0, test::slice_functor);
ROCARRAY_FOR_EACH_HOST_STUB(0, test::reservation_functor);
ROCARRAY_FOR_EACH_HOST_STUB(0, test::queue_misuse_functor);

}  // namespace roc::native_detail
