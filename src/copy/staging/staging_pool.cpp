// SPDX-License-Identifier: MIT
#include "copy/staging/staging_pool.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <roc/detail/device_storage.hpp>
#include <roc/detail/host_storage.hpp>
#include <roc/error.hpp>
#include <roc/memory/memory_resource.hpp>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/options.hpp"
#include "base/round_up.hpp"
#include "memory/device/graph_memory.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::transfer {
namespace {

// A page, so that buffers of different work share none: where pages are protected while work is
// pending, as by the synchronization check, an access to one buffer would be trapped for the work
// of another.
constexpr std::size_t buffer_alignment = 4096;

// max_blocks() says why there is a limit. Its value is an estimate of what the CPU's caches hold,
// not measured: a higher one needs larger caches, a lower one lets fewer chunks be packed ahead of
// the copy engine.
constexpr std::size_t max_internal_upload_bytes = std::size_t{32} << 20;

void* allocate_pinned(std::size_t bytes) {
  void* data = nullptr;
  ROCARRAY_HIP(hipHostMalloc, &data, bytes, hipHostMallocDefault);
  return data;
}

// Allocates on the current device. If memory is short, trims the memory resource and tries again.
void* allocate_on_device(std::size_t bytes) {
  void* data = nullptr;
  hipError_t const first_result = ROCARRAY_HIP_CODE(hipMalloc, &data, bytes);
  if (first_result == hipSuccess) return data;
  // The resource of device arrays may hold unused memory: release it and try again.
  if (first_result == hipErrorOutOfMemory) device_resource(runtime::current_device()).trim();
  ROCARRAY_HIP(hipMalloc, &data, bytes);
  return data;
}

// The pools of one kind of memory, by device, client and size of blocks. Leaked on purpose: copies
// run until the process ends.
class pool_map {
 public:
  explicit pool_map(staging_pool::allocate_function allocate) : allocate_(allocate) {}

  // Returns the pool of the current device, the client and the size of blocks that the options say;
  // creates it at the first call.
  staging_pool& of_current_device(staging_pool::client client) {
    int const device = runtime::current_device();
    std::size_t const block_bytes = base::options().staging_block;
    std::lock_guard const lock(mutex_);
    return pools_.try_emplace({device, client, block_bytes}, block_bytes, client, allocate_)
        .first->second;
  }

  // Returns all pools that exist.
  std::vector<staging_pool*> all() {
    std::lock_guard const lock(mutex_);
    std::vector<staging_pool*> result;
    for (auto& [key, pool] : pools_) result.push_back(&pool);
    return result;
  }

 private:
  staging_pool::allocate_function allocate_;
  std::mutex mutex_;
  std::map<std::tuple<int, staging_pool::client, std::size_t>, staging_pool> pools_;
};

pool_map& pinned_pools() {
  static auto* const pools = new pool_map(allocate_pinned);
  return *pools;
}

pool_map& scratch_pools() {
  static auto* const pools = new pool_map(allocate_on_device);
  return *pools;
}

}  // namespace

staging_pool& staging_pool::pinned(client pool_client) {
  return pinned_pools().of_current_device(pool_client);
}

staging_pool& staging_pool::device_scratch(client pool_client) {
  return scratch_pools().of_current_device(pool_client);
}

staging_pool::staging_pool(std::size_t block_bytes, client pool_client, allocate_function allocate)
    : block_bytes_(base::round_up(block_bytes, buffer_alignment)),
      client_(pool_client),
      allocate_(allocate) {}

staging_pool::~staging_pool() = default;

std::size_t staging_pool::size_bytes() {
  std::lock_guard const lock(mutex_);
  return blocks_.size() * block_bytes_;
}

std::size_t staging_pool::max_blocks() const noexcept {
  std::size_t bytes = base::options().staging_limit;
  // The chunks of a large upload stay in the CPU's caches until the copy engine reads them. More
  // chunks would not fit there, and packing and the copy engine would share memory bandwidth.
  if (client_ == client::internal_upload) bytes = std::min(bytes, max_internal_upload_bytes);
  return std::max<std::size_t>(bytes / block_bytes_, 2);
}

