// SPDX-License-Identifier: MIT
#include "memory/host/host_uses.hpp"

#include "runtime/default_stream_sync.hpp"

namespace roc::memory {

void host_uses::record(runtime::stream_id const& stream, access kind) {
  std::lock_guard const lock(mutex_);
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

void host_uses::record_events() {
  std::lock_guard const lock(mutex_);
  reads_.record_events();
  writes_.record_events();
}

bool host_uses::have_finished() const {
  std::lock_guard const lock(mutex_);
  return !runtime::has_abandoned_work() && reads_.have_finished() && writes_.have_finished();
}

bool host_uses::wait_quietly() noexcept {
  std::lock_guard const lock(mutex_);
  bool const reads_have_finished = reads_.wait_quietly();
  bool const writes_have_finished = writes_.wait_quietly();
  return runtime::wait_for_abandoned_work() && reads_have_finished && writes_have_finished;
}

}  // namespace roc::memory
