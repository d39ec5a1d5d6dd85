// SPDX-License-Identifier: MIT
// The call sites of replaced functions in the program: the runtime that each of them calls, and
// what became of its copies.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "preload/request.hpp"
#include "preload/vendor_runtime.hpp"

namespace roc::preload {

inline constexpr std::size_t outcome_count = static_cast<std::size_t>(outcome::count);

/// A number of copies and their bytes. Threads add to it without a lock.
struct copy_counter {
  std::atomic<std::uint64_t> copies = 0;
  std::atomic<std::uint64_t> bytes = 0;

  void add(std::uint64_t count) noexcept {
    copies.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(count, std::memory_order_relaxed);
  }
  void clear() noexcept { copies = bytes = 0; }
};

/// One call site, identified by the address to which the call returns.
struct call_site {
  std::atomic<void const*> address = nullptr;  // published after the members below
  call function = call::count;
  vendor_runtime const* runtime = nullptr;  // null: no runtime is loaded
  void* vendor_function = nullptr;          // to which calls are passed on
  copy_counter pageable;                    // served, or passed on because of the vendor's rate
  copy_counter small;
};

/// Returns the entry of a call site. The first call looks up its runtime, which takes the loader's
/// lock; later ones take no lock. Call sites beyond the capacity of the table share one entry,
/// whose runtime is that of the first of them.
call_site& find_call_site(call function, void const* address) noexcept;

/// Returns the function to which a call from this site is passed on, or null if there is none.
/// `function` and `address` are those for which the site was found.
void* vendor_function_of(call_site const& site, call function, void const* address) noexcept;

/// The entries, in no order; those without an address are not in use.
inline constexpr std::size_t max_call_sites = 4096;
std::array<call_site, max_call_sites>& call_sites() noexcept;

}  // namespace roc::preload
