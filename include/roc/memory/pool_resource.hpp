// SPDX-License-Identifier: MIT
// The memory pool: deallocated memory is kept and reused in stream order.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <source_location>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc {

namespace memory {
class pool_state;
}

/// Options of a pool, in bytes.
struct pool_options {
  /// The largest number of bytes that the pool allocates from its upstream resource.
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  /// The size of one upstream allocation. A block that is larger gets an allocation of its own
  /// size.
  std::size_t slab_bytes = std::size_t{64} << 20;
};

/// A memory resource that keeps deallocated memory for later allocations. The default resource of
/// every device (rmm: `pool_memory_resource`; pyopencl: `MemoryPool`). The memory is of the kind of
/// its upstream: a pool over a hip_pinned_memory_resource is one for host arrays.
///
/// Blocks of up to 1 MiB have one of about forty sizes, each at most 25 % larger than the next
/// smaller one. Larger blocks are split from the best fit and coalesced again. Each thread caches a
/// few small blocks and allocates them without a lock.
///
/// *Synchronization:* a block that is deallocated on a stream is reused on that stream at once; on
/// another stream it is reused only after the work that may use it has finished. That includes work
/// that the library enqueued on other streams and work announced by record_stream. If memory is
/// short, an allocation waits for pending work, returns free memory to the upstream resource, tries
/// again, and throws out_of_memory only then. All members may be called from any thread.
///
/// trim() returns all memory whose work has finished, so after device::synchronize() one call
/// returns all memory that is not in use. It does not wait for pending work itself, but hipFree
/// does. It records events on streams that are busy, and waits up to 10 ms for them.
///
/// *Lifetime:* a stream of another library (from_native) must outlive the blocks that are allocated
/// or deallocated on it.
///
/// Throws what the upstream resource throws.
class ROCARRAY_API pool_resource final : public memory_resource {
 public:
  /// Creates a pool that takes its memory from `upstream`.
  ///
  /// @param upstream must outlive the pool and name its device
  /// @param options limits, in bytes
  /// @throws roc::error if `upstream` does not name its device
  explicit pool_resource(memory_resource& upstream, pool_options const& options = {},
                         detail::caller at = std::source_location::current());
  /// Blocks until pending work has finished. Blocks still in use are reported to the log hook and
  /// leaked.
  ~pool_resource() override;

  /// Sets the largest number of bytes that the pool holds. If it holds more, it returns free
  /// memory to the upstream resource and does not grow; blocks in use stay valid.
  void set_limit(std::size_t bytes);
  /// Returns the limit in bytes.
  std::size_t limit() const;

 private:
  detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream) override;
  void do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                           stream_ref stream) noexcept override;
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  int do_device_ordinal() const noexcept override;
  std::optional<host_memory> do_host_kind() const noexcept override;
  memory_statistics do_statistics() const override;
  void do_trim() override;

  std::shared_ptr<memory::pool_state> state_;
};

}  // namespace roc
