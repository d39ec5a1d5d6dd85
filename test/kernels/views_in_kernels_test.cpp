// SPDX-License-Identifier: MIT
#include "kernels/view_kernels.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "support/environment.hpp"

namespace {

TEST(ViewsInKernels, IndexExpressionsMatchTheHost) {
  std::vector<int> numbers(4 * 5 * 6);
  std::iota(numbers.begin(), numbers.end(), 1);
  roc::host_view<int, 3> const host(numbers.data(), {4, 5, 6});
  for (auto order : {roc::order::c, roc::order::f}) {
    roc::device_array<int, 3> array({4, 5, 6}, order);
    array.copy_to_device(host);
    roc::device_array<long long> out({roc::test::index_forms});
    roc::test::digest_forms({}, array.view(), out.view());
    auto const actual = out.copy_to_host();
    for (int form = 0; form < roc::test::index_forms; ++form) {
      long long expected = 0;
      roc::test::index_form(host, form, [&](auto const& v) { expected = roc::test::digest(v); });
      EXPECT_EQ(expected, actual(form)) << "form " << form;
      long long copied = 0;
      roc::test::index_form(array.view(), form, [&](auto const& v) {
        auto const host_copy = v.copy_to_host();
        copied = roc::test::digest(host_copy.view());
      });
      EXPECT_EQ(expected, copied) << "form " << form;
    }
  }
}

TEST(ViewsInKernels, NegativeIndicesCountFromTheEnd) {
  roc::device_array<int, 2> array({3, 4}, roc::padded<2>{5, 7});
  roc::test::number_rows({}, array.view());
  auto const back = array.copy_to_host();
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 4; ++k) EXPECT_EQ(10 * i + k, back(2 - i, k));
  }
}

}  // namespace
