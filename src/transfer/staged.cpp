// SPDX-License-Identifier: MIT
#include "transfer/staged.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

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

// What the CPU does with a chunk in the order of a stream, shared with the workers. It runs on a
// thread of the runtime, which must not call HIP nor wait for a thread that does: a call elsewhere,
// hipFree for one, may hold the runtime until this very chunk is done.
struct host_work final : public pieces {
  std::shared_ptr<staged_work const> work;
  std::size_t chunk = 0;
  std::byte* data = nullptr;
  bool packs = false;
  worker_team* team = nullptr;

  static void run_all(void* argument) {
    std::unique_ptr<host_work> const self(static_cast<host_work*>(argument));
    self->team->run(self->work->shares(self->chunk), *self);
  }

  bool run(std::size_t share, bool) override {
    if (packs) {
      work->pack(chunk, share, data);
    } else {
      work->unpack(chunk, share, data);
    }
    return true;
  }
  bool may_wait() const override { return true; }
};

void enqueue_host_work(std::shared_ptr<staged_work const> work, std::size_t chunk, std::byte* data,
                       bool packs, hipStream_t stream) {
  auto job = std::make_unique<host_work>();
  job->work = std::move(work);
  job->chunk = chunk;
  job->data = data;
  job->packs = packs;
  job->team = &worker_team::instance();
  ROC_HIP(hipLaunchHostFunc, stream, &host_work::run_all, job.get());
  static_cast<void>(job.release());  // deleted by run_all
}

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
  worker_team::instance().run(work.chunks(), chunks);
}

void enqueue_staged(std::shared_ptr<staged_work const> work, direction way, stream_ref stream) {
  // One piece of memory is enough for the data: the stream's order keeps its uses apart. What the
  // device is told is written now, for all chunks.
  std::size_t descriptions = 0;
  std::size_t most = 0;
  for (std::size_t chunk = 0; chunk != work->chunks(); ++chunk) {
    descriptions += work->description_bytes(chunk);
    most = std::max(most, work->data_bytes(chunk));
  }
  hipStream_t const native = runtime::handle(stream);
  auto const staging =
      block_pool::staging(holder::behind_work).acquire(descriptions + most, stream);
  std::byte* const data = staging->data() + descriptions;
  std::byte* description = staging->data();
  for (std::size_t chunk = 0; chunk != work->chunks(); ++chunk) {
    stage const at{description, data, stream, holder::behind_work};
    if (way == direction::host_to_device) {
      enqueue_host_work(work, chunk, data, true, native);
      static_cast<void>(work->send(chunk, at, true));
    } else {
      work->fetch(chunk, at);
      enqueue_host_work(work, chunk, data, false, native);
    }
    description += work->description_bytes(chunk);
  }
}

}  // namespace roc::transfer
