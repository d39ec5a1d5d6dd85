// SPDX-License-Identifier: MIT
#include "copy/broadcast_chain.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include <roc/device.hpp>
#include <roc/event.hpp>

#include "copy/execute.hpp"
#include "copy/plan.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"

namespace roc::transfer {
namespace {

// What a link between two GPUs transfers in the time that a copy on a stream costs besides its
// bytes, with the event that the next device waits for: some 16 us at about 400 GB/s, as measured
// with chains over three and four H100.
constexpr double bytes_per_copy = 6 << 20;
// More slabs would cost the calling thread more than they save.
constexpr double max_slabs = 64;

// The time of a chain, in bytes of a link: every slab is received, and the last one forwarded.
double time_of_chain(double bytes, double hops, double slabs) {
  return (hops - 1 + slabs) * (bytes / slabs + bytes_per_copy);
}

// The address and the strides of a region, for the axes of slab_division.
struct reduced_region {
  std::byte* data;
  std::vector<std::ptrdiff_t> strides;  // in elements
};

// Divides regions of the same shape into slabs of the same indices. A slab is a range of indices of
// one axis, at one index of each axis before it. The axes are those of the first region by
// descending strides, with those merged that are contiguous in all regions.
class slab_division {
 public:
  slab_division(std::span<detail::strided_region const* const> regions, std::size_t count)
      : element_size_(regions[0]->element_size) {
    for (auto const* const region : regions) {
      regions_.push_back({static_cast<std::byte*>(region->data), {}});
    }
    add_axes(regions);
    merge_axes();
    choose_axis(count);
  }

  std::size_t size() const noexcept { return outer_count_ * sections_; }

  // The shape and the strides of a slab, to which the region refers.
  struct slab {
    std::vector<std::size_t> shape;
    std::vector<std::ptrdiff_t> strides;
    detail::strided_region region;
  };
  // Sets `result` to a slab of one of the regions, whose memory `whole` describes.
  void get(slab& result, detail::strided_region const& whole, std::size_t region,
           std::size_t number) const {
    std::vector<std::ptrdiff_t> const& strides = regions_[region].strides;
    std::size_t outer = number / sections_;
    std::size_t const first = number % sections_ * section_extent_;
    result.shape.assign(extents_.begin() + static_cast<std::ptrdiff_t>(axis_), extents_.end());
    result.strides.assign(strides.begin() + static_cast<std::ptrdiff_t>(axis_), strides.end());
    std::ptrdiff_t offset = 0;
    if (!result.shape.empty()) {
      result.shape[0] = std::min(section_extent_, extents_[axis_] - first);
      offset = static_cast<std::ptrdiff_t>(first) * strides[axis_];
    }
    for (std::size_t axis = axis_; axis-- != 0;) {
      offset += static_cast<std::ptrdiff_t>(outer % extents_[axis]) * strides[axis];
      outer /= extents_[axis];
    }
    result.region = whole;
    result.region.data =
        regions_[region].data + offset * static_cast<std::ptrdiff_t>(element_size_);
    result.region.rank = result.shape.size();
    result.region.shape = result.shape.data();
    result.region.strides = result.strides.data();
  }

 private:
  void add_axes(std::span<detail::strided_region const* const> regions) {
    detail::strided_region const& leading = *regions[0];
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis != leading.rank; ++axis) {
      if (leading.shape[axis] != 1) axes.push_back(axis);
    }
    std::stable_sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) {
      return std::abs(leading.strides[a]) > std::abs(leading.strides[b]);
    });
    for (std::size_t const axis : axes) {
      extents_.push_back(leading.shape[axis]);
      for (std::size_t i = 0; i != regions.size(); ++i) {
        regions_[i].strides.push_back(regions[i]->strides[axis]);
      }
    }
  }

  void merge_axes() {
    for (std::size_t inner = extents_.size(); inner-- > 1;) {
      std::size_t const outer = inner - 1;
      auto const extent = static_cast<std::ptrdiff_t>(extents_[inner]);
      bool const are_contiguous =
          std::all_of(regions_.begin(), regions_.end(), [&](reduced_region const& region) {
            return region.strides[outer] == region.strides[inner] * extent;
          });
      if (!are_contiguous) continue;
      extents_[outer] *= extents_[inner];
      extents_.erase(extents_.begin() + static_cast<std::ptrdiff_t>(inner));
      for (reduced_region& region : regions_) {
        region.strides.erase(region.strides.begin() + static_cast<std::ptrdiff_t>(outer));
      }
    }
  }

  void choose_axis(std::size_t count) {
    if (extents_.empty()) return;
    while (axis_ + 1 != extents_.size() && outer_count_ * extents_[axis_] < count) {
      outer_count_ *= extents_[axis_++];
    }
    // Long sections begin at multiples of 128 elements, at which copies of memory are fast.
    constexpr std::size_t unit = 128;
    std::size_t const wanted = std::max<std::size_t>(1, count / outer_count_);
    section_extent_ = (extents_[axis_] - 1) / wanted + 1;
    if (section_extent_ > 8 * unit) section_extent_ = (section_extent_ + unit - 1) / unit * unit;
    sections_ = (extents_[axis_] - 1) / section_extent_ + 1;
  }

  std::size_t const element_size_;
  std::vector<std::size_t> extents_;
  std::vector<reduced_region> regions_;
  std::size_t axis_ = 0;         // that is divided into sections
  std::size_t outer_count_ = 1;  // combinations of indices of the axes before it
  std::size_t section_extent_ = 1;
  std::size_t sections_ = 1;
};

