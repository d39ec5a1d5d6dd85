// SPDX-License-Identifier: MIT
// HIP for the library's own sources. They call it through ROCARRAY_HIP (call.hpp), and nothing outside
// the list in calls.hpp.
#pragma once

#include <roc/native/hip.hpp>