staging_buffer_ptr staging_pool::acquire(std::size_t bytes, stream_ref stream, access mode) {
  bytes = base::round_up(bytes, buffer_alignment);
  if (auto* const graph = memory::captured_memory_of(stream)) [[unlikely]]
    return make_graph_buffer(*graph, bytes, stream, mode);
  std::unique_lock lock(mutex_);
  block* chosen = find_block_locked(bytes, stream, mode);
  while (chosen == nullptr) {
    chosen = add_block(lock);
    if (chosen == nullptr) {
      wait_for_block(lock);
      chosen = find_block_locked(bytes, stream, mode);
    }
  }
  return make_buffer_locked(*chosen, bytes, stream);
}

staging_buffer_ptr staging_pool::try_acquire(std::size_t bytes, stream_ref stream, access mode) {
  bytes = base::round_up(bytes, buffer_alignment);
  if (auto* const graph = memory::captured_memory_of(stream)) [[unlikely]]
    return make_graph_buffer(*graph, bytes, stream, mode);
  std::unique_lock lock(mutex_);
  block* chosen = find_block_locked(bytes, stream, mode);
  if (chosen == nullptr) chosen = add_block(lock);
  return chosen == nullptr ? nullptr : make_buffer_locked(*chosen, bytes, stream);
}

staging_buffer_ptr staging_pool::make_graph_buffer(memory::graph_memory& graph, std::size_t bytes,
                                                   stream_ref stream, access mode) {
  if (mode == access::stream_ordered) {
    if (auto* const known = graph.try_acquire_scratch(stream.handle(), this, bytes)) {
      return std::make_unique<staging_buffer>(graph, *known);
    }
  }
  void* data = nullptr;
  if (allocate_ == allocate_on_device) {
    auto const storage = std::make_shared<detail::device_storage>(bytes, stream_ref());
    graph.keep(storage);
    graph.add_device(storage->data());  // a launch waits for earlier work that uses the memory
    data = storage->data();
  } else {
    auto const storage = std::make_shared<detail::host_storage>(bytes, host_memory::pinned);
    graph.keep(storage);
    data = storage->data();
  }
  auto* const begin = static_cast<std::byte*>(data);
  // What the caller writes now must stay until the last launch.
  if (mode == access::immediate) return std::make_unique<staging_buffer>(begin);
  return std::make_unique<staging_buffer>(
      graph, graph.add_scratch({stream.handle(), this, bytes, begin, true}));
}

staging_buffer_ptr staging_pool::make_buffer_locked(block& parent, std::size_t bytes,
                                                    stream_ref stream) {
  auto buffer =
      std::make_unique<staging_buffer>(*this, parent, parent.data + parent.used_bytes, stream);
  parent.used_bytes += bytes;
  ++parent.live_buffers;
  return buffer;
}

staging_pool::block* staging_pool::find_block_locked(std::size_t bytes, stream_ref stream,
                                                     access mode) {
  runtime::stream_id const& id = runtime::stream_id_of(stream);
  // The handle of per-thread default streams is the same for the streams of all threads.
  bool const is_ordered =
      mode == access::stream_ordered && !runtime::is_per_thread_handle(stream.handle());
  for (auto candidate = blocks_.begin(); candidate != blocks_.end(); ++candidate) {
    if (candidate->is_abandoned) {
      if (candidate->live_buffers != 0 || runtime::has_abandoned_work()) continue;
      // The abandoned work is done. Work with other buffers of the block may be pending.
      candidate->is_abandoned = false;
      candidate->used_bytes = block_bytes_;
    }
    // Earlier work of the exclusive stream may still use the block.
    bool const is_reserved = !candidate->exclusive_stream.is_empty() &&
                             (mode == access::immediate || !(candidate->exclusive_stream == id));
    if (is_reserved || candidate->used_bytes + bytes > block_bytes_) {
      if (candidate->live_buffers != 0) continue;
      bool const is_idle = candidate->uses.have_finished();
      if (!is_idle && (!is_ordered || !candidate->uses.have_finished(id))) continue;
      if (!is_idle) candidate->uses.order_before(id);
      candidate->used_bytes = 0;
      candidate->exclusive_stream = is_idle ? runtime::stream_id() : id;
    } else if (!candidate->exclusive_stream.is_empty() && id.is_foreign()) {
      // Successive streams may share the identity of a foreign stream.
      candidate->uses.order_before(id);
    }
    // Moved to the end, so that the front blocks are those used longest ago.
    blocks_.splice(blocks_.end(), blocks_, candidate);
    return &*candidate;
  }
  return nullptr;
}

