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

}  // namespace

// Chunks grow with the copy: the device waits for the first one, and each costs calls. Shares are
// small: the last of a chunk is waited for.
staged_copy staged_copy::shared_out(plan const& p) {
  constexpr std::size_t steps = 16;
  constexpr std::size_t shares = 8;
  constexpr std::size_t least_share = std::size_t{64} << 10;
  std::size_t const chunk = chunk_size(p.form.bytes() / steps, std::size_t{512} << 10);
  std::size_t const share = std::max(chunk / shares, std::min(least_share, chunk / 2));
  return {p, chunk, quotient_up(share, alignment) * alignment};
}

// Chunks large enough that a host function for each costs little.
staged_copy staged_copy::in_order(plan const& p) {
  constexpr std::size_t steps = 8;
  constexpr std::size_t share = std::size_t{256} << 10;
  return {p, chunk_size(p.form.bytes() / steps, std::size_t{1} << 20), share};
}

std::size_t staged_copy::chunks() const noexcept { return quotient_up(total_, size_); }

piece staged_copy::chunk_at(std::size_t chunk) const noexcept {
  return {chunk * size_, std::min((chunk + 1) * size_, total_)};
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
    ROC_HIP(hipMemcpyAsync, plan_.form.destination + part.begin, at.data, bytes, kind_of(plan_),
            native);
    return true;
  }
  auto const scratch = take_scratch(bytes, at, may_wait);
  if (scratch == nullptr) return false;
  ROC_HIP(hipMemcpyAsync, scratch->data(), at.data, bytes, hipMemcpyHostToDevice, native);
  kernels::scatter(plan_.form, part, scratch->data(), native);
  return true;
}

void staged_copy::fetch(std::size_t chunk, stage const& at) const {
  hipStream_t const native = runtime::handle(at.stream);
  piece const part = chunk_at(chunk);
  std::size_t const bytes = part.end - part.begin;
  if (plan_.form.is_dense(side::source)) {
    ROC_HIP(hipMemcpyAsync, at.data, plan_.form.source + part.begin, bytes, kind_of(plan_), native);
    return;
  }
  auto const scratch = take_scratch(bytes, at, true);
  kernels::gather(plan_.form, part, scratch->data(), native);
  ROC_HIP(hipMemcpyAsync, at.data, scratch->data(), bytes, hipMemcpyDeviceToHost, native);
}

}  // namespace roc::transfer
