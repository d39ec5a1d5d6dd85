// SPDX-License-Identifier: MIT
// Kernels with bounds checks, in a program that is otherwise compiled without them.
#undef ROCARRAY_CHECK_BOUNDS  // a precompiled header sets the default
#define ROCARRAY_CHECK_BOUNDS 1

#include <roc/native/elementwise.hpp>
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

#if !ROCARRAY_KERNEL_HOST_STUB

void write_at(stream_ref stream, device_view<int> v, int index) {
  for_each(stream, shape<0>{}, write_functor{v, index});
}

void write_in_slice(stream_ref stream, device_view<int> v, int stop) {
  for_each(stream, shape<0>{}, slice_functor{v, stop});
}

#endif

}  // namespace roc::test

namespace roc::native_detail {

ROCARRAY_ELEMENTWISE_HOST_STUB(over_shape<test::write_functor, 0>);
ROCARRAY_ELEMENTWISE_HOST_STUB(over_shape<test::slice_functor, 0>);

}  // namespace roc::native_detail
