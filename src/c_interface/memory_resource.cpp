// SPDX-License-Identifier: MIT
// Device memory and where it comes from.
#include <roc/c.h>

#include <memory>
#include <new>
#include <string>
#include <utility>

#include <roc/detail/device_storage.hpp>
#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/memory/hip_resources.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/memory/pool_resource.hpp>
#include <roc/stream.hpp>

#include "c_interface/call.hpp"
#include "c_interface/handle_table.hpp"
#include "c_interface/handles.hpp"
#include "memory/device/device_use.hpp"

namespace roc::c_interface {
namespace {

// A resource, and the one below it. Allocations and pools share it, so that it lives until the last
// of them is destroyed.
struct resource_entry {
  std::shared_ptr<resource_entry> upstream;  // destroyed after `resource`
  std::unique_ptr<memory_resource> resource;
};

struct allocation {
  std::shared_ptr<resource_entry> resource;  // destroyed after `storage`; null: the default
  detail::device_storage storage;
};

struct resource_table : handle_table<roc_resource, resource_entry> {
  resource_table() noexcept : handle_table("resource") {}
};
struct device_memory_table : address_table<allocation> {
  device_memory_table() noexcept : address_table("device memory", "roc_allocate") {}
};

roc_resource add_resource(std::unique_ptr<memory_resource> resource) {
  return table<resource_table>().add(
      std::make_shared<resource_entry>(resource_entry{nullptr, std::move(resource)}));
}

// Records that work on `stream` uses an allocation of roc_allocate. Throws roc::error if the stream
// is on another device, and lifetime_error if the address is not allocated.
void record_use(void const* data, stream_ref stream) {
  int const device = table<device_memory_table>().with(
      data, [](allocation const& owner) { return owner.storage.device(); });
  if (stream.device_ordinal() >= 0 && stream.device_ordinal() != device) {
    throw_invalid("the stream is on device " + std::to_string(stream.device_ordinal()) +
                  ", but the memory is on device " + std::to_string(device) +
                  "; use a stream of the memory's device");
  }
  device_guard const current{roc::device(device)};
  memory::device_use const use(stream, device, data);
}

// Calls record_use. Returns false if host memory is exhausted; the memory can still be freed then.
bool try_record_use(void const* data, stream_ref stream) {
  try {
    record_use(data, stream);
    return true;
  } catch (std::bad_alloc const&) {
    return false;
  } catch (out_of_memory const&) {
    return false;
  }
}

}  // namespace
}  // namespace roc::c_interface

using namespace roc::c_interface;

// Device memory

roc_status roc_resource_create_hip(int32_t device, roc_resource* resource) {
  return run("roc_resource_create_hip", [&] {
    require(resource, "resource");
    *resource = add_resource(std::make_unique<roc::hip_memory_resource>(device));
  });
}

roc_status roc_resource_create_hip_async(int32_t device, roc_resource* resource) {
  return run("roc_resource_create_hip_async", [&] {
    require(resource, "resource");
    *resource = add_resource(std::make_unique<roc::hip_async_memory_resource>(device));
  });
}

roc_status roc_resource_create_pool(roc_resource upstream, size_t limit, roc_resource* resource) {
  return run("roc_resource_create_pool", [&] {
    require(resource, "resource");
    auto entry = std::make_shared<resource_entry>();
    if (upstream == ROCARRAY_DEFAULT_RESOURCE) {
      entry->upstream = std::make_shared<resource_entry>();
      entry->upstream->resource = std::make_unique<roc::hip_memory_resource>();
    } else {
      entry->upstream = table<resource_table>().get(upstream);
    }
    roc::pool_options options;
    options.limit = limit;
    entry->resource = std::make_unique<roc::pool_resource>(*entry->upstream->resource, options);
    *resource = table<resource_table>().add(std::move(entry));
  });
}

roc_status roc_resource_destroy(roc_resource resource) {
  return run("roc_resource_destroy", [&] {
    if (resource != ROCARRAY_DEFAULT_RESOURCE) table<resource_table>().remove(resource);
  });
}

roc_status roc_allocate(roc_resource resource, size_t bytes, roc_stream stream, void** data) {
  return run("roc_allocate", [&] {
    require(data, "data");
    stream_argument const argument(stream);
    allocation owner;
    if (resource == ROCARRAY_DEFAULT_RESOURCE) {
      owner.storage = roc::detail::device_storage(bytes, argument.get());
    } else {
      owner.resource = table<resource_table>().get(resource);
      owner.storage = roc::detail::device_storage(bytes, argument.get(), *owner.resource->resource);
    }
    void* const address = owner.storage.data();
    if (address != nullptr) table<device_memory_table>().add(address, std::move(owner));
    *data = address;
  });
}

roc_status roc_free(void* data, roc_stream stream) {
  return run("roc_free", [&] {
    stream_argument const argument(stream);
    if (data == nullptr) return;
    if (!try_record_use(data, argument.get())) {
      int const device = table<device_memory_table>().with(
          data, [](allocation const& owner) { return owner.storage.device(); });
      roc::detail::wait_for_stream(argument.get(), device);
    }
    table<device_memory_table>().remove(data);
  });
}

roc_status roc_record_stream(void* data, roc_stream stream) {
  return run("roc_record_stream", [&] {
    stream_argument const argument(stream);
    if (data != nullptr) record_use(data, argument.get());
  });
}
