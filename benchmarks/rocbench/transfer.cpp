// SPDX-License-Identifier: MIT
#include "transfer.hpp"

#include <bit>
#include <future>
#include <optional>
#include <string>
#include <utility>

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "platform/call.hpp"

namespace rocbench {
namespace {

std::size_t row_pitch(operand_layout const& operand) {
  return static_cast<std::size_t>(operand.strides[1]) * operand.element;
}

hipPitchedPtr pitched(void* data, operand_layout const& operand) {
  return make_hipPitchedPtr(data, row_pitch(operand), operand.extents[2] * operand.element,
                            static_cast<std::size_t>(operand.strides[0] / operand.strides[1]));
}

bool is_contiguous(copy_layout const& layout) {
  return layout.source.is_contiguous() && layout.destination.is_contiguous();
}

// Returns the name of the HIP function that copies this layout in one call. Precondition: the
// elements of a row are contiguous on both sides.
char const* raw_copy_function(copy_layout const& layout) {
  if (is_contiguous(layout)) return "hipMemcpyAsync";
  return layout.source.extents[0] == 1 ? "hipMemcpy2DAsync" : "hipMemcpy3DAsync";
}

// Enqueues a copy by the function that raw_copy_function() names.
void raw_copy(copy_layout const& layout, void* destination, void const* source, hipMemcpyKind kind,
              hipStream_t stream) {
  roc::shape<3> const& extents = layout.source.extents;
  std::size_t const width = extents[2] * layout.source.element;
  if (is_contiguous(layout)) {
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

buffer_layout buffer_of(memory_kind kind, operand_layout const& operand, int device) {
  return {kind, operand.span_bytes(), operand.positions, device};
}

// Returns the first element of an operand.
std::byte* first_element(guarded_buffer& buffer, operand_layout const& operand) {
  return buffer.payload() + operand.first_element_offset();
}

// The largest power of two that divides the bytes of an element: the largest alignment that the
// elements of an array can have.
template <std::size_t Bytes>
constexpr std::size_t largest_alignment = std::size_t{1} << std::countr_zero(Bytes);

template <std::size_t Bytes>
struct alignas(largest_alignment<Bytes>) element_of {
  std::byte bytes[Bytes];
};

// Calls f(T{}) with an element type of so many bytes. Precondition: 1 <= bytes <=
// max_element_bytes.
template <class F>
void with_element_type(std::size_t bytes, F const& f) {
  auto const call = [&]<std::size_t... I>(std::index_sequence<I...>) {
    static_cast<void>(((bytes == I + 1 && (f(element_of<I + 1>{}), true)) || ...));
  };
  call(std::make_index_sequence<max_element_bytes>{});
}

// Calls f(source, destination) with views of the element type.
template <class F>
void with_operands(buffer_experiment& subject, copy_layout const& layout, F const& f) {
  with_element_type(layout.source.element, [&]<class T>(T) {
    with_view_makers(subject, [&](auto const& source_view, auto const& destination_view) {
      auto* const source = reinterpret_cast<T*>(first_element(subject.source, layout.source));
      auto* const destination =
          reinterpret_cast<T*>(first_element(subject.destination, layout.destination));
      f(source_view(source, layout.source.extents, layout.source.strides),
        destination_view(destination, layout.destination.extents, layout.destination.strides));
    });
  });
}

bool is_enqueued(call_kind call) {
  return call == call_kind::enqueued || call == call_kind::enqueued_borrowed;
}

// Copies once, without a synchronization after the call.
template <class Source, class Destination>
void copy_by_library(Source const& source, Destination const& destination, call_kind call,
                     roc::stream_ref stream) {
  switch (call) {
    case call_kind::blocking: return roc::copy(source, destination);
    case call_kind::on_stream:
    case call_kind::enqueued: return roc::copy(source, destination, stream);
    case call_kind::borrowed:
    case call_kind::enqueued_borrowed:
      return roc::copy(source, destination, stream, roc::borrow_source);
  }
}

class concurrent_experiment final : public experiment {
 public:
  concurrent_experiment(std::vector<std::unique_ptr<buffer_experiment>> transfers, concurrency how)
      : experiment(transfers.front()->properties()), transfers_(std::move(transfers)), how_(how) {
    properties_.timing = how == concurrency::ordered_streams ? timing_method::device_events
                                                             : timing_method::wall_clock;
    properties_.bytes = 0;
    properties_.counted_bytes = 0;
    for (auto const& transfer : transfers_) {
      properties_.bytes += transfer->properties().bytes;
      properties_.counted_bytes += transfer->properties().counted_bytes;
    }
  }

  roc::stream_ref stream() const override { return transfers_.front()->stream(); }

  void prepare(std::uint64_t sample) override {
    for (auto const& transfer : transfers_) transfer->prepare(sample);
  }

  void run(std::size_t times) override {
    switch (how_) {
      case concurrency::threads: return run_in_threads(times);
      case concurrency::streams: return run_on_streams(times);
      case concurrency::ordered_streams: return run_on_ordered_streams(times);
    }
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    for (auto const& transfer : transfers_) {
      if (auto difference = transfer->check(sample, inject)) {
        bool const to_host = transfer->hip_copy_kind() == hipMemcpyDeviceToHost;
        return (to_host ? "to the host, " : "to the device, ") + *difference;
      }
    }
    return std::nullopt;
  }

 private:
  // Enqueues one of each in turn: enqueuing blocks while a stream's queue is full, and the other
  // streams would run dry.
  void enqueue(std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      for (auto const& transfer : transfers_) transfer->run(1);
    }
  }

  // Each execution ends before the next one begins.
  void run_on_streams(std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      enqueue(1);
      for (auto const& transfer : transfers_) transfer->stream().synchronize();
    }
  }

  // The other streams start and end with the first, which is timed.
  void run_on_ordered_streams(std::size_t times) {
    begin_.record(stream());
    for (std::size_t i = 1; i < transfers_.size(); ++i) transfers_[i]->stream().wait(begin_);
    enqueue(times);
    for (std::size_t i = 1; i < transfers_.size(); ++i) {
      end_.record(transfers_[i]->stream());
      stream().wait(end_);
    }
  }

  void run_in_threads(std::size_t times) {
    std::vector<std::future<void>> others;
    for (std::size_t i = 1; i < transfers_.size(); ++i) {
      others.push_back(std::async(std::launch::async, [&, i, device = roc::device()] {
        device.make_current();
        transfers_[i]->run(times);
      }));
    }
    transfers_.front()->run(times);
    for (auto& other : others) other.get();
  }

  std::vector<std::unique_ptr<buffer_experiment>> transfers_;
  concurrency how_;
  roc::event begin_;
  roc::event end_;
};

}  // namespace

char const* description_of(memory_kind kind) {
  switch (kind) {
    case memory_kind::device: return "device";
    case memory_kind::pinned: return "pinned host";
    case memory_kind::pageable: return "pageable host";
    case memory_kind::registered: return "registered host";
    default: return "write-combined host";
  }
}

call_kind usual_call(operand_pair const& operands) {
  return operands.has(memory_kind::pageable) ? call_kind::blocking : call_kind::enqueued;
}

std::unique_ptr<buffer_experiment> make_transfer(operand_pair const& operands, api_kind api,
                                                 call_kind call, copy_layout const& layout) {
  std::size_t const bytes = layout.source.payload_bytes();
  // Copies of pageable memory occupy the CPU, which device events do not see.
  auto const timing = is_enqueued(call) ? timing_method::device_events : timing_method::wall_clock;
  auto result = std::make_unique<buffer_experiment>(
      experiment_properties{timing, bytes, bytes * (operands.within_device() ? 2 : 1),
                            raw_copy_function(layout)},
      buffer_of(operands.source, layout.source, operands.source_device),
      buffer_of(operands.destination, layout.destination, operands.destination_device), api);
  buffer_experiment& subject = *result;
  if (api == api_kind::raw) {
    subject.work = [=, &subject](std::size_t times) {
      hipMemcpyKind const kind = subject.hip_copy_kind();
      hipStream_t const hip_stream = subject.hip_stream();
      std::byte* const source = first_element(subject.source, layout.source);
      std::byte* const destination = first_element(subject.destination, layout.destination);
      for (std::size_t i = 0; i < times; ++i) {
        raw_copy(layout, destination, source, kind, hip_stream);
        if (!is_enqueued(call)) ROCARRAY_HIP(hipStreamSynchronize, hip_stream);
      }
    };
    return result;
  }
  with_operands(subject, layout, [&](auto const& source, auto const& destination) {
    subject.set_path(roc::to_string(roc::planned_path(source, destination)));
  });
  bool const waits = call == call_kind::on_stream || call == call_kind::borrowed;
  subject.work = [=, &subject](std::size_t times) {
    roc::stream_ref const stream = subject.stream();
    with_operands(subject, layout, [&](auto const& source, auto const& destination) {
      for (std::size_t i = 0; i < times; ++i) {
        copy_by_library(source, destination, call, stream);
        if (waits) stream.synchronize();
      }
    });
  };
  return result;
}

std::unique_ptr<experiment> make_concurrent(
    std::vector<std::unique_ptr<buffer_experiment>> transfers, concurrency how) {
  return std::make_unique<concurrent_experiment>(std::move(transfers), how);
}

}  // namespace rocbench
