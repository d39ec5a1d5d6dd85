// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace rocbench {
namespace {

// Needs no device; records the calls that it receives. If `work` is set, run() calls it.
class recording_experiment final : public experiment {
 public:
  explicit recording_experiment(std::size_t max_batch = 1000)
      : experiment({timing_method::wall_clock, 100, 200, "none", max_batch}) {}
  void prepare(std::uint64_t sample) override { prepared = sample; }
  void run(std::size_t times) override {
    runs.push_back(times);
    if (work) work(prepared);
  }
  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    checked.push_back(sample);
    if (inject != injection_site::none) return "a wrong byte";
    return std::nullopt;
  }

  std::function<void(std::uint64_t sample)> work;
  std::uint64_t prepared = 0;
  std::vector<std::uint64_t> checked;
  std::vector<std::size_t> runs;
};

measure_options with_max_time(double seconds, unsigned rounds) { return {0, seconds, rounds}; }

sample_set samples_of(recording_experiment& subject, measure_options const& options) {
  sample_set samples;
  take_samples(subject, options, samples);
  return samples;
}

// If the batch is limited to 1, each execution must be prepared anew.
TEST(TakeSamples, KeepsFixedCountsAndMaxBatch) {
  measure_options options;
  options.fixed = {4, 16, 3};
  recording_experiment subject;
  measurement const result = to_measurement(samples_of(subject, options), 200);
  EXPECT_EQ(subject.runs, (std::vector<std::size_t>{4, 16, 16, 16}));
  EXPECT_EQ(subject.checked, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(result.seconds.count, 3u);
  EXPECT_EQ(result.executions, 48u);
  EXPECT_FALSE(result.noisy);
  recording_experiment limited(1);
  options.fixed = {1, 16, 2};
  EXPECT_EQ(to_measurement(samples_of(limited, options), 200).executions, 2u);
  EXPECT_EQ(samples_of(limited, with_max_time(1e-9, 1)).batch, 1u);
  EXPECT_EQ(limited.runs, (std::vector<std::size_t>{1, 1, 1, 1, 1, 1}));
}

// Times a tenth of what it does.
class partly_timed_experiment final : public experiment {
 public:
  partly_timed_experiment() : experiment({timing_method::own_clock, 100, 200, "none"}) {}
  void prepare(std::uint64_t) override {}
  void run(std::size_t times) override {
    std::this_thread::sleep_for(times * std::chrono::milliseconds(2));
    timed_seconds_ = static_cast<double>(times) * 0.2e-3;
  }
  double timed_seconds() const override { return timed_seconds_; }
  std::optional<std::string> check(std::uint64_t, injection_site) override { return std::nullopt; }

 private:
  double timed_seconds_ = 0;
};

// The batch follows from the time that passes, not from the part of it that counts.
TEST(FindBatch, DoesNotCountOnSlowFirstExecutions) {
  std::size_t executed = 0;
  auto const seconds_of = [&](std::size_t batch) {
    std::size_t const slow = std::min(batch, executed < 3 ? 3 - executed : 0);
    executed += batch;
    return static_cast<double>(slow) * 2e-3 + static_cast<double>(batch) * 1e-5;
  };
  std::size_t const batch = find_batch(4096, 5e-3, seconds_of);
  EXPECT_GE(seconds_of(batch), 5e-3);
  EXPECT_LT(batch, 1000u);
  EXPECT_EQ(find_batch(16, 5e-3, seconds_of), 16u);
}

TEST(TakeSamples, CountsOwnClockOfExperiment) {
  partly_timed_experiment subject;
  sample_set samples;
  take_samples(subject, with_max_time(0.03, 1), samples);
  for (double const seconds : samples.seconds) EXPECT_DOUBLE_EQ(seconds, 0.2e-3);
  EXPECT_LE(samples.batch, 8u);
}

class divided_experiment final : public experiment {
 public:
  divided_experiment() : experiment({timing_method::wall_clock, 100, 200, "none"}) {}
  void prepare(std::uint64_t sample) override { sample_ = static_cast<double>(sample); }
  void run(std::size_t) override {}
  std::vector<device_rate> device_rates() const override {
    return {{0, 10 * sample_}, {3, 20 * sample_}};
  }
  std::optional<std::string> check(std::uint64_t, injection_site) override { return std::nullopt; }

 private:
  double sample_ = 0;
};

TEST(ToMeasurement, HasMedianRateOfEachDevice) {
  divided_experiment subject;
  sample_set samples;
  measure_options options;
  options.fixed = fixed_counts{.warm_ups = 0, .batch = 1, .samples = 3};
  take_samples(subject, options, samples);
  auto const devices = to_measurement(samples, 200).devices;
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].device, 0);
  EXPECT_DOUBLE_EQ(devices[0].rate, 20);
  EXPECT_EQ(devices[1].device, 3);
  EXPECT_DOUBLE_EQ(devices[1].rate, 40);
}

