// SPDX-License-Identifier: MIT
// Files that are not rocbench's, or that somebody bent: one clear error each, never a crash.
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "example_document.hpp"
#include "json_reader.hpp"
#include "json_writer.hpp"

namespace rocbench {
namespace {

using nlohmann::json;

std::string error_of(std::string const& text) {
  try {
    parse_document(text, "x.json");
  } catch (input_error const& e) {
    return e.what();
  }
  return "";
}

std::string error_of_bent(std::function<void(json&)> const& bend) {
  json whole = json::parse(to_json(example_document()));
  bend(whole);
  return error_of(whole.dump());
}

TEST(hostile_json, no_json_is_refused) {
  for (char const* text : {"", "{", "[1,2", "nonsense", "{\"a\":}", "\"\xff\"", "{} {}"}) {
    EXPECT_TRUE(error_of(text).starts_with("x.json: no JSON: ")) << text << error_of(text);
  }
}

TEST(hostile_json, deep_nesting_is_refused_before_it_takes_the_stack) {
  for (std::size_t const depth : {std::size_t{40}, std::size_t{5} << 20}) {
    EXPECT_TRUE(error_of(std::string(depth, '[')).starts_with("x.json: nested deeper than"));
    std::string objects;
    for (std::size_t i = 0; i < depth / 5; ++i) objects += "{\"a\":";
    bool const deep = depth > 1000;
    EXPECT_TRUE(error_of(objects).starts_with(deep ? "x.json: nested deeper" : "x.json: no JSON"));
  }
}

TEST(hostile_json, foreign_documents_are_refused) {
  for (char const* text : {"null", "3", "[]", "\"text\""}) {
    EXPECT_EQ(error_of(text), "x.json: the whole is not an object") << text;
  }
  EXPECT_EQ(error_of("{}"), "x.json: the whole has no \"context\": rocbench writes it with --json");
  EXPECT_EQ(error_of(R"({"context": {"date": "x"}, "benchmarks": []})"),
            "x.json: context has no \"rocbench\": rocbench writes it with --json");
}

TEST(hostile_json, wrong_types_are_refused_with_their_place) {
  EXPECT_EQ(error_of_bent([](json& x) { x["benchmarks"] = 7; }),
            "x.json: benchmarks is not an array");
  EXPECT_EQ(error_of_bent([](json& x) { x["benchmarks"][0] = {1}; }),
            "x.json: benchmarks[0] is not an object");
  EXPECT_EQ(error_of_bent([](json& x) { x["context"]["rocbench"]["device"] = "one"; }),
            "x.json: context.rocbench.device is not a whole number");
  EXPECT_EQ(error_of_bent([](json& x) { x["context"]["rocbench"]["on_gpu"] = 1; }),
            "x.json: context.rocbench.on_gpu is not true or false");
  EXPECT_EQ(error_of_bent([](json& x) { x["benchmarks"][0]["rocbench"]["case"] = nullptr; }),
            "x.json: benchmarks[0].rocbench.case is not a text");
  EXPECT_EQ(error_of_bent([](json& x) { x["benchmarks"][0]["rocbench"]["rate"]["p5"] = "4"; }),
            "x.json: benchmarks[0].rocbench.rate.p5 is not a number");
  EXPECT_EQ(error_of_bent([](json& x) { x["benchmarks"][0]["rocbench"]["outcome"] = "fine"; }),
            "x.json: benchmarks[0].rocbench.outcome is neither measured, skipped nor failed");
  EXPECT_EQ(error_of_bent([](json& x) { x["benchmarks"][0]["rocbench"]["counted"] = "words"; }),
            "x.json: benchmarks[0].rocbench.counted is no way to count bytes");
}

TEST(hostile_json, numbers_beyond_reason_are_refused) {
  auto const size = [](json const& value) {
    return error_of_bent([&](json& x) { x["benchmarks"][0]["rocbench"]["bytes"] = value; });
  };
  EXPECT_EQ(size(-1), "x.json: benchmarks[0].rocbench.bytes is not a whole number from 0");
  EXPECT_EQ(size(1e300), "x.json: benchmarks[0].rocbench.bytes is not a whole number from 0");
  EXPECT_EQ(size(UINT64_MAX), "x.json: benchmarks[0].rocbench.bytes is too large a number");
  auto const ordinal = [](json const& value) {
    return error_of_bent([&](json& x) { x["context"]["rocbench"]["device"] = value; });
  };
  EXPECT_EQ(ordinal(UINT64_MAX), "x.json: context.rocbench.device is too large a number");
  EXPECT_EQ(ordinal(INT64_MIN), "x.json: context.rocbench.device is too large a number");
  auto const median = [](json const& value) {
    return error_of_bent(
        [&](json& x) { x["benchmarks"][0]["rocbench"]["rate"]["median"] = value; });
  };
  EXPECT_EQ(median(0), "x.json: benchmarks[0].rocbench.rate.median is not more than zero");
  EXPECT_EQ(median(-4.5), "x.json: benchmarks[0].rocbench.rate.median is not more than zero");
  EXPECT_EQ(median(1e12),
            "x.json: benchmarks[0].rocbench.rate has a median outside of its own interval");
  auto const loop = [](json const& value) {
    return error_of_bent([&](json& x) { x["benchmarks"][0]["rocbench"]["loop"] = value; });
  };
  EXPECT_EQ(loop({{"least_seconds", -1}}),
            "x.json: benchmarks[0].rocbench.loop.least_seconds is not more than zero");
  EXPECT_TRUE(error_of(R"({"context": 1e99999})").starts_with("x.json: no JSON: "));
}

TEST(hostile_json, texts_cannot_steer_a_terminal) {
  json whole = json::parse(to_json(example_document()));
  whole["context"]["rocbench"]["device_name"] = "\x1b[2Jgone\x7f";
  EXPECT_EQ(parse_document(whole.dump(), "x").where.device_name, "?[2Jgone?");
  EXPECT_EQ(error_of_bent(
                [](json& x) { x["context"]["rocbench"]["device_name"] = std::string(2000, 'x'); }),
            "x.json: context.rocbench.device_name is longer than 1000 bytes");
}

TEST(hostile_json, files_that_cannot_be_read_are_refused) {
  EXPECT_THROW(read_document("/nonexistent/x.json"), input_error);
  EXPECT_THROW(read_document("/"), input_error);
  EXPECT_THROW(read_document("/dev/zero"), input_error);
}

}  // namespace
}  // namespace rocbench
