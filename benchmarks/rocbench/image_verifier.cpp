// SPDX-License-Identifier: MIT
#include "image_verifier.hpp"

#include <fmt/format.h>

#include <roc/native.hpp>

#include "check_kernel_launch.hpp"
#include "describe_mismatch.hpp"
#include "experiment.hpp"
#include "host_image.hpp"
#include "image_kernels.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

constexpr std::byte source_gap{0xFF};

image make_image(guarded_buffer const& buffer, image_layout const& layout, std::uint64_t sample,
                 std::byte poison) {
  return {layout, guard_bytes, buffer.bytes(), sample, std::to_integer<std::uint8_t>(poison)};
}

std::byte read_byte(guarded_buffer& buffer, std::uint64_t offset) {
  if (!buffer.is_device_memory()) return buffer.allocation()[offset];
  std::byte value{};
  ROCARRAY_HIP(hipMemcpy, &value, buffer.allocation() + offset, 1, hipMemcpyDeviceToHost);
  return value;
}

std::string describe(guarded_buffer& buffer, image const& contents, std::uint64_t offset) {
  std::byte const actual = read_byte(buffer, offset);
  auto const describe_at = [&](char const* region, std::uint64_t region_offset) {
    return describe_mismatch(
        region, {region_offset, std::byte{image_byte(contents, offset)}, actual}, contents.sample);
  };
  if (offset < contents.guard) return describe_at("guard band before the payload,", offset);
  if (offset - contents.guard >= contents.span)
    return describe_at("guard band after the payload,", offset - contents.guard - contents.span);
  segment const bytes = segment_at(contents, offset);
  return bytes.is_payload ? describe_at("payload", bytes.index)
                          : describe_at("gap,", offset - contents.guard);
}

}  // namespace

image source_image(guarded_buffer const& buffer, image_layout const& layout, std::uint64_t sample) {
  return make_image(buffer, layout, sample, source_gap);
}

image destination_image(guarded_buffer const& buffer, image_layout const& layout,
                        std::uint64_t sample) {
  return make_image(buffer, layout, sample, poison_byte(sample));
}

void image_verifier::write(guarded_buffer& buffer, image const& contents) {
  if (!buffer.is_device_memory()) return write_image(buffer.allocation(), contents);
  check_kernel_launch(launch_image_write(buffer.allocation(), contents, roc::native(stream_)));
  stream_.synchronize();
}

void image_verifier::fill(guarded_buffer& buffer, std::byte value) {
  if (!buffer.is_device_memory())
    return fill_bytes(buffer.allocation(), buffer.allocation_bytes(), value);
  ROCARRAY_HIP(hipMemsetAsync, buffer.allocation(), std::to_integer<int>(value),
               buffer.allocation_bytes(), roc::native(stream_));
  stream_.synchronize();
}

device_comparison image_verifier::compare_on_device(guarded_buffer& buffer, image const& expected) {
  hipStream_t const hip_stream = roc::native(stream_);
  ROCARRAY_HIP(hipMemsetAsync, comparison_.data(), 0xFF, sizeof(device_comparison), hip_stream);
  check_kernel_launch(
      launch_image_check(buffer.allocation(), expected, comparison_.data(), hip_stream));
  stream_.synchronize();
  device_comparison result{};
  ROCARRAY_HIP(hipMemcpy, &result, comparison_.data(), sizeof result, hipMemcpyDeviceToHost);
  return result;
}

std::optional<std::string> image_verifier::check(guarded_buffer& buffer, image const& expected,
                                                 injection_site inject) {
  if (inject != injection_site::none) corrupt_byte(buffer, injection_offset(expected, inject));
  if (!buffer.is_device_memory()) {
    auto const offset = find_first_mismatch(buffer.allocation(), expected);
    if (!offset) return std::nullopt;
    return describe(buffer, expected, *offset);
  }
  device_comparison const comparison = compare_on_device(buffer, expected);
  if (comparison.first_mismatch != ~0ull)
    return describe(buffer, expected, comparison.first_mismatch);
  if (comparison.compared == expected.size()) return std::nullopt;
  return fmt::format("sample {}: the comparison kernel did not run", expected.sample);
}

void corrupt_byte(guarded_buffer& buffer, std::uint64_t offset) {
  std::byte const value = read_byte(buffer, offset) ^ std::byte{1};
  if (!buffer.is_device_memory()) {
    buffer.allocation()[offset] = value;
  } else {
    ROCARRAY_HIP(hipMemcpy, buffer.allocation() + offset, &value, 1, hipMemcpyHostToDevice);
  }
}

std::uint64_t injection_offset(image const& contents, injection_site inject) {
  if (inject == injection_site::before) return contents.guard - 1;
  if (inject == injection_site::after) return contents.guard + contents.span;
  bool const wants_payload = inject == injection_site::data;
  // Searches from the middle of the payload, then from its start.
  for (std::uint64_t const start : {contents.guard + contents.span / 2, contents.guard}) {
    for (std::uint64_t offset = start; offset < contents.guard + contents.span;) {
      segment const bytes = segment_at(contents, offset);
      if (bytes.is_payload == wants_payload) return offset;
      offset += bytes.length;
    }
  }
  throw case_not_supported("the case has no gaps to corrupt a byte in");
}

}  // namespace rocbench
