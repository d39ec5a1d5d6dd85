// SPDX-License-Identifier: MIT
// Options of the process and of a scope. The environment's part is in environment_test.cpp.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/options.hpp"
#include "copy/staging/staging_pool.hpp"

namespace {

using roc::copy_path;
using roc::get_options;
using roc::log_level;
using roc::options;
using roc::scoped_options;
using roc::set_options;

// Restores the options of the process at the end of the test.
class Options : public testing::Test {
 protected:
  ~Options() override { set_options(previous_); }

  options const previous_ = get_options();
};

// Returns what another thread sees.
options options_of_other_thread() {
  options result;
  std::thread([&] { result = get_options(); }).join();
  return result;
}

std::string stderr_of(std::function<void()> const& f) {
  testing::internal::CaptureStderr();
  f();
  return testing::internal::GetCapturedStderr();
}

std::size_t occurrences(std::string const& text, std::string const& part) {
  std::size_t count = 0;
  for (auto i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++count;
  return count;
}

TEST_F(Options, NewObjectHasTheValuesInEffect) {
  EXPECT_EQ(get_options(), options());
  set_options({.copy_threads = 7});
  EXPECT_EQ(7u, options().copy_threads);
  options const changed{.pinned_cache = 5};
  EXPECT_EQ(5u, changed.pinned_cache);
  EXPECT_EQ(7u, changed.copy_threads);
  scoped_options const scope({.copy_threads = 8});
  EXPECT_EQ(8u, options().copy_threads);
}

TEST_F(Options, OfTheProcessApplyToAllThreads) {
  set_options({.path = copy_path::staged, .memcpy2d_min_row = 77});
  EXPECT_EQ(copy_path::staged, get_options().path);
  EXPECT_EQ(77u, get_options().memcpy2d_min_row);
  EXPECT_EQ(get_options(), options_of_other_thread());
}

TEST_F(Options, AreRoundedToUsableSizes) {
  set_options({.staging_block = 10000, .staging_chunk = 20000, .register_chunk = 5000});
  EXPECT_EQ(9984u, roc::base::options().chunk_bytes);
  EXPECT_EQ(65536u, get_options().register_chunk);
  set_options({.staging_chunk = 5000, .register_chunk = 200'000});
  EXPECT_EQ(4864u, roc::base::options().chunk_bytes);
  EXPECT_EQ(196'608u, get_options().register_chunk);
}

TEST_F(Options, ThatAreNotNamedKeepTheirValues) {
  set_options({.staging_chunk = 1 << 20});
  set_options({.staging_block = 1 << 16});
  EXPECT_EQ(1u << 16, roc::base::options().chunk_bytes);
  set_options({.staging_block = 4 << 20});
  EXPECT_EQ(1u << 20, get_options().staging_chunk);
  EXPECT_EQ(1u << 20, roc::base::options().chunk_bytes);
}

TEST_F(Options, ThatAreInvalidAreRejectedWithMemberAndValue) {
  struct invalid {
    options values;
    char const* message;
  };
  std::vector<invalid> const cases = {
      {{.copy_threads = 0}, "options::copy_threads is out of range: 0; use a number from 1 to 256"},
      {{.copy_threads = 257},
       "options::copy_threads is out of range: 257; use a number from 1 to 256"},
      {{.staging_threshold = SIZE_MAX},
       "options::staging_threshold is out of range: 18446744073709551615; use a number from 0 to "
       "1099511627776"},
      {{.staging_limit = 4095},
       "options::staging_limit is out of range: 4095; use a number from 4096 to 1099511627776"},
      {{.staging_block = 0},
       "options::staging_block is out of range: 0; use a number from 4096 to 1099511627776"},
      {{.staging_chunk = 1},
       "options::staging_chunk is out of range: 1; use a number from 4096 to 1099511627776"},
      {{.memcpy2d_min_row = 0},
       "options::memcpy2d_min_row is out of range: 0; use a number from 1 to 1099511627776"},
      {{.pinned_cache = SIZE_MAX - 1},
       "options::pinned_cache is out of range: 18446744073709551614; use a number from 0 to "
       "1099511627776"},
      {{.register_chunk = 1},
       "options::register_chunk is out of range: 1; use a number from 4096 to 1099511627776"},
      {{.path = static_cast<copy_path>(8)},
       "options::path is invalid: 8; use an enumerator of copy_path"},
      {{.memory_resource = static_cast<roc::default_resource>(3)},
       "options::memory_resource is invalid: 3; use an enumerator of default_resource"},
      {{.stream_staging = static_cast<roc::stream_staging_method>(3)},
       "options::stream_staging is invalid: 3; use an enumerator of stream_staging_method"},
      {{.log = static_cast<log_level>(6)},
       "options::log is invalid: 6; use an enumerator of log_level"},
  };
  for (auto const& [values, message] : cases) {
    for (bool const in_scope : {false, true}) {
      try {
        if (in_scope) {
          scoped_options const scope(values);
        } else {
          set_options(values);
        }
        ADD_FAILURE() << "no error: " << message;
      } catch (roc::error const& error) {
        std::string const text = error.what();
        char const* const operation = in_scope ? "scoped_options" : "set_options";
        EXPECT_TRUE(text.starts_with(operation + std::string(" at options_test.cpp:"))) << text;
        EXPECT_EQ(message, text.substr(text.find(": ") + 2));
        EXPECT_EQ(std::errc::invalid_argument, error.code());
      }
      EXPECT_EQ(previous_, get_options());
    }
  }
}

TEST_F(Options, OfManyDistinctValuesAreAllInEffect) {
  for (std::size_t round = 0; round != 3; ++round) {
    for (std::size_t row = 1; row != 50; ++row) {
      set_options({.memcpy2d_min_row = row});
      ASSERT_EQ(row, get_options().memcpy2d_min_row);
    }
  }
}

using ScopedOptions = Options;

// The names of all members, and a text that differs from their default. The structured binding does
// not compile if a member is added: add it here too.
TEST_F(Options, AreSetAndReadByTheNamesOfMembers) {
  [[maybe_unused]] auto const& [path, copy_threads, staging_threshold, staging_limit, staging_block,
                                staging_chunk, stream_staging, memcpy2d_min_row, pinned_cache,
                                pageable_cache, register_chunk, memory_resource, peer_access, log,
                                trace_calls, leak_check, profiler_ranges] = previous_;
  options changed = previous_;
  auto const set = [&](char const* member, char const* text, std::string const& expected) {
    roc::base::set_member(changed, member, text);
    EXPECT_EQ(expected, roc::base::member_text(changed, member)) << member;
    options again = previous_;
    roc::base::set_member(again, member, expected);
    EXPECT_EQ(roc::base::member_text(changed, member), roc::base::member_text(again, member));
  };
  set("path", "dma_2d", "dma_2d");
  set("copy_threads", "3", "3");
  set("staging_threshold", "5K", "5120");
  set("staging_limit", "2M", "2097152");
  set("staging_block", "8K", "8192");
  set("staging_chunk", "4096", "4096");
  set("stream_staging", "host_functions", "host_functions");
  set("memcpy2d_min_row", "17", "17");
  set("pinned_cache", "0", "0");
  set("pageable_cache", "1M", "1048576");
  set("register_chunk", "1G", "1073741824");
  set("memory_resource", "hip_async", "hip_async");
  set("peer_access", "0", "0");
  set("log", "debug", "debug");
  set("trace_calls", "1", "1");
  set("leak_check", "1", "1");
  set("profiler_ranges", "0", "0");
  EXPECT_EQ(copy_path::dma_2d, changed.path);
  EXPECT_EQ(3u, changed.copy_threads);
  EXPECT_EQ(5u << 10, changed.staging_threshold);
  EXPECT_EQ(2u << 20, changed.staging_limit);
  EXPECT_EQ(8u << 10, changed.staging_block);
  EXPECT_EQ(4u << 10, changed.staging_chunk);
  EXPECT_EQ(roc::stream_staging_method::host_functions, changed.stream_staging);
  EXPECT_EQ(17u, changed.memcpy2d_min_row);
  EXPECT_EQ(0u, changed.pinned_cache);
  EXPECT_EQ(1u << 20, changed.pageable_cache);
  EXPECT_EQ(1u << 30, changed.register_chunk);
  EXPECT_EQ(roc::default_resource::hip_async, changed.memory_resource);
  EXPECT_FALSE(changed.peer_access);
  EXPECT_EQ(log_level::debug, changed.log);
  EXPECT_TRUE(changed.trace_calls && changed.leak_check && !changed.profiler_ranges);
}

TEST_F(Options, InvalidTextOfAMemberChangesNothing) {
  options changed = previous_;
  auto const message = [&](char const* member, char const* text) -> std::string {
    try {
      roc::base::set_member(changed, member, text);
    } catch (roc::error const& error) {
      EXPECT_EQ(error.code(), std::errc::invalid_argument);
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ("the text of options::copy_threads is invalid: \"257\"; use a number from 1 to 256",
            message("copy_threads", "257"));
  EXPECT_NE(std::string::npos, message("pinned_cache", "-1").find("also with K, M or G"));
  EXPECT_NE(std::string::npos, message("copy_threads", "1K").find("invalid"));
  EXPECT_EQ(
      "the text of options::memory_resource is invalid: \"x\"; use one of pool, hip, hip_async",
      message("memory_resource", "x"));
  EXPECT_NE(std::string::npos, message("leak_check", "true").find("use 0 or 1"));
  EXPECT_NE(std::string::npos,
            message("thread", "1").find("there is no option of the name \"thread\"; use one of"));
  EXPECT_EQ(previous_, changed);
}

TEST_F(ScopedOptions, ApplyToTheCallingThreadUntilTheScopeEnds) {
  {
    scoped_options const scope({.path = copy_path::packed});
    EXPECT_EQ(copy_path::packed, get_options().path);
    EXPECT_EQ(previous_, options_of_other_thread());
  }
  EXPECT_EQ(previous_, get_options());
}

TEST_F(ScopedOptions, Nest) {
  scoped_options const outer({.copy_threads = 2, .memcpy2d_min_row = 10});
  {
    scoped_options const inner({.memcpy2d_min_row = 20});
    EXPECT_EQ(2u, get_options().copy_threads);
    EXPECT_EQ(20u, get_options().memcpy2d_min_row);
  }
  EXPECT_EQ(10u, get_options().memcpy2d_min_row);
}

TEST_F(ScopedOptions, EndDuringUnwinding) {
  try {
    scoped_options const scope({.copy_threads = 2});
    throw std::runtime_error("thrown in the scope");
  } catch (std::runtime_error const&) {
  }
  EXPECT_EQ(previous_, get_options());
}

TEST_F(ScopedOptions, WinOverLaterOptionsOfTheProcess) {
  {
    scoped_options const scope({.copy_threads = 2});
    options changed = previous_;
    changed.copy_threads = 3;
    set_options(changed);
    EXPECT_EQ(2u, get_options().copy_threads);
    EXPECT_EQ(3u, options_of_other_thread().copy_threads);
  }
  EXPECT_EQ(3u, get_options().copy_threads);
}

TEST_F(ScopedOptions, OfEachThreadAreItsOwn) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (std::size_t i = 1; i != 9; ++i) {
    threads.emplace_back([&wrong, i] {
      for (std::size_t round = 0; round != 1000; ++round) {
        scoped_options const scope({.memcpy2d_min_row = i + round});
        if (get_options().memcpy2d_min_row != i + round) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(0, wrong);
}

// Blocks of an unusual size, which the calling thread and the workers allocate. Their log lines
// show the options of the thread that allocates.
TEST_F(ScopedOptions, ApplyToWorkerThreads) {
  std::vector<int> host(1 << 20);
  std::iota(host.begin(), host.end(), 0);
  roc::device_array<int> const device({host.size()});
  std::vector<int> back(host.size());
  constexpr std::size_t block = 24 << 10;
  auto const text = stderr_of([&] {
    scoped_options const scope({.copy_threads = 4,
                                .staging_threshold = 0,
                                .staging_limit = 2 * block,
                                .staging_block = block,
                                .log = log_level::info});
    roc::copy(host, device);
    roc::copy(device, back);
  });
  EXPECT_EQ(host, back);
  std::string const line = "rocarray: info: 24576 bytes of pinned memory for copies: block ";
  std::size_t const lines = occurrences(text, "\n");
  EXPECT_GE(lines, 2u) << text;  // for the pools of uploads and of downloads
  EXPECT_EQ(lines, occurrences(text, line)) << text;
  EXPECT_EQ(lines, occurrences(text, " of 2\n")) << text;
}

TEST_F(ScopedOptions, ApplyToEnqueuedWorkAfterTheScope) {
  roc::stream const stream;
  std::vector<int> host(100'000);
  std::iota(host.begin(), host.end(), 0);
  roc::device_array<int> const device({host.size()});
  std::vector<int> back(host.size());
  {
    scoped_options const scope(
        {.copy_threads = 1, .staging_limit = 8192, .staging_block = 4096, .staging_chunk = 4096});
    roc::copy(host, device, stream);
    roc::copy(device, back, stream);
  }
  stream.synchronize();
  EXPECT_EQ(host, back);
}

// Returns how many blocks of this size the pool gives at once, with a limit of `max_blocks`.
std::size_t blocks_at_once(std::size_t block, std::size_t max_blocks) {
  using roc::transfer::staging_pool;
  scoped_options const scope({.staging_limit = max_blocks * block, .staging_block = block});
  staging_pool& pool = staging_pool::pinned(staging_pool::client::internal_download);
  EXPECT_EQ(block, pool.block_bytes());
  std::vector<roc::transfer::staging_buffer_ptr> buffers;
  do {
    buffers.push_back(pool.try_acquire(block, {}));
  } while (buffers.back() != nullptr);
  std::size_t const count = buffers.size() - 1;
  buffers.clear();
  roc::stream_ref().synchronize();  // the blocks are free then
  return count;
}

TEST_F(ScopedOptions, RaiseAndLowerTheStagingLimit) {
  constexpr std::size_t block = 20 << 10;
  EXPECT_EQ(3u, blocks_at_once(block, 3));
  EXPECT_EQ(3u, blocks_at_once(block, 2));  // existing blocks are kept
  EXPECT_EQ(5u, blocks_at_once(block, 5));
  EXPECT_EQ(2u, blocks_at_once(2 * block, 2));  // of another size
}

TEST_F(ScopedOptions, SetTheLimitOfThePinnedCache) {
  roc::trim_pinned_cache(0);
  {
    scoped_options const scope({.pinned_cache = 0});
    EXPECT_EQ(0u, roc::pinned_cache().limit);
    static_cast<void>(roc::pinned_array<int>(1000));
    EXPECT_EQ(0u, roc::pinned_cache().blocks);
  }
  static_cast<void>(roc::pinned_array<int>(1000));
  EXPECT_EQ(1u, roc::pinned_cache().blocks);
}

TEST_F(ScopedOptions, TraceCallsOfTheirThreadOnly) {
  roc::device_array<int> const device({10});
  auto const pinned = roc::pinned_array<int>(10);
  std::string const line = "rocarray: hipMemcpyAsync -> 0\n";
  auto const text = stderr_of([&] {
    scoped_options const scope({.trace_calls = true});
    roc::copy(pinned, device);
    std::thread([&] { roc::copy(pinned, device); }).join();
  });
  EXPECT_EQ(1u, occurrences(text, line)) << text;
  EXPECT_EQ("", stderr_of([&] { roc::copy(pinned, device); }));
  EXPECT_EQ(1u, occurrences(stderr_of([&] {
                              set_options({.trace_calls = true});
                              roc::copy(pinned, device);
                              set_options(previous_);
                            }),
                            line));
  EXPECT_EQ("", stderr_of([&] { roc::copy(pinned, device); }));
}

// A copy keeps the options with which it began: a chunk always fits into a block.
TEST_F(Options, MayChangeWhileOtherThreadsCopy) {
  std::vector<options> values;
  for (std::size_t const block : {4 << 10, 64 << 10, 4 << 20}) {
    for (copy_path const path : {copy_path::none, copy_path::dma, copy_path::staged}) {
      values.push_back({.path = path,
                        .copy_threads = block >> 12,
                        .staging_limit = 2 * block,
                        .staging_block = block});
      values.back().copy_threads = std::clamp<std::size_t>(values.back().copy_threads, 1, 6);
    }
  }
  std::atomic<int> running = 3;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i != 3; ++i) {
    threads.emplace_back([&, i] {
      roc::stream const stream;
      std::vector<int> host(40'000);
      std::iota(host.begin(), host.end(), i);
      roc::device_array<int> const device({host.size()});
      for (int round = 0; round != 100; ++round) {
        std::vector<int> back(host.size(), -1);
        if (round % 2 == 0) {
          roc::copy(host, device);
          roc::copy_batch batch;
          batch.add(device, back).submit();
        } else {
          roc::copy(host, device, stream);
          roc::copy(device, back, stream);
          stream.synchronize();
        }
        if (back != host) ++wrong;
      }
      --running;
    });
  }
  for (std::size_t i = 0; running != 0; ++i) {
    set_options(values[i % values.size()]);
    std::this_thread::yield();
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(0, wrong);
}

}  // namespace
