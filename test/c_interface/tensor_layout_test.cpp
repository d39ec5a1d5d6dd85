// SPDX-License-Identifier: MIT
// roc_tensor has the layout of DLPack's DLTensor, with DLPack's header before and after <roc/c.h>.
#if __has_include(<dlpack/dlpack.h>)
#include <roc/c.h>

#include <dlpack/dlpack.h>

#include <cstddef>
#include <type_traits>

#include <gtest/gtest.h>

#include <roc/c.h>

namespace {

static_assert(sizeof(roc_tensor) == sizeof(DLTensor) && alignof(roc_tensor) == alignof(DLTensor));
static_assert(std::is_standard_layout_v<roc_tensor> && std::is_standard_layout_v<DLTensor>);
static_assert(offsetof(roc_tensor, data) == offsetof(DLTensor, data));
static_assert(offsetof(roc_tensor, device) == offsetof(DLTensor, device));
static_assert(offsetof(roc_tensor, ndim) == offsetof(DLTensor, ndim));
static_assert(offsetof(roc_tensor, dtype) == offsetof(DLTensor, dtype));
static_assert(offsetof(roc_tensor, shape) == offsetof(DLTensor, shape));
static_assert(offsetof(roc_tensor, strides) == offsetof(DLTensor, strides));
static_assert(offsetof(roc_tensor, byte_offset) == offsetof(DLTensor, byte_offset));
static_assert(sizeof(roc_tensor::ndim) == sizeof(DLTensor::ndim));
static_assert(std::is_same_v<decltype(roc_tensor::byte_offset), decltype(DLTensor::byte_offset)>);
static_assert(std::is_same_v<decltype(roc_tensor::shape), std::int64_t const*> &&
              std::is_same_v<decltype(DLTensor::shape), std::int64_t*>);

static_assert(sizeof(roc_tensor_device) == sizeof(DLDevice));
static_assert(offsetof(roc_tensor_device, device_type) == offsetof(DLDevice, device_type));
static_assert(offsetof(roc_tensor_device, device_id) == offsetof(DLDevice, device_id));
static_assert(sizeof(roc_tensor_device::device_type) == sizeof(DLDevice::device_type));
static_assert(sizeof(roc_element_type) == sizeof(DLDataType));
static_assert(offsetof(roc_element_type, code) == offsetof(DLDataType, code));
static_assert(offsetof(roc_element_type, bits) == offsetof(DLDataType, bits));
static_assert(offsetof(roc_element_type, lanes) == offsetof(DLDataType, lanes));

static_assert(int{ROCARRAY_DEVICE_CPU} == int{kDLCPU} && int{ROCARRAY_DEVICE_CUDA} == int{kDLCUDA});
static_assert(int{ROCARRAY_DEVICE_CUDA_HOST} == int{kDLCUDAHost});
static_assert(int{ROCARRAY_DEVICE_ROCM} == int{kDLROCM});
static_assert(int{ROCARRAY_DEVICE_ROCM_HOST} == int{kDLROCMHost});
static_assert(int{ROCARRAY_DEVICE_HOST_PLATFORM} == int{kDLExtDev});
static_assert(int{ROCARRAY_DEVICE_CUDA_MANAGED} == int{kDLCUDAManaged});
static_assert(int{ROCARRAY_TYPE_INT} == int{kDLInt} && int{ROCARRAY_TYPE_UINT} == int{kDLUInt});
static_assert(int{ROCARRAY_TYPE_FLOAT} == int{kDLFloat} &&
              int{ROCARRAY_TYPE_BFLOAT} == int{kDLBfloat});
static_assert(int{ROCARRAY_TYPE_OPAQUE} == int{kDLOpaqueHandle});
static_assert(int{ROCARRAY_TYPE_COMPLEX} == int{kDLComplex});

TEST(CTensor, ADlpackTensorCanBeCopied) {
  float source[3] = {1, 2, 3};
  float destination[3] = {};
  std::int64_t shape[1] = {3};
  DLTensor from{};
  from.data = source;
  from.device = {kDLCPU, 0};
  from.ndim = 1;
  from.dtype = {kDLFloat, 32, 1};
  from.shape = shape;
  DLTensor to = from;
  to.data = destination;
  EXPECT_EQ(ROCARRAY_SUCCESS, roc_copy(ROCARRAY_TENSOR(&from), ROCARRAY_TENSOR(&to), nullptr))
      << roc_last_error_message();
  EXPECT_EQ(3.0f, destination[2]);
}

}  // namespace
#endif
