// SPDX-License-Identifier: MIT
#include "bidirectional_experiment.hpp"

#include <exception>
#include <thread>
#include <utility>

#include <roc/device.hpp>
#include <roc/event.hpp>

namespace rocbench {
namespace {

class bidirectional_experiment final : public experiment {
 public:
  bidirectional_experiment(std::unique_ptr<experiment> to_device,
                           std::unique_ptr<experiment> to_host)
      : to_device_(std::move(to_device)), to_host_(std::move(to_host)) {}

  timing_method timing() const override { return to_device_->timing(); }
  std::size_t bytes() const override { return to_device_->bytes() + to_host_->bytes(); }
  std::size_t counted_bytes() const override {
    return to_device_->counted_bytes() + to_host_->counted_bytes();
  }
  std::string path() override { return to_device_->path(); }
  roc::stream_ref stream() const override { return to_device_->stream(); }

  void prepare(std::uint64_t sample) override {
    to_device_->prepare(sample);
    to_host_->prepare(sample);
  }

  void run(std::size_t times) override {
    timing() == timing_method::wall_clock ? run_in_threads(times) : run_on_streams(times);
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    if (auto difference = to_device_->check(sample, inject)) return "to the device, " + *difference;
    if (auto difference = to_host_->check(sample, inject)) return "to the host, " + *difference;
    return std::nullopt;
  }

 private:
  // The copies to the host start and end with the copies to the device, whose stream is timed. The
  // loop alternates: enqueuing blocks while a stream's queue is full, and the other stream would
  // run dry.
  void run_on_streams(std::size_t times) {
    begin_.record(to_device_->stream());
    to_host_->stream().wait(begin_);
    for (std::size_t i = 0; i < times; ++i) {
      to_device_->run(1);
      to_host_->run(1);
    }
    end_.record(to_host_->stream());
    to_device_->stream().wait(end_);
  }

  void run_in_threads(std::size_t times) {
    std::exception_ptr error;
    {
      roc::device const device;
      std::jthread const thread([&] {
        try {
          device.make_current();
          to_host_->run(times);
        } catch (...) {
          error = std::current_exception();
        }
      });
      to_device_->run(times);
    }
    if (error) std::rethrow_exception(error);
  }

  std::unique_ptr<experiment> to_device_;
  std::unique_ptr<experiment> to_host_;
  roc::event begin_;
  roc::event end_;
};

}  // namespace

std::unique_ptr<experiment> make_bidirectional_experiment(std::unique_ptr<experiment> to_device,
                                                          std::unique_ptr<experiment> to_host) {
  return std::make_unique<bidirectional_experiment>(std::move(to_device), std::move(to_host));
}

}  // namespace rocbench
