// SPDX-License-Identifier: MIT
#include "copy/batch/batch_group.hpp"

#include <algorithm>
#include <utility>

#include "memory/host/host_table.hpp"
#include "memory/device/record_finder.hpp"
#include "runtime/current_device.hpp"

namespace roc::transfer {
namespace {

using memory::host_table;
using memory::allocation_record;
using base::byte_range;

// A copy engine is faster where a piece is one copy of some size, and the driver need not stage it.
constexpr std::size_t least_for_engine = std::size_t{32} << 10;

// What the host table knows about the host side of each copy that goes one way, in their order.
// Asked once: others may allocate or register between the copies meanwhile, but what lies under
// them must stay what it is until they have been submitted, as for every copy.
class host_uses {
 public:
  host_uses() = default;
  host_uses(batch const& contents, std::size_t first, std::size_t end, direction way) {
    bool const written = way == direction::device_to_host;
    layout::side const which = written ? layout::side::destination : layout::side::source;
    if (!contents.bounds(which).has(detail::place::host)) return;  // no copy goes this way
    base::byte_range const all = contents.bounds(which).in(detail::place::host);
    auto const& table = host_table::instance();
    if (auto const one = table.about_to_use_parts(all, written)) {
      one_ = *one;
      return;
    }
    std::vector<base::byte_range> where;
    for (std::size_t i = first; i != end; ++i) {
      batch_copy const& p = contents.pieces[i];
      if (p.way() == way) where.push_back(contents.range_of(p, which));
    }
    each_ = table.about_to_use(where, written);
  }

  host_table::use_of_memory next() { return each_.empty() ? one_ : each_[next_++]; }

 private:
  host_table::use_of_memory one_;
  std::vector<host_table::use_of_memory> each_;
  std::size_t next_ = 0;
};

class sorter {
 public:
  sorter(batch const& contents, std::size_t first, std::size_t end, bool at_once,
         detail::source_use use)
      : contents_(contents),
        first_(first),
        end_(end),
        at_once_(at_once),
        use_(use),
        device_(runtime::current_device()),
        up_(contents, first, end, direction::host_to_device),
        down_(contents, first, end, direction::device_to_host) {
    auto const& table = host_table::instance();
    for (layout::side const which : {layout::side::source, layout::side::destination}) {
      has_other_addresses_ =
          has_other_addresses_ ||
          table.gave_device_addresses(contents.bounds(which).in(detail::place::device));
    }
  }

  batch_group sorted() {
    for (std::size_t i = first_; i != end_; ++i) sort(i);
    for (auto& [device, work] : result_.devices) {
      std::sort(work.records.begin(), work.records.end());
      work.records.erase(std::unique(work.records.begin(), work.records.end()),
                         work.records.end());
    }
    return std::move(result_);
  }

 private:
  bool has_other_address(batch_copy const& p, layout::side which) const {
    return has_other_addresses_ && host_table::instance()
                                       .behind_device_address(contents_.range_of(p, which))
                                       .has_value();
  }

  void sort(std::size_t i) {
    batch_copy const& p = contents_.pieces[i];
    switch (p.way()) {
      case direction::host_to_device: return sort_up(i, p);
      case direction::device_to_host: return sort_down(i, p);
      case direction::device_to_device: return sort_within(i, p);
      case direction::host_to_host: return result_.alone.push_back(i);
    }
  }

  void sort_up(std::size_t i, batch_copy const& p) {
    host_table::use_of_memory const host = up_.next();
    if (goes_alone(p, host) || has_other_address(p, layout::side::destination)) {
      return result_.alone.push_back(i);
    }
    batch_on_device& work = on(p.destination_device);
    note(work, destinations_(p.destination));
    bool const in_order = !at_once_ && (host.pinned || use_ == detail::source_use::borrowed);
    (in_order ? work.up_ordered : work.up).push_back(i);
    if (at_once_) return;
    (in_order ? work.used : work.read).push_back(contents_.range_of(p, layout::side::source));
  }

  void sort_down(std::size_t i, batch_copy const& p) {
    if (goes_alone(p, down_.next()) || has_other_address(p, layout::side::source)) {
      return result_.alone.push_back(i);
    }
    batch_on_device& work = on(p.source_device);
    note(work, sources_(p.source));
    work.down.push_back(i);
    if (at_once_) return;
    base::byte_range const where = contents_.range_of(p, layout::side::destination);
    work.used.push_back(where);
    work.written.push_back(where);
  }

  void sort_within(std::size_t i, batch_copy const& p) {
    int const source = p.source_device < 0 ? device_ : p.source_device;
    int const destination = p.destination_device < 0 ? device_ : p.destination_device;
    if (source != destination || has_other_address(p, layout::side::source) ||
        has_other_address(p, layout::side::destination)) {
      return result_.alone.push_back(i);
    }
    batch_on_device& work = on(destination);
    note(work, sources_(p.source));
    note(work, destinations_(p.destination));
    work.within.push_back(i);
  }

  // The CPU must not touch managed memory while some devices work.
  static bool goes_alone(batch_copy const& p, host_table::use_of_memory host) noexcept {
    return host.managed || (host.pinned && p.rank == 0 && p.bytes >= least_for_engine);
  }

  // Most are on the device of the one before.
  batch_on_device& on(int device) {
    if (device < 0) device = device_;
    if (last_ == nullptr || last_device_ != device) {
      last_ = &result_.devices[device];
      last_device_ = device;
    }
    return *last_;
  }

  static void note(batch_on_device& work, allocation_record* record) {
    if (record == nullptr) return;
    std::size_t const count = work.records.size();
    // Most are of the array before, or of the two before that copies go between.
    if (count != 0 && work.records[count - 1] == record) return;
    if (count > 1 && work.records[count - 2] == record) return;
    work.records.push_back(record);
  }

  batch const& contents_;
  std::size_t first_;
  std::size_t end_;
  bool at_once_;
  detail::source_use use_;
  int device_;  // the current one
  host_uses up_;
  host_uses down_;
  // Some device side may be host memory by another address. That address was asked for before its
  // copy was added.
  bool has_other_addresses_ = false;
  memory::record_finder sources_;
  memory::record_finder destinations_;
  batch_on_device* last_ = nullptr;
  int last_device_ = -1;
  batch_group result_;
};

}  // namespace

batch_group sorted_group(batch const& contents, std::size_t first, std::size_t end,
                         bool at_once, detail::source_use use) {
  return sorter(contents, first, end, at_once, use).sorted();
}

}  // namespace roc::transfer
