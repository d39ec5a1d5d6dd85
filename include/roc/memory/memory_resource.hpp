// SPDX-License-Identifier: MIT
// Where device memory comes from: one small interface, and the resource of each device.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>
#include <roc/stream.hpp>

namespace roc {

/// What a memory resource knows about its memory, in bytes. A resource leaves at zero what it does
/// not count.
struct memory_statistics {
  std::size_t current_bytes = 0;  ///< handed out now
  /// The most that was ever handed out at once. A pool may miss a peak to which several threads
  /// came with small blocks that they had kept for themselves.
  std::size_t peak_bytes = 0;
  std::size_t current_blocks = 0;  ///< allocations handed out now
  std::size_t allocations = 0;     ///< allocations ever made
  std::size_t reserved_bytes = 0;  ///< held by a pool, handed out or not
  std::size_t free_bytes = 0;      ///< held by a pool and not handed out
  std::size_t pending_bytes = 0;   ///< of these: work enqueued before their free may still use them
  std::size_t largest_free_bytes = 0;  ///< of these: in one piece

  /// 0 where all free memory is one piece (or none is free), towards 1 where it is in many.
  double fragmentation() const noexcept {
    if (free_bytes == 0) return 0;
    return 1 - static_cast<double>(largest_free_bytes) / static_cast<double>(free_bytes);
  }
};

namespace detail {

struct resource_life;  // outlives its resource, and tells that it has gone

/// Whether a resource still exists. A value; asking takes one load.
class ROCARRAY_API resource_ticket {
 public:
  resource_ticket() = default;
  resource_ticket(resource_life* life, std::uint64_t number) : life_(life), number_(number) {}
  bool is_valid() const noexcept;

 private:
  resource_life* life_ = nullptr;
  std::uint64_t number_ = 0;
};

}  // namespace detail

/// A source of device memory whose blocks are taken and given back in the order of a stream, as
/// work on that stream is (rmm: `device_memory_resource`; numba.cuda: `BaseCUDAMemoryManager`).
///
/// A resource must outlive the arrays that take from it. An array that outlives its resource says
/// so in the log and frees nothing. Members are safe to call from any thread.
class ROCARRAY_API memory_resource {
 public:
  /// What every block is aligned to, in bytes.
  static constexpr std::size_t alignment = 256;

  virtual ~memory_resource();
  memory_resource(memory_resource const&) = delete;
  memory_resource& operator=(memory_resource const&) = delete;

  /// Memory for work enqueued on `stream` from now on; work on another stream must be ordered after
  /// this call by the caller (device_array does it). Null for zero bytes. Never waits unless memory
  /// is short. Throws out_of_memory, and roc::error, in a host function of a stream too.
  [[nodiscard]] void* allocate(std::size_t bytes, stream_ref stream = {});
  /// Gives memory back, with the bytes it was asked with. Work enqueued on `stream` so far may
  /// still use it. Null is ignored. What cannot be this resource's memory, or was given back
  /// before, is reported to the log hook where that can be seen, and nothing is freed.
  void deallocate(void* data, std::size_t bytes, stream_ref stream = {}) noexcept;

  /// The device whose memory this is; -1 where it does not say.
  int device_ordinal() const noexcept { return do_device_ordinal(); }
  /// What it knows about its memory now; a value.
  memory_statistics statistics() const { return do_statistics(); }
  /// Gives back to its own source what it holds and nobody uses. Waits for nothing.
  void trim() { do_trim(); }
  /// With which an array finds out whether its resource still exists.
  detail::resource_ticket ticket() const noexcept;

  /// Whether memory of one may be given back to the other.
  friend bool operator==(memory_resource const& a, memory_resource const& b) noexcept {
    return &a == &b || a.do_is_equal(b);
  }

 protected:
  memory_resource();

  /// See allocate; `bytes` is neither zero nor beyond what an address can count.
  virtual void* do_allocate(std::size_t bytes, stream_ref stream) = 0;
  /// See deallocate; `data` is not null.
  virtual void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept = 0;
  /// Whether memory of this may be given back to the other: no, unless overridden.
  virtual bool do_is_equal(memory_resource const& other) const noexcept;
  /// See device_ordinal: -1, unless overridden.
  virtual int do_device_ordinal() const noexcept;
  /// See statistics: zeros, unless overridden.
  virtual memory_statistics do_statistics() const;
  /// See trim: nothing, unless overridden.
  virtual void do_trim();

 private:
  detail::resource_life* life_;
};

/// The resource that arrays on this device take their memory from: unless another was set, one made
/// at the first use, a pool_resource, or what ROCARRAY_MEMORY_RESOURCE names (pool, direct,
/// driver_pool). With `direct` tools that check memory, as compute-sanitizer, see every array as an
/// allocation of its own. Throws roc::error where there is no such device.
ROCARRAY_API memory_resource& device_resource(int device);
/// Sets it for arrays made from now on and returns the one before, which must live as long as its
/// arrays; null restores the first one. Throws roc::error where the resource is of another device.
ROCARRAY_API memory_resource* set_device_resource(int device, memory_resource* resource);

}  // namespace roc
