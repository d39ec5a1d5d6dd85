// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

int left() { return cudaNameOfNextYear(); }
