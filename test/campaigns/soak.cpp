// SPDX-License-Identifier: MIT
// Threads that copy, allocate, register, batch, and make and destroy streams for as long as asked.
// Every copy is checked. At times all threads pause between two copies, and the caches are emptied:
// what the library and the process hold then must not grow any more in the last third of the time.
// It is printed after every tenth of the time. Copies on streams use values in every second thread,
// and host functions in the others.
//
//   soak [--seed N] [--seconds S] [--threads N] [--scenario NAME] [--exclusive 1] [--reduce 0]
//
// --scenario NAME: all threads run only this scenario, such as "partly registered".
// --exclusive 1: no other process uses the device, so that growth of a GPU's memory is a failure
// too.
//
// If a scenario fails, it is run again alone in other processes, with 1, 2, 4 and so on threads for
// a few seconds each, and the smallest command that fails is printed. --reduce 0: only reports.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <malloc.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "campaigns/arguments.hpp"
#include "copy/staging/staging_pool.hpp"
#include "support/environment.hpp"

namespace {

using element = std::uint32_t;

struct {
  std::uint64_t seed = 0;
  double seconds = 3;
  unsigned threads = 4;
  std::string scenario;  // empty: all
  bool exclusive = false;
  bool reduces = true;
} arguments;

constexpr std::size_t kibibyte = std::size_t{1} << 10;
constexpr std::size_t mebibyte = std::size_t{1} << 20;

constexpr std::size_t staging_limit = 4 * mebibyte;
constexpr std::size_t staging_block = 256 * kibibyte;

using roc::transfer::staging_pool;
constexpr std::array clients{staging_pool::client::user_upload, staging_pool::client::user_download,
                             staging_pool::client::internal_upload,
                             staging_pool::client::internal_download};

// AddressSanitizer keeps freed memory, and ThreadSanitizer a history: the resident memory grows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool checks_resident = false;
#else
constexpr bool checks_resident = true;
#endif

// What the process and the library hold, in bytes.
struct figures {
  static constexpr std::size_t count = 7;
  static constexpr std::array<char const*, count> names{
      "resident", "pinned", "staging", "device scratch", "pool", "arrays", "device"};
  std::array<std::size_t, count> bytes{};

  // Returns true if growth of a figure is a failure.
  static bool is_checked(std::size_t figure) {
    if (figure == 0) return checks_resident;
    return figure != 6 || roc::test::on_cpu() || arguments.exclusive;
  }

