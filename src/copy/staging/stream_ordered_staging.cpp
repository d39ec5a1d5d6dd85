// SPDX-License-Identifier: MIT
#include "copy/staging/stream_ordered_staging.hpp"

#include <algorithm>
#include <array>
#include <exception>
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
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/host_function_errors.hpp"
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
    work_->enqueue_device_step(chunk, described);
  }

  std::shared_ptr<staged_work const> work_;
  bool is_upload_;
};

// The memory of a transfer: the descriptions of all chunks, which are written when the transfer is
// enqueued, and the data and the scratch memory of the largest chunk.
struct staging_needs {
  std::size_t description_bytes = 0;
  std::size_t max_data_bytes = 0;
  std::size_t max_scratch_bytes = 0;

  explicit staging_needs(staged_work const& work) {
    for (std::size_t chunk = 0; chunk != work.chunk_count(); ++chunk) {
      description_bytes += work.description_bytes(chunk);
      max_data_bytes = std::max(max_data_bytes, work.data_bytes(chunk));
      max_scratch_bytes = std::max(max_scratch_bytes, work.scratch_bytes(chunk));
    }
  }
  // Descriptions are written now, before the stream reaches the transfer, so their memory must be
  // free now.
  staging_pool::access access() const noexcept {
    return description_bytes == 0 ? staging_pool::access::stream_ordered
                                  : staging_pool::access::immediate;
  }
  // Acquires scratch memory for `stream`, which must wait for the transfer even if the device's
  // steps are on other streams. Returns null if the work needs none. Blocks until memory is free.
  staging_buffer_ptr acquire_scratch(stream_ref stream, client pool_client) const {
    if (max_scratch_bytes == 0) return nullptr;
    return staging_pool::device_scratch(pool_client)
        .acquire(max_scratch_bytes, stream, staging_pool::access::stream_ordered);
  }
};

std::byte* data_of(staging_buffer_ptr const& buffer) noexcept {
  return buffer == nullptr ? nullptr : buffer->data();
}

// Enqueues all steps on the user's stream. One buffer of each kind is enough: the stream's order
// separates its uses. A graph keeps its buffers: its copies share one for the data, while the
// descriptions have buffers of their own.
void enqueue_on_one_stream(std::shared_ptr<staged_work const> work, copy_kind kind,
                           stream_ref stream, bool may_be_captured) {
  staging_needs const needs(*work);
  client const pool_client = user_client(kind);
  auto& pool = staging_pool::pinned(pool_client);
  staging_buffer_ptr descriptions;
  staging_buffer_ptr data;
  staging_slot slot{nullptr, nullptr, nullptr, stream};
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
  staging_buffer_ptr const scratch = needs.acquire_scratch(stream, pool_client);
  slot.scratch = data_of(scratch);
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
  // One buffer is enough: only the steps on one of the streams use it.
  staging_buffer_ptr const scratch = needs.acquire_scratch(stream, pool_client);
  std::byte* description = buffers[0]->data();
  chunk_steps const steps(work, kind);
  try {
    auxiliary.input_ready.record(stream);
    auxiliary.first.wait(auxiliary.input_ready);
    for (std::size_t chunk = 0; chunk != work->chunk_count(); ++chunk) {
      std::size_t const slot = chunk % count;
      std::byte* const data = buffers[slot]->data() + (slot == 0 ? needs.description_bytes : 0);
      if (chunk >= count) auxiliary.first.wait(auxiliary.slot_free[slot]);
      steps.enqueue_first(chunk, {description, data, data_of(scratch), auxiliary.first});
      auxiliary.step_done.record(auxiliary.first);
      auxiliary.second.wait(auxiliary.step_done);
      steps.enqueue_second(chunk, {description, data, data_of(scratch), auxiliary.second});
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
      if (scratch) scratch->abandon();
      guard.abandon();
    }
    throw;
  }
}

// The memory of a transfer by values.
struct value_buffers {
  static constexpr std::size_t slot_alignment = 256;

