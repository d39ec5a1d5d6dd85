// SPDX-License-Identifier: MIT
// Options and the environment: sizes, names, lists of failures, misspelled variables, values of
// roc::options; each compared with a second reading of the text.
//
// The library reads its environment once. To do it often, this program contains the sources that
// do.
#include "base/options.cpp"   // NOLINT
#include "platform/call.cpp"  // NOLINT
#if ROCARRAY_PLATFORM_HOST
#include "platform/host/api_call.cpp"  // NOLINT
#include "platform/host/settings.cpp"  // NOLINT
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "campaigns/fuzz_input.hpp"

namespace {

using roc::fuzz::input;
using roc::fuzz::require;

__extension__ using wide = unsigned __int128;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the number that a text of decimal digits is, or nullopt if it is not one or exceeds
// `most`.
std::optional<std::uint64_t> number_of(std::string_view digits, std::uint64_t most) {
  if (digits.empty()) return std::nullopt;
  wide value = 0;
  for (char const c : digits) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > most) return std::nullopt;
  }
  return static_cast<std::uint64_t>(value);
}

std::optional<std::uint64_t> size_of(std::string_view text, bool has_suffix) {
  std::uint64_t unit = 1;
  if (has_suffix && !text.empty()) {
    char const last = text.back();
    if (last == 'K') unit = 1024;
    if (last == 'M') unit = 1024 * 1024;
    if (last == 'G') unit = 1024 * 1024 * 1024;
    if (unit != 1) text.remove_suffix(1);
  }
  auto const value = number_of(text, UINT64_MAX / unit);
  return value ? std::optional(*value * unit) : std::nullopt;
}

// Text that is often nearly valid.
std::string take_text(input& in, std::initializer_list<char const*> words) {
  std::string result;
  switch (in.below(3)) {
    case 0: break;
    case 1: result = std::to_string(static_cast<std::uint64_t>(in.hostile())); break;
    default: result = words.begin()[in.below(words.size())];
  }
  return result + in.text(40);
}

// What reading the environment wrote to stderr, by lines.
template <class F>
std::size_t lines_on_stderr(F read) {
  static char text[1 << 16];
  std::FILE* const real = stderr;
  std::FILE* const captured = fmemopen(text, sizeof(text), "w");
  require(captured != nullptr, "fmemopen");
  stderr = captured;
  read();
  stderr = real;
  auto const size = static_cast<std::size_t>(std::ftell(captured));
  std::fclose(captured);
  return static_cast<std::size_t>(std::count(text, text + size, '\n'));
}

void check_size_text(input& in) {
  std::string const text = take_text(in, {"17179869184G", "18446744073709551615", "1K", "0"});
  for (bool const has_suffix : {false, true}) {
    auto const kind = has_suffix ? roc::base::size_suffix::binary : roc::base::size_suffix::none;
    auto const value = roc::base::parse_size(text, kind);
    auto const expected = size_of(text, has_suffix);
    require(value == expected, "parse_size(\"%s\")", text.c_str());
  }
}

// Options as they are in effect: the sizes of registered segments are rounded.
roc::options in_effect(roc::options values) {
  constexpr std::size_t page = 65536;
  values.register_chunk = std::max(values.register_chunk - values.register_chunk % page, page);
  return values;
}

// The options that the process would have if `variable` had this text and no other were set; the
// number of lines that it would report.
std::pair<roc::detail::active_options, std::size_t> read_options(std::string const& variable,
                                                                 std::string const& text) {
  ::setenv(variable.c_str(), text.c_str(), 1);
  std::optional<roc::detail::active_options> result;
  std::size_t const lines =
      lines_on_stderr([&] { result = roc::base::options_from_environment(); });
  ::unsetenv(variable.c_str());
  return {*result, lines};
}

// Without line ends, so that messages can be counted.
std::string one_line(std::string text) {
  std::erase(text, '\n');
  return text;
}

