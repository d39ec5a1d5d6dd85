// SPDX-License-Identifier: MIT
#include "image_memory.hpp"

#include <fmt/format.h>

#include <roc/native.hpp>

#include "describe_mismatch.hpp"
#include "experiment.hpp"
#include "host_image.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

constexpr std::byte source_gap{0xFF};

image image_of(guarded_buffer const& buffer, image_layout const& where, std::uint64_t sample,
               std::byte poison) {
  return {where, guard_bytes, buffer.bytes(), sample, std::to_integer<std::uint8_t>(poison)};
}

std::byte byte_at(guarded_buffer& buffer, std::uint64_t at) {
  if (!buffer.on_device()) return buffer.whole()[at];
  std::byte value{};
  ROCARRAY_HIP(hipMemcpy, &value, buffer.whole() + at, 1, hipMemcpyDeviceToHost);
  return value;
}

std::string describe(guarded_buffer& buffer, image const& of, std::uint64_t at) {
  std::byte const found = byte_at(buffer, at);
  auto const told = [&](char const* where, std::uint64_t offset) {
    return describe_mismatch(where, {offset, std::byte{image_byte(of, at)}, found}, of.sample);
  };
  if (at < of.guard) return told("guard before the payload,", at);
  if (at - of.guard >= of.span) return told("guard behind the payload,", at - of.guard - of.span);
  segment const here = segment_at(of, at);
  return here.is_payload ? told("payload", here.index) : told("in a gap,", at - of.guard);
}

}  // namespace

image source_image(guarded_buffer const& buffer, image_layout const& where, std::uint64_t sample) {
  return image_of(buffer, where, sample, source_gap);
}

image arrived_image(guarded_buffer const& buffer, image_layout const& where, std::uint64_t sample) {
  return image_of(buffer, where, sample, poison_byte(sample));
}

void image_memory::write(guarded_buffer& buffer, image const& of) {
  if (!buffer.on_device()) return write_image(buffer.whole(), of);
  check_kernel(launch_image_write(buffer.whole(), of, roc::native(stream_)));
  stream_.synchronize();
}

void image_memory::fill(guarded_buffer& buffer, std::byte value) {
  if (!buffer.on_device()) return fill_bytes(buffer.whole(), buffer.whole_bytes(), value);
  ROCARRAY_HIP(hipMemsetAsync, buffer.whole(), std::to_integer<int>(value), buffer.whole_bytes(),
          roc::native(stream_));
  stream_.synchronize();
}

check_verdict image_memory::compare_on_device(guarded_buffer& buffer, image const& of) {
  hipStream_t const native = roc::native(stream_);
  ROCARRAY_HIP(hipMemsetAsync, verdict_.data(), 0xFF, sizeof(check_verdict), native);
  check_kernel(launch_image_check(buffer.whole(), of, verdict_.data(), native));
  stream_.synchronize();
  check_verdict found{};
  ROCARRAY_HIP(hipMemcpy, &found, verdict_.data(), sizeof found, hipMemcpyDeviceToHost);
  return found;
}

std::optional<std::string> image_memory::check(guarded_buffer& buffer, image const& of,
                                               inject_place inject) {
  if (inject != inject_place::none) corrupt(buffer, offset_of(of, inject));
  if (!buffer.on_device()) {
    auto const wrong = find_wrong_byte(buffer.whole(), of);
    if (!wrong) return std::nullopt;
    return describe(buffer, of, *wrong);
  }
  check_verdict const found = compare_on_device(buffer, of);
  if (found.first_wrong != ~0ull) return describe(buffer, of, found.first_wrong);
  if (found.compared == of.whole()) return std::nullopt;
  return fmt::format("sample {}: the comparison did not run", of.sample);
}

void corrupt(guarded_buffer& buffer, std::uint64_t at) {
  std::byte const value = byte_at(buffer, at) ^ std::byte{1};
  if (!buffer.on_device()) {
    buffer.whole()[at] = value;
  } else {
    ROCARRAY_HIP(hipMemcpy, buffer.whole() + at, &value, 1, hipMemcpyHostToDevice);
  }
}

std::uint64_t offset_of(image const& of, inject_place inject) {
  if (inject == inject_place::before) return of.guard - 1;
  if (inject == inject_place::behind) return of.guard + of.span;
  bool const payload = inject == inject_place::data;
  // From the middle on, else from the begin.
  for (std::uint64_t const first : {of.guard + of.span / 2, of.guard}) {
    for (std::uint64_t at = first; at < of.guard + of.span;) {
      segment const here = segment_at(of, at);
      if (here.is_payload == payload) return at;
      at += here.length;
    }
  }
  throw not_possible("what it copies has no gaps to corrupt a byte in");
}

}  // namespace rocbench
