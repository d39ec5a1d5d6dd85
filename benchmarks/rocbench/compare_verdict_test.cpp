// SPDX-License-Identifier: MIT
#include "compare_verdict.hpp"

#include <initializer_list>

#include <gtest/gtest.h>

#include "example_document.hpp"

namespace rocbench {
namespace {

struct compared {
  char const* name;
  double before;  // GB/s
  double after;
  double width = 0.002;
};

std::string verdict(std::initializer_list<compared> cases, std::size_t below = 0,
                    unsigned driver = 13010) {
  document was = example_document();
  was.results.clear();
  document is = was;
  is.where.driver_version = static_cast<int>(driver);
  for (compared const& each : cases) {
    was.results.push_back(example_result(each.name, 1 << 20, each.before * 1e9, each.width));
    is.results.push_back(example_result(each.name, 1 << 20, each.after * 1e9, each.width));
  }
  return compare_verdict(compare(was, is, 0.02), 0.02, below);
}

TEST(compare_verdict, begins_with_the_worst) {
  EXPECT_EQ(verdict({{"a", 50, 50}, {"b", 50, 50.2}}), "same: nothing is slower or faster");
  EXPECT_EQ(verdict({{"a", 50, 60}, {"b", 50, 50}}), "faster: 1 of 2 (a)");
  EXPECT_EQ(verdict({{"a", 50, 60}, {"b", 50, 40}, {"c", 50, 40}}),
            "slower: 2 of 3 (b, c); faster: 1 of 3 (a)");
  EXPECT_EQ(verdict({{"a", 50, 40}}, 2), "below 2 thresholds; slower: 1 of 1 (a)");
  EXPECT_EQ(verdict({{"a", 50, 50}}, 1), "below 1 threshold");
}

TEST(compare_verdict, counts_what_tells_nothing) {
  EXPECT_EQ(verdict({{"a", 50, 50}, {"b", 50, 50, 0.1}}),
            "same: nothing is slower or faster; 1 of 2 too noisy or too near 2 % to tell");
  EXPECT_EQ(verdict({{"a", 50, 40}, {"b", 50, 50, 0.1}}),
            "slower: 1 of 2 (a); 1 of 2 too noisy or too near 2 % to tell");
  EXPECT_EQ(verdict({{"b", 50, 50, 0.1}}), "unclear: 1 of 1 too noisy or too near 2 % to tell");
}

TEST(compare_verdict, of_wrong_data_and_of_what_was_not_measured) {
  document both = example_document();  // one is the same, one wrong, two were not measured
  EXPECT_EQ(compare_verdict(compare(both, both, 0.02), 0.02, 0),
            "wrong data: 1 of 4 (d2d/copy at 1 MiB); 2 of 4 not measured");
  both.results.erase(both.results.begin(), both.results.begin() + 2);
  EXPECT_EQ(compare_verdict(compare(both, both, 0.02), 0.02, 0), "unclear: 2 of 2 not measured");
}

TEST(compare_verdict, of_another_driver_says_so) {
  EXPECT_EQ(verdict({{"a", 50, 40}}, 0, 13020),
            "slower, not on the same device and driver: 1 of 1 (a)");
  EXPECT_EQ(verdict({{"a", 50, 50}}, 0, 13020), "same: nothing is slower or faster");
}

TEST(compare_verdict, names_the_first_of_many) {
  EXPECT_EQ(verdict({{"a", 5, 4}, {"b", 5, 4}, {"c", 5, 4}, {"d", 5, 4}, {"e", 5, 4}, {"f", 5, 4},
                     {"g", 5, 4}}),
            "slower: 7 of 7 (a, b, c, d, e and 2 more)");
}

}  // namespace
}  // namespace rocbench
