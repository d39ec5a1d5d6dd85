// SPDX-License-Identifier: MIT
// One element of a device view: a reference in kernels, a view of rank 0 for copies.
#pragma once

#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>

namespace roc {

template <class T, std::size_t N>
class device_view;

/// What `view(i, j)` gives. In a kernel it stands for the element: it converts to `T&`, can be
/// assigned to, and `&view(i)` is the element's address. On the host it is the element's 0-d view
/// (`copy_to_host`, `copy_to_device`), and must not be read as a value: the memory is the device's.
template <class T>
class element : public device_view<T, 0> {
 public:
  /// The element that the view is of.
  ROCARRAY_HOST_DEVICE explicit element(device_view<T, 0> const& at) : device_view<T, 0>(at) {}
  /// The same element.
  ROCARRAY_HOST_DEVICE element(element const& other) : device_view<T, 0>(other) {}

  /// The element, in kernels.
  ROCARRAY_HOST_DEVICE operator T&() const { return *this->data(); }
  /// Its address in device memory.
  ROCARRAY_HOST_DEVICE T* operator&() const { return this->data(); }
  /// A member of it, in kernels.
  ROCARRAY_HOST_DEVICE T* operator->() const { return this->data(); }

  /// Gives the element a value, in kernels.
  ROCARRAY_HOST_DEVICE T& operator=(T const& value) const { return *this->data() = value; }
  /// Assigns the element's value, as a reference does.
  ROCARRAY_HOST_DEVICE element const& operator=(element const& other) const {
    *this->data() = *other.data();
    return *this;
  }

#define ROCARRAY_ELEMENT_ASSIGNMENT(op)                         \
  ROCARRAY_HOST_DEVICE T& operator op(T const& value) const {   \
    return *this->data() op value;                         \
  }
  ROCARRAY_ELEMENT_ASSIGNMENT(+=)
  ROCARRAY_ELEMENT_ASSIGNMENT(-=)
  ROCARRAY_ELEMENT_ASSIGNMENT(*=)
  ROCARRAY_ELEMENT_ASSIGNMENT(/=)
  ROCARRAY_ELEMENT_ASSIGNMENT(%=)
  ROCARRAY_ELEMENT_ASSIGNMENT(&=)
  ROCARRAY_ELEMENT_ASSIGNMENT(|=)
  ROCARRAY_ELEMENT_ASSIGNMENT(^=)
  ROCARRAY_ELEMENT_ASSIGNMENT(<<=)
  ROCARRAY_ELEMENT_ASSIGNMENT(>>=)
#undef ROCARRAY_ELEMENT_ASSIGNMENT
  ROCARRAY_HOST_DEVICE T& operator++() const { return ++*this->data(); }  ///< in kernels
  ROCARRAY_HOST_DEVICE T& operator--() const { return --*this->data(); }  ///< in kernels
};

}  // namespace roc
