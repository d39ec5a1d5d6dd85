// SPDX-License-Identifier: MIT
// Cases of roc::for_each over shapes of rank 1 to 4 and over the interior of a matrix, beside
// kernels that are written by hand.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// A kernel that computes an array of floats from others of the same shape. The payload is one
// array. Results are compared on the device, bit for bit.
template <std::size_t N>
class array_experiment : public experiment {
 public:
  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    unsigned array = 0;
    for (guarded_buffer& input : inputs_) {
      check_kernel_launch(
          launch_addends(elements(input), count(), array++, sample, roc::native(stream_)));
    }
    stream_.synchronize();
    verifier_.fill(result_, poison_byte(sample));
  }

  void run(std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i) {
      if (is_raw_)
        check_kernel_launch(launch_raw());
      else
        enqueue();
    }
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    image const expected = destination_image(result_, written_part(), sample);
    corrupt_byte(result_, expected, inject);
    auto const launch = [&](device_comparison* comparison, hipStream_t stream) {
      return launch_check(elements(result_), sample, comparison, stream);
    };
    auto const describe = [&](std::uint64_t index) {
      std::array<std::byte, sizeof(float)> bytes{};
      ROCARRAY_HIP(hipMemcpy, bytes.data(), elements(result_) + index, bytes.size(),
                   hipMemcpyDeviceToHost);
      std::uint64_t const offset = expected.guard + index * bytes.size();
      if (!segment_at(expected, offset).is_payload) {
        std::size_t byte = 0;
        while (byte + 1 < bytes.size() && bytes[byte] == std::byte{expected.poison}) ++byte;
        return describe_mismatch(expected, offset + byte, bytes[byte]);
      }
      auto const value = std::bit_cast<float>(bytes);
      return fmt::format("sample {}: element {} is {}, not {}", sample, index, value,
                         expected_value(index, sample));
    };
    if (auto difference = verifier_.compare_on_device(count(), launch, describe)) return difference;
    return check_guard_bands(result_, expected);
  }

 protected:
  // `counted_elements` are those that one execution reads and writes.
  array_experiment(api_kind api, std::size_t inputs, roc::shape<N> const& extents,
                   std::size_t counted_elements)
      : experiment({timing_method::device_events, element_count(extents) * sizeof(float),
                    counted_elements * sizeof(float),
                    api == api_kind::raw ? "kernel, pointers" : "for_each"}),
        is_raw_(api == api_kind::raw),
        extents_(extents),
        result_(memory_kind::device, properties_.bytes) {
    for (std::size_t i = 0; i < inputs; ++i)
      inputs_.emplace_back(memory_kind::device, properties_.bytes);
  }

  roc::shape<N> const& extents() const { return extents_; }
  std::size_t count() const { return properties_.bytes / sizeof(float); }
  template <std::size_t Rank>
  roc::device_view<float, Rank> input(std::size_t index, roc::shape<Rank> const& shape) {
    return view_of(inputs_[index], shape);
  }
  template <std::size_t Rank>
  roc::device_view<float, Rank> result(roc::shape<Rank> const& shape) {
    return view_of(result_, shape);
  }

 private:
  // Enqueues the work on stream(), by the library and by a kernel written by hand.
  virtual void enqueue() = 0;
  virtual hipError_t launch_raw() = 0;
  // Enqueues the comparison of all elements, count().
  virtual hipError_t launch_check(float const* elements, std::uint64_t sample,
                                  device_comparison* comparison, hipStream_t stream) = 0;
  // Returns what an element of the written part must be.
  virtual float expected_value(std::size_t index, std::uint64_t sample) const = 0;
  // Returns the bytes of the result that the work writes.
  virtual image_layout written_part() const { return {{}, properties_.bytes}; }

  static float* elements(guarded_buffer& buffer) {
    return reinterpret_cast<float*>(buffer.payload());
  }
  template <std::size_t Rank>
  static roc::device_view<float, Rank> view_of(guarded_buffer& buffer,
                                               roc::shape<Rank> const& shape) {
    return {elements(buffer), shape, roc::order::c, buffer.device_ordinal()};
  }

  bool is_raw_;
  roc::shape<N> extents_;
  roc::stream stream_;
  std::vector<guarded_buffer> inputs_;
  guarded_buffer result_;
  buffer_verifier verifier_;
};

