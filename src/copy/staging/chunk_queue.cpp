// SPDX-License-Identifier: MIT
#include "copy/staging/chunk_queue.hpp"

#include <algorithm>

#include "base/spin_backoff.hpp"

namespace roc::transfer {

void chunk_queue::run_task(queued_chunk const& chunk, std::size_t task) const noexcept {
  if (operation_ == operation::pack) {
    work_.pack(chunk.index, task, chunk.data);
  } else {
    work_.unpack(chunk.index, task, chunk.data);
  }
}

void chunk_queue::run_chunk(std::size_t chunk, std::byte* data,
                            std::optional<reservation>& reserved) {
  queued_chunk added{chunk, data, work_.task_count(chunk)};
  if (added.task_count == 1) {
    reserved.reset();
    return run_task(added, 0);
  }
  {
    auto const lock = base::spin_then_lock(mutex_);
    chunks_.push_back(&added);
    waiting_tasks_.fetch_add(added.task_count);
  }
  reserved.reset();
  threads_.notify();
  for (;;) {
    std::size_t task = 0;
    {
      auto const lock = base::spin_then_lock(mutex_);
      if (!added.has_task()) {
        std::erase(chunks_, &added);
        break;
      }
      task = added.started++;
      waiting_tasks_.fetch_sub(1);
    }
    run_task(added, task);
    added.finished.fetch_add(1);
  }
  // Wait for the helpers' last tasks. They only copy memory, so this takes little time.
  base::spin_backoff backoff;
  while (added.finished.load() != added.task_count) backoff.pause();
}

void chunk_queue::help() {
  base::spin_backoff backoff;
  while (waiting_tasks_.load() == 0 && has_reservation()) backoff.pause();
  do {
    queued_chunk* chunk = nullptr;
    std::size_t task = 0;
    {
      auto const lock = base::spin_then_lock(mutex_);
      // The device needs the chunk that was added first before the others.
      auto const found = std::find_if(chunks_.begin(), chunks_.end(),
                                      [](queued_chunk const* entry) { return entry->has_task(); });
      if (found == chunks_.end()) return;
      chunk = *found;
      task = chunk->started++;
      waiting_tasks_.fetch_sub(1);
    }
    run_task(*chunk, task);
    chunk->finished.fetch_add(1);
  } while (has_many_tasks());
}

}  // namespace roc::transfer
