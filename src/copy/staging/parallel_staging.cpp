// SPDX-License-Identifier: MIT
#include "copy/staging/parallel_staging.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include <roc/event.hpp>

#include "base/spin_backoff.hpp"
#include "copy/staging/chunk_queue.hpp"
#include "copy/staging/staging_pool.hpp"
#include "copy/staging/thread_pool.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/internal_stream.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::transfer {
namespace {

using client = staging_pool::client;

std::size_t staging_bytes(staged_work const& work, std::size_t chunk) {
  return work.description_bytes(chunk) + work.data_bytes(chunk);
}

// The description comes first in the buffer, the data after it. The slot has no scratch memory yet.
staging_slot slot_in(staging_buffer const& buffer, staged_work const& work, std::size_t chunk,
                     stream_ref stream) {
  std::byte* const begin = buffer.data();
  return {begin, begin + work.description_bytes(chunk), nullptr, stream};
}

// The streams of the chunks of a transfer: one, or two internal ones in turn if the device executes
// kernels. The link then transfers a chunk of a strided copy while a kernel reads or writes the one
// before. Scratch memory that both streams have used is free after the work of both: such a copy
// may use up to three blocks of it.
class chunk_streams {
 public:
  explicit chunk_streams(stream_ref stream) noexcept : first_(stream), second_(stream) {}
  // Throws roc::error.
  chunk_streams(staged_work const& work, runtime::internal_stream_use first,
                runtime::internal_stream_use second)
      : first_(runtime::internal_stream(first)),
        second_(work.has_kernels() && work.chunk_count() > 1 ? runtime::internal_stream(second)
                                                             : first_) {}

  stream_ref of(std::size_t chunk) const noexcept { return chunk % 2 == 0 ? first_ : second_; }
  // Calls f for each stream.
  template <class F>
  void for_each(F f) const {
    f(first_);
    if (second_.handle() != first_.handle()) f(second_);
  }

 private:
  stream_ref first_;
  stream_ref second_;
};

// Locks the mutex under which the calls that enqueue a chunk are made. HIP's runtime serves one
// call at a time; a thread that finds the runtime busy sleeps, for much longer than a call takes.
// Threads that wait for this lock spin instead.
std::unique_lock<std::mutex> lock_hip_calls(std::mutex& mutex) {
  return base::spin_then_lock(mutex);
}

// Blocks until the work enqueued on the stream so far is done.
void wait_for_work(stream_ref stream) {
  event reached;
  reached.record(stream);
  reached.synchronize();
}

// Uploads chunks. The source has been read when all items are done. An item is a chunk.
class parallel_upload final : public parallel_work {
 public:
  // Uploads on internal streams.
  parallel_upload(staged_work const& work, chunk_streams const& streams)
      : work_(work),
        streams_(streams),
        client_(client::internal_upload),
        is_earlier_work_done_(true),
        queue_(work, chunk_queue::operation::pack) {}
  // Uploads on a user's stream, on which it records an event unless it is a per-thread stream.
  parallel_upload(staged_work const& work, stream_ref stream)
      : work_(work),
        streams_(stream),
        client_(client::user_upload),
        is_earlier_work_done_(false),
        queue_(work, chunk_queue::operation::pack) {
    // Only the calling thread runs the chunks of a per-thread stream: workers wait for nothing.
    if (!runtime::is_per_thread_handle(stream.handle())) earlier_work_.emplace().record(stream);
  }

  bool run_item(std::size_t chunk, bool may_block) override {
    stream_ref const stream = streams_.of(chunk);
    auto& pool = staging_pool::pinned(client_);
    std::size_t const bytes = staging_bytes(work_, chunk);
    std::optional<chunk_queue::reservation> reserved(std::in_place, queue_);
    staging_buffer_ptr buffer = pool.try_acquire(bytes, stream);
    if (buffer == nullptr) {
      if (!may_block) return false;
      reserved.reset();  // other threads must not spin while this one waits for memory
      buffer = pool.acquire(bytes, stream);
    }
    staging_slot slot = slot_in(*buffer, work_, chunk, stream);
    slot.item_count = work_.write_description(chunk, slot);
    queue_.run_chunk(chunk, slot.data, reserved);
    auto lock = lock_hip_calls(hip_calls_);
    staging_buffer_ptr const released_at_return = std::move(buffer);
    staging_buffer_ptr scratch;
    if (std::size_t const scratch_bytes = work_.scratch_bytes(chunk); scratch_bytes != 0) {
      auto& scratch_pool = staging_pool::device_scratch(client_);
      constexpr auto access = staging_pool::access::stream_ordered;
      scratch = scratch_pool.try_acquire(scratch_bytes, stream, access);
      if (scratch == nullptr) {
        if (!may_block) return false;
        lock.unlock();  // threads that must not block can enqueue their chunks meanwhile
        scratch = scratch_pool.acquire(scratch_bytes, stream, access);
        base::spin_then_lock(lock);
      }
      slot.scratch = scratch->data();
    }
    work_.enqueue_device_step(chunk, slot);
    return true;
  }
  // While earlier work of a user's stream is pending, memory used on that stream does not become
  // free, and workers must not wait for it.
  bool may_defer() const noexcept override { return true; }
  bool can_workers_block() const override {
    if (!is_earlier_work_done_ && earlier_work_) is_earlier_work_done_ = earlier_work_->query();
    return is_earlier_work_done_;
  }
  bool can_help() const noexcept override { return queue_.has_tasks(); }
  void help() override { queue_.help(); }
  // The device can start with a chunk only after all of its tasks are done, so threads finish begun
  // chunks before they begin others.
  bool is_help_preferred() const noexcept override { return queue_.has_many_tasks(); }

