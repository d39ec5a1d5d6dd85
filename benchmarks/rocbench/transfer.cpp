// SPDX-License-Identifier: MIT
#include "transfer.hpp"

#include <array>

#include <roc/copy.hpp>
#include <roc/native.hpp>

#include "image_memory.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"
#include "raw_copy.hpp"

namespace rocbench {
namespace {

hipMemcpyKind hip_kind(guarded_buffer const& from, guarded_buffer const& to) {
  if (!from.on_device()) return hipMemcpyHostToDevice;
  return to.on_device() ? hipMemcpyDeviceToDevice : hipMemcpyDeviceToHost;
}

template <class T>
roc::host_view<T, 3> host_view_of(guarded_buffer& buffer, side_layout const& side) {
  return {reinterpret_cast<T*>(buffer.payload()), side.extents, side.strides};
}
template <class T>
roc::device_view<T, 3> device_view_of(guarded_buffer& buffer, side_layout const& side) {
  return {reinterpret_cast<T*>(buffer.payload()), side.extents, side.strides,
          buffer.device_ordinal()};
}

class transfer_experiment final : public experiment {
 public:
  transfer_experiment(transfer const& what, copy_layout const& layout)
      : by_(what.by),
        each_waited_for_(what.each_waited_for),
        layout_(layout),
        source_(what.from, layout.from.span(), what.by),
        destination_(what.to, layout.to.span(), what.by),
        from_(image_of(layout.from)),
        to_(image_of(layout.to)) {}

  timing timed_by() const override { return waits() ? timing::wall_clock : timing::device_events; }
  std::size_t bytes() const override { return layout_.from.payload(); }
  std::size_t counted_bytes() const override {
    return source_.on_device() && destination_.on_device() ? 2 * bytes() : bytes();
  }

  std::string path() override {
    if (by_ == caller::raw) return raw_call(layout_);
    std::string result;
    with_sides([&](auto const& from, auto const& to) {
      result = roc::to_string(roc::planned_path(from, to));
    });
    return result;
  }

  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    memory_.write(source_, source_image(source_, from_, sample));
    memory_.fill(destination_, poison_byte(sample));
  }

  void run(std::size_t times) override { by_ == caller::raw ? run_raw(times) : run_library(times); }

  std::optional<std::string> check(std::uint64_t sample, inject_place inject) override {
    return memory_.check(destination_, arrived_image(destination_, to_, sample), inject);
  }

 private:
  bool waits() const {
    return each_waited_for_ || source_.kind() == memory_kind::pageable ||
           destination_.kind() == memory_kind::pageable;
  }

  // Calls f with views of the source and the destination.
  template <class F>
  void with_sides(F const& f) {
    switch (layout_.from.element) {
      case 1: return with_sides_of<std::byte>(f);
      case 2: return with_sides_of<std::uint16_t>(f);
      case 4: return with_sides_of<std::uint32_t>(f);
      case 8: return with_sides_of<std::uint64_t>(f);
      default: return with_sides_of<std::array<std::uint64_t, 2>>(f);
    }
  }
  template <class T, class F>
  void with_sides_of(F const& f) {
    if (!source_.on_device()) {
      f(host_view_of<T>(source_, layout_.from), device_view_of<T>(destination_, layout_.to));
    } else if (destination_.on_device()) {
      f(device_view_of<T>(source_, layout_.from), device_view_of<T>(destination_, layout_.to));
    } else {
      f(device_view_of<T>(source_, layout_.from), host_view_of<T>(destination_, layout_.to));
    }
  }

  void run_library(std::size_t times) {
    bool const wait = waits();
    with_sides([&](auto const& from, auto const& to) {
      for (std::size_t i = 0; i < times; ++i) {
        wait ? roc::copy(from, to) : roc::copy(from, to, stream_);
      }
    });
  }

  void run_raw(std::size_t times) {
    bool const wait = waits();
    hipMemcpyKind const kind = hip_kind(source_, destination_);
    hipStream_t const native = roc::native(stream_);
    for (std::size_t i = 0; i < times; ++i) {
      raw_copy(layout_, destination_.payload(), source_.payload(), kind, native);
      if (wait) ROCARRAY_HIP(hipStreamSynchronize, native);
    }
  }

  caller by_;
  bool each_waited_for_;
  copy_layout layout_;
  roc::stream stream_;
  guarded_buffer source_;
  guarded_buffer destination_;
  image_layout from_;
  image_layout to_;
  image_memory memory_;
};

}  // namespace

std::unique_ptr<experiment> make_transfer(transfer const& what, copy_layout const& layout) {
  return std::make_unique<transfer_experiment>(what, layout);
}

}  // namespace rocbench
