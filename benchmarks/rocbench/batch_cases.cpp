// SPDX-License-Identifier: MIT
// Cases of many small copies submitted together.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <roc/copy_batch.hpp>
#include <roc/native.hpp>

#include "platform/call.hpp"
#include "verification.hpp"

namespace rocbench {
namespace {

// How a batch of copies is submitted. Each execution is synchronized.
enum class batch_api : unsigned char {
  library,      // a new roc::copy_batch for each execution
  loop,         // one hipMemcpyAsync per copy
  vendor_call,  // the vendor's batched copy function
};

// Destinations, sources and sizes of the copies, by index.
struct batch_copies {
  std::vector<void*> destinations;
  std::vector<void const*> sources;
  std::vector<std::size_t> bytes;
};

// CUDA 12.8 introduced cudaMemcpyBatchAsync; CUDA 13 changed its signature. HIP's counterpart (7.1)
// rejects attributes in 7.2 and fails above 8192 copies, so it is not measured.
#if ROCARRAY_PLATFORM_NVIDIA && CUDART_VERSION >= 12080

constexpr char const* vendor_batch_function() noexcept { return "cudaMemcpyBatchAsync"; }

void vendor_batch(batch_copies& copies, hipStream_t stream) {
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first = 0;
#if CUDART_VERSION >= 13000
  cudaError_t const result =
      cudaMemcpyBatchAsync(copies.destinations.data(), copies.sources.data(), copies.bytes.data(),
                           copies.destinations.size(), &attributes, &first, 1, stream);
#else
  std::size_t failed = 0;
  cudaError_t const result = cudaMemcpyBatchAsync(
      copies.destinations.data(), const_cast<void**>(copies.sources.data()), copies.bytes.data(),
      copies.destinations.size(), &attributes, &first, 1, &failed, stream);
#endif
  if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

#else

constexpr char const* vendor_batch_function() noexcept { return nullptr; }

void vendor_batch(batch_copies&, hipStream_t) {
  throw std::runtime_error("the platform has no batched copy function");
}

#endif

// Bytes between two copies; verification detects writes to them.
constexpr std::size_t gap = 256;

// The positions of the copies in both buffers, by index.
struct batch_positions {
  batch_positions(std::size_t bytes, std::size_t copy_size)
      : copy_bytes(std::max<std::size_t>(std::min(copy_size, bytes), 1)),
        count(std::max<std::size_t>(bytes / copy_bytes, 1)) {
    while (std::gcd(stride, count) != 1) ++stride;
  }

  std::size_t bytes() const { return copy_bytes * count; }
  std::size_t span_bytes() const { return count * (copy_bytes + gap); }
  std::size_t source_offset(std::size_t i) const { return i * (copy_bytes + gap); }
  // The stride has no common factor with the count, so that every position is used once.
  std::size_t destination_offset(std::size_t i) const {
    return i * stride % count * (copy_bytes + gap);
  }

  // Returns the layout of copies whose positions are permuted by `permutation`; 1 is the source's
  // order.
  image_layout image(std::size_t permutation) const {
    image_layout result{{}, copy_bytes};
    result.axes[0] = {count, copy_bytes + gap, copy_bytes, permutation};
    return result;
  }

  std::size_t copy_bytes;
  std::size_t count;
  std::size_t stride = 7919;
};

// Returns the inverse of `value` modulo `modulus`. Precondition: they have no common factor.
std::size_t inverse(std::size_t value, std::size_t modulus) {
  auto left = static_cast<std::int64_t>(modulus);
  std::int64_t right = static_cast<std::int64_t>(value) % left;
  std::int64_t previous = 0;
  std::int64_t current = 1;
  while (right != 0) {  // Euclid's algorithm; invariant: current * value is right, modulo modulus
    std::int64_t const quotient = left / right;
    left = std::exchange(right, left - quotient * right);
    previous = std::exchange(current, previous - quotient * current);
  }
  auto const modulus_value = static_cast<std::int64_t>(modulus);
  return static_cast<std::size_t>((previous % modulus_value + modulus_value) % modulus_value);
}

struct operand_pair {
  char const* name;
  char const* description;
  memory_kind source;
  memory_kind destination;
  bool within_device() const { return source == destination; }
};

char const* path_of(batch_api api) {
  switch (api) {
    case batch_api::library: return "batched";
    case batch_api::loop: return "hipMemcpyAsync";
    case batch_api::vendor_call: break;
  }
  return vendor_batch_function();
}

// Copies with gaps between them on both sides; the destination holds them in a different order.
class batch_experiment final : public buffer_experiment {
 public:
  batch_experiment(operand_pair const& operands, batch_api api, batch_positions const& positions)
      : buffer_experiment({timing_method::wall_clock, positions.bytes(),
                           positions.bytes() * (operands.within_device() ? 2 : 1), path_of(api)},
                          {operands.source, positions.span_bytes(), positions.image(1)},
                          {operands.destination, positions.span_bytes(),
                           positions.image(inverse(positions.stride, positions.count))},
                          api_kind::library),
        api_(api),
        positions_(positions) {
    for (std::size_t i = 0; i != positions_.count; ++i) {
      copies_.sources.push_back(source_.payload() + positions_.source_offset(i));
      copies_.destinations.push_back(destination_.payload() + positions_.destination_offset(i));
      copies_.bytes.push_back(positions_.copy_bytes);
    }
  }

  void run(std::size_t times) override {
    for (std::size_t i = 0; i != times; ++i) {
      switch (api_) {
        case batch_api::library: run_library(); break;
        case batch_api::loop: run_loop(); break;
        case batch_api::vendor_call: vendor_batch(copies_, roc::native(stream_)); break;
      }
      stream_.synchronize();
    }
  }

 private:
  void run_library() {
    roc::copy_batch batch;
    for (std::size_t i = 0; i != positions_.count; ++i) {
      auto const* const source = static_cast<std::byte const*>(copies_.sources[i]);
      auto* const destination = static_cast<std::byte*>(copies_.destinations[i]);
      if (!source_.is_device_memory()) {
        batch.add(host(source), device(destination, destination_));
      } else if (destination_.is_device_memory()) {
        batch.add(device(source, source_), device(destination, destination_));
      } else {
        batch.add(device(source, source_), host(destination));
      }
    }
    batch.submit();
  }

  template <class T>
  roc::host_view<T, 1> host(T* data) const {
    return {data, roc::shape<1>{positions_.copy_bytes}};
  }
  template <class T>
  roc::device_view<T, 1> device(T* data, guarded_buffer const& buffer) const {
    return {data, roc::shape<1>{positions_.copy_bytes}, roc::order::c, buffer.device_ordinal()};
  }

  void run_loop() {
    hipStream_t const hip_stream = roc::native(stream_);
    hipMemcpyKind const kind = hip_copy_kind();
    for (std::size_t i = 0; i != positions_.count; ++i) {
      ROCARRAY_HIP(hipMemcpyAsync, copies_.destinations[i], copies_.sources[i],
                   positions_.copy_bytes, kind, hip_stream);
    }
  }

  batch_api api_;
  batch_positions positions_;
  batch_copies copies_;
};

constexpr operand_pair operand_pairs[] = {
    {"h2d", "host to device", memory_kind::pageable, memory_kind::device},
    {"d2h", "device to host", memory_kind::device, memory_kind::pageable},
    {"d2d", "device to device", memory_kind::device, memory_kind::device},
};

struct submission_kind {
  char const* prefix;
  char const* description;
  batch_api api;
};

constexpr submission_kind submission_kinds[] = {
    {"batch/", "", batch_api::library},
    {"raw/batch/", ", a HIP call each", batch_api::loop},
    {"raw/batch_call/", ", by a batch call", batch_api::vendor_call},
};

}  // namespace

void add_batch_cases(case_vector& cases) {
  for (operand_pair const& operands : operand_pairs) {
    for (submission_kind const& submission : submission_kinds) {
      auto const make = [&operands, api = submission.api](case_parameters const& parameters) {
        if (api == batch_api::vendor_call && vendor_batch_function() == nullptr)
          throw case_not_supported("the platform has no batched copy function");
        return std::make_unique<batch_experiment>(
            operands, api, batch_positions(parameters.bytes, parameters.row));
      };
      cases.push_back(
          {std::string(submission.prefix) + operands.name,
           std::string("scattered rows, ") + operands.description + submission.description,
           operands.within_device() ? accounting::traffic : accounting::payload,
           operands.within_device() ? limiting_resource::device_memory : limiting_resource::link,
           false, make});
    }
  }
}

}  // namespace rocbench
