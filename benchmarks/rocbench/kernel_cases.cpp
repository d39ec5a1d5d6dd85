// SPDX-License-Identifier: MIT
// Cases of kernels: those that access mapped or managed memory, and BabelStream's.
#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "format.hpp"
#include "platform/call.hpp"
#include "verification.hpp"

namespace rocbench {
namespace {

// ---- Mapped and managed memory ----

using roc::kernels::vector_word;

enum class kernel_access : unsigned char {
  mapped_read,       // a kernel copies from mapped memory to device memory
  mapped_write,      // a kernel copies from device memory to mapped memory
  managed_fault,     // a kernel copies from managed memory that resides on the host
  managed_prefetch,  // managed memory is prefetched from the host to the device
};

bool is_managed(kernel_access access) {
  return access == kernel_access::managed_fault || access == kernel_access::managed_prefetch;
}

// Throws case_not_supported if the device lacks the feature, or if managed memory of this size
// would exceed a quarter of the free device memory.
void check_device(kernel_access access, std::size_t bytes) {
  roc::device const device;
  if (!is_managed(access)) {
    if (!device.can_map_host_memory())
      throw case_not_supported("the device cannot map host memory");
    return;
  }
  if (!device.has_managed_memory()) throw case_not_supported("the device has no managed memory");
  if (!device.has_concurrent_managed_access()) {
    throw case_not_supported(
        "the device has no concurrent managed access: pages do not migrate on faults");
  }
  std::size_t const max_bytes = device.memory().free / 4;
  if (bytes + 2 * guard_bytes > max_bytes) {
    throw case_not_supported(
        fmt::format("more managed memory than a quarter of the free device memory, {}",
                    format_size(max_bytes)));
  }
}

vector_word* as_units(std::byte* data) { return reinterpret_cast<vector_word*>(data); }

buffer_layout buffer_of(memory_kind kind, std::size_t bytes) { return {kind, bytes, {{}, bytes}}; }

memory_kind host_kind(kernel_access access) {
  return is_managed(access) ? memory_kind::managed : memory_kind::mapped;
}

// The library API uses views and roc::prefetch; the raw API uses hipHostGetDevicePointer, pointers
// and hipMemPrefetchAsync. Managed memory resides on the host before a run and on the device after
// it. Each run is therefore prepared anew and timed by the wall clock, including synchronization.
class kernel_access_experiment final : public buffer_experiment {
 public:
  kernel_access_experiment(kernel_access access, api_kind api, std::size_t bytes)
      : buffer_experiment(
            {is_managed(access) ? timing_method::wall_clock : timing_method::device_events, bytes,
             bytes, api == api_kind::raw ? "kernel, pointers" : "kernel, views",
             is_managed(access) ? 1 : experiment_properties{}.max_batch},
            buffer_of(writes_host(access) ? memory_kind::device : host_kind(access), bytes),
            buffer_of(writes_host(access) ? host_kind(access) : memory_kind::device, bytes)),
        access_(access),
        is_raw_(api == api_kind::raw),
        host_buffer_(writes_host(access) ? destination : source) {
    guarded_buffer& device_buffer = writes_host(access) ? source : destination;
    device_ = device_buffer.device_ordinal();
    roc::device_view<vector_word> const device_units(as_units(device_buffer.payload()),
                                                     roc::shape<1>{bytes / sizeof(vector_word)},
                                                     roc::order::c, device_);
    auto const host_units =
        is_raw_ ? roc::device_view<vector_word>(host_pointer(), device_units.shape()) : host_view();
    source_units_ = writes_host(access) ? device_units : host_units;
    destination_units_ = writes_host(access) ? host_units : device_units;
    if (access == kernel_access::managed_prefetch)
      set_path(is_raw_ ? "hipMemPrefetchAsync" : "prefetch");
    work = [this](std::size_t times) {
      for (std::size_t i = 0; i < times; ++i)
        access_ == kernel_access::managed_prefetch ? prefetch() : copy();
      if (is_managed(access_)) stream().synchronize();
    };
  }

  void prepare(std::uint64_t sample) override {
    if (is_managed(access_))
      roc::migrate(host_buffer_.host_allocation(), roc::memory_location::host());
    buffer_experiment::prepare(sample);
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    if (access_ == kernel_access::managed_prefetch) {
      copy();
      stream().synchronize();
    }
    if (auto difference = buffer_experiment::check(sample, inject)) return difference;
    // The source's guard bands must not be written either.
    return check_guard_bands(source, expected_source(sample));
  }

