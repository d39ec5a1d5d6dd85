// SPDX-License-Identifier: MIT
#include "copy/staging/staged_copy.hpp"

#include <algorithm>
#include <memory>

#include "kernels/strided_copy.hpp"
#include "platform/call.hpp"
#include "base/options.hpp"
#include "runtime/stream.hpp"
#include "copy/paths/direct.hpp"

namespace roc::transfer {
namespace {

using memory::staging_pool;

constexpr std::size_t alignment = 256;

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

std::unique_ptr<staging_pool::lease> take_scratch(std::size_t bytes, stage const& at, bool may_wait) {
  staging_pool& scratch = staging_pool::scratch(at.by);
  constexpr auto how = staging_pool::access::stream_order;
  return may_wait ? scratch.acquire(bytes, at.stream, how)
                  : scratch.try_acquire(bytes, at.stream, how);
}

std::size_t chunk_size(std::size_t wanted, std::size_t least) {
  std::size_t const most = base::options().chunk;
  return std::clamp(ceil_div(wanted, alignment) * alignment, std::min(least, most), most);
}

// Of the chunks at an end, the outer and the inner one.
constexpr std::size_t in_edge = 2;
std::size_t first_of(std::size_t size) { return ceil_div(size / 4, alignment) * alignment; }
std::size_t second_of(std::size_t size) { return ceil_div(size / 2, alignment) * alignment; }

}  // namespace

// Chunks grow with the copy: each costs calls, of which the runtime serves one at a time. The first
// is waited for by the device, or the CPU, and the last by the other: they are smaller. So are
// shares: the last of a chunk is waited for.
staged_copy staged_copy::for_parallel_packing(plan const& p) {
  constexpr std::size_t steps = 4;
  constexpr std::size_t shares = 8;
  constexpr std::size_t least_share = std::size_t{64} << 10;
  std::size_t const chunk = chunk_size(p.form.bytes() / steps, std::size_t{512} << 10);
  std::size_t const share = std::max(chunk / shares, std::min(least_share, chunk / 2));
  return {p, chunk, ceil_div(share, alignment) * alignment, true};
}

// Chunks large enough that a host function for each costs little.
staged_copy staged_copy::in_order(plan const& p) {
  constexpr std::size_t steps = 8;
  constexpr std::size_t share = std::size_t{256} << 10;
  return {p, chunk_size(p.form.bytes() / steps, std::size_t{1} << 20), share, false};
}

staged_copy::staged_copy(plan const& p, std::size_t size, std::size_t share, bool tapered)
    : plan_(p), total_(p.form.bytes()), size_(size), share_(share) {
  std::size_t const edge = first_of(size) + second_of(size);
  if (tapered && total_ > 2 * edge + size) edge_ = edge;
  count_ = ceil_div(total_ - 2 * edge_, size_) + (edge_ != 0 ? 2 * in_edge : 0);
}

std::size_t staged_copy::chunks() const noexcept { return count_; }

layout::packed_range staged_copy::chunk_at(std::size_t chunk) const noexcept {
  if (edge_ == 0) return {chunk * size_, std::min((chunk + 1) * size_, total_)};
  std::size_t const first = first_of(size_);
  if (chunk < in_edge) return chunk == 0 ? layout::packed_range{0, first} : layout::packed_range{first, edge_};
  std::size_t const from_end = count_ - 1 - chunk;
  if (from_end < in_edge) {
    return from_end == 0 ? layout::packed_range{total_ - first, total_} : layout::packed_range{total_ - edge_, total_ - first};
  }
  std::size_t const begin = edge_ + (chunk - in_edge) * size_;
  return {begin, std::min(begin + size_, total_ - edge_)};
}

layout::packed_range staged_copy::share_at(std::size_t chunk, std::size_t share) const noexcept {
  layout::packed_range const whole = chunk_at(chunk);
  std::size_t const begin = whole.begin + share * share_;
  return {begin, std::min(begin + share_, whole.end)};
}

std::size_t staged_copy::data_bytes(std::size_t chunk) const noexcept {
  layout::packed_range const part = chunk_at(chunk);
  return part.end - part.begin;
}

std::size_t staged_copy::shares(std::size_t chunk) const noexcept {
  return ceil_div(data_bytes(chunk), share_);
}

void staged_copy::pack(std::size_t chunk, std::size_t share, std::byte* data) const noexcept {
  transfer::pack(plan_.form, share_at(chunk, share), data + share * share_);
}

void staged_copy::unpack(std::size_t chunk, std::size_t share,
                         std::byte const* data) const noexcept {
  transfer::unpack(plan_.form, share_at(chunk, share), data + share * share_);
}

// Directly where the device's side is contiguous, else through scratch memory and a kernel.
bool staged_copy::send(std::size_t chunk, stage const& at, bool may_wait) const {
  hipStream_t const native = runtime::handle(at.stream);
  layout::packed_range const part = chunk_at(chunk);
  std::size_t const bytes = part.end - part.begin;
  if (plan_.form.is_dense(layout::side::destination)) {
    ROCARRAY_HIP(hipMemcpyAsync, plan_.form.destination + part.begin, at.data, bytes, kind_of(plan_),
            native);
    return true;
  }
  auto const scratch = take_scratch(bytes, at, may_wait);
  if (scratch == nullptr) return false;
  ROCARRAY_HIP(hipMemcpyAsync, scratch->data(), at.data, bytes, hipMemcpyHostToDevice, native);
  kernels::scatter(plan_.form, part, scratch->data(), native);
  return true;
}

void staged_copy::fetch(std::size_t chunk, stage const& at) const {
  hipStream_t const native = runtime::handle(at.stream);
  layout::packed_range const part = chunk_at(chunk);
  std::size_t const bytes = part.end - part.begin;
  if (plan_.form.is_dense(layout::side::source)) {
    ROCARRAY_HIP(hipMemcpyAsync, at.data, plan_.form.source + part.begin, bytes, kind_of(plan_), native);
    return;
  }
  auto const scratch = take_scratch(bytes, at, true);
  kernels::gather(plan_.form, part, scratch->data(), native);
  ROCARRAY_HIP(hipMemcpyAsync, at.data, scratch->data(), bytes, hipMemcpyDeviceToHost, native);
}

}  // namespace roc::transfer
