// SPDX-License-Identifier: MIT
#include "copy/batch/routing.hpp"

#include <algorithm>
#include <utility>

#include "base/options.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/host/device_aliases.hpp"
#include "memory/host/host_table.hpp"
#include "runtime/current_device.hpp"

namespace roc::transfer {
namespace {

using base::byte_range;
using memory::allocation_record;
using memory::host_table;

// From this size on, a contiguous copy of pinned memory is executed individually: a copy engine
// executes it without staging. An estimate, not measured: a lower value costs more calls of HIP, a
// higher one more staging memory and more work of the copy threads.
constexpr std::size_t min_engine_bytes = std::size_t{32} << 10;

// The kinds of host memory of all copies of one copy_kind, looked up together and returned in the
// order of the copies. Other threads may allocate or register other memory at the same time; the
// memory of the batch must not change until the batch has been submitted, as for every copy.
class host_memory_kinds {
 public:
  // Throws registration_error if a destination is registered as read-only.
  host_memory_kinds(batch const& batch, std::size_t first, std::size_t end, copy_kind kind) {
    bool const written = kind == copy_kind::device_to_host;
    layout::side const host_side = written ? layout::side::destination : layout::side::source;
    if (!batch.bounds(host_side).has(detail::memory_space::host)) return;  // no copy has this kind
    byte_range const bounds = batch.bounds(host_side).in(detail::memory_space::host);
    auto const& table = host_table::instance();
    if (auto const common = table.query_uniform_access(bounds, written)) {
      common_ = *common;
      return;
    }
    std::vector<byte_range> ranges;
    for (std::size_t i = first; i != end; ++i) {
      batch_copy const& copy = batch.copies[i];
      if (copy.kind() == kind) ranges.push_back(batch.range_of(copy, host_side));
    }
    kinds_ = table.query_access(ranges, written);
  }

  // Returns the properties of the next copy of the kind.
  host_table::host_memory_properties next() { return kinds_.empty() ? common_ : kinds_[next_++]; }

 private:
  host_table::host_memory_properties common_;  // of all copies, if kinds_ is empty
  std::vector<host_table::host_memory_properties> kinds_;
  std::size_t next_ = 0;
};

// Routes the copies one after the other. route() may be called only once.
class router {
 public:
  router(batch const& batch, std::size_t first, std::size_t end, bool is_synchronous,
         detail::source_use use)
      : batch_(batch),
        first_(first),
        end_(end),
        is_synchronous_(is_synchronous),
        use_(use),
        current_device_(runtime::current_device()),
        upload_kinds_(batch, first, end, copy_kind::host_to_device),
        download_kinds_(batch, first, end, copy_kind::device_to_host) {
    auto const& aliases = memory::device_aliases::instance();
    for (layout::side const side : {layout::side::source, layout::side::destination}) {
      may_have_mapped_ =
          may_have_mapped_ ||
          aliases.overlap_or_removed(batch.bounds(side).in(detail::memory_space::device));
    }
  }

  routed_copies route() {
    for (std::size_t i = first_; i != end_; ++i) route_copy(i);
    for (auto& [device, route] : result_.devices) {
      std::sort(route.records.begin(), route.records.end());
      route.records.erase(std::unique(route.records.begin(), route.records.end()),
                          route.records.end());
    }
    return std::move(result_);
  }

 private:
  // Returns true if a device side is the device address of mapped host memory.
  bool is_mapped(batch_copy const& copy, layout::side side) const {
    return may_have_mapped_ && memory::device_aliases::instance()
                                   .host_range_of(batch_.range_of(copy, side))
                                   .has_value();
  }

  // The functions below add a copy to a mechanism of the route of its device, or to the individual
  // copies.
  void route_copy(std::size_t index) {
    if (base::options().is_path_required) return result_.individual.push_back(index);
    batch_copy const& copy = batch_.copies[index];
    switch (copy.kind()) {
      case copy_kind::host_to_device: return route_upload(index, copy);
      case copy_kind::device_to_host: return route_download(index, copy);
      case copy_kind::device_to_device: return route_device_copy(index, copy);
      case copy_kind::host_to_host: return result_.individual.push_back(index);
    }
  }

  void route_upload(std::size_t index, batch_copy const& copy) {
    auto const host = with_found(upload_kinds_.next(), copy.memory_of(layout::side::source));
    if (is_individual(copy, host) || is_mapped(copy, layout::side::destination)) {
      return result_.individual.push_back(index);
    }
    device_route& route = route_on(copy.destination_device);
    add_record(route, destination_records_(copy.destination));
    add_untracked_destination(route, copy);
    bool const stream_ordered =
        !is_synchronous_ && (host.pinned || use_ == detail::source_use::borrowed);
    (stream_ordered ? route.stream_ordered_uploads : route.uploads).push_back(index);
    if (host.partly_pinned) route.has_partly_pinned = true;
    if (stream_ordered && (!host.pinned || copy.is_source_untracked)) {
      route.records_read_ranges = true;
    }
    if (!needs_range(host)) return;
    (stream_ordered || is_synchronous_ ? route.host_reads : route.read_now)
        .push_back(batch_.range_of(copy, layout::side::source));
  }

