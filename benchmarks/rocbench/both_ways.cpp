// SPDX-License-Identifier: MIT
#include <exception>
#include <thread>
#include <utility>

#include <roc/device.hpp>
#include <roc/event.hpp>

#include "transfer.hpp"

namespace rocbench {
namespace {

class both_ways final : public experiment {
 public:
  both_ways(std::unique_ptr<experiment> there, std::unique_ptr<experiment> back)
      : there_(std::move(there)), back_(std::move(back)) {}

  timing timed_by() const override { return there_->timed_by(); }
  std::size_t bytes() const override { return there_->bytes() + back_->bytes(); }
  std::size_t counted_bytes() const override {
    return there_->counted_bytes() + back_->counted_bytes();
  }
  std::string path() override { return there_->path(); }
  roc::stream_ref stream() const override { return there_->stream(); }

  void prepare(std::uint64_t sample) override {
    there_->prepare(sample);
    back_->prepare(sample);
  }

  void run(std::size_t times) override {
    timed_by() == timing::wall_clock ? run_in_threads(times) : run_on_streams(times);
  }

  std::optional<std::string> check(std::uint64_t sample, inject_place inject) override {
    if (auto wrong = there_->check(sample, inject)) return "to the device, " + *wrong;
    if (auto wrong = back_->check(sample, inject)) return "to the host, " + *wrong;
    return std::nullopt;
  }

 private:
  // The way back begins and ends with the way there, whose stream is timed. One copy of each in
  // turn: a stream that is full holds up the call, and nothing would be left to run beside it.
  void run_on_streams(std::size_t times) {
    begin_.record(there_->stream());
    back_->stream().wait(begin_);
    for (std::size_t i = 0; i < times; ++i) {
      there_->run(1);
      back_->run(1);
    }
    end_.record(back_->stream());
    there_->stream().wait(end_);
  }

  void run_in_threads(std::size_t times) {
    std::exception_ptr problem;
    {
      roc::device const device;
      std::jthread const other([&] {
        try {
          device.make_current();
          back_->run(times);
        } catch (...) {
          problem = std::current_exception();
        }
      });
      there_->run(times);
    }
    if (problem) std::rethrow_exception(problem);
  }

  std::unique_ptr<experiment> there_;
  std::unique_ptr<experiment> back_;
  roc::event begin_;
  roc::event end_;
};

}  // namespace

std::unique_ptr<experiment> make_both_ways(std::unique_ptr<experiment> there,
                                           std::unique_ptr<experiment> back) {
  return std::make_unique<both_ways>(std::move(there), std::move(back));
}

}  // namespace rocbench
