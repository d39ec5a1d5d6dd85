// SPDX-License-Identifier: MIT
#include "copy/staging/staged_copy.hpp"

#include <algorithm>

#include "base/options.hpp"
#include "base/round_up.hpp"
#include "copy/staging/pack.hpp"
#include "copy/staging/value_staging_limits.hpp"
#include "kernels/strided_copy.hpp"
#include "platform/call.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::transfer {
namespace {

constexpr std::size_t chunk_alignment = 256;

std::size_t aligned(std::size_t bytes) { return base::round_up(bytes, chunk_alignment); }

// Returns the chunk size nearest to `preferred` that is at least `lower_limit` and at most
// active_options::chunk_bytes.
std::size_t limited_chunk_bytes(std::size_t preferred, std::size_t lower_limit) {
  std::size_t const upper_limit = base::options().chunk_bytes;
  return std::clamp(aligned(preferred), std::min(lower_limit, upper_limit), upper_limit);
}

// A tapered copy has two smaller chunks at each end: the outermost is the smallest.
constexpr std::size_t tapered_chunks = 2;
std::size_t outer_bytes(std::size_t chunk_bytes) { return aligned(chunk_bytes / 4); }
std::size_t inner_bytes(std::size_t chunk_bytes) { return aligned(chunk_bytes / 2); }

}  // namespace

// Chunks grow with the copy because each costs calls, and the runtime serves one call at a time.
// The first and the last chunk are smaller because nothing overlaps with them: at the start the
// device waits for the CPU, at the end the CPU for the device (or the reverse). Tasks are small for
// the same reason: a chunk is complete only after its last task. The smallest chunk, 512 KiB, is an
// estimate: smaller ones cost more calls, with larger ones less of a small copy overlaps. The
// library's prototype (one H100) used 1 to 2 MiB for 64 MiB; smaller copies need smaller chunks.
staged_copy staged_copy::for_parallel_packing(plan const& p, std::size_t opposite_bytes) {
  constexpr std::size_t target_chunks = 4;
  constexpr std::size_t target_tasks = 8;
  constexpr std::size_t min_task_bytes = std::size_t{64} << 10;
  std::size_t const chunk =
      limited_chunk_bytes(p.canonical.bytes() / target_chunks, std::size_t{512} << 10);
  std::size_t const task = std::max(chunk / target_tasks, std::min(min_task_bytes, chunk / 2));
  staged_copy result(p, chunk, aligned(task), true);
  result.opposite_bytes_ = opposite_bytes;
  return result;
}

// The chunks are so large that a host function for each costs little. The smallest one, 1 MiB, is
// an estimate: the link of an H100 transfers it in about 20 us, and one host function with a wait
// took 17 us there. Smaller chunks would be bounded by the host functions, larger ones overlap
// less. Not tapered: smaller chunks at both ends would add 2.5 host functions, 42 us of the slower
// side, and save 0.75 of the link's time for a chunk, 15 us for 1 MiB. For 4 MiB that is 63 us, but
// a copy with such chunks takes 1.4 ms or more. On AMD, one thread calls those of all streams.
staged_copy staged_copy::for_stream_order(plan const& p) {
  constexpr std::size_t target_chunks = 8;
  constexpr std::size_t task_bytes = std::size_t{256} << 10;
  std::size_t const chunk =
      limited_chunk_bytes(p.canonical.bytes() / target_chunks, std::size_t{1} << 20);
  return {p, chunk, task_bytes, false};
}

staged_copy staged_copy::for_value_staging(plan const& p, std::size_t opposite_bytes) {
  std::size_t const chunk = limited_chunk_bytes(p.canonical.bytes() / value_staging::target_chunks,
                                                value_staging::min_chunk_bytes);
  staged_copy result(p, chunk, value_staging::task_bytes, true);
  result.opposite_bytes_ = opposite_bytes;
  return result;
}

