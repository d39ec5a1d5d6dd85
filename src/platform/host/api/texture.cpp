// SPDX-License-Identifier: MIT
// Textures: a CPU has no units for them, so none can be created.
#include "platform/host/api_call.hpp"

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipCreateTextureObject(hipTextureObject_t*, hipResourceDesc const*,
                                                    hipTextureDesc const*,
                                                    hipResourceViewDesc const*) {
  return api_call("hipCreateTextureObject", [] { return hipErrorNotSupported; });
}

ROCARRAY_HOST_API hipError_t hipDestroyTextureObject(hipTextureObject_t) {
  return api_call("hipDestroyTextureObject", [] { return hipErrorNotSupported; });
}

ROCARRAY_HOST_API_END
