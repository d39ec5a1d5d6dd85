// SPDX-License-Identifier: MIT
// Cases of copies: contiguous, strided, permuted, reversed, both ways at once, synchronized each,
// and batches. Cases of fills.
#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "platform/call.hpp"
#include "transfer.hpp"

namespace rocbench {
namespace {

// --- Fills

// Fills device memory with elements of 1 or 4 bytes. Each sample has another value, none of whose
// bytes is the sample's poison.
std::unique_ptr<experiment> make_fill(std::size_t element, api_kind api, std::size_t bytes) {
  bool const is_raw = api == api_kind::raw;
  auto result = std::make_unique<buffer_experiment>(
      experiment_properties{timing_method::device_events, bytes, bytes,
                            is_raw         ? "hipMemsetAsync"
                            : element == 1 ? "memset"
                                           : "kernel"},
      buffer_layout{memory_kind::pageable, 0, {{}, 1}},
      buffer_layout{memory_kind::device, bytes, {{}, bytes}});
  auto const value_of = [](std::uint64_t sample) {
    return static_cast<std::uint32_t>(pattern_word(0, sample));
  };
  result->repeated_value = [=](std::uint64_t sample) {
    std::uint32_t const value = value_of(sample);
    return element == 1 ? (value & 0xFF) * 0x0101010101010101u : value * 0x0000000100000001u;
  };
  result->work = [=, &subject = *result](std::size_t times) {
    std::uint32_t const value = value_of(subject.sample());
    auto const byte_value = static_cast<unsigned char>(value);
    std::byte* const data = subject.destination.payload();
    roc::shape<1> const shape{bytes / element};
    for (std::size_t i = 0; i < times; ++i) {
      if (is_raw) {
        ROCARRAY_HIP(hipMemsetAsync, data, byte_value, bytes, subject.hip_stream());
      } else if (element == 1) {
        roc::device_view<unsigned char> const view(reinterpret_cast<unsigned char*>(data), shape);
        view.fill(byte_value, subject.stream());
      } else {
        roc::device_view<std::uint32_t> const view(reinterpret_cast<std::uint32_t*>(data), shape);
        view.fill(value, subject.stream());
      }
    }
  };
  return result;
}

// --- Batches of many small copies submitted together

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

constexpr char const* vendor_batch_function = "cudaMemcpyBatchAsync";

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

constexpr char const* vendor_batch_function = "";

void vendor_batch(batch_copies&, hipStream_t) {
  throw std::runtime_error("the platform has no batched copy function");
}

#endif

// The positions of the copies in both buffers, by index.
struct batch_positions {
  batch_positions(std::size_t bytes, std::size_t copy_size)
      : copy_bytes(std::max<std::size_t>(std::min(copy_size, bytes), 1)),
        count(std::max<std::size_t>(bytes / copy_bytes, 1)) {
    while (std::gcd(stride, count) != 1) ++stride;
  }

  std::size_t bytes() const { return copy_bytes * count; }
  std::size_t span_bytes() const { return count * (copy_bytes + batch_gap); }
  std::size_t source_offset(std::size_t i) const { return i * (copy_bytes + batch_gap); }
  // The stride has no common factor with the count, so that every position is used once.
  std::size_t destination_offset(std::size_t i) const {
    return i * stride % count * (copy_bytes + batch_gap);
  }

  // Returns the layout of copies whose positions are permuted by `permutation`. The payload has the
  // order of the destination, so the source's permutation is the stride.
  image_layout image(std::size_t permutation) const {
    image_layout result{{}, copy_bytes};
    result.axes[0] = {count, copy_bytes + batch_gap, copy_bytes, permutation};
    return result;
  }

