// SPDX-License-Identifier: MIT
#include <exception>
#include <new>

#include <roc/detail/host_storage.hpp>
#include <roc/error.hpp>

#include "memory/host_table.hpp"
#include "memory/leaks.hpp"
#include "platform/call.hpp"
#include "runtime/error.hpp"

namespace roc::detail {
namespace {

// A cache line and a page's part: rows of common element sizes begin aligned.
constexpr std::align_val_t alignment{256};

void* allocate(std::size_t bytes, host_memory kind) {
  if (kind == host_memory::pageable) {
    void* const data = ::operator new(bytes, alignment, std::nothrow);
    if (data != nullptr) return data;
    throw out_of_memory(std::make_error_code(std::errc::not_enough_memory),
                        "no host memory for " + std::to_string(bytes) +
                            " bytes: free arrays, or use smaller ones");
  }
  void* data = nullptr;
  ROC_HIP(hipHostMalloc, &data, bytes, hipHostMallocPortable);
  return data;
}

void deallocate(void* data, host_memory kind) noexcept {
  if (kind == host_memory::pageable) {
    ::operator delete(data, alignment);
  } else {
    ROC_HIP_QUIET(hipHostFree, data);
  }
}

}  // namespace

host_storage::host_storage(std::size_t bytes, host_memory kind) : bytes_(bytes), kind_(kind) {
  if (bytes == 0) return;
  data_ = allocate(bytes, kind);
  try {
    memory::host_table::instance().add_allocation(memory::range::of(data_, bytes),
                                                  kind == host_memory::pinned);
  } catch (...) {
    deallocate(data_, kind);
    throw;
  }
  memory::note_allocation(data_, bytes, kind == host_memory::pinned ? "pinned host memory"
                                                                     : "host memory", -1);
}

host_storage::~host_storage() {
  if (data_ == nullptr) return;
  memory::note_free(data_);
  auto const pending = memory::host_table::instance().remove_allocation(
      memory::range::of(data_, bytes_));
  try {
    pending.wait();
  } catch (std::exception const& late) {
    runtime::log(late.what());
  }
  deallocate(data_, kind_);
}

}  // namespace roc::detail
