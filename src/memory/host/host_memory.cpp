// SPDX-License-Identifier: MIT
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <roc/detail/host_storage.hpp>
#include <roc/error.hpp>

#include "memory/host/host_table.hpp"
#include "memory/debug/leaks.hpp"
#include "memory/host/huge_pages.hpp"
#include "memory/host/managed.hpp"
#include "memory/host/pinned_cache.hpp"
#include "platform/call.hpp"
#include "base/error.hpp"

namespace roc::detail {
namespace {

// A cache line and a page's part: rows of common element sizes begin aligned. Large memory begins
// where huge pages do.
std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes >= memory::huge_page_threshold ? memory::huge_page : 256};
}

void* allocate_pageable(std::size_t bytes) {
  void* const data = ::operator new(bytes, alignment_of(bytes), std::nothrow);
  if (data == nullptr) {
    throw out_of_memory(std::make_error_code(std::errc::not_enough_memory),
                        "no host memory for " + std::to_string(bytes) +
                            " bytes: free arrays, or use smaller ones");
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
// Where HIP gives a flag no bit (coherence, on NVIDIA), it is neither asked for nor told.
flag_name const flag_names[] = {
    {host_flags::portable, hipHostMallocPortable},
    {host_flags::mapped, hipHostMallocMapped},
    {host_flags::write_combined, hipHostMallocWriteCombined},
    {host_flags::coherent, hipHostMallocCoherent},
    {host_flags::non_coherent, hipHostMallocNonCoherent},
};

unsigned native_flags(host_memory kind, host_flags flags) {
  if (has(flags, host_flags::coherent | host_flags::non_coherent)) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "pinned memory that is coherent and non_coherent: give one of the two");
  }
  if (kind == host_memory::mapped) flags = flags | host_flags::mapped;
  unsigned result = 0;
  for (flag_name const& each : flag_names) {
    if (has(flags, each.flag)) result |= each.native;
  }
  return result;
}

bool is_pinned(host_memory kind) {
  return kind == host_memory::pinned || kind == host_memory::mapped;
}

}  // namespace

host_storage::host_storage(std::size_t bytes, host_memory kind, host_flags flags)
    : bytes_(bytes), kind_(kind) {
  if (is_pinned(kind)) native_flags_ = native_flags(kind, flags);
  if (kind == host_memory::managed) memory::check_managed();
  if (bytes == 0) return;
  if (is_pinned(kind)) {
    auto const block = memory::pinned_cache::instance().take(bytes, native_flags_);
    data_ = block.data;
    block_bytes_ = block.bytes;
    device_ = block.device;
  } else if (kind == host_memory::managed) {
    ROCARRAY_HIP(hipMallocManaged, &data_, bytes, hipMemAttachGlobal);
  } else {
    data_ = allocate_pageable(bytes);
  }
  try {
    memory::host_table::instance().add_allocation(base::byte_range::of(data_, bytes), kind,
                                                  (native_flags_ & hipHostMallocMapped) != 0);
  } catch (...) {
    release(false);
    throw;
  }
  memory::note_allocation(data_, bytes, kind == host_memory::pinned ? "pinned host memory"
                                                                     : "host memory", -1);
}

host_storage::~host_storage() { release(true); }

void host_storage::release(bool wait) noexcept {
  if (data_ == nullptr) return;
  memory::note_free(data_);
  auto pending = memory::host_table::instance().remove_allocation(
      base::byte_range::of(data_, bytes_));
  void* const data = std::exchange(data_, nullptr);
  if (wait || !is_pinned(kind_)) {
    try {
      pending.wait();
    } catch (std::exception const& late) {
      base::log(late.what());
    }
    pending = {};
  }
  switch (kind_) {
    case host_memory::pageable:
      ::operator delete(data, alignment_of(bytes_));
      break;
    case host_memory::managed:
      ROCARRAY_HIP_QUIET(hipFree, data);
      break;
    case host_memory::pinned:
    case host_memory::mapped:
      memory::pinned_cache::instance().give({data, block_bytes_, native_flags_, device_},
                                            std::move(pending));
      break;
  }
}

host_flags host_storage::flags() const {
  host_flags result = host_flags::default_flags;
  if (data_ == nullptr || !is_pinned(kind_)) return result;
  unsigned native = 0;
  ROCARRAY_HIP(hipHostGetFlags, &native, data_);
  for (flag_name const& each : flag_names) {
    if ((native & each.native) != 0) result = result | each.flag;
  }
  return result;
}

}  // namespace roc::detail
