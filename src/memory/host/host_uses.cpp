// SPDX-License-Identifier: MIT
#include "memory/host/host_uses.hpp"

#include <exception>
#include <optional>

#include "runtime/default_stream_sync.hpp"

namespace roc::memory {

void host_uses::record(runtime::stream_id const& stream, access kind) {
  std::lock_guard const lock(mutex_);
  ++record_count_;
  if (kind == access::write) return writes_.add(stream);
  // The use covers the later work of a stream of the library too.
  if (!stream.is_foreign() && writes_.contains(stream)) return;
  reads_.add(stream);
}

void host_uses::add_to(runtime::stream_uses& uses, bool only_writes) const {
  std::lock_guard const lock(mutex_);
  uses.add_all(writes_);
  if (!only_writes) uses.add_all(reads_);
}

bool host_uses::wait_quietly() noexcept {
  constexpr int most_attempts = 64;
  std::optional<bool> is_idle;
  for (int i = 0; i != most_attempts && !is_idle; ++i) is_idle = wait_without_lock();
  if (!is_idle) {
    std::lock_guard const lock(mutex_);
    bool const reads_have_finished = reads_.wait_quietly();
    is_idle = writes_.wait_quietly() && reads_have_finished;
  }
  return runtime::wait_for_abandoned_work() && *is_idle;
}

std::optional<bool> host_uses::wait_without_lock() noexcept {
  runtime::stream_uses reads;
  runtime::stream_uses writes;
  unsigned count_before = 0;
  try {
    std::lock_guard const lock(mutex_);
    reads = reads_;
    writes = writes_;
    count_before = record_count_;
  } catch (std::exception const&) {
    return std::nullopt;  // no memory for copies
  }
  bool const reads_have_finished = reads.wait_quietly();
  if (!writes.wait_quietly() || !reads_have_finished) return false;
  std::lock_guard const lock(mutex_);
  if (record_count_ != count_before) return std::nullopt;
  reads_.clear();
  writes_.clear();
  return true;
}

}  // namespace roc::memory
