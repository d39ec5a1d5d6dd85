// SPDX-License-Identifier: MIT
#include "runtime/host_function_errors.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <roc/detail/stream_watcher.hpp>
#include <roc/error.hpp>

#include "base/error.hpp"
#include "base/no_destructor.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"
#include "runtime/stream_watchers.hpp"

namespace roc::runtime {
namespace {

// The number of stored exceptions. While it is 0, a synchronization costs only one additional load.
std::atomic<int> stored_count = 0;

bool is_any_stored() noexcept { return stored_count.load(std::memory_order_acquire) != 0; }

using detail::stream_identity;

struct slot_table {
  std::mutex mutex;  // of all members
  std::map<stream_identity, std::shared_ptr<host_error_slot>> slots;

  // Returns null if the stream has no slot.
  std::shared_ptr<host_error_slot> find(stream_identity const& key) {
    std::lock_guard const lock(mutex);
    auto const entry = slots.find(key);
    return entry == slots.end() ? nullptr : entry->second;
  }

  // Removes and detaches the slot of a stream that ends, and logs the exception in it.
  void detach(stream_identity const& key) noexcept {
    std::shared_ptr<host_error_slot> slot;
    {
      std::lock_guard const lock(mutex);
      auto const entry = slots.find(key);
      if (entry == slots.end()) return;
      slot = std::move(entry->second);
      slots.erase(entry);
    }
    slot->detach();
  }

  // Detaches the slots of all per-thread streams of a thread that ends.
  void detach_thread(unsigned long thread) noexcept {
    while (true) {
      stream_identity key{};
      {
        std::lock_guard const lock(mutex);
        auto entry = slots.begin();
        while (entry != slots.end() && entry->first.thread != thread) ++entry;
        if (entry == slots.end()) return;
        key = entry->first;
      }
      detach(key);
    }
  }
};

// Never destroyed: host functions may run until the process ends. The first use may be by the
// destructor of a stream.
slot_table& error_slots() noexcept {
  static base::no_destructor<slot_table> instance;
  return *instance;
}

}  // namespace

host_error_slot::~host_error_slot() {
  if (auto exception = take(); exception != nullptr) log_host_error(std::move(exception), source_);
}

void host_error_slot::store(std::exception_ptr exception, host_error_source source) noexcept {
  {
    std::lock_guard const lock(mutex_);
    if (!detached_ && exception_ == nullptr) {
      exception_ = std::move(exception);
      source_ = source;
      ++stored_count;
      return;
    }
  }
  log_host_error(std::move(exception), source);
}

std::exception_ptr host_error_slot::take() noexcept {
  std::lock_guard const lock(mutex_);
  if (exception_ != nullptr) --stored_count;
  return std::exchange(exception_, nullptr);
}

void host_error_slot::detach() noexcept {
  {
    std::lock_guard const lock(mutex_);
    detached_ = true;
  }
  if (auto exception = take(); exception != nullptr) log_host_error(std::move(exception), source_);
}

std::shared_ptr<host_error_slot> host_error_slot_of(stream_ref stream, int device) {
  stream_identity const key = detail::identity_of(stream);
  std::lock_guard const lock(error_slots().mutex);
  if (auto const entry = error_slots().slots.find(key); entry != error_slots().slots.end()) {
    return entry->second;
  }
  auto slot = std::make_shared<host_error_slot>(device);  // the table must not hold null
  error_slots().slots.emplace(key, slot);
  return slot;
}

void rethrow_host_error(stream_ref stream) {
  if (!is_any_stored()) return;
  auto const slot = error_slots().find(detail::identity_of(stream));
  if (slot == nullptr) return;
  if (auto exception = slot->take(); exception != nullptr) {
    std::rethrow_exception(std::move(exception));
  }
}

void synchronize(stream_ref stream) {
  hipStream_t const native = handle(stream);
  refuse_captured(stream, "synchronization");
  on_stream_device const guard(stream);
  std::exception_ptr const failure = wait_for_watchers(stream);
  try {
    reporting_failure(stream.device_ordinal(), native,
                      [native] { ROCARRAY_HIP(hipStreamSynchronize, native); });
    if (is_per_thread_handle(stream.handle())) synchronize_relay_of_thread(current_device());
  } catch (error const& second) {
    if (failure == nullptr) throw;
    base::log_error(second.what());
  } catch (...) {
    if (failure == nullptr) throw;
  }
  if (failure != nullptr) std::rethrow_exception(failure);
  if (is_any_stored()) [[unlikely]]
    rethrow_host_error(stream);
}

void rethrow_host_error(int device) {
  if (!is_any_stored()) return;
  std::exception_ptr exception;
  {
    std::lock_guard const lock(error_slots().mutex);
    for (auto const& [key, slot] : error_slots().slots) {
      if (slot->device() == device) exception = slot->take();
      if (exception != nullptr) break;
    }
  }
  if (exception != nullptr) std::rethrow_exception(std::move(exception));
}

void detach_host_errors(stream_ref stream) noexcept {
  error_slots().detach({stream.handle(), -1, 0});
}

void log_host_error(std::exception_ptr exception, host_error_source source) noexcept {
  try {
    std::rethrow_exception(std::move(exception));
  } catch (std::exception const& error) {
    if (source == host_error_source::copy) return base::log_error(error.what());
    try {
      base::log_error(std::string("a host function of a stream threw: ") + error.what());
    } catch (std::bad_alloc const&) {
      base::log_error("a host function of a stream threw");
    }
  } catch (...) {
    base::log_error("a host function of a stream threw an exception that is not a std::exception");
  }
}

}  // namespace roc::runtime

namespace roc {

// The per-thread streams of a thread are detached when it ends.
unsigned long detail::this_thread_number() {
  static std::atomic<unsigned long> last_number = 0;
  struct thread_number {
    unsigned long value = ++last_number;
    ~thread_number() {
      runtime::error_slots().detach_thread(value);
      runtime::forget_watchers_of_thread(value);
    }
  };
  thread_local thread_number const number;
  return number.value;
}

detail::stream_identity detail::identity_of(stream_ref stream) {
  bool const is_per_thread = runtime::is_per_thread_handle(stream.handle());
  bool const is_per_device = runtime::is_device_relative(stream.handle());
  bool const is_default = is_per_device && !is_per_thread;
  return {is_default ? nullptr : stream.handle(),
          is_per_device ? runtime::device_of(stream, runtime::current_device()) : -1,
          is_per_thread ? this_thread_number() : 0};
}

}  // namespace roc
