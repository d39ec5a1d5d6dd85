// SPDX-License-Identifier: MIT
// The copies of a batch that go one way, as the staging pipeline and the batch kernel see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/batch_item.hpp"
#include "transfer/batch_contents.hpp"
#include "transfer/staged_work.hpp"

namespace roc::transfer {

/// A chunk is many small copies, or parts of them. Its data lie packed in staging memory; its
/// description is what the kernel is to do, which reads and writes the data where they are.
class batch_chunks final : public staged_work {
 public:
  /// How large chunks may be: of data and descriptions together, and of all descriptions.
  struct limits {
    std::size_t chunk;
    std::size_t descriptions;
  };

  /// `pieces` all go the way `way`. Within the device nothing is staged: descriptions alone count.
  batch_chunks(shared_contents contents, direction way, limits most)
      : contents_(std::move(contents)), way_(way), most_(most) {}

  /// Adds a copy, from byte `begin` of its linear order on. Returns where it stopped: the end, or
  /// what no more descriptions can be had for.
  std::size_t add(std::size_t piece, std::size_t begin);

  std::size_t chunks() const noexcept override { return chunks_.size(); }
  std::size_t data_bytes(std::size_t chunk) const noexcept override;
  std::size_t description_bytes(std::size_t chunk) const noexcept override;
  std::size_t shares(std::size_t chunk) const noexcept override;
  void pack(std::size_t chunk, std::size_t share, std::byte* data) const noexcept override;
  void unpack(std::size_t chunk, std::size_t share, std::byte const* data) const noexcept override;
  bool send(std::size_t chunk, stage const& at, bool may_wait) const override;
  void fetch(std::size_t chunk, stage const& at) const override;

 private:
  // Bytes [begin, end) of a copy.
  struct part {
    std::size_t piece;
    std::size_t begin;
    std::size_t end;
    std::size_t data;  // where they lie among the chunk's data
  };
  struct chunk_parts {
    std::size_t first;
    std::size_t end;
    std::size_t data = 0;   // bytes
    std::size_t items = 0;  // at most
  };
  struct part_range {
    std::size_t first;
    std::size_t end;
  };

  bool is_staged() const noexcept { return way_ != direction::device_to_device; }
  std::size_t bytes_for(batch_piece const& piece, std::size_t bytes) const;
  std::size_t room_in(chunk_parts const& chunk) const;
  bool open_chunk();
  part_range share_at(std::size_t chunk, std::size_t share) const noexcept;
  void enqueue(std::size_t chunk, stage const& at) const;
  kernels::batch_item* describe(part const& of, std::byte* data, kernels::batch_item* items) const;

  shared_contents contents_;
  direction way_;
  limits most_;
  std::size_t closed_descriptions_ = 0;  // bytes of all chunks but the last
  std::vector<part> parts_;
  std::vector<chunk_parts> chunks_;
};

/// All `pieces`, as few works as the limits allow.
std::vector<std::shared_ptr<batch_chunks const>> in_chunks(shared_contents const& contents,
                                                           std::vector<std::size_t> const& pieces,
                                                           direction way,
                                                           batch_chunks::limits most);

}  // namespace roc::transfer
