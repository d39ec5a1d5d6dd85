// SPDX-License-Identifier: MIT
#include "stream_experiment.hpp"

#include <algorithm>
#include <atomic>
#include <span>

#include <fmt/format.h>

#include <roc/device.hpp>
#include <roc/native.hpp>

#include "check_kernel_launch.hpp"
#include "describe_mismatch.hpp"
#include "guarded_buffer.hpp"
#include "image_verifier.hpp"
#include "parallel_for.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"
#include "stream_check.hpp"
#include "stream_kernels.hpp"

namespace rocbench {
namespace {

// The sums of dot's integers and of their products, without the offsets of a sample.
struct integer_sums {
  explicit integer_sums(std::size_t count) {
    std::atomic<std::uint64_t> sums[3] = {};
    parallel_for(count, sizeof(double), [&](std::size_t begin, std::size_t end) {
      std::uint64_t range_sums[3] = {};
      for (std::size_t i = begin; i < end; ++i) {
        std::uint64_t const a = dot_integer(i, 0);
        std::uint64_t const b = dot_integer(i, 1);
        range_sums[0] += a;
        range_sums[1] += b;
        range_sums[2] += a * b;
      }
      for (int k = 0; k < 3; ++k) sums[k] += range_sums[k];
    });
    first = sums[0];
    second = sums[1];
    products = sums[2];
  }

  std::uint64_t first;
  std::uint64_t second;
  std::uint64_t products;
};

class stream_experiment final : public experiment {
 public:
  stream_experiment(stream_kernel kernel, api_kind api, std::size_t count)
      : kernel_(kernel),
        api_(api),
        count_(count),
        first_(memory_kind::device, bytes()),
        second_(memory_kind::device, arrays_read(kernel) == 2 ? bytes() : 0),
        result_(memory_kind::device, is_dot() ? sizeof(double) : bytes()),
        partial_sums_(memory_kind::device, is_dot() ? dot_blocks() * sizeof(double) : 0),
        comparison_({1}),
        guard_copy_(roc::pinned_array<std::byte>(2 * guard_bytes)) {}

  timing_method timing() const override { return timing_method::device_events; }
  std::size_t bytes() const override { return count_ * sizeof(double); }
  std::size_t counted_bytes() const override {
    return (arrays_read(kernel_) + (is_dot() ? 0 : 1)) * bytes();
  }
  std::string path() override {
    return api_ == api_kind::raw ? "kernel, pointers" : "kernel, views";
  }
  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    hipStream_t const hip_stream = roc::native(stream_);
    for (unsigned array = 0; array < arrays_read(kernel_); ++array) {
      check_kernel_launch(launch_stream_input(kernel_, elements(array == 0 ? first_ : second_),
                                              count_, array, sample, hip_stream));
    }
    for (guarded_buffer* buffer : {&result_, &partial_sums_}) {
      ROCARRAY_HIP(hipMemsetAsync, buffer->allocation(), std::to_integer<int>(poison_byte(sample)),
                   buffer->allocation_bytes(), hip_stream);
    }
    ROCARRAY_HIP(hipStreamSynchronize, hip_stream);
  }

  void run(std::size_t times) override {
    auto const launch =
        api_ == api_kind::raw ? launch_stream_with_pointers : launch_stream_with_views;
    stream_arrays const arrays = array_views();
    for (std::size_t i = 0; i < times; ++i) {
      check_kernel_launch(launch(kernel_, arrays, roc::native(stream_)));
    }
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    if (inject != injection_site::none)
      corrupt_byte(result_, injection_offset(result_image(sample), inject));
    if (auto difference = is_dot() ? check_sum(sample) : check_elements(sample)) return difference;
    return check_result_guards(result_, sample);
  }

 private:
  bool is_dot() const { return kernel_ == stream_kernel::dot; }
  // BabelStream's number of blocks. If there are few elements, most blocks sum nothing.
  static std::size_t dot_blocks() {
    return 4 * static_cast<std::size_t>(std::max(roc::device().multiprocessor_count(), 1));
  }

  image result_image(std::uint64_t sample) const {
    return destination_image(result_, {{}, result_.bytes()}, sample);
  }

  static double* elements(guarded_buffer& buffer) {
    return reinterpret_cast<double*>(buffer.payload());
  }
  static roc::device_view<double> as_view(guarded_buffer& buffer) {
    return {elements(buffer), roc::shape<1>{buffer.bytes() / sizeof(double)}, roc::order::c,
            buffer.device_ordinal()};
  }
  stream_arrays array_views() {
    return {as_view(first_), as_view(second_), as_view(result_), as_view(partial_sums_)};
  }

  double result_element(std::size_t index) {
    double value = 0;
    ROCARRAY_HIP(hipMemcpy, &value, elements(result_) + index, sizeof value, hipMemcpyDeviceToHost);
    return value;
  }

  std::optional<std::string> check_elements(std::uint64_t sample) {
    hipStream_t const hip_stream = roc::native(stream_);
    ROCARRAY_HIP(hipMemsetAsync, comparison_.data(), 0xFF, sizeof(device_comparison), hip_stream);
    check_kernel_launch(launch_stream_check(kernel_, elements(result_), count_, sample,
                                            comparison_.data(), hip_stream));
    ROCARRAY_HIP(hipStreamSynchronize, hip_stream);
    device_comparison result{};
    ROCARRAY_HIP(hipMemcpy, &result, comparison_.data(), sizeof result, hipMemcpyDeviceToHost);
    if (result.compared != count_)
      return fmt::format("sample {}: the comparison kernel did not run", sample);
    if (result.first_mismatch == ~0ull) return std::nullopt;
    return fmt::format("sample {}: element {} is {}, not {}", sample, result.first_mismatch,
                       result_element(result.first_mismatch),
                       expected_stream_result(kernel_, result.first_mismatch, sample));
  }

  std::optional<std::string> check_sum(std::uint64_t sample) {
    std::uint64_t const a = dot_offset(0, sample);
    std::uint64_t const b = dot_offset(1, sample);
    auto const expected =
        static_cast<double>(sums_.products + b * sums_.first + a * sums_.second + count_ * a * b);
    double const result = result_element(0);
    if (result == expected) return std::nullopt;
    return fmt::format("sample {}: sum is {}, not {}", sample, result, expected);
  }

  std::optional<std::string> check_result_guards(guarded_buffer& buffer, std::uint64_t sample) {
    std::span<std::byte> const guards(guard_copy_.data(), 2 * guard_bytes);
    // If the copies back did nothing, the check must fail.
    std::ranges::fill(guards, ~poison_byte(sample));
    ROCARRAY_HIP(hipMemcpy, guards.data(), buffer.allocation(), guard_bytes, hipMemcpyDeviceToHost);
    ROCARRAY_HIP(hipMemcpy, guards.data() + guard_bytes, buffer.payload() + buffer.bytes(),
                 guard_bytes, hipMemcpyDeviceToHost);
    return check_guard_bands(guards, sample);
  }

  stream_kernel kernel_;
  api_kind api_;
  std::size_t count_;
  integer_sums sums_{is_dot() ? count_ : 0};
  roc::stream stream_;
  guarded_buffer first_;
  guarded_buffer second_;
  guarded_buffer result_;
  guarded_buffer partial_sums_;
  roc::device_array<device_comparison> comparison_;
  roc::host_array<std::byte> guard_copy_;  // receives the guard bands
};

}  // namespace

std::unique_ptr<experiment> make_stream_experiment(stream_kernel kernel, api_kind api,
                                                   std::size_t count) {
  return std::make_unique<stream_experiment>(kernel, api, count);
}

}  // namespace rocbench
