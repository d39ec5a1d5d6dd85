// SPDX-License-Identifier: MIT
// One copy as staged work.
#pragma once

#include <cstddef>

#include "copy/plan.hpp"
#include "copy/staging/staged_work.hpp"

namespace roc::transfer {

/// A copy with path staged or packed, divided into chunks and tasks by bytes of its linear order.
/// If the device side is not contiguous, every chunk is copied through scratch memory on the
/// device, and a kernel scatters or gathers it there. A value; copies the plan.
class staged_copy final : public staged_work {
 public:
  /// Divides the copy into chunks whose tasks run in parallel (parallel_staging.hpp).
  /// @param opposite_bytes those pending in the other direction: see nontemporal_copy.hpp.
  static staged_copy for_parallel_packing(plan const& p, std::size_t opposite_bytes = 0);
  /// Divides the copy into fewer, larger chunks that are processed in the order of a stream
  /// (stream_ordered_staging.hpp).
  static staged_copy for_stream_order(plan const& p);
  /// Divides the copy into chunks that the device and the threads of the library process in turns,
  /// in the order of a stream (staging_driver.hpp).
  /// @param opposite_bytes those pending in the other direction: see nontemporal_copy.hpp.
  static staged_copy for_value_staging(plan const& p, std::size_t opposite_bytes = 0);

  std::size_t chunk_count() const noexcept override { return chunk_count_; }
  std::size_t data_bytes(std::size_t chunk) const noexcept override;
  std::size_t description_bytes(std::size_t) const noexcept override { return 0; }
  std::size_t scratch_bytes(std::size_t chunk) const noexcept override {
    return is_dense_on_device_ ? 0 : data_bytes(chunk);
  }
  std::size_t task_count(std::size_t chunk) const noexcept override;
  bool has_kernels() const noexcept override { return !is_dense_on_device_; }
  void pack(std::size_t chunk, std::size_t task, std::byte* data) const noexcept override;
  void unpack(std::size_t chunk, std::size_t task, std::byte const* data) const noexcept override;
  void enqueue_device_step(std::size_t chunk, staging_slot const& slot) const override;

 private:
  // `tapered`: if the copy is large enough, the chunks at both ends are smaller.
  staged_copy(plan const& p, std::size_t chunk_bytes, std::size_t task_bytes, bool tapered);
  // Return the bytes of a chunk or a task in the linear order of the copy.
  layout::packed_range chunk_range(std::size_t chunk) const noexcept;
  layout::packed_range task_range(std::size_t chunk, std::size_t task) const noexcept;

  plan plan_;
  bool is_dense_on_device_;
  std::size_t total_bytes_;
  std::size_t chunk_bytes_;  // of a chunk that is not tapered
  std::size_t task_bytes_;
  std::size_t taper_bytes_ = 0;  // in the smaller chunks at each end; 0: no chunk is tapered
  std::size_t chunk_count_ = 1;
  std::size_t opposite_bytes_ = 0;
};

}  // namespace roc::transfer
