// SPDX-License-Identifier: MIT
// Registration in the table of host memory: counting, pieces, adoption.
//
// HIP is called without the table's lock: registering takes seconds for gigabytes, and
// unregistering waits for the device. Meanwhile an entry is busy: it cannot be used by DMA, copies
// are staged, and who wants to register or deregister the same range waits.
#include <algorithm>
#include <string>
#include <utility>

#include <roc/error.hpp>

#include "memory/host/host_table.hpp"
#include "platform/call.hpp"
#include "base/options.hpp"

namespace roc::memory {
namespace {

[[noreturn]] void throw_overlap(base::byte_range asked, base::byte_range known, char const* what) {
  throw registration_error("register_host: " + to_string(asked) + " overlaps " + what + " " +
                           to_string(known) +
                           ": deregister that base::byte_range first, or register the same");
}

using native_detail::memory_kind;

// The runtime's word; an address that it does not know is an error for some, a kind for others.
memory_kind kind_of(std::uintptr_t address, hipPointerAttribute_t& attributes) {
  attributes = {};
  bool const known = ROCARRAY_HIP_CODE(hipPointerGetAttributes, &attributes,
                                  reinterpret_cast<void const*>(address)) == hipSuccess;
  return known ? native_detail::kind_of(attributes) : memory_kind::unregistered;
}

[[noreturn]] void throw_known(base::byte_range where) {
  throw registration_error("register_host: " + to_string(where) +
                           " is known to the runtime already, in part at least: somebody else "
                           "pinned it: use adopt_registered, or leave the pinning to this library");
}

// Old ROCm would pin it once more, and lose one of the two: asked before, on every platform.
void check_unknown(base::byte_range where) {
  hipPointerAttribute_t attributes{};
  if (kind_of(where.begin, attributes) != memory_kind::unregistered ||
      kind_of(where.end - 1, attributes) != memory_kind::unregistered) {
    throw_known(where);
  }
}

// The end of the piece that begins there. At multiples of addresses: no page belongs to two pieces.
// What has one address for kernels stays in one piece.
std::uintptr_t end_of_piece(std::uintptr_t begin, base::byte_range where, unsigned flags) {
  std::size_t const chunk = base::options().register_chunk;
  if ((flags & hipHostRegisterMapped) != 0 || where.bytes() <= chunk) return where.end;
  return std::min((begin / chunk + 1) * chunk, where.end);
}

void register_piece(base::byte_range piece, base::byte_range whole, unsigned flags) {
  hipError_t const result =
      ROCARRAY_HIP_CODE(hipHostRegister, piece.data(), piece.bytes(), flags);
  if (result == hipSuccess) return;
  if (result == hipErrorHostMemoryAlreadyRegistered) throw_known(whole);
  platform::detail::fail(platform::call::call_hipHostRegister, result,
                         std::source_location::current());
}

std::vector<base::byte_range> register_pieces(base::byte_range where, unsigned flags) {
  std::vector<base::byte_range> pieces;
  std::size_t done = 0;
  try {
    for (std::uintptr_t begin = where.begin; begin != where.end; begin = pieces.back().end) {
      base::byte_range const next{begin, end_of_piece(begin, where, flags)};
      pieces.push_back(next);
      register_piece(next, where, flags);
      ++done;
    }
  } catch (...) {
    while (done-- != 0) ROCARRAY_HIP_QUIET(hipHostUnregister, pieces[done].data());
    throw;
  }
  return pieces;
}

}  // namespace

// Counts a range that is known, or finds out that it may not be entered. False: it is new.
bool host_table::count_again(base::byte_range where, unsigned flags, table_lock& held) {
  for (;;) {
    auto* const known = find_overlap(registrations_, where);
    if (known == nullptr) break;
    if (known->where != where) throw_overlap(where, known->where, "the registered range");
    if (known->busy) {
      settled_.wait(held);
      continue;
    }
    if (known->flags != flags) {
      throw registration_error("register_host: " + to_string(where) +
                               " is registered with other options: deregister it first, or "
                               "register it with the same");
    }
    ++known->count;
    return true;
  }
  if (auto const* const own = find_overlap(allocations_, where);
      own != nullptr && own->kind != host_memory::pageable) {
    throw_overlap(where, own->where,
                  own->kind == host_memory::managed ? "the managed array" : "the pinned array");
  }
  return false;
}

void host_table::register_range(base::byte_range where, unsigned flags) {
  table_lock held(mutex_);
  if (count_again(where, flags, held)) return;
  changes();
  registrations_.emplace(where.begin, registered{.where = where, .flags = flags});
  held.unlock();
  std::vector<base::byte_range> pieces;
  try {
    check_unknown(where);
    pieces = register_pieces(where, flags);
  } catch (...) {
    held.lock();
    changes();
    registrations_.erase(where.begin);
    settled_.notify_all();
    throw;
  }
  held.lock();
  changes();
  registered& entry = registrations_.find(where.begin)->second;
  entry.several = pieces.size() > 1;
  if (entry.several) ++in_pieces_;
  entry.pieces = std::move(pieces);
  entry.usable = true;
  entry.busy = false;
  settled_.notify_all();
}

void host_table::adopt(base::byte_range where) {
  table_lock held(mutex_);
  if (count_again(where, hipHostRegisterDefault, held)) return;
  hipPointerAttribute_t first{};
  hipPointerAttribute_t last{};
  bool const pinned = kind_of(where.begin, first) == memory_kind::host &&
                      kind_of(where.end - 1, last) == memory_kind::host;
  auto const distance = reinterpret_cast<std::uintptr_t>(last.devicePointer) -
                        reinterpret_cast<std::uintptr_t>(first.devicePointer);
  if (!pinned || distance != where.bytes() - 1) {
    throw registration_error("adopt_registered: " + to_string(where) +
                             " is not one piece of pinned host memory: use register_host");
  }
  changes();
  registrations_.emplace(where.begin, registered{.where = where, .adopted = true, .busy = false,
                                                 .usable = true});
}

// The entry, no longer busy.
host_table::registered& host_table::find_registered(base::byte_range where, table_lock& held) {
  for (;;) {
    auto const place = registrations_.find(where.begin);
    if (place == registrations_.end() || place->second.where != where) {
      auto const* const known = find_overlap(registrations_, where);
      std::string const problem =
          known == nullptr ? " is not registered"
                           : " is not the registered range " + to_string(known->where);
      throw registration_error("deregister: " + to_string(where) + problem +
                               ": give the base::byte_range that was registered");
    }
    if (!place->second.busy) return place->second;
    settled_.wait(held);
  }
}

void host_table::check_registered(base::byte_range where) {
  table_lock held(mutex_);
  static_cast<void>(find_registered(where, held));
}

void host_table::deregister(base::byte_range where) {
  table_lock held(mutex_);
  registered& entry = find_registered(where, held);
  if (entry.count > 1) {
    --entry.count;
    return;
  }
  // Busy, it is nobody else's: the reference stays good, and DMA has no new work for it.
  changes();
  entry.busy = true;
  entry.usable = false;
  auto pending = std::exchange(entry.pending, {});
  held.unlock();
  try {
    pending.wait();
    while (!entry.pieces.empty()) {
      ROCARRAY_HIP(hipHostUnregister, entry.pieces.back().data());
      held.lock();
      entry.pieces.pop_back();
      held.unlock();
    }
  } catch (...) {
    if (!held.owns_lock()) held.lock();
    changes();
    entry.busy = false;
    // What is whole can be used as before.
    entry.usable = entry.adopted || (!entry.pieces.empty() &&
                                     entry.pieces.back().end == entry.where.end);
    settled_.notify_all();
    throw;
  }
  held.lock();
  changes();
  if (entry.several) --in_pieces_;
  forget_device_addresses(where);
  registrations_.erase(where.begin);
  settled_.notify_all();
}

}  // namespace roc::memory
