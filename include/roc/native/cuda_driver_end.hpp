// SPDX-License-Identifier: MIT
// Restores the names of driver functions that cuda_driver_begin.hpp replaced.
// No include guard: see cuda_driver_begin.hpp.

#pragma pop_macro("cuInit")
#pragma pop_macro("cuDeviceGet")
#pragma pop_macro("cuDeviceGetName")
#pragma pop_macro("cuDeviceGetAttribute")
#pragma pop_macro("cuPointerGetAttribute")
#pragma pop_macro("cuMemGetAddressRange")
#pragma pop_macro("cuMemsetD8")
#pragma pop_macro("cuMemsetD16")
#pragma pop_macro("cuMemsetD32")
#pragma pop_macro("cuMemsetD8Async")
#pragma pop_macro("cuMemsetD16Async")
#pragma pop_macro("cuMemsetD32Async")
#pragma pop_macro("cuStreamWaitValue32")
#pragma pop_macro("cuStreamWaitValue64")
#pragma pop_macro("cuStreamWriteValue32")
#pragma pop_macro("cuStreamWriteValue64")
