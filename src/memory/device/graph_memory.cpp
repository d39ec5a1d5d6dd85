// SPDX-License-Identifier: MIT
#include "memory/device/graph_memory.hpp"

#include <cstdio>
#include <string>
#include <utility>

#include <roc/error.hpp>

#include "base/error.hpp"
#include "memory/device/allocation_map.hpp"

namespace roc::memory {

std::shared_ptr<graph_memory> graph_memory::make(int device) {
  return {new graph_memory(device), [](graph_memory* memory) {
            if (memory->wait_for_launches_quietly()) delete memory;
          }};
}

void graph_memory::wait_for_launches() {
  std::lock_guard const lock(mutex_);
  launches_.wait();
}

bool graph_memory::wait_for_launches_quietly() noexcept {
  std::lock_guard const lock(mutex_);
  if (launches_.wait_quietly()) return true;
  base::log_error(
      "the memory of a graph is never freed: the device does not respond, and launches may be "
      "pending; see the error before");
  return false;
}

void graph_memory::add_device(void const* address) {
  allocation_record* const record = find_record(address);
  if (record != nullptr) add_device(record, address, watch_allocation(*record));
}

void graph_memory::add_device(allocation_record* record, void const* address,
                              allocation_token token) {
  std::lock_guard const lock(mutex_);
  // If an earlier allocation of the record has ended, its entry stays, and launches fail.
  device_.try_emplace(record, device_memory{address, std::move(token)});
}

void graph_memory::add_host(host_use added) {
  std::lock_guard const lock(mutex_);
  auto const [known, is_new] = host_.try_emplace(added.memory, added);
  if (!is_new && added.is_write) known->second.is_write = true;
}

void graph_memory::add_untracked(base::byte_range range, bool is_write) {
  std::lock_guard const lock(mutex_);
  (is_write ? untracked_writes_ : untracked_reads_).push_back(range);
}

graph_memory::scratch* graph_memory::try_acquire_scratch(detail::native_stream* stream,
                                                         void const* kind, std::size_t bytes) {
  std::lock_guard const lock(mutex_);
  for (scratch& candidate : scratch_) {
    bool const fits = candidate.stream == stream && candidate.kind == kind &&
                      candidate.bytes >= bytes && !candidate.is_in_use;
    if (!fits) continue;
    candidate.is_in_use = true;
    return &candidate;
  }
  return nullptr;
}

graph_memory::scratch& graph_memory::add_scratch(scratch const& added) {
  std::lock_guard const lock(mutex_);
  return scratch_.emplace_back(added);
}

void graph_memory::release_scratch(scratch& released) noexcept {
  std::lock_guard const lock(mutex_);
  released.is_in_use = false;
}

void graph_memory::check_alive() const {
  std::lock_guard const lock(mutex_);
  for (auto const& [record, item] : device_) {
    if (item.is_alive->load()) continue;
    char array[64];
    std::snprintf(array, sizeof array, "the device array at %p", item.address);
    throw lifetime_error(std::string("the graph uses ") + array +
                         ", which has been freed since the capture; keep the arrays of a graph "
                         "alive, or capture again");
  }
  for (auto const& [memory, item] : host_) {
    if (!memory.expired()) continue;
    throw lifetime_error("the graph uses the host memory at " + to_string(item.range) +
                         ", which has been freed or deregistered since the capture; keep the "
                         "arrays of a graph alive, or capture again");
  }
}

std::vector<allocation_record*> graph_memory::records() const {
  std::lock_guard const lock(mutex_);
  std::vector<allocation_record*> result;
  result.reserve(device_.size());
  for (auto const& [record, item] : device_) result.push_back(record);
  return result;
}

std::vector<graph_memory::host_use> graph_memory::host() const {
  std::lock_guard const lock(mutex_);
  std::vector<host_use> result;
  result.reserve(host_.size());
  for (auto const& [memory, item] : host_) result.push_back(item);
  return result;
}

std::vector<base::byte_range> graph_memory::untracked(bool are_written) const {
  std::lock_guard const lock(mutex_);
  return are_written ? untracked_writes_ : untracked_reads_;
}

}  // namespace roc::memory
