// SPDX-License-Identifier: MIT
// Cases of many small copies submitted together.
#include <algorithm>
#include <cstdint>
#include <memory>
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

  // Returns the layout of copies whose positions are permuted by `permutation`. The payload has the
  // order of the destination, so the source's permutation is the stride.
  image_layout image(std::size_t permutation) const {
    image_layout result{{}, copy_bytes};
    result.axes[0] = {count, copy_bytes + gap, copy_bytes, permutation};
    return result;
  }

  std::size_t copy_bytes;
  std::size_t count;
  std::size_t stride = 7919;
};

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

// Adds all copies to a new batch and submits it.
void submit_batch(batch_copies const& copies, buffer_experiment& subject) {
  auto const on_host = [&]<class T>(T* data, std::size_t i) {
    return roc::host_view<T, 1>(data, roc::shape<1>{copies.bytes[i]});
  };
  auto const on_device = [&]<class T>(T* data, std::size_t i, guarded_buffer const& buffer) {
    return roc::device_view<T, 1>(data, roc::shape<1>{copies.bytes[i]}, roc::order::c,
                                  buffer.device_ordinal());
  };
  roc::copy_batch batch;
  for (std::size_t i = 0; i != copies.bytes.size(); ++i) {
    auto const* const source = static_cast<std::byte const*>(copies.sources[i]);
    auto* const destination = static_cast<std::byte*>(copies.destinations[i]);
    if (!subject.source.is_device_memory()) {
      batch.add(on_host(source, i), on_device(destination, i, subject.destination));
    } else if (subject.destination.is_device_memory()) {
      batch.add(on_device(source, i, subject.source),
                on_device(destination, i, subject.destination));
    } else {
      batch.add(on_device(source, i, subject.source), on_host(destination, i));
    }
  }
  batch.submit();
}

// Copies with gaps between them on both sides; the destination holds them in a different order.
std::unique_ptr<experiment> make_batch(operand_pair const& operands, batch_api api,
                                       batch_positions const& positions) {
  auto result = std::make_unique<buffer_experiment>(
      experiment_properties{timing_method::wall_clock, positions.bytes(),
                            positions.bytes() * (operands.within_device() ? 2 : 1), path_of(api)},
      buffer_layout{operands.source, positions.span_bytes(), positions.image(positions.stride)},
      buffer_layout{operands.destination, positions.span_bytes(), positions.image(1)});
  buffer_experiment& subject = *result;
  batch_copies copies;
  for (std::size_t i = 0; i != positions.count; ++i) {
    copies.sources.push_back(subject.source.payload() + positions.source_offset(i));
    copies.destinations.push_back(subject.destination.payload() + positions.destination_offset(i));
    copies.bytes.push_back(positions.copy_bytes);
  }
  subject.work = [=, &subject, copies = std::move(copies)](std::size_t times) mutable {
    hipStream_t const hip_stream = subject.hip_stream();
    hipMemcpyKind const kind = subject.hip_copy_kind();
    for (std::size_t execution = 0; execution != times; ++execution) {
      switch (api) {
        case batch_api::library: submit_batch(copies, subject); break;
        case batch_api::vendor_call: vendor_batch(copies, hip_stream); break;
        case batch_api::loop:
          for (std::size_t i = 0; i != copies.bytes.size(); ++i) {
            ROCARRAY_HIP(hipMemcpyAsync, copies.destinations[i], copies.sources[i], copies.bytes[i],
                         kind, hip_stream);
          }
          break;
      }
      subject.stream().synchronize();
    }
  };
  return result;
}

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
        return make_batch(operands, api, batch_positions(parameters.bytes, parameters.row));
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
