// SPDX-License-Identifier: MIT
#include "transfer_experiment.hpp"

#include <array>

#include <roc/copy.hpp>
#include <roc/native.hpp>

#include "image_verifier.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"
#include "raw_copy.hpp"

namespace rocbench {
namespace {

hipMemcpyKind hip_kind(guarded_buffer const& source, guarded_buffer const& destination) {
  if (!source.is_device_memory()) return hipMemcpyHostToDevice;
  return destination.is_device_memory() ? hipMemcpyDeviceToDevice : hipMemcpyDeviceToHost;
}

template <class T>
roc::host_view<T, 3> host_view_of(guarded_buffer& buffer, operand_layout const& operand) {
  return {reinterpret_cast<T*>(buffer.payload()), operand.extents, operand.strides};
}
template <class T>
roc::device_view<T, 3> device_view_of(guarded_buffer& buffer, operand_layout const& operand) {
  return {reinterpret_cast<T*>(buffer.payload()), operand.extents, operand.strides,
          buffer.device_ordinal()};
}

class transfer_experiment final : public experiment {
 public:
  transfer_experiment(transfer_options const& options, copy_layout const& layout)
      : api_(options.api),
        synchronize_each_(options.synchronize_each),
        layout_(layout),
        source_(options.source, layout.source.span_bytes(), options.api),
        destination_(options.destination, layout.destination.span_bytes(), options.api),
        source_layout_(image_layout_of(layout.source)),
        destination_layout_(image_layout_of(layout.destination)) {}

  timing_method timing() const override {
    return synchronizes() ? timing_method::wall_clock : timing_method::device_events;
  }
  std::size_t bytes() const override { return layout_.source.payload_bytes(); }
  std::size_t counted_bytes() const override {
    return source_.is_device_memory() && destination_.is_device_memory() ? 2 * bytes() : bytes();
  }

  std::string path() override {
    if (api_ == api_kind::raw) return raw_copy_function(layout_);
    std::string result;
    with_operands([&](auto const& source, auto const& destination) {
      result = roc::to_string(roc::planned_path(source, destination));
    });
    return result;
  }

  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    verifier_.write(source_, source_image(source_, source_layout_, sample));
    verifier_.fill(destination_, poison_byte(sample));
  }

  void run(std::size_t times) override {
    api_ == api_kind::raw ? run_raw(times) : run_library(times);
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    return verifier_.check(destination_,
                           destination_image(destination_, destination_layout_, sample), inject);
  }

 private:
  bool synchronizes() const {
    return synchronize_each_ || source_.kind() == memory_kind::pageable ||
           destination_.kind() == memory_kind::pageable;
  }

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
    bool const synchronize = synchronizes();
    with_operands([&](auto const& source, auto const& destination) {
      for (std::size_t i = 0; i < times; ++i) {
        synchronize ? roc::copy(source, destination) : roc::copy(source, destination, stream_);
      }
    });
  }

  void run_raw(std::size_t times) {
    bool const synchronize = synchronizes();
    hipMemcpyKind const kind = hip_kind(source_, destination_);
    hipStream_t const hip_stream = roc::native(stream_);
    for (std::size_t i = 0; i < times; ++i) {
      raw_copy(layout_, destination_.payload(), source_.payload(), kind, hip_stream);
      if (synchronize) ROCARRAY_HIP(hipStreamSynchronize, hip_stream);
    }
  }

  api_kind api_;
  bool synchronize_each_;
  copy_layout layout_;
  roc::stream stream_;
  guarded_buffer source_;
  guarded_buffer destination_;
  image_layout source_layout_;
  image_layout destination_layout_;
  image_verifier verifier_;
};

}  // namespace

std::unique_ptr<experiment> make_transfer_experiment(transfer_options const& options,
                                                     copy_layout const& layout) {
  return std::make_unique<transfer_experiment>(options, layout);
}

}  // namespace rocbench
