// SPDX-License-Identifier: MIT
#include <roc/detail/device_storage.hpp>

#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <typeinfo>
#include <utility>

#include <roc/error.hpp>
#include <roc/memory/hip_resources.hpp>
#include <roc/memory/pool_resource.hpp>

#include "base/error.hpp"
#include "base/format_bytes.hpp"
#include "memory/debug/leaks.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "memory/device/device_use.hpp"
#include "memory/device/innermost_resource.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::detail {
namespace {

using memory::allocation_record;
using native_detail::memory_kind;

// Returns the device on which to allocate: that of the resource, else of the stream, else the
// current one. Throws roc::error if resource and stream belong to different devices.
int allocation_device(memory_resource const& resource, stream_ref stream) {
  int const stream_device = stream.device_ordinal();
  int const resource_device = resource.device_ordinal();
  if (stream_device >= 0 && resource_device >= 0 && stream_device != resource_device) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "memory resource of device " + std::to_string(resource_device) +
                    " used with a stream of device " + std::to_string(stream_device) +
                    ": use a stream of the resource's device");
  }
  if (resource_device >= 0) return resource_device;
  return stream_device >= 0 ? stream_device : runtime::current_device();
}

// Returns true if each allocation from the resource is one block of a pool, whose record can be
// used for the allocation.
bool is_backed_by_pool(memory_resource const& resource) {
  std::type_info const& pool = typeid(pool_resource);
  return typeid(resource) == pool || typeid(memory::innermost_resource(resource)) == pool;
}

// Returns `stream` with `device` in place of the current device, if the stream does not name one.
stream_ref on_device(stream_ref stream, int device) {
  if (stream.device_ordinal() >= 0) return stream;
  return {stream.handle(), device, stream.kind()};
}

// Returns the device of device or managed memory. Throws roc::error for other memory. The runtimes
// report an unknown address differently: AMD as an error, NVIDIA as a kind.
int device_of_foreign_memory(void const* data) {
  hipPointerAttribute_t attributes{};
  bool const is_known = ROCARRAY_HIP_CODE(hipPointerGetAttributes, &attributes, data) == hipSuccess;
  auto const kind = is_known ? native_detail::kind_of(attributes) : memory_kind::unregistered;
  if (kind == memory_kind::device || kind == memory_kind::managed) return attributes.device;
  char address[32];
  std::snprintf(address, sizeof address, "%p", data);
  char const* const actual = kind == memory_kind::host ? "is pinned or registered host memory"
                                                       : "is unknown to the runtime";
  throw error(std::make_error_code(std::errc::invalid_argument),
              std::string("memory at ") + address + " cannot be adopted, because it " + actual +
                  ": adopt device or managed memory");
}

}  // namespace

device_memory::device_memory(std::size_t bytes, stream_ref stream)
    : device_(runtime::device_of(stream, -1)) {
  if (device_ < 0) device_ = runtime::current_device();
  if (bytes != 0) take(bytes, stream, device_resource(device_));
}

device_memory::device_memory(std::size_t bytes, stream_ref stream, memory_resource& from)
    : device_(allocation_device(from, stream)) {
  if (bytes != 0) take(bytes, stream, from);
}

void device_memory::take(std::size_t bytes, stream_ref stream, memory_resource& from) {
  stream = on_device(stream, device_);
  auto const id = runtime::stream_id_of(stream, device_);
  void* const data = from.allocate(bytes, stream);
  allocation_record* record = is_backed_by_pool(from) ? memory::find_record(data) : nullptr;
  if (record == nullptr) {
    // The resource has no records, so this object owns one.
    try {
      auto own_record = std::make_unique<allocation_record>();
      own_record->allocation_stream = id;
      own_record->has_prior_work = dynamic_cast<hip_memory_resource const*>(&from) == nullptr;
      memory::allocation_map::instance().add(data, bytes, own_record.get());
      record = own_record.release();
    } catch (...) {
      from.deallocate(data, bytes, stream);
      throw;
    }
    owns_record_ = true;
  }
  data_ = data;
  bytes_ = bytes;
  resource_ = &from;
  weak_resource_ = from.weak_ref();
  record_ = record;
  memory::record_allocation(data_, bytes_, "device memory", device_);
}

