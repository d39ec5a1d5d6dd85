// SPDX-License-Identifier: MIT
// Twins of the examples' kernels: the examples themselves know nothing of tests.
#include "platform/host/twin.hpp"

#include <roc/native/elementwise.hpp>

#include "../../examples/from_cuda/2_hipified/brighten_kernel.cuh"
#include "../../examples/from_cuda/3_rocarray/brighten_pixel.hpp"
#include "../../examples/saxpy_functor.hpp"
#include "../../examples/saxpy_kernel.hpp"

ROC_TWIN(saxpy_kernel);
ROC_TWIN(brighten);

namespace roc::native_detail {

ROC_ELEMENTWISE_TWIN(over_shape<saxpy, 1>);
ROC_ELEMENTWISE_TWIN(over_shape<brighten_pixel, 2>);

}  // namespace roc::native_detail
