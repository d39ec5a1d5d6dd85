// SPDX-License-Identifier: MIT
// Replaces driver functions by function objects that look them up in libcuda at the first call,
// until cuda_driver_end.hpp. A program that uses HIP's wrappers then needs libcuda neither to link
// nor to start. (HIP's wrappers of modules, contexts and virtual memory still need it: a program
// that calls these wrappers must be linked with libcuda.) No include guard: cuda13.hpp includes the
// two files before and after HIP's headers.

namespace roc::native_detail {

/// Returns the driver's function of that name, or null if there is no driver or no such function.
template <class Function>
Function find_driver_call(char const* name, unsigned long long flags) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  cudaError_t const error =
      cudaGetDriverEntryPointByVersion(name, &found, CUDART_VERSION, flags, &status);
#else
  cudaError_t const error = cudaGetDriverEntryPoint(name, &found, flags, &status);
#endif
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return reinterpret_cast<Function>(found);
}

/// Calls the driver's function of that name. Returns CUDA_ERROR_NOT_INITIALIZED if it was not
/// found.
template <class Function, char const* name, unsigned long long flags>
struct driver_call;

template <class... Arguments, char const* name, unsigned long long flags>
struct driver_call<CUresult (*)(Arguments...), name, flags> {
  CUresult operator()(Arguments... arguments) const {
    static auto const function = find_driver_call<CUresult (*)(Arguments...)>(name, flags);
    return function != nullptr ? function(arguments...) : CUDA_ERROR_NOT_INITIALIZED;
  }
};

// Source files of one program may differ in their default stream. These constants have internal
// linkage, so that such files do not share function objects.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
constexpr unsigned long long driver_call_flags = cudaEnablePerThreadDefaultStream;
#else
constexpr unsigned long long driver_call_flags = cudaEnableDefault;
#endif

#define ROCARRAY_DRIVER_CALL(name)                \
  inline constexpr char name_of_##name[] = #name; \
  constexpr driver_call<decltype(&name), name_of_##name, driver_call_flags> driver_##name{};
ROCARRAY_DRIVER_CALL(cuInit)
ROCARRAY_DRIVER_CALL(cuDeviceGet)
ROCARRAY_DRIVER_CALL(cuDeviceGetName)
ROCARRAY_DRIVER_CALL(cuDeviceGetAttribute)
ROCARRAY_DRIVER_CALL(cuPointerGetAttribute)
ROCARRAY_DRIVER_CALL(cuMemGetAddressRange)
ROCARRAY_DRIVER_CALL(cuMemsetD8)
ROCARRAY_DRIVER_CALL(cuMemsetD16)
ROCARRAY_DRIVER_CALL(cuMemsetD32)
ROCARRAY_DRIVER_CALL(cuMemsetD8Async)
ROCARRAY_DRIVER_CALL(cuMemsetD16Async)
ROCARRAY_DRIVER_CALL(cuMemsetD32Async)
ROCARRAY_DRIVER_CALL(cuStreamWaitValue32)
ROCARRAY_DRIVER_CALL(cuStreamWaitValue64)
ROCARRAY_DRIVER_CALL(cuStreamWriteValue32)
ROCARRAY_DRIVER_CALL(cuStreamWriteValue64)
#undef ROCARRAY_DRIVER_CALL

}  // namespace roc::native_detail

// Most of these names are macros in CUDA's headers, which select the version of the call and the
// kind of default stream.
#pragma push_macro("cuInit")
#undef cuInit
#define cuInit ::roc::native_detail::driver_cuInit
#pragma push_macro("cuDeviceGet")
#undef cuDeviceGet
#define cuDeviceGet ::roc::native_detail::driver_cuDeviceGet
#pragma push_macro("cuDeviceGetName")
#undef cuDeviceGetName
#define cuDeviceGetName ::roc::native_detail::driver_cuDeviceGetName
#pragma push_macro("cuDeviceGetAttribute")
#undef cuDeviceGetAttribute
#define cuDeviceGetAttribute ::roc::native_detail::driver_cuDeviceGetAttribute
#pragma push_macro("cuPointerGetAttribute")
#undef cuPointerGetAttribute
#define cuPointerGetAttribute ::roc::native_detail::driver_cuPointerGetAttribute
#pragma push_macro("cuMemGetAddressRange")
#undef cuMemGetAddressRange
#define cuMemGetAddressRange ::roc::native_detail::driver_cuMemGetAddressRange
#pragma push_macro("cuMemsetD8")
#undef cuMemsetD8
#define cuMemsetD8 ::roc::native_detail::driver_cuMemsetD8
#pragma push_macro("cuMemsetD16")
#undef cuMemsetD16
#define cuMemsetD16 ::roc::native_detail::driver_cuMemsetD16
#pragma push_macro("cuMemsetD32")
#undef cuMemsetD32
#define cuMemsetD32 ::roc::native_detail::driver_cuMemsetD32
#pragma push_macro("cuMemsetD8Async")
#undef cuMemsetD8Async
#define cuMemsetD8Async ::roc::native_detail::driver_cuMemsetD8Async
#pragma push_macro("cuMemsetD16Async")
#undef cuMemsetD16Async
#define cuMemsetD16Async ::roc::native_detail::driver_cuMemsetD16Async
#pragma push_macro("cuMemsetD32Async")
#undef cuMemsetD32Async
#define cuMemsetD32Async ::roc::native_detail::driver_cuMemsetD32Async
#pragma push_macro("cuStreamWaitValue32")
#undef cuStreamWaitValue32
#define cuStreamWaitValue32 ::roc::native_detail::driver_cuStreamWaitValue32
#pragma push_macro("cuStreamWaitValue64")
#undef cuStreamWaitValue64
#define cuStreamWaitValue64 ::roc::native_detail::driver_cuStreamWaitValue64
#pragma push_macro("cuStreamWriteValue32")
#undef cuStreamWriteValue32
#define cuStreamWriteValue32 ::roc::native_detail::driver_cuStreamWriteValue32
#pragma push_macro("cuStreamWriteValue64")
#undef cuStreamWriteValue64
#define cuStreamWriteValue64 ::roc::native_detail::driver_cuStreamWriteValue64
