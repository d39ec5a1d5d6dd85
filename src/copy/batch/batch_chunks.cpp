// SPDX-License-Identifier: MIT
#include "copy/batch/batch_chunks.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/launch.hpp"
#include "platform/call.hpp"
#include "runtime/stream.hpp"
#include "copy/batch/batch_items.hpp"
#include "copy/staging/pack.hpp"
#include "copy/staging/nontemporal_copy.hpp"

namespace roc::transfer {
namespace {

using kernels::batch_item;

// Longer copies may be cut.
constexpr std::size_t longest_part = std::size_t{256} << 10;
// A share ends behind the copy that makes it as large.
constexpr std::size_t share_bytes = std::size_t{64} << 10;
// The data of every copy begin so, for wide accesses.
constexpr std::size_t data_alignment = 16;
constexpr std::size_t description_alignment = 256;

constexpr std::size_t aligned(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

batch_chunks::place batch_chunks::first_of(piece_list const& list) noexcept {
  return list.empty() ? place{} : place{0, list.runs().front().first, 0};
}

batch_chunks::part_needs batch_chunks::needs_of(batch_copy const& piece,
                                                std::size_t bytes) const noexcept {
  return {is_staged() ? aligned(bytes, data_alignment) : 0, most_items(*contents_, piece, bytes)};
}

// What may still be added to a chunk.
std::size_t batch_chunks::room_in(chunk_limits const& chunk) const noexcept {
  std::size_t const described =
      aligned(chunk.items * sizeof(batch_item), description_alignment) + description_alignment;
  auto const rest = [](std::size_t all, std::size_t used) { return all > used ? all - used : 0; };
  return std::min(rest(most_.chunk, described + chunk.data),
                  rest(most_.descriptions, closed_descriptions_ + described));
}

// To the next part, in this copy or the next one.
void batch_chunks::advance(place& at, std::size_t bytes) const noexcept {
  at.begin += bytes;
  if (at.begin != contents_->pieces[at.piece].bytes) return;
  at.begin = 0;
  if (++at.piece != list_->runs()[at.run].end) return;
  ++at.run;
  at.piece = is_end(*list_, at) ? 0 : list_->runs()[at.run].first;
}

batch_chunks::place batch_chunks::add(place at) {
  bool cut = false;  // the rest of that copy begins the next chunk
  while (!is_end(*list_, at)) {
    batch_copy const& piece = contents_->pieces[at.piece];
    std::size_t bytes = std::min(piece.bytes - at.begin, longest_part);
    part_needs needs = needs_of(piece, bytes);
    std::size_t const room = chunks_.empty() || cut ? 0 : room_in(chunks_.back());
    if (needs.bytes() > room) [[unlikely]] {
      if (chunks_.empty() || chunks_.back().items != 0) {
        if (!open_chunk()) break;
        cut = false;
        continue;
      }
      // Alone in a chunk it is cut to what fits, which so few bytes always do.
      cut = true;
      while (bytes > data_alignment && needs.bytes() > room) {
        bytes = std::max(bytes / 2 / data_alignment * data_alignment, data_alignment);
        needs = needs_of(piece, bytes);
      }
    }
    chunk_limits& last = chunks_.back();
    if (last.items == 0 || last.data - shares_.back().data >= share_bytes) {
      shares_.push_back({at, last.data});
    }
    last.data += needs.data;
    last.items += needs.items;
    advance(at, bytes);
  }
  end_ = at;
  return at;
}

// False where descriptions take all that they may.
bool batch_chunks::open_chunk() {
  // For 16 bytes of the most scattered copy.
  constexpr std::size_t least = 2048;
  std::size_t const closed =
      chunks_.empty() ? 0 : closed_descriptions_ + description_bytes(chunks_.size() - 1);
  if (closed + least > most_.descriptions && !chunks_.empty()) return false;
  closed_descriptions_ = closed;
  chunks_.push_back({shares_.size()});
  return true;
}

std::size_t batch_chunks::data_bytes(std::size_t chunk) const noexcept {
  return chunks_[chunk].data;
}

std::size_t batch_chunks::description_bytes(std::size_t chunk) const noexcept {
  return aligned(chunks_[chunk].items * sizeof(batch_item), description_alignment);
}

std::size_t batch_chunks::end_of_shares(std::size_t chunk) const noexcept {
  return chunk + 1 == chunks_.size() ? shares_.size() : chunks_[chunk + 1].first_share;
}

std::size_t batch_chunks::shares(std::size_t chunk) const noexcept {
  return end_of_shares(chunk) - chunks_[chunk].first_share;
}

batch_chunks::place batch_chunks::end_of_share(std::size_t share) const noexcept {
  return share + 1 == shares_.size() ? end_ : shares_[share + 1].first;
}

// Calls visit(copy, part of it, where its data lie in the chunk): as add has cut them.
template <class Visit>
void batch_chunks::visit_parts(std::size_t share, Visit visit) const {
  place const end = end_of_share(share);
  std::size_t data = shares_[share].data;
  for (place at = shares_[share].first; at != end;) {
    batch_copy const& piece = contents_->pieces[at.piece];
    std::size_t bytes = std::min(piece.bytes - at.begin, longest_part);
    if (at.piece == end.piece && at.run == end.run) bytes = std::min(bytes, end.begin - at.begin);
    visit(piece, layout::packed_range{at.begin, at.begin + bytes}, data);
    if (is_staged()) data += aligned(bytes, data_alignment);
    advance(at, bytes);
  }
}

void batch_chunks::pack(std::size_t chunk, std::size_t share, std::byte* data) const noexcept {
  // Shorter ones are parts of lines too often.
  constexpr std::size_t least = 512;
  bool const few = contents_->bytes <= max_nontemporal_pack_bytes;
  visit_parts(chunks_[chunk].first_share + share,
              [&](batch_copy const& of, layout::packed_range part, std::size_t at) {
                std::size_t const bytes = part.end - part.begin;
                if (of.rank == 0 && few && bytes >= least) {
                  nontemporal_copy(data + at, of.source + part.begin, bytes);
                } else if (of.rank == 0) {
                  std::memcpy(data + at, of.source + part.begin, bytes);
                } else {
                  transfer::pack(contents_->form_of(of), part, data + at);
                }
              });
  nontemporal_fence();
}

void batch_chunks::unpack(std::size_t chunk, std::size_t share,
                          std::byte const* data) const noexcept {
  visit_parts(chunks_[chunk].first_share + share,
              [&](batch_copy const& of, layout::packed_range part, std::size_t at) {
                if (of.rank == 0) {
                  std::memcpy(of.destination + part.begin, data + at, part.end - part.begin);
                } else {
                  transfer::unpack(contents_->form_of(of), part, data + at);
                }
              });
}

// The staged side of a part is packed.
std::size_t batch_chunks::describe(std::size_t chunk, stage const& at) const {
  auto* const items = reinterpret_cast<batch_item*>(at.description);
  batch_item* end = items;
  for (std::size_t share = chunks_[chunk].first_share; share != end_of_shares(chunk); ++share) {
    visit_parts(share, [&](batch_copy const& of, layout::packed_range part, std::size_t data) {
      packed_sides packed{};
      if (way_ == direction::host_to_device) packed.source = at.data + data;
      if (way_ == direction::device_to_host) packed.destination = at.data + data;
      end = transfer::describe(*contents_, of, part, packed, end);
    });
  }
  return static_cast<std::size_t>(end - items);
}

void batch_chunks::fetch(std::size_t, stage const& at) const {
  platform::check_launch("batch kernel",
                         kernels::launch_items(reinterpret_cast<batch_item*>(at.description),
                                               at.items, runtime::handle(at.stream)));
}

bool batch_chunks::send(std::size_t chunk, stage const& at, bool) const {
  fetch(chunk, at);  // the kernel moves them either way
  return true;
}

std::vector<std::shared_ptr<batch_chunks const>> in_chunks(shared_contents const& contents,
                                                           piece_list const& list, direction way,
                                                           batch_chunks::limits most) {
  std::vector<std::shared_ptr<batch_chunks const>> works;
  if (list.empty()) return works;
  auto const shared = std::make_shared<piece_list const>(list);
  for (auto at = batch_chunks::first_of(list); !batch_chunks::is_end(list, at);) {
    auto work = std::make_shared<batch_chunks>(contents, shared, way, most);
    at = work->add(at);
    works.push_back(std::move(work));
  }
  return works;
}

}  // namespace roc::transfer
