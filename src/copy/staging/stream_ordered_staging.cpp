// SPDX-License-Identifier: MIT
#include "copy/staging/stream_ordered_staging.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/options.hpp"
#include "base/round_up.hpp"
#include "copy/host_function.hpp"
#include "copy/staging/staging_driver.hpp"
#include "copy/staging/staging_pool.hpp"
#include "copy/staging/thread_pool.hpp"
#include "platform/call.hpp"
#include "runtime/auxiliary_streams.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/internal_stream.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::transfer {
namespace {

using client = staging_pool::client;

client user_client(copy_kind kind) noexcept {
  return kind == copy_kind::host_to_device ? client::user_upload : client::user_download;
}

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
      return enqueue_host_function(slot.stream, std::move(step));
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
// its uses. A graph keeps its buffers: its copies share one for the data, while the descriptions
// have buffers of their own.
void enqueue_on_one_stream(std::shared_ptr<staged_work const> work, copy_kind kind,
                           stream_ref stream, bool may_be_captured) {
  staging_needs const needs(*work);
  client const pool_client = user_client(kind);
  auto& pool = staging_pool::pinned(pool_client);
  staging_slot slot{nullptr, nullptr, stream, pool_client};
  staging_buffer_ptr descriptions;
  staging_buffer_ptr data;
  if (may_be_captured && needs.description_bytes != 0) {
    descriptions = pool.acquire(needs.description_bytes, stream);
    data = pool.acquire(needs.max_data_bytes, stream, staging_pool::access::stream_ordered);
    slot.description = descriptions->data();
    slot.data = data->data();
  } else {
    data = pool.acquire(needs.description_bytes + needs.max_data_bytes, stream, needs.access());
    slot.description = data->data();
    slot.data = data->data() + needs.description_bytes;
  }
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
                        runtime::auxiliary_streams_guard& guard) {
  runtime::auxiliary_streams& auxiliary = *guard;
  constexpr std::size_t max_slots = runtime::auxiliary_streams::max_slots;
  staging_needs const needs(*work);
  client const pool_client = user_client(kind);
  auto& pool = staging_pool::pinned(pool_client);
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
      steps.enqueue_first(chunk, {description, data, auxiliary.first, pool_client});
      auxiliary.first_done.record(auxiliary.first);
      auxiliary.second.wait(auxiliary.first_done);
      steps.enqueue_second(chunk, {description, data, auxiliary.second, pool_client});
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
      guard.abandon();
    }
    throw;
  }
}

// The staging memory of a transfer by values.
struct value_buffers {
  static constexpr std::size_t slot_alignment = 256;

  std::array<staging_buffer_ptr, value_staging::max_slots> buffers;  // each at its first slot
  std::byte* description = nullptr;  // in the first buffer, before its data

  // Fills in the slots of `transfer`. Blocks until there is memory for one slot if `may_block`.
  value_buffers(driven_transfer& transfer, stream_ref stream, client pool_client, bool may_block) {
    staging_needs const needs(*transfer.work);
    auto& pool = staging_pool::pinned(pool_client);
    std::size_t const slot_bytes = base::round_up(needs.max_data_bytes, slot_alignment);
    std::size_t const wanted = std::min(buffers.size(), transfer.work->chunk_count());
    for (std::size_t& count = transfer.slot_count; count != wanted;) {
      // The CPU uses the slots after the user's stream has reached the transfer, so that they may
      // be those of earlier transfers of that stream; but it writes the description now.
      bool const is_first = count == 0;
      std::size_t const description_bytes = is_first ? needs.description_bytes : 0;
      auto const access = is_first ? needs.access() : staging_pool::access::stream_ordered;
      // In as few blocks as possible, because a block with one used slot serves no other stream.
      std::size_t slots = std::clamp<std::size_t>(
          (pool.block_bytes() - description_bytes) / slot_bytes, 1, wanted - count);
      // try_acquire, because a thread that holds staging memory must not wait for more.
      staging_buffer_ptr& buffer = buffers[count];
      buffer = pool.try_acquire(description_bytes + (slots - 1) * slot_bytes + needs.max_data_bytes,
                                stream, access);
      if (buffer == nullptr && !(is_first && may_block)) break;
      if (buffer == nullptr) {
        slots = 1;
        buffer = pool.acquire(description_bytes + needs.max_data_bytes, stream, access);
      }
      if (is_first) description = buffer->data();
      for (std::size_t i = 0; i != slots; ++i) {
        transfer.slots[count++] = buffer->data() + description_bytes + i * slot_bytes;
      }
    }
  }
  void abandon() noexcept {
    for (staging_buffer_ptr const& buffer : buffers) {
      if (buffer) buffer->abandon();
    }
  }
};

