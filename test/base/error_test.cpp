// SPDX-License-Identifier: MIT
#include <roc/error.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <type_traits>

#include "platform/hip.hpp"

namespace {

template <class E>
constexpr bool is_roc_error =
    std::is_base_of_v<roc::error, E> && std::is_base_of_v<std::system_error, E> &&
    std::is_convertible_v<E*, std::exception*>;  // false for an ambiguous base class

static_assert(is_roc_error<roc::error>);
static_assert(is_roc_error<roc::out_of_memory>);
static_assert(is_roc_error<roc::shape_error>);
static_assert(is_roc_error<roc::layout_error>);
static_assert(is_roc_error<roc::overlap_error>);
static_assert(is_roc_error<roc::registration_error>);
static_assert(is_roc_error<roc::lifetime_error>);
static_assert(std::is_nothrow_copy_constructible_v<roc::error>);

TEST(Error, WhatReturnsTheMessage) {
  roc::shape_error const error("shapes do not match: device (2, 3), host (3, 2)");
  EXPECT_STREQ("shapes do not match: device (2, 3), host (3, 2)", error.what());
  EXPECT_STREQ("", error.call());
  EXPECT_EQ(0u, error.location().line());
  EXPECT_EQ(std::errc::invalid_argument, error.code());
}

TEST(Error, CanBeCaughtAsStdException) {
  try {
    throw roc::out_of_memory({2, roc::hip_category()}, "no memory");
  } catch (std::exception const& error) {
    EXPECT_STREQ("no memory", error.what());
  }
}

TEST(HipCategory, MapsCodesToStandardErrorConditions) {
  auto const code = [](hipError_t value) {
    return std::error_code(static_cast<int>(value), roc::hip_category());
  };
  EXPECT_STREQ("hip", roc::hip_category().name());
  EXPECT_EQ(std::errc::not_enough_memory, code(hipErrorOutOfMemory));
  EXPECT_EQ(std::errc::invalid_argument, code(hipErrorInvalidValue));
  EXPECT_EQ(std::errc::no_such_device, code(hipErrorNoDevice));
  EXPECT_EQ(std::errc::not_supported, code(hipErrorNotSupported));
  EXPECT_NE(std::errc::invalid_argument, code(hipErrorUnknown));
  EXPECT_FALSE(code(hipErrorOutOfMemory).message().empty());
}

std::string logged;

TEST(SetLogHook, ReturnsThePreviousHook) {
  auto const first = roc::set_log_hook([](char const* message) noexcept { logged = message; });
  ASSERT_NE(nullptr, first);
  auto const previous_hook = roc::set_log_hook(nullptr);  // null restores the default hook
  EXPECT_EQ(first, roc::set_log_hook(previous_hook));
  roc::set_log_hook(first);
}

}  // namespace
