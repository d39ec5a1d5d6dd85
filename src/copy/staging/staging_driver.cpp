// SPDX-License-Identifier: MIT
#include "copy/staging/staging_driver.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <map>
#include <system_error>
#include <thread>

#include "base/no_destructor.hpp"
#include "base/options.hpp"
#include "base/sleep_precision.hpp"
#include "base/spin_backoff.hpp"
#include "base/without_signals.hpp"
#include "copy/pending_host_access.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"

namespace roc::transfer {
namespace {

using clock = std::chrono::steady_clock;

std::uint64_t load(std::uint64_t& counter) noexcept {
  return std::atomic_ref<std::uint64_t>(counter).load(std::memory_order_acquire);
}

// Stores the error of a transfer whose device has failed.
void store_device_failure(runtime::host_error_slot& slot) noexcept {
  try {
    throw error(std::make_error_code(std::errc::io_error),
                "a copy of pageable memory on the stream was ended, because its device had failed; "
                "the destination has undefined contents");
  } catch (...) {
    slot.store(std::current_exception(), runtime::host_error_source::copy);
  }
}

}  // namespace

// The work of the thread pool while there are transfers. Its one item is the driver's thread; the
// workers help with tasks.
class staging_driver::session final : public parallel_work {
 public:
  session(staging_driver& driver, std::size_t thread_limit)
      : driver_(driver), thread_limit_(thread_limit) {}

  bool run_item(std::size_t, bool) override {
    driver_.serve(thread_limit_);
    return true;
  }
  bool can_help() const noexcept override { return driver_.has_ready_task_.load(); }
  void help() override { driver_.run_tasks(); }
  std::size_t max_workers() const noexcept override { return thread_limit_ - 1; }