void device_memory::free() noexcept {
  memory::record_free(data_);
  if (!weak_resource_.is_valid()) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "array of %s at %p outlived its memory resource, and its memory is never freed: "
                  "destroy arrays before their resource",
                  base::format_bytes(bytes_).c_str(), data_);
    base::log(text);
  }
  stream_ref stream(nullptr, device_, stream_kind::default_stream);
  runtime::stream_id const allocation_stream = record_->allocation_stream;
  // Another thread may destroy the stream while this function uses it. A pool does not need the
  // keepalive: it checks its streams itself, later and only if needed.
  std::optional<runtime::stream_keepalive> keepalive;
  if (owns_record_) keepalive.emplace(allocation_stream);
  auto const order_stream = [&] {
    // Work on the default stream comes after all work of a stream that was destroyed, and after
    // that of per-thread streams, whose handle means another stream in this thread.
    bool const can_enqueue = allocation_stream.is_live() &&
                             !runtime::is_per_thread_handle(allocation_stream.stream().handle());
    if (can_enqueue) {
      stream = allocation_stream.stream();
    } else {
      record_->record_past_use(allocation_stream);
    }
    if (owns_record_) memory::order_after_uses(data_, runtime::stream_id_of(stream, device_));
  };
  bool const can_deallocate =
      weak_resource_.is_valid() && (platform::log_if_throws(order_stream) ||
                                    platform::log_if_throws(runtime::synchronize_all_devices));
  if (owns_record_) {
    memory::allocation_map::instance().remove(data_);
    delete record_;
  }
  if (can_deallocate) resource_->deallocate(data_, bytes_, stream);
}

void* device_memory::release() {
  if (data_ == nullptr) return nullptr;
  if (!weak_resource_.is_valid()) {
    throw lifetime_error(
        "cannot release memory whose resource was destroyed: release arrays before their resource");
  }
  if (dynamic_cast<hip_memory_resource const*>(resource_) == nullptr) {
    throw lifetime_error(
        "cannot release memory that hipFree cannot free, because it belongs to a pool: allocate "
        "the array from a hip_memory_resource");
  }
  memory::record_free(data_);
  memory::allocation_map::instance().remove(data_);
  delete record_;
  return std::exchange(data_, nullptr);
}

void record_stream(void const* data, int device, stream_ref stream) {
  if (data == nullptr) return;
  // A stream that names no device is a default stream of the current device, as in all calls.
  int const work_device = stream.device_ordinal() >= 0 ? device : runtime::current_device();
  memory::device_use const use(stream, work_device, data);
}

device_block::device_block(device_memory memory)
    : memory_(std::move(memory)), device_(memory_.device()) {}

device_block::device_block(void* foreign)
    : foreign_(foreign), device_(device_of_foreign_memory(foreign)) {}

device_block::~device_block() = default;

void device_block::give_back(void*) {}

void device_block::add_owner() noexcept {
  std::atomic_ref(owners_).fetch_add(1, std::memory_order_relaxed);
}

bool device_block::has_one_owner() const noexcept {
  return std::atomic_ref(const_cast<std::size_t&>(owners_)).load(std::memory_order_acquire) == 1;
}

void device_block::drop_owner() noexcept {
  if (std::atomic_ref(owners_).fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (foreign_ != nullptr) {
    // The memory may also be used by kernels on non-blocking streams, whose use was not recorded,
    // and by copies to and from other devices.
    platform::log_if_throws(runtime::synchronize_all_devices);
    try {
      give_back(foreign_);
    } catch (std::exception const& error) {
      base::log(std::string("the finalizer of adopted memory threw an exception: ") + error.what());
    } catch (...) {
      base::log("the finalizer of adopted memory threw an exception that is not a std::exception");
    }
  }
  delete this;
}

}  // namespace roc::detail
