// SPDX-License-Identifier: MIT
// Cases of one copy: contiguous, strided, permuted, both ways at once, and synchronized each.
#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <span>
#include <thread>
#include <utility>

#include <roc/copy.hpp>
#include <roc/device.hpp>
#include <roc/event.hpp>
#include <roc/native.hpp>

#include "copy_layout.hpp"
#include "platform/call.hpp"
#include "verification.hpp"

namespace rocbench {
namespace {

// The operands of a case, and the part of its name that says so.
struct operand_pair {
  char const* name;
  memory_kind source;
  memory_kind destination;
  bool by_default = true;

  bool within_device() const {
    return source == memory_kind::device && destination == memory_kind::device;
  }
  bool has(memory_kind kind) const { return source == kind || destination == kind; }
};

// --- HIP's own calls

std::size_t row_pitch(operand_layout const& operand) {
  return static_cast<std::size_t>(operand.strides[1]) * operand.element;
}

hipPitchedPtr pitched(void* data, operand_layout const& operand) {
  return make_hipPitchedPtr(data, row_pitch(operand), operand.extents[2] * operand.element,
                            static_cast<std::size_t>(operand.strides[0] / operand.strides[1]));
}

// Returns the name of the HIP function that copies this layout in one call. Precondition: the
// elements of a row are contiguous on both sides.
char const* raw_copy_function(copy_layout const& layout) {
  if (layout.source.is_contiguous() && layout.destination.is_contiguous()) return "hipMemcpyAsync";
  return layout.source.extents[0] == 1 ? "hipMemcpy2DAsync" : "hipMemcpy3DAsync";
}

// Enqueues a copy by the function that raw_copy_function() names.
void raw_copy(copy_layout const& layout, void* destination, void const* source, hipMemcpyKind kind,
              hipStream_t stream) {
  roc::shape<3> const& extents = layout.source.extents;
  std::size_t const width = extents[2] * layout.source.element;
  if (layout.source.is_contiguous() && layout.destination.is_contiguous()) {
    ROCARRAY_HIP(hipMemcpyAsync, destination, source, layout.source.payload_bytes(), kind, stream);
  } else if (extents[0] == 1) {
    ROCARRAY_HIP(hipMemcpy2DAsync, destination, row_pitch(layout.destination), source,
                 row_pitch(layout.source), width, extents[1], kind, stream);
  } else {
    hipMemcpy3DParms parameters{};
    parameters.srcPtr = pitched(const_cast<void*>(source), layout.source);
    parameters.dstPtr = pitched(destination, layout.destination);
    parameters.extent = make_hipExtent(width, extents[1], extents[0]);
    parameters.kind = kind;
    ROCARRAY_HIP(hipMemcpy3DAsync, &parameters, stream);
  }
}

// --- One copy

template <class T>
roc::host_view<T, 3> host_view_of(guarded_buffer& buffer, operand_layout const& operand) {
  return {reinterpret_cast<T*>(buffer.payload()), operand.extents, operand.strides};
}
template <class T>
roc::device_view<T, 3> device_view_of(guarded_buffer& buffer, operand_layout const& operand) {
  return {reinterpret_cast<T*>(buffer.payload()), operand.extents, operand.strides,
          buffer.device_ordinal()};
}

buffer_layout buffer_of(memory_kind kind, operand_layout const& operand) {
  return {kind, operand.span_bytes(), image_layout_of(operand)};
}

// Copies from one kind of memory to another; at least one is device memory. If a side is pageable
// memory, or if `synchronize_each` is set, the stream is synchronized after each copy and the wall
// clock is used: such copies occupy the CPU, which device events do not see. Otherwise copies are
// enqueued one after another.
class transfer_experiment final : public buffer_experiment {
 public:
  transfer_experiment(operand_pair const& operands, api_kind api, bool synchronize_each,
                      copy_layout const& layout)
      : buffer_experiment({timing_method::device_events, layout.source.payload_bytes(),
                           layout.source.payload_bytes() * (operands.within_device() ? 2 : 1), ""},
                          buffer_of(operands.source, layout.source),
                          buffer_of(operands.destination, layout.destination), api),
        api_(api),
        synchronizes_(synchronize_each || operands.has(memory_kind::pageable)),
        layout_(layout) {
    if (synchronizes_) properties_.timing = timing_method::wall_clock;
    if (api_ == api_kind::raw) {
      properties_.path = raw_copy_function(layout_);
    } else {
      with_operands([&](auto const& source, auto const& destination) {
        properties_.path = roc::to_string(roc::planned_path(source, destination));
      });
    }
  }

