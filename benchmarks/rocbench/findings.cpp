// SPDX-License-Identifier: MIT
#include "findings.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "format.hpp"

namespace rocbench {
namespace {

constexpr std::string_view raw_prefix = "raw/";

// Returns the name of a result, with its size if the run has several sizes.
std::string name_in(benchmark_run const& run, case_result const& result) {
  bool const has_one_size = run.results.front().bytes == run.results.back().bytes;
  return has_one_size ? result.name : describe(result);
}

struct compared_pair {
  std::string name;
  double ratio;
};

// Returns all results that have a raw counterpart, the slowest compared with it first.
std::vector<compared_pair> ratios_of(benchmark_run const& run) {
  std::vector<compared_pair> result;
  for (case_pair const& pair : pair_cases(run)) {
    for (case_result const* library : pair.library) {
      if (auto const* raw = pair.counterpart(*library)) {
        result.push_back({name_in(run, *library), ratio_to(*library, *raw)});
      }
    }
  }
  std::ranges::stable_sort(result, {}, &compared_pair::ratio);
  return result;
}

}  // namespace

case_result const* case_pair::counterpart(case_result const& result) const {
  auto const match = std::ranges::lower_bound(raw, result.bytes, {}, &case_result::bytes);
  bool const found = !library.empty() && match != raw.end() && (*match)->bytes == result.bytes;
  return found ? *match : nullptr;
}

std::string base_name(std::string const& name) {
  return name.starts_with(raw_prefix) ? name.substr(raw_prefix.size()) : name;
}

std::vector<case_pair> pair_cases(benchmark_run const& run) {
  std::vector<case_pair> result;
  std::map<std::string, std::size_t> indexes;
  for (case_result const& entry : run.results) {
    if (entry.status != outcome::measured || entry.measured.mismatch) continue;
    std::string const name = base_name(entry.name);
    auto const [position, is_new] = indexes.try_emplace(name, result.size());
    if (is_new) result.push_back({name, {}, {}});
    case_pair& pair = result[position->second];
    (entry.name == name ? pair.library : pair.raw).push_back(&entry);
  }
  for (case_pair& pair : result) {
    std::ranges::stable_sort(pair.library, {}, &case_result::bytes);
    std::ranges::stable_sort(pair.raw, {}, &case_result::bytes);
  }
  return result;
}

double ratio_to(case_result const& library, case_result const& raw) {
  return library.counted == accounting::time
             ? raw.measured.reported_seconds() / library.measured.reported_seconds()
             : library.measured.reported_rate() / raw.measured.reported_rate();
}

std::string describe(case_result const& result) {
  return result.name + " at " + format_size(result.bytes);
}

std::string format_value(case_result const& result) {
  return result.counted == accounting::time ? format_time(result.measured.reported_seconds())
                                            : format_rate(result.measured.reported_rate());
}

std::string format_spread(case_result const& result) {
  summary const& rate = result.measured.rate;
  summary const& seconds = result.measured.seconds;
  return result.counted == accounting::time
             ? format_time(seconds.p5) + " to " + format_time(seconds.p95)
             : format_rate(rate.p5) + " to " + format_rate(rate.p95);
}

std::string device_warning(run_environment const& environment) {
  if (environment.is_fake_runtime) {
    return "Measured with the fake HIP runtime on the CPU: these figures are meaningless.";
  }
  return environment.on_gpu ? "" : "Measured on the CPU: these are not figures of a GPU.";
}

std::vector<finding> find_in(benchmark_run const& run) {
  std::vector<finding> findings;
  auto const add = [&](finding_kind kind, std::string const& title,
                       std::vector<std::string> const& names, std::size_t total,
                       char const* explanation = "") {
    if (names.empty()) return;
    findings.push_back({kind, fmt::format("{}: {} of {}{} ({})", title, names.size(), total,
                                          explanation, join_names(names))});
  };
  auto const names_if = [&](auto const& is_member) {
    std::vector<std::string> names;
    for (case_result const& result : run.results) {
      if (is_member(result)) names.push_back(name_in(run, result));
    }
    return names;
  };
  auto const names_with_status = [&](outcome status) {
    return names_if([&](case_result const& result) { return result.status == status; });
  };
  std::size_t const measured = names_with_status(outcome::measured).size();
  add(finding_kind::bad, "Wrong data",
      names_if([](case_result const& result) { return result.measured.mismatch.has_value(); }),
      measured);
  if (findings.empty() && measured != 0) {
    findings.push_back({finding_kind::good, fmt::format("Data right: {0} of {0}", measured)});
  }
  auto const ratios = ratios_of(run);
  std::vector<std::string> slower;
  for (compared_pair const& entry : ratios) {
    if (entry.ratio < slower_ratio) slower.push_back(entry.name);
  }
  if (!ratios.empty()) {
    // If the number of ratios is even, the median is the lower of the two in the middle.
    findings.front().text +=
        fmt::format("; speed relative to HIP: median {:.2f}, worst {:.2f} ({}), best {:.2f} ({})",
                    ratios[(ratios.size() - 1) / 2].ratio, ratios.front().ratio,
                    ratios.front().name, ratios.back().ratio, ratios.back().name);
  }
  add(finding_kind::notice, fmt::format("Below {} of HIP's speed", slower_ratio), slower,
      ratios.size());
  add(finding_kind::notice, "Above the physical limit",
      names_if([](case_result const& result) { return result.efficiency().value_or(0) > 1; }),
      measured, ", so the limit is not theirs");
  add(finding_kind::notice, "Noisy",
      names_if([](case_result const& result) { return result.measured.noisy; }), measured,
      ", with a median that is not known to 0.5 %");
  add(finding_kind::notice, "Skipped", names_with_status(outcome::skipped), run.results.size());
  add(finding_kind::bad, "Failed", names_with_status(outcome::failed), run.results.size());
  return findings;
}

}  // namespace rocbench