  // Returns the growth that is no failure. Staging memory is kept, up to its limit: it is added
  // when several copies happen to be pending. The heap takes some ten seconds until its gaps are
  // large enough.
  static std::size_t tolerance(std::size_t figure) {
    if (figure == 0) return (4 + static_cast<std::size_t>(60 / arguments.seconds)) * mebibyte;
    if (figure == 2 || figure == 3) return clients.size() * staging_limit;
    // A GPU's driver allocates for streams and kernels by 2 MiB.
    if (figure == 6) return roc::test::on_cpu() ? mebibyte : 32 * mebibyte;
    return 0;
  }
};

std::size_t resident_bytes() {
  std::size_t total = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  int const read = std::fscanf(file, "%zu %zu", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

// Empties the caches and returns what is left. No thread may use the library.
figures sample() {
  roc::device().synchronize();
  roc::device_resource(0).trim();
  roc::trim_pinned_cache();
  roc::trim_pageable_cache();
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
  figures result;
  result.bytes[0] = resident_bytes();
  result.bytes[1] = roc::pinned_resource().statistics().reserved_bytes;  // arrays and the cache
  for (auto const client : clients) {
    result.bytes[2] += staging_pool::pinned(client).size_bytes();
    result.bytes[3] += staging_pool::device_scratch(client).size_bytes();
  }
  result.bytes[4] = roc::device().memory_statistics().reserved_bytes;
  result.bytes[5] = roc::device().memory_statistics().current_bytes;
  auto const device = roc::device().memory();
  result.bytes[6] = device.total - device.free;
  return result;
}

// Prints the figures at once, also into a pipe: the process may be killed before the end.
void print(figures const& now, int percent) {
  std::printf("%3d %% of the time, in KiB:", percent);
  for (std::size_t i = 0; i < figures::count; ++i) {
    std::printf("%s %s %zu", i == 0 ? "" : ",", figures::names[i], now.bytes[i] / kibibyte);
  }
  std::puts("");
  std::fflush(stdout);
}

// Checks that all staging memory up to the limit can be acquired: none was lost. No thread may use
// the library.
void expect_usable(staging_pool& pool) {
  roc::device().synchronize();
  std::vector<roc::transfer::staging_buffer_ptr> buffers;
  for (std::size_t bytes = 0; bytes < staging_limit; bytes += staging_block) {
    buffers.push_back(pool.try_acquire(pool.block_bytes(), {}));
    if (buffers.back() == nullptr) {
      ADD_FAILURE() << "of " << staging_limit << " bytes of staging memory only " << bytes
                    << " can be used";
      return;
    }
  }
}

// The failures of all threads; the threads stop at the first one.
class failures {
 public:
  void add(char const* scenario, std::string text) {
    std::lock_guard const lock(mutex_);
    if (texts_.empty()) scenario_ = scenario;
    if (texts_.size() < 4) texts_.push_back(std::move(text));
    any_ = true;
  }
  bool any() const { return any_; }
  // The following are to be called once the threads have ended.
  std::vector<std::string> const& texts() const { return texts_; }
  std::string const& scenario() const { return scenario_; }  // that has failed first

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
  std::string scenario_;
  std::atomic<bool> any_ = false;
};

// Lets the threads run, pause and end.
class conductor {
 public:
  // Called by each thread between its rounds. Returns false if the thread is to end.
  bool goes_on() {
    std::unique_lock lock(mutex_);
    ++paused_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !pauses_ || stops_; });
    --paused_;
    return !stops_;
  }
  // Calls f() while `threads` threads pause.
  template <class F>
  void while_paused(std::size_t threads, F f) {
    std::unique_lock lock(mutex_);
    pauses_ = true;
    changed_.wait(lock, [&] { return paused_ == threads; });
    f();
    pauses_ = false;
    changed_.notify_all();
  }
  void stop() {
    std::lock_guard const lock(mutex_);
    stops_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t paused_ = 0;
  bool pauses_ = false, stops_ = false;
};

// The work of one thread. Each scenario copies numbers along one path and checks the result.
class soaking_thread {
 public:
  soaking_thread(unsigned number, failures& failed)
      : number_(number), failed_(failed), random_(arguments.seed * 1000 + number) {}

  struct scenario {
    char const* name;
    void (soaking_thread::*run)();
  };

  static std::vector<scenario> all_scenarios() {
    return {
        {"contiguous", &soaking_thread::contiguous},
        {"strided", &soaking_thread::strided},
        {"pinned", &soaking_thread::pinned},
        {"mapped", &soaking_thread::mapped},
        {"registered", &soaking_thread::registered},
        {"partly registered", &soaking_thread::partly_registered},
        {"borrowed", &soaking_thread::borrowed},
        {"batch", &soaking_thread::batch},
        {"new streams", &soaking_thread::new_streams},
        {"allocations", &soaking_thread::allocations},
        {"host function", &soaking_thread::host_function},
        {"mapping", &soaking_thread::mapping},
    };
  }
  // Returns the scenario with the name that was asked for, or all.
  static std::vector<scenario> chosen_scenarios() {
    std::vector<scenario> chosen = all_scenarios();
    if (!arguments.scenario.empty()) {
      std::erase_if(chosen, [](scenario const& item) { return item.name != arguments.scenario; });
    }
    return chosen;
  }

  void run(conductor& threads) {
    std::vector<scenario> const scenarios = chosen_scenarios();
    // Both methods at once, whatever the default of the platform.
    roc::scoped_options const both_methods(
        {.stream_staging = number_ % 2 == 0 ? roc::stream_staging_method::values
                                            : roc::stream_staging_method::host_functions});
    while (threads.goes_on()) {
      if (failed_.any()) continue;
      scenario const& next = scenarios[below(scenarios.size())];
      name_ = next.name;
      try {
        (this->*next.run)();
      } catch (std::exception const& error) {
        fail(error.what());
      }
      ++rounds_;
    }
  }

  std::size_t rounds() const { return rounds_; }
  std::size_t copies() const { return copies_; }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  // Mostly small, at times larger than one chunk of staging memory.
  std::size_t random_count() {
    return 1 + below(one_in(8) ? mebibyte / 4 : one_in(2) ? 20'000 : 500);
  }

  void fail(std::string const& what) {
    failed_.add(name_, "soak --seed " + std::to_string(arguments.seed) + ": thread " +
                           std::to_string(number_) + ", round " + std::to_string(rounds_) + ", " +
                           name_ + ", " + std::to_string(count_) + " elements: " + what);
  }

  std::vector<element> numbers(std::size_t count) {
    count_ = count;
    first_ += 12345;
    std::vector<element> result(count);
    for (std::size_t i = 0; i < count; ++i) result[i] = first_ + static_cast<element>(i);
    return result;
  }

  // Compares what a copy has written with the numbers made last, from `begin`.
  template <class Range>
  void expect(Range const& found, std::size_t begin = 0) {
    ++copies_;
    for (std::size_t i = 0; i < found.size(); ++i) {
      element const right = first_ + static_cast<element>(begin + i);
      if (found.data()[i] == right) continue;
      return fail("element " + std::to_string(i) + " is " + std::to_string(found.data()[i]) +
                  " instead of " + std::to_string(right));
    }
  }

  void contiguous() {
    auto source = numbers(random_count());
    auto const there = roc::to_device(source, stream_);
    std::fill(source.begin(), source.end(), 0u);  // has been read
    auto const copied = roc::device_array_like(there, stream_);
    roc::copy(there, copied, stream_);
    copied.copy_to_host(source, stream_);
    stream_.synchronize();
    expect(source);
    std::vector<element> back(source.size());
    there.copy_to_host(back);
    expect(back);
  }

  void strided() {
    std::size_t const rows = 1 + below(60), columns = 1 + below(90);
    auto const source = numbers(rows * columns);
    roc::host_view<element const, 2> const matrix(source.data(), {rows, columns});
    roc::device_array<element, 2> const padded({rows, columns + 3}, roc::order::f, stream_);
    auto const part = padded(roc::all, roc::slice(2, columns + 2));
    roc::copy(matrix, part, stream_);
    roc::device_array<element, 2> const turned({columns, rows}, roc::order::c, stream_);
    roc::copy(part.transpose(), turned, stream_);
    std::vector<element> back(source.size());
    turned.view().transpose().copy_to_host(roc::host_view<element, 2>(back.data(), {rows, columns}),
                                           stream_);
    stream_.synchronize();
    expect(back);
  }

  void pinned() {
    auto const source = numbers(random_count());
    auto array = roc::pinned_array<element>(roc::shape<1>{source.size()});
    std::copy(source.begin(), source.end(), array.data());
    auto const there = roc::to_device(array, stream_);
    auto back = roc::pinned_array<element>(roc::shape<1>{source.size()});
    there.copy_to_host(back, stream_);
    if (one_in(2)) return;  // the destructors wait
    stream_.synchronize();
    expect(back);
  }

  void mapped() {
    auto const source = numbers(1 + below(3000));
    auto array = roc::mapped_array<element>(roc::shape<1>{source.size()});
    roc::copy(source, array.device_view(), stream_);
    stream_.synchronize();
    expect(array);
  }

  void registered() {
    auto memory = numbers(pages * 2);
    auto const source = page_of(memory, 1 + below(pages / 1024 - 1));
    auto guard = roc::register_host(source);
    auto const there = roc::to_device(source, stream_);
    std::vector<element> back(source.size());
    there.copy_to_host(back, stream_);
    if (one_in(2)) {
      stream_.synchronize();
      guard.deregister();
    } else {
      guard.deregister();  // waits for the copy that reads the source
      stream_.synchronize();
    }
    expect(back, static_cast<std::size_t>(source.data() - memory.data()));
  }

  void partly_registered() {
    auto memory = numbers(pages * 2);
    auto const whole = page_of(memory, 3);
    auto const guard =
        roc::register_host(whole(roc::slice(0, 1024)), whole(roc::slice(1024, 2048)));
    auto const there = roc::to_device(whole, stream_);
    std::fill(whole.data(), whole.data() + whole.size(), 0u);  // pageable: has been read
    there(roc::slice(0, 1024)).copy_to_host(whole(roc::slice(0, 1024)), stream_);
    there(roc::slice(1024, 3072)).copy_to_host(whole(roc::slice(1024, 3072)), stream_);
    roc::device_array<element> const again(whole.size(), stream_);
    again.copy_to_device(whole, stream_);  // after the two copies
    std::vector<element> back(whole.size());
    again.copy_to_host(back, stream_);
    stream_.synchronize();
    expect(back, static_cast<std::size_t>(whole.data() - memory.data()));
  }

  void borrowed() {
    auto const source = numbers(random_count());
    roc::device_array<element> const there(source.size(), stream_);
    roc::copy(source, there, stream_, roc::borrow_source);
    std::vector<element> back(source.size());
    roc::copy(there, back, stream_, {.threads = 1 + below(3)});
    stream_.synchronize();
    expect(back);
  }

  void batch() {
    auto const source = numbers(64 * 50);
    roc::device_array<element, 2> const there({50, 64}, roc::order::c, stream_);
    std::vector<element> back(source.size());
    roc::host_view<element const, 2> const from(source.data(), {50, 64});
    roc::host_view<element, 2> const to(back.data(), {50, 64});
    roc::copy_batch up, down;
    for (std::size_t i = 0; i < 50; ++i) up.add(from(i, roc::all), there(i, roc::all));
    for (std::size_t i = 0; i < 64; ++i) down.add(there(roc::all, i), to(roc::all, i));
    up.submit(stream_);
    if (one_in(2)) {
      down.submit();
    } else {
      down.submit(stream_);
      stream_.synchronize();
    }
    expect(back);
  }

  void new_streams() {
    auto const source = numbers(1 + below(5000));
    roc::device_array<element> const there(source.size());
    roc::event uploaded;
    {
      roc::stream const first;
      there.copy_to_device(source, first);
      uploaded.record(first);
    }
    std::vector<element> back(source.size());
    roc::stream const second(roc::non_blocking);
    second.wait(uploaded);
    there.copy_to_host(back, second);
    second.synchronize();
    expect(back);
    if (!one_in(4)) return;
    stream_ = roc::stream();
  }

  void allocations() {
    auto const source = numbers(1 + below(2000));
    roc::stream const other;
    std::vector<roc::device_array<element>> arrays;
    for (int i = 0; i < 12; ++i) {
      arrays.emplace_back(random_count(), one_in(2) ? stream_ : other);
      arrays.back().fill(7, other);
      if (one_in(3)) arrays.erase(arrays.begin());  // may be in use
    }
    roc::device_array<element> const last(source.size(), stream_);
    last.copy_to_device(source, stream_);
    arrays.clear();
    std::vector<element> back(source.size());
    last.copy_to_host(back, stream_);
    stream_.synchronize();
    expect(back);
  }

  void host_function() {
    auto back = numbers(1 + below(3000));
    auto const there = roc::to_device(back, stream_);
    roc::fill(back, element{0}, stream_);
    there.copy_to_host(back, stream_);
    element sum = 0;
    stream_.launch_host_function([&] {
      for (element const x : back) sum += x;
    });
    stream_.synchronize();
    expect(back);
    element right = 0;
    for (element const x : back) right += x;
    if (sum != right) fail("the host function has read other elements");
  }

  void mapping() {
    auto const source = numbers(1 + below(2000));
    roc::device_array<element> const there(source.size(), stream_);
    auto const view = there.view();
    {
      auto access = roc::map(view, roc::access::write, stream_);
      std::copy(source.begin(), source.end(), access.data());
    }
    auto const access = roc::map(view, roc::access::read, stream_);
    expect(std::vector<element>(access.data(), access.data() + source.size()));
  }

  static constexpr std::size_t pages = 8 * 1024;  // elements in 8 pages of 4 KiB

  // Returns `count` pages of the memory, from a boundary between pages.
  static roc::host_view<element> page_of(std::vector<element>& memory, std::size_t count) {
    auto const address = reinterpret_cast<std::uintptr_t>(memory.data());
    std::size_t const skipped = (4096 - address % 4096) % 4096 / sizeof(element);
    return {memory.data() + skipped, roc::shape<1>{count * 1024}};
  }

  unsigned number_;
  failures& failed_;
  std::mt19937_64 random_;
  roc::stream stream_;
  std::size_t rounds_ = 0, copies_ = 0, count_ = 0;
  element first_ = 0;
  char const* name_ = "";
};

// Returns the command that runs the scenario, or all scenarios if it is empty.
std::string command_of(std::string const& scenario, double seconds, unsigned threads) {
  char text[200];
  std::snprintf(text, sizeof text, "--seed %llu --seconds %g --threads %u",
                static_cast<unsigned long long>(arguments.seed), seconds, threads);
  return text + (scenario.empty() ? std::string() : " --scenario \"" + scenario + "\"");
}

// Runs the scenario alone in other processes, and prints the smallest command that fails. The time
// limit ends a process that hangs.
void reduce(std::string const& scenario) {
  constexpr double seconds = 3;
  std::string const program = "'" + std::filesystem::read_symlink("/proc/self/exe").string() + "'";
  for (unsigned threads = 1;; threads = std::min(2 * threads, arguments.threads)) {
    std::string const command = command_of(scenario, seconds, threads);
    bool const is_smaller = scenario != arguments.scenario || threads < arguments.threads;
    std::string const quiet =
        "timeout -s KILL 60 " + program + " " + command + " --reduce 0 >/dev/null 2>&1";
    if (is_smaller && std::system(quiet.c_str()) != 0) {
      std::printf("fails with fewer scenarios or threads: soak %s\n", command.c_str());
      return;
    }
    if (threads >= arguments.threads) break;
  }
  std::printf(
      "\"%s\" alone did not fail with up to %u threads in %g s each; use the whole command\n",
      scenario.c_str(), arguments.threads, seconds);
}

TEST(Soak, MemoryStopsGrowing) {
  std::string names;
  for (auto const& scenario : soaking_thread::all_scenarios()) {
    names += (names.empty() ? "" : ", ") + std::string(scenario.name);
  }
  ASSERT_FALSE(soaking_thread::chosen_scenarios().empty())
      << "there is no scenario \"" << arguments.scenario << "\"; use one of: " << names;
  std::printf("soak %s\n",
              command_of(arguments.scenario, arguments.seconds, arguments.threads).c_str());
  roc::set_options({.staging_threshold = 0,
                    .staging_limit = staging_limit,
                    .staging_block = staging_block,
                    .staging_chunk = 64 * kibibyte,
                    .pinned_cache = 4 * mebibyte});
  failures failed;
  conductor conducts;
  std::vector<std::unique_ptr<soaking_thread>> work;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < arguments.threads; ++i) {
    work.push_back(std::make_unique<soaking_thread>(i, failed));
    threads.emplace_back([thread = work.back().get(), &conducts] { thread->run(conducts); });
  }
  constexpr int samples_per_third = 10;
  std::array<std::array<std::size_t, figures::count>, 3> largest{};  // of each third
  for (int i = 0; i < 3 * samples_per_third && !failed.any(); ++i) {
    std::this_thread::sleep_for(
        std::chrono::duration<double>(arguments.seconds / (3 * samples_per_third)));
    figures now;
    conducts.while_paused(threads.size(), [&] { now = sample(); });
    if ((i + 1) % 3 == 0) print(now, (i + 1) * 10 / 3);
    for (std::size_t k = 0; k < figures::count; ++k) {
      auto& most = largest[static_cast<std::size_t>(i / samples_per_third)][k];
      most = std::max(most, now.bytes[k]);
    }
  }
  conducts.stop();
  for (auto& thread : threads) thread.join();
  std::size_t rounds = 0, copies = 0;
  for (auto const& thread : work) {
    rounds += thread->rounds();
    copies += thread->copies();
  }
  std::printf("%zu rounds, %zu checked copies\n", rounds, copies);
  for (auto const& text : failed.texts()) ADD_FAILURE() << text;
  if (failed.any() && arguments.reduces) reduce(failed.scenario());
  EXPECT_GT(copies, 0u);
  for (auto const client : clients) {
    expect_usable(staging_pool::pinned(client));
    expect_usable(staging_pool::device_scratch(client));
  }
  for (std::size_t i = 0; i < figures::count; ++i) {
    std::printf("%-14s largest in each third: %zu %zu %zu KiB\n", figures::names[i],
                largest[0][i] / kibibyte, largest[1][i] / kibibyte, largest[2][i] / kibibyte);
    if (failed.any() || !figures::is_checked(i)) continue;
    EXPECT_LE(largest[2][i], largest[1][i] + figures::tolerance(i))
        << figures::names[i] << " memory grows: at most " << figures::tolerance(i)
        << " bytes more in the last third than in the second are expected";
  }
}

}  // namespace

int main(int count, char** values) {
  char const* const seed = std::getenv("ROCARRAY_TEST_SEED");
  arguments.seed = seed != nullptr ? std::strtoull(seed, nullptr, 10) : std::random_device{}();
  return roc::test::run_campaign(
      count, values,
      {{"--seed", [](char const* text) { arguments.seed = std::strtoull(text, nullptr, 10); }},
       {"--seconds", [](char const* text) { arguments.seconds = std::strtod(text, nullptr); }},
       {"--threads",
        [](char const* text) {
          arguments.threads = static_cast<unsigned>(std::strtoul(text, nullptr, 10));
        }},
       {"--scenario", [](char const* text) { arguments.scenario = text; }},
       {"--reduce",
        [](char const* text) { arguments.reduces = std::strtol(text, nullptr, 10) != 0; }},
       {"--exclusive",
        [](char const* text) { arguments.exclusive = std::strtol(text, nullptr, 10) != 0; }}});
}
