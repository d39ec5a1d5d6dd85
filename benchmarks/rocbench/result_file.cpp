// SPDX-License-Identifier: MIT
#include "result_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;
using nlohmann::json;

template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(json& value, std::optional<T> const& optional) {
    value = optional ? json(*optional) : json();
  }
  static void from_json(json const& value, std::optional<T>& optional) {
    optional = value.is_null() ? std::nullopt : std::optional(value.get<T>());
  }
};

// The keys in result files are the names of the members. With JSON_DIAGNOSTICS, exceptions of
// nlohmann_json name the place of the value.
namespace rocbench {

// With too few samples the interval is infinite; JSON has null instead of infinity.
static void to_json(json& value, interval const& range) {
  value = {{"low", range.low}, {"high", range.high}};
}
static void from_json(json const& value, interval& range) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  range.low = value.at("low").get<std::optional<double>>().value_or(-infinity);
  range.high = value.at("high").get<std::optional<double>>().value_or(infinity);
}

NLOHMANN_JSON_SERIALIZE_ENUM(accounting, {{accounting::payload, "payload"},
                                          {accounting::traffic, "traffic"},
                                          {accounting::time, "time"}})
NLOHMANN_JSON_SERIALIZE_ENUM(outcome, {{outcome::measured, "measured"},
                                       {outcome::skipped, "skipped"},
                                       {outcome::failed, "failed"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(device_rate, device, rate)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(device_pair, from, to, both_ways)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(rate_limit, rate, origin)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(machine_limits, link, device_memory, host_copy)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(fact, name, value, after)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(run_environment, platform, ordinal, device_name, pci_bus_id,
                                   on_gpu, is_fake_runtime, runtime_version, driver_version,
                                   host_name, date, version, facts, state)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(summary, count, median, p5, p95, median_interval)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(loop_times, min, max, mean)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(measurement, rate, seconds, cpu_seconds, executions, batch,
                                   noisy, elapsed, mismatch, loop, loop_rate)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(case_result, name, bytes, counted, path, physical_limit, status,
                                   reason, measured)

namespace {

constexpr int max_devices = 1024;

json make_context(benchmark_run const& run) {
  cpu_info const cpu = query_cpu_info();
  json extension = run.environment;
  extension["schema"] = result_schema;
  extension["limits"] = run.limits;
  return {{"date", run.environment.date},
          {"host_name", run.environment.host_name},
          {"executable", "rocbench"},
          {"num_cpus", cpu.num_cpus},
          {"mhz_per_cpu", cpu.mhz_per_cpu},
          {"cpu_scaling_enabled", cpu.cpu_scaling_enabled},
          {"caches", json::array()},
          {"load_avg", cpu.load_avg},
          {"library_build_type", build_type},
          {"json_schema_version", 1},
          {"rocbench", extension}};
}

// Google Benchmark's fields of a result, and rocbench's own.
json make_benchmark(case_result const& result, std::size_t family, std::size_t instance) {
  std::string const name = fmt::format("{}/{}", result.name, result.bytes);
  measurement const& measured = result.measured;
  json benchmark = {{"name", name},
                    {"family_index", family},
                    {"per_family_instance_index", instance},
                    {"run_name", name},
                    {"run_type", "iteration"},
                    {"repetitions", 1},
                    {"repetition_index", 0},
                    {"threads", 1},
                    {"iterations", measured.executions},
                    {"real_time", measured.reported_seconds() * 1e9},
                    {"cpu_time", measured.cpu_seconds * 1e9},
                    {"time_unit", "ns"},
                    {"bytes_per_second", measured.reported_rate()},
                    {"label", result.path},
                    {"rocbench", result}};
  bool const is_valid = result.status == outcome::measured && !measured.mismatch;
  benchmark["rocbench"]["verified"] = is_valid;
  benchmark["rocbench"]["efficiency"] = result.efficiency();
  benchmark["rocbench"]["devices"] = result.devices;
  benchmark["rocbench"]["bus_factor"] = result.bus_factor;
  benchmark["rocbench"]["bus_bandwidth"] = result.bus_bandwidth();
  benchmark["rocbench"]["measured"]["devices"] = measured.devices;
  if (!is_valid) {
    benchmark["error_occurred"] = true;
    benchmark["error_message"] = measured.mismatch.value_or(result.reason);
  }
  return benchmark;
}

json make_document(benchmark_run const& run) {
  json benchmarks = json::array();
  std::size_t family = 0;
  std::size_t instance = 0;
  for (std::size_t i = 0; i < run.results.size(); ++i) {
    bool const same_case = i != 0 && run.results[i].name == run.results[i - 1].name;
    instance = same_case ? instance + 1 : 0;
    if (!same_case && i != 0) ++family;
    benchmarks.push_back(make_benchmark(run.results[i], family, instance));
  }
  return {{"context", make_context(run)}, {"benchmarks", benchmarks}};
}

// A value for messages. Arrays and objects may be nested deeper than a recursive dump can follow.
std::string shown(json const& value) {
  return value.is_primitive() ? value.dump() : value.type_name();
}

// nlohmann_json converts every number to the type of the member, also one that the type cannot
// hold.
template <class Integer>
void check_integers(json const& object, std::initializer_list<char const*> keys) {
  using limits = std::numeric_limits<Integer>;
  for (char const* key : keys) {
    json const& value = object.at(key);
    if (!value.is_number()) continue;  // refused when the member is read
    bool const fits =
        value.is_number_unsigned()
            ? std::in_range<Integer>(value.get<std::uint64_t>())
            : value.is_number_integer() && std::in_range<Integer>(value.get<std::int64_t>());
    if (!fits) {
      throw file_error(fmt::format("{} is {}, not an integer from {} to {}", key, shown(value),
                                   limits::min(), limits::max()));
    }
  }
}

// Devices are drawn in a matrix, whose size the file must not choose freely.
void check_ordinal(int ordinal) {
  if (ordinal < 0 || ordinal >= max_devices) {
    throw file_error(
        fmt::format("a device is {}, not an ordinal from 0 to {}", ordinal, max_devices - 1));
  }
}

// Reads the fields about several devices, which files of earlier versions do not have.
void read_device_fields(json const& value, case_result& result) {
  if (auto const pair = value.find("devices"); pair != value.end() && !pair->is_null()) {
    check_integers<int>(*pair, {"from", "to"});
    result.devices = pair->get<device_pair>();
    for (int const ordinal : {result.devices->from, result.devices->to}) check_ordinal(ordinal);
  }
  json const& samples = value.at("measured");
  if (auto const rates = samples.find("devices"); rates != samples.end()) {
    for (json const& rate : *rates) {
      check_integers<int>(rate, {"device"});
      result.measured.devices.push_back(rate.get<device_rate>());
      check_ordinal(result.measured.devices.back().device);
    }
  }
  if (auto const factor = value.find("bus_factor"); factor != value.end())
    result.bus_factor = factor->get<double>();
}

case_result result_from(json const& value) {
  check_integers<std::size_t>(value, {"bytes"});
  json const& samples = value.at("measured");
  check_integers<std::size_t>(samples, {"executions", "batch"});
  for (char const* key : {"rate", "seconds"})
    check_integers<std::size_t>(samples.at(key), {"count"});
  auto result = value.get<case_result>();
  read_device_fields(value, result);
  // nlohmann_json reads an unknown name as the first value of an enumeration.
  for (auto const& [key, known] : {std::pair<char const*, json>{"counted", result.counted},
                                   std::pair<char const*, json>{"status", result.status}}) {
    if (value.at(key) != known) {
      throw file_error(
          fmt::format("{} of {} is {}, which is unknown", key, result.name, shown(value.at(key))));
    }
  }
  measurement const& measured = result.measured;
  auto const check_positive = [&](char const* name, double figure) {
    if (result.status == outcome::measured && !(figure > 0))
      throw file_error(
          fmt::format("the {} of {} is {}, not above zero", name, result.name, figure));
  };
  // Logarithmic axes have no end at zero.
  for (summary const* const figures : {&measured.rate, &measured.seconds}) {
    check_positive("median", figures->median);
    check_positive("5th percentile", figures->p5);
    check_positive("95th percentile", figures->p95);
  }
  return result;
}

benchmark_run run_from(json const& document) {
  json const& extension = document.at("context").at("rocbench");
  if (extension.contains("schema")) check_integers<int>(extension, {"schema"});
  int const schema = extension.value("schema", 1);
  if (schema != result_schema) {
    throw file_error(fmt::format("context/rocbench/schema is {}, but only {} can be read", schema,
                                 result_schema));
  }
  check_integers<int>(extension, {"ordinal", "runtime_version", "driver_version"});
  benchmark_run run{extension.get<run_environment>(), extension.at("limits"), {}};
  for (json const& benchmark : document.at("benchmarks"))
    run.results.push_back(result_from(benchmark.at("rocbench")));
  return run;
}

// Replaces characters in strings that could control a terminal or that XML does not allow.
bool replace_characters(int /*depth*/, json::parse_event_t /*event*/, json& value) {
  if (!value.is_string()) return true;
  auto& text = value.get_ref<std::string&>();
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  for (char const* const noncharacter : {"\uFFFE", "\uFFFF"}) {
    for (auto i = text.find(noncharacter); i != std::string::npos; i = text.find(noncharacter))
      text.replace(i, 3, "?");
  }
  return true;
}

// Returns the value at a JSON pointer as a field of a CSV file, or an empty field if there is no
// such value.
std::string csv_field(json const& benchmark, std::string const& place) {
  json::json_pointer const pointer(place);
  json const value = benchmark.contains(pointer) ? benchmark.at(pointer) : json();
  if (value.is_null()) return "";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float())
    return std::isfinite(value.get<double>()) ? fmt::format("{}", value.get<double>()) : "";
  if (!value.is_string()) return value.dump();
  auto field = value.get<std::string>();
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  for (auto i = field.find('"'); i != std::string::npos; i = field.find('"', i + 2))
    field.insert(i, 1, '"');
  return '"' + field + '"';
}

// ---- Files ----

constexpr std::size_t max_bytes = std::size_t{64} << 20;

struct closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, closer>;

// Throws file_error with the system's message.
[[noreturn]] void fail_file(char const* action, std::string const& path, int error_number) {
  throw file_error(
      fmt::format("cannot {} {}: {}", action, path, std::generic_category().message(error_number)));
}

// Returns the path that is written instead: a device itself, else a temporary file.
std::string temporary_path(std::string const& path) {
  std::error_code error;
  auto const type = fs::status(path, error).type();
  if (type == fs::file_type::directory) fail_file("write", path, EISDIR);
  bool const is_regular = type == fs::file_type::not_found || type == fs::file_type::regular;
  return is_regular ? path + ".part" : path;
}

}  // namespace

std::string read_file(std::string const& path) {
  file_handle const file(std::fopen(path.c_str(), "r"));
  if (!file) fail_file("read", path, errno);
  std::string text;
  char buffer[1 << 16];
  while (std::size_t const count = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, count);
    if (text.size() > max_bytes) fail_file("read", path, EFBIG);
  }
  if (std::ferror(file.get()) != 0) fail_file("read", path, errno);
  return text;
}

void check_writable(std::string const& path) {
  if (path == "-") return;
  std::string const temporary = temporary_path(path);
  if (temporary == path) {
    // To open a pipe would block until it has a reader, who would then see its end.
    if (::access(path.c_str(), W_OK) != 0) fail_file("write", path, errno);
    return;
  }
  if (!file_handle(std::fopen(temporary.c_str(), "w"))) fail_file("write", path, errno);
  std::remove(temporary.c_str());
}

void write_file(std::string const& path, std::string_view text) {
  bool const to_stdout = path == "-";
  std::string const temporary = to_stdout ? path : temporary_path(path);
  file_handle const file(to_stdout ? nullptr : std::fopen(temporary.c_str(), "w"));
  std::FILE* const destination = to_stdout ? stdout : file.get();
  bool const is_complete = destination != nullptr &&
                           std::fwrite(text.data(), 1, text.size(), destination) == text.size() &&
                           std::fflush(destination) == 0;
  if (!is_complete) fail_file("write", path, errno);
  if (temporary != path && std::rename(temporary.c_str(), path.c_str()) != 0)
    fail_file("write", path, errno);
}

std::string to_json(benchmark_run const& run) {
  // Names of devices and hosts may not be valid UTF-8.
  return make_document(run).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string to_csv(benchmark_run const& run) {
  constexpr struct {
    char const* name;
    char const* place;
  } columns[] = {{"case", "/rocbench/name"},
                 {"bytes", "/rocbench/bytes"},
                 {"counted", "/rocbench/counted"},
                 {"path", "/rocbench/path"},
                 {"median_rate", "/rocbench/measured/rate/median"},
                 {"p5_rate", "/rocbench/measured/rate/p5"},
                 {"p95_rate", "/rocbench/measured/rate/p95"},
                 {"median_rate_low", "/rocbench/measured/rate/median_interval/low"},
                 {"median_rate_high", "/rocbench/measured/rate/median_interval/high"},
                 {"median_seconds", "/rocbench/measured/seconds/median"},
                 {"cpu_seconds", "/rocbench/measured/cpu_seconds"},
                 {"least_seconds", "/rocbench/measured/loop/min"},
                 {"greatest_seconds", "/rocbench/measured/loop/max"},
                 {"mean_seconds", "/rocbench/measured/loop/mean"},
                 {"least_time_rate", "/rocbench/measured/loop_rate"},
                 {"samples", "/rocbench/measured/seconds/count"},
                 {"batch", "/rocbench/measured/batch"},
                 {"noisy", "/rocbench/measured/noisy"},
                 {"device_from", "/rocbench/devices/from"},
                 {"device_to", "/rocbench/devices/to"},
                 {"both_ways", "/rocbench/devices/both_ways"},
                 {"bus_bandwidth", "/rocbench/bus_bandwidth"},
                 {"limit_rate", "/rocbench/physical_limit/rate"},
                 {"limit_origin", "/rocbench/physical_limit/origin"},
                 {"verified", "/rocbench/verified"},
                 {"problem", "/error_message"}};
  std::string text;
  for (auto const& column : columns)
    text += fmt::format("{}{}", text.empty() ? "" : ",", column.name);
  text += "\r\n";
  json const document = make_document(run);
  for (json benchmark : document["benchmarks"]) {
    json& own = benchmark["rocbench"];
    if (own["status"] != "measured") {
      own["verified"] = own["status"];
      own.erase("measured");
    } else if (own["measured"]["loop"].is_null()) {
      own["measured"].erase("loop_rate");
    }
    std::vector<std::string> fields;
    for (auto const& column : columns) fields.push_back(csv_field(benchmark, column.place));
    text += fmt::format("{}\r\n", fmt::join(fields, ","));
  }
  return text;
}

benchmark_run parse_run(std::string_view text, std::string const& name) {
  try {
    return run_from(json::parse(text, replace_characters));
  } catch (std::exception const& e) {
    std::string_view problem = e.what();  // "[json.exception.type_error.302] (/benchmarks) ..."
    if (problem.starts_with("[json.")) problem.remove_prefix(problem.find("] ") + 2);
    throw file_error(fmt::format(
        "{}: {}; use a file that this version of rocbench --json wrote completely", name, problem));
  }
}

benchmark_run read_run(std::string const& path) { return parse_run(read_file(path), path); }

}  // namespace rocbench
