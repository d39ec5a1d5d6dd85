// SPDX-License-Identifier: MIT
// The pool: memory that was given back is kept for the next allocation.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>

#include <roc/config.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc {

namespace memory {
class pool_state;
}

/// What bounds a pool.
struct pool_options {
  /// Bytes that the pool takes from its upstream at most.
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  /// Bytes that it takes at once at most, unless one block needs more.
  std::size_t chunk_bytes = std::size_t{64} << 20;
};

/// Keeps memory that was given back for the next allocation (pyopencl: `MemoryPool`; what every
/// device uses unless told otherwise).
///
/// Blocks up to 1 MiB are of some forty sizes, at most a quarter apart; larger ones are cut from
/// what fits best and joined again. A block given back on a stream is used again at once on that
/// stream, and on another only when the work that may use it is known to be done. Each thread keeps
/// a few small blocks for itself, and takes and gives those without a lock. Where memory is short
/// the pool waits for pending work, gives what it can to its upstream, tries again, and only then
/// throws out_of_memory.
///
/// Work that the library enqueues on other streams, and what is told by record_stream, is waited for too.
/// A stream of another library (from_native) must outlive the blocks that are taken or given back
/// on it. Throws what the upstream throws.
class ROCARRAY_API pool_resource final : public memory_resource {
 public:
  /// The upstream must outlive the pool and know its device.
  explicit pool_resource(memory_resource& upstream, pool_options const& options = {});
  /// Waits for pending work. Blocks that are still in use are reported to the log and never freed.
  ~pool_resource() override;

  /// Bytes taken from the upstream at most. Below what is held, the pool gives back what it can and
  /// grows no more; blocks in use are not touched.
  void set_limit(std::size_t bytes);
  /// What set_limit set.
  std::size_t limit() const;

 private:
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  int do_device_ordinal() const noexcept override;
  memory_statistics do_statistics() const override;
  void do_trim() override;

  std::shared_ptr<memory::pool_state> state_;
};

}  // namespace roc