staged_copy::staged_copy(plan const& p, std::size_t chunk_bytes, std::size_t task_bytes,
                         bool tapered)
    : plan_(p),
      is_dense_on_device_(p.canonical.is_dense(is_from_host(p.kind) ? layout::side::destination
                                                                    : layout::side::source)),
      total_bytes_(p.canonical.bytes()),
      chunk_bytes_(chunk_bytes),
      task_bytes_(task_bytes) {
  std::size_t const taper = outer_bytes(chunk_bytes) + inner_bytes(chunk_bytes);
  if (tapered && total_bytes_ > 2 * taper + chunk_bytes) taper_bytes_ = taper;
  chunk_count_ = base::ceil_div(total_bytes_ - 2 * taper_bytes_, chunk_bytes_) +
                 (taper_bytes_ != 0 ? 2 * tapered_chunks : 0);
}

layout::packed_range staged_copy::chunk_range(std::size_t chunk) const noexcept {
  if (taper_bytes_ == 0) {
    return {chunk * chunk_bytes_, std::min((chunk + 1) * chunk_bytes_, total_bytes_)};
  }
  std::size_t const outer = outer_bytes(chunk_bytes_);
  if (chunk == 0) return {0, outer};
  if (chunk < tapered_chunks) return {outer, taper_bytes_};
  std::size_t const from_end = chunk_count_ - 1 - chunk;
  if (from_end == 0) return {total_bytes_ - outer, total_bytes_};
  if (from_end < tapered_chunks) return {total_bytes_ - taper_bytes_, total_bytes_ - outer};
  std::size_t const begin = taper_bytes_ + (chunk - tapered_chunks) * chunk_bytes_;
  return {begin, std::min(begin + chunk_bytes_, total_bytes_ - taper_bytes_)};
}

layout::packed_range staged_copy::task_range(std::size_t chunk, std::size_t task) const noexcept {
  layout::packed_range const range = chunk_range(chunk);
  std::size_t const begin = range.begin + task * task_bytes_;
  return {begin, std::min(begin + task_bytes_, range.end)};
}

std::size_t staged_copy::data_bytes(std::size_t chunk) const noexcept {
  layout::packed_range const range = chunk_range(chunk);
  return range.end - range.begin;
}

std::size_t staged_copy::task_count(std::size_t chunk) const noexcept {
  return base::ceil_div(data_bytes(chunk), task_bytes_);
}

void staged_copy::pack(std::size_t chunk, std::size_t task, std::byte* data) const noexcept {
  transfer::pack(plan_.canonical, task_range(chunk, task), data + task * task_bytes_,
                 opposite_bytes_);
}

void staged_copy::unpack(std::size_t chunk, std::size_t task,
                         std::byte const* data) const noexcept {
  transfer::unpack(plan_.canonical, task_range(chunk, task), data + task * task_bytes_,
                   opposite_bytes_);
}

void staged_copy::enqueue_device_step(std::size_t chunk, staging_slot const& slot) const {
  hipStream_t const native = runtime::handle(slot.stream);
  layout::canonical_layout const& canonical = plan_.canonical;
  layout::packed_range const range = chunk_range(chunk);
  std::size_t const bytes = range.end - range.begin;
  hipMemcpyKind const kind = memcpy_kind_of(plan_);
  if (is_from_host(plan_.kind)) {
    std::byte* const to = is_dense_on_device_ ? canonical.destination + range.begin : slot.scratch;
    ROCARRAY_HIP(hipMemcpyAsync, to, slot.data, bytes, kind, native);
    if (!is_dense_on_device_) kernels::scatter(canonical, range, slot.scratch, native);
  } else {
    if (!is_dense_on_device_) kernels::gather(canonical, range, slot.scratch, native);
    std::byte const* const from =
        is_dense_on_device_ ? canonical.source + range.begin : slot.scratch;
    ROCARRAY_HIP(hipMemcpyAsync, slot.data, from, bytes, kind, native);
  }
}

}  // namespace roc::transfer
