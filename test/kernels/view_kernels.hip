// SPDX-License-Identifier: MIT
#include "kernels/view_kernels.hpp"

#include <roc/native/for_each_kernel.hpp>

#include "platform/host/host_stub.hpp"

namespace roc::test {

struct write_digest {
  long long* out;
  template <class View>
  ROCARRAY_HOST_DEVICE void operator()(View const& region) const {
    *out = digest(region);
  }
};

struct digest_functor {
  device_view<int const, 3> v;
  device_view<long long> out;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t form) const {
    index_form(v, static_cast<int>(form), write_digest{&out(form)});
  }
};

struct row_functor {
  device_view<int, 2> v;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    int const row = static_cast<int>(i);
    auto const line = v(-1 - row, slice(none, none, -1));
    for (int k = 0; k < static_cast<int>(line.extent(0)); ++k) line(-1 - k) = 10 * row + k;
  }
};

#if !ROCARRAY_KERNEL_HOST_STUB

void digest_forms(stream_ref stream, device_view<int const, 3> v, device_view<long long> out) {
  for_each(stream, out.shape(), digest_functor{v, out});
}

void number_rows(stream_ref stream, device_view<int, 2> v) {
  for_each(stream, v.extent(0), row_functor{v});
}

#endif

}  // namespace roc::test

namespace roc::native_detail {

ROCARRAY_FOR_EACH_HOST_STUB(1, test::digest_functor);
ROCARRAY_FOR_EACH_HOST_STUB(1, test::row_functor);

}  // namespace roc::native_detail
