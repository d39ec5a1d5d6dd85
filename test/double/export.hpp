// SPDX-License-Identifier: MIT
// Marks what the double defines in the real library's place.
#pragma once

#define ROC_DOUBLE_EXPORT extern "C" __attribute__((visibility("default")))