staging_pool::block* staging_pool::add_block(std::unique_lock<std::mutex>& lock) {
  if (blocks_.size() + blocks_in_allocation_ >= max_blocks()) return nullptr;
  std::list<block> added(1);
  ++blocks_in_allocation_;
  lock.unlock();
  std::exception_ptr failure;
  try {
    added.front().data = static_cast<std::byte*>(allocate_(block_bytes_));
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  --blocks_in_allocation_;
  released_.notify_all();  // threads that wait for this block must look again
  if (failure) {
    try {
      std::rethrow_exception(failure);
    } catch (out_of_memory const&) {
      if (blocks_.empty() && blocks_in_allocation_ == 0) throw;
      return nullptr;
    }
  }
  blocks_.splice(blocks_.end(), added);
  base::log_line(base::log_level::info, "%zu bytes of %s memory for copies: block %zu of %zu",
                 block_bytes_, allocate_ == allocate_pinned ? "pinned" : "device", blocks_.size(),
                 max_blocks());
  return &blocks_.back();
}

void staging_pool::wait_for_block(std::unique_lock<std::mutex>& lock) {
  for (block& oldest : blocks_) {
    if (oldest.is_abandoned || oldest.live_buffers != 0) continue;
    ++oldest.live_buffers;  // prevents other threads from reusing the block while this one waits
    auto pending = std::exchange(oldest.uses, {});
    lock.unlock();
    bool const is_idle = pending.wait_quietly();
    lock.lock();
    --oldest.live_buffers;
    if (!is_idle) {
      // Without the log of abandon_wait: no call of the program has failed.
      runtime::abandoned_waits.fetch_add(1);
      oldest.is_abandoned = true;
    }
    released_.notify_all();
    return;
  }
  bool const is_in_use = std::any_of(blocks_.begin(), blocks_.end(),
                                     [](block const& entry) { return entry.live_buffers != 0; });
  if (is_in_use || blocks_in_allocation_ != 0) return released_.wait(lock);
  lock.unlock();
  bool const is_idle = runtime::wait_for_abandoned_work();
  lock.lock();
  released_.notify_all();
  if (!is_idle) {
    throw out_of_memory(
        std::make_error_code(std::errc::not_enough_memory),
        "no staging memory is left: after failed calls of HIP, the device has not become idle; "
        "synchronize the device, and restart the process if that fails too");
  }
}

std::size_t staging_pool::count_lost() {
  bool const is_recovered = runtime::wait_for_abandoned_work();
  std::lock_guard const lock(mutex_);
  return static_cast<std::size_t>(std::count_if(blocks_.begin(), blocks_.end(), [&](block& entry) {
    bool const is_usable = entry.live_buffers == 0 && (is_recovered || !entry.is_abandoned);
    return !is_usable || !entry.uses.wait_quietly();
  }));
}

std::size_t staging_pool::count_lost_blocks() {
  std::size_t count = 0;
  for (pool_map* const pools : {&pinned_pools(), &scratch_pools()}) {
    for (staging_pool* const pool : pools->all()) count += pool->count_lost();
  }
  return count;
}

void staging_pool::abandon(block& parent) noexcept {
  std::lock_guard const lock(mutex_);
  parent.is_abandoned = true;
}

void staging_pool::release(block& parent, stream_ref stream) noexcept {
  std::unique_lock lock(mutex_);
  runtime::stream_id id;
  try {
    id = runtime::stream_id_of(stream);
    parent.uses.add_with_event(id);
  } catch (std::exception const& error) {
    base::log_error(error.what());
    parent.uses.remove(id);  // has no event; before another thread can add one
    lock.unlock();
    bool const is_idle = runtime::synchronize_quietly(stream);
    lock.lock();
    if (!is_idle) parent.is_abandoned = true;
  }
  --parent.live_buffers;
  released_.notify_all();
}

}  // namespace roc::transfer