  void run(std::size_t times) override {
    api_ == api_kind::raw ? run_raw(times) : run_library(times);
  }

 private:
  // Calls f(source, destination) with views of the element type.
  template <class F>
  void with_operands(F const& f) {
    switch (layout_.source.element) {
      case 1: return with_operands_of<std::byte>(f);
      case 2: return with_operands_of<std::uint16_t>(f);
      case 4: return with_operands_of<std::uint32_t>(f);
      case 8: return with_operands_of<std::uint64_t>(f);
      default: return with_operands_of<std::array<std::uint64_t, 2>>(f);
    }
  }
  template <class T, class F>
  void with_operands_of(F const& f) {
    if (!source_.is_device_memory()) {
      f(host_view_of<T>(source_, layout_.source),
        device_view_of<T>(destination_, layout_.destination));
    } else if (destination_.is_device_memory()) {
      f(device_view_of<T>(source_, layout_.source),
        device_view_of<T>(destination_, layout_.destination));
    } else {
      f(device_view_of<T>(source_, layout_.source),
        host_view_of<T>(destination_, layout_.destination));
    }
  }

  void run_library(std::size_t times) {
    bool const synchronize = synchronizes_;
    with_operands([&](auto const& source, auto const& destination) {
      for (std::size_t i = 0; i < times; ++i) {
        synchronize ? roc::copy(source, destination) : roc::copy(source, destination, stream_);
      }
    });
  }

  void run_raw(std::size_t times) {
    bool const synchronize = synchronizes_;
    hipMemcpyKind const kind = hip_copy_kind();
    hipStream_t const hip_stream = roc::native(stream_);
    for (std::size_t i = 0; i < times; ++i) {
      raw_copy(layout_, destination_.payload(), source_.payload(), kind, hip_stream);
      if (synchronize) ROCARRAY_HIP(hipStreamSynchronize, hip_stream);
    }
  }

  api_kind api_;
  bool synchronizes_;
  copy_layout layout_;
};

// --- Two copies at once

// Runs two transfers concurrently: on their own streams if they are timed by device events, else
// in two threads.
class bidirectional_experiment final : public experiment {
 public:
  bidirectional_experiment(memory_kind host_memory, api_kind api, copy_layout const& half)
      : experiment(experiment_properties{}),
        to_device_({"", host_memory, memory_kind::device}, api, false, half),
        to_host_({"", memory_kind::device, host_memory}, api, false, half) {
    properties_ = to_device_.properties();
    properties_.bytes *= 2;
    properties_.counted_bytes *= 2;
  }

  roc::stream_ref stream() const override { return to_device_.stream(); }

  void prepare(std::uint64_t sample) override {
    to_device_.prepare(sample);
    to_host_.prepare(sample);
  }

  void run(std::size_t times) override {
    properties_.timing == timing_method::wall_clock ? run_in_threads(times) : run_on_streams(times);
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    if (auto difference = to_device_.check(sample, inject)) return "to the device, " + *difference;
    if (auto difference = to_host_.check(sample, inject)) return "to the host, " + *difference;
    return std::nullopt;
  }

 private:
  // The copies to the host start and end with the copies to the device, whose stream is timed. The
  // loop alternates: enqueuing blocks while a stream's queue is full, and the other stream would
  // run dry.
  void run_on_streams(std::size_t times) {
    begin_.record(to_device_.stream());
    to_host_.stream().wait(begin_);
    for (std::size_t i = 0; i < times; ++i) {
      to_device_.run(1);
      to_host_.run(1);
    }
    end_.record(to_host_.stream());
    to_device_.stream().wait(end_);
  }

  void run_in_threads(std::size_t times) {
    std::exception_ptr error;
    {
      roc::device const device;
      std::jthread const thread([&] {
        try {
          device.make_current();
          to_host_.run(times);
        } catch (...) {
          error = std::current_exception();
        }
      });
      to_device_.run(times);
    }
    if (error) std::rethrow_exception(error);
  }

