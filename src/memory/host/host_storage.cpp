// SPDX-License-Identifier: MIT
#include <roc/detail/host_storage.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include <roc/error.hpp>

#include "base/error.hpp"
#include "base/format_bytes.hpp"
#include "memory/debug/leaks.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "memory/device/idle_memory.hpp"
#include "memory/device/memory_kind.hpp"
#include "memory/host/device_aliases.hpp"
#include "memory/host/host_table.hpp"
#include "memory/host/managed.hpp"
#include "memory/host/pageable_cache.hpp"
#include "memory/host/pinned_cache.hpp"
#include "memory/host/pinned_flags.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/default_stream_sync.hpp"

namespace roc::detail {
namespace {

bool is_pinned(host_memory kind) {
  return kind == host_memory::pinned || kind == host_memory::mapped;
}

// Throws registration_error if memory of `kind` is not memory of the kind `needed`.
void check_kind(host_memory kind, host_memory needed) {
  constexpr char const* makers[] = {"host_array", "pinned_array", "mapped_array", "managed_array"};
  bool const is_satisfied = kind == needed || needed == host_memory::pageable ||
                            (needed == host_memory::pinned && is_pinned(kind));
  if (is_satisfied) return;
  throw registration_error(std::string("host array of the wrong kind of memory: it is ") +
                           memory::name_of(kind) + ", required is " + memory::name_of(needed) +
                           "; create it with roc::" + makers[static_cast<std::size_t>(needed)]);
}

// Returns the kind of host memory of a resource. Throws roc::error if it allocates device memory.
host_memory kind_of(memory_resource const& resource) {
  if (auto const kind = resource.host_kind()) return *kind;
  throw error(std::make_error_code(std::errc::invalid_argument),
              "the memory resource allocates device memory, which cannot hold a host array; use a "
              "resource of host memory, for example hip_pinned_memory_resource, or a device_array");
}

// Moves the uses to the record. Returns false if that is not possible: nothing is lost then.
bool move_uses(memory::host_uses const& uses, memory::allocation_record& record) noexcept {
  // Work of failed calls, which may be a use, is in no record.
  if (runtime::has_abandoned_work()) return false;
  try {
    runtime::stream_uses pending;
    uses.add_to(pending, false);
    record.add_uses(pending);
    return true;
  } catch (std::exception const&) {
    return false;
  }
}

}  // namespace

host_storage::host_storage(std::size_t bytes, host_memory kind, host_flags flags)
    : bytes_(bytes), kind_(kind) {
  if (kind == host_memory::mapped) flags = flags | host_flags::mapped;
  unsigned const hip_flags = is_pinned(kind) ? memory::native_flags(flags) : 0;
  if (kind == host_memory::managed) memory::check_managed();
  if (bytes == 0) return;
  if (is_pinned(kind)) {
    memory::pinned_cache& cache = memory::pinned_cache::instance();
    memory_resource& resource =
        kind == host_memory::pinned && flags == host_flags::portable ? cache.resource() : cache;
    if (&resource != &cache) {
      *this = host_storage(bytes, resource, kind);
      return;
    }
    take(cache.take(bytes, hip_flags), cache);
  } else if (kind == host_memory::managed) {
    ROCARRAY_HIP(hipMallocManaged, &data_, bytes, hipMemAttachGlobal);
  } else {
    data_ = memory::pageable_cache::instance().allocate(bytes);
  }
  add_to_table((hip_flags & hipHostMallocMapped) != 0);
}

host_storage::host_storage(std::size_t bytes, memory_resource& resource, host_memory needed)
    : bytes_(bytes), kind_(kind_of(resource)) {
  check_kind(kind_, needed);
  if (bytes == 0) return;
  take(memory::allocate_idle(resource, bytes), resource);
  add_to_table(kind_ == host_memory::mapped);
}

void host_storage::take(resource_block const& block, memory_resource& resource) {
  data_ = block.data;
  record_ = block.record;
  resource_ = resource.weak_ref();
  has_resource_ = true;
}

void host_storage::add_to_table(bool is_mapped) {
  try {
    memory::host_table::instance().add_allocation(base::byte_range::of(data_, bytes_), kind_,
                                                  is_mapped);
  } catch (...) {
    free_memory();
    throw;
  }
  memory::record_allocation(
      data_, bytes_, kind_ == host_memory::pinned ? "pinned host memory" : "host memory", -1);
}

host_storage::~host_storage() { release(true); }

void host_storage::release(bool wait) noexcept {
  if (data_ == nullptr) return;
  auto const range = base::byte_range::of(data_, bytes_);
  memory::device_aliases::instance().remove(range);
  auto const uses = memory::host_table::instance().remove_allocation(range);
  bool const are_moved = !wait && record_ != nullptr && move_uses(*uses, *record_);
  // Work that has the address without the array, for example by a device_view, is in the record.
  memory::allocation_record* const record =
      record_ != nullptr ? record_ : memory::find_record(data_);
  bool const is_idle =
      are_moved || (uses->wait_quietly() && (record == nullptr || record->wait_for_uses()));
  if (!is_idle) {
    return memory::log_leaked_host_memory(std::exchange(data_, nullptr), bytes_);
  }
  memory::record_free(data_);
  free_memory(are_moved);
}

void host_storage::free_memory(bool has_uses) noexcept {
  resource_block const block{std::exchange(data_, nullptr), std::exchange(record_, nullptr),
                             has_uses};
  // Kernels of the program may use mapped and managed memory, which no record tells. hipFree need
  // not wait for other devices.
  bool const may_be_in_kernels = kind_ == host_memory::mapped || kind_ == host_memory::managed;
  if (may_be_in_kernels && !runtime::synchronize_all_devices_quietly()) {
    return memory::log_leaked_host_memory(block.data, bytes_);
  }
  if (!has_resource_) {
    if (kind_ == host_memory::managed) {
      platform::retry_then_log([&] { ROCARRAY_HIP(hipFree, block.data); });
    } else {
      memory::pageable_cache::instance().deallocate(block.data, bytes_);
    }
    return;
  }
  memory_resource* const resource = resource_.get();
  if (resource == nullptr) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "host array of %s at %p outlived its memory resource, and its memory is never "
                  "freed: destroy arrays before their resource",
                  base::format_bytes(bytes_).c_str(), block.data);
    return base::log_error(text);
  }
  resource->deallocate_block(block, bytes_, {});
}

host_flags host_storage::flags() const {
  if (data_ == nullptr || !is_pinned(kind_)) return host_flags::default_flags;
  unsigned native = 0;
  ROCARRAY_HIP(hipHostGetFlags, &native, data_);
  return memory::flags_of(native);
}

void host_storage::require(host_memory needed) const { check_kind(kind_, needed); }

}  // namespace roc::detail
