// SPDX-License-Identifier: MIT
#include "copy/staging/staging_pool.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include <roc/error.hpp>
#include <roc/memory/memory_resource.hpp>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/options.hpp"

namespace roc::memory {
namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t most_uploading = std::size_t{32} << 20;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

void* allocate_pinned(std::size_t bytes) {
  void* data = nullptr;
  ROCARRAY_HIP(hipHostMalloc, &data, bytes, hipHostMallocDefault);
  return data;
}

void* allocate_on_device(std::size_t bytes) {
  void* data = nullptr;
  hipError_t const first = ROCARRAY_HIP_CODE(hipMalloc, &data, bytes);
  if (first == hipSuccess) return data;
  // The pool that arrays take from may hold what nobody uses.
  if (first == hipErrorOutOfMemory) device_resource(runtime::current_device()).trim();
  ROCARRAY_HIP(hipMalloc, &data, bytes);
  return data;
}

// Whether work that is enqueued on the stream now comes after all uses of a block by itself.
template <class Uses>
bool is_behind_all(stream_ref stream, Uses const& uses) {
  // The handle of a thread's own default stream is that of all threads'.
  if (runtime::is_per_thread(stream.handle())) return false;
  for (auto const& each : uses) {
    if (each.done.query()) continue;
    if (each.stream != stream) return false;
    // A destroyed stream's handle may have come back.
    stream.wait(each.done);
  }
  return true;
}

// Pools by device and holder, leaked on purpose: copies run until the very end of the process.
class pools {
 public:
  explicit pools(staging_pool::allocate_function allocate) : allocate_(allocate) {}

  staging_pool& of_current_device(staging_pool::holder by) {
    int const device = runtime::current_device();
    std::lock_guard const lock(mutex_);
    std::size_t const block = base::options().staging_block;
    std::size_t blocks = base::options().staging / block;
    // Of a large copy, what is packed waits in the caches for the copy engine: more of it would not
    // fit there, and the two would share the memory's bandwidth.
    if (by == staging_pool::holder::uploading) blocks = std::min(blocks, most_uploading / block);
    blocks = std::max<std::size_t>(blocks, 2);
    return pools_.try_emplace({device, by}, block, blocks, by, allocate_).first->second;
  }

 private:
  staging_pool::allocate_function allocate_;
  std::mutex mutex_;
  std::map<std::pair<int, staging_pool::holder>, staging_pool> pools_;
};

}  // namespace

staging_pool& staging_pool::staging(holder by) {
  static auto* const all = new pools(allocate_pinned);
  return all->of_current_device(by);
}

staging_pool& staging_pool::scratch(holder by) {
  static auto* const all = new pools(allocate_on_device);
  return all->of_current_device(by);
}

staging_pool::staging_pool(std::size_t block_bytes, std::size_t max_blocks, holder by,
                       allocate_function allocate)
    : block_bytes_(aligned(block_bytes)), max_blocks_(max_blocks), by_(by), allocate_(allocate) {}

staging_pool::~staging_pool() = default;

staging_pool::lease::~lease() { pool_.give_back(block_, stream_); }

std::unique_ptr<staging_pool::lease> staging_pool::acquire(std::size_t bytes, stream_ref stream,
                                                       access how) {
  bytes = aligned(bytes);
  std::unique_lock lock(mutex_);
  block* chosen = find(bytes, stream, how);
  while (chosen == nullptr) {
    chosen = grow();
    if (chosen == nullptr) {
      wait_for_one(lock);
      chosen = find(bytes, stream, how);
    }
  }
  return lease_of(*chosen, bytes, stream);
}

std::unique_ptr<staging_pool::lease> staging_pool::try_acquire(std::size_t bytes, stream_ref stream,
                                                           access how) {
  bytes = aligned(bytes);
  std::lock_guard const lock(mutex_);
  block* chosen = find(bytes, stream, how);
  if (chosen == nullptr) chosen = grow();
  return chosen == nullptr ? nullptr : lease_of(*chosen, bytes, stream);
}

