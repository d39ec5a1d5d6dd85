// SPDX-License-Identifier: MIT
// Measures one case: warm-up, batches, samples until they agree, every sample checked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiment.hpp"
#include "inject.hpp"
#include "statistics.hpp"

namespace rocbench {

/// A count of everything, as tools have it that do not ask whether samples agree.
struct fixed_counts {
  std::size_t warm_ups;
  std::size_t batch;  ///< executions timed together in a sample
  std::size_t samples;
  bool each_waited_for = false;  ///< by the host's clock, to the end of a wait
  bool by_least_time = false;    ///< the rate is that of the least time, not the median
};

/// Turns beyond max_time, of cases whose samples leave the median too open to compare runs by.
struct further_turns {
  double time;      ///< seconds of each
  unsigned most;    ///< of a case
  double deadline;  ///< seconds after the beginning of all cases from which on no turn begins
};

struct measure_options {
  double min_time = 0;  ///< seconds for a case at least, the checks between samples included
  /// Seconds for a case at most, but for the first sample of a round; 0: one execution, checked.
  double max_time = 0;
  unsigned rounds = 1;  ///< parts that both are divided into, so that cases take turns
  std::optional<fixed_counts> fixed = {};  ///< instead of the times; with one round
  std::optional<further_turns> further = {};  ///< behind the last round
  /// Where one byte is corrupted before the check, which must then fail.
  inject_place inject = inject_place::none;
};

/// What was seen of a case so far, round after round.
struct samples {
  std::vector<double> seconds;          ///< of one execution each
  double cpu_seconds = 0;               ///< of the process, while the samples were timed
  std::size_t executions = 0;           ///< in all samples together
  std::size_t batch = 0;                ///< executions timed together in a sample
  double spent = 0;                     ///< seconds on sampling, checks included
  bool fixed = false;                   ///< the number of samples was given: nothing had to agree
  bool by_least_time = false;           ///< as asked for with the counts
  std::optional<std::string> mismatch;  ///< what was wrong; measuring ended there
};

struct measurement {
  summary rate;            ///< bytes a second
  summary seconds;         ///< of one execution
  double cpu_seconds = 0;  ///< of the process, for one execution
  std::size_t executions = 0;
  std::size_t batch = 0;
  bool noisy = false;  ///< the samples did not agree within the time that the case had
  double spent = 0;    ///< seconds on sampling
  std::optional<std::string> mismatch;
  std::optional<loop_times> loop;  ///< where the least time was asked for
  double loop_rate = 0;            ///< bytes a second at that time

  /// What the case is said to reach: the median, or the rate of the least time.
  double shown_rate() const { return loop ? loop_rate : rate.median; }
  double shown_seconds() const { return loop ? loop->least : seconds.median; }
};

/// Appends the samples of one round: its share of 10 samples and of min_time at least, then until
/// the 95 % confidence interval of the median of all samples is narrower than 0.5 % of it; its
/// share of max_time at most. With fixed counts just so many. An interrupt ends it after the sample
/// at hand. Throws roc::error.
void take_samples(experiment& subject, measure_options const& options, samples& into);

/// Whether two runs with such samples could be told apart or called the same by `compare`: the
/// interval of the median is at most half as wide as the change that it takes for none.
bool comparable(samples const& taken);

/// Precondition: a sample.
measurement conclude(samples const& taken, std::size_t counted_bytes);

}  // namespace rocbench
