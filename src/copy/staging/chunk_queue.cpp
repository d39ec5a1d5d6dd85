// SPDX-License-Identifier: MIT
#include "copy/staging/chunk_queue.hpp"

#include <algorithm>

#include "base/spin_backoff.hpp"

namespace roc::transfer {

void chunk_queue::do_share(open_chunk const& of, std::size_t share) const noexcept {
  if (what_ == task::pack) {
    work_.pack(of.index, share, of.data);
  } else {
    work_.unpack(of.index, share, of.data);
  }
}

void chunk_queue::do_all(std::size_t chunk, std::byte* data,
                         std::optional<announcement>& announced) {
  open_chunk mine{chunk, data, work_.shares(chunk)};
  if (mine.shares == 1) {
    announced.reset();
    return do_share(mine, 0);
  }
  {
    auto const lock = hold();
    open_.push_back(&mine);
    waiting_.fetch_add(mine.shares);
  }
  announced.reset();
  team_.tell();
  for (;;) {
    std::size_t share = 0;
    {
      auto const lock = hold();
      if (!mine.has_share()) {
        std::erase(open_, &mine);
        break;
      }
      share = mine.begun++;
      waiting_.fetch_sub(1);
    }
    do_share(mine, share);
    mine.done.fetch_add(1);
  }
  // The helpers' last ones: the CPU copies, nothing else, so that it does not take long.
  base::spin_backoff backoff;
  while (mine.done.load() != mine.shares) backoff.pause();
}

std::unique_lock<std::mutex> chunk_queue::hold() {
  std::unique_lock lock(mutex_, std::defer_lock);
  base::spin_then_lock(lock);
  return lock;
}

void chunk_queue::help() {
  base::spin_backoff backoff;
  while (waiting_.load() == 0 && announced_.load() != 0) backoff.pause();
  do {
    open_chunk* of = nullptr;
    std::size_t share = 0;
    {
      auto const lock = hold();
      // The first begun is the first that the device waits for.
      auto const found = std::find_if(open_.begin(), open_.end(),
                                      [](open_chunk const* each) { return each->has_share(); });
      if (found == open_.end()) return;
      of = *found;
      share = of->begun++;
      waiting_.fetch_sub(1);
    }
    do_share(*of, share);
    of->done.fetch_add(1);
  } while (many());
}

}  // namespace roc::transfer
