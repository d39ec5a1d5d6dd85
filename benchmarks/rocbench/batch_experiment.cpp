// SPDX-License-Identifier: MIT
#include "batch_experiment.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include <roc/copy_batch.hpp>
#include <roc/native.hpp>

#include "image_memory.hpp"
#include "pattern.hpp"
#include "platform/call.hpp"
#include "vendor_batch.hpp"

namespace rocbench {
namespace {

// Between two pieces, so that what is written beside one shows.
constexpr std::size_t gap = 256;

// The pieces of both sides, by their number.
struct places {
  places(std::size_t bytes, std::size_t piece_bytes)
      : piece(std::max<std::size_t>(std::min(piece_bytes, bytes), 1)),
        count(std::max<std::size_t>(bytes / piece, 1)) {
    while (std::gcd(stride, count) != 1) ++stride;
  }

  std::size_t span() const { return count * (piece + gap); }
  std::size_t from(std::size_t i) const { return i * (piece + gap); }
  // All places in an order that is far from that of the source.
  std::size_t to(std::size_t i) const { return i * stride % count * (piece + gap); }

  // Of pieces in the order of the source, `turn` places apart.
  image_layout image(std::size_t turn) const {
    image_layout result{{}, piece};
    result.axes[0] = {count, piece + gap, piece, turn};
    return result;
  }

  std::size_t piece;
  std::size_t count;
  std::size_t stride = 7919;
};

// The number whose product with `value` is 1 modulo `modulus`. Precondition: no common factor.
std::size_t inverse(std::size_t value, std::size_t modulus) {
  auto left = static_cast<std::int64_t>(modulus);
  std::int64_t right = static_cast<std::int64_t>(value) % left;
  std::int64_t before = 0;
  std::int64_t now = 1;
  while (right != 0) {  // Euclid's steps; `now` times `value` is `right`, modulo `modulus`
    std::int64_t const quotient = left / right;
    left = std::exchange(right, left - quotient * right);
    before = std::exchange(now, before - quotient * now);
  }
  auto const whole = static_cast<std::int64_t>(modulus);
  return static_cast<std::size_t>((before % whole + whole) % whole);
}

class batch_experiment final : public experiment {
 public:
  batch_experiment(memory_kind from, memory_kind to, batch_caller by, places const& where)
      : by_(by),
        where_(where),
        source_(from, where.span()),
        destination_(to, where.span()),
        from_(where.image(1)),
        to_(where.image(inverse(where.stride, where.count))) {
    for (std::size_t i = 0; i != where_.count; ++i) {
      list_.from.push_back(source_.payload() + where_.from(i));
      list_.to.push_back(destination_.payload() + where_.to(i));
      list_.bytes.push_back(where_.piece);
    }
  }

  timing timed_by() const override { return timing::wall_clock; }
  std::size_t bytes() const override { return where_.piece * where_.count; }
  std::size_t counted_bytes() const override { return on_device() ? 2 * bytes() : bytes(); }
  std::string path() override {
    switch (by_) {
      case batch_caller::library: return "batched";
      case batch_caller::loop: return "hipMemcpyAsync";
      case batch_caller::vendor_call: break;
    }
    return vendor_batch_call();
  }
  roc::stream_ref stream() const override { return stream_; }

  void prepare(std::uint64_t sample) override {
    memory_.write(source_, source_image(source_, from_, sample));
    memory_.fill(destination_, poison_byte(sample));
  }

  void run(std::size_t times) override {
    for (std::size_t i = 0; i != times; ++i) {
      switch (by_) {
        case batch_caller::library: run_library(); break;
        case batch_caller::loop: run_loop(); break;
        case batch_caller::vendor_call: vendor_batch(list_, roc::native(stream_)); break;
      }
      stream_.synchronize();
    }
  }

  std::optional<std::string> check(std::uint64_t sample, inject_place inject) override {
    return memory_.check(destination_, arrived_image(destination_, to_, sample), inject);
  }

 private:
  bool on_device() const { return source_.on_device() && destination_.on_device(); }

  void run_library() {
    roc::copy_batch batch;
    for (std::size_t i = 0; i != where_.count; ++i) {
      auto const* const from = static_cast<std::byte const*>(list_.from[i]);
      auto* const to = static_cast<std::byte*>(list_.to[i]);
      if (!source_.on_device()) {
        batch.add(host(from), device(to, destination_));
      } else if (destination_.on_device()) {
        batch.add(device(from, source_), device(to, destination_));
      } else {
        batch.add(device(from, source_), host(to));
      }
    }
    batch.submit();
  }

  template <class T>
  roc::host_view<T, 1> host(T* data) const {
    return {data, roc::shape<1>{where_.piece}};
  }
  template <class T>
  roc::device_view<T, 1> device(T* data, guarded_buffer const& of) const {
    return {data, roc::shape<1>{where_.piece}, roc::order::c, of.device_ordinal()};
  }

  void run_loop() {
    hipStream_t const native = roc::native(stream_);
    hipMemcpyKind const kind = !source_.on_device()       ? hipMemcpyHostToDevice
                               : destination_.on_device() ? hipMemcpyDeviceToDevice
                                                          : hipMemcpyDeviceToHost;
    for (std::size_t i = 0; i != where_.count; ++i) {
      ROCARRAY_HIP(hipMemcpyAsync, list_.to[i], list_.from[i], where_.piece, kind, native);
    }
  }

  batch_caller by_;
  places where_;
  roc::stream stream_;
  guarded_buffer source_;
  guarded_buffer destination_;
  image_layout from_;
  image_layout to_;
  image_memory memory_;
  batch_list list_;
};

}  // namespace

std::unique_ptr<experiment> make_batch(memory_kind from, memory_kind to, batch_caller by,
                                       std::size_t bytes, std::size_t piece) {
  if (by == batch_caller::vendor_call && vendor_batch_call() == nullptr) {
    throw not_possible("the platform has no call for many copies");
  }
  return std::make_unique<batch_experiment>(from, to, by, places(bytes, piece));
}

}  // namespace rocbench
