// SPDX-License-Identifier: MIT
#pragma once

#include <roc/roc.hpp>

namespace roc::test {

/// Launches a kernel with bounds checks that writes the element at `index`.
void write_at(stream_ref stream, device_view<int> v, int index);
/// Launches a kernel with bounds checks that takes the slice up to `stop` and writes its first
/// element.
void write_in_slice(stream_ref stream, device_view<int> v, int stop);

}  // namespace roc::test
