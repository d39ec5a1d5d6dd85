// SPDX-License-Identifier: MIT
// A network with one hidden layer: its result for a sample, and the gradient of the loss.
#pragma once

#include <cmath>
#include <cstddef>

#include <roc/kernel.hpp>
#include <roc/roc.hpp>

#include "network.hpp"

inline constexpr unsigned gradient_threads = 64;

/// The samples and what is known of each of them in a step.
struct sample_views {
  roc::device_view<double const, 2> input;  // (sample, input)
  roc::device_view<double const> target;
  roc::device_view<double, 2> activation;  // (sample, hidden unit)
  roc::device_view<double> error;          // of the output
};

/// Calculates the activations and the error of one sample.
struct calculate_error {
  sample_views samples;
  roc::device_view<double const> parameter;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t sample) const {
    double output = parameter(parameter_count - 1);
    for (std::size_t unit = 0; unit != hidden_units; ++unit) {
      std::size_t const first = unit * unit_size;
      double sum = parameter(first + input_count);
      for (std::size_t i = 0; i != input_count; ++i) {
        sum += parameter(first + i) * samples.input(sample, i);
      }
      double const activation = std::tanh(sum);
      samples.activation(sample, unit) = activation;
      output += parameter(first + input_count + 1) * activation;
    }
    samples.error(sample) = output - samples.target(sample);
  }
};

/// Returns the share of one sample in the derivative by a parameter; for the index after the last
/// parameter, in the loss.
ROCARRAY_HOST_DEVICE inline double gradient_of_sample(
    sample_views const& samples, roc::device_view<double const> const& parameter,
    std::size_t sample, std::size_t index) {
  double const error = samples.error(sample);
  if (index == parameter_count) return error * error / 2;
  if (index == parameter_count - 1) return error;
  std::size_t const unit = index / unit_size;
  std::size_t const place = index % unit_size;
  double const activation = samples.activation(sample, unit);
  if (place == input_count + 1) return error * activation;
  double const output_weight = parameter(unit * unit_size + input_count + 1);
  double const derivative = error * output_weight * (1 - activation * activation);
  return place == input_count ? derivative : derivative * samples.input(sample, place);
}

/// Writes the sums over all samples, times `factor`: the derivative by each parameter, and last the
/// loss. One block of gradient_threads threads for each sum.
__global__ void calculate_gradient(sample_views samples, roc::device_view<double const> parameter,
                                   roc::device_view<double> gradient, double factor) {
  __shared__ double sums[gradient_threads];
  unsigned const thread = threadIdx.x;
  std::size_t const index = blockIdx.x;
  double sum = 0;
  for (std::size_t i = thread; i < samples.error.size(); i += gradient_threads) {
    sum += gradient_of_sample(samples, parameter, i, index);
  }
  sums[thread] = sum;
  for (unsigned count = gradient_threads / 2; count != 0; count /= 2) {
    __syncthreads();
    if (thread < count) sums[thread] += sums[thread + count];
  }
  if (thread == 0) gradient(index) = factor * sums[0];
}

/// Moves a parameter against its derivative.
struct descend {
  roc::device_view<double> parameter;
  roc::device_view<double const> gradient;
  double rate;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { parameter(i) -= rate * gradient(i); }
};
