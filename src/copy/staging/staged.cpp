// SPDX-License-Identifier: MIT
#include "copy/staging/staged.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <roc/event.hpp>

#include "copy/staging/staging_pool.hpp"
#include "platform/call.hpp"
#include "runtime/internal_stream.hpp"
#include "base/spin_backoff.hpp"
#include "runtime/stream.hpp"
#include "copy/staging/chunk_queue.hpp"
#include "copy/staging/thread_pool.hpp"

namespace roc::transfer {
namespace {

using memory::staging_pool;
using holder = staging_pool::holder;
using lease_ptr = std::unique_ptr<staging_pool::lease>;

std::size_t staging_bytes(staged_work const& work, std::size_t chunk) {
  return work.description_bytes(chunk) + work.data_bytes(chunk);
}

stage stage_in(staging_pool::lease const& staging, staged_work const& work, std::size_t chunk,
               stream_ref stream, holder by) {
  std::byte* const begin = staging.data();
  return {begin, begin + work.description_bytes(chunk), stream, by};
}

// Around the calls that enqueue a chunk. HIP's runtime serves one at a time, and who finds it busy
// sleeps, for much longer than a call takes.
std::unique_lock<std::mutex> hold(std::mutex& calls) {
  std::unique_lock held(calls, std::defer_lock);
  base::spin_then_lock(held);
  return held;
}

void wait_for_all_on(stream_ref stream) {
  event reached;
  reached.record(stream);
  reached.synchronize();
}

// To the device, all chunks behind each other on one stream: the source has been read when they are
// done. On a user's stream, work before them may not be over, and what is in flight does not come
// back before it is.
class upload_chunks final : public pieces {
 public:
  upload_chunks(staged_work const& work, stream_ref stream, holder by)
      : work_(work),
        stream_(stream),
        by_(by),
        reached_(by == holder::uploading),
        open_(work, chunk_queue::task::pack) {
    if (!reached_) before_.record(stream);
  }

  bool run(std::size_t chunk, bool may_wait) override {
    auto& pool = staging_pool::staging(by_);
    std::size_t const bytes = staging_bytes(work_, chunk);
    std::optional<chunk_queue::announcement> announced(std::in_place, open_);
    lease_ptr staging = pool.try_acquire(bytes, stream_);
    if (staging == nullptr) {
      if (!may_wait) return false;
      announced.reset();  // nobody knows when
      staging = pool.acquire(bytes, stream_);
    }
    stage at = stage_in(*staging, work_, chunk, stream_, by_);
    at.items = work_.describe(chunk, at);
    open_.do_all(chunk, at.data, announced);
    auto calls = hold(calls_);
    lease_ptr const given_back = std::move(staging);
    if (work_.send(chunk, at, false)) return true;
    calls.unlock();  // others, who may not wait, come by here
    return may_wait && work_.send(chunk, at, true);
  }
  bool may_wait() const override {
    if (!reached_) reached_ = before_.query();
    return reached_;
  }
  bool can_help() const noexcept override { return open_.any(); }
  void help() override { open_.help(); }
  // The device can begin with a chunk when all of it is packed; there is always a next one open.
  bool helps_first() const noexcept override { return open_.many(); }

 private:
  staged_work const& work_;
  stream_ref stream_;
  holder by_;
  event before_;
  mutable std::atomic<bool> reached_;
  std::mutex calls_;
  chunk_queue open_;
};

// To the host on a stream of the library's own; each chunk is over when its thread is.
class download_chunks final : public pieces {
 public:
  explicit download_chunks(staged_work const& work)
      : work_(work), open_(work, chunk_queue::task::unpack) {}

  bool run(std::size_t chunk, bool) override {
    stream_ref const stream = runtime::internal_stream(runtime::own_use::download);
    auto& pool = staging_pool::staging(holder::downloading);
    std::size_t const bytes = staging_bytes(work_, chunk);
    event arrived;
    auto const staging = pool.acquire(bytes, stream);
    stage at = stage_in(*staging, work_, chunk, stream, holder::downloading);
    at.items = work_.describe(chunk, at);
    try {
      {
        // Together: the event is to be behind this chunk, and before those of other threads.
        auto const calls = hold(calls_);
        work_.fetch(chunk, at);
        arrived.record(stream);
      }
      arrived.synchronize();
    } catch (...) {
      // Part of it may be on its way from the caller's memory on the device.
      runtime::synchronize_quietly(stream);
      throw;
    }
    std::optional<chunk_queue::announcement> nothing;  // when it arrives nobody knows
    open_.do_all(chunk, at.data, nothing);
    return true;
  }
  bool may_wait() const override { return true; }
  bool can_help() const noexcept override { return open_.any(); }
  void help() override { open_.help(); }

 private:
  staged_work const& work_;
  std::mutex calls_;
  chunk_queue open_;
};

}  // namespace

void upload_now(staged_work const& work) {
  stream_ref const stream = runtime::internal_stream(runtime::own_use::upload);
  upload_chunks chunks(work, stream, holder::uploading);
  try {
    thread_pool::instance().run(work.chunks(), chunks);
    wait_for_all_on(stream);
  } catch (...) {
    // Chunks may be on their way to memory that the caller frees now.
    runtime::synchronize_quietly(stream);
    throw;
  }
}

void download_now(staged_work const& work) {
  download_chunks chunks(work);
  thread_pool::instance().run(work.chunks(), chunks);
}

void upload(staged_work const& work, stream_ref stream) {
  upload_chunks chunks(work, stream, holder::behind_work);
  if (!runtime::is_per_thread(stream.handle())) {
    return thread_pool::instance().run(work.chunks(), chunks);
  }
  // Its handle means another stream in every worker.
  for (std::size_t chunk = 0; chunk != work.chunks(); ++chunk) chunks.run(chunk, true);
}

}  // namespace roc::transfer
