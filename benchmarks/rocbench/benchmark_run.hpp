// SPDX-License-Identifier: MIT
// A complete run: what result files contain, and what is compared and drawn.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "benchmark_case.hpp"
#include "machine_facts.hpp"
#include "statistics.hpp"

namespace rocbench {

/// The statistics of a case.
struct measurement {
  summary rate;            ///< bytes per second
  summary seconds;         ///< of one execution
  double cpu_seconds = 0;  ///< CPU time of the process per execution
  std::size_t executions = 0;
  std::size_t batch = 0;
  bool noisy = false;  ///< true: the median was not precise when the time was over
  double elapsed = 0;  ///< seconds of sampling
  std::optional<std::string> mismatch;
  std::optional<loop_times> loop;  ///< set if the fastest execution is reported
  double loop_rate = 0;            ///< bytes per second of the fastest execution

  /// Returns the rate that tables show: of the median, or of the fastest execution.
  double reported_rate() const { return loop ? loop_rate : rate.median; }
  double reported_seconds() const { return loop ? loop->min : seconds.median; }
};

enum class outcome : unsigned char {
  measured,  ///< has samples; if measured.mismatch is set, the data was wrong
  skipped,   ///< this device does not support the case
  failed,    ///< an error ended the case
};

/// The result of one case at one size.
struct case_result {
  std::string name;
  std::size_t bytes = 0;  ///< payload
  accounting counted = accounting::payload;
  std::string path;
  rate_limit physical_limit;
  outcome status = outcome::measured;
  std::string reason;  ///< why the case was skipped or failed
  measurement measured;

  /// Returns the reported rate divided by the physical limit; empty if the case was not measured
  /// or the limit is unknown.
  std::optional<double> efficiency() const {
    if (status != outcome::measured || !physical_limit.rate) return std::nullopt;
    return measured.reported_rate() / *physical_limit.rate;
  }
};

/// The platform, device and machine of a run.
struct run_environment {
  std::string platform;  ///< amd, nvidia or host
  int ordinal = 0;
  std::string device_name;
  std::string pci_bus_id;
  bool on_gpu = true;            ///< false: the device is the CPU
  bool is_fake_runtime = false;  ///< true: the fake HIP runtime of the tests replaces AMD's runtime
  int runtime_version = 0;       ///< CUDA 13.0 is 13000, HIP 6.4.1 is 60400001
  int driver_version = 0;        ///< in the same form
  std::string host_name;
  std::string date;         ///< start of the run, ISO 8601
  std::string version;      ///< of rocbench
  std::vector<fact> facts;  ///< what does not change during the run
  std::vector<fact> state;  ///< what does
};

/// The physical limits of a machine's rates.
struct machine_limits {
  rate_limit link;           ///< between host and device, one direction
  rate_limit device_memory;  ///< traffic
  rate_limit host_copy;      ///< payload of a copy in host memory; host platform only
};

struct benchmark_run {
  run_environment environment;
  machine_limits limits;
  std::vector<case_result> results;
};

}  // namespace rocbench
