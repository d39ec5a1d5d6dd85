// SPDX-License-Identifier: MIT
// Iteration in the order of memory that does not claim to be a contiguous range.
#pragma once

#include <iterator>

namespace roc::detail {

/// Reversed twice, an iterator is what it was, except that it is of random access at most.
template <class Pointer>
using reversed_twice = std::reverse_iterator<std::reverse_iterator<Pointer>>;

template <class Pointer>
constexpr auto memory_iterator(Pointer at) {
  return reversed_twice<Pointer>(std::reverse_iterator<Pointer>(at));
}

}  // namespace roc::detail
