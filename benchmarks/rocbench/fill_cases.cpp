// SPDX-License-Identifier: MIT
// The cases of fills on the device.
#include <algorithm>
#include <cstring>
#include <span>

#include <roc/native.hpp>

#include "buffer.hpp"
#include "cases.hpp"
#include "describe_mismatch.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

// Writes elements of 1 or 4 bytes, another value for every sample; no byte of one is poison.
class fill_experiment final : public experiment {
 public:
  fill_experiment(std::size_t element, caller by, std::size_t bytes)
      : element_(element),
        by_(by),
        destination_(memory_kind::device, std::max(bytes / element, std::size_t{1}) * element),
        mirror_(roc::pinned_array<std::byte>(destination_.whole_bytes())) {}

  timing timed_by() const override { return timing::device_events; }
  std::size_t bytes() const override { return destination_.bytes(); }
  std::size_t counted_bytes() const override { return bytes(); }
  std::string path() override {
    if (by_ == caller::raw) return "hipMemsetAsync";
    return element_ == 1 ? "memset" : "kernel";
  }
  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    write_pattern({reinterpret_cast<std::byte*>(&value_), sizeof value_}, sample);
    ROC_HIP(hipMemsetAsync, destination_.whole(), std::to_integer<int>(poison_byte(sample)),
            destination_.whole_bytes(), nullptr);
    ROC_HIP(hipStreamSynchronize, nullptr);
  }

  void run(std::size_t times) override {
    roc::shape<1> const shape{bytes() / element_};
    for (std::size_t i = 0; i < times; ++i) {
      if (by_ == caller::raw) {
        ROC_HIP(hipMemsetAsync, destination_.payload(), byte_value(), bytes(),
                roc::native(stream_));
      } else if (element_ == 1) {
        roc::device_view<unsigned char> const to(
            reinterpret_cast<unsigned char*>(destination_.payload()), shape);
        to.fill(static_cast<unsigned char>(byte_value()), stream_);
      } else {
        roc::device_view<std::uint32_t> const to(
            reinterpret_cast<std::uint32_t*>(destination_.payload()), shape);
        to.fill(value_, stream_);
      }
    }
  }

  std::optional<std::string> check(std::uint64_t sample, bool inject) override {
    std::span<std::byte> const whole(mirror_.data(), destination_.whole_bytes());
    write_poison(whole, sample);
    ROC_HIP(hipMemcpy, whole.data(), destination_.whole(), whole.size(), hipMemcpyDeviceToHost);
    std::span<std::byte> const found = guarded_parts(whole).payload;
    if (inject) found[found.size() / 2] ^= std::byte{1};
    std::byte wanted[sizeof value_];
    std::memcpy(wanted, &value_, sizeof value_);
    if (element_ == 1) std::ranges::fill(wanted, wanted[0]);
    for (std::size_t at = 0; at < found.size(); ++at) {
      std::byte const expected = wanted[at % sizeof value_];
      if (found[at] != expected) {
        return describe_mismatch("payload", {at, expected, found[at]}, sample);
      }
    }
    return check_guards(whole, sample);
  }

 private:
  int byte_value() const {
    unsigned char first;
    std::memcpy(&first, &value_, 1);
    return first;
  }

  std::size_t element_;
  caller by_;
  roc::stream stream_;
  guarded_buffer destination_;
  roc::host_array<std::byte> mirror_;
  std::uint32_t value_ = 0;
};

void add(std::vector<benchmark_case>& to, char const* name, char const* words, std::size_t element,
         caller by) {
  to.push_back({name, words, accounting::payload, bound::device_memory, true,
                [=](extent_request const& asked) {
                  return std::make_unique<fill_experiment>(element, by, asked.bytes);
                }});
}

}  // namespace

void add_fill_cases(std::vector<benchmark_case>& to) {
  add(to, "fill/byte", "one byte's value all over device memory", 1, caller::library);
  add(to, "raw/fill/byte", "one byte's value all over device memory, by HIP's own call", 1,
      caller::raw);
  add(to, "fill/float", "a value of 4 bytes all over device memory", 4, caller::library);
}

}  // namespace rocbench
