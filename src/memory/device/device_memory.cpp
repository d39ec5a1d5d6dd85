// SPDX-License-Identifier: MIT
#include <roc/detail/device_memory.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>

#include <roc/memory/hip_resources.hpp>
#include <roc/error.hpp>
#include <roc/memory/pool_resource.hpp>

#include "memory/device/behind_adaptors.hpp"
#include "memory/device/allocation_map.hpp"
#include "platform/log_if_throws.hpp"
#include "memory/debug/leaks.hpp"
#include "memory/device/allocation_record.hpp"
#include "runtime/current_device.hpp"
#include "base/error.hpp"
#include "runtime/stream.hpp"

namespace roc::detail {
namespace {

using memory::allocation_record;

int checked_device(memory_resource const& from, stream_ref stream) {
  int const wanted = stream.device_ordinal();
  int const has = from.device_ordinal();
  if (wanted >= 0 && has >= 0 && wanted != has) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "a memory resource of device " + std::to_string(has) + " with a stream of device " +
                    std::to_string(wanted) + ": use a stream of the resource's device");
  }
  if (has >= 0) return has;
  return wanted >= 0 ? wanted : runtime::current_device();
}

// Whether the block that an address lies in is that of one array, and is given back with it.
bool is_of_pool(memory_resource const& from) {
  std::type_info const& pool = typeid(pool_resource);
  return typeid(from) == pool || typeid(memory::behind_adaptors(from)) == pool;
}

// The stream's name, with a device: the default stream is that of the memory's.
stream_ref on(stream_ref stream, int device) {
  if (stream.device_ordinal() >= 0) return stream;
  return {stream.handle(), device, stream.kind()};
}

}  // namespace

device_memory::device_memory(std::size_t bytes, stream_ref stream)
    : device_(runtime::device_of(stream, -1)) {
  if (device_ < 0) device_ = runtime::current_device();
  if (bytes != 0) take(bytes, stream, device_resource(device_));
}

device_memory::device_memory(std::size_t bytes, stream_ref stream, memory_resource& from)
    : device_(checked_device(from, stream)) {
  if (bytes != 0) take(bytes, stream, from);
}

void device_memory::take(std::size_t bytes, stream_ref stream, memory_resource& from) {
  stream = on(stream, device_);
  auto const mark = runtime::mark_of(stream, device_);
  void* const data = from.allocate(bytes, stream);
  allocation_record* record = is_of_pool(from) ? memory::find_record(data) : nullptr;
  if (record == nullptr) {
    // Of a resource that keeps no records.
    try {
      auto made = std::make_unique<allocation_record>();
      made->own = mark;
      made->inherits = dynamic_cast<hip_memory_resource const*>(&from) == nullptr;
      memory::allocation_map::instance().add(data, bytes, made.get());
      record = made.release();
    } catch (...) {
      from.deallocate(data, bytes, stream);
      throw;
    }
    owns_record_ = true;
  }
  data_ = data;
  bytes_ = bytes;
  resource_ = &from;
  ticket_ = from.ticket();
  record_ = record;
  memory::note_allocation(data_, bytes_, "device memory", device_);
}

void device_memory::free() noexcept {
  memory::note_free(data_);
  if (!ticket_.is_valid()) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "an array of %zu bytes at %p outlived its memory resource: its memory is never "
                  "freed; destroy arrays before their resource",
                  bytes_, data_);
    base::log(text);
  }
  stream_ref stream(nullptr, device_, stream_kind::default_stream);
  runtime::stream_id const own = record_->own;
  // Another thread may destroy it. The pool, which is in a hurry, looks out for that by itself.
  std::optional<runtime::stream_use> use;
  if (owns_record_) use.emplace(own);
  auto const order = [&] {
    // On the default stream what is freed comes after all of a stream that has ended, and after the
    // per-thread stream, whose handle may be another's in this thread.
    bool const reachable = own.is_live() && !runtime::is_per_thread(own.stream().handle());
    if (reachable) {
      stream = own.stream();
    } else {
      record_->record_use_of(own);
    }
    if (owns_record_) memory::order_after_uses(data_, runtime::mark_of(stream, device_));
  };
  bool const known = ticket_.is_valid() && (platform::log_if_throws(order) ||
                                            platform::log_if_throws(runtime::wait_for_devices));
  if (owns_record_) {
    memory::allocation_map::instance().remove(data_);
    delete record_;
  }
  if (known) resource_->deallocate(data_, bytes_, stream);
}

void* device_memory::release() {
  if (data_ == nullptr) return nullptr;
  if (!ticket_.is_valid()) {
    throw lifetime_error(
        "release of memory whose resource has gone: release arrays before their resource");
  }
  if (dynamic_cast<hip_memory_resource const*>(resource_) == nullptr) {
    throw lifetime_error(
        "release of memory that hipFree cannot free, as it is a pool's: make the array with a "
        "hip_memory_resource");
  }
  memory::note_free(data_);
  memory::allocation_map::instance().remove(data_);
  delete record_;
  return std::exchange(data_, nullptr);
}

void record_stream(void const* data, int device, stream_ref stream) {
  if (data == nullptr) return;
  // The default stream is that of the current device, as everywhere.
  int const runs = stream.device_ordinal() >= 0 ? device : runtime::current_device();
  memory::device_use const noted(stream, runs, data);
}

}  // namespace roc::detail
