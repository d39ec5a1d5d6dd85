// SPDX-License-Identifier: MIT
// Adapters between memory resources and the real cuda::mr, which is header-only. Its streams are
// those of CUDA; on other platforms only their handles pass through. HIP's headers for AMD cannot
// be included beside CUDA's.
#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE
#include <cuda/memory_resource>

#include <roc/interop/cuda_mr.hpp>
#include <roc/interop/foreign_resource.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using cuda_device = roc::cuda_mr_resource<cuda::mr::device_accessible>;
using cuda_both = roc::cuda_mr_resource<cuda::mr::device_accessible, cuda::mr::host_accessible>;
using device_ref = cuda::mr::async_resource_ref<cuda::mr::device_accessible>;

static_assert(cuda::mr::async_resource_with<cuda_device, cuda::mr::device_accessible>);
static_assert(!cuda::mr::async_resource_with<cuda_device, cuda::mr::host_accessible>);
static_assert(cuda::mr::async_resource_with<cuda_both, cuda::mr::device_accessible,
                                            cuda::mr::host_accessible>);

TEST(CudaMr, RoundTripKeepsStreamsAndMemory) {
  roc::hip_memory_resource hip;
  roc::pool_resource pool(hip);
  cuda_device adapter(pool);
  roc::foreign_resource resource{device_ref(adapter)};
  roc::stream const stream;
  {
    roc::device_array<int> const array({1000}, resource, roc::order::c, stream);
    EXPECT_EQ(1u, pool.statistics().current_blocks);
    array.fill(5, stream);
    std::vector<int> actual(1000);
    array.copy_to_host(actual, stream);
    stream.synchronize();
    EXPECT_EQ(std::vector<int>(1000, 5), actual);
  }
  EXPECT_EQ(0u, pool.statistics().current_blocks);
  EXPECT_THROW(cuda_both{pool}, roc::error);
}

TEST(CudaMr, ReferenceWithoutStreamsServesHostArrays) {
  roc::hip_pinned_memory_resource pinned;
  roc::pool_resource pool(pinned);
  cuda_both adapter(pool);
  cuda::mr::resource_ref<cuda::mr::host_accessible> reference(adapter);
  roc::foreign_resource resource(reference, roc::host_memory::pinned);
  roc::host_array<int> const array(roc::shape<1>{100}, resource);
  EXPECT_EQ(roc::host_memory::pinned, array.kind());
  EXPECT_EQ(1u, pool.statistics().current_blocks);
}

}  // namespace
