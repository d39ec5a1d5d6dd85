// SPDX-License-Identifier: MIT
#include "verification.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include <roc/native.hpp>

#include "platform/call.hpp"

namespace rocbench {
namespace {

// Not the poison of any sample, so that a copy of more than the elements is noticed.
constexpr std::uint8_t source_gap = 0xFF;

roc::host_memory host_memory_of(memory_kind kind) {
  switch (kind) {
    case memory_kind::pinned:
    case memory_kind::write_combined: return roc::host_memory::pinned;
    case memory_kind::mapped: return roc::host_memory::mapped;
    case memory_kind::managed: return roc::host_memory::managed;
    default: return roc::host_memory::pageable;
  }
}

roc::device device_or_current(int ordinal) {
  return ordinal >= 0 ? roc::device(ordinal) : roc::device();
}

roc::stream stream_on(int ordinal) {
  roc::device_guard const guard{device_or_current(ordinal)};
  return roc::stream();
}

std::byte read_byte(guarded_buffer& buffer, std::uint64_t offset) {
  std::byte value{};
  ROCARRAY_HIP(hipMemcpy, &value, buffer.allocation() + offset, 1, hipMemcpyDefault);
  return value;
}

// Returns the offset of the byte that `inject` selects, which is not none.
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

}  // namespace

std::string describe_mismatch(image const& contents, std::uint64_t offset, std::byte actual) {
  auto const describe_at = [&](char const* region, std::uint64_t region_offset) {
    return fmt::format("sample {}: {} byte {} is 0x{:02x}, not 0x{:02x}", contents.sample, region,
                       region_offset, std::to_integer<unsigned>(actual),
                       image_byte(contents, offset));
  };
  if (offset < contents.guard) return describe_at("guard band before the payload,", offset);
  std::uint64_t const span_offset = offset - contents.guard;
  if (span_offset >= contents.span)
    return describe_at("guard band after the payload,", span_offset - contents.span);
  segment const bytes = segment_at(contents, offset);
  return bytes.is_payload ? describe_at("payload", bytes.index) : describe_at("gap,", span_offset);
}

guarded_buffer::guarded_buffer(memory_kind kind, std::size_t bytes, api_kind registration_api,
                               int device)
    : kind_(kind), bytes_(bytes) {
  roc::shape<1> const shape{allocation_bytes()};
  if (is_device_memory()) {
    roc::device_guard const guard{device_or_current(device)};
    device_ = roc::device_array<std::byte>(shape);
    return;
  }
  bool const is_write_combined = kind == memory_kind::write_combined;
  host_ = roc::host_array<std::byte>(
      shape, roc::order::c, host_memory_of(kind),
      is_write_combined ? roc::host_flags::portable | roc::host_flags::write_combined
                        : roc::host_flags::portable);
  if (kind != memory_kind::registered) return;
  if (registration_api == api_kind::library) {
    registration_ = roc::register_host(host_);
  } else {
    ROCARRAY_HIP(hipHostRegister, host_.data(), allocation_bytes(), 0u);
    hip_registration_.reset(
        host_.data(), [](void* allocation) { ROCARRAY_HIP_QUIET(hipHostUnregister, allocation); });
  }
}

void check_kernel_launch(hipError_t launch_result) {
  constexpr int no_binary = 209;  // hipErrorNoBinaryForGpu, which the host platform does not define
  bool const missing =
      launch_result == hipErrorNotSupported ||  // the fake HIP runtime without a host stub
      launch_result == hipErrorInvalidDeviceFunction ||
      static_cast<int>(launch_result) == no_binary;
  if (missing) {
    throw case_not_supported(fmt::format(
        "rocbench's kernels were not compiled for this device (error {}); with the fake HIP "
        "runtime, name the library of their host stubs in ROCARRAY_HOST_STUBS",
        static_cast<int>(launch_result)));
  }
  roc::platform::check_launch("rocbench kernel", launch_result);
}

image destination_image(guarded_buffer const& buffer, image_layout const& layout,
                        std::uint64_t sample) {
  return {layout, guard_bytes, buffer.bytes(), sample, poison_byte(sample)};
}

void corrupt_byte(guarded_buffer& buffer, image const& contents, injection_site inject) {
  if (inject == injection_site::none) return;
  std::uint64_t const offset = injection_offset(contents, inject);
  std::byte const value = read_byte(buffer, offset) ^ std::byte{1};
  ROCARRAY_HIP(hipMemcpy, buffer.allocation() + offset, &value, 1, hipMemcpyDefault);
}

std::optional<std::string> check_guard_bands(guarded_buffer& buffer, image const& expected) {
  std::byte* const allocation = buffer.allocation();
  for (std::uint64_t const begin : {std::uint64_t{0}, expected.size() - guard_bytes}) {
    // If the copy back does nothing, the check must fail.
    std::vector<std::byte> guard(guard_bytes, ~std::byte{expected.poison});
    ROCARRAY_HIP(hipMemcpy, guard.data(), allocation + begin, guard_bytes,
                 buffer.is_device_memory() ? hipMemcpyDeviceToHost : hipMemcpyHostToHost);
    for (std::uint64_t i = 0; i < guard_bytes; ++i) {
      if (guard[i] != std::byte{expected.poison})
        return describe_mismatch(expected, begin + i, guard[i]);
    }
  }
  return std::nullopt;
}

void buffer_verifier::write(guarded_buffer& buffer, image const& contents) {
  roc::device_guard const guard(device_);
  if (!buffer.is_device_memory()) return write_image(buffer.allocation(), contents);
  check_kernel_launch(launch_image_write(buffer.allocation(), contents, roc::native(stream_)));
  stream_.synchronize();
}

void buffer_verifier::fill(guarded_buffer& buffer, std::uint8_t value) {
  roc::device_guard const guard(device_);
  if (!buffer.is_device_memory())
    return fill_bytes(buffer.allocation(), buffer.allocation_bytes(), value);
  ROCARRAY_HIP(hipMemsetAsync, buffer.allocation(), value, buffer.allocation_bytes(),
               roc::native(stream_));
  stream_.synchronize();
}

std::optional<std::string> buffer_verifier::compare_on_device(
    std::uint64_t count, std::function<hipError_t(device_comparison*, hipStream_t)> const& launch,
    std::function<std::string(std::uint64_t index)> const& describe) {
  roc::device_guard const guard(device_);
  device_comparison result{};
  ROCARRAY_HIP(hipMemsetAsync, comparison_.data(), 0xFF, sizeof result, roc::native(stream_));
  check_kernel_launch(launch(comparison_.data(), roc::native(stream_)));
  stream_.synchronize();
  ROCARRAY_HIP(hipMemcpy, &result, comparison_.data(), sizeof result, hipMemcpyDeviceToHost);
  if (result.compared != count) return "the comparison kernel did not run";
  if (result.first_mismatch == ~0ull) return std::nullopt;
  return describe(result.first_mismatch);
}

std::optional<std::string> buffer_verifier::check(guarded_buffer& buffer, image const& expected,
                                                  injection_site inject) {
  corrupt_byte(buffer, expected, inject);
  auto const describe = [&](std::uint64_t offset) {
    return describe_mismatch(expected, offset, read_byte(buffer, offset));
  };
  if (buffer.is_device_memory()) {
    auto const launch = [&](device_comparison* comparison, hipStream_t stream) {
      return launch_image_check(buffer.allocation(), expected, comparison, stream);
    };
    return compare_on_device(expected.size(), launch, describe);
  }
  auto const offset = find_first_mismatch(buffer.allocation(), expected);
  if (!offset) return std::nullopt;
  return describe(*offset);
}

buffer_experiment::buffer_experiment(experiment_properties measured, buffer_layout const& from,
                                     buffer_layout const& to, api_kind registration_api)
    : experiment(std::move(measured)),
      source(from.kind, from.span, registration_api, from.device),
      destination(to.kind, to.span, registration_api, to.device),
      stream_(stream_on(from.device)),
      source_layout_(from.layout),
      destination_layout_(to.layout),
      source_verifier_(device_or_current(from.device)),
      destination_verifier_(device_or_current(to.device)) {}

hipMemcpyKind buffer_experiment::hip_copy_kind() const {
  if (!source.is_device_memory()) return hipMemcpyHostToDevice;
  return destination.is_device_memory() ? hipMemcpyDeviceToDevice : hipMemcpyDeviceToHost;
}

hipStream_t buffer_experiment::hip_stream() const { return roc::native(stream_); }

image buffer_experiment::expected_source(std::uint64_t sample) const {
  return {source_layout_, guard_bytes, source.bytes(), sample, source_gap};
}

void buffer_experiment::prepare(std::uint64_t sample) {
  sample_ = sample;
  source_verifier_.write(source, expected_source(sample));
  destination_verifier_.fill(destination, poison_byte(sample));
}

std::optional<std::string> buffer_experiment::check(std::uint64_t sample, injection_site inject) {
  image expected = destination_image(destination, destination_layout_, sample);
  if (repeated_value) {
    expected.repeats = true;
    expected.value = repeated_value(sample);
  }
  return destination_verifier_.check(destination, expected, inject);
}

}  // namespace rocbench
