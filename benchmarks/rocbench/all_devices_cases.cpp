// SPDX-License-Identifier: MIT
// Cases of copies between the host and all devices at once: by a thread for each device and
// direction, with and without binding the threads and their memory to the NUMA node of the device,
// and by one thread on a stream for each.
#include <algorithm>
#include <condition_variable>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <roc/roc.hpp>

#include "machine.hpp"
#include "runtime/numa.hpp"
#include "stopwatch.hpp"
#include "transfer.hpp"

namespace rocbench {
namespace {

// A thread that executes functions, one after another. The destructor blocks until the last one has
// returned.
class function_thread {
 public:
  std::future<void> execute(std::function<void()> function) {
    std::packaged_task<void()> task(std::move(function));
    std::future<void> result = task.get_future();
    {
      std::lock_guard const lock(mutex_);
      task_ = std::move(task);
    }
    changed_.notify_one();
    return result;
  }

 private:
  void serve(std::stop_token const& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return task_.valid(); })) {
      auto task = std::exchange(task_, {});
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::packaged_task<void()> task_;
  std::jthread thread_{[this](std::stop_token const& stop) { serve(stop); }};
};

// Throws case_not_supported if a thread cannot be bound to the NUMA node of the device.
void require_node(int device) {
  if (first_line("/sys/devices/system/node/online").find_first_of(",-") == std::string::npos)
    throw case_not_supported("the machine has one NUMA node, so there is nothing to bind to");
  std::string const bus = roc::device(device).pci_bus_id();
  std::string const node = first_line(pci_directory("/", bus) / "numa_node");
  if (node.empty() || node[0] == '-') {
    throw case_not_supported(
        fmt::format("the machine does not report the NUMA node of device {}", device));
  }
}

// The copies of one direction between the host and one device.
struct device_copies {
  int device;
  operand_pair operands;
  std::unique_ptr<buffer_experiment> transfer = {};
  double seconds = 0;  // of the last run
  function_thread thread = {};
};

// Which threads copy.
enum class copying_threads : unsigned char {
  one_each,        // one for each device and direction
  one_each_bound,  // the same, bound to the NUMA node of the device
  one,             // one for all, which enqueues one copy of each in turn
};

class all_devices_experiment final : public experiment {
 public:
  // Precondition: `operands` is not empty.
  all_devices_experiment(std::vector<operand_pair> const& operands, api_kind api,
                         copying_threads threads, std::size_t bytes)
      : experiment({timing_method::own_clock, 0, 0, ""}), threads_(threads) {
    int const devices = roc::device::count();
    bool const is_bound = threads == copying_threads::one_each_bound;
    for (int device = 0; is_bound && device < devices; ++device) require_node(device);
    std::size_t const parts = static_cast<std::size_t>(devices) * operands.size();
    copy_layout const part = contiguous_layout(std::max<std::size_t>(bytes / parts, 1));
    for (int device = 0; device < devices; ++device) {
      for (operand_pair const& pair : operands)
        copies_.push_back(std::make_unique<device_copies>(device, pair));
    }
    // Memory is allocated and written in the thread that copies it, which decides its NUMA node.
    in_all_threads([&](device_copies& copies) {
      roc::device(copies.device).make_current();
      if (is_bound) roc::runtime::bind_thread_to_device_node(copies.device);
      call_kind const call = threads == copying_threads::one ? call_kind::enqueued_borrowed
                                                             : usual_call(copies.operands);
      copies.transfer = make_transfer(copies.operands, api, call, part);
    });
    for (auto const& copies : copies_) {
      properties_.bytes += copies->transfer->properties().bytes;
      properties_.counted_bytes += copies->transfer->properties().counted_bytes;
    }
    properties_.path = copies_.front()->transfer->properties().path;
  }

  void prepare(std::uint64_t sample) override {
    in_all_threads([=](device_copies& copies) { copies.transfer->prepare(sample); });
  }

