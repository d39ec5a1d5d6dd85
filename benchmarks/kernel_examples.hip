// SPDX-License-Identifier: MIT
// kernel_examples [SIDE ELEMENTS]: measures the kernels of examples/kernels against the vendor's library, or on
// the CPU against loops of OpenMP, and samples of images by texture units against those by the kernel: a product
// of matrices of SIDE x SIDE floats, arrays of ELEMENTS, and pictures of SIDE x SIDE. Compares the results too;
// exits with 1 if they differ. Without one of
// these libraries a kernel is measured, but not compared.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <vector>

#include <roc/image.hpp>
#include <roc/launch.hpp>
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "../examples/kernels/histogram_kernel.hpp"
#include "../examples/kernels/matrix_product_kernel.hpp"
#include "../examples/kernels/reduction_kernel.hpp"
#include "../examples/kernels/stencil_kernel.hpp"

#if ROCARRAY_BENCHMARK_CUBLAS
#include <cublas_v2.h>
#endif
#if defined(__CUDACC__)
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#endif

namespace {

#if ROCARRAY_PLATFORM_HOST
constexpr bool is_on_cpu = true;
#else
constexpr bool is_on_cpu = false;
#endif

using bytes = roc::device_array<unsigned char>;

// Returns the least milliseconds of f(), which enqueues work on the stream, of several rounds of some calls.
template <class F>
double measure(roc::stream_ref stream, F f) {
  f();
  stream.synchronize();
  constexpr int calls = is_on_cpu ? 1 : 20;
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 5; ++round) {
    auto const begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) f();
    stream.synchronize();
    std::chrono::duration<double, std::milli> const time = std::chrono::steady_clock::now() - begin;
    least = std::min(least, time.count() / calls);
  }
  return least;
}

bool print(char const* name, double milliseconds, char const* other, double of_other, bool are_equal) {
  std::printf("%-16s %10.3f ms   %-12s %10.3f ms   %5.2f%s\n", name, milliseconds, other, of_other,
              milliseconds / of_other, are_equal ? "" : "   DIFFERENT RESULTS");
  return are_equal;
}

// Prints the time of a kernel that is compared with nothing here. Returns true.
[[maybe_unused]] bool print_alone(char const* name, double milliseconds) {
  std::printf("%-16s %10.3f ms   not compared\n", name, milliseconds);
  return true;
}

// Returns true if the arrays have the same values. Floats may differ by rounding.
template <class T, std::size_t N>
bool are_equal(roc::device_array<T, N> const& a, roc::device_array<T, N> const& b) {
  std::vector<T> first(a.size());
  std::vector<T> second(b.size());
  a.copy_to_host(first);
  b.copy_to_host(second);
  return std::equal(first.begin(), first.end(), second.begin(), [](T x, T y) {
    return std::abs(static_cast<double>(x) - static_cast<double>(y)) <= 1e-4 * std::abs(static_cast<double>(y));
  });
}

// Sets element i to i * factor modulo `modulus`.
template <class T>
struct pattern {
  T* data;
  std::size_t factor;
  std::size_t modulus;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { data[i] = static_cast<T>(i * factor % modulus); }
};

template <class T, std::size_t N>
void set_pattern(roc::stream_ref stream, roc::device_array<T, N> const& array, std::size_t factor,
                 std::size_t modulus) {
  roc::for_each(stream, roc::shape<1>{array.size()}, pattern<T>{array.data(), factor, modulus});
}

unsigned blocks_of_device() {
  return 8 * static_cast<unsigned>(roc::device().multiprocessor_count());
}

bool measure_matrix_product(roc::stream_ref stream, std::size_t side) {
  roc::device_array<float, 2> const a({side, side});
  roc::device_array<float, 2> const b({side, side});
  roc::device_array<float, 2> const c({side, side});
  roc::device_array<float, 2> const other({side, side});
  set_pattern(stream, a, 3, 7);
  set_pattern(stream, b, 2, 5);
  std::size_t const blocks = (side + tile_side - 1) / tile_side;
  double const time = measure(stream, [&] {
    roc::launch(multiply, {blocks, blocks}, {tile_side, tile_side}, 0, stream, a.view(), b.view(), c.view());
  });
#if ROCARRAY_BENCHMARK_CUBLAS
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return false;
  cublasSetStream(handle, roc::native(stream));
  auto const n = static_cast<int>(side);
  float const one = 1;
  float const zero = 0;
  // cuBLAS has columns first: c^T = b^T a^T.
  double const of_other = measure(stream, [&] {
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b.data(), n, a.data(), n, &zero, other.data(), n);
  });
  cublasDestroy(handle);
  return print("matrix product", time, "cuBLAS", of_other, are_equal(c, other));
