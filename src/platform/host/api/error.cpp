// SPDX-License-Identifier: MIT
// Errors: the last error, and the names and texts of the codes.
#include "platform/host/api.hpp"
#include "platform/host/api_call.hpp"

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipGetLastError() { return last_error("hipGetLastError", true); }

ROCARRAY_HOST_API hipError_t hipPeekAtLastError() {
  return last_error("hipPeekAtLastError", false);
}

ROCARRAY_HOST_API char const* hipGetErrorName(hipError_t error) {
  switch (static_cast<int>(error)) {
#define ROCARRAY_HOST_ERROR_NAME(name, number, text) \
  case number: return #name;
    ROCARRAY_HOST_HIP_ERRORS(ROCARRAY_HOST_ERROR_NAME)
#undef ROCARRAY_HOST_ERROR_NAME
  }
  return "hipErrorUnknown";
}

ROCARRAY_HOST_API char const* hipGetErrorString(hipError_t error) {
  switch (static_cast<int>(error)) {
#define ROCARRAY_HOST_ERROR_TEXT(name, number, text) \
  case number: return text;
    ROCARRAY_HOST_HIP_ERRORS(ROCARRAY_HOST_ERROR_TEXT)
#undef ROCARRAY_HOST_ERROR_TEXT
  }
  return "unknown error";
}

ROCARRAY_HOST_API_END
