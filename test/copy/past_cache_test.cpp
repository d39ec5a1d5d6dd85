// SPDX-License-Identifier: MIT
// Memory written past the caches is what memcpy writes, wherever it begins and ends.
#include "copy/staging/nontemporal_copy.hpp"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

TEST(PastCache, AnyBeginAndLength) {
  constexpr std::size_t room = 512;
  std::vector<std::byte> source(room);
  for (std::size_t i = 0; i != room; ++i) source[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t from = 0; from != 17; ++from) {
    for (std::size_t to = 0; to != 67; ++to) {
      for (std::size_t bytes = 0; bytes != 300; ++bytes) {
        std::vector<std::byte> destination(room, std::byte{0xEE});
        std::vector<std::byte> expected = destination;
        std::memcpy(expected.data() + to, source.data() + from, bytes);
        roc::transfer::nontemporal_copy(destination.data() + to, source.data() + from, bytes);
        roc::transfer::nontemporal_fence();
        ASSERT_TRUE(destination == expected) << from << " to " << to << ", " << bytes << " bytes";
      }
    }
  }
}