void check_number_variable(input& in) {
  auto const& option = roc::base::numbers[in.below(roc::base::numbers.size())];
  std::string const text = one_line(take_text(in, {"4K", "4095", "256", "257", "1024G", "1025G"}));
  bool const has_suffix = option.suffix == roc::base::size_suffix::binary;
  auto const value = size_of(text, has_suffix);
  bool const is_valid = value && *value >= option.minimum && *value <= option.maximum;
  auto const [values, lines] = read_options(option.variable, text);
  roc::options const& actual = values;
  roc::options expected = roc::base::defaults();
  if (is_valid) expected.*option.value = *value;
  require(actual == in_effect(expected), "%s=%s", option.variable, text.c_str());
  require(lines == (is_valid ? 0u : 1u), "messages about %s=%s", option.variable, text.c_str());
}

// Returns the place of a text in a list, or nullopt.
template <std::size_t N>
std::optional<std::size_t> place_of(std::string_view text, char const* const (&names)[N]) {
  for (std::size_t i = 0; i < N; ++i) {
    if (text == names[i]) return i;
  }
  return std::nullopt;
}

void check_name_variable(input& in) {
  char const* const paths[] = {"none",   "dma",    "dma_2d", "dma_3d",
                               "staged", "packed", "kernel", "host"};
  char const* const resources[] = {"pool", "hip", "hip_async"};
  char const* const levels[] = {"off", "error", "warning", "info", "debug", "trace"};
  char const* const flags[] = {"0", "1"};
  std::size_t const which = in.below(6);
  std::string const text = one_line(take_text(
      in, {"dma", "hip_", "pool", "warn", "warning", "0", "1", "calls", "off", "kernel"}));
  auto expected = roc::base::defaults();
  std::size_t messages = 0;
  auto const apply = [&](auto place, auto set) {
    if (place) set(*place);
    messages = place ? 0 : 1;
  };
  char const* const variables[] = {"ROCARRAY_COPY_PATH", "ROCARRAY_MEMORY_RESOURCE",
                                   "ROCARRAY_LOG",       "ROCARRAY_LEAK_CHECK",
                                   "ROCARRAY_PROFILER",  "ROCARRAY_TRACE"};
  switch (which) {
    case 0:
      apply(place_of(text, paths), [&](auto i) { expected.path = static_cast<roc::copy_path>(i); });
      break;
    case 1:
      apply(place_of(text, resources),
            [&](auto i) { expected.memory_resource = static_cast<roc::default_resource>(i); });
      break;
    case 2:
      apply(place_of(text, levels), [&](auto i) { expected.log = static_cast<roc::log_level>(i); });
      break;
    case 3: apply(place_of(text, flags), [&](auto i) { expected.leak_check = i == 1; }); break;
    case 4: expected.profiler_ranges = text != "off"; break;
    default: expected.trace_calls = text == "calls"; messages = expected.trace_calls ? 0 : 1;
  }
  auto const [values, lines] = read_options(variables[which], text);
  roc::options const& actual = values;
  require(actual == expected && lines == messages, "%s=%s", variables[which], text.c_str());
}

// Returns the number of changes that make one text the other, from a full table.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
      } else {
        table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1,
                                table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      }
    }
  }
  return table[a.size()][b.size()];
}

void check_unknown_variable(input& in) {
  auto const known = roc::base::known_variables();
  std::string name(known[in.below(known.size())].substr(0, in.below(32)));
  name += in.text(100);
  std::string_view const nearest = roc::base::nearest_known_variable(name);
  std::size_t const actual = distance(name, nearest);
  for (std::string_view const other : known) {
    require(distance(name, other) >= actual, "\"%s\" is nearer to another variable", name.c_str());
  }
  std::string const variable = "ROCARRAY_X" + name.substr(0, name.find_first_of("=\n"));
  auto const [values, lines] = read_options(variable, "1");
  require(lines == 1, "the report of %s", variable.c_str());
}

// Failures: "call:use" or "call:use:code".
struct failure_entry {
  std::string call;
  std::uint64_t use;
  std::optional<std::uint64_t> code;
};