  std::size_t copy_bytes;
  std::size_t count;
  std::size_t stride = 7919;
};

struct submission_kind {
  char const* prefix;
  char const* description;
  batch_api api;
  char const* path;
};

constexpr submission_kind submission_kinds[] = {
    {"batch/", "", batch_api::library, "batched"},
    {"raw/batch/", ", a HIP call each", batch_api::loop, "hipMemcpyAsync"},
    {"raw/batch_call/", ", by a batch call", batch_api::vendor_call, vendor_batch_function},
};

// Adds all copies to a new batch and submits it.
void submit_batch(batch_copies const& copies, buffer_experiment const& subject) {
  with_view_makers(subject, [&](auto const& source_view, auto const& destination_view) {
    roc::copy_batch batch;
    for (std::size_t i = 0; i != copies.bytes.size(); ++i) {
      roc::shape<1> const shape{copies.bytes[i]};
      batch.add(
          source_view(static_cast<std::byte const*>(copies.sources[i]), shape, roc::order::c),
          destination_view(static_cast<std::byte*>(copies.destinations[i]), shape, roc::order::c));
    }
    batch.submit();
  });
}

// Copies with gaps between them on both sides; the destination holds them in a different order.
std::unique_ptr<experiment> make_batch(operand_pair const& operands, submission_kind submission,
                                       batch_positions const& positions) {
  auto result = std::make_unique<buffer_experiment>(
      experiment_properties{timing_method::wall_clock, positions.bytes(),
                            positions.bytes() * (operands.within_device() ? 2 : 1),
                            submission.path},
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
      switch (submission.api) {
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

// --- The cases

using enum memory_kind;
constexpr operand_pair contiguous_operands[] = {
    {"h2d/pinned", pinned, device},
    {"h2d/pageable", pageable, device},
    {"h2d/registered", registered, device, false},
    {"h2d/wc", write_combined, device, false},
    {"d2h/pinned", device, pinned},
    {"d2h/pageable", device, pageable},
    {"d2h/registered", device, registered, false},
    {"d2h/wc", device, write_combined, false},
    {"d2d/copy", device, device},
};
constexpr operand_pair strided_operands[] = {
    {"h2d", pinned, device},
    {"d2h", device, pinned},
    {"d2d", device, device, false},
    {"h2d/pageable", pageable, device},
    {"d2h/pageable", device, pageable},
};
constexpr operand_pair device_operands[] = {{"d2d", device, device}};
constexpr operand_pair latency_operands[] = {
    {"h2d/pinned", pinned, device},        {"h2d/pageable", pageable, device, false},
    {"d2h/pinned", device, pinned, false}, {"d2h/pageable", device, pageable},
    {"d2d/copy", device, device, false},
};
constexpr operand_pair batch_operands[] = {
    {"h2d", pageable, device}, {"d2h", device, pageable, false}, {"d2d", device, device, false}};
constexpr std::size_t usual_batch_bytes = std::size_t{16} << 20;  // 4096 copies of 4 KiB
// The host should not read write-combined memory.
constexpr operand_pair bidirectional_operands[] = {
    {"bidir/pinned", pinned, device},
    {"bidir/pageable", pageable, device},
    {"bidir/registered", registered, device},
};

// Half of the bytes in each direction: on two streams if the copies are enqueued, else in two
// threads.
std::unique_ptr<experiment> make_bidirectional(memory_kind host_memory, api_kind api,
                                               std::size_t bytes) {
  operand_pair const to_device{"", host_memory, device};
  call_kind const call = usual_call(to_device);
  copy_layout const half = contiguous_layout(std::max<std::size_t>(bytes / 2, 1));
  std::vector<std::unique_ptr<buffer_experiment>> transfers;
  transfers.push_back(make_transfer(to_device, api, call, half));
  transfers.push_back(make_transfer({"", device, host_memory}, api, call, half));
  return make_concurrent(std::move(transfers), call == call_kind::enqueued
                                                   ? concurrency::ordered_streams
                                                   : concurrency::threads);
}

copy_layout contiguous(case_parameters const& sizes) { return contiguous_layout(sizes.bytes); }

// The box of box/compact. Its rows do not begin at multiples of 16 bytes, unlike those of a matrix
// of the default size.
copy_layout reversed_interior(case_parameters const& sizes) {
  roc::shape<3> const extents = fitting_box(sizes.bytes / sizes.element, 510, 254);
  roc::shape<3> const array{extents[0] + 2, extents[1] + 2, extents[2] + 2};
  return reversed_box_layout(sizes.element, extents, {array, {1, 1, 1}}, 2);
}

// Cases with the same layout.
struct copy_family {
  char const* prefix;       // of the names
  char const* description;  // before that of the operands
  std::span<operand_pair const> operands;
  copy_layout (*make_layout)(case_parameters const&);
  bool by_default = false;
  bool has_raw_call = true;  // HIP has no function that permutes or reverses axes
  bool is_latency = false;   // times each copy
};

constexpr copy_family contiguous_family = {"", "", contiguous_operands, contiguous, true};
constexpr copy_family latency_family = {.prefix = "latency/",
                                        .description = "",
                                        .operands = latency_operands,
                                        .make_layout = contiguous,
                                        .by_default = true,
                                        .is_latency = true};
constexpr copy_family strided_families[] = {
    {"strided/2d/", "pitched rows, ", strided_operands,
     [](case_parameters const& sizes) { return rows_layout(sizes.bytes, sizes.row, sizes.pitch); },
     true},
    {"strided/3d/", "planes of rows, ", strided_operands,
     [](case_parameters const& sizes) {
       return planes_layout(sizes.bytes, sizes.row, sizes.pitch);
     }},
    {"permute/2d/", "matrix from C to F order, ", strided_operands,
     [](case_parameters const& sizes) { return transposed_layout(sizes.bytes, sizes.element); },
     false, false},
    {"permute/3d/", "cube from C to F order, ", strided_operands,
     [](case_parameters const& sizes) { return reversed_axes_layout(sizes.bytes, sizes.element); },
     false, false},
    {"permute/021/", "matrices from C to F order, ", device_operands,
     [](case_parameters const& sizes) { return swapped_axes_layout(sizes.bytes, sizes.element); },
     true, false},
    {"reverse/last_axis/", "matrix, last axis reversed, ", device_operands,
     [](case_parameters const& sizes) {
       return reversed_matrix_layout(sizes.bytes, sizes.element, 1);
     },
     false, false},
    {"reverse/first_axis/", "matrix, first axis reversed, ", device_operands,
     [](case_parameters const& sizes) {
       return reversed_matrix_layout(sizes.bytes, sizes.element, 0);
     },
     false, false},
    {"reverse/interior/", "interior, last axis reversed, ", device_operands, reversed_interior,
     false, false},
};

void add_family(case_vector& cases, copy_family const& family) {
  for (operand_pair const& operands : family.operands) {
    std::string const description =
        std::string(family.description) + description_of(operands.source) + " to " +
        description_of(operands.destination) + (family.is_latency ? ", each synchronized" : "");
    benchmark_case library{std::string(family.prefix) + operands.name, description,
                           accounting::payload, limiting_resource::link,
                           family.by_default && operands.by_default};
    if (operands.within_device()) {
      library.counted = accounting::traffic;
      library.limited_by = limiting_resource::device_memory;
    }
    if (family.is_latency) {
      library.counted = accounting::time;
      library.limited_by = limiting_resource::none;
      library.usual_bytes = 4;
    }
    add_with_raw(cases, library, description + ", by HIP",
                 [operands, family](api_kind api, case_parameters const& parameters) {
                   return make_transfer(
                       operands, api,
                       family.is_latency ? call_kind::blocking : usual_call(operands),
                       family.make_layout(parameters));
                 });
    if (!family.has_raw_call) cases.pop_back();
  }
}

}  // namespace

void add_copy_cases(case_vector& cases) {
  add_family(cases, contiguous_family);
  for (operand_pair const& operands : bidirectional_operands) {
    std::string const description =
        std::string(description_of(operands.source)) + ", both directions at once";
    add_with_raw(cases,
                 {operands.name, description, accounting::payload,
                  limiting_resource::link_bidirectional, false},
                 description + ", by HIP", [=](api_kind api, case_parameters const& parameters) {
                   return make_bidirectional(operands.source, api, parameters.bytes);
                 });
  }
  for (copy_family const& family : strided_families) add_family(cases, family);
}

void add_batch_cases(case_vector& cases) {
  auto const side_of = [](memory_kind kind) { return kind == device ? "device" : "host"; };
  for (operand_pair const& operands : batch_operands) {
    for (submission_kind const& submission : submission_kinds) {
      auto const make = [&operands, &submission](case_parameters const& parameters) {
        if (*submission.path == '\0')
          throw case_not_supported("the platform has no batched copy function");
        return make_batch(operands, submission, batch_positions(parameters.bytes, parameters.row));
      };
      cases.push_back(
          {std::string(submission.prefix) + operands.name,
           fmt::format("scattered rows, {} to {}{}", side_of(operands.source),
                       side_of(operands.destination), submission.description),
           operands.within_device() ? accounting::traffic : accounting::payload,
           operands.within_device() ? limiting_resource::device_memory : limiting_resource::link,
           operands.by_default && submission.api != batch_api::vendor_call, make,
           usual_batch_bytes});
    }
  }
}

void add_latency_cases(case_vector& cases) { add_family(cases, latency_family); }

void add_fill_cases(case_vector& cases) {
  for (std::size_t const element : {1u, 4u}) {
    std::string const description =
        fmt::format("device memory filled with {} byte{}", element, element == 1 ? "" : "s");
    add_with_raw(cases,
                 {element == 1 ? "fill/byte" : "fill/float", description, accounting::payload,
                  limiting_resource::device_memory, element == 1},
                 description + ", by HIP", [=](api_kind api, case_parameters const& parameters) {
                   std::size_t const count = std::max(parameters.bytes / element, std::size_t{1});
                   return make_fill(element, api, count * element);
                 });
  }
  cases.pop_back();  // HIP's own call sets bytes
}

}  // namespace rocbench
