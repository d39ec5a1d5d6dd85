// SPDX-License-Identifier: MIT
#include "transfer/batch_chunks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/launch.hpp"
#include "platform/call.hpp"
#include "runtime/stream.hpp"
#include "transfer/pack.hpp"
#include "transfer/walk.hpp"

namespace roc::transfer {
namespace {

using kernels::batch_item;

// A few threads move that much with few accesses each, and there are enough items for all threads.
constexpr std::size_t item_bytes = 4096;
// Longer copies may be cut.
constexpr std::size_t longest_part = std::size_t{256} << 10;
// The data of every copy begin so, for wide accesses.
constexpr std::size_t data_alignment = 16;
constexpr std::size_t description_alignment = 256;

std::size_t aligned(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// The most items that describe so many bytes of a copy: walk gives the rows along its innermost
// axis at once, and parts of them at both ends; the last item of such rows may be small.
std::size_t most_items(batch_contents const& contents, batch_piece const& piece,
                       std::size_t bytes) {
  std::size_t const by_size = bytes / (item_bytes / 2) + 1;
  if (piece.rank == 0) return by_size;
  std::size_t const rows = contents.axes[piece.first_axis + piece.rank - 1].extent;
  return by_size + bytes / (piece.run * rows) + 4;
}

// Rows as items of a few KiB each; returns the place behind the last.
batch_item* describe_rows(batch_item at, rows each, batch_item* items) {
  auto const run = static_cast<std::ptrdiff_t>(each.run);
  bool const one = at.source_step == run && at.destination_step == run;
  if (one) each = {1, each.run * each.count};
  if (each.run <= item_bytes) {
    std::size_t const together = item_bytes / each.run;
    at.run = static_cast<std::uint32_t>(each.run);
    for (std::size_t row = 0; row < each.count; row += together) {
      at.rows = static_cast<std::uint32_t>(std::min(together, each.count - row));
      *items++ = at;
      auto const steps = static_cast<std::ptrdiff_t>(together);
      at.source += static_cast<std::uintptr_t>(steps * at.source_step);
      at.destination += static_cast<std::uintptr_t>(steps * at.destination_step);
    }
    return items;
  }
  for (std::size_t row = 0; row != each.count; ++row) {
    batch_item next = at;
    next.rows = 1;
    for (std::size_t done = 0; done < each.run; done += item_bytes) {
      next.run = static_cast<std::uint32_t>(std::min(item_bytes, each.run - done));
      *items++ = next;
      next.source += next.run;
      next.destination += next.run;
    }
    at.source += static_cast<std::uintptr_t>(at.source_step);
    at.destination += static_cast<std::uintptr_t>(at.destination_step);
  }
  return items;
}

std::uintptr_t address(std::byte const* data, std::ptrdiff_t offset) {
  return reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(offset);
}

}  // namespace

// Staging memory for a part and its items.
std::size_t batch_chunks::bytes_for(batch_piece const& piece, std::size_t bytes) const {
  return (is_staged() ? aligned(bytes, data_alignment) : 0) +
         most_items(*contents_, piece, bytes) * sizeof(batch_item);
}

// What may still be added to a chunk.
std::size_t batch_chunks::room_in(chunk_parts const& chunk) const {
  std::size_t const described =
      aligned(chunk.items * sizeof(batch_item), description_alignment) + description_alignment;
  auto const rest = [](std::size_t all, std::size_t used) { return all > used ? all - used : 0; };
  return std::min(rest(most_.chunk, described + chunk.data),
                  rest(most_.descriptions, closed_descriptions_ + described));
}

std::size_t batch_chunks::add(std::size_t index, std::size_t begin) {
  batch_piece const& piece = contents_->pieces[index];
  while (begin != piece.bytes) {
    std::size_t bytes = std::min(piece.bytes - begin, longest_part);
    bool const fits = !chunks_.empty() && bytes_for(piece, bytes) <= room_in(chunks_.back());
    bool const fresh = !chunks_.empty() && chunks_.back().items == 0;
    if (!fits && !fresh) {
      if (!open_chunk()) return begin;
      continue;
    }
    // Alone in a chunk it is cut to what fits, which so few bytes always do.
    std::size_t const room = room_in(chunks_.back());
    while (bytes > data_alignment && bytes_for(piece, bytes) > room) {
      bytes = std::max(bytes / 2 / data_alignment * data_alignment, data_alignment);
    }
    chunk_parts& last = chunks_.back();
    parts_.push_back({index, begin, begin + bytes, last.data});
    last.end = parts_.size();
    if (is_staged()) last.data += aligned(bytes, data_alignment);
    last.items += most_items(*contents_, piece, bytes);
    begin += bytes;
  }
  return begin;
}

// False where descriptions take all that they may.
bool batch_chunks::open_chunk() {
  // For 16 bytes of the most scattered copy.
  constexpr std::size_t least = 2048;
  std::size_t const closed =
      chunks_.empty() ? 0 : closed_descriptions_ + description_bytes(chunks_.size() - 1);
  if (closed + least > most_.descriptions && !chunks_.empty()) return false;
  closed_descriptions_ = closed;
  chunks_.push_back({parts_.size(), parts_.size()});
  return true;
}

std::size_t batch_chunks::data_bytes(std::size_t chunk) const noexcept {
  return chunks_[chunk].data;
}

std::size_t batch_chunks::description_bytes(std::size_t chunk) const noexcept {
  return aligned(chunks_[chunk].items * sizeof(batch_item), description_alignment);
}

// Copies are small: a share is some of them.
std::size_t batch_chunks::shares(std::size_t chunk) const noexcept {
  constexpr std::size_t share_bytes = std::size_t{64} << 10;
  std::size_t const parts = chunks_[chunk].end - chunks_[chunk].first;
  return std::clamp(chunks_[chunk].data / share_bytes, std::size_t{1}, parts);
}

batch_chunks::part_range batch_chunks::share_at(std::size_t chunk,
                                                std::size_t share) const noexcept {
  chunk_parts const& of = chunks_[chunk];
  std::size_t const parts = of.end - of.first;
  std::size_t const all = shares(chunk);
  return {of.first + parts * share / all, of.first + parts * (share + 1) / all};
}

void batch_chunks::pack(std::size_t chunk, std::size_t share, std::byte* data) const noexcept {
  part_range const mine = share_at(chunk, share);
  for (std::size_t i = mine.first; i != mine.end; ++i) {
    part const& each = parts_[i];
    batch_piece const& piece = contents_->pieces[each.piece];
    if (piece.rank == 0) {
      std::memcpy(data + each.data, piece.source + each.begin, each.end - each.begin);
    } else {
      transfer::pack(contents_->form_of(piece), {each.begin, each.end}, data + each.data);
    }
  }
}

void batch_chunks::unpack(std::size_t chunk, std::size_t share,
                          std::byte const* data) const noexcept {
  part_range const mine = share_at(chunk, share);
  for (std::size_t i = mine.first; i != mine.end; ++i) {
    part const& each = parts_[i];
    batch_piece const& piece = contents_->pieces[each.piece];
    if (piece.rank == 0) {
      std::memcpy(piece.destination + each.begin, data + each.data, each.end - each.begin);
    } else {
      transfer::unpack(contents_->form_of(piece), {each.begin, each.end}, data + each.data);
    }
  }
}

// The staged side of a part is packed.
batch_item* batch_chunks::describe(part const& of, std::byte* data, batch_item* items) const {
  bool const packed_source = way_ == direction::host_to_device;
  bool const packed_destination = way_ == direction::device_to_host;
  normal_form const form = contents_->form_of(contents_->pieces[of.piece]);
  walk(form, {of.begin, of.end},
       [&](std::ptrdiff_t source, std::ptrdiff_t destination, std::size_t packed, rows each) {
         auto const at = static_cast<std::ptrdiff_t>(of.data + packed);
         auto const run = static_cast<std::ptrdiff_t>(each.run);
         batch_item const first{
             packed_source ? address(data, at) : address(form.source, source),
             packed_destination ? address(data, at) : address(form.destination, destination),
             packed_source ? run : inner_step(form, side::source),
             packed_destination ? run : inner_step(form, side::destination), 0, 0};
         items = describe_rows(first, each, items);
       });
  return items;
}

void batch_chunks::enqueue(std::size_t chunk, stage const& at) const {
  auto* const items = reinterpret_cast<batch_item*>(at.description);
  batch_item* end = items;
  for (std::size_t i = chunks_[chunk].first; i != chunks_[chunk].end; ++i) {
    end = describe(parts_[i], at.data, end);
  }
  platform::check_launch("batch kernel",
                         kernels::launch_items(items, static_cast<std::size_t>(end - items),
                                               runtime::handle(at.stream)));
}

bool batch_chunks::send(std::size_t chunk, stage const& at, bool) const {
  enqueue(chunk, at);
  return true;
}

void batch_chunks::fetch(std::size_t chunk, stage const& at) const { enqueue(chunk, at); }

std::vector<std::shared_ptr<batch_chunks const>> in_chunks(shared_contents const& contents,
                                                           std::vector<std::size_t> const& pieces,
                                                           direction way,
                                                           batch_chunks::limits most) {
  std::vector<std::shared_ptr<batch_chunks const>> works;
  std::shared_ptr<batch_chunks> work;
  for (std::size_t const piece : pieces) {
    for (std::size_t done = 0; done != contents->pieces[piece].bytes;) {
      if (work == nullptr) work = std::make_shared<batch_chunks>(contents, way, most);
      done = work->add(piece, done);
      if (done != contents->pieces[piece].bytes) works.push_back(std::exchange(work, nullptr));
    }
  }
  if (work != nullptr) works.push_back(std::move(work));
  return works;
}

}  // namespace roc::transfer
