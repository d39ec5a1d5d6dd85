// SPDX-License-Identifier: MIT
// A value in a foreign JSON document, and the way to it for the error when it is not as expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rocbench {

/// Every member throws input_error where the value is of another type, or beyond reason.
class json_node {
 public:
  /// `name` is the file's.
  json_node(nlohmann::json const& value, std::string name) : value_(&value), name_(name) {}

  json_node member(char const* key) const;
  std::optional<json_node> optional_member(char const* key) const;
  std::size_t size() const;  ///< of an array
  json_node element(std::size_t index) const;

  /// At most 1000 bytes; control characters, which would steer a terminal, are question marks.
  std::string text() const;
  bool flag() const;
  int integer() const;
  std::size_t count() const;
  /// Finite and more than zero.
  double positive() const;
  /// The same, or nothing for null.
  std::optional<double> optional_positive() const;

  [[noreturn]] void refuse(std::string_view what) const;

 private:
  json_node(nlohmann::json const& value, std::string name, std::string path)
      : value_(&value), name_(std::move(name)), path_(std::move(path)) {}

  nlohmann::json const* value_;
  std::string name_;
  std::string path_;
};

/// The text as JSON. Throws input_error, also for nesting deeper than any file of ours.
nlohmann::json parse_json(std::string_view text, std::string const& name);

}  // namespace rocbench
