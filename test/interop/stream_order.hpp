// SPDX-License-Identifier: MIT
// Checks that adapters of memory resources keep the order of streams.
#pragma once

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "interop/foreign_resources.hpp"
#include "platform/call.hpp"
#include "support/gate.hpp"

namespace foreign {

/// Expects that a foreign stream's work is done before its memory is handed out on another stream.
/// Both are on the current device.
template <class A>
void expect_stream_order(A& adapter) {
  constexpr std::size_t bytes = 100'000;
  roc::stream const first;
  roc::stream const second;
  void* const old = adapter.allocate(bytes, stream_view(roc::native(first)));
  roc::test::gate gate;
  gate.close(first);
  ROCARRAY_HIP(hipMemsetAsync, old, 1, bytes, roc::native(first));
  adapter.deallocate(old, bytes, stream_view(roc::native(first)));
  std::vector<void*> next;
  for (int i = 0; i < 24; ++i) {  // more than the first slab of the pool
    next.push_back(adapter.allocate(bytes, stream_view(roc::native(second))));
    ROCARRAY_HIP(hipMemsetAsync, next.back(), 2, bytes, roc::native(second));
  }
  second.synchronize();
  gate.open();
  first.synchronize();
  for (void* const data : next) {
    std::vector<unsigned char> actual(bytes);
    roc::device_view<unsigned char>(static_cast<unsigned char*>(data), {bytes})
        .copy_to_host(actual);
    EXPECT_EQ(std::vector<unsigned char>(bytes, 2), actual);
    adapter.deallocate(data, bytes, stream_view(roc::native(second)));
  }
}

/// Gives an adapter for cuda::mr the order of the arguments of RMM's class.
template <class A>
struct stream_last_view {
  A adapter;
  void* allocate(std::size_t bytes, stream_view stream) {
    return adapter.allocate(stream_ref(stream.value()), bytes, 256);
  }
  void deallocate(void* data, std::size_t bytes, stream_view stream) {
    adapter.deallocate_async(data, bytes, 256, stream_ref(stream.value()));
  }
};

}  // namespace foreign