  transfer_experiment to_device_;
  transfer_experiment to_host_;
  roc::event begin_;
  roc::event end_;
};

// --- The cases

char const* description_of(memory_kind kind) {
  switch (kind) {
    case memory_kind::device: return "device";
    case memory_kind::pinned: return "pinned host";
    case memory_kind::pageable: return "pageable host";
    case memory_kind::registered: return "registered host";
    default: return "write-combined host";
  }
}

using enum memory_kind;
constexpr operand_pair contiguous_operands[] = {
    {"h2d/pinned", pinned, device},         {"h2d/pageable", pageable, device},
    {"h2d/registered", registered, device}, {"h2d/wc", write_combined, device, false},
    {"d2h/pinned", device, pinned},         {"d2h/pageable", device, pageable},
    {"d2h/registered", device, registered}, {"d2h/wc", device, write_combined, false},
    {"d2d/copy", device, device},
};
constexpr operand_pair strided_operands[] = {
    {"h2d", pinned, device},
    {"d2h", device, pinned},
    {"d2d", device, device},
    {"h2d/pageable", pageable, device, false},
    {"d2h/pageable", device, pageable, false},
};
constexpr operand_pair latency_operands[] = {
    {"h2d/pinned", pinned, device}, {"h2d/pageable", pageable, device},
    {"d2h/pinned", device, pinned}, {"d2h/pageable", device, pageable},
    {"d2d/copy", device, device},
};
// The host should not read write-combined memory.
constexpr operand_pair bidirectional_operands[] = {
    {"bidir/pinned", pinned, device},
    {"bidir/pageable", pageable, device, false},
    {"bidir/registered", registered, device, false},
};

copy_layout contiguous(case_parameters const& sizes) { return contiguous_layout(sizes.bytes); }

// Cases with the same layout.
struct copy_family {
  char const* prefix;       // of the names
  char const* description;  // before that of the operands
  std::span<operand_pair const> operands;
  copy_layout (*make_layout)(case_parameters const&);
  bool by_default = false;
  bool has_raw_call = true;  // HIP has no function that permutes axes
  bool is_latency = false;   // times each copy
};

constexpr copy_family contiguous_family = {"", "", contiguous_operands, contiguous, true};
constexpr copy_family latency_family = {.prefix = "latency/",
                                        .description = "",
                                        .operands = latency_operands,
                                        .make_layout = contiguous,
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
};

void add_family(case_vector& cases, copy_family const& family) {
  for (operand_pair const& operands : family.operands) {
    bool const within_device = operands.within_device();
    std::string const description =
        std::string(family.description) + description_of(operands.source) + " to " +
        description_of(operands.destination) + (family.is_latency ? ", each synchronized" : "");
    benchmark_case const library{std::string(family.prefix) + operands.name,
                                 description,
                                 family.is_latency ? accounting::time
                                 : within_device   ? accounting::traffic
                                                   : accounting::payload,
                                 family.is_latency ? limiting_resource::none
                                 : within_device   ? limiting_resource::device_memory
                                                   : limiting_resource::link,
                                 family.by_default && operands.by_default,
                                 {}};
    add_with_raw(cases, library, description + ", by HIP",
                 [operands, layout = family.make_layout, synchronize_each = family.is_latency](
                     api_kind api, case_parameters const& parameters) {
                   return std::make_unique<transfer_experiment>(operands, api, synchronize_each,
                                                                layout(parameters));
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
                 {operands.name,
                  description,
                  accounting::payload,
                  limiting_resource::link_bidirectional,
                  operands.by_default,
                  {}},
                 description + ", by HIP",
                 [kind = operands.source](api_kind api, case_parameters const& parameters) {
                   return std::make_unique<bidirectional_experiment>(
                       kind, api,
                       contiguous_layout(std::max<std::size_t>(parameters.bytes / 2, 1)));
                 });
  }
  for (copy_family const& family : strided_families) add_family(cases, family);
}

void add_latency_cases(case_vector& cases) { add_family(cases, latency_family); }

}  // namespace rocbench
