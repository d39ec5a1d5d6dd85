// SPDX-License-Identifier: MIT
// Names and texts of the error codes.
#include "platform/host/api.hpp"

ROC_HOST_API_BEGIN

ROC_HOST_API char const* hipGetErrorName(hipError_t error) {
  switch (static_cast<int>(error)) {
#define ROC_HOST_ERROR_NAME(name, number, text) \
  case number:                                  \
    return #name;
    ROC_HOST_HIP_ERRORS(ROC_HOST_ERROR_NAME)
#undef ROC_HOST_ERROR_NAME
  }
  return "hipErrorUnknown";
}

ROC_HOST_API char const* hipGetErrorString(hipError_t error) {
  switch (static_cast<int>(error)) {
#define ROC_HOST_ERROR_TEXT(name, number, text) \
  case number:                                  \
    return text;
    ROC_HOST_HIP_ERRORS(ROC_HOST_ERROR_TEXT)
#undef ROC_HOST_ERROR_TEXT
  }
  return "unknown error";
}

ROC_HOST_API_END
