// SPDX-License-Identifier: MIT
// An array goes to another library as a DLPack tensor and comes back, without a copy.
#include <roc/interop/dlpack.hpp>
#include <roc/roc.hpp>

#include <cstdio>
#include <utility>

namespace {

// Stands for the other library: it orders its own work on `stream`, and owns the tensor.
DLManagedTensor* other_library(DLManagedTensor* tensor, roc::stream_ref stream) {
  roc::dlpack_view<float, 2>(tensor->dl_tensor).fill(2, stream);
  stream.synchronize();
  return tensor;
}

}  // namespace

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  roc::stream const theirs;
  roc::device_array<float, 2> array({30, 40});
  array.fill(1);
  float* const memory = array.data();
  // Given away; what is on their stream comes after our fill.
  DLManagedTensor* const tensor = roc::to_dlpack(std::move(array), theirs);
  // Owned again: their deleter runs when this array has gone and its work is done.
  auto const back = roc::from_dlpack<float, 2>(other_library(tensor, theirs));
  bool const right = back.data() == memory && back(29, 39).get() == 2;
  std::printf("dlpack: %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
