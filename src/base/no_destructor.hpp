// SPDX-License-Identifier: MIT
// Objects that live until the process ends.
#pragma once

#include <new>
#include <type_traits>

namespace roc::base {

/// Holds an object that is never destroyed, for static variables that are used while static objects
/// are destroyed. Does not allocate, so that a static variable of a function that must not throw
/// can use it if the constructor of `T` does not throw.
template <class T>
class no_destructor {
 public:
  no_destructor() noexcept(std::is_nothrow_default_constructible_v<T>) { ::new (storage_) T(); }
  no_destructor(no_destructor const&) = delete;
  no_destructor& operator=(no_destructor const&) = delete;

  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }

 private:
  alignas(T) unsigned char storage_[sizeof(T)];
};

}  // namespace roc::base
