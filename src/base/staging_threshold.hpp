// SPDX-License-Identifier: MIT
// The default of options::staging_threshold.
#pragma once

#include <cstddef>

namespace roc::base {

// Above these sizes the library's copy threads are faster than the driver's own staging. NVIDIA's
// was measured on one H100 (docs/figures-streams.md, Small copies). AMD's was not measured on AMD:
// it is that of the library's first version, from one H200. With a lower one, waking the threads
// may cost more than they save; a higher one leaves more copies to AMD's runtime. On the host
// platform the runtime's copy already uses all processors.
#if ROCARRAY_PLATFORM_HOST
inline constexpr std::size_t default_staging_threshold = std::size_t{1} << 40;
#elif ROCARRAY_PLATFORM_NVIDIA
inline constexpr std::size_t default_staging_threshold = std::size_t{256} << 10;
#else
inline constexpr std::size_t default_staging_threshold = std::size_t{2} << 20;
#endif

}  // namespace roc::base
