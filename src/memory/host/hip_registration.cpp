// SPDX-License-Identifier: MIT
#include "memory/host/hip_registration.hpp"

#include <algorithm>
#include <cstdint>

#include <roc/error.hpp>

#include "base/options.hpp"
#include "platform/call.hpp"

namespace roc::memory {
namespace {

using native_detail::memory_kind;

// Queries the kind of memory from HIP. For an unknown address, some runtimes return an error,
// others a kind.
memory_kind kind_of(std::uintptr_t address, hipPointerAttribute_t& attributes) {
  attributes = {};
  bool const is_known = ROCARRAY_HIP_CODE(hipPointerGetAttributes, &attributes,
                                          reinterpret_cast<void const*>(address)) == hipSuccess;
  return is_known ? native_detail::kind_of(attributes) : memory_kind::unregistered;
}

[[noreturn]] void throw_pinned(base::byte_range range) {
  throw registration_error("register_host: " + to_string(range) +
                           " is already pinned, at least in part, but not by this library: use "
                           "adopt_registered, or leave the pinning to this library");
}

// Returns the end of the segment that begins at `begin`.
std::uintptr_t end_of_segment(std::uintptr_t begin, base::byte_range range, unsigned flags) {
  std::size_t const segment_bytes = base::options().register_chunk;
  if ((flags & hipHostRegisterMapped) != 0 || range.bytes() <= segment_bytes) return range.end;
  return std::min((begin / segment_bytes + 1) * segment_bytes, range.end);
}

// Calls hipHostRegister for one segment. An error names `whole`.
void register_segment(base::byte_range segment, base::byte_range whole, unsigned flags) {
  hipError_t const result =
      ROCARRAY_HIP_CODE(hipHostRegister, segment.data(), segment.bytes(), flags);
  if (result == hipSuccess) return;
  if (result == hipErrorHostMemoryAlreadyRegistered) throw_pinned(whole);
  platform::detail::fail(platform::call::call_hipHostRegister, result,
                         std::source_location::current());
}

}  // namespace

void check_not_pinned(base::byte_range range) {
  hipPointerAttribute_t attributes{};
  if (kind_of(range.begin, attributes) != memory_kind::unregistered ||
      kind_of(range.end - 1, attributes) != memory_kind::unregistered) {
    throw_pinned(range);
  }
}

void check_pinned(base::byte_range range) {
  hipPointerAttribute_t first{};
  hipPointerAttribute_t last{};
  bool const are_pinned = kind_of(range.begin, first) == memory_kind::host &&
                          kind_of(range.end - 1, last) == memory_kind::host;
  auto const distance = reinterpret_cast<std::uintptr_t>(last.devicePointer) -
                        reinterpret_cast<std::uintptr_t>(first.devicePointer);
  if (!are_pinned || distance != range.bytes() - 1) {
    throw registration_error("adopt_registered: " + to_string(range) +
                             " is not one range of pinned host memory: use register_host");
  }
}

std::vector<base::byte_range> register_segments(base::byte_range range, unsigned flags) {
  std::vector<base::byte_range> segments;
  std::size_t registered = 0;
  try {
    for (std::uintptr_t begin = range.begin; begin != range.end; begin = segments.back().end) {
      base::byte_range const segment{begin, end_of_segment(begin, range, flags)};
      segments.push_back(segment);
      register_segment(segment, range, flags);
      ++registered;
    }
  } catch (...) {
    while (registered-- != 0) ROCARRAY_HIP_QUIET(hipHostUnregister, segments[registered].data());
    throw;
  }
  return segments;
}

}  // namespace roc::memory
