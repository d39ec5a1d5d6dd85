// SPDX-License-Identifier: MIT
#include "transfer/staged.hpp"

#include <atomic>

#include <roc/event.hpp>

#include "memory/block_pool.hpp"
#include "platform/call.hpp"
#include "runtime/own_stream.hpp"
#include "runtime/stream.hpp"
#include "transfer/workers.hpp"

namespace roc::transfer {
namespace {

using memory::block_pool;
using holder = block_pool::holder;

std::size_t staging_bytes(staged_work const& work, std::size_t chunk) {
  return work.description_bytes(chunk) + work.data_bytes(chunk);
}

stage stage_in(block_pool::lease const& staging, staged_work const& work, std::size_t chunk,
               stream_ref stream, holder by) {
  std::byte* const begin = staging.data();
  return {begin, begin + work.description_bytes(chunk), stream, by};
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
      : work_(work), stream_(stream), by_(by), reached_(by == holder::passing) {
    if (!reached_) before_.record(stream);
  }

  bool run(std::size_t chunk, bool may_wait) override {
    auto& pool = block_pool::staging(by_);
    std::size_t const bytes = staging_bytes(work_, chunk);
    auto const staging = may_wait ? pool.acquire(bytes, stream_) : pool.try_acquire(bytes, stream_);
    if (staging == nullptr) return false;
    stage const at = stage_in(*staging, work_, chunk, stream_, by_);
    for (std::size_t share = 0; share != work_.shares(chunk); ++share) {
      work_.pack(chunk, share, at.data);
    }
    return work_.send(chunk, at, may_wait);
  }
  bool may_wait() const override {
    if (!reached_) reached_ = before_.query();
    return reached_;
  }

 private:
  staged_work const& work_;
  stream_ref stream_;
  holder by_;
  event before_;
  mutable std::atomic<bool> reached_;
};

// To the host on a stream of the library's own; each chunk is over when its thread is.
class download_chunks final : public pieces {
 public:
  explicit download_chunks(staged_work const& work) : work_(work) {}

  bool run(std::size_t chunk, bool) override {
    stream_ref const stream = runtime::own_stream(runtime::own_use::download);
    auto const staging =
        block_pool::staging(holder::passing).acquire(staging_bytes(work_, chunk), stream);
    stage const at = stage_in(*staging, work_, chunk, stream, holder::passing);
    try {
      work_.fetch(chunk, at);
      wait_for_all_on(stream);
    } catch (...) {
      // Part of it may be on its way from the caller's memory on the device.
      runtime::drain(stream);
      throw;
    }
    for (std::size_t share = 0; share != work_.shares(chunk); ++share) {
      work_.unpack(chunk, share, at.data);
    }
    return true;
  }
  bool may_wait() const override { return true; }

 private:
  staged_work const& work_;
};

}  // namespace

void upload_now(staged_work const& work) {
  stream_ref const stream = runtime::own_stream(runtime::own_use::upload);
  upload_chunks chunks(work, stream, holder::passing);
  try {
    worker_team::instance().run(work.chunks(), chunks);
    wait_for_all_on(stream);
  } catch (...) {
    // Chunks may be on their way to memory that the caller frees now.
    runtime::drain(stream);
    throw;
  }
}

void download_now(staged_work const& work) {
  download_chunks chunks(work);
  worker_team::instance().run(work.chunks(), chunks);
}

void upload(staged_work const& work, stream_ref stream) {
  upload_chunks chunks(work, stream, holder::behind_work);
  if (!runtime::is_per_thread(stream.handle())) {
    return worker_team::instance().run(work.chunks(), chunks);
  }
  // Its handle means another stream in every worker.
  for (std::size_t chunk = 0; chunk != work.chunks(); ++chunk) chunks.run(chunk, true);
}

}  // namespace roc::transfer
