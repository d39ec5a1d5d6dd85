// SPDX-License-Identifier: MIT
// HIP for the library's own sources. They call it through ROCARRAY_HIP (platform/call.hpp), and
// only the functions listed in platform/calls.hpp.
#pragma once

#include <roc/native/hip.hpp>
