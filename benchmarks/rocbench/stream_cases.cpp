// SPDX-License-Identifier: MIT
// Cases of BabelStream's kernels.
#include <algorithm>
#include <array>
#include <mutex>

#include <fmt/format.h>

#include <roc/device.hpp>
#include <roc/native.hpp>

#include "platform/call.hpp"
#include "verification.hpp"

namespace rocbench {
namespace {

// The sums of dot's integers in both arrays and of their products, without a sample's offsets.
using integer_sums = std::array<std::uint64_t, 3>;

integer_sums sum_integers(std::size_t count) {
  integer_sums sums{};
  std::mutex mutex;
  parallel_for(count, sizeof(double), [&](std::size_t begin, std::size_t end) {
    integer_sums range_sums{};
    for (std::size_t i = begin; i < end; ++i) {
      std::uint64_t const a = dot_integer(i, 0);
      std::uint64_t const b = dot_integer(i, 1);
      range_sums[0] += a;
      range_sums[1] += b;
      range_sums[2] += a * b;
    }
    std::lock_guard const lock(mutex);
    for (int k = 0; k < 3; ++k) sums[k] += range_sums[k];
  });
  return sums;
}

// Runs one kernel on arrays of doubles. The payload is one array; what the kernel reads and writes
// counts, as in BabelStream: two arrays for copy, mul and dot, three for add and triad. Results are
// compared on the device, bit for bit; the result of dot must be exact, see kernels.hpp.
class stream_experiment final : public experiment {
 public:
  stream_experiment(stream_kernel kernel, api_kind api, std::size_t count)
      : experiment({timing_method::device_events, count * sizeof(double),
                    count * sizeof(double) *
                        (arrays_read(kernel) + (kernel == stream_kernel::dot ? 0 : 1)),
                    api == api_kind::raw ? "kernel, pointers" : "kernel, views"}),
        kernel_(kernel),
        by_pointer_(api == api_kind::raw),
        count_(count),
        sums_(is_dot() ? sum_integers(count) : integer_sums{}),
        first_(memory_kind::device, properties_.bytes),
        second_(memory_kind::device, arrays_read(kernel) == 2 ? properties_.bytes : 0),
        result_(memory_kind::device, is_dot() ? sizeof(double) : properties_.bytes),
        partial_sums_(memory_kind::device, is_dot() ? dot_blocks() * sizeof(double) : 0) {}

  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    for (unsigned array = 0; array < arrays_read(kernel_); ++array) {
      check_kernel_launch(launch_stream_input(kernel_, elements(array == 0 ? first_ : second_),
                                              count_, array, sample, roc::native(stream_)));
    }
    stream_.synchronize();
    for (guarded_buffer* buffer : {&result_, &partial_sums_})
      verifier_.fill(*buffer, poison_byte(sample));
  }

  void run(std::size_t times) override {
    stream_arrays const arrays{as_view(first_), as_view(second_), as_view(result_),
                               as_view(partial_sums_)};
    for (std::size_t i = 0; i < times; ++i) {
      check_kernel_launch(launch_stream(kernel_, arrays, by_pointer_, roc::native(stream_)));
    }
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    image const expected = destination_image(result_, {{}, result_.bytes()}, sample);
    corrupt_byte(result_, expected, inject);
    if (auto difference = is_dot() ? check_sum(sample) : check_elements(sample)) return difference;
    return check_guard_bands(result_, expected);
  }

 private:
  bool is_dot() const { return kernel_ == stream_kernel::dot; }
  // BabelStream's number of blocks. If there are few elements, most blocks sum nothing.
  static std::size_t dot_blocks() {
    return 4 * static_cast<std::size_t>(std::max(roc::device().multiprocessor_count(), 1));
  }

  static double* elements(guarded_buffer& buffer) {
    return reinterpret_cast<double*>(buffer.payload());
  }
  static roc::device_view<double> as_view(guarded_buffer& buffer) {
    return {elements(buffer), roc::shape<1>{buffer.bytes() / sizeof(double)}, roc::order::c,
            buffer.device_ordinal()};
  }

  double result_element(std::size_t index) {
    double value = 0;
    ROCARRAY_HIP(hipMemcpy, &value, elements(result_) + index, sizeof value, hipMemcpyDeviceToHost);
    return value;
  }

  std::optional<std::string> check_elements(std::uint64_t sample) {
    return verifier_.compare_on_device(
        count_,
        [&](device_comparison* comparison, hipStream_t stream) {
          return launch_stream_check(kernel_, elements(result_), count_, sample, comparison,
                                     stream);
        },
        [&](std::uint64_t index) {
          return fmt::format("sample {}: element {} is {}, not {}", sample, index,
                             result_element(index), expected_stream_result(kernel_, index, sample));
        });
  }

  std::optional<std::string> check_sum(std::uint64_t sample) {
    std::uint64_t const a = dot_offset(0, sample);
    std::uint64_t const b = dot_offset(1, sample);
    auto const expected =
        static_cast<double>(sums_[2] + b * sums_[0] + a * sums_[1] + count_ * a * b);
    double const result = result_element(0);
    if (result == expected) return std::nullopt;
    return fmt::format("sample {}: sum is {}, not {}", sample, result, expected);
  }

  stream_kernel kernel_;
  bool by_pointer_;
  std::size_t count_;
  integer_sums sums_;
  roc::stream stream_;
  guarded_buffer first_;
  guarded_buffer second_;
  guarded_buffer result_;
  guarded_buffer partial_sums_;
  buffer_verifier verifier_;
};

struct case_definition {
  char const* name;
  char const* description;
  stream_kernel kernel;
  bool by_default;
};

constexpr case_definition case_definitions[] = {
    {"copy", "c = a", stream_kernel::copy, false},
    {"mul", "b = s c", stream_kernel::mul, false},
    {"add", "c = a + b", stream_kernel::add, false},
    {"triad", "a = b + s c", stream_kernel::triad, true},
    {"dot", "sum of a b", stream_kernel::dot, false},
};

}  // namespace

void add_stream_cases(case_vector& cases) {
  for (case_definition const& definition : case_definitions) {
    std::string const description = std::string(definition.description) + ", by a kernel with ";
    bool const is_dot = definition.kernel == stream_kernel::dot;
    add_with_raw(
        cases,
        {std::string("stream/") + definition.name, description + "the library's views",
         accounting::traffic,
         is_dot ? limiting_resource::device_memory_reads : limiting_resource::device_memory,
         definition.by_default},
        description + "plain pointers",
        [kernel = definition.kernel](api_kind api, case_parameters const& parameters) {
          return std::make_unique<stream_experiment>(
              kernel, api, std::max(parameters.bytes / sizeof(double), std::size_t{1}));
        });
  }
}

}  // namespace rocbench
