// SPDX-License-Identifier: MIT
#include <vector>

#include "tensor.hpp"

// Compiles: the functions that take tensors.
void test(tensor& to, std::vector<int>& host, roc::stream& stream) {
  roc::fill(to, 7);
  roc::fill(to, 7, stream);
  roc::zero(to);
  roc::zero(to, stream);
  roc::copy(host, to, stream);
  roc::copy_batch().add(to, host).submit();
}
