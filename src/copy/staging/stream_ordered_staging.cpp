// SPDX-License-Identifier: MIT
#include "copy/staging/stream_ordered_staging.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "copy/host_function.hpp"
#include "copy/staging/staging_pool.hpp"
#include "copy/staging/thread_pool.hpp"
#include "runtime/auxiliary_streams.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::transfer {
namespace {

constexpr auto user_stream = staging_pool::client::user_stream;

// Packs or unpacks one chunk in a host function of a stream, together with the thread pool. An item
// is a task.
struct host_step final : public parallel_work {
  std::shared_ptr<staged_work const> work;
  std::size_t chunk = 0;
  std::byte* data = nullptr;
  bool packs = false;
  thread_pool* threads = nullptr;  // of the device; looking it up in a host function would call HIP

  // Runs all tasks.
  void operator()() noexcept {
    threads->run(work->task_count(chunk), *this);  // does not throw, because run_item does not
  }

  bool run_item(std::size_t task, bool) noexcept override {
    if (packs) {
      work->pack(chunk, task, data);
    } else {
      work->unpack(chunk, task, data);
    }
    return true;
  }
};

// Enqueues the two steps of each chunk. To the device, the CPU packs and then the device transfers;
// from the device, the device transfers and then the CPU unpacks.
class chunk_steps {
 public:
  chunk_steps(std::shared_ptr<staged_work const> work, copy_kind kind)
      : work_(std::move(work)), is_upload_(kind == copy_kind::host_to_device) {}

  void enqueue_first(std::size_t chunk, staging_slot const& slot) const {
    enqueue(is_upload_, chunk, slot);
  }
  void enqueue_second(std::size_t chunk, staging_slot const& slot) const {
    enqueue(!is_upload_, chunk, slot);
  }

 private:
  void enqueue(bool on_cpu, std::size_t chunk, staging_slot const& slot) const {
    if (on_cpu) {
      host_step step;
      step.work = work_;
      step.chunk = chunk;
      step.data = slot.data;
      step.packs = is_upload_;
      step.threads = &thread_pool::instance();
      return enqueue_host_function(runtime::handle(slot.stream), std::move(step));
    }
    staging_slot described = slot;
    described.item_count = work_->write_description(chunk, slot);
    if (is_upload_) {
      static_cast<void>(work_->enqueue_upload(chunk, described, true));
    } else {
      work_->enqueue_download(chunk, described);
    }
  }

  std::shared_ptr<staged_work const> work_;
  bool is_upload_;
};

// The staging memory of a transfer: the descriptions of all chunks, which are written when the
// transfer is enqueued, and the data of the largest chunk.
struct staging_needs {
  std::size_t description_bytes = 0;
  std::size_t max_data_bytes = 0;

  explicit staging_needs(staged_work const& work) {
    for (std::size_t chunk = 0; chunk != work.chunk_count(); ++chunk) {
      description_bytes += work.description_bytes(chunk);
      max_data_bytes = std::max(max_data_bytes, work.data_bytes(chunk));
    }
  }
  // Descriptions are written now, before the stream reaches the transfer, so their memory must be
  // free now.
  staging_pool::access access() const noexcept {
    return description_bytes == 0 ? staging_pool::access::stream_ordered
                                  : staging_pool::access::immediate;
  }
};

// Enqueues all steps on the user's stream. One data buffer is enough: the stream's order separates
// its uses.
void enqueue_on_one_stream(std::shared_ptr<staged_work const> work, copy_kind kind,
                           stream_ref stream) {
  staging_needs const needs(*work);
  auto const buffer =
      staging_pool::pinned(user_stream)
          .acquire(needs.description_bytes + needs.max_data_bytes, stream, needs.access());
  staging_slot slot{buffer->data(), buffer->data() + needs.description_bytes, stream, user_stream};
  chunk_steps const steps(work, kind);
  for (std::size_t chunk = 0; chunk != work->chunk_count(); ++chunk) {
    steps.enqueue_first(chunk, slot);
    steps.enqueue_second(chunk, slot);
    slot.description += work->description_bytes(chunk);
  }
}

// Enqueues the first steps on one auxiliary stream and the second steps on the other, so that the
// link and the CPU work at the same time. The chunks use several data buffers in turn. The user's
// stream waits for both.
void enqueue_overlapped(std::shared_ptr<staged_work const> work, copy_kind kind, stream_ref stream,
                        runtime::auxiliary_streams& auxiliary) {
  constexpr std::size_t max_slots = runtime::auxiliary_streams::max_slots;
  staging_needs const needs(*work);
  auto& pool = staging_pool::pinned(user_stream);
  std::array<staging_buffer_ptr, max_slots> buffers;
  // The buffers belong to the user's stream, which waits for their last use: the next copies on
  // that stream may reuse them without waiting.
  buffers[0] = pool.acquire(needs.description_bytes + needs.max_data_bytes, stream, needs.access());
  std::size_t count = 1;
  // try_acquire, because a thread that holds staging memory must not wait for more.
  for (; count != std::min(max_slots, work->chunk_count()); ++count) {
    buffers[count] =
        pool.try_acquire(needs.max_data_bytes, stream, staging_pool::access::stream_ordered);
    if (buffers[count] == nullptr) break;
  }
  std::byte* description = buffers[0]->data();
  chunk_steps const steps(work, kind);
  try {
    auxiliary.input_ready.record(stream);
    auxiliary.first.wait(auxiliary.input_ready);
    for (std::size_t chunk = 0; chunk != work->chunk_count(); ++chunk) {
      std::size_t const slot = chunk % count;
      std::byte* const data = buffers[slot]->data() + (slot == 0 ? needs.description_bytes : 0);
      if (chunk >= count) auxiliary.first.wait(auxiliary.slot_free[slot]);
      steps.enqueue_first(chunk, {description, data, auxiliary.first, user_stream});
      auxiliary.first_done.record(auxiliary.first);
      auxiliary.second.wait(auxiliary.first_done);
      steps.enqueue_second(chunk, {description, data, auxiliary.second, user_stream});
      auxiliary.slot_free[slot].record(auxiliary.second);
      description += work->description_bytes(chunk);
    }
    auxiliary.done.record(auxiliary.second);
    stream.wait(auxiliary.done);
  } catch (...) {
    // No pending work may still use the caller's memory, or the buffers after their release: their
    // stream is not ordered after the auxiliary streams yet.
    bool const is_first_idle = runtime::synchronize_quietly(auxiliary.first);
    if (!runtime::synchronize_quietly(auxiliary.second) || !is_first_idle) {
      for (staging_buffer_ptr const& buffer : buffers) {
        if (buffer) buffer->abandon();
      }
    }
    throw;
  }
}

}  // namespace

void enqueue_stream_ordered(std::shared_ptr<staged_work const> work, copy_kind kind,
                            stream_ref stream) {
  if (work->chunk_count() > 1) {
    runtime::auxiliary_streams_guard const auxiliary(stream);
    if (auxiliary) return enqueue_overlapped(std::move(work), kind, stream, *auxiliary);
  }
  enqueue_on_one_stream(std::move(work), kind, stream);
}

}  // namespace roc::transfer
