// SPDX-License-Identifier: MIT
// A copy of a batch that is done by itself.
#pragma once

#include <cstddef>

#include <roc/detail/region.hpp>

#include "copy/batch/batch.hpp"

namespace roc::transfer {

/// Does a copy as `roc::copy` does it, of bytes, and throws what that throws; `stream` null: now.
void copy_individually(batch const& contents, std::size_t index, stream_ref const* stream,
                detail::source_use use);

}  // namespace roc::transfer
