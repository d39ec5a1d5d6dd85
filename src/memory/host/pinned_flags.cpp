// SPDX-License-Identifier: MIT
#include "memory/host/pinned_flags.hpp"

#include <system_error>

#include <roc/error.hpp>

#include "platform/hip.hpp"

namespace roc::memory {
namespace {

struct flag_pair {
  host_flags flag;
  unsigned native;
};
// On NVIDIA, HIP defines the flags of coherence as 0: they are then neither requested nor reported.
constexpr flag_pair flag_pairs[] = {
    {host_flags::portable, hipHostMallocPortable},
    {host_flags::mapped, hipHostMallocMapped},
    {host_flags::write_combined, hipHostMallocWriteCombined},
    {host_flags::coherent, hipHostMallocCoherent},
    {host_flags::non_coherent, hipHostMallocNonCoherent},
};

}  // namespace

unsigned native_flags(host_flags flags) {
  if (has(flags, host_flags::coherent | host_flags::non_coherent)) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "pinned memory cannot be both coherent and non_coherent: use one of the two flags");
  }
  unsigned result = 0;
  for (flag_pair const& pair : flag_pairs) {
    if (has(flags, pair.flag)) result |= pair.native;
  }
  return result;
}

host_flags flags_of(unsigned native) noexcept {
  host_flags result = host_flags::default_flags;
  for (flag_pair const& pair : flag_pairs) {
    if ((native & pair.native) != 0) result = result | pair.flag;
  }
  return result;
}

}  // namespace roc::memory
