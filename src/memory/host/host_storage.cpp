// SPDX-License-Identifier: MIT
#include <roc/detail/host_storage.hpp>

#include <memory>
#include <new>
#include <string>
#include <utility>

#include <roc/error.hpp>

#include "base/format_bytes.hpp"
#include "memory/debug/leaks.hpp"
#include "memory/host/device_aliases.hpp"
#include "memory/host/host_table.hpp"
#include "memory/host/huge_pages.hpp"
#include "memory/host/managed.hpp"
#include "memory/host/pinned_cache.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"

namespace roc::detail {
namespace {

// Memory is aligned so that vector instructions and DMA work at full speed; large memory is aligned
// to huge pages.
std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes >= memory::huge_page_threshold ? memory::huge_page_bytes : 256};
}

// Throws out_of_memory.
void* allocate_pageable(std::size_t bytes) {
  void* const data = ::operator new(bytes, alignment_of(bytes), std::nothrow);
  if (data == nullptr) {
    throw out_of_memory(std::make_error_code(std::errc::not_enough_memory),
                        "host memory is exhausted: " + base::format_bytes(bytes) +
                            " requested; free arrays, or use smaller ones");
  }
  if (bytes >= memory::huge_page_threshold) {
    memory::advise_huge_pages(base::byte_range::of(data, bytes));
  }
  return data;
}

struct flag_name {
  host_flags flag;
  unsigned native;
};
// On NVIDIA, HIP defines the flags of coherence as 0: they are then neither requested nor reported.
flag_name const flag_names[] = {
    {host_flags::portable, hipHostMallocPortable},
    {host_flags::mapped, hipHostMallocMapped},
    {host_flags::write_combined, hipHostMallocWriteCombined},
    {host_flags::coherent, hipHostMallocCoherent},
    {host_flags::non_coherent, hipHostMallocNonCoherent},
};

// Returns the flags of hipHostMalloc. Throws roc::error if the flags contradict each other.
unsigned native_flags(host_memory kind, host_flags flags) {
  if (has(flags, host_flags::coherent | host_flags::non_coherent)) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "pinned memory cannot be both coherent and non_coherent: use one of the two flags");
  }
  if (kind == host_memory::mapped) flags = flags | host_flags::mapped;
  unsigned result = 0;
  for (flag_name const& name : flag_names) {
    if (has(flags, name.flag)) result |= name.native;
  }
  return result;
}

bool is_pinned(host_memory kind) {
  return kind == host_memory::pinned || kind == host_memory::mapped;
}

}  // namespace

host_storage::host_storage(std::size_t bytes, host_memory kind, host_flags flags)
    : bytes_(bytes), kind_(kind) {
  unsigned const hip_flags = is_pinned(kind) ? native_flags(kind, flags) : 0;
  if (kind == host_memory::managed) memory::check_managed();
  if (bytes == 0) return;
  if (is_pinned(kind)) {
    block_ = memory::pinned_cache::instance().take(bytes, hip_flags).release();
    data_ = block_->data;
  } else if (kind == host_memory::managed) {
    ROCARRAY_HIP(hipMallocManaged, &data_, bytes, hipMemAttachGlobal);
  } else {
    data_ = allocate_pageable(bytes);
  }
  try {
    memory::host_table::instance().add_allocation(base::byte_range::of(data_, bytes), kind,
                                                  (hip_flags & hipHostMallocMapped) != 0);
  } catch (...) {
    release(false);
    throw;
  }
  memory::record_allocation(data_, bytes,
                            kind == host_memory::pinned ? "pinned host memory" : "host memory", -1);
}

host_storage::~host_storage() { release(true); }

void host_storage::release(bool wait) noexcept {
  if (data_ == nullptr) return;
  auto const range = base::byte_range::of(data_, bytes_);
  void* const data = std::exchange(data_, nullptr);
  std::unique_ptr<memory::pinned_block> block(std::exchange(block_, nullptr));
  memory::device_aliases::instance().remove(range);
  auto uses = memory::host_table::instance().remove_allocation(range);
  bool const must_wait = uses != nullptr && (wait || block == nullptr);
  if (must_wait && !uses->wait_quietly()) {
    return memory::log_leaked_host_memory(data, bytes_);
  }
  memory::record_free(data);
  switch (kind_) {
    case host_memory::pageable: ::operator delete(data, alignment_of(bytes_)); break;
    case host_memory::managed:
      platform::retry_then_log([&] { ROCARRAY_HIP(hipFree, data); });
      break;
    case host_memory::pinned:
    case host_memory::mapped:
      block->uses = std::move(uses);
      memory::pinned_cache::instance().put(std::move(block));
      break;
  }
}

host_flags host_storage::flags() const {
  host_flags result = host_flags::default_flags;
  if (data_ == nullptr || !is_pinned(kind_)) return result;
  unsigned native = 0;
  ROCARRAY_HIP(hipHostGetFlags, &native, data_);
  for (flag_name const& name : flag_names) {
    if ((native & name.native) != 0) result = result | name.flag;
  }
  return result;
}

void host_storage::require(host_memory needed) const {
  constexpr char const* names[] = {"pageable", "pinned", "mapped", "managed"};
  constexpr char const* makers[] = {"host_array", "pinned_array", "mapped_array", "managed_array"};
  bool const is_satisfied = kind_ == needed || needed == host_memory::pageable ||
                            (needed == host_memory::pinned && is_pinned(kind_));
  if (is_satisfied) return;
  auto const index = static_cast<std::size_t>(needed);
  throw registration_error(std::string("host array of the wrong kind of memory: it is ") +
                           names[static_cast<std::size_t>(kind_)] + ", required is " +
                           names[index] + "; create it with roc::" + makers[index]);
}

}  // namespace roc::detail
