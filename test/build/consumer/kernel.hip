// SPDX-License-Identifier: MIT
#include <roc/roc.hpp>

#include <cstdio>
#include <vector>

namespace {

struct twice {
  roc::device_view<int> x;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { x(i) = 2 * x(i); }
};

}  // namespace

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 0;
  }
  auto const array = roc::to_device(std::vector<int>{1, 2, 3});
  roc::stream const stream;
  roc::for_each(stream, array.shape(), twice{array.view()});
  std::vector<int> result(3);
  array.copy_to_host(result);
  return result == std::vector<int>{2, 4, 6} ? 0 : 1;
}
