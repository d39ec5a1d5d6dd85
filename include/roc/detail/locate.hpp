// SPDX-License-Identifier: MIT
// The location of memory whose type does not name it.
#pragma once

#include <roc/config.hpp>
#include <roc/detail/strided_region.hpp>
#include <roc/memory/memory_location.hpp>

namespace roc::detail {

/// Sets the location of a region: `space`, `device`, `is_untracked` and `is_partly_pinned`. Looks
/// it up in the tables of the library and then from HIP. If `stated` is not null, only the tables
/// are compared with it, and HIP is asked once about device memory that they do not know.
///
/// Throws shape_error and layout_error if the region does not fit into the address space or is not
/// in one kind of memory, lifetime_error for a null pointer and for memory that was freed, as far
/// as that is known, and roc::error, also (std::errc::permission_denied) for a pageable destination
/// whose first or last page must not be written, from Linux 5.14 on, if its location is not stated
/// and nobody handles SIGSEGV.
ROCARRAY_API void locate(strided_region& region, memory_location const* stated, operand_role role);

}  // namespace roc::detail
