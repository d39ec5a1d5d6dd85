// SPDX-License-Identifier: MIT
#include "transfer/staged_copy.hpp"

#include <algorithm>
#include <memory>

#include "kernels/strided_copy.hpp"
#include "platform/call.hpp"
#include "runtime/settings.hpp"
#include "runtime/stream.hpp"
#include "transfer/direct.hpp"

namespace roc::transfer {
namespace {

using memory::block_pool;

constexpr std::size_t alignment = 256;

std::size_t quotient_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

std::unique_ptr<block_pool::lease> take_scratch(std::size_t bytes, stage const& at, bool may_wait) {
  block_pool& scratch = block_pool::scratch(at.by);
  constexpr auto how = block_pool::access::stream_order;
  return may_wait ? scratch.acquire(bytes, at.stream, how)
                  : scratch.try_acquire(bytes, at.stream, how);
}

std::size_t chunk_size(std::size_t wanted, std::size_t least) {
  std::size_t const most = runtime::settings().chunk;
  return std::clamp(quotient_up(wanted, alignment) * alignment, std::min(least, most), most);
}

// Of the chunks at an end, the outer and the inner one.
constexpr std::size_t in_edge = 2;
std::size_t first_of(std::size_t size) { return quotient_up(size / 4, alignment) * alignment; }
std::size_t second_of(std::size_t size) { return quotient_up(size / 2, alignment) * alignment; }

}  // namespace

// Chunks grow with the copy: each costs calls, of which the runtime serves one at a time. The first
// is waited for by the device, or the CPU, and the last by the other: they are smaller. So are
// shares: the last of a chunk is waited for.
staged_copy staged_copy::shared_out(plan const& p) {
  constexpr std::size_t steps = 4;
  constexpr std::size_t shares = 8;
  constexpr std::size_t least_share = std::size_t{64} << 10;
  std::size_t const chunk = chunk_size(p.form.bytes() / steps, std::size_t{512} << 10);
  std::size_t const share = std::max(chunk / shares, std::min(least_share, chunk / 2));
  return {p, chunk, quotient_up(share, alignment) * alignment, true};
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
  count_ = quotient_up(total_ - 2 * edge_, size_) + (edge_ != 0 ? 2 * in_edge : 0);
}

std::size_t staged_copy::chunks() const noexcept { return count_; }

piece staged_copy::chunk_at(std::size_t chunk) const noexcept {
  if (edge_ == 0) return {chunk * size_, std::min((chunk + 1) * size_, total_)};
  std::size_t const first = first_of(size_);
  if (chunk < in_edge) return chunk == 0 ? piece{0, first} : piece{first, edge_};
  std::size_t const from_end = count_ - 1 - chunk;
  if (from_end < in_edge) {
    return from_end == 0 ? piece{total_ - first, total_} : piece{total_ - edge_, total_ - first};
  }
  std::size_t const begin = edge_ + (chunk - in_edge) * size_;
  return {begin, std::min(begin + size_, total_ - edge_)};
}

piece staged_copy::share_at(std::size_t chunk, std::size_t share) const noexcept {
  piece const whole = chunk_at(chunk);
  std::size_t const begin = whole.begin + share * share_;
  return {begin, std::min(begin + share_, whole.end)};
}

std::size_t staged_copy::data_bytes(std::size_t chunk) const noexcept {
  piece const part = chunk_at(chunk);
  return part.end - part.begin;
}

std::size_t staged_copy::shares(std::size_t chunk) const noexcept {
  return quotient_up(data_bytes(chunk), share_);
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
  piece const part = chunk_at(chunk);
  std::size_t const bytes = part.end - part.begin;
  if (plan_.form.is_dense(side::destination)) {
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
  piece const part = chunk_at(chunk);
  std::size_t const bytes = part.end - part.begin;
  if (plan_.form.is_dense(side::source)) {
    ROCARRAY_HIP(hipMemcpyAsync, at.data, plan_.form.source + part.begin, bytes, kind_of(plan_), native);
    return;
  }
  auto const scratch = take_scratch(bytes, at, true);
  kernels::gather(plan_.form, part, scratch->data(), native);
  ROCARRAY_HIP(hipMemcpyAsync, at.data, scratch->data(), bytes, hipMemcpyDeviceToHost, native);
}

}  // namespace roc::transfer