// c = a + b for arrays of rank N. What is read and written counts: three arrays.
template <std::size_t N>
class sum_experiment final : public array_experiment<N> {
 public:
  sum_experiment(api_kind api, roc::shape<N> const& extents)
      : array_experiment<N>(api, 2, extents, 3 * element_count(extents)) {}

 private:
  void enqueue() override { for_each_sum(arrays(), this->extents(), this->stream()); }
  hipError_t launch_raw() override {
    return launch_sum(arrays(), planes_of_rows(), roc::native(this->stream()));
  }
  hipError_t launch_check(float const* elements, std::uint64_t sample,
                          device_comparison* comparison, hipStream_t stream) override {
    return launch_sum_check(elements, this->count(), sample, comparison, stream);
  }
  float expected_value(std::size_t index, std::uint64_t sample) const override {
    return expected_sum(index, sample);
  }

  sum_arrays arrays() {
    roc::shape<1> const shape{this->count()};
    return {this->input(0, shape), this->input(1, shape), this->result(shape)};
  }
  roc::shape<3> planes_of_rows() const {
    std::size_t const columns = this->extents()[N - 1];
    std::size_t const rows = N > 1 ? this->extents()[N >= 2 ? N - 2 : 0] : 1;
    return {this->count() / rows / columns, rows, columns};
  }
};

// Returns the extents of a matrix with at most `count` elements, at least 3 rows and columns.
roc::shape<2> extents_of_stencil(std::size_t count) {
  constexpr std::size_t min_extent = 3;
  std::size_t const columns = std::clamp(count / min_extent, min_extent, inner_extents<2>[1]);
  return {std::max(count / columns, min_extent), columns};
}

// Returns the number of elements that are not at the border of a matrix.
std::size_t interior_elements(roc::shape<2> const& extents) {
  return (extents[0] - 2) * (extents[1] - 2);
}

// A stencil of a matrix. The matrix, which is read, and the interior, which is written, count once.
class stencil_experiment final : public array_experiment<2> {
 public:
  stencil_experiment(api_kind api, bool has_block_shape, roc::shape<2> const& extents)
      : array_experiment(api, 1, extents, element_count(extents) + interior_elements(extents)),
        has_block_shape_(has_block_shape) {}

 private:
  void enqueue() override { for_each_stencil(arrays(), has_block_shape_, stream()); }
  hipError_t launch_raw() override { return launch_stencil(arrays(), roc::native(stream())); }
  hipError_t launch_check(float const* elements, std::uint64_t sample,
                          device_comparison* comparison, hipStream_t stream) override {
    return launch_stencil_check(elements, extents(), sample, comparison, stream);
  }
  float expected_value(std::size_t index, std::uint64_t sample) const override {
    return expected_stencil(index, extents()[1], sample);
  }
  image_layout written_part() const override {
    std::size_t const row = extents()[1] * sizeof(float);
    std::size_t const inner_row = row - 2 * sizeof(float);
    return {{{extents()[0] - 2, row, inner_row}}, inner_row, row + sizeof(float)};
  }

  stencil_arrays arrays() { return {input(0, extents()), result(extents())}; }

  bool has_block_shape_;
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

void add_stencil_case(case_vector& cases, bool has_block_shape) {
  std::string const description = "five-point stencil, by ";
  add_with_raw(cases,
               {has_block_shape ? "for_each/stencil_8x32" : "for_each/stencil",
                description + (has_block_shape ? "for_each in blocks" : "for_each"),
                accounting::traffic, limiting_resource::device_memory, false},
               description + "a kernel written by hand",
               [=](api_kind api, case_parameters const& parameters) {
                 return std::make_unique<stencil_experiment>(
                     api, has_block_shape, extents_of_stencil(parameters.bytes / sizeof(float)));
               });
}

}  // namespace

void add_for_each_cases(case_vector& cases) {
  add_case<1>(cases, false);
  add_case<2>(cases, false);
  add_case<3>(cases, true);
  add_case<4>(cases, false);
  add_stencil_case(cases, false);
  add_stencil_case(cases, true);
}

}  // namespace rocbench
