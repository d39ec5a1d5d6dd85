// SPDX-License-Identifier: MIT
// The types of NCCL's interface in the host platform's collective library, and its error texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <roc/native/hip.hpp>

namespace roc::host_ccl {

enum ncclResult_t {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
};

enum ncclRedOp_t { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4 };

enum ncclDataType_t {
  ncclInt8 = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclFloat32 = 7,
  ncclFloat64 = 8,
};

struct ncclUniqueId {
  char internal[128];
};

struct ncclConfig_t {
  int blocking = 1;
};

namespace impl {
class communicator;
}
using ncclComm_t = impl::communicator*;

namespace impl {

/// The text of the calling thread's last failed call.
inline std::string& last_error() {
  static thread_local std::string text;
  return text;
}
/// Sets the text of last_error and returns `result`.
inline ncclResult_t fail(ncclResult_t result, std::string text) {
  last_error() = std::move(text);
  return result;
}
/// Returns ncclSuccess, or sets the text of last_error for a failed call of HIP.
inline ncclResult_t check_hip(hipError_t code, char const* call) {
  if (code == hipSuccess) return ncclSuccess;
  static_cast<void>(hipGetLastError());
  return fail(ncclUnhandledCudaError, std::string(call) + ": " + hipGetErrorString(code));
}

/// Returns f(), a result. As a function of a C library throws nothing, an exception becomes
/// ncclSystemError. The texts are so short that they need no allocation.
template <class F>
ncclResult_t without_exceptions(F f) noexcept {
  try {
    return f();
  } catch (std::bad_alloc const&) {
    last_error() = "out of memory";
  } catch (std::exception const&) {
    last_error() = "an exception";
  }
  return ncclSystemError;
}

inline std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}
inline constexpr std::size_t page_bytes = 4096;

}  // namespace impl

}  // namespace roc::host_ccl
