// SPDX-License-Identifier: MIT
// Typed access to the values of an untrusted JSON document, with their location in error messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rocbench {

/// A value of a document. Members throw input_error if the value has another type or is out of
/// range. The document must outlive the node.
class json_node {
 public:
  /// @param name name of the file in error messages
  json_node(nlohmann::json const& value, std::string name) : value_(&value), name_(name) {}

  /// Returns a member of an object. Throws input_error also if there is none.
  json_node member(char const* key) const;
  /// Returns a member of an object, or nothing if there is none.
  std::optional<json_node> optional_member(char const* key) const;
  /// Returns the number of elements of an array.
  std::size_t size() const;
  /// Returns an element of an array. Precondition: `index` is less than size().
  json_node element(std::size_t index) const;

  /// Returns a string of at most 1000 bytes. Replaces control characters, which could control a
  /// terminal, by question marks.
  std::string text() const;
  bool flag() const;  ///< Returns a boolean.
  int integer() const;
  /// Returns an integer that is not negative.
  std::size_t count() const;
  /// Returns a finite number above zero.
  double positive() const;
  /// Returns a finite number above zero, or nothing for null.
  std::optional<double> optional_positive() const;

  /// Throws input_error: file name, location of the value, `problem`.
  [[noreturn]] void fail(std::string_view problem) const;

 private:
  json_node(nlohmann::json const& value, std::string name, std::string path)
      : value_(&value), name_(std::move(name)), path_(std::move(path)) {}

  nlohmann::json const* value_;
  std::string name_;
  std::string path_;
};

/// Parses a document. Throws input_error if the text is not JSON or is nested too deeply.
nlohmann::json parse_json(std::string_view text, std::string const& name);

}  // namespace rocbench
