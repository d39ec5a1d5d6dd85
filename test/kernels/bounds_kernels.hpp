// SPDX-License-Identifier: MIT
#pragma once

#include <roc/roc.hpp>

namespace roc::test {

/// A kernel, compiled with bounds checks, that writes element `place`.
void write_at(stream_ref stream, device_view<int> v, int place);
/// One that makes the slice up to `stop` and writes its first element.
void write_in_slice(stream_ref stream, device_view<int> v, int stop);

}  // namespace roc::test
