// SPDX-License-Identifier: MIT
// Passes an array to another library as a DLPack tensor, and takes it back, without a copy.
#include <roc/interop/dlpack.hpp>
#include <roc/roc.hpp>

#include <cstdio>
#include <utility>

namespace {

// Represents the other library: it owns the tensor and enqueues its own work on `stream`.
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
  roc::stream const consumer;
  roc::device_array<float, 2> array({30, 40});
  array.fill(1);
  float* const memory = array.data();
  // The tensor owns the array. Work on the consumer's stream is ordered after the fill.
  DLManagedTensor* const tensor = roc::to_dlpack(std::move(array), consumer);
  // The new array owns the tensor. Its deleter runs after the array is destroyed and its work is
  // done.
  auto const back = roc::from_dlpack<float, 2>(other_library(tensor, consumer));
  bool const correct = back.data() == memory && back(29, 39).get() == 2;
  std::printf("dlpack: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