  staging_needs needs;
  std::array<staging_buffer_ptr, value_staging::max_slots> buffers;  // each at its first slot
  std::byte* description = nullptr;           // in the first buffer, before its data
  std::array<staging_buffer_ptr, 2> scratch;  // one for each stream, if needed

  // Fills in the slots of `transfer`. Blocks until there is memory for one slot if `may_block`.
  value_buffers(driven_transfer& transfer, stream_ref stream, client pool_client, bool may_block)
      : needs(*transfer.work) {
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
  // Acquires the scratch memory, and decides how many streams the transfer uses: two if the device
  // executes kernels, which then overlap with the transfers of other chunks. Blocks until there is
  // memory for one stream.
  void acquire_scratch(driven_transfer& transfer, stream_ref stream, client pool_client) {
    staged_work const& work = *transfer.work;
    scratch[0] = needs.acquire_scratch(stream, pool_client);
    if (!work.has_kernels() || work.chunk_count() == 1) return;
    if (needs.max_scratch_bytes != 0) {
      // try_acquire, because a thread that holds scratch memory must not wait for more.
      scratch[1] =
          staging_pool::device_scratch(pool_client)
              .try_acquire(needs.max_scratch_bytes, stream, staging_pool::access::stream_ordered);
      if (scratch[1] == nullptr) return;
    }
    transfer.stream_count = 2;
  }
  void abandon() noexcept {
    auto const abandon_each = [](auto const& all) {
      for (staging_buffer_ptr const& buffer : all) {
        if (buffer) buffer->abandon();
      }
    };
    abandon_each(buffers);
    abandon_each(scratch);
  }
};

// The device's part of a transfer by values, on one or both streams of a pair. The CPU's part is
// that of staging_driver.
class value_steps {
 public:
  value_steps(driven_transfer const& transfer, runtime::auxiliary_streams& pair,
              value_buffers const& memory)
      : transfer_(transfer), pair_(pair), memory_(memory), description_(memory.description) {}

  // Enqueues all steps in the order of `stream`, and makes `stream` wait for the transfer. No value
  // is awaited on the user's stream: it waits for an event, so that the runtime knows the order of
  // the streams and does not queue them in another one.
  void enqueue_in_order_of(stream_ref stream) {
    pair_.input_ready.record(stream);
    pair_.first.wait(pair_.input_ready);
    if (has_two_streams()) pair_.second.wait(pair_.input_ready);
    enqueue();
    stream.wait(pair_.done);
  }
  // Enqueues all steps, and records the event `done` of the pair after them. Precondition: the
  // streams of the pair wait for what the steps need.
  void enqueue() {
    staged_work const& work = *transfer_.work;
    if (transfer_.is_upload) write(0, transfer_.started());
    for (std::size_t chunk = 0; chunk != work.chunk_count(); ++chunk) {
      std::size_t const stream_index = chunk % transfer_.stream_count;
      if (transfer_.is_upload) {
        wait(stream_index, transfer_.cpu_done(chunk));
      } else if (chunk >= transfer_.slot_count) {
        wait(stream_index, transfer_.cpu_done(chunk - transfer_.slot_count));
      }
      enqueue_transfer(chunk, stream_index);
      if (is_awaited(chunk)) write(stream_index, transfer_.device_done(chunk));
    }
    if (has_two_streams()) {
      pair_.step_done.record(pair_.second);
      pair_.first.wait(pair_.step_done);
    }
    if (!transfer_.is_upload) wait(0, transfer_.cpu_done(work.chunk_count() - 1));
    pair_.done.record(pair_.first);
  }

