// SPDX-License-Identifier: MIT
#include "network_kernel.hpp"

#include <roc/launch.hpp>

void network::enqueue_gradient() {
  sample_views const samples{input_.view(), target_.view(), activation_.view(), error_.view()};
  roc::for_each(stream_, error_.shape(), calculate_error{samples, parameters_.view()});
  roc::launch(calculate_gradient, {parameter_count + 1}, {gradient_threads}, 0, stream_, samples,
              parameters_.view(), gradient_.view(), 1 / static_cast<double>(samples_));
}

void network::enqueue_update(double rate) {
  roc::for_each(stream_, parameter_count, descend{parameters_.view(), gradient_.view(), rate});
}
