// SPDX-License-Identifier: MIT
// Marks what the double defines in the real library's place.
#pragma once

#define ROCARRAY_FAKE_RUNTIME_EXPORT extern "C" __attribute__((visibility("default")))
