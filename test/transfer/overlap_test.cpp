// SPDX-License-Identifier: MIT
// Shared memory between source and destination: never missed, and apart is not called shared where
// rows, columns and halves of one array are meant.
#include "transfer/normal_form.hpp"

#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "support/environment.hpp"
#include "support/layouts.hpp"

namespace {

TEST(Overlap, IsAnErrorThatNamesBoth) {
  roc::device_array<int> array({100});
  auto const from = array(roc::slice(0, 60));
  auto const to = array(roc::slice(40, 100));
  try {
    roc::copy(from, to);
    FAIL();
  } catch (roc::overlap_error const& error) {
    std::string const message = error.what();
    EXPECT_NE(std::string::npos, message.find("source [")) << message;
    EXPECT_NE(std::string::npos, message.find("destination [")) << message;
  }
  EXPECT_THROW(roc::copy(array, array), roc::overlap_error);
  std::vector<int> host(100);
  EXPECT_THROW(roc::copy(roc::host_view<int>(host), roc::host_view<int>(host)),
               roc::overlap_error);
}

TEST(Overlap, PartsOfOneArrayAreApart) {
  roc::device_array<int, 2> array({10, 12});
  using roc::all;
  using roc::none;
  using roc::slice;
  EXPECT_NO_THROW(roc::copy(array(slice(0, 5), all), array(slice(5, 10), all)));    // halves
  EXPECT_NO_THROW(roc::copy(array(all, slice(0, 6)), array(all, slice(6, 12))));    // sides
  EXPECT_NO_THROW(roc::copy(array(all, 3), array(all, 4)));                         // columns
  EXPECT_NO_THROW(roc::copy(array(all, slice(0, none, 2)), array(all, slice(1, none, 2))));
  EXPECT_NO_THROW(roc::copy(array(slice(0, none, 2), all), array(slice(1, none, 2), all)));
  EXPECT_NO_THROW(roc::copy(array(all, slice(5, none, -1)), array(all, slice(6, 12))));
  EXPECT_THROW(roc::copy(array(all, slice(0, 7)), array(all, slice(5, 12))), roc::overlap_error);
}

TEST(Overlap, IsNeverMissed) {
  auto random = roc::test::random_generator("Overlap.IsNeverMissed");
  std::size_t shared = 0;
  std::size_t apart = 0;
  std::vector<unsigned char> memory(4096);
  for (int round = 0; round < 20'000; ++round) {
    roc::shape<2> const extents{1 + random() % 5, 1 + random() % 5};
    auto const from = roc::test::random_strides(extents, random, true);
    auto const to = roc::test::random_strides(extents, random, true);
    auto* const source = memory.data() + 2048 + random() % 64;
    auto* const destination = memory.data() + 2048 + random() % 64;
    std::set<unsigned char*> places;
    bool truth = false;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t i = 0; i < extents[0]; ++i) {
        for (std::size_t k = 0; k < extents[1]; ++k) {
          auto const& steps = pass == 0 ? from : to;
          auto* const at = (pass == 0 ? source : destination) +
                           static_cast<std::ptrdiff_t>(i) * steps[0] +
                           static_cast<std::ptrdiff_t>(k) * steps[1];
          if (pass == 0) {
            places.insert(at);
          } else {
            truth = truth || places.contains(at);
          }
        }
      }
    }
    using roc::detail::place;
    roc::detail::region const a{source, 1, 2, extents.data(), from.data(), place::host, -1};
    roc::detail::region const b{destination, 1, 2, extents.data(), to.data(), place::host, -1};
    bool const said =
        roc::transfer::may_overlap(roc::transfer::normalise(a, b, roc::transfer::side::source));
    ASSERT_TRUE(said || !truth) << "round " << round;
    shared += truth ? 1 : 0;
    apart += said ? 0 : 1;
  }
  EXPECT_GT(shared, 1000u);
  EXPECT_GT(apart, 1000u);
}

}  // namespace
