// SPDX-License-Identifier: MIT
// Every call that a copy makes fails once: the error names it, nothing is lost, and the same copy
// works right afterwards.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "platform/call.hpp"

namespace {

namespace platform = roc::platform;

// Workers call HIP too.
std::mutex seen_mutex;
std::set<std::string> seen;

// The calls that `work` makes when nothing fails.
template <class F>
std::set<std::string> calls_of(F work) {
  seen.clear();
  auto const before = platform::set_call_hook(
      [](platform::call_record const& record) {
        std::lock_guard const lock(seen_mutex);
        seen.insert(record.name);
      });
  work();
  platform::set_call_hook(before);
  std::lock_guard const lock(seen_mutex);
  return seen;
}

template <class F>
void fail_each_call(F work) {
  work();  // staging memory and events exist afterwards
  auto const log = roc::set_log_hook([](char const*) noexcept {});
  for (std::string const& name : calls_of(work)) {
    if (name == "hipGetLastError") continue;
    ASSERT_TRUE(platform::fail_call(name.c_str(), 1, hipErrorLaunchFailure)) << name;
    try {
      work();
      // A failing destructor's call reaches the log hook, not us.
    } catch (roc::error const& error) {
      EXPECT_EQ(name, error.call());
      EXPECT_EQ(hipErrorLaunchFailure, error.code().value());
    }
    platform::clear_failures();
    EXPECT_NO_THROW(work()) << "after a failing " << name;
  }
  roc::set_log_hook(log);
}

TEST(CopyFailure, Pageable) {
  std::vector<int> const source(5000, 3);
  roc::device_array<int> const array({5000});
  fail_each_call([&] {
    std::vector<int> back(5000);
    array.copy_to_device(source);
    array.copy_to_host(back);
    if (back != source) throw std::logic_error("wrong bytes");
  });
}

TEST(CopyFailure, PageableOnAStream) {
  std::vector<int> const source(5000, 4);
  roc::device_array<int> const array({5000});
  roc::stream const stream;
  fail_each_call([&] {
    std::vector<int> back(5000);
    auto const guard = stream.auto_synchronize();
    array.copy_to_device(source, stream);
    array.copy_to_host(back, stream);
    stream.synchronize();
    if (back != source) throw std::logic_error("wrong bytes");
  });
}

// The copy may be on its way when noting it fails: the array that it writes must wait for it.
TEST(CopyFailure, IntoANewArrayOnAStream) {
  roc::device_array<int> const array({5000});
  array.copy_to_device(std::vector<int>(5000, 6));
  roc::stream const stream;
  fail_each_call([&] {
    auto const back = array.copy_to_host(stream);
    stream.synchronize();
    if (back(4999) != 6) throw std::logic_error("wrong bytes");
  });
}

TEST(CopyFailure, Strided) {
  std::vector<int> const source(5000, 5);
  roc::device_array<int, 2> const array({50, 100});
  fail_each_call([&] {
    std::vector<int> back(5000);
    array.transpose().copy_to_device(source);
    array.transpose().copy_to_host(back);
    if (back != source) throw std::logic_error("wrong bytes");
  });
}

// All ways that a piece of a batch can go, at once and on a stream.
TEST(CopyFailure, Batch) {
  std::vector<int> const source(5000, 7);
  roc::host_array<int, 1> pinned({5000}, roc::order::c, roc::host_memory::pinned);
  roc::device_array<int> const first({5000});
  roc::device_array<int> const second({5000});
  roc::stream const stream;
  for (bool const on_stream : {false, true}) {
    fail_each_call([&] {
      std::vector<int> back(5000);
      auto const guard = stream.auto_synchronize();
      roc::copy_batch batch;
      for (std::ptrdiff_t i = 0; i != 5000; i += 500) {
        auto const part = roc::slice(i, i + 400);
        roc::host_view const from(source.data() + i, roc::shape<1>{400});
        roc::host_view const to(back.data() + i, roc::shape<1>{400});
        batch.add(from, first(part)).add(first(part), pinned(part));
        batch.add(pinned(part), second(part)).add(second(part), to);
      }
      if (on_stream) {
        batch.submit(stream);
      } else {
        batch.submit();
      }
      stream.synchronize();
      if (back[1] != 7 || back[4899] != 7 || back[450] != 0) throw std::logic_error("wrong bytes");
    });
  }
}

TEST(CopyFailure, NoStagingMemoryIsOutOfMemory) {
  // A process of its own: staging memory that exists already would be used.
  EXPECT_EXIT(
      {
        std::vector<int> const source(10, 1);
        roc::device_array<int> const array({10});
        platform::fail_call("hipHostMalloc", 1, hipErrorOutOfMemory);
        try {
          array.copy_to_device(source);
        } catch (roc::out_of_memory const& error) {
          std::exit(std::string(error.call()) == "hipHostMalloc" ? 0 : 2);
        }
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
