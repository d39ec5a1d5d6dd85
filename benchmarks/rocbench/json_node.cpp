// SPDX-License-Identifier: MIT
#include "json_node.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "text_file.hpp"

namespace rocbench {
namespace {

using nlohmann::json;

constexpr int max_depth = 32;

}  // namespace

json parse_json(std::string_view text, std::string const& name) {
  try {
    return json::parse(text, [&](int depth, json::parse_event_t, json&) {
      if (depth <= max_depth) return true;
      throw input_error(
          fmt::format("{}: nested deeper than {} levels; this is not a result file of rocbench",
                      name, max_depth));
    });
  } catch (json::exception const& e) {
    throw input_error(fmt::format("{}: not valid JSON: {}", name, e.what()));
  }
}

void json_node::fail(std::string_view problem) const {
  throw input_error(
      fmt::format("{}: {} {}", name_, path_.empty() ? "the document" : path_, problem));
}

std::optional<json_node> json_node::optional_member(char const* key) const {
  if (!value_->is_object()) fail("is not an object");
  auto const entry = value_->find(key);
  if (entry == value_->end()) return std::nullopt;
  return json_node(*entry, name_, path_.empty() ? key : path_ + "." + key);
}

json_node json_node::member(char const* key) const {
  auto const entry = optional_member(key);
  if (!entry) fail(fmt::format("has no \"{}\"; use a result file of rocbench --json", key));
  return *entry;
}

std::size_t json_node::size() const {
  if (!value_->is_array()) fail("is not an array");
  return value_->size();
}

json_node json_node::element(std::size_t index) const {
  return json_node((*value_)[index], name_, fmt::format("{}[{}]", path_, index));
}

std::string json_node::text() const {
  constexpr std::size_t max_bytes = 1000;
  if (!value_->is_string()) fail("is not a string");
  auto result = value_->get<std::string>();
  if (result.size() > max_bytes) fail(fmt::format("is longer than {} bytes", max_bytes));
  std::ranges::replace_if(
      result, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return result;
}

bool json_node::flag() const {
  if (!value_->is_boolean()) fail("is not a boolean");
  return value_->get<bool>();
}

int json_node::integer() const {
  constexpr std::int64_t max_value = std::numeric_limits<int>::max();
  if (!value_->is_number_integer()) fail("is not an integer");
  bool const too_large =
      value_->is_number_unsigned() && value_->get<std::uint64_t>() > std::uint64_t{max_value};
  if (too_large || value_->get<std::int64_t>() < -max_value) fail("is out of range");
  return value_->get<int>();
}

std::size_t json_node::count() const {
  constexpr auto max_value = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value_->is_number_unsigned()) fail("is not a non-negative integer");
  if (value_->get<std::uint64_t>() > max_value) fail("is out of range");
  return value_->get<std::size_t>();
}

double json_node::positive() const {
  if (!value_->is_number()) fail("is not a number");
  auto const result = value_->get<double>();
  if (!std::isfinite(result) || result <= 0) fail("is not a finite number above zero");
  return result;
}

std::optional<double> json_node::optional_positive() const {
  if (value_->is_null()) return std::nullopt;
  return positive();
}

}  // namespace rocbench
