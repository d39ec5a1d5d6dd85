// SPDX-License-Identifier: MIT
#include "json_node.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "json_reader.hpp"

namespace rocbench {
namespace {

using nlohmann::json;

constexpr int deepest = 32;

}  // namespace

json parse_json(std::string_view text, std::string const& name) {
  try {
    return json::parse(text, [&](int depth, json::parse_event_t, json&) {
      if (depth <= deepest) return true;
      throw input_error(
          fmt::format("{}: nested deeper than {}: no file of rocbench's", name, deepest));
    });
  } catch (json::exception const& e) {
    throw input_error(fmt::format("{}: no JSON: {}", name, e.what()));
  }
}

void json_node::refuse(std::string_view what) const {
  throw input_error(fmt::format("{}: {} {}", name_, path_.empty() ? "the whole" : path_, what));
}

std::optional<json_node> json_node::optional_member(char const* key) const {
  if (!value_->is_object()) refuse("is not an object");
  auto const found = value_->find(key);
  if (found == value_->end()) return std::nullopt;
  return json_node(*found, name_, path_.empty() ? key : path_ + "." + key);
}

json_node json_node::member(char const* key) const {
  auto const found = optional_member(key);
  if (!found) refuse(fmt::format("has no \"{}\": rocbench writes it with --json", key));
  return *found;
}

std::size_t json_node::size() const {
  if (!value_->is_array()) refuse("is not an array");
  return value_->size();
}

json_node json_node::element(std::size_t index) const {
  return json_node((*value_)[index], name_, fmt::format("{}[{}]", path_, index));
}

std::string json_node::text() const {
  constexpr std::size_t longest = 1000;
  if (!value_->is_string()) refuse("is not a text");
  auto result = value_->get<std::string>();
  if (result.size() > longest) refuse(fmt::format("is longer than {} bytes", longest));
  std::ranges::replace_if(
      result, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return result;
}

bool json_node::flag() const {
  if (!value_->is_boolean()) refuse("is not true or false");
  return value_->get<bool>();
}

int json_node::integer() const {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (!value_->is_number_integer()) refuse("is not a whole number");
  bool const large =
      value_->is_number_unsigned() && value_->get<std::uint64_t>() > std::uint64_t{most};
  if (large || value_->get<std::int64_t>() < -most) refuse("is too large a number");
  return value_->get<int>();
}

std::size_t json_node::count() const {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value_->is_number_unsigned()) refuse("is not a whole number from 0");
  if (value_->get<std::uint64_t>() > most) refuse("is too large a number");
  return value_->get<std::size_t>();
}

double json_node::positive() const {
  if (!value_->is_number()) refuse("is not a number");
  auto const result = value_->get<double>();
  if (!std::isfinite(result) || result <= 0) refuse("is not more than zero");
  return result;
}

std::optional<double> json_node::optional_positive() const {
  if (value_->is_null()) return std::nullopt;
  return positive();
}

}  // namespace rocbench
