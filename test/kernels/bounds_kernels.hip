// SPDX-License-Identifier: MIT
// A kernel with checks, in a program without.
#define ROC_CHECK_BOUNDS 1

#include <roc/native/elementwise.hpp>
#include <roc/roc.hpp>

#include "kernels/bounds_kernels.hpp"
#include "platform/host/twin.hpp"

namespace roc::test {

struct write_beyond {
  device_view<int> v;
  int place;
  ROC_HOST_DEVICE void operator()() const { v(place) = 1; }
};

struct slice_beyond {
  device_view<int> v;
  int stop;
  ROC_HOST_DEVICE void operator()() const { v(slice(0, stop))(0) = 1; }
};

#if !ROC_KERNEL_TWIN

void write_at(stream_ref stream, device_view<int> v, int place) {
  for_each(stream, shape<0>{}, write_beyond{v, place});
}

void write_in_slice(stream_ref stream, device_view<int> v, int stop) {
  for_each(stream, shape<0>{}, slice_beyond{v, stop});
}

#endif

}  // namespace roc::test

namespace roc::native_detail {

ROC_ELEMENTWISE_TWIN(over_shape<test::write_beyond, 0>);
ROC_ELEMENTWISE_TWIN(over_shape<test::slice_beyond, 0>);

}  // namespace roc::native_detail
