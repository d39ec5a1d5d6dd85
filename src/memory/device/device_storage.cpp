// SPDX-License-Identifier: MIT
#include <roc/detail/device_storage.hpp>

#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <system_error>

#include <roc/error.hpp>

#include "base/error.hpp"
#include "base/format_bytes.hpp"
#include "memory/debug/leaks.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "memory/device/allocation_watch.hpp"
#include "memory/device/current_resource.hpp"
#include "memory/device/device_use.hpp"
#include "memory/device/memory_kind.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "platform/pointer.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::detail {
namespace {

using memory::allocation_record;
using native_detail::memory_kind;

// Reports memory that is never freed, because the wait for work that may use it failed.
void log_leak(char const* kind, void const* data) noexcept {
  char text[160];
  std::snprintf(text, sizeof text,
                "%s at %p is never freed: the device does not respond, and work may still use it; "
                "see the error before",
                kind, data);
  base::log_error(text);
}

// Returns the calling thread's current device. Throws roc::error if there is no device.
int current_device() { return runtime::has_one_device() ? 0 : runtime::current_device(); }

// Returns the device on which to allocate: that of the resource, else of the stream, else the
// current one. Throws roc::error if resource and stream belong to different devices.
int allocation_device(memory_resource const& resource, stream_ref stream) {
  int const stream_device = stream.device_ordinal();
  int const resource_device = resource.device_ordinal();
  if (stream_device >= 0 && resource_device >= 0 && stream_device != resource_device) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "memory resource of device " + std::to_string(resource_device) +
                    " used with a stream of device " + std::to_string(stream_device) +
                    "; use a stream of the resource's device");
  }
  if (resource_device >= 0) return resource_device;
  return stream_device >= 0 ? stream_device : current_device();
}

// The record of memory that is not a block of a pool. Owned with the memory.
struct own_record final : allocation_record {
  explicit own_record(finalizer f = {nullptr, nullptr, nullptr}) : deleter(f) {}
  ~own_record() {
    if (is_adopted()) deleter.destroy(deleter.closure);
  }
  own_record(own_record const&) = delete;
  own_record& operator=(own_record const&) = delete;

  bool is_adopted() const noexcept { return deleter.run != nullptr; }

  finalizer deleter;      // of adopted memory
  bool is_mapped = true;  // in the allocation_map
};

// Removes the record from the allocation_map and deletes it.
void delete_record(own_record* record, void* data) noexcept {
  if (record->is_mapped) memory::allocation_map::instance().remove(data);
  memory::end_watch(*record);
  delete record;
}

// The following functions are not inlined: otherwise every array pays for their stack frames.

// Frees adopted memory after all recorded uses. Leaks it if it may still be in use then.
[[gnu::noinline]] void finalize(own_record* record, void* data) noexcept {
  // If the memory was known to the library before, its uses may be in other records.
  memory::end_watch(*record);
  bool const is_idle =
      record->is_mapped ? record->wait_for_uses() : runtime::synchronize_all_devices_quietly();
  finalizer const deleter = record->deleter;
  if (is_idle) {
    // Before the deleter, which may give the memory to somebody else.
    if (record->is_mapped) memory::allocation_map::instance().remove(data);
    record->is_mapped = false;
    try {
      deleter.run(deleter.closure, data);
    } catch (std::exception const& error) {
      char text[300];
      std::snprintf(text, sizeof text, "the finalizer of adopted memory threw an exception: %s",
                    error.what());
      base::log_error(text);
    } catch (...) {
      base::log_error(
          "the finalizer of adopted memory threw an exception that is not a std::exception");
    }
  } else {
    log_leak("adopted memory", data);
  }
  delete_record(record, data);
}

// Creates the record of an allocation that has none, and adds it to the allocation_map. Throws
// std::bad_alloc, and then deallocates the block.
[[gnu::noinline]] allocation_record* add_record(memory_resource& resource,
                                                resource_block const& block, std::size_t bytes,
                                                stream_ref stream, int device) {
  try {
    auto own = std::make_unique<own_record>();
    own->allocation_stream = runtime::stream_id_of(stream, device);
    own->has_prior_work = block.has_prior_work;
    own->is_peer_accessible = block.is_peer_accessible;
    own->is_from_driver_pool = block.is_from_driver_pool;
    memory::allocation_map::instance().add(block.data, bytes, own.get());
    return own.release();
  } catch (...) {
    resource.deallocate_block(block, bytes, stream);
    throw;
  }
}