std::optional<failure_entry> entry_of(std::string const& text) {
  std::vector<std::string> parts{""};
  for (char const c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  auto const use = number_of(parts[1], UINT32_MAX);
  auto const code =
      parts.size() == 3 ? number_of(parts[2], INT32_MAX) : std::optional<std::uint64_t>();
  if (!use || *use == 0 || (parts.size() == 3 && (!code || *code == 0))) return std::nullopt;
  return failure_entry{parts[0], *use, code};
}

std::string take_entry(input& in) {
  std::string text =
      take_text(in, {"hipMalloc:", "hipMalloc:3", "hipHostMalloc:1:", "hipFree:2:999",
                     "hipGetErrorName:1", "start_thread:"});
  if (in.one_in(3)) text += ":" + std::to_string(in.hostile());
  if (in.one_in(3)) text += ":" + std::to_string(in.hostile());
  return text;
}

void check_planned_failure(input& in) {
  std::string const text = take_entry(in);
  auto const expected = entry_of(text);
  namespace platform = roc::platform;
  bool const names_call = expected && std::find(platform::names.begin(), platform::names.end(),
                                                expected->call) != platform::names.end();
  bool const is_planned = platform::plan_failure_from_text(text);
  require(is_planned == names_call, "ROCARRAY_INJECT_FAILURE=%s", text.c_str());
  if (is_planned) {
    auto const& failure = platform::state().failures.back();
    require(failure.remaining_uses == expected->use &&
                static_cast<std::uint64_t>(failure.code) ==
                    expected->code.value_or(hipErrorOutOfMemory) &&
                platform::names[failure.call_index] == expected->call,
            "the failure of %s", text.c_str());
  }
  platform::clear_failures();
}

// Values that the program sets

void check_options_value(input& in) {
  roc::options values = roc::base::defaults();
  char const* wrong = nullptr;
  for (std::size_t changes = 1 + in.below(2); changes != 0; --changes) {
    auto const& option = roc::base::numbers[in.below(roc::base::numbers.size())];
    values.*option.value =
        in.one_in(2) ? static_cast<std::size_t>(in.hostile()) : std::size_t{1} << in.below(48);
  }
  if (in.one_in(4)) values.path = static_cast<roc::copy_path>(in.below(256));
  if (in.one_in(4)) values.memory_resource = static_cast<roc::default_resource>(in.below(256));
  if (in.one_in(4)) values.log = static_cast<roc::log_level>(in.below(7));
  for (auto const& option : roc::base::numbers) {
    std::size_t const value = values.*option.value;
    if (value < option.minimum || value > option.maximum) wrong = option.member;
  }
  auto const is_beyond = [](auto value, unsigned count) {
    return static_cast<unsigned>(value) >= count;
  };
  if (is_beyond(values.path, 8) || is_beyond(values.memory_resource, 3) ||
      is_beyond(values.log, 6)) {
    wrong = wrong == nullptr ? "an enumerator" : wrong;
  }
  try {
    auto const active = roc::base::validated(values);
    require(wrong == nullptr, "%s is out of range and accepted", wrong);
    require(static_cast<roc::options const&>(active) == in_effect(values), "validated options");
    std::size_t const chunk = std::min(values.staging_chunk, values.staging_block);
    require(active.chunk_bytes != 0 && active.chunk_bytes % 256 == 0 &&
                active.chunk_bytes <= chunk && chunk - active.chunk_bytes < 256,
            "chunk_bytes");
    roc::scoped_options const scope(values);
    require(roc::get_options() == in_effect(values), "scoped_options");
  } catch (roc::error const& e) {
    require(wrong != nullptr, "valid options are refused: %s", e.what());
    require(e.code() == std::errc::invalid_argument, "the code of: %s", e.what());
  }
}

void check_copy_options(input& in) {
  roc::copy_options const values{static_cast<roc::copy_path>(in.below(256)),
                                 static_cast<std::size_t>(in.hostile())};
  bool const is_valid = values.threads <= 256 && static_cast<unsigned>(values.path) < 8;
  try {
    roc::detail::options_override const scope(values);
    require(is_valid, "copy_options out of range are accepted");
    auto const& active = roc::base::options();
    require(active.is_path_required == (values.path != roc::copy_path::none), "is_path_required");
    require(values.threads == 0 || active.copy_threads == values.threads, "threads of a copy");
  } catch (roc::error const& e) {
    require(!is_valid, "valid copy_options are refused: %s", e.what());
  }
}

#if ROCARRAY_PLATFORM_HOST
namespace host = roc::host_hip;

void check_host_failure(input& in) {
  std::string const text = take_entry(in);
  auto const expected = entry_of(text);
  host::failure_plan plan;
  bool const is_planned = host::add_failure_from_text(plan, text);
  require(is_planned == (expected && host::can_fail(expected->call)),
          "ROCARRAY_HOST_INJECT_FAILURE=%s", text.c_str());
  if (!is_planned) return;
  auto const& [call, failure] = *plan.by_call.begin();
  require(call == expected->call && failure.remaining_uses == expected->use, "the call of %s",
          text.c_str());
  require(!expected->code || static_cast<std::uint64_t>(failure.error) == *expected->code,
          "the code of %s", text.c_str());
}

void check_host_variable(input& in) {
  std::size_t const which = in.below(9);
  std::string const text =
      one_line(take_text(in, {"threaded", "deferred", "on", "off", "cuda", "rocm5", "rocm", "basic",
                              "16", "4K", "70368744177664"}));
  char const* const variables[] = {
      "ROCARRAY_HOST_MODE",    "ROCARRAY_HOST_EMULATE", "ROCARRAY_HOST_MANAGED",
      "ROCARRAY_HOST_POISON",  "ROCARRAY_HOST_PROTECT", "ROCARRAY_HOST_STRICT",
      "ROCARRAY_HOST_DEVICES", "ROCARRAY_HOST_MEMORY",  "ROCARRAY_HOST_THREADS"};
  char const* const modes[] = {"threaded", "inline", "deferred"};
  char const* const runtimes[] = {"cuda", "cuda13", "rocm5", "rocm6", "rocm7"};
  char const* const support[] = {"full", "basic", "off"};
  char const* const flags[] = {"off", "on"};
  host::settings actual;
  ::setenv(variables[which], text.c_str(), 1);
  std::size_t const lines = lines_on_stderr([&] { actual = host::read_environment(); });
  ::unsetenv(variables[which]);

  std::optional<std::size_t> value;
  std::size_t got = 0;
  switch (which) {
    case 0: value = place_of(text, modes), got = static_cast<std::size_t>(actual.mode); break;
    case 1:
      value = place_of(text, runtimes), got = static_cast<std::size_t>(actual.emulated);
      break;
    case 2: value = place_of(text, support), got = static_cast<std::size_t>(actual.managed); break;
    case 3: value = place_of(text, flags), got = actual.poison; break;
    case 4: value = place_of(text, flags), got = actual.protect; break;
    case 5: value = place_of(text, flags), got = actual.strict; break;
    default: {
      std::uint64_t const least = which == 6 ? 0 : which == 7 ? 4096 : 1;
      std::uint64_t const most = which == 6 ? 16 : which == 7 ? std::uint64_t{1} << 46 : 1024;
      auto const number = size_of(text, true);
      if (number && *number >= least && *number <= most) value = *number;
      got = which == 6   ? static_cast<std::size_t>(actual.device_count)
            : which == 7 ? actual.device_bytes
                         : static_cast<std::size_t>(actual.thread_count);
    }
  }
  require(actual.valid == value.has_value() && lines == (value ? 0u : 1u), "%s=%s is%s accepted",
          variables[which], text.c_str(), actual.valid ? "" : " not");
  require(!value || got == *value, "%s=%s", variables[which], text.c_str());
}
#endif

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  for (std::string_view const variable : roc::base::known_variables()) {
    ::unsetenv(std::string(variable).c_str());
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  input in(data, size);
  switch (in.below(9)) {
    case 0: check_size_text(in); break;
    case 1: check_number_variable(in); break;
    case 2: check_name_variable(in); break;
    case 3: check_unknown_variable(in); break;
    case 4: check_planned_failure(in); break;
    case 5: check_options_value(in); break;
    case 6: check_copy_options(in); break;
#if ROCARRAY_PLATFORM_HOST
    case 7: check_host_failure(in); break;
    default: check_host_variable(in);
#else
    default: break;
#endif
  }
  return 0;
}