// The device's part of a transfer by values, on the stream `first` of a pair. The CPU's part is
// that of staging_driver.
class value_steps {
 public:
  // `scratch_client` is the client of the scratch memory for which the steps may block.
  value_steps(driven_transfer const& transfer, runtime::auxiliary_streams& pair,
              std::byte* description, client scratch_client)
      : transfer_(transfer), pair_(pair), description_(description), client_(scratch_client) {}

  // Enqueues all steps in the order of `stream`, and makes `stream` wait for the transfer. No value
  // is awaited on the user's stream: it waits for an event, so that the runtime knows the order of
  // the streams and does not queue them in another one.
  void enqueue_in_order_of(stream_ref stream) {
    pair_.input_ready.record(stream);
    pair_.first.wait(pair_.input_ready);
    enqueue();
    stream.wait(pair_.done);
  }
  // Enqueues all steps, and records the event `done` of the pair after them.
  void enqueue() {
    staged_work const& work = *transfer_.work;
    if (transfer_.is_upload) write(transfer_.started());
    for (std::size_t chunk = 0; chunk != work.chunk_count(); ++chunk) {
      if (transfer_.is_upload) {
        wait(transfer_.cpu_done(chunk));
      } else if (chunk >= transfer_.slot_count) {
        wait(transfer_.cpu_done(chunk - transfer_.slot_count));
      }
      enqueue_transfer(chunk);
      if (is_awaited(chunk)) write(transfer_.device_done(chunk));
    }
    if (!transfer_.is_upload) wait(transfer_.cpu_done(work.chunk_count() - 1));
    pair_.done.record(pair_.first);
  }

 private:
  // Returns true if the CPU waits for the device's step of the chunk: it unpacks the chunk, or
  // packs a later chunk into the same slot.
  bool is_awaited(std::size_t chunk) const noexcept {
    return !transfer_.is_upload || chunk + transfer_.slot_count < transfer_.work->chunk_count();
  }
  void enqueue_transfer(std::size_t chunk) {
    staged_work const& work = *transfer_.work;
    staging_slot slot{description_, transfer_.slots[chunk % transfer_.slot_count], pair_.first,
                      client_};
    slot.item_count = work.write_description(chunk, slot);
    if (transfer_.is_upload) {
      static_cast<void>(work.enqueue_upload(chunk, slot, true));
    } else {
      work.enqueue_download(chunk, slot);
    }
    description_ += work.description_bytes(chunk);
  }
  // The device writes its counter after its earlier work on the stream is visible to the CPU, which
  // is what the operation does without flags.
  void write(std::uint64_t value) {
    ROCARRAY_HIP(hipStreamWriteValue64, runtime::handle(pair_.first),
                 &pair_.device_counters->device, value, 0);
  }
  void wait(std::uint64_t value) {
    ROCARRAY_HIP(hipStreamWaitValue64, runtime::handle(pair_.first), &pair_.device_counters->cpu,
                 value, hipStreamWaitValueGte);
  }

  driven_transfer const& transfer_;
  runtime::auxiliary_streams& pair_;
  std::byte* description_;
  client client_;
};

// Gives the CPU's steps of a transfer to the driver, and calls `enqueue`, which enqueues the
// device's steps on the pair. The driver has the transfer before the first step is enqueued: the
// CPU works while the later ones are.
template <class F>
void drive(staging_driver& driver, driven_transfer const& transfer, value_buffers& memory,
           runtime::auxiliary_streams_guard& auxiliary, F enqueue) {
  runtime::auxiliary_streams& pair = *auxiliary;
  staging_driver::ticket const ticket = driver.add(transfer);
  pair.last_value = transfer.last_value();
  try {
    enqueue();
  } catch (...) {
    // No thread and no pending work may still use the caller's memory, or the buffers after their
    // release. The steps that were enqueued end by themselves: each waits only for those before it,
    // and the driver has the transfer.
    bool const is_idle = runtime::synchronize_quietly(pair.first);
    // If it is not known whether they have ended, they must not wait for the driver for ever.
    driver.withdraw(ticket, !is_idle);
    if (!is_idle) {
      memory.abandon();
      auxiliary.abandon();
    }
    throw;
  }
}