  void route_download(std::size_t index, batch_copy const& copy) {
    auto const host = with_found(download_kinds_.next(), copy.memory_of(layout::side::destination));
    if (is_individual(copy, host) || is_mapped(copy, layout::side::source)) {
      return result_.individual.push_back(index);
    }
    device_route& route = route_on(copy.source_device);
    add_record(route, source_records_(copy.source));
    add_untracked_source(route, copy);
    route.downloads.push_back(index);
    if (host.partly_pinned) route.has_partly_pinned = true;
    if (!needs_range(host)) return;
    route.host_writes.push_back(batch_.range_of(copy, layout::side::destination));
  }

  void route_device_copy(std::size_t index, batch_copy const& copy) {
    int const source = copy.source_device < 0 ? current_device_ : copy.source_device;
    int const destination = copy.destination_device < 0 ? current_device_ : copy.destination_device;
    if (source != destination || is_mapped(copy, layout::side::source) ||
        is_mapped(copy, layout::side::destination)) {
      return result_.individual.push_back(index);
    }
    device_route& route = route_on(destination);
    add_record(route, source_records_(copy.source));
    add_record(route, destination_records_(copy.destination));
    add_untracked_source(route, copy);
    add_untracked_destination(route, copy);
    route.within_device.push_back(index);
  }

  // Returns true if the operation needs the range of the host side of a copy
  // (operation::host_reads).
  bool needs_range(host_table::host_memory_properties const& host) const {
    return host.partly_pinned || needs_all_ranges();
  }
  // Returns true if the operation needs the ranges of all host memory.
  bool needs_all_ranges() const { return !is_synchronous_ || !runtime::has_one_device(); }
  // Returns what the host table knows about the host side of a copy, with what the look-up found
  // when the copy was added: the table does not know memory that other code pinned.
  static host_table::host_memory_properties with_found(host_table::host_memory_properties known,
                                                       side_memory const& found) noexcept {
    known.partly_pinned = known.partly_pinned || found.is_partly_pinned;
    known.pinned = known.pinned || (found.is_untracked && !known.partly_pinned);
    return known;
  }

  // The functions below add the memory of a device side if the CPU may access it too.
  void add_untracked_source(device_route& route, batch_copy const& copy) const {
    if (!copy.is_source_untracked || !needs_all_ranges()) [[likely]]
      return;
    route.host_reads.push_back(batch_.range_of(copy, layout::side::source));
    if (!is_synchronous_) route.records_read_ranges = true;
  }
  void add_untracked_destination(device_route& route, batch_copy const& copy) const {
    if (!copy.is_destination_untracked || !needs_all_ranges()) [[likely]]
      return;
    route.host_writes.push_back(batch_.range_of(copy, layout::side::destination));
  }

  // Returns true if the copy cannot or should not be staged. The CPU may not access managed memory
  // while some devices work, so it cannot be staged.
  static bool is_individual(batch_copy const& copy,
                            host_table::host_memory_properties host) noexcept {
    return host.managed || (host.pinned && copy.rank == 0 && copy.bytes >= min_engine_bytes);
  }

  // Returns the route of a device. Caches the last one, because most copies are on the same device
  // as the previous copy.
  device_route& route_on(int device) {
    if (device < 0) device = current_device_;
    if (last_route_ == nullptr || last_device_ != device) {
      last_route_ = &result_.devices[device];
      last_device_ = device;
    }
    return *last_route_;
  }

  // Adds the record of device memory. Does nothing for null: the library did not allocate the
  // memory.
  static void add_record(device_route& route, allocation_record* record) {
    if (record == nullptr) return;
    std::size_t const count = route.records.size();
    // Skips most duplicates: consecutive copies mostly use the same array, or the same two arrays.
    if (count != 0 && route.records[count - 1] == record) return;
    if (count > 1 && route.records[count - 2] == record) return;
    route.records.push_back(record);
  }

  batch const& batch_;
  std::size_t first_;
  std::size_t end_;
  bool is_synchronous_;
  detail::source_use use_;
  int current_device_;
  host_memory_kinds upload_kinds_;
  host_memory_kinds download_kinds_;
  // True if some device side may be the device address of mapped host memory: such an address was
  // requested before its copy was added.
  bool may_have_mapped_ = false;
  memory::record_finder source_records_;
  memory::record_finder destination_records_;
  device_route* last_route_ = nullptr;
  int last_device_ = -1;
  routed_copies result_;
};

}  // namespace

routed_copies route_copies(batch const& batch, std::size_t first, std::size_t end,
                           bool is_synchronous, detail::source_use use) {
  return router(batch, first, end, is_synchronous, use).route();
}

}  // namespace roc::transfer
