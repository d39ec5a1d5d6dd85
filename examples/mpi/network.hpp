// SPDX-License-Identifier: MIT
// A network that is trained with a part of the samples on each device.
#pragma once

#include <cstddef>
#include <vector>

#include <roc/roc.hpp>

// The network: one hidden layer. Each hidden unit has its weights of the inputs, its bias, and its
// weight in the output.
inline constexpr std::size_t input_count = 4;
inline constexpr std::size_t hidden_units = 16;
inline constexpr std::size_t unit_size = input_count + 2;
inline constexpr std::size_t parameter_count = hidden_units * unit_size + 1;

/// A copy of the network on one device, with its part of the samples. The parameters are the same
/// in all copies, as long as all of them get the same gradient.
class network {
 public:
  /// Makes part number `part` of `parts` of the samples, on the current device.
  network(std::size_t samples, std::size_t part, std::size_t parts);

  // In network.hip, for the device compiler.
  /// Enqueues the share of this part in the gradient.
  void enqueue_gradient();
  /// Enqueues the update of the parameters, after the gradient was summed over all parts.
  void enqueue_update(double rate);

  roc::stream const& stream() const { return stream_; }
  /// Returns the derivatives by all parameters, and the loss as last element.
  roc::device_array<double> const& gradient() const { return gradient_; }
  /// Returns the loss of the last gradient. Blocks until it is known.
  double loss() const;
  /// Returns the parameters. Blocks until they are known.
  std::vector<double> parameters() const;

 private:
  std::size_t samples_;  // of all parts
  roc::stream stream_;
  roc::device_array<double, 2> input_;
  roc::device_array<double> target_;
  roc::device_array<double, 2> activation_;
  roc::device_array<double> error_;
  roc::device_array<double> parameters_;
  roc::device_array<double> gradient_;
};
