// SPDX-License-Identifier: MIT
// The C interface on a machine without a device.
#include <gtest/gtest.h>

#include <roc/c.h>

#include <cstdint>

namespace {

TEST(CNoDevice, CountIsZeroAndDevicesAreErrors) {
  std::int32_t number = -1;
  EXPECT_EQ(ROCARRAY_SUCCESS, roc_device_count(&number));
  EXPECT_EQ(0, number);
  roc_stream stream = nullptr;
  roc_event event = nullptr;
  roc_resource resource = nullptr;
  void* data = nullptr;
  constexpr roc_status expected = ROCARRAY_ERROR_NO_DEVICE;
  EXPECT_EQ(expected, roc_get_device(&number));
  EXPECT_EQ(expected, roc_set_device(0));
  EXPECT_EQ(expected, roc_synchronize_device(0));
  EXPECT_EQ(expected, roc_stream_create(ROCARRAY_STREAM_BLOCKING, 0, &stream));
  EXPECT_EQ(expected, roc_stream_per_thread(&stream));
  EXPECT_EQ(expected, roc_event_create(&event));
  EXPECT_EQ(expected, roc_event_create_timed(&event));
  EXPECT_EQ(expected, roc_resource_create_hip(-1, &resource));
  EXPECT_EQ(expected, roc_resource_create_pool(ROCARRAY_DEFAULT_RESOURCE, SIZE_MAX, &resource));
  EXPECT_EQ(expected, roc_allocate(ROCARRAY_DEFAULT_RESOURCE, 8, ROCARRAY_DEFAULT_STREAM, &data));
  EXPECT_EQ(expected, roc_allocate_host(ROCARRAY_MEMORY_PINNED, 0, 8, &data));
  EXPECT_EQ(nullptr, stream);
  EXPECT_EQ(nullptr, event);
  EXPECT_EQ(nullptr, resource);
  EXPECT_EQ(nullptr, data);
}

TEST(CNoDevice, HostMemoryIsCopiedAndDeviceMemoryIsAnError) {
  int source[2] = {1, 2};
  int destination[2] = {};
  std::int64_t const extent = 2;
  roc_tensor from{};
  from.data = source;
  from.device.device_type = ROCARRAY_DEVICE_CPU;
  from.ndim = 1;
  from.dtype = {ROCARRAY_TYPE_INT, 32, 1};
  from.shape = &extent;
  roc_tensor to = from;
  to.data = destination;
  EXPECT_EQ(ROCARRAY_SUCCESS, roc_copy(&from, &to, nullptr)) << roc_last_error_message();
  EXPECT_EQ(2, destination[1]);
  to.device.device_type = roc_device_type();
  EXPECT_EQ(ROCARRAY_ERROR_NO_DEVICE, roc_copy(&from, &to, nullptr));
  EXPECT_EQ(ROCARRAY_ERROR_NO_DEVICE, roc_zero(&to));
}

}  // namespace
