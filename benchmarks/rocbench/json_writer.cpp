// SPDX-License-Identifier: MIT
#include "json_writer.hpp"

#include <nlohmann/json.hpp>

#include "host_facts.hpp"

namespace rocbench {
namespace {

using json = nlohmann::ordered_json;

#ifdef NDEBUG
constexpr char const* build_type = "release";
#else
constexpr char const* build_type = "debug";
#endif

json of_optional(std::optional<double> const& value) { return value ? json(*value) : json(); }

json of_limit(limit const& from) {
  return {{"bytes_per_second", of_optional(from.rate)}, {"origin", from.origin}};
}

// The ends of an interval that too few samples have are infinite, which JSON writes as null.
json of_summary(summary const& from) {
  return {{"median", from.median},
          {"p5", from.p5},
          {"p95", from.p95},
          {"median_low", from.median_interval.low},
          {"median_high", from.median_interval.high}};
}

json context_of(document const& from) {
  host_facts const host = find_host_facts();
  json caches = json::array();
  for (cpu_cache const& each : host.caches) {
    caches.push_back({{"type", each.type},
                      {"level", each.level},
                      {"size", each.size},
                      {"num_sharing", each.num_sharing}});
  }
  environment const& where = from.where;
  return {{"date", where.date},
          {"host_name", where.host_name},
          {"executable", "rocbench"},
          {"num_cpus", host.num_cpus},
          {"mhz_per_cpu", host.mhz_per_cpu},
          {"cpu_scaling_enabled", host.cpu_scaling_enabled},
          {"caches", caches},
          {"load_avg", host.load_avg},
          {"library_build_type", build_type},
          {"json_schema_version", 1},
          {"rocbench",
           {{"version", where.version},
            {"platform", where.platform},
            {"device", where.ordinal},
            {"device_name", where.device_name},
            {"pci_bus_id", where.pci_bus_id},
            {"on_gpu", where.on_gpu},
            {"is_fake_runtime", where.is_fake_runtime},
            {"runtime_version", where.runtime_version},
            {"driver_version", where.driver_version},
            {"limits",
             {{"link", of_limit(from.known.link)},
              {"device_memory", of_limit(from.known.device_memory)},
              {"host_copy", of_limit(from.known.host_copy)}}}}}};
}

char const* to_string(outcome ended) {
  switch (ended) {
    case outcome::measured: return "measured";
    case outcome::skipped: return "skipped";
    case outcome::failed: return "failed";
  }
  return "";
}

json own_part_of(case_result const& from) {
  json result = {{"case", from.name},
                 {"bytes", from.bytes},
                 {"counted", to_string(from.counted)},
                 {"outcome", to_string(from.ended)},
                 {"limit", of_limit(from.physical)}};
  if (from.ended != outcome::measured) {
    result["problem"] = from.problem;
    return result;
  }
  measurement const& measured = from.measured;
  result["path"] = from.path;
  result["verified"] = !measured.mismatch;
  if (measured.mismatch) result["mismatch"] = *measured.mismatch;
  result["efficiency"] = of_optional(from.efficiency());
  result["samples"] = measured.seconds.count;
  result["batch"] = measured.batch;
  result["noisy"] = measured.noisy;
  result["spent_seconds"] = measured.spent;
  result["rate"] = of_summary(measured.rate);
  result["seconds"] = of_summary(measured.seconds);
  if (measured.loop) {
    result["loop"] = {{"least_seconds", measured.loop->least},
                      {"greatest_seconds", measured.loop->greatest},
                      {"mean_seconds", measured.loop->mean},
                      {"bytes_per_second", measured.loop_rate}};
  }
  return result;
}

json benchmark_of(case_result const& from, std::size_t family, std::size_t instance) {
  std::string const name = from.name + "/" + std::to_string(from.bytes);
  bool const wrong = from.ended != outcome::measured || from.measured.mismatch;
  measurement const& measured = from.measured;
  json result = {{"name", name},
                 {"family_index", family},
                 {"per_family_instance_index", instance},
                 {"run_name", name},
                 {"run_type", "iteration"},
                 {"repetitions", 1},
                 {"repetition_index", 0},
                 {"threads", 1}};
  if (wrong) {
    result["error_occurred"] = true;
    result["error_message"] = measured.mismatch.value_or(from.problem);
  }
  result["iterations"] = measured.executions;
  result["real_time"] = measured.shown_seconds() * 1e9;
  result["cpu_time"] = measured.cpu_seconds * 1e9;
  result["time_unit"] = "ns";
  result["bytes_per_second"] = measured.shown_rate();
  if (!from.path.empty()) result["label"] = from.path;
  result["rocbench"] = own_part_of(from);
  return result;
}

}  // namespace

std::string to_json(document const& of) {
  json benchmarks = json::array();
  std::size_t family = 0;
  std::size_t instance = 0;
  for (std::size_t i = 0; i < of.results.size(); ++i) {
    bool const same = i != 0 && of.results[i].name == of.results[i - 1].name;
    instance = same ? instance + 1 : 0;
    if (!same && i != 0) ++family;
    benchmarks.push_back(benchmark_of(of.results[i], family, instance));
  }
  json const whole = {{"context", context_of(of)}, {"benchmarks", benchmarks}};
  // Names of devices and hosts are not always UTF-8.
  return whole.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace rocbench
