// SPDX-License-Identifier: MIT
// A copy of a batch that is done by itself.
#pragma once

#include <cstddef>

#include <roc/detail/region.hpp>

#include "transfer/batch_contents.hpp"

namespace roc::transfer {

/// Does a copy as `roc::copy` does it, of bytes, and throws what that throws; `stream` null: now.
void copy_alone(batch_contents const& contents, std::size_t index, stream_ref const* stream,
                detail::source_use use);

}  // namespace roc::transfer
