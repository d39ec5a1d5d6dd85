// SPDX-License-Identifier: MIT
// Twins of the examples' kernels: the examples themselves know nothing of tests.
#include "platform/host/twin.hpp"

#include <roc/native/elementwise.hpp>

#include "../../examples/saxpy_functor.hpp"
#include "../../examples/saxpy_kernel.hpp"

ROC_TWIN(saxpy_kernel);

namespace roc::native_detail {

ROC_ELEMENTWISE_TWIN(over_shape<saxpy, 1>);

}  // namespace roc::native_detail
