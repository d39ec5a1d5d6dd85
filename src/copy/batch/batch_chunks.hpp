// SPDX-License-Identifier: MIT
// The copies of a batch that go one way, as the staging pipeline and the batch kernel see them.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/batch_item.hpp"
#include "copy/batch/batch.hpp"
#include "copy/batch/piece_list.hpp"
#include "copy/staging/staged_work.hpp"

namespace roc::transfer {

/// A chunk is many small copies, or parts of them. Its data lie packed in staging memory; its
/// description is what the kernel is to do, which reads and writes the data where they are.
///
/// Only where chunks and their shares begin is kept: who works on one finds its parts again, copy
/// by copy, and writes what is to be known about each, so that the caller looks at each just once.
class batch_chunks final : public staged_work {
 public:
  /// How large chunks may be: of data and descriptions together, and of all descriptions.
  struct limits {
    std::size_t chunk;
    std::size_t descriptions;
  };
  /// A byte, in its linear order, of a copy in a list.
  struct place {
    std::size_t run;  // of the list; their number: its end
    std::size_t piece;
    std::size_t begin;

    friend bool operator==(place const&, place const&) = default;
  };
  using shared_list = std::shared_ptr<piece_list const>;

  /// `list` all go the way `way`. Within the device nothing is staged: descriptions alone count.
  batch_chunks(shared_contents contents, shared_list list, direction way, limits most)
      : contents_(std::move(contents)), list_(std::move(list)), way_(way), most_(most) {}

  static place first_of(piece_list const& list) noexcept;
  static bool is_end(piece_list const& list, place at) noexcept {
    return at.run == list.runs().size();
  }
  /// Adds all from `begin` on. Returns where it stopped: the end, or what no more descriptions can
  /// be had for. Precondition: not the end; called once.
  place add(place begin);

  std::size_t chunks() const noexcept override { return chunks_.size(); }
  std::size_t data_bytes(std::size_t chunk) const noexcept override;
  std::size_t description_bytes(std::size_t chunk) const noexcept override;
  std::size_t shares(std::size_t chunk) const noexcept override;
  void pack(std::size_t chunk, std::size_t share, std::byte* data) const noexcept override;
  void unpack(std::size_t chunk, std::size_t share, std::byte const* data) const noexcept override;
  std::size_t describe(std::size_t chunk, stage const& at) const override;
  bool send(std::size_t chunk, stage const& at, bool may_wait) const override;
  void fetch(std::size_t chunk, stage const& at) const override;

 private:
  struct chunk_limits {
    std::size_t first_share;
    std::size_t data = 0;   // bytes
    std::size_t items = 0;  // at most
  };
  // Some copies that one thread packs.
  struct share_begin {
    place first;
    std::size_t data;  // where its data begin among the chunk's
  };

  // Of staging memory, for a part and its items.
  struct part_needs {
    std::size_t data;
    std::size_t items;

    std::size_t bytes() const noexcept { return data + items * sizeof(kernels::batch_item); }
  };

  bool is_staged() const noexcept { return way_ != direction::device_to_device; }
  part_needs needs_of(batch_copy const& piece, std::size_t bytes) const noexcept;
  std::size_t room_in(chunk_limits const& chunk) const noexcept;
  bool open_chunk();
  std::size_t end_of_shares(std::size_t chunk) const noexcept;
  place end_of_share(std::size_t share) const noexcept;
  void advance(place& at, std::size_t bytes) const noexcept;
  template <class Visit>
  void visit_parts(std::size_t share, Visit visit) const;

  shared_contents contents_;
  shared_list list_;
  direction way_;
  limits most_;
  std::size_t closed_descriptions_ = 0;  // bytes of all chunks but the last
  std::vector<share_begin> shares_;
  std::vector<chunk_limits> chunks_;
  place end_{};
};

/// All of a list, as few works as the limits allow.
std::vector<std::shared_ptr<batch_chunks const>> in_chunks(shared_contents const& contents,
                                                           piece_list const& list, direction way,
                                                           batch_chunks::limits most);

}  // namespace roc::transfer
