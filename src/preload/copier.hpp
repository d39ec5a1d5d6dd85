// SPDX-License-Identifier: MIT
// Does copies with the library: the entry points of librocarray-preload-copy.so. Contracts: see
// start_function and copy_function.
#pragma once

#include "preload/request.hpp"

extern "C" {
[[gnu::visibility("default")]] void rocarray_preload_start(
    roc::preload::vendor_functions const* functions) noexcept;
[[gnu::visibility("default")]] roc::preload::outcome rocarray_preload_copy(
    roc::preload::copy_request const* request, roc::preload::copy_report* report) noexcept;
}