// Returns which of the devices `from` sends to.
int nearest_device(int from, std::span<int const> devices) {
  if (devices.size() == 1) return devices[0];
  auto const rank_of = [&](int device) {
    peer_link const link = roc::device(from).link_to(roc::device(device));
    return std::tuple(!link.has_access, link.performance_rank, link.hops, device);
  };
  int nearest = devices[0];
  auto best = rank_of(nearest);
  for (int const device : devices.subspan(1)) {
    auto const rank = rank_of(device);
    if (rank >= best) continue;
    best = rank;
    nearest = device;
  }
  return nearest;
}

}  // namespace

broadcast_routes find_chain(int source_device, std::span<int const> destination_devices) {
  broadcast_routes routes;
  routes.parents.assign(destination_devices.size(), broadcast_routes::source);
  std::vector<int> remaining;
  for (int const device : destination_devices) {
    bool const is_known = device == source_device ||
                          std::find(remaining.begin(), remaining.end(), device) != remaining.end();
    if (!is_known) remaining.push_back(device);
  }
  int device = source_device;
  std::size_t sender = broadcast_routes::source;
  for (;;) {
    // The first destination on a device receives the data, unless the device has the source.
    std::size_t receiver = broadcast_routes::source;
    for (std::size_t i = 0; i != destination_devices.size(); ++i) {
      if (destination_devices[i] != device) continue;
      bool const is_first = device != source_device && receiver == broadcast_routes::source;
      routes.parents[i] = is_first ? sender : receiver;
      if (is_first) receiver = i;
      routes.order.push_back(i);
    }
    sender = receiver;
    if (remaining.empty()) return routes;
    device = nearest_device(device, remaining);
    remaining.erase(std::find(remaining.begin(), remaining.end(), device));
    ++routes.hops;
  }
}

std::size_t chain_slabs(std::size_t bytes, std::size_t hops) noexcept {
  if (hops < 2) return 0;
  auto const size = static_cast<double>(bytes);
  auto const count = static_cast<double>(hops);
  double const best = std::sqrt(size * (count - 1) / bytes_per_copy);
  double const slabs = std::floor(std::clamp(best, 1.0, max_slabs));
  double const time_of_direct_copies = count * size + bytes_per_copy;
  return time_of_chain(size, count, slabs) < time_of_direct_copies ? static_cast<std::size_t>(slabs)
                                                                   : 0;
}

void enqueue_chain(detail::strided_region const& source,
                   std::span<detail::strided_region const> destinations,
                   std::span<stream_on_device const> streams, broadcast_routes const& routes,
                   std::size_t slabs) {
  std::vector<detail::strided_region const*> regions{&source};
  for (auto const& destination : destinations) regions.push_back(&destination);
  slab_division const division(regions, slabs);

  // By destination: the event after the last slab received; null if no destination copies from it.
  std::vector<std::unique_ptr<event>> received(destinations.size());
  for (std::size_t const parent : routes.parents) {
    if (parent == broadcast_routes::source || received[parent] != nullptr) continue;
    runtime::on_device const guard(streams[parent].device);
    received[parent] = std::make_unique<event>();
  }
  std::vector<stream_on_device> begun;
  begun.reserve(destinations.size());  // an error may mean that memory is exhausted
  try {
    slab_division::slab from;
    slab_division::slab to;
    for (std::size_t slab = 0; slab != division.size(); ++slab) {
      for (std::size_t const destination : routes.order) {
        std::size_t const parent = routes.parents[destination];
        bool const is_first = parent == broadcast_routes::source;
        division.get(from, is_first ? source : destinations[parent], is_first ? 0 : parent + 1,
                     slab);
        division.get(to, destinations[destination], destination + 1, slab);
        stream_on_device const& receiver = streams[destination];
        if (slab == 0) begun.push_back(receiver);
        runtime::on_device const guard(receiver.device);
        if (!is_first) receiver.wait(*received[parent]);
        execute(make_plan(from.region, to.region, timing::enqueued), &receiver.stream);
        if (received[destination] != nullptr) receiver.record(*received[destination]);
      }
    }
    // A destination must not be overwritten or freed before others have copied from it.
    for (std::size_t const destination : routes.order) {
      std::size_t const parent = routes.parents[destination];
      if (parent == broadcast_routes::source) continue;
      stream_on_device const& receiver = streams[destination];
      stream_on_device const& sender = streams[parent];
      runtime::on_device const guard(receiver.device);
      event copied;
      receiver.record(copied);
      runtime::on_device const sender_guard(sender.device);
      sender.wait(copied);
      // Calls without a stream on the sender's device come after the copies from it, too.
      runtime::record_work(sender.stream);
    }
  } catch (...) {
    synchronize_quietly(begun);
    throw;
  }
}

}  // namespace roc::transfer