 private:
  staged_work const& work_;
  chunk_streams streams_;
  client client_;
  std::optional<event> earlier_work_;  // recorded on a user's stream before the transfer
  mutable std::atomic<bool> is_earlier_work_done_;
  std::mutex hip_calls_;
  chunk_queue queue_;
};

// Uploads chunks on a per-thread stream. The one item is all chunks, which the thread that calls
// thread_pool::run begins one after the other, because in a worker the handle of the stream would
// name the worker's own one. Workers help to pack.
class per_thread_upload final : public parallel_work {
 public:
  per_thread_upload(staged_work const& work, stream_ref stream)
      : chunk_count_(work.chunk_count()), upload_(work, stream) {}

  bool run_item(std::size_t, bool) override {
    for (std::size_t chunk = 0; chunk != chunk_count_; ++chunk) upload_.run_item(chunk, true);
    return true;
  }
  bool can_help() const noexcept override { return upload_.can_help(); }
  void help() override { upload_.help(); }

 private:
  std::size_t chunk_count_;
  parallel_upload upload_;
};

// Downloads chunks on internal streams. An item is a chunk; its thread waits for the device and
// then unpacks it with the help of others.
class parallel_download final : public parallel_work {
 public:
  explicit parallel_download(staged_work const& work)
      : work_(work),
        streams_(work, runtime::internal_stream_use::download,
                 runtime::internal_stream_use::second_download),
        queue_(work, chunk_queue::operation::unpack) {}

  bool run_item(std::size_t chunk, bool) override {
    stream_ref const stream = streams_.of(chunk);
    auto& pool = staging_pool::pinned(client::internal_download);
    std::size_t const bytes = staging_bytes(work_, chunk);
    event arrived;
    auto const buffer = pool.acquire(bytes, stream);
    staging_slot slot = slot_in(*buffer, work_, chunk, stream);
    slot.item_count = work_.write_description(chunk, slot);
    try {
      {
        // Under one lock, so that the event comes after this chunk and before the chunks that other
        // threads enqueue.
        auto const lock = lock_hip_calls(hip_calls_);
        staging_buffer_ptr scratch;  // released here, so that later chunks of the stream reuse it
        if (std::size_t const scratch_bytes = work_.scratch_bytes(chunk); scratch_bytes != 0) {
          scratch = staging_pool::device_scratch(client::internal_download)
                        .acquire(scratch_bytes, stream, staging_pool::access::stream_ordered);
          slot.scratch = scratch->data();
        }
        work_.enqueue_device_step(chunk, slot);
        arrived.record(stream);
      }
      arrived.synchronize();
    } catch (...) {
      // No pending work may still read the caller's memory, or use the buffer after its release.
      if (!runtime::synchronize_quietly(stream)) buffer->abandon();
      throw;
    }
    // There is no reservation, because the time of the chunk's arrival was unknown.
    std::optional<chunk_queue::reservation> no_reservation;
    queue_.run_chunk(chunk, slot.data, no_reservation);
    return true;
  }
  bool can_help() const noexcept override { return queue_.has_tasks(); }
  void help() override { queue_.help(); }

 private:
  staged_work const& work_;
  chunk_streams streams_;
  std::mutex hip_calls_;
  chunk_queue queue_;
};

}  // namespace

void upload_and_wait(staged_work const& work) {
  chunk_streams const streams(work, runtime::internal_stream_use::upload,
                              runtime::internal_stream_use::second_upload);
  parallel_upload upload(work, streams);
  try {
    thread_pool::instance().run(work.chunk_count(), upload);
    streams.for_each(wait_for_work);
  } catch (...) {
    // No pending work may still write the caller's memory. The buffers belong to the streams.
    streams.for_each([](stream_ref stream) { runtime::synchronize_quietly(stream); });
    throw;
  }
}

void download_and_wait(staged_work const& work) {
  parallel_download download(work);
  thread_pool::instance().run(work.chunk_count(), download);
}

void upload_on_stream(staged_work const& work, stream_ref stream) {
  if (runtime::is_per_thread_handle(stream.handle())) {
    per_thread_upload upload(work, stream);
    return thread_pool::instance().run(1, upload);
  }
  parallel_upload upload(work, stream);
  thread_pool::instance().run(work.chunk_count(), upload);
}

}  // namespace roc::transfer
