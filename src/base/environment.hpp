// SPDX-License-Identifier: MIT
// The names of all environment variables with the prefix ROCARRAY_, and a search for misspelled
// ones.
#pragma once

#include <span>
#include <string_view>

namespace roc::base {

/// Returns the names of all variables that the library, its tests and its scripts read. A variable
/// that is read anywhere must be in this list (test/base/environment_test.cpp).
std::span<std::string_view const> known_variables() noexcept;

/// Returns the known variable with the smallest edit distance to `name`; the first of several.
std::string_view nearest_known_variable(std::string_view name) noexcept;

/// Calls `report` with the name of each variable in the environment that has the prefix ROCARRAY_
/// and is not known. Does not allocate. As getenv, it must not run concurrently with a change of
/// the environment.
void for_each_unknown_variable(void (*report)(void const* context, std::string_view name) noexcept,
                               void const* context) noexcept;

}  // namespace roc::base
