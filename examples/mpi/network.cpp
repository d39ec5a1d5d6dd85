// SPDX-License-Identifier: MIT
#include "network.hpp"

#include <cmath>
#include <cstdint>

namespace {

/// Returns a number from -1 to 1 that depends on `index` only.
double random_number(std::size_t index) {
  std::uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-52 - 1;
}

/// Returns the inputs of samples: the same ones however the samples are divided.
std::vector<double> make_inputs(std::size_t first, std::size_t count) {
  std::vector<double> values(count * input_count);
  for (std::size_t i = 0; i != values.size(); ++i) {
    values[i] = random_number(first * input_count + i);
  }
  return values;
}

/// Returns the function that the network is to learn, for each sample.
std::vector<double> make_targets(std::vector<double> const& values) {
  std::vector<double> targets(values.size() / input_count);
  for (std::size_t i = 0; i != targets.size(); ++i) {
    double const* const x = &values[i * input_count];
    targets[i] = std::sin(2 * x[0]) + x[1] * x[2] - x[3] / 2;
  }
  return targets;
}

/// Returns the parameters at the beginning: the same ones on all devices.
std::vector<double> make_parameters() {
  std::vector<double> values(parameter_count);
  for (std::size_t i = 0; i != parameter_count; ++i) values[i] = random_number(~i) / 2;
  return values;
}

}  // namespace

network::network(std::size_t samples, std::size_t part, std::size_t parts)
    : samples_(samples), parameters_(roc::to_device(make_parameters())) {
  std::size_t const first = samples * part / parts;
  std::size_t const count = samples * (part + 1) / parts - first;
  std::vector<double> const values = make_inputs(first, count);
  input_ = roc::to_device(roc::host_view<double const, 2>(values.data(), {count, input_count}));
  target_ = roc::to_device(make_targets(values));
  activation_ = roc::device_array<double, 2>({count, hidden_units});
  error_ = roc::device_array<double>({count});
  gradient_ = roc::device_array<double>({parameter_count + 1});
}

double network::loss() const {
  auto const value = gradient_(parameter_count).copy_to_host(stream_);
  stream_.synchronize();
  return value();
}

std::vector<double> network::parameters() const {
  std::vector<double> values(parameter_count);
  parameters_.copy_to_host(values, stream_);
  stream_.synchronize();
  return values;
}