TEST(TakeSamples, UsesNewPatternsInEachRound) {
  recording_experiment subject;
  sample_set taken;
  for (std::size_t round = 1; round <= 2; ++round) {
    take_samples(subject, with_max_time(0.02, 2), taken);
    EXPECT_GE(taken.seconds.size(), round);
    EXPECT_EQ(taken.seconds.size(), subject.checked.size());
  }
  std::ranges::sort(subject.checked);
  EXPECT_EQ(std::ranges::adjacent_find(subject.checked), subject.checked.end());
}

TEST(TakeSamples, TakesOneSampleWithoutTimeOrAfterWrongData) {
  recording_experiment subject;
  sample_set const taken = samples_of(subject, with_max_time(0, 1));
  EXPECT_EQ(taken.seconds.size(), 1u);
  EXPECT_TRUE(to_measurement(taken, 200).noisy);
  EXPECT_EQ(subject.runs, std::vector<std::size_t>{1});  // and no warm-up
  measure_options options = with_max_time(100, 1);
  options.inject = injection_site::data;
  sample_set const wrong = samples_of(subject, options);
  EXPECT_EQ(wrong.seconds.size(), 1u);
  EXPECT_EQ(to_measurement(wrong, 200).mismatch, "a wrong byte");
}

TEST(HasPreciseMedian, RequiresIntervalUpToHalfOfTolerance) {
  sample_set taken;
  taken.seconds.assign(9, 1.0);
  EXPECT_FALSE(has_precise_median(taken));  // too few samples
  taken.seconds.push_back(1.0);
  EXPECT_TRUE(has_precise_median(taken));
  // With ten samples the interval is from the second to the ninth.
  taken.seconds = {0.9, 0.995, 1, 1, 1, 1, 1, 1, 1.0049, 1.1};
  EXPECT_TRUE(has_precise_median(taken));
  taken.seconds[8] = 1.0051;
  EXPECT_FALSE(has_precise_median(taken));
  taken.fixed = true;  // the number of samples was given
  EXPECT_TRUE(has_precise_median(taken));
}

TEST(ToMeasurement, ReportsFastestExecutionIfRequested) {
  recording_experiment subject;
  sample_set taken;
  measure_options options;
  options.fixed = {.warm_ups = 0, .batch = 1, .samples = 4, .report_fastest = true};
  take_samples(subject, options, taken);
  EXPECT_EQ(subject.runs, (std::vector<std::size_t>{1, 1, 1, 1}));
  taken.seconds = {1, 8, 4, 5};
  measurement const result = to_measurement(taken, 200);
  ASSERT_TRUE(result.loop);
  EXPECT_DOUBLE_EQ(result.reported_seconds(), 4);
  EXPECT_DOUBLE_EQ(result.reported_rate(), 50);
  EXPECT_DOUBLE_EQ(result.loop->max, 8);
  taken.report_fastest = false;
  EXPECT_DOUBLE_EQ(to_measurement(taken, 200).reported_seconds(), 4.5);
}

TEST(ToMeasurement, RatesAreCountedBytesPerTime) {
  sample_set taken;
  taken.seconds = {1, 2, 4};
  taken.executions = 3;
  taken.cpu_seconds = 6;
  measurement const result = to_measurement(taken, 200);
  EXPECT_DOUBLE_EQ(result.rate.median, 100);
  EXPECT_DOUBLE_EQ(result.seconds.median, 2);
  EXPECT_DOUBLE_EQ(result.cpu_seconds, 2);
}

using round_counts = std::map<std::string, unsigned>;  // by case

// Runs cases of these names whose every other sample takes ten times as long, so that the samples
// never agree, except for the case "unsupported". Expects reports in the order of the names.
// Returns the number of rounds of each.
round_counts rounds_of(std::vector<std::string> const& names, std::optional<extra_rounds> extra,
                       injection_site inject = injection_site::none) {
  round_counts rounds;
  std::vector<job> jobs;
  for (std::string const& name : names) {
    auto const make = [&rounds, name](case_parameters const&) {
      ++rounds[name];
      if (name == "unsupported") throw case_not_supported("not here");
      auto result = std::make_unique<recording_experiment>(1);
      result->work = [](std::uint64_t sample) {
        auto const end = std::chrono::steady_clock::now() +
                         std::chrono::microseconds(sample % 2 == 0 ? 1000 : 100);
        while (std::chrono::steady_clock::now() < end) {
        }
      };
      return result;
    };
    jobs.push_back({{name, "", accounting::payload, limiting_resource::none, true, make}, {}});
  }
  measure_options options{.min_time = 0, .max_time = 0.02, .rounds = 2};
  options.extra = extra;
  options.inject = inject;
  std::vector<std::string> reported;
  run_jobs(jobs, options, {}, [&](case_result const& result) { reported.push_back(result.name); });
  EXPECT_EQ(reported, names);
  return rounds;
}