// Makes the graph of a capture one more owner of the memory. If that fails, frees the memory and
// throws std::bad_alloc.
[[gnu::noinline]] void share_with_graph(runtime::stream_capture& capture, device_storage& memory) {
  try {
    capture.keep(std::make_shared<device_storage>(memory.share()));
  } catch (...) {
    memory = device_storage();
    throw;
  }
}

// Reports memory whose resource was destroyed. Deletes the record if it is not null.
[[gnu::noinline]] void log_lost_memory(void* data, std::size_t bytes, own_record* own) noexcept {
  char text[200];
  std::snprintf(text, sizeof text,
                "array of %s at %p outlived its memory resource, and its memory is never freed: "
                "destroy arrays before their resource",
                base::format_bytes(bytes).c_str(), data);
  base::log_error(text);
  if (own != nullptr) delete_record(own, data);
}

// Frees memory in the order of `stream`, which is the allocation stream if `can_enqueue` is true,
// and deletes its record.
[[gnu::noinline]] void free_with_record(memory_resource& resource, own_record* own, void* data,
                                        std::size_t bytes, stream_ref stream, int device,
                                        bool can_enqueue) noexcept {
  bool const is_ordered =
      platform::log_if_throws([&] {
        own->move_to(can_enqueue ? own->allocation_stream : runtime::stream_id_of(stream, device));
      }) ||
      runtime::synchronize_all_devices_quietly();
  delete_record(own, data);
  if (!is_ordered) return log_leak("device memory", data);
  resource.deallocate_block({data}, bytes, stream);
}

// Returns `stream` with `device` in place of the current device, if the stream does not name one.
stream_ref on_device(stream_ref stream, int device) {
  if (stream.device_ordinal() >= 0) return stream;
  return {stream.handle(), device, stream.kind()};
}

// Returns the device of device or managed memory. Throws roc::error for other memory.
int device_of_foreign_memory(void const* data) {
  auto const found = platform::query_pointer(data);
  if (found.kind == memory_kind::device || found.kind == memory_kind::managed) return found.device;
  char address[32];
  std::snprintf(address, sizeof address, "%p", data);
  char const* const actual = found.kind == memory_kind::host ? "is pinned or registered host memory"
                                                             : "is unknown to the runtime";
  throw error(
      std::make_error_code(std::errc::invalid_argument),
      std::string("memory at ") + address + " " + actual + "; adopt device or managed memory");
}

}  // namespace

device_storage::device_storage(std::size_t bytes, stream_ref stream)
    : device_(stream.device_ordinal() >= 0 ? stream.device_ordinal() : current_device()) {
  if (bytes == 0) {
    static_cast<void>(runtime::handle(stream));  // throws if it was moved from
    return;
  }
  // Calls device_resource only once for each device, because a call costs more than a load.
  memory_resource* const current = memory::current_resource(device_);
  allocate(bytes, stream, current != nullptr ? *current : device_resource(device_));
}

device_storage::device_storage(std::size_t bytes, stream_ref stream, memory_resource& resource)
    : device_(allocation_device(resource, stream)) {
  memory::check_device_memory(resource);
  if (bytes == 0) {
    static_cast<void>(runtime::handle(stream));
    return;
  }
  allocate(bytes, stream, resource);
}

void device_storage::allocate(std::size_t bytes, stream_ref stream, memory_resource& resource) {
  // The graph owns the memory too, so that it can be used at each launch. Nothing is enqueued on
  // the captured stream.
  runtime::stream_capture* const capture = runtime::capture_of(stream);
  if (capture != nullptr) stream = {};
  stream = on_device(stream, device_);
  resource_block const block = resource.allocate_block(bytes, stream);
  bool const has_record = block.record != nullptr;
  record_ = has_record ? block.record : add_record(resource, block, bytes, stream, device_);
  data_ = block.data;
  bytes_ = bytes;
  resource_ = resource.weak_ref();
  memory::record_allocation(block.data, bytes, "device memory", device_);
  if (capture == nullptr) return;
  is_shared_ = true;
  share_with_graph(*capture, *this);
}

