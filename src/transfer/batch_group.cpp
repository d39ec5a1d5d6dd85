// SPDX-License-Identifier: MIT
#include "transfer/batch_group.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "memory/host_table.hpp"
#include "runtime/current_device.hpp"

namespace roc::transfer {
namespace {

using memory::host_table;
using memory::memory_record;
using memory::range;

// A copy engine is faster where a piece is one copy of some size, and the driver need not stage it.
constexpr std::size_t least_for_engine = std::size_t{32} << 10;

class sorter {
 public:
  sorter(batch_contents const& contents, std::size_t first, std::size_t end, bool at_once,
         detail::source_use use)
      : contents_(contents), first_(first), end_(end), at_once_(at_once), use_(use) {}

  batch_group sorted() {
    ask_for_memory();
    for (std::size_t i = first_; i != end_; ++i) sort(i);
    for (auto& [device, work] : result_.devices) {
      std::sort(work.records.begin(), work.records.end());
      work.records.erase(std::unique(work.records.begin(), work.records.end()),
                         work.records.end());
    }
    return std::move(result_);
  }

 private:
  batch_piece const& piece(std::size_t i) const { return contents_.pieces[i]; }

  static side host_side(batch_piece const& p) {
    return p.way == direction::device_to_host ? side::destination : side::source;
  }

  // What the host table knows about the host sides of copies to and from devices.
  void ask_for_memory() {
    std::array<std::vector<range>, 2> where;  // read, written
    for (std::size_t i = first_; i != end_; ++i) {
      batch_piece const& p = piece(i);
      if (p.way == direction::host_to_device || p.way == direction::device_to_host) {
        where[p.way == direction::device_to_host].push_back(
            contents_.range_of(p, host_side(p)));
      }
    }
    for (bool const written : {false, true}) {
      memory_[written] = host_table::instance().about_to_use(where[written], written);
      next_[written] = memory_[written].begin();
    }
  }

  bool has_other_address(batch_piece const& p, side which) const {
    return host_table::instance()
        .behind_device_address(contents_.range_of(p, which))
        .has_value();
  }

  void sort(std::size_t i) {
    batch_piece const& p = piece(i);
    bool const from_device = p.way == direction::device_to_host ||
                             p.way == direction::device_to_device;
    bool const to_device = p.way == direction::host_to_device ||
                           p.way == direction::device_to_device;
    bool const down = p.way == direction::device_to_host;
    host_table::use_of_memory host;
    if (from_device != to_device) host = *next_[down]++;
    // The CPU must not touch managed memory while some devices work.
    if (p.way == direction::host_to_host || host.managed ||
        (host.pinned && p.rank == 0 && p.bytes >= least_for_engine) ||
        (from_device && has_other_address(p, side::source)) ||
        (to_device && has_other_address(p, side::destination))) {
      return result_.alone.push_back(i);
    }
    int const current = runtime::current_device();
    int const source = p.source_device < 0 ? current : p.source_device;
    int const destination = p.destination_device < 0 ? current : p.destination_device;
    if (p.way == direction::device_to_device && source != destination) return result_.alone.push_back(i);

    batch_on_device& work = result_.devices[to_device ? destination : source];
    if (from_device) note(work, p.source);
    if (to_device) note(work, p.destination);
    if (p.way == direction::device_to_device) return work.within.push_back(i);
    range const where = contents_.range_of(p, host_side(p));
    if (down) {
      work.down.push_back(i);
      work.used.push_back(where);
      work.written.push_back(where);
    } else if (at_once_ || (!host.pinned && use_ == detail::source_use::copied)) {
      work.up.push_back(i);
      work.read.push_back(where);
    } else {
      work.up_ordered.push_back(i);
      work.used.push_back(where);
    }
  }

  static void note(batch_on_device& work, void const* address) {
    memory_record* const record = memory::find_record(address);
    if (record == nullptr) return;
    // Most are of the array before.
    if (work.records.empty() || work.records.back() != record) work.records.push_back(record);
  }

  batch_contents const& contents_;
  std::size_t first_;
  std::size_t end_;
  bool at_once_;
  detail::source_use use_;
  std::array<std::vector<host_table::use_of_memory>, 2> memory_;
  std::array<std::vector<host_table::use_of_memory>::const_iterator, 2> next_;
  batch_group result_;
};

}  // namespace

batch_group sorted_group(batch_contents const& contents, std::size_t first, std::size_t end,
                         bool at_once, detail::source_use use) {
  return sorter(contents, first, end, at_once, use).sorted();
}

}  // namespace roc::transfer
