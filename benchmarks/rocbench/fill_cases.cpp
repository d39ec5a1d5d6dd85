// SPDX-License-Identifier: MIT
#include "fill_cases.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include <roc/native.hpp>

#include "guarded_buffer.hpp"
#include "image_verifier.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

// Fills device memory with elements of 1 or 4 bytes. Each sample has another value, none of whose
// bytes is the sample's poison.
class fill_experiment final : public experiment {
 public:
  fill_experiment(std::size_t element, api_kind api, std::size_t bytes)
      : element_(element),
        api_(api),
        destination_(memory_kind::device, std::max(bytes / element, std::size_t{1}) * element) {}

  timing_method timing() const override { return timing_method::device_events; }
  std::size_t bytes() const override { return destination_.bytes(); }
  std::size_t counted_bytes() const override { return bytes(); }
  std::string path() override {
    if (api_ == api_kind::raw) return "hipMemsetAsync";
    return element_ == 1 ? "memset" : "kernel";
  }
  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    write_pattern({reinterpret_cast<std::byte*>(&value_), sizeof value_}, sample);
    verifier_.fill(destination_, poison_byte(sample));
  }

  void run(std::size_t times) override {
    roc::shape<1> const shape{bytes() / element_};
    for (std::size_t i = 0; i < times; ++i) {
      if (api_ == api_kind::raw) {
        ROCARRAY_HIP(hipMemsetAsync, destination_.payload(), byte_value(), bytes(),
                     roc::native(stream_));
      } else if (element_ == 1) {
        roc::device_view<unsigned char> const view(
            reinterpret_cast<unsigned char*>(destination_.payload()), shape);
        view.fill(static_cast<unsigned char>(byte_value()), stream_);
      } else {
        roc::device_view<std::uint32_t> const view(
            reinterpret_cast<std::uint32_t*>(destination_.payload()), shape);
        view.fill(value_, stream_);
      }
    }
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    image expected = destination_image(destination_, {{}, bytes()}, sample);
    std::uint64_t const element_value =
        element_ == 1 ? static_cast<unsigned>(byte_value()) : value_;
    expected.repeats = true;
    expected.value = element_value * (element_ == 1 ? 0x0101010101010101 : 0x0000000100000001);
    return verifier_.check(destination_, expected, inject);
  }

 private:
  int byte_value() const {
    unsigned char first_byte;
    std::memcpy(&first_byte, &value_, 1);
    return first_byte;
  }

  std::size_t element_;
  api_kind api_;
  roc::stream stream_;
  guarded_buffer destination_;
  image_verifier verifier_;
  std::uint32_t value_ = 0;
};

void add_case(std::vector<benchmark_case>& cases, char const* name, char const* description,
              std::size_t element, api_kind api) {
  cases.push_back({name, description, accounting::payload, limiting_resource::device_memory, true,
                   [=](case_parameters const& parameters) {
                     return std::make_unique<fill_experiment>(element, api, parameters.bytes);
                   }});
}

}  // namespace

void add_fill_cases(std::vector<benchmark_case>& cases) {
  add_case(cases, "fill/byte", "device memory filled with a value of 1 byte", 1, api_kind::library);
  add_case(cases, "raw/fill/byte", "device memory filled with a value of 1 byte, by HIP's own call",
           1, api_kind::raw);
  add_case(cases, "fill/float", "device memory filled with a value of 4 bytes", 4,
           api_kind::library);
}

}  // namespace rocbench
