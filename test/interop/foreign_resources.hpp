// SPDX-License-Identifier: MIT
// Stand-ins for the resources of RMM and cuda::mr, with the member functions of their versions.
// They allocate from HIP's stream-ordered pool, and record what they are called with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"

namespace foreign {

// rmm::cuda_stream_view
class stream_view {
 public:
  constexpr stream_view() = default;
  stream_view(int) = delete;
  stream_view(std::nullptr_t) = delete;
  constexpr stream_view(hipStream_t stream) noexcept : stream_(stream) {}
  constexpr hipStream_t value() const noexcept { return stream_; }
  constexpr operator hipStream_t() const noexcept { return stream_; }

 private:
  hipStream_t stream_ = nullptr;
};

// cuda::stream_ref
class stream_ref {
 public:
  stream_ref(hipStream_t stream) noexcept : stream_(stream) {}
  stream_ref(int) = delete;
  stream_ref(std::nullptr_t) = delete;
  hipStream_t get() const noexcept { return stream_; }

 private:
  hipStream_t stream_;
};

// rmm::out_of_memory
class out_of_memory : public std::bad_alloc {
 public:
  explicit out_of_memory(std::string const& message) : message_("foreign: " + message) {}
  char const* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

// Properties of cuda::mr.
struct device_accessible {};
struct host_accessible {};

/// A call of a resource.
struct call {
  bool is_allocation;
  std::size_t bytes;
  hipStream_t stream;
  int device;  // the current one
};

// Allocates from the pool of the driver. Throws out_of_memory.
inline void* pool_allocate(std::size_t bytes, hipStream_t stream) {
  void* data = nullptr;
  try {
    ROCARRAY_HIP(hipMallocAsync, &data, bytes, stream);
  } catch (roc::out_of_memory const& error) {
    throw out_of_memory(error.what());
  }
  return data;
}

inline void pool_deallocate(void* data, hipStream_t stream) {
  roc::platform::retry_then_log([&] { ROCARRAY_HIP(hipFreeAsync, data, stream); });
}

/// Counts the blocks in use, and keeps the calls.
struct call_log {
  std::vector<call> calls;
  int blocks = 0;

  void add(bool is_allocation, std::size_t bytes, hipStream_t stream) {
    calls.push_back({is_allocation, bytes, stream, roc::device().ordinal()});
    blocks += is_allocation ? 1 : -1;
  }
};

// rmm::mr::device_memory_resource of RMM until 26.04
class device_memory_resource {
 public:
  virtual ~device_memory_resource() = default;
  void* allocate(std::size_t bytes, stream_view stream = {}) { return do_allocate(bytes, stream); }
  void deallocate(void* data, std::size_t bytes, stream_view stream = {}) noexcept {
    do_deallocate(data, bytes, stream);
  }
  bool is_equal(device_memory_resource const& other) const noexcept { return do_is_equal(other); }
  bool operator==(device_memory_resource const& other) const noexcept { return do_is_equal(other); }

 private:
  virtual void* do_allocate(std::size_t bytes, stream_view stream) = 0;
  virtual void do_deallocate(void* data, std::size_t bytes, stream_view stream) noexcept = 0;
  virtual bool do_is_equal(device_memory_resource const& other) const noexcept {
    return this == &other;
  }
};

// rmm::mr::cuda_async_memory_resource
class async_memory_resource final : public device_memory_resource {
  void* do_allocate(std::size_t bytes, stream_view stream) override {
    return pool_allocate(bytes, stream);
  }
  void do_deallocate(void* data, std::size_t, stream_view stream) noexcept override {
    pool_deallocate(data, stream);
  }
};

/// A resource with the stream as the last argument, of cuda::mr of CCCL 3.0.
struct async_resource {
  call_log* log;

  void* allocate(std::size_t bytes, std::size_t) {
    void* const data = pool_allocate(bytes, nullptr);
    try {
      ROCARRAY_HIP(hipStreamSynchronize, nullptr);
    } catch (...) {
      pool_deallocate(data, nullptr);
      throw;
    }
    return data;
  }
  void deallocate(void* data, std::size_t, std::size_t) { pool_deallocate(data, nullptr); }
  void* allocate_async(std::size_t bytes, std::size_t, stream_ref stream) {
    void* const data = pool_allocate(bytes, stream.get());
    if (log != nullptr) log->add(true, bytes, stream.get());
    return data;
  }
  void deallocate_async(void* data, std::size_t bytes, std::size_t, stream_ref stream) {
    if (log != nullptr) log->add(false, bytes, stream.get());
    pool_deallocate(data, stream.get());
  }
  bool operator==(async_resource const&) const = default;
};

/// A resource with the stream as the first argument, of cuda::mr of CCCL 3.1 and RMM from 26.06 on.
struct resource {
  call_log* log;

  void* allocate_sync(std::size_t bytes, std::size_t alignment) {
    return async_resource{log}.allocate(bytes, alignment);
  }
  void deallocate_sync(void* data, std::size_t, std::size_t) { pool_deallocate(data, nullptr); }
  void* allocate(stream_ref stream, std::size_t bytes, std::size_t alignment) {
    return async_resource{log}.allocate_async(bytes, alignment, stream);
  }
  void deallocate(stream_ref stream, void* data, std::size_t bytes, std::size_t alignment) {
    async_resource{log}.deallocate_async(data, bytes, alignment, stream);
  }
  bool operator==(resource const&) const = default;
};

/// A resource without streams, of cuda::mr of CCCL 3.1.
struct synchronous_resource {
  void* allocate_sync(std::size_t bytes, std::size_t alignment) {
    return async_resource{nullptr}.allocate(bytes, alignment);
  }
  // The memory is given back at once: the caller has waited for its work.
  void deallocate_sync(void* data, std::size_t, std::size_t) { pool_deallocate(data, nullptr); }
  bool operator==(synchronous_resource const&) const = default;
};

}  // namespace foreign
