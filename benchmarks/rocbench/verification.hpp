// SPDX-License-Identifier: MIT
// Memory of any kind between guard bands, and its verification: images are written and checked in
// device memory by kernels, in host memory by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <roc/roc.hpp>

#include "benchmark_case.hpp"
#include "kernels.hpp"

namespace rocbench {

enum class memory_kind : unsigned char {
  device,
  pinned,
  pageable,
  registered,
  write_combined,
  mapped,
  managed,
};

/// Bytes of a guard band: one page, so that the payload is aligned as the allocation is.
inline constexpr std::size_t guard_bytes = 4096;

/// An uninitialized payload between two guard bands. Device memory is allocated on `device` (-1: the
/// current one) and must not be accessed by the host.
///
/// `registration_api` selects how registered memory is registered. roc::register_host registers
/// large ranges in several parts. hipHostRegister registers one range, as raw copies need: CUDA
/// refuses a copy across two registrations. Throws out_of_memory, roc::error.
class guarded_buffer {
 public:
  guarded_buffer(memory_kind kind, std::size_t bytes,
                 api_kind registration_api = api_kind::library, int device = -1);

  bool is_device_memory() const noexcept { return kind_ == memory_kind::device; }
  /// Returns the size of the payload in bytes.
  std::size_t bytes() const noexcept { return bytes_; }
  /// Returns the ordinal of the device that device memory belongs to. Precondition:
  /// is_device_memory().
  int device_ordinal() const { return device_.device_ordinal(); }
  /// Returns the size of payload and guard bands in bytes.
  std::size_t allocation_bytes() const noexcept { return bytes_ + 2 * guard_bytes; }
  std::byte* payload() { return allocation() + guard_bytes; }
  /// Returns the start of the allocation, which is the guard band before the payload.
  std::byte* allocation() { return is_device_memory() ? device_.data() : host_.data(); }
  /// Returns the allocation as an array; empty if it is device memory.
  roc::host_array<std::byte>& host_allocation() { return host_; }

 private:
  memory_kind kind_;
  std::size_t bytes_;
  roc::device_array<std::byte> device_;
  roc::host_array<std::byte> host_;
  // Declared after the memory, so that memory is unregistered before it is freed.
  std::optional<roc::registration> registration_;
  std::shared_ptr<void> hip_registration_;
};

/// Throws case_not_supported if the device has no code of rocbench's kernels, roc::error if the
/// launch failed for any other reason.
void check_kernel_launch(hipError_t launch_result);

/// Returns what the destination must contain after the copy: the payload, and the sample's poison
/// everywhere else.
image destination_image(guarded_buffer const& buffer, image_layout const& layout,
                        std::uint64_t sample);

/// Returns text such as "sample 3: payload byte 17 is 0x80, not 0x81".
/// @param offset offset of the byte in the image
std::string describe_mismatch(image const& contents, std::uint64_t offset, std::byte actual);

/// Flips a bit of the byte that `inject` selects; does nothing if it is none. Throws
/// case_not_supported if the image has no such byte.
void corrupt_byte(guarded_buffer& buffer, image const& contents, injection_site inject);

/// Returns a description of the first difference between the image and the guard bands, or nothing.
std::optional<std::string> check_guard_bands(guarded_buffer& buffer, image const& expected);

/// Writes and checks whole allocations, including their guard bands: host memory, and memory of the
/// device for which the object was made. Every call blocks until it is
/// done. Throws case_not_supported if the device has no code of rocbench's kernels, roc::error if a
/// HIP call fails.
class buffer_verifier {
 public:
  explicit buffer_verifier(roc::device device = {})
      : buffer_verifier(device, roc::device_guard(device)) {}

  void write(guarded_buffer& buffer, image const& contents);
  /// Fills the allocation with one value.
  void fill(guarded_buffer& buffer, std::uint8_t value);
  /// Compares the allocation with `expected`. Returns a description of the first different byte, or
  /// nothing. Corrupts a byte at `inject` before.
  std::optional<std::string> check(guarded_buffer& buffer, image const& expected,
                                   injection_site inject);
  /// Calls launch(comparison, stream), which enqueues a kernel that compares device memory. Returns
  /// describe(index) of the first difference, or nothing.
  /// @param count number of elements that the kernel must report as compared
  std::optional<std::string> compare_on_device(
      std::uint64_t count, std::function<hipError_t(device_comparison*, hipStream_t)> const& launch,
      std::function<std::string(std::uint64_t index)> const& describe);

 private:
  // The device is current while the other members are made.
  buffer_verifier(roc::device device, roc::device_guard const&) : device_(device) {}

  roc::device device_;
  roc::stream stream_;
  roc::device_array<device_comparison> comparison_{roc::shape<1>{1}};
};

/// An operand of a buffer_experiment.
struct buffer_layout {
  memory_kind kind;
  std::size_t span;  ///< bytes from the first element to the end of the last
  image_layout layout;
  int device = -1;  ///< of device memory; -1: the current device
};

/// An experiment that moves a payload from one buffer to another. Its stream is on the device of the
/// source, or on the current one if that is host memory.
class buffer_experiment : public experiment {
 public:
  buffer_experiment(experiment_properties measured, buffer_layout const& source,
                    buffer_layout const& destination,
                    api_kind registration_api = api_kind::library);

  roc::stream_ref stream() const override { return stream_; }
  void prepare(std::uint64_t sample) override;
  void run(std::size_t times) override { work(times); }
  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override;

  bool within_device() const { return source.is_device_memory() && destination.is_device_memory(); }
  hipMemcpyKind hip_copy_kind() const;
  hipStream_t hip_stream() const;
  image expected_source(std::uint64_t sample) const;
  /// Returns the sample that was prepared last.
  std::uint64_t sample() const { return sample_; }
  void set_path(std::string path) { properties_.path = std::move(path); }

  /// What run() executes.
  std::function<void(std::size_t times)> work;
  /// If set, returns the 8 bytes that the destination repeats instead of the sample's pattern.
  std::function<std::uint64_t(std::uint64_t sample)> repeated_value;
  guarded_buffer source;
  guarded_buffer destination;

 private:
  std::uint64_t sample_ = 0;
  roc::stream stream_;
  image_layout source_layout_;
  image_layout destination_layout_;
  buffer_verifier source_verifier_;
  buffer_verifier destination_verifier_;
};

/// Calls f(source_view, destination_view) with functions that return views of the experiment's
/// memory from a pointer, a shape, and an order or strides. At least one side is device memory.
template <class F>
void with_view_makers(buffer_experiment const& subject, F const& f) {
  auto const on_host = [](auto* data, auto const& shape, auto layout) {
    return roc::host_view(data, shape, layout);
  };
  auto const on_device = [](guarded_buffer const& buffer) {
    return [&](auto* data, auto const& shape, auto layout) {
      return roc::device_view(data, shape, layout, buffer.device_ordinal());
    };
  };
  if (!subject.source.is_device_memory())
    f(on_host, on_device(subject.destination));
  else if (subject.destination.is_device_memory())
    f(on_device(subject.source), on_device(subject.destination));
  else
    f(on_device(subject.source), on_host);
}

}  // namespace rocbench
