// SPDX-License-Identifier: MIT
#include "preload/rate_comparison.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace roc::preload {
namespace {

// The vendor's function does the class while served copies take more than max_ratio times as long.
constexpr float max_ratio = 1.05f;

// The last three durations of one side of a comparison. Threads that write at the same time may
// replace one duration by the other.
class recent_durations {
 public:
  void add(float nanoseconds_per_byte) noexcept {
    std::uint32_t const index = count_.fetch_add(1, std::memory_order_relaxed);
    values_[index % values_.size()].store(nanoseconds_per_byte, std::memory_order_relaxed);
  }
  // Returns false until there are two.
  bool are_known() const noexcept { return count_.load(std::memory_order_relaxed) >= 2; }
  // Returns the median, the shorter one of two.
  float median() const noexcept {
    float const a = values_[0].load(std::memory_order_relaxed);
    float const b = values_[1].load(std::memory_order_relaxed);
    if (count_.load(std::memory_order_relaxed) < values_.size()) return std::min(a, b);
    float const c = values_[2].load(std::memory_order_relaxed);
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
  }
  void clear() noexcept { count_ = 0; }

 private:
  std::array<std::atomic<float>, 3> values_{};
  std::atomic<std::uint32_t> count_ = 0;
};

class copy_class {
 public:
  // `first_pair`: the number of the copy with which the first comparison begins.
  outcome choose(std::uint32_t first_pair) noexcept {
    std::uint32_t const number = copies_.fetch_add(1, std::memory_order_relaxed);
    unsigned left = left_to_compare_.load(std::memory_order_relaxed);
    if (left == 0) {
      bool const is_vendor_faster = this->is_vendor_faster();
      if (!is_due(number, first_pair)) {
        return is_vendor_faster ? outcome::vendor_faster : outcome::served;
      }
      // The durations of the vendor's copies are old if they are not measured again.
      left = is_vendor_faster ? 4 : 2;
    }
    left_to_compare_.store(left - 1, std::memory_order_relaxed);
    last_comparison_.store(number, std::memory_order_relaxed);
    return left > 2 ? outcome::served : outcome::to_measure;
  }

  bool is_left_to_vendor() noexcept {
    if (!is_vendor_faster() || left_to_compare_.load(std::memory_order_relaxed) != 0) return false;
    if (is_due(copies_.load(std::memory_order_relaxed), 0)) return false;
    copies_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  void add(outcome result, float nanoseconds_per_byte) noexcept {
    if (result == outcome::to_measure) {
      vendor_.add(nanoseconds_per_byte);
    } else if (was_served_.exchange(true, std::memory_order_relaxed)) {
      served_.add(nanoseconds_per_byte);
    }
  }

  void clear() noexcept {
    served_.clear();
    vendor_.clear();
    copies_ = 0;
    last_comparison_ = 0;
    left_to_compare_ = 0;
    was_served_ = false;
  }

 private:
  bool is_compared() const noexcept { return served_.are_known() && vendor_.are_known(); }
  bool is_vendor_faster() const noexcept {
    return is_compared() && served_.median() > max_ratio * vendor_.median();
  }
  bool is_due(std::uint32_t number, std::uint32_t first_pair) const noexcept {
    std::uint32_t const last = last_comparison_.load(std::memory_order_relaxed);
    return number - last >= (last == 0 ? first_pair : interval());
  }
  // Returns the number of copies from one comparison to the next. Two copies of the slower side
  // then cost about 2 % of the time.
  std::uint32_t interval() const noexcept {
    constexpr float shortest = 64;
    constexpr float longest = 4096;
    if (!is_compared()) return static_cast<std::uint32_t>(shortest);
    float const served = served_.median();
    float const vendor = vendor_.median();
    float const loss = std::max(served, vendor) / std::max(std::min(served, vendor), 1e-6f) - 1;
    return static_cast<std::uint32_t>(std::clamp(100 * loss, shortest, longest));
  }

  recent_durations served_;
  recent_durations vendor_;
  std::atomic<std::uint32_t> copies_ = 0;
  std::atomic<std::uint32_t> last_comparison_ = 0;  // the number of its last copy; 0: none
  // The next copies that are compared: all but the last two are served.
  std::atomic<unsigned> left_to_compare_ = 0;
  std::atomic<bool> was_served_ = false;
};

constexpr std::size_t smallest_power = 16;  // of the bytes; smaller copies are in the same class
constexpr std::size_t powers = 13;          // the last class is that of 256 MiB and more
constexpr std::size_t directions = 2;
constexpr std::size_t layouts = 4;  // contiguous, or strided with narrow, medium or wide rows
constexpr std::size_t modes = 3;    // synchronous, asynchronous, pinned and synchronous

// Constant-initialized, and never destroyed: the program may copy in its static destructors.
constinit std::array<copy_class, powers * directions * layouts * modes> classes{};

std::size_t power_of(copy_request const& request) noexcept {
  std::size_t const power = std::bit_width(request.bytes() | 1) - 1;
  return std::clamp(power, smallest_power, smallest_power + powers - 1) - smallest_power;
}

std::size_t layout_of(copy_request const& request) noexcept {
  constexpr std::size_t narrow = 256;
  constexpr std::size_t wide = 4096;
  if (request.is_contiguous()) return 0;
  if (request.width < narrow) return 1;
  return request.width < wide ? 2 : 3;
}

// `copied` is to_device or to_host.
copy_class& class_of(copy_request const& request, direction copied, bool is_pinned) noexcept {
  std::size_t const mode = is_pinned ? 2 : request.is_synchronous ? 0 : 1;
  std::size_t const way = copied == direction::to_device ? 0 : 1;
  return classes[((power_of(request) * directions + way) * layouts + layout_of(request)) * modes +
                 mode];
}

// The vendor's function may take many times as long, which few large copies do not make up for.
std::uint32_t first_pair_of(copy_request const& request) noexcept {
  constexpr std::size_t large = std::size_t{64} << 20;
  return request.bytes() < large ? 1 : 8;
}

}  // namespace

outcome choose_copier(copy_request const* request, copy_report const* report) noexcept {
  return class_of(*request, report->copied, report->is_pinned).choose(first_pair_of(*request));
}

bool is_left_to_vendor(copy_request const& request) noexcept {
  auto const asked = static_cast<direction>(request.kind);
  // Contiguous copies of pinned memory are the vendor's in any case. Those of strided pinned memory
  // have classes of their own.
  if (asked == direction::unspecified || !request.is_contiguous()) return false;
  return class_of(request, asked, false).is_left_to_vendor();
}

void compare_duration(outcome result, copy_request const& request,
                      copy_report const& report) noexcept {
  auto const nanoseconds = static_cast<float>(report.nanoseconds);
  class_of(request, report.copied, report.is_pinned)
      .add(result, nanoseconds / static_cast<float>(request.bytes()));
}

void clear_comparison() noexcept {
  for (copy_class& entry : classes) entry.clear();
}

}  // namespace roc::preload
