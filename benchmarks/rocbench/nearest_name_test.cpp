// SPDX-License-Identifier: MIT
#include "nearest_name.hpp"

#include <gtest/gtest.h>

namespace rocbench {
namespace {

constexpr std::string_view names[] = {"run", "sweep", "h2d/pinned", "d2h/pinned", "h2d/pageable"};

TEST(NearestName, ReturnsExactMatch) { EXPECT_EQ(nearest_name("d2h/pinned", names), "d2h/pinned"); }

TEST(NearestName, CorrectsInsertionDeletionSubstitutionAndSwap) {
  EXPECT_EQ(nearest_name("sweeep", names), "sweep");
  EXPECT_EQ(nearest_name("swep", names), "sweep");
  EXPECT_EQ(nearest_name("h2d/pinnet", names), "h2d/pinned");
  EXPECT_EQ(nearest_name("rnu", names), "run");
  EXPECT_EQ(nearest_name("h2d/pagable", names), "h2d/pageable");
}

TEST(NearestName, IsEmptyIfNoCandidateIsSimilar) {
  EXPECT_EQ(nearest_name("nonsense", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("run", {}), "");
}

TEST(NearestName, PrefersFirstOfEquallySimilarCandidates) {
  EXPECT_EQ(nearest_name("x2y/pinned", names), "h2d/pinned");
}

TEST(Suggestion, QuotesNameAndIsEmptyWithoutOne) {
  EXPECT_EQ(suggestion("run"), "; did you mean 'run'?");
  EXPECT_EQ(suggestion(""), "");
}

}  // namespace
}  // namespace rocbench