#elif ROCARRAY_BENCHMARK_OPENMP
  double const of_other = measure(stream, [&] {
    float const* const from_a = a.data();
    float const* const from_b = b.data();
    float* const to = other.data();
#pragma omp parallel for
    for (std::size_t i = 0; i < side; ++i) {
      for (std::size_t j = 0; j < side; ++j) to[i * side + j] = 0;
      for (std::size_t k = 0; k < side; ++k) {
        for (std::size_t j = 0; j < side; ++j) to[i * side + j] += from_a[i * side + k] * from_b[k * side + j];
      }
    }
  });
  return print("matrix product", time, "OpenMP", of_other, are_equal(c, other));
#else
  return print_alone("matrix product", time);
#endif
}

bool measure_reduction(roc::stream_ref stream, std::size_t elements) {
  roc::device_array<unsigned> const values({elements});
  roc::device_array<unsigned> const sum({1});
  roc::device_array<unsigned> const other({1});
  set_pattern(stream, values, 1, 1000);
  double const time = measure(stream, [&] {
    sum.zero(stream);
    roc::launch(add_all, {blocks_of_device()}, {256}, 0, stream, values.view(), sum.view());
  });
#if defined(__CUDACC__)
  std::size_t size = 0;
  cub::DeviceReduce::Sum(nullptr, size, values.data(), other.data(), elements, roc::native(stream));
  bytes const scratch({size});
  double const of_other = measure(stream, [&] {
    cub::DeviceReduce::Sum(scratch.data(), size, values.data(), other.data(), elements, roc::native(stream));
  });
  return print("reduction", time, "CUB", of_other, are_equal(sum, other));
#elif ROCARRAY_BENCHMARK_OPENMP
  double const of_other = measure(stream, [&] {
    unsigned const* const from = values.data();
    unsigned total = 0;
#pragma omp parallel for reduction(+ : total)
    for (std::size_t i = 0; i < elements; ++i) total += from[i];
    *other.data() = total;
  });
  return print("reduction", time, "OpenMP", of_other, are_equal(sum, other));
#else
  return print_alone("reduction", time);
#endif
}

bool measure_histogram(roc::stream_ref stream, std::size_t elements) {
  constexpr unsigned bins = 256;
  bytes const values({elements});
  roc::device_array<unsigned> const counts({bins});
  roc::device_array<unsigned> const other({bins});
  set_pattern(stream, values, 2654435761U, 251);
  double const time = measure(stream, [&] {
    counts.zero(stream);
    roc::launch(count, {blocks_of_device()}, {256}, bins * sizeof(unsigned), stream, values.view(), counts.view());
  });
#if defined(__CUDACC__)
  std::size_t size = 0;
  auto const run = [&](void* scratch) {
    cub::DeviceHistogram::HistogramEven(scratch, size, values.data(), other.data(), static_cast<int>(bins) + 1, 0,
                                        static_cast<int>(bins), static_cast<int>(elements), roc::native(stream));
  };
  run(nullptr);
  bytes const scratch({size});
  double const of_other = measure(stream, [&] { run(scratch.data()); });
  return print("histogram", time, "CUB", of_other, are_equal(counts, other));
#elif ROCARRAY_BENCHMARK_OPENMP
  double const of_other = measure(stream, [&] {
    unsigned char const* const from = values.data();
    unsigned* const sums = other.data();
    std::fill_n(sums, bins, 0u);
#pragma omp parallel
    {
      unsigned own[bins] = {};
#pragma omp for
      for (std::size_t i = 0; i < elements; ++i) ++own[from[i]];
#pragma omp critical
      for (unsigned bin = 0; bin < bins; ++bin) sums[bin] += own[bin];
    }
  });
  return print("histogram", time, "OpenMP", of_other, are_equal(counts, other));
#else
  return print_alone("histogram", time);
#endif
}

// The stencil without shared memory.
struct plain_stencil {
  float const* in;
  float* out;
  std::size_t count;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    std::size_t const begin = i < stencil_radius ? 0 : i - stencil_radius;
    std::size_t const end = i + stencil_radius < count ? i + stencil_radius + 1 : count;
    float sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += in[k];
    out[i] = sum;
  }
};

bool measure_stencil(roc::stream_ref stream, std::size_t elements) {
  roc::device_array<float> const in({elements});
  roc::device_array<float> const out({elements});
  roc::device_array<float> const other({elements});
  set_pattern(stream, in, 1, 1000);
  double const time = measure(stream, [&] {
    roc::launch(add_neighbors, {(elements + stencil_threads - 1) / stencil_threads}, {stencil_threads}, 0, stream,
                in.view(), out.view());
  });
  plain_stencil const plain{in.data(), other.data(), elements};
#if ROCARRAY_BENCHMARK_OPENMP
  double const of_other = measure(stream, [&] {
#pragma omp parallel for
    for (std::size_t i = 0; i < elements; ++i) plain(i);
  });
  return print("stencil", time, "OpenMP", of_other, are_equal(out, other));
#else
  double const of_other = measure(stream, [&] { roc::for_each(stream, in.shape(), plain); });
  return print("stencil", time, "for_each", of_other, are_equal(out, other));
#endif
}

