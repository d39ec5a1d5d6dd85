// SPDX-License-Identifier: MIT
// Copies between memories of other code: a raw pointer, an mdspan and a DLPack tensor. Where each
// is, on the host or on a device, is found at run time.
#include <roc/interop/dlpack.hpp>
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#if __has_include(<mdspan>)
#include <mdspan>
#endif

namespace {

constexpr std::int64_t rows = 30;
constexpr std::int64_t columns = 40;

// Returns the tensor that another library exports for its memory, in Fortran order.
DLTensor describe(void* data, std::int64_t* shape, std::int64_t* strides) {
  DLTensor tensor{};
  tensor.data = data;
  tensor.device = {roc::dlpack_device, 0};
  tensor.ndim = 2;
  tensor.dtype = roc::dlpack_type<float>;
  tensor.shape = shape;
  tensor.strides = strides;
  return tensor;
}

}  // namespace

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<float> numbers(rows * columns);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
#if defined(__cpp_lib_mdspan)
  std::mdspan const source(numbers.data(), rows, columns);
#else
  roc::memory_view const source(numbers.data(), roc::shape<2>{rows, columns});
#endif

  void* device_memory = nullptr;  // of another library
  if (hipMalloc(&device_memory, numbers.size() * sizeof(float)) != hipSuccess) return 1;
  std::int64_t shape[] = {rows, columns};
  std::int64_t strides[] = {1, rows};
  DLTensor const tensor = describe(device_memory, shape, strides);
  roc::copy(source, tensor);  // from, to

  // The same memory by its address: a row of the tensor.
  std::vector<float> row(columns);
  roc::memory_view const second_row(static_cast<float*>(device_memory) + 1, roc::shape<1>{columns},
                                    roc::strides<1>{rows});
  roc::copy(second_row, row);

  std::vector<float> bytes(numbers.size());
  roc::memcpy(bytes.data(), device_memory, numbers.size() * sizeof(float));  // to, from
  static_cast<void>(hipFree(device_memory));

  bool const correct = row[0] == columns && row[columns - 1] == 2 * columns - 1 &&
                       bytes[1] == columns && bytes[rows] == 1;
  std::printf("any memory: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