device_storage::device_storage(void* data, std::size_t bytes, finalizer f)
    : device_storage(data, bytes, f, nullptr) {}

device_storage::device_storage(void* data, std::size_t bytes, finalizer f,
                               stream_ref const* prior) {
  auto own = [&] {
    try {
      return std::make_unique<own_record>(f);
    } catch (...) {
      f.destroy(f.closure);
      throw;
    }
  }();
  int const device = device_of_foreign_memory(data);
  if (prior != nullptr) {
    own->allocation_stream = runtime::stream_id_of(*prior, device);
    own->has_prior_work = true;
  } else {
    // The array's own stream: its uses need no record_stream.
    own->allocation_stream = runtime::stream_id_of({}, device);
    own->finish_use(own->allocation_stream);
  }
  own->is_mapped = memory::allocation_map::instance().add_if_disjoint(data, bytes, own.get());
  record_ = own.release();
  data_ = data;
  bytes_ = bytes;
  device_ = device;
}

device_storage device_storage::share() const noexcept {
  device_storage result(*this);
  result.is_shared_ = true;
  if (data_ != nullptr) record_->more_owners.fetch_add(1, std::memory_order_relaxed);
  return result;
}

void device_storage::drop() noexcept {
  auto& more_owners = record_->more_owners;
  if (more_owners.load(std::memory_order_acquire) != 0) {
    if (more_owners.fetch_sub(1, std::memory_order_acq_rel) != 0) return;
    more_owners.store(0, std::memory_order_relaxed);
  }

  own_record* const own = record_->pool == nullptr ? static_cast<own_record*>(record_) : nullptr;
  if (own != nullptr && own->is_adopted()) return finalize(own, data_);
  memory::record_free(data_);
  memory_resource* const resource = resource_.get();
  if (resource == nullptr) return log_lost_memory(data_, bytes_, own);
  // The memory must be reusable on the stream, so a stream that has ended is not used. The handle
  // of a per-thread stream means another stream in this thread.
  runtime::stream_id const& allocation_stream = record_->allocation_stream;
  bool const can_enqueue = allocation_stream.is_live() &&
                           !runtime::may_be_captured(allocation_stream.stream()) &&
                           !runtime::is_per_thread_handle(allocation_stream.stream().handle());
  stream_ref const stream = can_enqueue ? allocation_stream.stream()
                                        : stream_ref(nullptr, device_, stream_kind::default_stream);
  if (own == nullptr) return resource->deallocate_block({data_, record_}, bytes_, stream);
  free_with_record(*resource, own, data_, bytes_, stream, device_, can_enqueue);
}

void device_storage::release() {
  if (data_ == nullptr) return;
  auto* const own = record_->pool == nullptr ? static_cast<own_record*>(record_) : nullptr;
  if (own == nullptr || !own->is_adopted()) {
    memory_resource const* const resource = resource_.get();
    if (resource == nullptr) {
      throw lifetime_error(
          "cannot release memory whose resource was destroyed; release arrays before their "
          "resource");
    }
    if (own == nullptr || !resource->can_release()) {
      throw lifetime_error(
          "cannot release memory that hipFree cannot free, because it belongs to a pool; allocate "
          "the array from a hip_memory_resource");
    }
    memory::record_free(data_);
  }
  delete_record(own, data_);
  data_ = nullptr;
}

void record_stream(void const* data, int device, stream_ref stream) {
  if (data == nullptr) return;
  // A stream that names no device is a default stream of the current device, as in all calls.
  int const work_device = stream.device_ordinal() >= 0 ? device : runtime::current_device();
  memory::device_use const use(stream, work_device, data);
}

void record_work(stream_ref stream) { runtime::record_work(stream); }

}  // namespace roc::detail
