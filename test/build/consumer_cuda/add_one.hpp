// SPDX-License-Identifier: MIT
#pragma once

/// Adds one to each int of device memory by a CUDA kernel; 0 when that is done.
int add_one(int* data, int count);
