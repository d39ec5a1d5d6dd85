// SPDX-License-Identifier: MIT
// Staged work in the order of a user's stream: the CPU's part is host functions.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "copy/staging/staging_pool.hpp"
#include "platform/call.hpp"
#include "runtime/auxiliary_streams.hpp"
#include "runtime/stream.hpp"
#include "copy/staging/staged.hpp"
#include "copy/staging/thread_pool.hpp"

namespace roc::transfer {
namespace {

using memory::staging_pool;
using holder = staging_pool::holder;
using lease_ptr = std::unique_ptr<staging_pool::lease>;

// What the CPU does with a chunk in the order of a stream, shared with the workers. It runs on a
// thread of the runtime, which must not call HIP nor wait for a thread that does: a call elsewhere,
// hipFree for one, may hold the runtime until this very chunk is done.
struct host_work final : public pieces {
  std::shared_ptr<staged_work const> work;
  std::size_t chunk = 0;
  std::byte* data = nullptr;
  bool packs = false;
  thread_pool* team = nullptr;

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
  job->team = &thread_pool::instance();
  ROCARRAY_HIP(hipLaunchHostFunc, stream, &host_work::run_all, job.get());
  static_cast<void>(job.release());  // deleted by run_all
}

// What a chunk's two steps are: the CPU's comes first to the device, and last on the way back.
class steps {
 public:
  steps(std::shared_ptr<staged_work const> work, direction way)
      : work_(std::move(work)), up_(way == direction::host_to_device) {}

  void enqueue_first(std::size_t chunk, stage const& at) const { enqueue(up_, chunk, at); }
  void enqueue_second(std::size_t chunk, stage const& at) const { enqueue(!up_, chunk, at); }

 private:
  void enqueue(bool by_cpu, std::size_t chunk, stage const& at) const {
    if (by_cpu) {
      enqueue_host_work(work_, chunk, at.data, up_, runtime::handle(at.stream));
      return;
    }
    stage described = at;
    described.items = work_->describe(chunk, at);
    if (up_) {
      static_cast<void>(work_->send(chunk, described, true));
    } else {
      work_->fetch(chunk, described);
    }
  }

  std::shared_ptr<staged_work const> work_;
  bool up_;
};

// What the device is told is written when the work is enqueued, for all chunks.
struct staging_needs {
  std::size_t descriptions = 0;
  std::size_t most_data = 0;

  explicit staging_needs(staged_work const& work) {
    for (std::size_t chunk = 0; chunk != work.chunks(); ++chunk) {
      descriptions += work.description_bytes(chunk);
      most_data = std::max(most_data, work.data_bytes(chunk));
    }
  }
  // Descriptions are written at once.
  staging_pool::access how() const noexcept {
    return descriptions == 0 ? staging_pool::access::stream_order : staging_pool::access::any_time;
  }
};

// One piece of memory is enough for the data: the stream's order keeps its uses apart.
void enqueue_in_turns(std::shared_ptr<staged_work const> work, direction way, stream_ref stream) {
  staging_needs const needs(*work);
  auto const staging = staging_pool::staging(holder::behind_work)
                           .acquire(needs.descriptions + needs.most_data, stream, needs.how());
  stage at{staging->data(), staging->data() + needs.descriptions, stream, holder::behind_work};
  steps const each(work, way);
  for (std::size_t chunk = 0; chunk != work->chunks(); ++chunk) {
    each.enqueue_first(chunk, at);
    each.enqueue_second(chunk, at);
    at.description += work->description_bytes(chunk);
  }
}

// The link and the CPU at the same time: each has a stream beside the user's, which waits for both,
// and several pieces of memory go round.
void enqueue_overlapped(std::shared_ptr<staged_work const> work, direction way, stream_ref stream,
                        runtime::auxiliary_streams& side) {
  constexpr std::size_t most_slots = runtime::auxiliary_streams::most_slots;
  staging_needs const needs(*work);
  auto& pool = staging_pool::staging(holder::behind_work);
  std::array<lease_ptr, most_slots> slots;
  // Of the user's stream, which waits for the last use: its next copies may have them again.
  slots[0] = pool.acquire(needs.descriptions + needs.most_data, stream, needs.how());
  std::size_t count = 1;
  // Not waiting: who holds memory must not.
  for (; count != std::min(most_slots, work->chunks()); ++count) {
    slots[count] = pool.try_acquire(needs.most_data, stream, staging_pool::access::stream_order);
    if (slots[count] == nullptr) break;
  }
  std::byte* description = slots[0]->data();
  steps const each(work, way);
  try {
    side.begun.record(stream);
    side.first.wait(side.begun);
    for (std::size_t chunk = 0; chunk != work->chunks(); ++chunk) {
      std::size_t const slot = chunk % count;
      std::byte* const data = slots[slot]->data() + (slot == 0 ? needs.descriptions : 0);
      if (chunk >= count) side.first.wait(side.freed[slot]);
      each.enqueue_first(chunk, {description, data, side.first, holder::behind_work});
      side.half.record(side.first);
      side.second.wait(side.half);
      each.enqueue_second(chunk, {description, data, side.second, holder::behind_work});
      side.freed[slot].record(side.second);
      description += work->description_bytes(chunk);
    }
    side.done.record(side.second);
    stream.wait(side.done);
  } catch (...) {
    // Part of it may be on its way, with memory that the caller frees now.
    runtime::synchronize_quietly(side.first);
    runtime::synchronize_quietly(side.second);
    throw;
  }
}

}  // namespace

void enqueue_staged(std::shared_ptr<staged_work const> work, direction way, stream_ref stream) {
  if (work->chunks() > 1) {
    runtime::side_streams_hold const side;
    if (side) return enqueue_overlapped(std::move(work), way, stream, *side);
  }
  enqueue_in_turns(std::move(work), way, stream);
}

}  // namespace roc::transfer