// Holding the lock.
std::unique_ptr<staging_pool::lease> staging_pool::lease_of(block& from, std::size_t bytes,
                                                        stream_ref stream) {
  auto made = std::make_unique<lease>(*this, from, from.data + from.used, stream);
  from.used += bytes;
  ++from.leases;
  return made;
}

// Holding the lock.
staging_pool::block* staging_pool::find(std::size_t bytes, stream_ref stream, access how) {
  for (auto place = blocks_.begin(); place != blocks_.end(); ++place) {
    if (place->lost) continue;
    bool const of_another =
        place->only_of.has_value() && (how == access::any_time || *place->only_of != stream);
    if (of_another || place->used + bytes > block_bytes_) {
      if (place->leases != 0) continue;
      bool const idle = std::all_of(place->uses.begin(), place->uses.end(),
                                    [](use const& each) { return each.done.query(); });
      if (!idle && (how == access::any_time || !is_behind_all(stream, place->uses))) continue;
      // Its events, which are done, serve the next uses of the same streams: of a few.
      place->used = 0;
      place->only_of = idle ? std::nullopt : std::optional(stream);
      if (idle && place->uses.size() > 8) place->uses.clear();
    }
    // To the end: the blocks at the front are those whose work was enqueued longest ago.
    blocks_.splice(blocks_.end(), blocks_, place);
    return &*place;
  }
  return nullptr;
}

// Holding the lock. Null where the pool may not grow, or cannot but holds blocks to wait for.
staging_pool::block* staging_pool::grow() {
  if (blocks_.size() >= max_blocks_) return nullptr;
  try {
    void* const data = allocate_(block_bytes_);
    blocks_.emplace_back().data = static_cast<std::byte*>(data);
    base::log_line(base::log_level::info,
                      "%zu bytes of %s memory for copies: block %zu of %zu", block_bytes_,
                      allocate_ == allocate_pinned ? "pinned" : "device", blocks_.size(),
                      max_blocks_);
  } catch (out_of_memory const&) {
    bool const any = std::any_of(blocks_.begin(), blocks_.end(),
                                 [](block const& each) { return !each.lost; });
    if (!any) throw;
    return nullptr;
  }
  return &blocks_.back();
}

// Waits, without the lock, until another block may have become idle.
void staging_pool::wait_for_one(std::unique_lock<std::mutex>& lock) {
  for (block& each : blocks_) {
    if (each.lost || each.leases != 0) continue;
    ++each.leases;  // keeps it from being emptied meanwhile
    auto const pending = std::exchange(each.uses, {});
    lock.unlock();
    std::exception_ptr failure;
    try {
      for (use const& before : pending) before.done.synchronize();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --each.leases;
    if (failure) each.lost = true;  // whether its work is done is not known
    returned_.notify_all();
    if (failure) std::rethrow_exception(failure);
    return;
  }
  bool const any = std::any_of(blocks_.begin(), blocks_.end(),
                               [](block const& each) { return !each.lost; });
  if (!any) {
    throw out_of_memory(std::make_error_code(std::errc::not_enough_memory),
                        "no staging memory is left after failed calls: restart the process");
  }
  returned_.wait(lock);
}

void staging_pool::give_back(block& from, stream_ref stream) noexcept {
  std::lock_guard const lock(mutex_);
  --from.leases;
  try {
    // Events are of the current device: the stream's, though the lease may end on another.
    runtime::on_device const guard(runtime::device_of(stream, runtime::current_device()));
    auto known = std::find_if(from.uses.begin(), from.uses.end(),
                              [&](use const& each) { return each.stream == stream; });
    if (known == from.uses.end()) {
      from.uses.push_back({stream, event()});
      known = std::prev(from.uses.end());
    }
    // Where a destroyed stream's handle has come back, the event's work is not this stream's yet.
    // The library's own streams stay.
    if (by_ == holder::behind_work && !known->done.query()) stream.wait(known->done);
    known->done.record(stream);
  } catch (std::exception const& late) {
    from.lost = true;
    base::log(late.what());
  }
  returned_.notify_all();
}

}  // namespace roc::memory