driven_transfer make_driven(std::shared_ptr<staged_work const> work, copy_kind kind,
                            runtime::auxiliary_streams const& pair) {
  return {
      std::move(work), kind == copy_kind::host_to_device, pair.counters, pair.last_value, {}, 0};
}

// Enqueues the device's steps on a pair of auxiliary streams, in the order of `stream`.
void enqueue_with_driver(staging_driver& driver, std::shared_ptr<staged_work const> work,
                         copy_kind kind, stream_ref stream,
                         runtime::auxiliary_streams_guard& auxiliary) {
  client const pool_client = user_client(kind);
  driven_transfer transfer = make_driven(std::move(work), kind, *auxiliary);
  value_buffers memory(transfer, stream, pool_client, true);
  drive(driver, transfer, memory, auxiliary, [&] {
    value_steps(transfer, *auxiliary, memory.description, pool_client).enqueue_in_order_of(stream);
  });
}

// The method of stream_staging_method::automatic. On AMD, waits for values need memory of a kind of
// their own in some versions, and their speed is unknown. On the host platform, every wait polls,
// and host functions run on the threads of their streams: values gain nothing.
#if ROCARRAY_PLATFORM_NVIDIA
constexpr bool are_values_default = true;
#else
constexpr bool are_values_default = false;
#endif

}  // namespace

bool is_value_staging_selected() noexcept {
  stream_staging_method const wanted = base::options().stream_staging;
  return wanted == stream_staging_method::automatic ? are_values_default
                                                    : wanted == stream_staging_method::values;
}

staging_driver* driver_for(stream_ref stream) {
  // A graph would contain waits for values that nobody writes when it is launched.
  if (!is_value_staging_selected() || runtime::may_be_captured_by_hip(stream)) return nullptr;
  staging_driver& driver = staging_driver::instance();
  return driver.start() ? &driver : nullptr;
}

void enqueue_stream_ordered(std::shared_ptr<staged_work const> work, copy_kind kind,
                            stream_ref stream, staging_driver* driver) {
  // The auxiliary streams and their events are shared with work that is not captured.
  bool const may_be_captured = runtime::may_be_captured(stream);
  if (!may_be_captured && (driver != nullptr || work->chunk_count() > 1)) {
    runtime::auxiliary_streams_guard auxiliary(stream);
    if (auxiliary && driver != nullptr && runtime::progress_counters_of(*auxiliary) != nullptr) {
      return enqueue_with_driver(*driver, std::move(work), kind, stream, auxiliary);
    }
    if (auxiliary && work->chunk_count() > 1) {
      return enqueue_overlapped(std::move(work), kind, stream, auxiliary);
    }
  }
  enqueue_on_one_stream(std::move(work), kind, stream, may_be_captured);
}

bool transfer_by_values_and_wait(std::shared_ptr<staged_work const> work, copy_kind kind) {
  // With fewer slots, the CPU and the device would wait for each other.
  constexpr std::size_t min_slots = value_staging::max_slots / 2;
  bool const is_upload = kind == copy_kind::host_to_device;
  stream_ref const user = runtime::internal_stream(
      is_upload ? runtime::internal_stream_use::upload : runtime::internal_stream_use::download);
  staging_driver* const driver = driver_for(user);
  if (driver == nullptr) return false;
  runtime::auxiliary_streams_guard auxiliary(user);
  if (!auxiliary || runtime::progress_counters_of(*auxiliary) == nullptr) return false;
  runtime::auxiliary_streams& pair = *auxiliary;
  driven_transfer transfer = make_driven(std::move(work), kind, pair);
  // Not blocking: memory used on a user's stream may become free late.
  value_buffers memory(transfer, pair.first, user_client(kind), false);
  if (transfer.slot_count < std::min(min_slots, transfer.work->chunk_count())) return false;
  drive(*driver, transfer, memory, auxiliary, [&] {
    // The steps block for scratch memory, which must not be that of users' streams either.
    client const scratch = is_upload ? client::internal_upload : client::internal_download;
    value_steps(transfer, pair, memory.description, scratch).enqueue();
    pair.done.synchronize();
  });
  return true;
}

}  // namespace roc::transfer
