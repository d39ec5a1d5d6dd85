// SPDX-License-Identifier: MIT
#include "transfer.hpp"

#include <cstring>
#include <span>

#include <fmt/format.h>

#include <roc/copy.hpp>
#include <roc/native.hpp>

#include "pattern.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

hipMemcpyKind hip_kind(guarded_buffer const& from, guarded_buffer const& to) {
  if (!from.on_device()) return hipMemcpyHostToDevice;
  return to.on_device() ? hipMemcpyDeviceToDevice : hipMemcpyDeviceToHost;
}

void fill_device(guarded_buffer& buffer, int value) {
  ROC_HIP(hipMemsetAsync, buffer.whole(), value, buffer.whole_bytes(), nullptr);
  ROC_HIP(hipStreamSynchronize, nullptr);
}

std::string describe(char const* where, mismatch const& wrong, std::uint64_t sample) {
  return fmt::format("sample {}: {} byte {} is 0x{:02x}, not 0x{:02x}", sample, where, wrong.offset,
                     std::to_integer<unsigned>(wrong.found),
                     std::to_integer<unsigned>(wrong.expected));
}

class transfer_experiment final : public experiment {
 public:
  transfer_experiment(transfer const& what, std::size_t bytes)
      : by_(what.by),
        source_(what.from, bytes),
        destination_(what.to, bytes),
        mirror_(roc::pinned_array<std::byte>(destination_.whole_bytes())) {
    // Guard bands of the source too are no poison: a copy that is too long must show.
    if (source_.on_device()) {
      fill_device(source_, 0xFF);
    } else {
      std::memset(source_.whole(), 0xFF, source_.whole_bytes());
    }
  }

  timing timed_by() const override { return waits() ? timing::wall_clock : timing::device_events; }

  std::size_t counted_bytes() const override {
    bool const on_device = source_.on_device() && destination_.on_device();
    return on_device ? 2 * source_.bytes() : source_.bytes();
  }

  std::string path() override {
    if (by_ == caller::raw) return "hipMemcpyAsync";
    std::string result;
    with_sides([&](auto const& from, auto const& to) {
      result = roc::to_string(roc::planned_path(from, to));
    });
    return result;
  }

  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    if (source_.on_device()) {
      std::span<std::byte> const pattern(mirror_.data(), source_.bytes());
      write_pattern(pattern, sample);
      ROC_HIP(hipMemcpy, source_.payload(), pattern.data(), pattern.size(), hipMemcpyHostToDevice);
    } else {
      write_pattern({source_.payload(), source_.bytes()}, sample);
    }
    if (destination_.on_device()) {
      fill_device(destination_, std::to_integer<int>(poison_byte(sample)));
    } else {
      write_poison({destination_.whole(), destination_.whole_bytes()}, sample);
    }
  }

  void run(std::size_t times) override { by_ == caller::raw ? run_raw(times) : run_library(times); }

  std::optional<std::string> check(std::uint64_t sample, bool inject) override {
    guarded_parts const found(arrived(sample));
    if (inject) found.payload[found.payload.size() / 2] ^= std::byte{1};
    if (auto const wrong = find_pattern_mismatch(found.payload, sample)) {
      return describe("payload", *wrong, sample);
    }
    if (auto const wrong = find_poison_mismatch(found.before, sample)) {
      return describe("guard before the payload,", *wrong, sample);
    }
    if (auto const wrong = find_poison_mismatch(found.behind, sample)) {
      return describe("guard behind the payload,", *wrong, sample);
    }
    return std::nullopt;
  }

 private:
  bool waits() const {
    return source_.kind() == memory_kind::pageable || destination_.kind() == memory_kind::pageable;
  }

  // The whole destination, guard bands included, in host memory.
  std::span<std::byte> arrived(std::uint64_t sample) {
    if (!destination_.on_device()) return {destination_.whole(), destination_.whole_bytes()};
    // It may still hold the pattern that went to the source: a copy back that does nothing must
    // not pass.
    write_poison({mirror_.data(), mirror_.size()}, sample);
    ROC_HIP(hipMemcpy, mirror_.data(), destination_.whole(), destination_.whole_bytes(),
            hipMemcpyDeviceToHost);
    return {mirror_.data(), mirror_.size()};
  }

  // Calls f with views of the source and the destination.
  template <class F>
  void with_sides(F const& f) {
    if (!source_.on_device()) {
      f(source_.host_view(), destination_.device_view());
    } else if (destination_.on_device()) {
      f(source_.device_view(), destination_.device_view());
    } else {
      f(source_.device_view(), destination_.host_view());
    }
  }

  void run_library(std::size_t times) {
    bool const wait = waits();
    with_sides([&](auto const& from, auto const& to) {
      for (std::size_t i = 0; i < times; ++i) {
        if (wait) {
          roc::copy(from, to);
        } else {
          roc::copy(from, to, stream_);
        }
      }
    });
  }

  void run_raw(std::size_t times) {
    bool const wait = waits();
    hipMemcpyKind const kind = hip_kind(source_, destination_);
    hipStream_t const native = roc::native(stream_);
    for (std::size_t i = 0; i < times; ++i) {
      ROC_HIP(hipMemcpyAsync, destination_.payload(), source_.payload(), source_.bytes(), kind,
              native);
      if (wait) ROC_HIP(hipStreamSynchronize, native);
    }
  }

  caller by_;
  roc::stream stream_;
  guarded_buffer source_;
  guarded_buffer destination_;
  roc::host_array<std::byte> mirror_;  // of device memory: its pattern on the way there and back
};

}  // namespace

std::unique_ptr<experiment> make_transfer(transfer const& what, std::size_t bytes) {
  return std::make_unique<transfer_experiment>(what, bytes);
}

}  // namespace rocbench
