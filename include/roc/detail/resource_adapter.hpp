// SPDX-License-Identifier: MIT
// Common to all adapters of memory resources to and from other libraries: see roc/interop.
#pragma once

#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <roc/config.hpp>
#include <roc/error.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc::detail {

/// Out of memory as a std::bad_alloc, for libraries that expect that; with the message of the
/// out_of_memory that it replaces.
class foreign_bad_alloc : public std::bad_alloc {
 public:
  explicit foreign_bad_alloc(std::string message) : message_(std::move(message)) {}
  char const* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// Calls `allocate`, and throws a BadAlloc in place of roc::out_of_memory.
template <class BadAlloc = foreign_bad_alloc, class F>
void* with_bad_alloc(F allocate) {
  try {
    return allocate();
  } catch (out_of_memory const& error) {
    if constexpr (std::is_constructible_v<BadAlloc, std::string>) {
      throw BadAlloc(std::string(error.what()));
    } else {
      throw BadAlloc();
    }
  }
}

/// Throws roc::error unless the memory of the resource has the properties.
ROCARRAY_API void check_accessible(memory_resource const& resource, bool from_host,
                                   bool from_device);
/// Reports that the deallocation of memory failed.
ROCARRAY_API void log_failed_deallocation(void const* data, char const* message) noexcept;

}  // namespace roc::detail
