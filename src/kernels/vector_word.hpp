// SPDX-License-Identifier: MIT
// Words: the types of 1, 2, 4, 8 or 16 bytes that a thread moves with one load and one store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <roc/config.hpp>

namespace roc::kernels {

/// A word of 16 bytes, the widest access of a thread.
struct alignas(16) vector_word {
  std::uint64_t low;
  std::uint64_t high;
};

/// Returns the word at an address of global memory: neither shared nor local to a thread.
///
/// A compiler does not know this of an integer, and chooses generic instructions. Those of AMD
/// (flat_load, flat_store) complete out of order, so that a thread that waits for one waits for all
/// of them, and for its accesses of shared memory too. On NVIDIA generic instructions are kept:
/// with global ones, ptxas has fewer loads in flight (permutations of words of 4 bytes on one H200:
/// 3318 instead of 3884 GB/s).
template <class Word>
ROCARRAY_HOST_DEVICE Word& word_at(std::uintptr_t address) {
#if defined(__AMDGCN__)
  auto* const word = reinterpret_cast<__attribute__((address_space(1))) Word*>(address);
  return *(Word*)word;  // no other cast changes an address space
#else
  return *reinterpret_cast<Word*>(address);
#endif
}

/// The type of a register that holds a word. hipcc packs several words of less than 4 bytes into
/// one register, and then waits for each load before the next one. Initialize arrays of this type:
/// without an initial value it waits too.
template <class Word>
using word_register = std::conditional_t<sizeof(Word) < 4, std::uint32_t, Word>;

/// Copies a word from or to memory or a word_register. On AMD the members of a vector_word are
/// copied one by one: hipcc keeps arrays of structs that are copied whole in scratch memory, and
/// joins the two accesses again. Compilers for the CPU do not join them.
template <class Destination, class Source>
ROCARRAY_HOST_DEVICE void copy_word_to(Destination& destination, Source const& source) {
  destination = static_cast<Destination>(source);
}
#if ROCARRAY_PLATFORM_AMD
ROCARRAY_HOST_DEVICE inline void copy_word_to(vector_word& destination, vector_word const& source) {
  destination.low = source.low;
  destination.high = source.high;
}
#endif

/// Returns the word with the order of its elements reversed. An element has `bytes` bytes: 1, 2, 4
/// or 8, and at most as many as the word.
ROCARRAY_HOST_DEVICE inline std::uint64_t reversed(std::uint64_t word, unsigned bytes) {
  constexpr std::uint64_t pairs = 0x0000FFFF0000FFFFu;
  constexpr std::uint64_t singles = 0x00FF00FF00FF00FFu;
  if (bytes <= 4) word = word << 32 | word >> 32;
  if (bytes <= 2) word = (word & pairs) << 16 | (word >> 16 & pairs);
  if (bytes == 1) word = (word & singles) << 8 | (word >> 8 & singles);
  return word;
}
ROCARRAY_HOST_DEVICE inline std::uint32_t reversed(std::uint32_t word, unsigned bytes) {
#if defined(__CUDA_ARCH__)
  // One instruction, which nvcc does not find for shifts and masks.
  if (bytes == 1) return __byte_perm(word, 0, 0x0123);
#endif
  constexpr std::uint32_t singles = 0x00FF00FFu;
  if (bytes <= 2) word = word << 16 | word >> 16;
  if (bytes == 1) word = (word & singles) << 8 | (word >> 8 & singles);
  return word;
}
ROCARRAY_HOST_DEVICE inline std::uint16_t reversed(std::uint16_t word, unsigned bytes) {
  return static_cast<std::uint16_t>(reversed(std::uint32_t{word}, bytes) >> 16);
}
ROCARRAY_HOST_DEVICE inline std::uint8_t reversed(std::uint8_t word, unsigned) { return word; }
ROCARRAY_HOST_DEVICE inline vector_word reversed(vector_word word, unsigned bytes) {
  return {reversed(word.high, bytes), reversed(word.low, bytes)};
}

/// Returns the size of the widest word, in bytes, that divides all of the addresses, steps and
/// lengths that are combined in `bits` by bitwise or.
inline std::size_t widest_word_bytes(std::uintptr_t bits) {
  std::size_t bytes = 16;
  while (bits % bytes != 0) bytes /= 2;
  return bytes;
}

}  // namespace roc::kernels

/// Expands to use(Word) for every word type: the instances of the kernels.
#define ROCARRAY_FOR_EACH_WORD(use) \
  use(std::uint8_t);                \
  use(std::uint16_t);               \
  use(std::uint32_t);               \
  use(std::uint64_t);               \
  use(::roc::kernels::vector_word)
