// SPDX-License-Identifier: MIT
// Host stubs of the examples' kernels. They are here because the examples contain no test code.
#include "platform/host/host_stub.hpp"

#include <roc/native/for_each_kernel.hpp>

#include "../../examples/from_cuda/2_hipified/brighten_kernel.cuh"
#include "../../examples/from_cuda/3_rocarray/brighten_pixel.hpp"
#include "../../examples/kernels/histogram_kernel.hpp"
#include "../../examples/kernels/matrix_product_kernel.hpp"
#include "../../examples/kernels/maze_kernel.hpp"
#include "../../examples/kernels/reduction_kernel.hpp"
#include "../../examples/kernels/rotation_kernel.hpp"
#include "../../examples/kernels/smoothing_kernel.hpp"
#include "../../examples/kernels/stencil_kernel.hpp"
#include "../../examples/mpi/heat_functors.hpp"
#include "../../examples/mpi/network_kernel.hpp"
#include "../../examples/saxpy_functor.hpp"
#include "../../examples/saxpy_kernel.hpp"

ROCARRAY_HOST_STUB(saxpy_kernel);
ROCARRAY_HOST_STUB(brighten);
ROCARRAY_HOST_STUB(multiply);
ROCARRAY_HOST_STUB(add_all);
ROCARRAY_HOST_STUB(count);
ROCARRAY_HOST_STUB(add_neighbors);
ROCARRAY_HOST_STUB(smooth);
ROCARRAY_HOST_STUB(search_step);
ROCARRAY_HOST_STUB(rotate);
ROCARRAY_HOST_STUB(calculate_gradient);

namespace roc::native_detail {

ROCARRAY_FOR_EACH_HOST_STUB(1, saxpy);
ROCARRAY_FOR_EACH_HOST_STUB(1, calculate_error);
ROCARRAY_FOR_EACH_HOST_STUB(1, descend);
ROCARRAY_FOR_EACH_HOST_STUB(2, brighten_pixel);
ROCARRAY_FOR_EACH_HOST_STUB(3, set_initial_heat);
ROCARRAY_FOR_EACH_HOST_STUB(3, heat_step);
ROCARRAY_HOST_STUB(for_each_index<block_shape<2, 4, 32>, 3, heat_step>);

}  // namespace roc::native_detail
