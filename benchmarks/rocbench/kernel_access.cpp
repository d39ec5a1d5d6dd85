// SPDX-License-Identifier: MIT
#include "kernel_access.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include <roc/device.hpp>
#include <roc/memory/managed.hpp>
#include <roc/memory/mapped_view.hpp>
#include <roc/native.hpp>

#include "buffer.hpp"
#include "describe_mismatch.hpp"
#include "device_kernels.hpp"
#include "format.hpp"
#include "image_memory.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

using roc::kernels::unit16;

bool is_managed(kernel_access how) {
  return how == kernel_access::managed_fault || how == kernel_access::managed_prefetch;
}

void check_device(kernel_access how, std::size_t bytes) {
  roc::device const device;
  if (!is_managed(how)) {
    if (!device.can_map_host_memory()) throw not_possible("the device maps no host memory");
    return;
  }
  if (!device.has_managed_memory()) throw not_possible("the device has no managed memory");
  if (!device.has_concurrent_managed_access()) {
    throw not_possible("the device has no concurrent managed access: no pages move by themselves");
  }
  std::size_t const most = device.memory().free / 4;
  if (bytes + 2 * guard_bytes > most) {
    throw not_possible(fmt::format("more managed memory than a quarter of what is free, {}",
                                   format_size(static_cast<double>(most))));
  }
}

class kernel_access_experiment final : public experiment {
 public:
  kernel_access_experiment(kernel_access how, caller by, std::size_t bytes)
      : how_(how),
        by_(by),
        host_(is_managed(how) ? memory_kind::managed : memory_kind::mapped, bytes),
        on_device_(memory_kind::device, bytes),
        device_units_(units(on_device_.payload()), roc::shape<1>{bytes / sizeof(unit16)},
                      roc::order::c, on_device_.device_ordinal()) {
    by == caller::raw ? find_by_pointer() : find_by_view();
  }

  timing timed_by() const override {
    return is_managed(how_) ? timing::wall_clock : timing::device_events;
  }
  std::size_t most_at_once() const override {
    return is_managed(how_) ? 1 : experiment::most_at_once();
  }
  std::size_t bytes() const override { return host_.bytes(); }
  std::size_t counted_bytes() const override { return bytes(); }
  std::string path() override {
    bool const raw = by_ == caller::raw;
    if (how_ == kernel_access::managed_prefetch) return raw ? "hipMemPrefetchAsync" : "prefetch";
    return raw ? "kernel, pointers" : "kernel, views";
  }
  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    if (is_managed(how_)) roc::migrate(host_.host(), roc::memory_location::host());
    guarded_buffer& from = to_host() ? on_device_ : host_;
    // Its bands are no place to write to either, and are checked by the same poison.
    memory_.write(from, arrived(from, sample));
    memory_.fill(to_host() ? host_ : on_device_, poison_byte(sample));
  }

  void run(std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i) {
      how_ == kernel_access::managed_prefetch ? prefetch() : copy();
    }
    if (is_managed(how_)) stream_.synchronize();
  }

  std::optional<std::string> check(std::uint64_t sample, inject_place inject) override {
    if (how_ == kernel_access::managed_prefetch) {
      copy();
      stream_.synchronize();
    }
    guarded_buffer& to = to_host() ? host_ : on_device_;
    if (auto wrong = memory_.check(to, arrived(to, sample), inject)) return wrong;
    return check_guards({host_.whole(), host_.whole_bytes()}, sample);
  }

 private:
  bool to_host() const { return how_ == kernel_access::mapped_write; }

  static image arrived(guarded_buffer const& buffer, std::uint64_t sample) {
    return arrived_image(buffer, {{}, buffer.bytes()}, sample);
  }

  // Where a kernel finds the host memory's payload.
  void find_by_view() {
    constexpr auto first = static_cast<std::ptrdiff_t>(guard_bytes);
    auto const last = first + static_cast<std::ptrdiff_t>(bytes());
    host_units_ = roc::device_view_of(host_.host()).region(roc::slice(first, last)).as<unit16>();
  }
  void find_by_pointer() {
    void* whole = host_.whole();
    // Managed memory has one address for both.
    if (!is_managed(how_)) ROCARRAY_HIP(hipHostGetDevicePointer, &whole, host_.whole(), 0);
    host_units_ = {units(static_cast<std::byte*>(whole) + guard_bytes), device_units_.shape()};
  }

  void prefetch() {
    if (by_ == caller::raw) {
      ROCARRAY_HIP(hipMemPrefetchAsync, host_.payload(), bytes(), device_ordinal(),
              roc::native(stream_));
    } else {
      roc::host_view<std::byte> const payload(host_.payload(), roc::shape<1>{bytes()});
      roc::prefetch(payload, roc::device(device_ordinal()), stream_);
    }
  }

  void copy() {
    auto const& from = to_host() ? device_units_ : host_units_;
    auto const& to = to_host() ? host_units_ : device_units_;
    hipStream_t const native = roc::native(stream_);
    check_kernel(by_ == caller::raw
                     ? launch_copy_by_pointers(from.data(), to.data(), to.size(), native)
                     : launch_copy_by_views(from, to, native));
  }

  int device_ordinal() const { return on_device_.device_ordinal(); }

  static unit16* units(std::byte* data) { return reinterpret_cast<unit16*>(data); }

  kernel_access how_;
  caller by_;
  roc::stream stream_;
  guarded_buffer host_;
  guarded_buffer on_device_;
  image_memory memory_;
  roc::device_view<unit16> device_units_;
  roc::device_view<unit16> host_units_;
};

}  // namespace

std::unique_ptr<experiment> make_kernel_access(kernel_access how, caller by, std::size_t bytes) {
  std::size_t const whole = std::max(bytes / sizeof(unit16), std::size_t{1}) * sizeof(unit16);
  check_device(how, whole);
  return std::make_unique<kernel_access_experiment>(how, by, whole);
}

}  // namespace rocbench
