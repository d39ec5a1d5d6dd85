// SPDX-License-Identifier: MIT
// The objects behind the handles of the C interface.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include <roc/error.hpp>

namespace roc::c_interface {

/// Returns a number that no other handle of the process has, of any kind. Never 0.
inline std::uintptr_t next_handle_number() noexcept {
  static constinit std::atomic<std::uintptr_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// The objects of one kind of handle. A handle is a number in the form of a pointer, and is never
/// used twice, so that a destroyed handle is recognized. Thread-safe; one mutex, held for a
/// look-up.
template <class Handle, class Object>
class handle_table {
 public:
  /// @param kind for messages, such as "stream"
  explicit handle_table(char const* kind) noexcept : kind_(kind) {}

  /// Adds an object and returns its handle. Throws std::bad_alloc.
  Handle add(std::shared_ptr<Object> object) {
    std::uintptr_t const number = next_handle_number();
    std::lock_guard const lock(mutex_);
    objects_.emplace(number, std::move(object));
    return reinterpret_cast<Handle>(number);
  }
  /// Returns the object, which lives at least as long as the result. Throws lifetime_error.
  std::shared_ptr<Object> get(Handle handle) {
    std::lock_guard const lock(mutex_);
    auto const position = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (position == objects_.end()) throw_invalid(handle);
    return position->second;
  }
  /// Removes the handle and returns its object. Throws lifetime_error.
  std::shared_ptr<Object> remove(Handle handle) {
    std::lock_guard const lock(mutex_);
    auto const position = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (position == objects_.end()) throw_invalid(handle);
    auto object = std::move(position->second);
    objects_.erase(position);
    return object;
  }

 private:
  [[noreturn]] void throw_invalid(Handle handle) const {
    char text[160];
    std::snprintf(text, sizeof text,
                  "the %s handle %p is not valid: it was destroyed or never created; use one that "
                  "exists",
                  kind_, reinterpret_cast<void*>(handle));
    throw lifetime_error(text);
  }

  char const* kind_;
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects_;  // guarded by mutex_
};

/// The owners of allocations by their addresses. Thread-safe; one mutex, held for a look-up.
template <class Owner>
class address_table {
 public:
  /// @param kind for messages, such as "device memory"
  /// @param source the function that allocates it
  address_table(char const* kind, char const* source) noexcept : kind_(kind), source_(source) {}

  /// Adds an owner. Throws std::bad_alloc; the owner is then destroyed.
  void add(void const* data, Owner owner) {
    std::lock_guard const lock(mutex_);
    owners_.emplace(data, std::move(owner));
  }
  /// Returns f(owner) for the owner of the address, under the lock. Throws lifetime_error.
  template <class F>
  auto with(void const* data, F f) {
    std::lock_guard const lock(mutex_);
    auto const position = owners_.find(data);
    if (position == owners_.end()) throw_unknown(data);
    return f(position->second);
  }
  /// Removes and returns the owner of the address. Throws lifetime_error.
  Owner remove(void const* data) {
    std::lock_guard const lock(mutex_);
    auto const position = owners_.find(data);
    if (position == owners_.end()) throw_unknown(data);
    Owner owner = std::move(position->second);
    owners_.erase(position);
    return owner;
  }

 private:
  [[noreturn]] void throw_unknown(void const* data) const {
    char text[160];
    std::snprintf(text, sizeof text,
                  "the address %p is not allocated as %s: it was freed, or is not a result of %s",
                  data, kind_, source_);
    throw lifetime_error(text);
  }

  char const* kind_;
  char const* source_;
  std::mutex mutex_;
  std::unordered_map<void const*, Owner> owners_;  // guarded by mutex_
};

}  // namespace roc::c_interface
