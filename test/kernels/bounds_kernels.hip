// SPDX-License-Identifier: MIT
// A kernel with checks, in a program without.
#define ROCARRAY_CHECK_BOUNDS 1

#include <roc/native/elementwise.hpp>
#include <roc/roc.hpp>

#include "kernels/bounds_kernels.hpp"
#include "platform/host/host_stub.hpp"

namespace roc::test {

struct write_beyond {
  device_view<int> v;
  int place;
  ROCARRAY_HOST_DEVICE void operator()() const { v(place) = 1; }
};

struct slice_beyond {
  device_view<int> v;
  int stop;
  ROCARRAY_HOST_DEVICE void operator()() const { v(slice(0, stop))(0) = 1; }
};

#if !ROCARRAY_KERNEL_HOST_STUB

void write_at(stream_ref stream, device_view<int> v, int place) {
  for_each(stream, shape<0>{}, write_beyond{v, place});
}

void write_in_slice(stream_ref stream, device_view<int> v, int stop) {
  for_each(stream, shape<0>{}, slice_beyond{v, stop});
}

#endif

}  // namespace roc::test

namespace roc::native_detail {

ROCARRAY_ELEMENTWISE_HOST_STUB(over_shape<test::write_beyond, 0>);
ROCARRAY_ELEMENTWISE_HOST_STUB(over_shape<test::slice_beyond, 0>);

}  // namespace roc::native_detail