TEST(RunJobs, GivesNoisyCasesExtraRoundsUntilDeadline) {
  extra_rounds const extra{.time = 0.01, .max_rounds = 3, .deadline = 1000};
  EXPECT_EQ(rounds_of({"a", "unsupported", "c"}, extra),
            (round_counts{{"a", 5}, {"unsupported", 1}, {"c", 5}}));
  round_counts const planned{{"a", 2}, {"b", 2}};
  EXPECT_EQ(rounds_of({"a", "b"}, std::nullopt), planned);
  EXPECT_EQ(rounds_of({"a", "b"}, extra_rounds{0.01, 3, 0}), planned);
  EXPECT_EQ(rounds_of({"a"}, extra, injection_site::data), (round_counts{{"a", 1}}));
}

TEST(HandleInterrupts, DoesNotEndWriteThatBlocks) {
  auto const write_while_interrupted = [] {
    handle_interrupts();
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0) std::_Exit(2);
    while (write(ends[1], "", 1) == 1) {
    }
    fcntl(ends[1], F_SETFL, 0);  // the pipe is full: the next write blocks
    std::jthread const other([&, writer = pthread_self()] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      pthread_kill(writer, SIGINT);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      char text[1 << 16];
      while (read(ends[0], text, sizeof text) > 0) {
      }
    });
    std::_Exit(write(ends[1], "", 1) == 1 && interrupted() ? 0 : 1);
  };
  EXPECT_EXIT(write_while_interrupted(), testing::ExitedWithCode(0), "");
}

TEST(ProgressLine, ShowsTimeLeftInProportion) {
  EXPECT_EQ(progress_line(1, 54, "h2d/pinned", 0, 80), "1 of 54: h2d/pinned");
  EXPECT_EQ(progress_line(28, 54, "h2d/pinned", 13.5, 80), "28 of 54: h2d/pinned, about 14 s left");
  EXPECT_EQ(progress_line(11, 110, "h2d/pinned", 60, 80),
            "11 of 110: h2d/pinned, about 10 min left");
  EXPECT_EQ(progress_line(28, 54, "h2d/pinned", 13.5, 16), "28 of 54: h2d/pi");
}

std::vector<double> one_to(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Quantile, InterpolatesBetweenSamples) {
  std::vector<double> const sorted{1, 2, 4};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 1.5);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.75), 3);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1), 4);
  for (double p : {0.0, 0.05, 0.5, 1.0}) EXPECT_DOUBLE_EQ(quantile({{7}}, p), 7);
}

// Two-sided critical values of the sign test at 5 %, and the normal approximation.
TEST(MedianIntervalCut, EqualsBinomialTables) {
  std::size_t const rows[][2] = {{6, 0}, {8, 0}, {9, 1}, {12, 2}, {20, 5}, {50, 17}, {100, 39}};
  for (auto const& [count, cut] : rows) EXPECT_EQ(median_interval_cut(count), cut) << count;
  for (std::size_t count : {1000u, 10000u, 100000u}) {
    auto const n = static_cast<double>(count);
    double const approximate = n / 2 - 1.959964 * std::sqrt(n) / 2;
    EXPECT_NEAR(static_cast<double>(median_interval_cut(count)), approximate, 2) << count;
  }
}

TEST(Summarize, ComputesMedianSpreadAndInterval) {
  summary const five = summarize({5, 1, 4, 2, 3});
  EXPECT_EQ(five.count, 5u);
  EXPECT_DOUBLE_EQ(five.median, 3);
  EXPECT_DOUBLE_EQ(five.p5, 1.2);
  EXPECT_DOUBLE_EQ(five.p95, 4.8);
  EXPECT_TRUE(std::isinf(five.relative_width()));  // too few samples
  EXPECT_TRUE(std::isfinite(summarize(one_to(6)).relative_width()));
  summary const ten = summarize(one_to(10));
  EXPECT_DOUBLE_EQ(ten.median_interval.low, 2);
  EXPECT_DOUBLE_EQ(ten.median_interval.high, 9);
  EXPECT_DOUBLE_EQ(ten.relative_width(), 7 / 5.5);
  EXPECT_DOUBLE_EQ(summarize(std::vector<double>(10, 3.0)).relative_width(), 0);
}

// BabelStream ignores the first time, whether it is slow or fast, unless it is the only one.
TEST(SummarizeLoop, EqualsBabelStreamsOutput) {
  struct {
    std::vector<double> seconds;
    loop_times expected;
  } const rows[] = {{{9, 2, 1, 3}, {1, 3, 2}},
                    {{0.5, 2, 1, 3}, {1, 3, 2}},
                    {{5, 4}, {4, 4, 4}},
                    {{7}, {7, 7, 7}},
                    {{1, 1, 1, 1, 5}, {1, 5, 2}}};
  for (auto const& row : rows) {
    loop_times const times = summarize_loop(row.seconds);
    EXPECT_DOUBLE_EQ(times.min, row.expected.min);
    EXPECT_DOUBLE_EQ(times.max, row.expected.max);
    EXPECT_DOUBLE_EQ(times.mean, row.expected.mean);
  }
}

}  // namespace
}  // namespace rocbench