 private:
  static bool writes_host(kernel_access access) { return access == kernel_access::mapped_write; }

  // These return the payload of the host memory as a kernel addresses it.
  roc::device_view<vector_word> host_view() {
    constexpr auto first = static_cast<std::ptrdiff_t>(guard_bytes);
    auto const last = first + static_cast<std::ptrdiff_t>(properties_.bytes);
    return roc::device_view_of(host_buffer_.host_allocation())
        .region(roc::slice(first, last))
        .as<vector_word>();
  }
  vector_word* host_pointer() {
    void* allocation = host_buffer_.allocation();
    // Managed memory has the same address on the host and the device.
    if (!is_managed(access_))
      ROCARRAY_HIP(hipHostGetDevicePointer, &allocation, host_buffer_.allocation(), 0);
    return as_units(static_cast<std::byte*>(allocation) + guard_bytes);
  }

  void prefetch() {
    if (is_raw_) {
      ROCARRAY_HIP(hipMemPrefetchAsync, host_buffer_.payload(), properties_.bytes, device_,
                   hip_stream());
    } else {
      roc::host_view<std::byte> const payload(host_buffer_.payload(),
                                              roc::shape<1>{properties_.bytes});
      roc::prefetch(payload, roc::device(device_), stream());
    }
  }

  void copy() {
    check_kernel_launch(launch_copy(source_units_, destination_units_, is_raw_, hip_stream()));
  }

  kernel_access access_;
  bool is_raw_;
  guarded_buffer& host_buffer_;
  int device_ = 0;
  roc::device_view<vector_word> source_units_;
  roc::device_view<vector_word> destination_units_;
};

constexpr struct {
  char const* name;
  char const* description;
  char const* raw_description;
  kernel_access access;
} access_cases[] = {
    {"mapped/read", "kernel reads mapped host memory, by views",
     "kernel reads mapped host memory, by pointers", kernel_access::mapped_read},
    {"mapped/write", "kernel writes mapped host memory, by views",
     "kernel writes mapped host memory, by pointers", kernel_access::mapped_write},
    {"managed/fault", "kernel reads managed memory on the host, by views",
     "kernel reads managed memory on the host, pointers", kernel_access::managed_fault},
    {"managed/prefetch", "managed memory is prefetched to the device",
     "managed memory is prefetched to the device, by HIP", kernel_access::managed_prefetch},
};

// ---- BabelStream ----

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
    for (std::size_t i = 0; i < times; ++i)
      check_kernel_launch(launch_stream(kernel_, arrays, by_pointer_, roc::native(stream_)));
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

constexpr struct {
  char const* name;
  char const* description;
  stream_kernel kernel;
} stream_kernel_cases[] = {
    {"copy", "c = a", stream_kernel::copy},    {"mul", "b = s c", stream_kernel::mul},
    {"add", "c = a + b", stream_kernel::add},  {"triad", "a = b + s c", stream_kernel::triad},
    {"dot", "sum of a b", stream_kernel::dot},
};

}  // namespace

void add_kernel_access_cases(case_vector& cases) {
  for (auto const& definition : access_cases) {
    add_with_raw(cases,
                 {definition.name, definition.description, accounting::payload,
                  limiting_resource::link, false},
                 definition.raw_description,
                 [access = definition.access](api_kind api, case_parameters const& parameters) {
                   // Kernels copy whole units.
                   std::size_t const bytes =
                       parameters.bytes / sizeof(vector_word) * sizeof(vector_word);
                   std::size_t const copied = std::max(bytes, sizeof(vector_word));
                   check_device(access, copied);
                   return std::make_unique<kernel_access_experiment>(access, api, copied);
                 });
  }
}

void add_stream_cases(case_vector& cases) {
  for (auto const& definition : stream_kernel_cases) {
    std::string const description = std::string(definition.description) + ", by a kernel with ";
    bool const is_dot = definition.kernel == stream_kernel::dot;
    add_with_raw(
        cases,
        {std::string("stream/") + definition.name, description + "the library's views",
         accounting::traffic,
         is_dot ? limiting_resource::device_memory_reads : limiting_resource::device_memory, false},
        description + "plain pointers",
        [kernel = definition.kernel](api_kind api, case_parameters const& parameters) {
          return std::make_unique<stream_experiment>(
              kernel, api, std::max(parameters.bytes / sizeof(double), std::size_t{1}));
        });
  }
}

}  // namespace rocbench
