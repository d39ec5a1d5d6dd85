// SPDX-License-Identifier: MIT
#include "preload/call_sites.hpp"

#include <mutex>

#include "preload/publication_lock.hpp"

namespace roc::preload {
namespace {

// Constant-initialized, and never destroyed: the program may copy in its static destructors.
constinit std::array<call_site, max_call_sites> table;
constinit call_site shared_site;           // of the call sites for which the table has no entry
constinit call_site site_without_runtime;  // never written

std::size_t first_index(void const* address) noexcept {
  auto const number = reinterpret_cast<std::uintptr_t>(address);
  return (number ^ (number >> 12)) % max_call_sites;
}

// Returns the entry of a call site, or a free entry, or null if there is neither near its index.
call_site* find_entry(call function, void const* address) noexcept {
  constexpr std::size_t max_probes = 64;
  std::size_t const first = first_index(address);
  for (std::size_t i = 0; i != max_probes; ++i) {
    call_site& entry = table[(first + i) % max_call_sites];
    void const* const found = entry.address.load(std::memory_order_acquire);
    if (found == nullptr || (found == address && entry.function == function)) return &entry;
  }
  return nullptr;
}

}  // namespace

call_site& find_call_site(call function, void const* address) noexcept {
  call_site* entry = find_entry(function, address);
  if (entry != nullptr && entry->address.load(std::memory_order_acquire) != nullptr) return *entry;
  // The table may be full: the shared entry, once it is in use.
  if (entry == nullptr && shared_site.address.load(std::memory_order_acquire) != nullptr) {
    return shared_site;
  }
  vendor_runtime const* const runtime = find_runtime(address);
  // Not kept: the program may load a runtime later.
  if (runtime == nullptr) return site_without_runtime;
  void* const vendor_function = find_vendor_function(*runtime, function, address);
  std::lock_guard const lock(publication);
  entry = find_entry(function, address);  // another thread may have added an entry
  if (entry == nullptr) entry = &shared_site;
  if (entry->address.load(std::memory_order_relaxed) == nullptr) {
    entry->function = function;
    entry->runtime = runtime;
    entry->vendor_function = vendor_function;
    entry->address.store(address, std::memory_order_release);
  }
  return *entry;
}

void* vendor_function_of(call_site const& site, call function, void const* address) noexcept {
  if (site.runtime == nullptr) return nullptr;
  // The shared entry has the function of the first of its call sites.
  if (&site == &shared_site) return find_vendor_function(*site.runtime, function, address);
  return site.vendor_function;
}

std::array<call_site, max_call_sites>& call_sites() noexcept { return table; }

}  // namespace roc::preload
