// SPDX-License-Identifier: MIT
// Cases of roc::for_each over shapes of rank 1 to 4, beside a kernel that is written by hand.
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "platform/call.hpp"
#include "verification.hpp"

namespace rocbench {
namespace {

// The extents of the axes after the first, which has the rest.
template <std::size_t N>
constexpr roc::shape<N> inner_extents{};
template <>
constexpr roc::shape<2> inner_extents<2>{0, 4096};
template <>
constexpr roc::shape<3> inner_extents<3>{0, 512, 256};
template <>
constexpr roc::shape<4> inner_extents<4>{0, 16, 128, 256};

// Returns extents with at most `count` elements, at least one. If there are too few elements, only
// the last axes are longer than 1.
template <std::size_t N>
roc::shape<N> extents_of(std::size_t count) {
  roc::shape<N> extents{};
  for (std::size_t axis = N; --axis != 0;) {
    extents[axis] = std::clamp(count, std::size_t{1}, inner_extents<N>[axis]);
    count /= extents[axis];
  }
  extents[0] = std::max(count, std::size_t{1});
  return extents;
}

template <std::size_t N>
std::size_t element_count(roc::shape<N> const& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>{});
}

// c = a + b for arrays of floats of rank N. The payload is one array; what is read and written
// counts, three arrays. Results are compared on the device, bit for bit.
template <std::size_t N>
class sum_experiment final : public experiment {
 public:
  sum_experiment(api_kind api, roc::shape<N> const& extents)
      : experiment({timing_method::device_events, element_count(extents) * sizeof(float),
                    3 * element_count(extents) * sizeof(float),
                    api == api_kind::raw ? "kernel, pointers" : "for_each"}),
        is_raw_(api == api_kind::raw),
        extents_(extents),
        a_(memory_kind::device, properties_.bytes),
        b_(memory_kind::device, properties_.bytes),
        c_(memory_kind::device, properties_.bytes) {}

  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    unsigned array = 0;
    for (guarded_buffer* buffer : {&a_, &b_}) {
      check_kernel_launch(
          launch_addends(elements(*buffer), count(), array++, sample, roc::native(stream_)));
    }
    stream_.synchronize();
    verifier_.fill(c_, poison_byte(sample));
  }

  void run(std::size_t times) override {
    sum_arrays const arrays{view_of(a_), view_of(b_), view_of(c_)};
    for (std::size_t i = 0; i < times; ++i) {
      if (is_raw_)
        check_kernel_launch(launch_sum(arrays, planes_of_rows(), roc::native(stream_)));
      else
        for_each_sum(arrays, extents_, stream_);
    }
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    image const expected = destination_image(c_, {{}, c_.bytes()}, sample);
    corrupt_byte(c_, expected, inject);
    auto const launch = [&](device_comparison* comparison, hipStream_t stream) {
      return launch_sum_check(elements(c_), count(), sample, comparison, stream);
    };
    auto const describe = [&](std::uint64_t index) {
      float value = 0;
      ROCARRAY_HIP(hipMemcpy, &value, elements(c_) + index, sizeof value, hipMemcpyDeviceToHost);
      return fmt::format("sample {}: element {} is {}, not {}", sample, index, value,
                         expected_sum(index, sample));
    };
    if (auto difference = verifier_.compare_on_device(count(), launch, describe)) return difference;
    return check_guard_bands(c_, expected);
  }

 private:
  static float* elements(guarded_buffer& buffer) {
    return reinterpret_cast<float*>(buffer.payload());
  }
  std::size_t count() const { return properties_.bytes / sizeof(float); }
  roc::device_view<float> view_of(guarded_buffer& buffer) const {
    return {elements(buffer), roc::shape<1>{count()}, roc::order::c, buffer.device_ordinal()};
  }
  roc::shape<3> planes_of_rows() const {
    std::size_t const columns = extents_[N - 1];
    std::size_t const rows = N > 1 ? extents_[N >= 2 ? N - 2 : 0] : 1;
    return {count() / rows / columns, rows, columns};
  }

  bool is_raw_;
  roc::shape<N> extents_;
  roc::stream stream_;
  guarded_buffer a_;
  guarded_buffer b_;
  guarded_buffer c_;
  buffer_verifier verifier_;
};

template <std::size_t N>
void add_case(case_vector& cases, bool by_default) {
  std::string const description = fmt::format("c = a + b, rank {}, by ", N);
  add_with_raw(cases,
               {fmt::format("for_each/{}d", N), description + "for_each", accounting::traffic,
                limiting_resource::device_memory, by_default},
               description + "a kernel written by hand",
               [](api_kind api, case_parameters const& parameters) {
                 return std::make_unique<sum_experiment<N>>(
                     api, extents_of<N>(parameters.bytes / sizeof(float)));
               });
}

}  // namespace

void add_for_each_cases(case_vector& cases) {
  add_case<1>(cases, false);
  add_case<2>(cases, false);
  add_case<3>(cases, true);
  add_case<4>(cases, false);
}

}  // namespace rocbench
