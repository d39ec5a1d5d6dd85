// SPDX-License-Identifier: MIT
#include "kernel_access_experiment.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include <roc/device.hpp>
#include <roc/memory/managed.hpp>
#include <roc/memory/mapped_view.hpp>
#include <roc/native.hpp>

#include "check_kernel_launch.hpp"
#include "copy_kernels.hpp"
#include "describe_mismatch.hpp"
#include "format.hpp"
#include "guarded_buffer.hpp"
#include "image_verifier.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

using roc::kernels::vector_word;

bool is_managed(kernel_access access) {
  return access == kernel_access::managed_fault || access == kernel_access::managed_prefetch;
}

void check_device(kernel_access access, std::size_t bytes) {
  roc::device const device;
  if (!is_managed(access)) {
    if (!device.can_map_host_memory())
      throw case_not_supported("the device cannot map host memory");
    return;
  }
  if (!device.has_managed_memory()) throw case_not_supported("the device has no managed memory");
  if (!device.has_concurrent_managed_access()) {
    throw case_not_supported(
        "the device has no concurrent managed access: pages do not migrate on faults");
  }
  std::size_t const max_bytes = device.memory().free / 4;
  if (bytes + 2 * guard_bytes > max_bytes) {
    throw case_not_supported(
        fmt::format("more managed memory than a quarter of the free device memory, {}",
                    format_size(static_cast<double>(max_bytes))));
  }
}

class kernel_access_experiment final : public experiment {
 public:
  kernel_access_experiment(kernel_access access, api_kind api, std::size_t bytes)
      : access_(access),
        api_(api),
        host_buffer_(is_managed(access) ? memory_kind::managed : memory_kind::mapped, bytes),
        device_buffer_(memory_kind::device, bytes),
        device_units_(as_units(device_buffer_.payload()),
                      roc::shape<1>{bytes / sizeof(vector_word)}, roc::order::c,
                      device_buffer_.device_ordinal()) {
    api == api_kind::raw ? set_host_units_by_pointer() : set_host_units_by_view();
  }

  timing_method timing() const override {
    return is_managed(access_) ? timing_method::wall_clock : timing_method::device_events;
  }
  std::size_t max_batch() const override {
    return is_managed(access_) ? 1 : experiment::max_batch();
  }
  std::size_t bytes() const override { return host_buffer_.bytes(); }
  std::size_t counted_bytes() const override { return bytes(); }
  std::string path() override {
    bool const is_raw = api_ == api_kind::raw;
    if (access_ == kernel_access::managed_prefetch)
      return is_raw ? "hipMemPrefetchAsync" : "prefetch";
    return is_raw ? "kernel, pointers" : "kernel, views";
  }
  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    if (is_managed(access_))
      roc::migrate(host_buffer_.host_allocation(), roc::memory_location::host());
    guarded_buffer& source = writes_host() ? device_buffer_ : host_buffer_;
    // The source's guard bands must not be written either; they hold the same poison.
    verifier_.write(source, expected_image(source, sample));
    verifier_.fill(writes_host() ? host_buffer_ : device_buffer_, poison_byte(sample));
  }

  void run(std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i) {
      access_ == kernel_access::managed_prefetch ? prefetch() : launch_copy();
    }
    if (is_managed(access_)) stream_.synchronize();
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    if (access_ == kernel_access::managed_prefetch) {
      launch_copy();
      stream_.synchronize();
    }
    guarded_buffer& destination = writes_host() ? host_buffer_ : device_buffer_;
    if (auto difference = verifier_.check(destination, expected_image(destination, sample), inject))
      return difference;
    return check_guard_bands({host_buffer_.allocation(), host_buffer_.allocation_bytes()}, sample);
  }

 private:
  bool writes_host() const { return access_ == kernel_access::mapped_write; }

  static image expected_image(guarded_buffer const& buffer, std::uint64_t sample) {
    return destination_image(buffer, {{}, buffer.bytes()}, sample);
  }

  // These set host_units_ to the payload of the host memory as a kernel addresses it.
  void set_host_units_by_view() {
    constexpr auto first = static_cast<std::ptrdiff_t>(guard_bytes);
    auto const last = first + static_cast<std::ptrdiff_t>(bytes());
    host_units_ = roc::device_view_of(host_buffer_.host_allocation())
                      .region(roc::slice(first, last))
                      .as<vector_word>();
  }
  void set_host_units_by_pointer() {
    void* allocation = host_buffer_.allocation();
    // Managed memory has the same address on the host and the device.
    if (!is_managed(access_))
      ROCARRAY_HIP(hipHostGetDevicePointer, &allocation, host_buffer_.allocation(), 0);
    host_units_ = {as_units(static_cast<std::byte*>(allocation) + guard_bytes),
                   device_units_.shape()};
  }

  void prefetch() {
    if (api_ == api_kind::raw) {
      ROCARRAY_HIP(hipMemPrefetchAsync, host_buffer_.payload(), bytes(), device_ordinal(),
                   roc::native(stream_));
    } else {
      roc::host_view<std::byte> const payload(host_buffer_.payload(), roc::shape<1>{bytes()});
      roc::prefetch(payload, roc::device(device_ordinal()), stream_);
    }
  }

  void launch_copy() {
    auto const& source = writes_host() ? device_units_ : host_units_;
    auto const& destination = writes_host() ? host_units_ : device_units_;
    hipStream_t const hip_stream = roc::native(stream_);
    check_kernel_launch(api_ == api_kind::raw
                            ? launch_copy_with_pointers(source.data(), destination.data(),
                                                        destination.size(), hip_stream)
                            : launch_copy_with_views(source, destination, hip_stream));
  }

  int device_ordinal() const { return device_buffer_.device_ordinal(); }

  static vector_word* as_units(std::byte* data) { return reinterpret_cast<vector_word*>(data); }

  kernel_access access_;
  api_kind api_;
  roc::stream stream_;
  guarded_buffer host_buffer_;
  guarded_buffer device_buffer_;
  image_verifier verifier_;
  roc::device_view<vector_word> device_units_;
  roc::device_view<vector_word> host_units_;
};

}  // namespace

std::unique_ptr<experiment> make_kernel_access_experiment(kernel_access access, api_kind api,
                                                          std::size_t bytes) {
  std::size_t const rounded_bytes =
      std::max(bytes / sizeof(vector_word), std::size_t{1}) * sizeof(vector_word);
  check_device(access, rounded_bytes);
  return std::make_unique<kernel_access_experiment>(access, api, rounded_bytes);
}

}  // namespace rocbench