  // The threads begin together; the time ends when the last one has finished.
  void run(std::size_t times) override {
    times_ = times;
    if (threads_ == copying_threads::one) return run_in_one_thread(times);
    std::latch begin(static_cast<std::ptrdiff_t>(copies_.size()));
    in_all_threads([&](device_copies& copies) {
      begin.arrive_and_wait();
      stopwatch const elapsed_time;
      copies.transfer->run(times);
      copies.transfer->stream().synchronize();
      copies.seconds = elapsed_time.seconds();
    });
  }
  double timed_seconds() const override {
    double result = 0;
    for (auto const& copies : copies_) result = std::max(result, copies->seconds);
    return result;
  }
  std::vector<device_rate> device_rates() const override {
    std::vector<device_rate> result;
    for (auto const& copies : copies_) {
      if (result.empty() || result.back().device != copies->device)
        result.push_back({copies->device, 0});
      result.back().rate +=
          static_cast<double>(copies->transfer->properties().counted_bytes * times_) /
          std::max(copies->seconds, 1e-9);
    }
    return result;
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    std::vector<std::optional<std::string>> differences(copies_.size());
    in_all_threads([&](device_copies& copies) {
      auto const position =
          std::ranges::find(copies_, &copies, &std::unique_ptr<device_copies>::get);
      differences[static_cast<std::size_t>(position - copies_.begin())] =
          copies.transfer->check(sample, inject);
    });
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      if (!differences[i]) continue;
      bool const to_host = copies_[i]->transfer->hip_copy_kind() == hipMemcpyDeviceToHost;
      return fmt::format("{} device {}, {}", to_host ? "from" : "to", copies_[i]->device,
                         *differences[i]);
    }
    return std::nullopt;
  }

 private:
  // Each execution ends before the next one begins. The devices have one rate, because their
  // streams are awaited one after the other.
  void run_in_one_thread(std::size_t times) {
    stopwatch const elapsed_time;
    for (std::size_t i = 0; i < times; ++i) {
      for (auto const& copies : copies_) copies->transfer->run(1);
      for (auto const& copies : copies_) copies->transfer->stream().synchronize();
    }
    for (auto const& copies : copies_) copies->seconds = elapsed_time.seconds();
  }

  // Calls f(copies) in the thread of each of the copies. Blocks until all calls have returned, and
  // then throws the first exception.
  template <class F>
  void in_all_threads(F const& f) {
    std::vector<std::future<void>> calls;
    for (auto const& copies : copies_)
      calls.push_back(copies->thread.execute([&f, &copies = *copies] { f(copies); }));
    for (auto const& call : calls) call.wait();
    for (auto& call : calls) call.get();
  }

  copying_threads threads_;
  std::vector<std::unique_ptr<device_copies>> copies_;
  std::size_t times_ = 1;
};

enum class direction : unsigned char { to_device, to_host, both };

std::vector<operand_pair> operands_of(memory_kind host, direction which) {
  std::vector<operand_pair> result;
  if (which != direction::to_host) result.push_back({"", host, memory_kind::device});
  if (which != direction::to_device) result.push_back({"", memory_kind::device, host});
  return result;
}

constexpr struct {
  direction which;
  char const* name;
  char const* description;
} directions[] = {{direction::to_device, "h2d", "to all devices"},
                  {direction::to_host, "d2h", "from all devices"},
                  {direction::both, "bidir", "both ways"}};

constexpr struct {
  copying_threads threads;
  char const* suffix;
  char const* description;
} thread_choices[] = {{copying_threads::one_each, "", ""},
                      {copying_threads::one_each_bound, "_bound", ", by node"},
                      {copying_threads::one, "_1thread", ", by one thread"}};

}  // namespace

void add_all_devices_cases(case_vector& cases) {
  if (roc::device::count() < 2) return;
  for (auto const& [which, way, way_description] : directions) {
    for (auto const& [memory, name] : {std::pair(memory_kind::pinned, "pinned"),
                                       std::pair(memory_kind::registered, "registered"),
                                       std::pair(memory_kind::pageable, "pageable")}) {
      for (auto const& [threads, suffix, threads_description] : thread_choices) {
        // Copies of other memory are only enqueued by each thread: one thread does the same.
        if (threads == copying_threads::one && memory != memory_kind::pageable) continue;
        std::string const description =
            fmt::format("{}, {}{}", name, way_description, threads_description);
        add_with_raw(cases,
                     {fmt::format("all/{}/{}{}", way, name, suffix), description,
                      accounting::payload, limiting_resource::device_link, false},
                     description + ", by HIP",
                     [=, which = which, memory = memory, threads = threads](
                         api_kind api, case_parameters const& parameters) {
                       return std::make_unique<all_devices_experiment>(
                           operands_of(memory, which), api, threads, parameters.bytes);
                     });
      }
    }
  }
}

}  // namespace rocbench
