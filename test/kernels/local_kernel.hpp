// SPDX-License-Identifier: MIT
// A kernel of a file, whose name another file of the program uses too.
#pragma once

#include <cstddef>

#include <roc/roc.hpp>

namespace roc::test {

/// Adds 1 to each of 64 elements, with `shared_bytes` of dynamic shared memory and no static one.
void launch_local(stream_ref stream, device_view<int> values, std::size_t shared_bytes);

}  // namespace roc::test
