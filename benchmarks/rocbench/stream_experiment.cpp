// SPDX-License-Identifier: MIT
#include "stream_experiment.hpp"

#include <algorithm>
#include <atomic>
#include <span>

#include <fmt/format.h>

#include <roc/device.hpp>
#include <roc/native.hpp>

#include "buffer.hpp"
#include "describe_mismatch.hpp"
#include "device_kernels.hpp"
#include "image_memory.hpp"
#include "pattern.hpp"
#include "pieces.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

// Sums over the whole numbers that dot multiplies, without the offsets of a sample.
struct whole_sums {
  explicit whole_sums(std::size_t count) {
    std::atomic<std::uint64_t> sums[3] = {};
    in_pieces(count, sizeof(double), [&](std::size_t begin, std::size_t end) {
      std::uint64_t own[3] = {};
      for (std::size_t i = begin; i < end; ++i) {
        std::uint64_t const a = whole_number(i, 0);
        std::uint64_t const b = whole_number(i, 1);
        own[0] += a;
        own[1] += b;
        own[2] += a * b;
      }
      for (int k = 0; k < 3; ++k) sums[k] += own[k];
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
  stream_experiment(stream_kernel what, caller by, std::size_t count)
      : what_(what),
        by_(by),
        count_(count),
        first_(memory_kind::device, bytes()),
        second_(memory_kind::device, arrays_read(what) == 2 ? bytes() : 0),
        result_(memory_kind::device, is_dot() ? sizeof(double) : bytes()),
        parts_(memory_kind::device, is_dot() ? dot_blocks() * sizeof(double) : 0),
        verdict_({1}),
        mirror_(roc::pinned_array<std::byte>(2 * guard_bytes)) {}

  timing timed_by() const override { return timing::device_events; }
  std::size_t bytes() const override { return count_ * sizeof(double); }
  std::size_t counted_bytes() const override {
    return (arrays_read(what_) + (is_dot() ? 0 : 1)) * bytes();
  }
  std::string path() override { return by_ == caller::raw ? "kernel, pointers" : "kernel, views"; }
  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    hipStream_t const native = roc::native(stream_);
    for (unsigned array = 0; array < arrays_read(what_); ++array) {
      check_kernel(launch_stream_source(what_, numbers(array == 0 ? first_ : second_), count_,
                                        array, sample, native));
    }
    for (guarded_buffer* each : {&result_, &parts_}) {
      ROCARRAY_HIP(hipMemsetAsync, each->whole(), std::to_integer<int>(poison_byte(sample)),
              each->whole_bytes(), native);
    }
    ROCARRAY_HIP(hipStreamSynchronize, native);
  }

  void run(std::size_t times) override {
    auto const launch = by_ == caller::raw ? launch_stream_by_pointers : launch_stream_by_views;
    stream_arrays const arrays = views();
    for (std::size_t i = 0; i < times; ++i) {
      check_kernel(launch(what_, arrays, roc::native(stream_)));
    }
  }

  std::optional<std::string> check(std::uint64_t sample, inject_place inject) override {
    if (inject != inject_place::none) corrupt(result_, offset_of(result_image(sample), inject));
    if (auto wrong = is_dot() ? check_sum(sample) : check_elements(sample)) return wrong;
    return check_bands(result_, sample);
  }

 private:
  bool is_dot() const { return what_ == stream_kernel::dot; }
  // BabelStream's number of blocks; few elements leave most of them without.
  static std::size_t dot_blocks() {
    return 4 * static_cast<std::size_t>(std::max(roc::device().multiprocessor_count(), 1));
  }

  image result_image(std::uint64_t sample) const {
    return arrived_image(result_, {{}, result_.bytes()}, sample);
  }

  static double* numbers(guarded_buffer& of) { return reinterpret_cast<double*>(of.payload()); }
  static roc::device_view<double> view(guarded_buffer& of) {
    return {numbers(of), roc::shape<1>{of.bytes() / sizeof(double)}, roc::order::c,
            of.device_ordinal()};
  }
  stream_arrays views() { return {view(first_), view(second_), view(result_), view(parts_)}; }

  double element(std::size_t index) {
    double value = 0;
    ROCARRAY_HIP(hipMemcpy, &value, numbers(result_) + index, sizeof value, hipMemcpyDeviceToHost);
    return value;
  }

  std::optional<std::string> check_elements(std::uint64_t sample) {
    hipStream_t const native = roc::native(stream_);
    ROCARRAY_HIP(hipMemsetAsync, verdict_.data(), 0xFF, sizeof(check_verdict), native);
    check_kernel(
        launch_stream_check(what_, numbers(result_), count_, sample, verdict_.data(), native));
    ROCARRAY_HIP(hipStreamSynchronize, native);
    check_verdict found{};
    ROCARRAY_HIP(hipMemcpy, &found, verdict_.data(), sizeof found, hipMemcpyDeviceToHost);
    if (found.compared != count_)
      return fmt::format("sample {}: the comparison did not run", sample);
    if (found.first_wrong == ~0ull) return std::nullopt;
    return fmt::format("sample {}: element {} is {}, not {}", sample, found.first_wrong,
                       element(found.first_wrong), stream_result(what_, found.first_wrong, sample));
  }

  std::optional<std::string> check_sum(std::uint64_t sample) {
    std::uint64_t const a = whole_offset(0, sample);
    std::uint64_t const b = whole_offset(1, sample);
    auto const expected =
        static_cast<double>(sums_.products + b * sums_.first + a * sums_.second + count_ * a * b);
    double const found = element(0);
    if (found == expected) return std::nullopt;
    return fmt::format("sample {}: the sum is {}, not {}", sample, found, expected);
  }

  std::optional<std::string> check_bands(guarded_buffer& of, std::uint64_t sample) {
    std::span<std::byte> const bands(mirror_.data(), 2 * guard_bytes);
    // A copy back that does nothing must not pass.
    std::ranges::fill(bands, ~poison_byte(sample));
    ROCARRAY_HIP(hipMemcpy, bands.data(), of.whole(), guard_bytes, hipMemcpyDeviceToHost);
    ROCARRAY_HIP(hipMemcpy, bands.data() + guard_bytes, of.payload() + of.bytes(), guard_bytes,
            hipMemcpyDeviceToHost);
    return check_guards(bands, sample);
  }

  stream_kernel what_;
  caller by_;
  std::size_t count_;
  whole_sums sums_{is_dot() ? count_ : 0};
  roc::stream stream_;
  guarded_buffer first_;
  guarded_buffer second_;
  guarded_buffer result_;
  guarded_buffer parts_;
  roc::device_array<check_verdict> verdict_;
  roc::host_array<std::byte> mirror_;  // of guard bands
};

}  // namespace

std::unique_ptr<experiment> make_stream_experiment(stream_kernel what, caller by,
                                                   std::size_t count) {
  return std::make_unique<stream_experiment>(what, by, count);
}

}  // namespace rocbench
