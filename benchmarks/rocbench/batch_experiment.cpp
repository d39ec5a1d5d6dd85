// SPDX-License-Identifier: MIT
#include "batch_experiment.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include <roc/copy_batch.hpp>
#include <roc/native.hpp>

#include "image_verifier.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"
#include "vendor_batch.hpp"

namespace rocbench {
namespace {

// Bytes between two copies; verification detects writes to them.
constexpr std::size_t gap = 256;

// The positions of the copies in both buffers, by index.
struct batch_positions {
  batch_positions(std::size_t bytes, std::size_t copy_size)
      : copy_bytes(std::max<std::size_t>(std::min(copy_size, bytes), 1)),
        count(std::max<std::size_t>(bytes / copy_bytes, 1)) {
    while (std::gcd(stride, count) != 1) ++stride;
  }

  std::size_t span_bytes() const { return count * (copy_bytes + gap); }
  std::size_t source_offset(std::size_t i) const { return i * (copy_bytes + gap); }
  // The stride has no common factor with the count, so that every position is used once.
  std::size_t destination_offset(std::size_t i) const {
    return i * stride % count * (copy_bytes + gap);
  }

  // Returns the layout of copies whose positions are permuted by `permutation`; 1 is the source's
  // order.
  image_layout image(std::size_t permutation) const {
    image_layout result{{}, copy_bytes};
    result.axes[0] = {count, copy_bytes + gap, copy_bytes, permutation};
    return result;
  }

  std::size_t copy_bytes;
  std::size_t count;
  std::size_t stride = 7919;
};

// Returns the inverse of `value` modulo `modulus`. Precondition: they have no common factor.
std::size_t inverse(std::size_t value, std::size_t modulus) {
  auto left = static_cast<std::int64_t>(modulus);
  std::int64_t right = static_cast<std::int64_t>(value) % left;
  std::int64_t previous = 0;
  std::int64_t current = 1;
  while (right != 0) {  // Euclid's algorithm; invariant: current * value is right, modulo modulus
    std::int64_t const quotient = left / right;
    left = std::exchange(right, left - quotient * right);
    previous = std::exchange(current, previous - quotient * current);
  }
  auto const modulus_value = static_cast<std::int64_t>(modulus);
  return static_cast<std::size_t>((previous % modulus_value + modulus_value) % modulus_value);
}

class batch_experiment final : public experiment {
 public:
  batch_experiment(memory_kind source, memory_kind destination, batch_api api,
                   batch_positions const& positions)
      : api_(api),
        positions_(positions),
        source_(source, positions.span_bytes()),
        destination_(destination, positions.span_bytes()),
        source_layout_(positions.image(1)),
        destination_layout_(positions.image(inverse(positions.stride, positions.count))) {
    for (std::size_t i = 0; i != positions_.count; ++i) {
      copies_.sources.push_back(source_.payload() + positions_.source_offset(i));
      copies_.destinations.push_back(destination_.payload() + positions_.destination_offset(i));
      copies_.bytes.push_back(positions_.copy_bytes);
    }
  }

  timing_method timing() const override { return timing_method::wall_clock; }
  std::size_t bytes() const override { return positions_.copy_bytes * positions_.count; }
  std::size_t counted_bytes() const override { return within_device() ? 2 * bytes() : bytes(); }
  std::string path() override {
    switch (api_) {
      case batch_api::library: return "batched";
      case batch_api::loop: return "hipMemcpyAsync";
      case batch_api::vendor_call: break;
    }
    return vendor_batch_function();
  }
  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    verifier_.write(source_, source_image(source_, source_layout_, sample));
    verifier_.fill(destination_, poison_byte(sample));
  }

  void run(std::size_t times) override {
    for (std::size_t i = 0; i != times; ++i) {
      switch (api_) {
        case batch_api::library: run_library(); break;
        case batch_api::loop: run_loop(); break;
        case batch_api::vendor_call: vendor_batch(copies_, roc::native(stream_)); break;
      }
      stream_.synchronize();
    }
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    return verifier_.check(destination_,
                           destination_image(destination_, destination_layout_, sample), inject);
  }

 private:
  bool within_device() const {
    return source_.is_device_memory() && destination_.is_device_memory();
  }

  void run_library() {
    roc::copy_batch batch;
    for (std::size_t i = 0; i != positions_.count; ++i) {
      auto const* const source = static_cast<std::byte const*>(copies_.sources[i]);
      auto* const destination = static_cast<std::byte*>(copies_.destinations[i]);
      if (!source_.is_device_memory()) {
        batch.add(host(source), device(destination, destination_));
      } else if (destination_.is_device_memory()) {
        batch.add(device(source, source_), device(destination, destination_));
      } else {
        batch.add(device(source, source_), host(destination));
      }
    }
    batch.submit();
  }

  template <class T>
  roc::host_view<T, 1> host(T* data) const {
    return {data, roc::shape<1>{positions_.copy_bytes}};
  }
  template <class T>
  roc::device_view<T, 1> device(T* data, guarded_buffer const& buffer) const {
    return {data, roc::shape<1>{positions_.copy_bytes}, roc::order::c, buffer.device_ordinal()};
  }

  void run_loop() {
    hipStream_t const hip_stream = roc::native(stream_);
    hipMemcpyKind const kind = !source_.is_device_memory()       ? hipMemcpyHostToDevice
                               : destination_.is_device_memory() ? hipMemcpyDeviceToDevice
                                                                 : hipMemcpyDeviceToHost;
    for (std::size_t i = 0; i != positions_.count; ++i) {
      ROCARRAY_HIP(hipMemcpyAsync, copies_.destinations[i], copies_.sources[i],
                   positions_.copy_bytes, kind, hip_stream);
    }
  }

  batch_api api_;
  batch_positions positions_;
  roc::stream stream_;
  guarded_buffer source_;
  guarded_buffer destination_;
  image_layout source_layout_;
  image_layout destination_layout_;
  image_verifier verifier_;
  batch_arguments copies_;
};

}  // namespace

std::unique_ptr<experiment> make_batch_experiment(memory_kind source, memory_kind destination,
                                                  batch_api api, std::size_t bytes,
                                                  std::size_t copy_bytes) {
  if (api == batch_api::vendor_call && vendor_batch_function() == nullptr) {
    throw case_not_supported("the platform has no batched copy function");
  }
  return std::make_unique<batch_experiment>(source, destination, api,
                                            batch_positions(bytes, copy_bytes));
}

}  // namespace rocbench
