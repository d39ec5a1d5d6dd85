// SPDX-License-Identifier: MIT
#pragma once

/// Marks functions that the fake HIP runtime exports besides those of platform/host/api.
#define ROCARRAY_FAKE_RUNTIME_EXPORT extern "C" __attribute__((visibility("default")))
