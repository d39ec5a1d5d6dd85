// SPDX-License-Identifier: MIT
// Measures cases in rounds, so that they take turns, and shows the progress. Each is measured by a
// warm-up, batches of executions, and samples until the median is precise; every sample is
// verified.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "benchmark_run.hpp"

namespace rocbench {

/// Fixed counts, as in tools that do not check whether samples agree.
struct fixed_counts {
  std::size_t warm_ups;
  std::size_t batch;  ///< executions per sample
  std::size_t samples;
  bool synchronize_each = false;  ///< true: wall clock, with a synchronization after each sample
  bool report_fastest = false;    ///< true: report the rate of the shortest time, not the median
};

/// Rounds after the planned ones, for cases whose median is not precise enough to compare runs.
struct extra_rounds {
  double time;          ///< seconds per round
  unsigned max_rounds;  ///< per case
  double deadline;      ///< seconds after the start of all cases; no extra round starts later
};

struct measure_options {
  double min_time = 0;  ///< minimal seconds per case, including verification
  /// Maximal seconds per case; a round always takes one sample. 0: one execution, verified.
  double max_time = 0;
  unsigned rounds = 1;  ///< rounds that divide both times; cases take turns in each round
  std::optional<fixed_counts> fixed = {};  ///< replaces the times; requires one round
  std::optional<extra_rounds> extra = {};
  /// Corrupts one byte before verification, which must then fail.
  injection_site inject = injection_site::none;
};

/// The samples of a case from all rounds so far.
struct sample_set {
  std::vector<double> seconds;          ///< time of one execution, per sample
  double cpu_seconds = 0;               ///< CPU time of the process during all samples
  std::size_t executions = 0;           ///< in all samples
  std::size_t batch = 0;                ///< executions per sample
  double elapsed = 0;                   ///< seconds of sampling, including verification
  bool fixed = false;                   ///< true: the number of samples was given
  bool report_fastest = false;          ///< from fixed_counts
  std::optional<std::string> mismatch;  ///< description of wrong data; ends the measurement
  std::vector<int> devices;             ///< ordinals, if the work is divided among devices
  std::vector<std::vector<double>> device_rates;  ///< of each device, per sample
};

/// Installs handlers that record the first SIGINT or SIGTERM: the measurement ends after the
/// current sample, and the results so far are written. A second signal ends the process.
void handle_interrupts();
/// Returns true after the first signal.
bool interrupted() noexcept;

/// Warms up and returns the number of executions per sample, which take at least `min_seconds`
/// unless `max_batch` executions are faster. Of two measurements the shorter counts, because the
/// very first includes lazy initialization.
/// @param seconds_of returns the time of so many executions, above zero
std::size_t find_batch(std::size_t max_batch, double min_seconds,
                       std::function<double(std::size_t batch)> const& seconds_of);

/// Appends the samples of one round to `samples`. A round takes at least its share of 10 samples
/// and of min_time. It ends if the 95 % confidence interval of the median of all samples is
/// narrower than 0.5 % of the median, or if its share of max_time is over. With fixed counts it
/// takes exactly that number of samples. It also ends after a sample with wrong data or after an
/// interrupt. Throws roc::error.
void take_samples(experiment& subject, measure_options const& options, sample_set& samples);

/// Returns true if `compare` could give a verdict on two such runs: the confidence interval of the
/// median is at most half as wide as the default tolerance, or the number of samples was fixed.
bool has_precise_median(sample_set const& samples);

/// Computes the statistics of a case. Precondition: at least one sample.
measurement to_measurement(sample_set const& samples, std::size_t counted_bytes);

/// Returns the limit of a case's rate.
rate_limit limit_of(benchmark_case const& benchmark, machine_limits const& limits);

/// A case with the sizes to measure it with.
struct job {
  benchmark_case benchmark;
  case_parameters parameters;
};

/// Measures all jobs and calls `report` once per job, in their order. A result is reported during
/// the last planned round, or after the extra rounds if the job or one before it needs them. A job
/// that fails or is not supported is not tried again; the others continue. After an interrupt the
/// remaining results are reported; jobs without a sample are left out. If standard error is a
/// terminal, its last line shows the current case and the time left.
void run_jobs(std::vector<job> const& jobs, measure_options const& options,
              machine_limits const& limits, std::function<void(case_result const&)> const& report);

/// Returns the line that shows the progress, cut to the width of the terminal. The time left is
/// that of the cases so far, in proportion.
/// @param begun number of the current case, counted from 1
/// @param elapsed seconds since the first case began
std::string progress_line(std::size_t begun, std::size_t total, std::string const& case_name,
                          double elapsed, std::size_t columns);

}  // namespace rocbench
