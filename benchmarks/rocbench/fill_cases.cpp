// SPDX-License-Identifier: MIT
// Cases of fills of device memory.
#include <algorithm>

#include <fmt/format.h>

#include <roc/native.hpp>

#include "platform/call.hpp"
#include "verification.hpp"

namespace rocbench {
namespace {

// Fills device memory with elements of 1 or 4 bytes. Each sample has another value, none of whose
// bytes is the sample's poison.
class fill_experiment final : public experiment {
 public:
  fill_experiment(std::size_t element, api_kind api, std::size_t bytes)
      : experiment({timing_method::device_events, bytes, bytes,
                    api == api_kind::raw ? "hipMemsetAsync"
                    : element == 1       ? "memset"
                                         : "kernel"}),
        element_(element),
        api_(api),
        destination_(memory_kind::device, bytes) {}

  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    value_ = static_cast<std::uint32_t>(pattern_word(0, sample));
    verifier_.fill(destination_, poison_byte(sample));
  }

  void run(std::size_t times) override {
    roc::shape<1> const shape{destination_.bytes() / element_};
    for (std::size_t i = 0; i < times; ++i) {
      if (api_ == api_kind::raw) {
        ROCARRAY_HIP(hipMemsetAsync, destination_.payload(), byte_value(), destination_.bytes(),
                     roc::native(stream_));
      } else if (element_ == 1) {
        roc::device_view<unsigned char> const view(
            reinterpret_cast<unsigned char*>(destination_.payload()), shape);
        view.fill(byte_value(), stream_);
      } else {
        roc::device_view<std::uint32_t> const view(
            reinterpret_cast<std::uint32_t*>(destination_.payload()), shape);
        view.fill(value_, stream_);
      }
    }
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    image expected = destination_image(destination_, {{}, destination_.bytes()}, sample);
    expected.repeats = true;
    expected.value =
        element_ == 1 ? byte_value() * 0x0101010101010101u : value_ * 0x0000000100000001u;
    return verifier_.check(destination_, expected, inject);
  }

 private:
  unsigned char byte_value() const { return static_cast<unsigned char>(value_); }

  std::size_t element_;
  api_kind api_;
  roc::stream stream_;
  guarded_buffer destination_;
  image_verifier verifier_;
  std::uint32_t value_ = 0;
};

void add_element(case_vector& cases, char const* name, std::size_t element) {
  std::string const description =
      fmt::format("device memory filled with {} byte{}", element, element == 1 ? "" : "s");
  add_with_raw(cases,
               {name, description, accounting::payload, limiting_resource::device_memory, true, {}},
               description + ", by HIP", [=](api_kind api, case_parameters const& parameters) {
                 std::size_t const count = std::max(parameters.bytes / element, std::size_t{1});
                 return std::make_unique<fill_experiment>(element, api, count * element);
               });
}

}  // namespace

void add_fill_cases(case_vector& cases) {
  add_element(cases, "fill/byte", 1);
  add_element(cases, "fill/float", 4);
  cases.pop_back();  // HIP's own call sets bytes
}

}  // namespace rocbench
