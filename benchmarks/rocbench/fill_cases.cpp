// SPDX-License-Identifier: MIT
// The cases of fills on the device.
#include <algorithm>
#include <cstring>
#include <span>

#include <roc/native.hpp>

#include "buffer.hpp"
#include "cases.hpp"
#include "image_memory.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

// Writes elements of 1 or 4 bytes, another value for every sample; no byte of one is poison.
class fill_experiment final : public experiment {
 public:
  fill_experiment(std::size_t element, caller by, std::size_t bytes)
      : element_(element),
        by_(by),
        destination_(memory_kind::device, std::max(bytes / element, std::size_t{1}) * element) {}

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
    memory_.fill(destination_, poison_byte(sample));
  }

  void run(std::size_t times) override {
    roc::shape<1> const shape{bytes() / element_};
    for (std::size_t i = 0; i < times; ++i) {
      if (by_ == caller::raw) {
        ROCARRAY_HIP(hipMemsetAsync, destination_.payload(), byte_value(), bytes(),
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

  std::optional<std::string> check(std::uint64_t sample, inject_place inject) override {
    image wanted = arrived_image(destination_, {{}, bytes()}, sample);
    std::uint64_t const unit = element_ == 1 ? static_cast<unsigned>(byte_value()) : value_;
    wanted.repeats = true;
    wanted.value = unit * (element_ == 1 ? 0x0101010101010101 : 0x0000000100000001);
    return memory_.check(destination_, wanted, inject);
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
  image_memory memory_;
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