// Rotates a picture as examples/kernels/rotation_kernel.hpp does, of any elements.
template <class View>
__global__ void rotate_picture(View from, View to, float cosine, float sine) {
  unsigned const column = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= to.extent(0) || column >= to.extent(1)) return;
  float const x = static_cast<float>(column) + 0.5f - 0.5f * static_cast<float>(to.extent(1));
  float const y = static_cast<float>(row) + 0.5f - 0.5f * static_cast<float>(to.extent(0));
  float const from_x = cosine * x + sine * y + 0.5f * static_cast<float>(from.extent(1));
  float const from_y = cosine * y - sine * x + 0.5f * static_cast<float>(from.extent(0));
  to.store(from.sample(from_x, from_y), row, column);
}

using color = roc::pixel<unsigned char, 4>;

void set_element(float& element, unsigned random) { element = static_cast<float>(random & 255); }
void set_element(color& element, unsigned random) {
  auto const channel = [random](unsigned shift) { return static_cast<unsigned char>(random >> shift & 255); };
  element = {channel(0), channel(8), channel(16), channel(24)};
}
double difference(float a, float b) { return std::abs(a - b); }
double difference(color const& a, color const& b) {
  return (std::abs(a.x - b.x) + std::abs(a.y - b.y) + std::abs(a.z - b.z) + std::abs(a.w - b.w)) / 4.0;
}

// Rotates a picture of side x side by the unit that the library chooses, and by the kernel. The rates are 10^9
// samples per second.
template <class T>
bool measure_samples(roc::stream_ref stream, char const* name, std::size_t side, roc::filter_mode filter) {
  std::vector<T> elements(side * side);
  for (std::size_t i = 0; i < elements.size(); ++i) set_element(elements[i], static_cast<unsigned>(i) * 2654435761U);
  roc::image<T, 2> const from({side, side});
  roc::image<T, 2> const to({side, side});
  roc::image<T, 2> const other({side, side});
  from.copy_to_device(elements);
  auto const view_of = [&](roc::image<T, 2> const& image, roc::sampler_unit unit) {
    roc::sampler const how{.filter = filter, .unit = unit};
    if constexpr (std::is_same_v<T, float>) {
      return image.view(how);
    } else {
      return image.normalized_view(how);
    }
  };
  auto const time_of = [&](roc::image<T, 2> const& target, roc::sampler_unit unit) {
    auto const source = view_of(from, unit);
    auto const result = view_of(target, roc::sampler_unit::software);
    return measure(stream, [&] {
      roc::launch(rotate_picture<std::remove_const_t<decltype(source)>>, {(side + 31) / 32, (side + 7) / 8}, {32, 8},
                  0, stream, source, result, 0.9f, 0.3f);
    });
  };
  double const time = time_of(to, roc::sampler_unit::automatic);
  double const of_other = time_of(other, roc::sampler_unit::software);
  std::vector<T> first(elements.size());
  std::vector<T> second(elements.size());
  to.copy_to_host(first);
  other.copy_to_host(second);
  double sum = 0;
  for (std::size_t i = 0; i < first.size(); ++i) sum += difference(first[i], second[i]);
  auto const samples = static_cast<double>(elements.size()) * 1e-6;
  std::printf("samples of %s: %.3g by the kernel", name, samples / of_other);
  bool const has_units = view_of(from, roc::sampler_unit::automatic).uses_hardware();
  if (has_units) std::printf(", %.3g by texture units", samples / time);
  std::puts("");
  return print(name, time, "software", of_other, sum <= 0.01 * 256 * static_cast<double>(elements.size()));
}

bool measure_images(roc::stream_ref stream, std::size_t side) {
  bool passed = measure_samples<float>(stream, "float, nearest", side, roc::filter_mode::nearest);
  passed &= measure_samples<float>(stream, "float, linear", side, roc::filter_mode::linear);
  passed &= measure_samples<color>(stream, "color, nearest", side, roc::filter_mode::nearest);
  passed &= measure_samples<color>(stream, "color, linear", side, roc::filter_mode::linear);
  return passed;
}

}  // namespace

int main(int count_of_arguments, char** arguments) {
  if (roc::device::count() == 0) {
    std::puts("no device was found");
    return 77;
  }
  bool const has_sizes = count_of_arguments == 3;
  auto const number = [&](int i) { return std::strtoull(arguments[i], nullptr, 10); };
  std::size_t const side = has_sizes ? number(1) : is_on_cpu ? 512 : 4096;
  std::size_t const elements = has_sizes ? number(2) : is_on_cpu ? 1 << 24 : 1 << 28;
  roc::stream const stream;
  std::printf("%s: matrices and pictures of %zu x %zu, arrays of %zu\n", roc::device().name().c_str(), side, side, elements);
  bool passed = measure_matrix_product(stream, side);
  passed &= measure_reduction(stream, elements);
  passed &= measure_histogram(stream, elements);
  passed &= measure_stencil(stream, elements);
  passed &= measure_images(stream, side);
  return passed ? 0 : 1;
}
