// SPDX-License-Identifier: MIT
// One copy as the staging pipeline sees it.
#pragma once

#include <cstddef>

#include "copy/staging/pack.hpp"
#include "copy/plan.hpp"
#include "copy/staging/staged_work.hpp"

namespace roc::transfer {

class staged_copy final : public staged_work {
 public:
  /// In chunks that many threads can share.
  static staged_copy for_parallel_packing(plan const& p);
  /// In chunks that are packed or unpacked one after the other, in a stream's order.
  static staged_copy in_order(plan const& p);

  std::size_t chunks() const noexcept override;
  std::size_t data_bytes(std::size_t chunk) const noexcept override;
  std::size_t description_bytes(std::size_t) const noexcept override { return 0; }
  std::size_t shares(std::size_t chunk) const noexcept override;
  void pack(std::size_t chunk, std::size_t share, std::byte* data) const noexcept override;
  void unpack(std::size_t chunk, std::size_t share, std::byte const* data) const noexcept override;
  bool send(std::size_t chunk, stage const& at, bool may_wait) const override;
  void fetch(std::size_t chunk, stage const& at) const override;

 private:
  staged_copy(plan const& p, std::size_t size, std::size_t share, bool tapered);
  layout::packed_range chunk_at(std::size_t chunk) const noexcept;
  layout::packed_range share_at(std::size_t chunk, std::size_t share) const noexcept;

  plan plan_;
  std::size_t total_;
  std::size_t size_;       // bytes of a chunk
  std::size_t share_;      // and of a part that one thread takes
  std::size_t edge_ = 0;   // bytes at both ends in chunks that grow, and shrink; 0: all are alike
  std::size_t count_ = 1;  // of chunks
};

}  // namespace roc::transfer