 private:
  bool has_two_streams() const noexcept { return transfer_.stream_count == 2; }
  stream_ref stream_at(std::size_t stream_index) const noexcept {
    return stream_index == 0 ? pair_.first : pair_.second;
  }
  // Returns true if the CPU waits for the device's step of the chunk: it unpacks the chunk, or
  // packs a later chunk into the same slot.
  bool is_awaited(std::size_t chunk) const noexcept {
    return !transfer_.is_upload || chunk + transfer_.slot_count < transfer_.work->chunk_count();
  }
  void enqueue_transfer(std::size_t chunk, std::size_t stream_index) {
    staged_work const& work = *transfer_.work;
    staging_slot slot{description_, transfer_.slots[chunk % transfer_.slot_count],
                      data_of(memory_.scratch[stream_index]), stream_at(stream_index)};
    slot.item_count = work.write_description(chunk, slot);
    work.enqueue_device_step(chunk, slot);
    description_ += work.description_bytes(chunk);
  }
  // The device writes its counter after its earlier work on the stream is visible to the CPU, which
  // is what the operation does without flags.
  void write(std::size_t stream_index, std::uint64_t value) {
    runtime::progress_counters& counters = *pair_.device_counters;
    std::uint64_t& counter = stream_index == 0 ? counters.device : counters.second_device;
    ROCARRAY_HIP(hipStreamWriteValue64, runtime::handle(stream_at(stream_index)), &counter, value,
                 0);
  }
  void wait(std::size_t stream_index, std::uint64_t value) {
    ROCARRAY_HIP(hipStreamWaitValue64, runtime::handle(stream_at(stream_index)),
                 &pair_.device_counters->cpu, value, hipStreamWaitValueGte);
  }

  driven_transfer const& transfer_;
  runtime::auxiliary_streams& pair_;
  value_buffers const& memory_;
  std::byte* description_;  // of the next chunk
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
    driver.forget_failure(ticket);
    // No thread and no pending work may still use the caller's memory, or the buffers after their
    // release. The steps that were enqueued end by themselves: each waits only for those before it,
    // and the driver has the transfer.
    bool const is_first_idle = runtime::synchronize_quietly(pair.first);
    bool const is_idle = runtime::synchronize_quietly(pair.second) && is_first_idle;
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
  driven_transfer result;
  result.work = std::move(work);
  result.is_upload = kind == copy_kind::host_to_device;
  result.counters = pair.counters;
  result.first_value = pair.last_value;
  return result;
}

// Enqueues the device's steps on a pair of auxiliary streams, in the order of `stream`.
void enqueue_with_driver(staging_driver& driver, std::shared_ptr<staged_work const> work,
                         copy_kind kind, stream_ref stream,
                         runtime::auxiliary_streams_guard& auxiliary) {
  client const pool_client = user_client(kind);
  driven_transfer transfer = make_driven(std::move(work), kind, *auxiliary);
  transfer.failure = runtime::host_error_slot_of(stream, runtime::current_device());
  value_buffers memory(transfer, stream, pool_client, true);
  memory.acquire_scratch(transfer, stream, pool_client);
  drive(driver, transfer, memory, auxiliary,
        [&] { value_steps(transfer, *auxiliary, memory).enqueue_in_order_of(stream); });
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
  transfer.failure = std::make_shared<runtime::host_error_slot>(runtime::current_device());
  // Not blocking: memory used on a user's stream may become free late.
  value_buffers memory(transfer, pair.first, user_client(kind), false);
  if (transfer.slot_count < std::min(min_slots, transfer.work->chunk_count())) return false;
  // This call blocks, so it uses the pools of the internal streams. Those of users' streams may
  // have no free memory for a long time.
  memory.acquire_scratch(transfer, pair.first,
                         is_upload ? client::internal_upload : client::internal_download);
  drive(*driver, transfer, memory, auxiliary, [&] {
    // No work is pending on the pair, so that both of its streams may begin.
    value_steps(transfer, pair, memory).enqueue();
    pair.done.synchronize();
  });
  // Another thread may have found that the device has failed.
  if (std::exception_ptr failure = transfer.failure->take(); failure != nullptr) {
    std::rethrow_exception(std::move(failure));
  }
  return true;
}

}  // namespace roc::transfer