 private:
  staging_driver& driver_;
  std::size_t thread_limit_;
};

struct staging_driver::all_drivers {
  std::mutex mutex;  // guards by_device
  std::map<int, std::unique_ptr<staging_driver>> by_device;
};

// Never destroyed, and neither are the threads: copies run until the process ends.
staging_driver::all_drivers& staging_driver::existing() noexcept {
  static base::no_destructor<all_drivers> drivers;
  return *drivers;
}

staging_driver& staging_driver::instance() {
  int const device = runtime::current_device();
  thread_pool& threads = thread_pool::instance();  // calls HIP, so without the lock
  std::lock_guard const lock(existing().mutex);
  auto& driver = existing().by_device[device];
  if (driver == nullptr) {
    driver.reset(new staging_driver(threads));
    runtime::set_device_failure_handler(&end_transfers_of);
  }
  return *driver;
}

void staging_driver::end_transfers_of(int device) noexcept {
  staging_driver* driver = nullptr;
  {
    std::lock_guard const lock(existing().mutex);
    auto const found = existing().by_device.find(device);
    if (found != existing().by_device.end()) driver = found->second.get();
  }
  if (driver != nullptr) driver->withdraw_all();
}

bool staging_driver::start() noexcept {
  if (is_started_.load(std::memory_order_relaxed)) return true;
  std::lock_guard const lock(mutex_);
  if (is_started_) return true;
  base::without_signals const mask;
  try {
    std::thread([this] { driver_loop(); }).detach();
    is_started_ = true;
  } catch (std::exception const&) {
    // No thread, or no memory for one: the caller uses host functions.
  }
  return is_started_;
}

staging_driver::ticket staging_driver::add(driven_transfer const& transfer) {
  transfer_list added(1);
  pending_transfer& entry = added.front();
  static_cast<driven_transfer&>(entry) = transfer;
  entry.chunk_count = transfer.work->chunk_count();
  for (std::size_t chunk = 0; chunk != entry.chunk_count; ++chunk) {
    entry.bytes += transfer.work->data_bytes(chunk);
  }
  entry.max_threads = base::options().copy_threads + 1;  // the workers and the driver's thread
  std::lock_guard const lock(mutex_);
  entry.id = ++last_ticket_;
  pending_bytes_[entry.is_upload] += entry.bytes;
  transfers_.splice(place_locked(entry), added);
  added_.notify_one();
  return last_ticket_;
}

staging_driver::transfer_list::iterator staging_driver::place_locked(
    pending_transfer const& added) noexcept {
  auto place = transfers_.end();
  for (; place != transfers_.begin(); --place) {
    pending_transfer& earlier = *std::prev(place);
    if (earlier.is_upload != added.is_upload) continue;
    bool const passes = earlier.bytes > value_staging::turn_bytes &&
                        earlier.passed_bytes + added.bytes <= value_staging::turn_bytes;
    if (!passes) break;
    earlier.passed_bytes += added.bytes;
  }
  return place;
}

void staging_driver::withdraw(ticket transfer, bool releases_waits) noexcept {
  transfer_list removed;
  std::shared_ptr<staged_work const> work;
  base::spin_backoff backoff;
  unique_lock lock(mutex_);
  auto const find = [&] {
    return std::find_if(transfers_.begin(), transfers_.end(),
                        [=](auto const& item) { return item.id == transfer; });
  };
  auto entry = find();
  if (entry == transfers_.end()) return;
  if (!entry->is_withdrawn) {
    entry->is_withdrawn = true;
    pending_bytes_[entry->is_upload] -= entry->bytes;
    if (entry->next_task != 0) --begun_chunks_;
  }
  while (entry->running != 0) {
    lock.unlock();
    backoff.pause();
    lock.lock();
    entry = find();  // another thread may withdraw the same transfer
    if (entry == transfers_.end()) return;
  }
  if (entry->releases_waits) return;
  if (releases_waits) {
    work = std::move(entry->work);
    entry->releases_waits = true;
    release_waits_locked(removed);
  } else {
    removed.splice(removed.end(), transfers_, entry);
  }
  lock.unlock();  // before `removed` and `work` are destroyed
}

void staging_driver::release_waits_locked(transfer_list& complete) noexcept {
  for (auto entry = transfers_.begin(); entry != transfers_.end();) {
    auto const current = entry++;
    if (!current->releases_waits) continue;
    bool const has_earlier =
        std::any_of(transfers_.begin(), transfers_.end(), [&](pending_transfer const& other) {
          return other.counters == current->counters && other.id < current->id;
        });
    if (has_earlier) continue;
    std::atomic_ref<std::uint64_t>(current->counters->cpu)
        .store(current->device_done(current->chunk_count - 1), std::memory_order_release);
    complete.splice(complete.end(), transfers_, current);
    entry = transfers_.begin();  // a later one may come first in the list
  }
}

void staging_driver::forget_failure(ticket transfer) noexcept {
  std::lock_guard const lock(mutex_);
  for (pending_transfer& item : transfers_) {
    if (item.id == transfer) item.failure = nullptr;
  }
}

void staging_driver::withdraw_all() noexcept {
  for (;;) {
    ticket first = 0;  // of the transfers not yet withdrawn: earlier ones come first
    std::shared_ptr<runtime::host_error_slot> failure;
    {
      std::lock_guard const lock(mutex_);
      for (pending_transfer const& item : transfers_) {
        if (item.releases_waits || (first != 0 && item.id > first)) continue;
        first = item.id;
        failure = item.failure;
      }
    }
    if (first == 0) return;
    // Before the waits end: a thread that waits for the stream finds the error.
    if (failure != nullptr) store_device_failure(*failure);
    withdraw(first, true);
  }
}

std::size_t staging_driver::ready_chunks(pending_transfer const& transfer) noexcept {
  std::uint64_t const announced = load(transfer.counters->device);
  if (transfer.is_upload && announced < transfer.started()) return 0;
  std::size_t done = transfer.chunks_done(0, announced);
  if (transfer.stream_count == 2) {
    // The chunks before the first one that is not done.
    std::size_t const even = done;
    std::size_t const odd = transfer.chunks_done(1, load(transfer.counters->second_device));
    done = even <= odd ? 2 * even : 2 * odd + 1;
  }
  // A slot is free for an upload after the device has read its last chunk.
  std::size_t const ready = transfer.is_upload ? done + transfer.slot_count : done;
  return std::min(ready, transfer.chunk_count);
}

staging_driver::transfer_list::iterator staging_driver::find_ready_locked() noexcept {
  auto found = transfers_.end();
  bool const has_preferred = pending_bytes_[prefers_uploads_] != 0;
  for (auto item = transfers_.begin(); item != transfers_.end(); ++item) {
    bool const is_begun = item->next_task != 0;
    bool const is_preferred = item->is_upload == prefers_uploads_;
    bool const is_better =
        found == transfers_.end() || (is_preferred && found->is_upload != prefers_uploads_);
    if (!is_begun && !is_better) continue;
    bool const is_ready = !item->is_withdrawn && item->running != item->max_threads &&
                          item->next_chunk < ready_chunks(*item);
    if (!is_ready) continue;
    found = item;
    // The other chunks wait: a chunk is of use only after its last task.
    if (is_begun || ((is_preferred || !has_preferred) && begun_chunks_ == 0)) break;
  }
  return found;
}

staging_driver::task staging_driver::begin_task_locked(transfer_list::iterator transfer) noexcept {
  task const begun{transfer, transfer->next_chunk, transfer->next_task};
  std::size_t const task_count = transfer->work->task_count(begun.chunk);
  if (begun.index == 0) {
    transfer->unfinished_tasks[begun.chunk % transfer->slot_count] = task_count;
  }
  ++transfer->running;
  if (begun.index == 0) ++begun_chunks_;
  if (++transfer->next_task == task_count) {
    --begun_chunks_;
    transfer->next_task = 0;
    ++transfer->next_chunk;
    prefers_uploads_ = !transfer->is_upload;
    transfer->turn_bytes += transfer->work->data_bytes(begun.chunk);
    if (transfer->turn_bytes >= value_staging::turn_bytes) {
      transfer->turn_bytes = transfer->passed_bytes = 0;
      transfers_.splice(transfers_.end(), transfers_, transfer);
    }
  }
  return begun;
}

void staging_driver::end_task_locked(task const& ended, transfer_list& complete) noexcept {
  pending_transfer& transfer = *ended.transfer;
  --transfer.running;
  --transfer.unfinished_tasks[ended.chunk % transfer.slot_count];
  // The chunks are announced in order. A slot's next chunk begins after this one was announced, so
  // that the slot's count is that of its oldest chunk.
  std::size_t const finished_before = transfer.finished_chunks;
  while (transfer.finished_chunks != transfer.next_chunk &&
         transfer.unfinished_tasks[transfer.finished_chunks % transfer.slot_count] == 0) {
    ++transfer.finished_chunks;
  }
  if (transfer.is_withdrawn || transfer.finished_chunks == finished_before) return;
  std::atomic_ref<std::uint64_t>(transfer.counters->cpu)
      .store(transfer.cpu_done(transfer.finished_chunks - 1), std::memory_order_release);
  if (transfer.finished_chunks == transfer.chunk_count) {
    pending_bytes_[transfer.is_upload] -= transfer.bytes;
    complete.splice(complete.end(), transfers_, ended.transfer);
    release_waits_locked(complete);
  }
}

std::size_t staging_driver::max_threads_locked() const noexcept {
  std::size_t most = 0;
  for (pending_transfer const& item : transfers_) most = std::max(most, item.max_threads);
  return most;
}

std::size_t staging_driver::run_tasks() noexcept {
  std::size_t count = 0;
  transfer_list complete;
  unique_lock lock = base::spin_then_lock(mutex_);
  for (; count != value_staging::tasks_at_a_time; ++count) {
    auto const ready = find_ready_locked();
    has_ready_task_.store(ready != transfers_.end());
    if (ready == transfers_.end()) break;
    task const begun = begin_task_locked(ready);
    bool const needs_help = begun.index == 0 && find_ready_locked() != transfers_.end();
    lock.unlock();
    complete.clear();
    if (needs_help) threads_.notify();
    {
      pending_access_scope const scope;
      staged_work const& work = *begun.transfer->work;
      std::byte* const data = begun.transfer->slots[begun.chunk % begun.transfer->slot_count];
      if (begun.transfer->is_upload) {
        work.pack(begun.chunk, begun.index, data);
      } else {
        work.unpack(begun.chunk, begun.index, data);
      }
    }
    base::spin_then_lock(lock);
    end_task_locked(begun, complete);
  }
  lock.unlock();  // before `complete` is destroyed
  return count;
}

void staging_driver::serve(std::size_t thread_limit) noexcept {
  base::spin_backoff backoff;
  clock::time_point last_progress = clock::now();
  for (;;) {
    if (run_tasks() != 0) last_progress = clock::now();
    clock::duration const idle = clock::now() - last_progress;
    if (idle < value_staging::spin_time) {
      for (int i = 0; i != 16; ++i) backoff.pause();
      continue;
    }
    unique_lock lock(mutex_);
    if (transfers_.empty() && idle > value_staging::linger_time) return;
    if (max_threads_locked() > thread_limit) return;
    added_.wait_for(lock, std::min<clock::duration>(idle / value_staging::sleep_fraction,
                                                    value_staging::max_sleep));
  }
}

void staging_driver::driver_loop() noexcept {
  base::set_precise_sleep();
  for (;;) {
    std::size_t thread_limit = 0;
    {
      unique_lock lock(mutex_);
      added_.wait(lock, [this] { return !transfers_.empty(); });
      thread_limit = max_threads_locked();
    }
    session current(*this, thread_limit);
    threads_.run(1, current);  // allocates nothing, and throws nothing, because session does not
  }
}

}  // namespace roc::transfer
