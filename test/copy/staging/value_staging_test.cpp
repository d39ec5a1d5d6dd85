// SPDX-License-Identifier: MIT
// Staged copies on streams whose CPU work is done by threads of the library, for which the stream
// waits by values in memory (options::stream_staging).
#include <roc/roc.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "copy/staging/staging_driver.hpp"
#include "copy/staging/staging_pool.hpp"
#include "copy/staging/stream_ordered_staging.hpp"
#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/numbered_bytes.hpp"
#include "support/options.hpp"

namespace {

std::atomic<bool> refuses_threads = false;

}  // namespace

// Replaces the function of the C library for the whole program: std::thread throws if it fails.
extern "C" int pthread_create(pthread_t* thread, pthread_attr_t const* attributes,
                              void* (*start)(void*), void* argument) {
  if (refuses_threads) return EAGAIN;
  static auto* const original =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return original(thread, attributes, start, argument);
}

namespace {

using roc::test::bytes;
using roc::test::gate;
using roc::test::numbered;

roc::test::program_options const options_of_tests(roc::test::small_value_staging);

constexpr std::size_t length = 100'000;

// Never destroyed: a worker thread that is starting may still call the hook when the process ends.
struct recorded_calls {
  std::mutex mutex;
  std::map<std::string, unsigned> of_all_threads;
  std::set<std::string> of_other_threads;
  std::thread::id main_thread = std::this_thread::get_id();
};
recorded_calls& recorded = *new recorded_calls;

// Records the HIP calls of a scope.
class call_recorder {
 public:
  call_recorder() {
    std::lock_guard const lock(recorded.mutex);
    recorded.of_all_threads.clear();
    recorded.of_other_threads.clear();
    recorded.main_thread = std::this_thread::get_id();
    previous_ = roc::platform::set_call_hook([](roc::platform::call_record const& record) {
      std::lock_guard const hook_lock(recorded.mutex);
      ++recorded.of_all_threads[record.name];
      if (std::this_thread::get_id() != recorded.main_thread) {
        recorded.of_other_threads.insert(record.name);
      }
    });
  }
  ~call_recorder() { roc::platform::set_call_hook(previous_); }
  call_recorder(call_recorder const&) = delete;
  call_recorder& operator=(call_recorder const&) = delete;

  unsigned count(char const* name) const {
    std::lock_guard const lock(recorded.mutex);
    return recorded.of_all_threads[name];
  }
  std::set<std::string> of_other_threads() const {
    std::lock_guard const lock(recorded.mutex);
    return recorded.of_other_threads;
  }

 private:
  roc::platform::call_hook previous_;
};

bool is_threaded() { return roc::test::run_mode() == roc::test::mode::threaded; }

// The first two tests, because the pool's threads call HIP when they start.
TEST(ValueStaging, IsUsedOnlyIfTheThreadCanStart) {
  bytes const source = numbered(length, 1);
  roc::device_array<std::uint8_t> const array({length});
  bytes back(length);
  roc::stream const stream;
  {
    // Starts the other threads: those of the pool, and HIP's for the streams.
    roc::scoped_options const scope({.stream_staging = roc::stream_staging_method::host_functions});
    array.copy_to_device(source, stream, roc::borrow_source);
    stream.synchronize();
  }
  {
    call_recorder const calls;
    refuses_threads = true;
    array.copy_to_device(source, stream, roc::borrow_source);
    refuses_threads = false;
    EXPECT_EQ(0u, calls.count("hipStreamWaitValue64"));
    EXPECT_NE(0u, calls.count("hipLaunchHostFunc"));
    stream.synchronize();
  }
  call_recorder const calls;
  array.copy_to_device(source, stream, roc::borrow_source);
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_NE(0u, calls.count("hipStreamWaitValue64"));
  EXPECT_NE(0u, calls.count("hipStreamWriteValue64"));
  EXPECT_EQ(0u, calls.count("hipLaunchHostFunc"));
  EXPECT_EQ(source, back);
}

// A call of HIP may block until a copy is complete, which these threads complete.
TEST(ValueStaging, ThreadsOfTheLibraryCallHipOnlyWhenTheyStart) {
  bytes const source = numbered(length, 1);
  roc::device_array<std::uint8_t> const array({length});
  bytes back(length);
  roc::stream const stream;
  call_recorder const calls;
  for (int i = 0; i != 20; ++i) {
    array.copy_to_device(source, stream, roc::borrow_source);
    array.copy_to_host(back, stream);
  }
  stream.synchronize();
  EXPECT_EQ(source, back);
  for (std::string const& name : calls.of_other_threads()) {
    EXPECT_TRUE(name == "hipSetDevice" || name == "hipDeviceGetPCIBusId") << name;
  }
}

TEST(ValueStaging, HostFunctionsAreUsedIfTheOptionSaysSo) {
  roc::scoped_options const scope({.stream_staging = roc::stream_staging_method::host_functions});
  bytes const source = numbered(length, 2);
  roc::device_array<std::uint8_t> const array({length});
  bytes back(length);
  roc::stream const stream;
  call_recorder const calls;
  array.copy_to_device(source, stream, roc::borrow_source);
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_EQ(0u, calls.count("hipStreamWaitValue64"));
  EXPECT_NE(0u, calls.count("hipLaunchHostFunc"));
  EXPECT_EQ(source, back);
}

// A graph would contain waits for values that nobody writes. If the query fails, the stream may be
// captured too.
TEST(ValueStaging, HostFunctionsAreUsedIfTheStreamMayBeCaptured) {
  bytes const source = numbered(length, 2);
  roc::device_array<std::uint8_t> const array({length});
  array.copy_to_device(source);
  bytes back(length);
  roc::stream const stream;
  call_recorder const calls;
  ASSERT_TRUE(roc::platform::fail_call("hipStreamIsCapturing", 1, hipErrorUnknown));
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_EQ(0u, calls.count("hipStreamWaitValue64"));
  EXPECT_NE(0u, calls.count("hipLaunchHostFunc"));
  EXPECT_EQ(source, back);
}

TEST(ValueStaging, CopiesOfEverySizeAreRight) {
  constexpr std::size_t chunk = 4096;
  roc::stream const stream;
  for (std::size_t const size : {std::size_t{1}, std::size_t{255}, chunk - 1, chunk, chunk + 1,
                                 2 * chunk, 5 * chunk + 3, 6 * chunk, 7 * chunk, 40 * chunk + 1}) {
    for (std::size_t const threads : {1, 2, 8}) {
      roc::scoped_options const scope({.copy_threads = threads});
      bytes const source = numbered(size, static_cast<unsigned>(threads));
      roc::device_array<std::uint8_t> const array({size});
      array.fill(0);
      bytes back(size + 2, 0xee);
      array.copy_to_device(source, stream, roc::borrow_source);
      array.copy_to_host(roc::host_view<std::uint8_t>(back.data() + 1, {size}), stream);
      stream.synchronize();
      ASSERT_TRUE(std::equal(source.begin(), source.end(), back.begin() + 1))
          << size << " bytes, " << threads << " threads";
      ASSERT_EQ(0xee, back.front());
      ASSERT_EQ(0xee, back.back());
    }
  }
}

TEST(ValueStaging, StridedCopiesAndBatchesAreRight) {
  constexpr std::size_t rows = 3000, columns = 9;
  bytes const source = numbered(rows * columns, 5);
  roc::device_array<std::uint8_t, 2> const array({rows, columns});
  array.fill(0);
  roc::host_view const all(source.data(), roc::shape<2>{rows, columns});
  bytes back(rows * columns);
  roc::host_view const to(back.data(), roc::shape<2>{rows, columns});
  roc::stream const stream;
  auto const even = roc::slice(0, roc::none, 2);
  auto const odd = roc::slice(1, roc::none, 2);
  array(roc::all, even).copy_to_device(all(roc::all, even), stream, roc::borrow_source);
  array(roc::all, odd).copy_to_device(all(roc::all, odd), stream, roc::borrow_source);
  array(even, roc::all).copy_to_host(to(even, roc::all), stream);
  array(odd, roc::all).copy_to_host(to(odd, roc::all), stream);
  stream.synchronize();
  EXPECT_EQ(source, back);
  std::fill(back.begin(), back.end(), std::uint8_t{0});
  roc::copy_batch batch;
  for (std::size_t row = 0; row < rows; row += 3) {
    auto const index = static_cast<std::ptrdiff_t>(row);
    batch.add(array(index, roc::all), to(index, roc::all));
  }
  call_recorder const calls;
  batch.submit(stream);
  stream.synchronize();
  EXPECT_NE(0u, calls.count("hipStreamWaitValue64"));
  for (std::size_t i = 0; i != back.size(); ++i) {
    ASSERT_EQ(i / columns % 3 == 0 ? source[i] : 0, back[i]) << i;
  }
}

TEST(ValueStaging, BorrowedSourceIsReadInStreamOrder) {
  if (!gate::holds()) GTEST_SKIP() << "in mode inline, work is done by the call that enqueues it";
  bytes source = numbered(length, 1);
  roc::device_array<std::uint8_t> const array({length});
  bytes back(length);
  roc::stream const stream;
  gate stream_gate;
  stream_gate.close(stream);
  array.copy_to_device(source, stream, roc::borrow_source);
  array.copy_to_host(back, stream);
  EXPECT_EQ(0, back[1]);
  bytes const later = numbered(length, is_threaded() ? 9 : 1);
  std::copy(later.begin(), later.end(), source.begin());
  stream_gate.open();
  stream.synchronize();
  EXPECT_EQ(later, back);
}

TEST(ValueStaging, SeveralCopiesOnBusyStreamDoNotBlock) {
  if (!is_threaded()) {
    GTEST_SKIP() << "in the other modes nothing holds back the work that a call waits for";
  }
  bytes const source = numbered(length, 3);
  roc::device_array<std::uint8_t> const array({length});
  std::vector<bytes> back(6, bytes(length));
  roc::stream const stream;
  array.copy_to_host(back[0], stream);  // allocates the staging memory
  stream.synchronize();
  gate stream_gate;
  stream_gate.close(stream);
  auto enqueued = std::async(std::launch::async, [&] {
    for (bytes& destination : back) {
      array.copy_to_device(source, stream, roc::borrow_source);
      array.copy_to_host(destination, stream);
    }
  });
  EXPECT_EQ(std::future_status::ready, enqueued.wait_for(std::chrono::seconds(20)));
  stream_gate.open();
  enqueued.get();
  stream.synchronize();
  for (bytes const& destination : back) EXPECT_EQ(source, destination);
}

TEST(ValueStaging, StalledCopyDelaysNoOtherStream) {
  if (!is_threaded()) {
    GTEST_SKIP() << "in the other modes nothing holds back the work that a call waits for";
  }
  roc::scoped_options const scope({.staging_limit = 1 << 20});  // for both copies
  bytes const source = numbered(length, 4);
  roc::device_array<std::uint8_t> const array({length});
  array.copy_to_device(source);
  bytes stalled(length), back(length);
  roc::stream const first;
  roc::stream const second;
  gate first_gate;
  first_gate.close(first);
  array.copy_to_host(stalled, first);
  array.copy_to_host(back, second);
  second.synchronize();
  EXPECT_EQ(source, back);
  EXPECT_EQ(bytes(length), stalled);
  first_gate.open();
  first.synchronize();
  EXPECT_EQ(source, stalled);
}

// Each direction has staging memory of its own.
TEST(ValueStaging, UploadsThatHoldTheirStagingMemoryDelayNoDownload) {
  if (!is_threaded()) {
    GTEST_SKIP() << "in the other modes nothing holds back the work that a call waits for";
  }
  // Uses all four blocks, and fits into them whichever chunks are in the same block.
  constexpr std::size_t held = 52 << 10;
  bytes const source = numbered(length, 4), other_source = numbered(held, 5);
  roc::device_array<std::uint8_t> const array({length});
  roc::device_array<std::uint8_t> const other({held});
  array.copy_to_device(source);
  bytes back(length);
  roc::stream const first;
  roc::stream const second;
  gate first_gate;
  first_gate.close(first);
  other.copy_to_device(other_source, first);  // read now, so that all of it is staged
  auto copied = std::async(std::launch::async, [&] {
    array.copy_to_host(back, second);
    second.synchronize();
  });
  EXPECT_EQ(std::future_status::ready, copied.wait_for(std::chrono::seconds(20)));
  first_gate.open();
  copied.get();
  EXPECT_EQ(source, back);
}

// Each device has a thread that drives its transfers, threads that pack, and staging memory of its
// own.
TEST(ValueStaging, StalledCopyDelaysNoOtherDevice) {
  if (!is_threaded()) {
    GTEST_SKIP() << "in the other modes nothing holds back the work that a call waits for";
  }
  if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
  struct device_objects {
    explicit device_objects(int ordinal)
        : device_objects(roc::device_guard(roc::device(ordinal))) {}
    explicit device_objects(roc::device_guard const&) : array({length}) {}

    roc::device_array<std::uint8_t> array;
    roc::stream stream;
  };
  roc::scoped_options const scope({.staging_threshold = 0});  // copies without a stream are staged
  bytes const source = numbered(length, 4), later = numbered(length, 5);
  bytes stalled(length), back(length);
  device_objects const first(0);
  device_objects const second(1);
  for (device_objects const* const device : {&first, &second}) {  // allocates the staging memory
    device->array.copy_to_device(source, device->stream);
    device->array.copy_to_host(back, device->stream);
    device->stream.synchronize();
  }
  gate first_gate;
  first_gate.close(first.stream);
  first.array.copy_to_host(stalled, first.stream);
  second.array.copy_to_device(later, second.stream, roc::borrow_source);
  second.array.copy_to_host(back, second.stream);
  second.stream.synchronize();
  EXPECT_EQ(later, back);
  second.array.copy_to_device(source);
  second.array.copy_to_host(back);
  EXPECT_EQ(source, back);
  EXPECT_EQ(bytes(length), stalled);
  first_gate.open();
  first.stream.synchronize();
  EXPECT_EQ(source, stalled);
}

// The CPU's steps take longer than those of the device, which does nothing.
class timed_work final : public roc::transfer::staged_work {
 public:
  static constexpr std::size_t chunks = 40;

  std::size_t chunk_count() const noexcept override { return chunks; }
  std::size_t data_bytes(std::size_t) const noexcept override { return 100; }
  std::size_t description_bytes(std::size_t) const noexcept override { return 0; }
  std::size_t task_count(std::size_t) const noexcept override { return 1; }
  bool has_kernels() const noexcept override { return false; }
  void pack(std::size_t, std::size_t, std::byte*) const noexcept override { run_step(); }
  void unpack(std::size_t, std::size_t, std::byte const*) const noexcept override { run_step(); }
  void enqueue_device_step(std::size_t, roc::transfer::staging_slot const&) const override {}

  timed_work const* other = nullptr;
  mutable std::atomic<std::size_t> done_chunks = 0;
  mutable std::atomic<std::size_t> done_chunks_of_other = 0;  // when this transfer is complete

 private:
  void run_step() const noexcept {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    if (++done_chunks == chunks) done_chunks_of_other = other->done_chunks.load();
  }
};

// Two transfers of the same size begin at the same time. When the first one is complete, the other
// one is at least half done. The system may delay the threads of one device, so three rounds in a
// row, of many, must show that.
TEST(ValueStaging, TransfersOfTwoDevicesRunAtTheSameTime) {
  if (!is_threaded()) {
    GTEST_SKIP() << "in the other modes the transfers run while a call waits for one of them";
  }
  if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
  roc::scoped_options const scope({.copy_threads = 1});  // so that the device waits for the CPU
  std::vector<std::unique_ptr<roc::stream>> streams;
  for (int ordinal = 0; ordinal != 2; ++ordinal) {
    roc::device_guard const guard{roc::device(ordinal)};
    streams.push_back(std::make_unique<roc::stream>());
  }
  for (auto const kind :
       {roc::transfer::copy_kind::host_to_device, roc::transfer::copy_kind::device_to_host}) {
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    int fair_rounds = 0;  // in a row
    while (fair_rounds != 3 && std::chrono::steady_clock::now() < end) {
      std::array const works{std::make_shared<timed_work>(), std::make_shared<timed_work>()};
      gate gate_of_both;
      for (std::size_t i = 0; i != works.size(); ++i) {
        works[i]->other = works[1 - i].get();
        roc::device_guard const guard{roc::device(static_cast<int>(i))};
        gate_of_both.close(*streams[i]);
        auto* const driver = roc::transfer::driver_for(*streams[i]);
        ASSERT_NE(nullptr, driver);
        roc::transfer::enqueue_stream_ordered(works[i], kind, *streams[i], driver);
      }
      gate_of_both.open();
      for (auto const& stream : streams) stream->synchronize();
      std::size_t const done_by_later =
          std::min<std::size_t>(works[0]->done_chunks_of_other, works[1]->done_chunks_of_other);
      fair_rounds = done_by_later >= timed_work::chunks / 2 ? fair_rounds + 1 : 0;
    }
    EXPECT_EQ(3, fair_rounds);
  }
}

// The copy that was enqueued first waits for the one that was enqueued last.
TEST(ValueStaging, EarlierCopyMayWaitForLaterOne) {
  if (!is_threaded()) {
    GTEST_SKIP() << "in the other modes the stream that waits runs the work of the other one";
  }
  roc::scoped_options const scope({.staging_limit = 1 << 20});  // for both copies
  bytes const source = numbered(length, 4);
  roc::device_array<std::uint8_t> const array({length});
  array.copy_to_device(source);
  bytes first_back(length), second_back(length);
  roc::stream const first;
  roc::stream const second;
  gate first_gate;
  first_gate.close(first);
  array.copy_to_host(first_back, first);
  array.copy_to_host(second_back, second);
  // The host function of the gate ends when the second copy is complete.
  std::thread opener([&] {
    second.synchronize();
    first_gate.open();
  });
  first.synchronize();
  opener.join();
  EXPECT_EQ(source, first_back);
  EXPECT_EQ(source, second_back);
}

TEST(ValueStaging, OneThreadCopiesInBothDirections) {
  constexpr int rounds = 10;
  bytes const up = numbered(length, 6), down = numbered(length, 7);
  roc::device_array<std::uint8_t> const destination({length});
  roc::device_array<std::uint8_t> const source({length});
  source.copy_to_device(down);
  roc::stream const up_stream;
  roc::stream const down_stream;
  for (int i = 0; i != rounds; ++i) {
    destination.fill(0);
    bytes back(length);
    destination.copy_to_device(up, up_stream, roc::borrow_source);
    source.copy_to_host(back, down_stream);
    down_stream.synchronize();
    up_stream.synchronize();
    ASSERT_EQ(down, back);
    bytes there(length);
    destination.copy_to_host(there);
    ASSERT_EQ(up, there);
  }
}

TEST(ValueStaging, MoreStreamsThanStagingMemoryAndAuxiliaryStreams) {
  constexpr std::size_t streams = 24;
  bytes const source = numbered(length, 8);
  std::vector<std::unique_ptr<roc::stream>> all;
  std::vector<std::unique_ptr<roc::device_array<std::uint8_t>>> arrays;
  std::vector<bytes> back(streams, bytes(length));
  for (std::size_t i = 0; i != streams; ++i) {
    all.push_back(std::make_unique<roc::stream>());
    arrays.push_back(std::make_unique<roc::device_array<std::uint8_t>>(roc::shape<1>{length}));
  }
  for (int round = 0; round != 2; ++round) {
    for (std::size_t i = 0; i != streams; ++i) {
      arrays[i]->copy_to_device(source, *all[i], roc::borrow_source);
      arrays[i]->copy_to_host(back[i], *all[i]);
    }
    for (std::size_t i = 0; i != streams; ++i) {
      all[i]->synchronize();
      ASSERT_EQ(source, back[i]) << "stream " << i;
      std::fill(back[i].begin(), back[i].end(), std::uint8_t{0});
    }
  }
}

TEST(ValueStaging, ThreadsCopyOnStreamsOfTheirOwn) {
  constexpr std::size_t threads = 6;
  std::vector<std::future<bool>> results;
  for (unsigned i = 0; i != threads; ++i) {
    results.push_back(std::async(std::launch::async, [i] {
      bytes const source = numbered(length, i);
      roc::device_array<std::uint8_t> const array({length});
      roc::stream const stream;
      bool right = true;
      for (int round = 0; round != 10; ++round) {
        bytes back(length);
        array.copy_to_device(source, stream, roc::borrow_source);
        array.copy_to_host(back, stream);
        stream.synchronize();
        right = right && back == source;
      }
      return right;
    }));
  }
  for (auto& result : results) EXPECT_TRUE(result.get());
}

TEST(ValueStaging, StreamMayBeDestroyedAfterTheCall) {
  bytes const source = numbered(length, 9);
  roc::device_array<std::uint8_t> const array({length});
  bytes back(length);
  for (int i = 0; i != 10; ++i) {
    std::fill(back.begin(), back.end(), std::uint8_t{0});
    {
      roc::stream const stream;
      array.copy_to_device(source, stream, roc::borrow_source);
      array.copy_to_host(back, stream);
    }
    roc::device().synchronize();
    ASSERT_EQ(source, back);
  }
}

// Copies of a strided array use both streams of a pair, because kernels gather and scatter its
// chunks. Others use one.
struct copied_array {
  explicit copied_array(bool is_strided)
      : memory({2 * length}),
        view(memory(is_strided ? roc::slice(0, roc::none, 2) : roc::slice(0, length))) {}

  roc::device_array<std::uint8_t> memory;
  roc::device_view<std::uint8_t, 1> view;
};

std::string name_of(bool is_strided) { return is_strided ? "OnBothStreams" : "OnOneStream"; }

// Each call of HIP that the copies make fails in turn. After an error nothing accesses the caller's
// memory, and the copy before it on the stream is complete and right.
class ValueStagingFailure : public testing::TestWithParam<std::tuple<char const*, bool>> {};

TEST_P(ValueStagingFailure, LeavesEarlierCopiesAndTheCallersMemoryIntact) {
  auto const [call, is_strided] = GetParam();
  bytes const first_source = numbered(length, 1);
  copied_array const first_array(is_strided), second_array(is_strided);
  auto const& first = first_array.view;
  auto const& second = second_array.view;
  second.fill(77);
  roc::stream const stream;
  bytes warm(length);
  first.copy_to_device(first_source, stream, roc::borrow_source);
  first.copy_to_host(warm, stream);
  stream.synchronize();
  bool has_failed = true;
  unsigned failures = 0;
  for (unsigned nth = 1; has_failed && nth != 300; nth += 1 + nth / 8) {
    first.fill(0);
    bytes first_back(length), second_back(length), source = numbered(length, 3);
    first.copy_to_device(first_source, stream, roc::borrow_source);
    first.copy_to_host(first_back, stream);
    ASSERT_TRUE(roc::platform::fail_call(call, nth, hipErrorUnknown));
    // The end of the copy before is awaited also if the state of a stream cannot be queried.
    ASSERT_TRUE(roc::platform::fail_call("hipStreamQuery", 1, hipErrorUnknown,
                                         roc::platform::failing_uses::all_later));
    auto const fails = [](auto copy) {
      try {
        copy();
        return false;
      } catch (roc::error const&) {
        return true;
      }
    };
    has_failed = fails([&] { second.copy_to_host(second_back, stream); });
    bytes const after_error = has_failed ? second_back : bytes();
    bool const upload_has_failed =
        !has_failed && fails([&] { second.copy_to_device(source, stream, roc::borrow_source); });
    roc::platform::clear_failures();
    if (upload_has_failed) std::fill(source.begin(), source.end(), std::uint8_t{1});
    stream.synchronize();
    ASSERT_EQ(first_source, first_back) << call << ':' << nth;
    if (upload_has_failed) {
      bytes const original = numbered(length, 3);
      bytes there(length);
      second.copy_to_host(there);
      for (std::size_t i = 0; i != length; ++i) {
        ASSERT_TRUE(there[i] == 77 || there[i] == original[i]) << call << ':' << nth;
      }
    }
    if (has_failed) {
      ASSERT_EQ(after_error, second_back) << call << ':' << nth;
    } else {
      ASSERT_EQ(bytes(length, 77), second_back) << call << ':' << nth;
    }
    second.fill(77);
    has_failed = has_failed || upload_has_failed;
    failures += has_failed ? 1 : 0;
  }
  EXPECT_NE(0u, failures);
  EXPECT_FALSE(has_failed) << "the last use did not fail";
  call_recorder const calls;
  first.copy_to_host(warm, stream);
  stream.synchronize();
  EXPECT_EQ(first_source, warm);
  EXPECT_NE(0u, calls.count("hipStreamWaitValue64")) << "the method is still in use";
}

INSTANTIATE_TEST_SUITE_P(OfCalls, ValueStagingFailure,
                         testing::Combine(testing::Values("hipStreamWaitValue64",
                                                          "hipStreamWriteValue64", "hipMemcpyAsync",
                                                          "hipStreamWaitEvent", "hipEventRecord"),
                                          testing::Bool()),
                         [](auto const& tested) {
                           return std::get<0>(tested.param) + name_of(std::get<1>(tested.param));
                         });

// The library cannot wait for the work that a failed call has enqueued, so nothing does the CPU's
// part of it. The device must not wait for that. Once it is idle, the pair of streams and its
// counters are used again.
class ValueStagingAbandoned : public testing::TestWithParam<std::tuple<bool, bool>> {};

TEST_P(ValueStagingAbandoned, DeviceGoesOnAndTheStreamsAreUsedAgain) {
  auto const [is_upload, is_strided] = GetParam();
  bytes const source = numbered(length, 1);
  bytes const other_source = numbered(length, 2);
  copied_array const first_array(is_strided), failing_array(is_strided);
  auto const& array = first_array.view;
  auto const& failing = failing_array.view;
  array.copy_to_device(source);
  failing.copy_to_device(source);
  bytes first(length), back(length);
  roc::stream const stream;
  auto const copy = [&, uploads = is_upload] {
    if (uploads) {
      failing.copy_to_device(other_source, stream, roc::borrow_source);
    } else {
      failing.copy_to_host(back, stream);
    }
  };
  array.copy_to_host(first, stream);
  copy();  // both allocate the staging memory
  stream.synchronize();
  unsigned waits = 0;
  {
    call_recorder const calls;
    copy();
    waits = calls.count("hipStreamWaitEvent");
    stream.synchronize();
  }
  std::fill(first.begin(), first.end(), std::uint8_t{0});
  std::fill(back.begin(), back.end(), std::uint8_t{0});
  gate stream_gate;
  stream_gate.close(stream);
  array.copy_to_host(first, stream);
  auto const all_later = roc::platform::failing_uses::all_later;
  ASSERT_TRUE(roc::platform::fail_call("hipStreamWaitEvent", waits, hipErrorUnknown));
  ASSERT_TRUE(roc::platform::fail_call("hipStreamSynchronize", 1, hipErrorUnknown, all_later));
  ASSERT_TRUE(roc::platform::fail_call("hipDeviceSynchronize", 1, hipErrorUnknown, all_later));
  EXPECT_THROW(copy(), roc::error);
  roc::platform::clear_failures();
  bytes const after_error = back;
  stream_gate.open();
  auto synchronized = std::async(std::launch::async, [] {
    for (int i = 0; i != roc::device::count(); ++i) roc::device(i).synchronize();
  });
  if (synchronized.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
    std::fputs("the device waits for a call that has failed\n", stderr);
    std::abort();
  }
  synchronized.get();
  EXPECT_EQ(source, first);
  EXPECT_EQ(after_error, back);
  call_recorder const calls;
  for (unsigned round = 1; round != 4; ++round) {
    bytes const sent = numbered(length, 2 + round);
    failing.copy_to_device(sent, stream, roc::borrow_source);
    failing.copy_to_host(back, stream);
    stream.synchronize();
    EXPECT_EQ(sent, back);
  }
  EXPECT_NE(0u, calls.count("hipStreamWaitValue64")) << "the method is still in use";
  EXPECT_EQ(0u, calls.count("hipStreamCreateWithFlags"));
}

INSTANTIATE_TEST_SUITE_P(OfDirections, ValueStagingAbandoned,
                         testing::Combine(testing::Bool(), testing::Bool()),
                         [](auto const& tested) {
                           return (std::get<0>(tested.param) ? "Upload" : "Download") +
                                  name_of(std::get<1>(tested.param));
                         });

// After an error of a kernel, every call returns that error, and the device executes nothing more.
// Here it executes the work after all, once the gate is open.
TEST(ValueStaging, CopiesOfAFailedDeviceEnd) {
  if (!gate::holds()) GTEST_SKIP() << "in mode inline, work is done by the call that enqueues it";
  bytes const source = numbered(length, 1), other_source = numbered(length, 2);
  roc::device_array<std::uint8_t> const array({length}), other_array({length});
  array.copy_to_device(source);
  roc::stream const stream, other_stream;
  auto* const driver = roc::transfer::driver_for(stream);
  ASSERT_NE(nullptr, driver);
  static std::atomic<int> lines_about_host_functions = 0;
  auto const log = roc::set_log_hook([](char const* line) noexcept {
    if (std::strstr(line, "host function") != nullptr) ++lines_about_host_functions;
  });
  roc::event reached;
  for (auto const& synchronize :
       {std::function<void()>([&] { stream.synchronize(); }),
        std::function<void()>([&] { static_cast<void>(stream.query()); }),
        std::function<void()>([&] { reached.synchronize(); }),
        std::function<void()>([&] { static_cast<void>(reached.query()); }),
        std::function<void()>([] { roc::device().synchronize(); })}) {
    bytes back(length);
    gate stream_gate;
    stream_gate.close(stream);
    stream_gate.close(other_stream);
    array.copy_to_host(back, stream);
    other_array.copy_to_device(other_source, other_stream, roc::borrow_source);
    reached.record(stream);
    EXPECT_LE(length, driver->pending_bytes(false));
    EXPECT_LE(length, driver->pending_bytes(true));
    for (char const* const call :
         {"hipStreamSynchronize", "hipStreamQuery", "hipDeviceSynchronize", "hipEventSynchronize",
          "hipEventQuery", "hipEventRecord", "hipMemcpyAsync", "hipStreamWaitEvent",
          "hipStreamWaitValue64", "hipStreamWriteValue64"}) {
      ASSERT_TRUE(roc::platform::fail_call(call, 1, hipErrorLaunchFailure,
                                           roc::platform::failing_uses::all_later));
    }
    EXPECT_THROW(synchronize(), roc::error);
    EXPECT_EQ(0u, driver->pending_bytes(false));
    EXPECT_EQ(0u, driver->pending_bytes(true));
    EXPECT_THROW(array.copy_to_host(back, stream), roc::error);
    EXPECT_EQ(0u, driver->pending_bytes(false));
    roc::platform::clear_failures();
    stream_gate.open();
    auto synchronized = std::async(std::launch::async, [] {
      for (int i = 0; i != roc::device::count(); ++i) {
        roc::device_guard const guard{roc::device(i)};
        ROCARRAY_HIP(hipDeviceSynchronize);
      }
    });
    if (synchronized.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
      std::fputs("the device waits for a copy that has ended\n", stderr);
      std::abort();
    }
    synchronized.get();
    EXPECT_EQ(bytes(length), back) << "the caller may have freed it";
    for (roc::stream const* const affected : {&stream, &other_stream}) {
      EXPECT_THROW(affected->synchronize(), roc::error) << "its copy was ended";
      EXPECT_NO_THROW(affected->synchronize());
    }
    EXPECT_EQ(0u, roc::transfer::staging_pool::count_lost_blocks());
    call_recorder const calls;
    array.copy_to_host(back, stream);
    stream.synchronize();
    EXPECT_EQ(source, back);
    EXPECT_NE(0u, calls.count("hipStreamWaitValue64")) << "the method is still in use";
  }
  EXPECT_EQ(0, lines_about_host_functions);
  roc::set_log_hook(log);
}

// Both streams wait for the program's, the first one for the second, and the program's for the
// first one. With one stream there are only two of these waits.
TEST(ValueStaging, ChunksWithKernelsUseBothStreamsOfAPair) {
  roc::stream const stream;
  bytes const source = numbered(length, 1);
  for (bool const is_strided : {false, true}) {
    copied_array const array(is_strided);
    array.view.copy_to_device(source, stream, roc::borrow_source);
    stream.synchronize();
    call_recorder const calls;
    array.view.copy_to_device(source, stream, roc::borrow_source);
    EXPECT_EQ(is_strided ? 4u : 2u, calls.count("hipStreamWaitEvent"));
    stream.synchronize();
  }
}

// Keeps the slots of its chunks. The device does nothing for them.
class recorded_work final : public roc::transfer::staged_work {
 public:
  std::size_t chunk_count() const noexcept override { return 6; }
  std::size_t data_bytes(std::size_t) const noexcept override { return 100; }
  std::size_t description_bytes(std::size_t) const noexcept override { return 0; }
  std::size_t scratch_bytes(std::size_t) const noexcept override { return 100; }
  std::size_t task_count(std::size_t) const noexcept override { return 1; }
  bool has_kernels() const noexcept override { return true; }
  void pack(std::size_t, std::size_t, std::byte*) const noexcept override {}
  void unpack(std::size_t, std::size_t, std::byte const*) const noexcept override {}
  void enqueue_device_step(std::size_t, roc::transfer::staging_slot const& slot) const override {
    slots.push_back(slot);
  }

  mutable std::vector<roc::transfer::staging_slot> slots;
};

TEST(ValueStaging, EachStreamOfAPairHasScratchMemory) {
  roc::stream const stream;
  for (auto const kind :
       {roc::transfer::copy_kind::host_to_device, roc::transfer::copy_kind::device_to_host}) {
    auto const work = std::make_shared<recorded_work>();
    auto* const driver = roc::transfer::driver_for(stream);
    ASSERT_NE(nullptr, driver);
    roc::transfer::enqueue_stream_ordered(work, kind, stream, driver);
    stream.synchronize();
    ASSERT_EQ(work->chunk_count(), work->slots.size());
    auto const& slots = work->slots;
    EXPECT_NE(slots[0].stream.handle(), slots[1].stream.handle());
    EXPECT_NE(nullptr, slots[0].scratch);
    EXPECT_NE(nullptr, slots[1].scratch);
    EXPECT_NE(slots[0].scratch, slots[1].scratch);
    for (std::size_t chunk = 2; chunk != slots.size(); ++chunk) {
      EXPECT_EQ(slots[chunk % 2].stream.handle(), slots[chunk].stream.handle());
      EXPECT_EQ(slots[chunk % 2].scratch, slots[chunk].scratch);
    }
  }
}

// Blocks of this size have room for one buffer. Another copy holds one of two.
TEST(ValueStaging, OneStreamIsUsedIfThereIsScratchMemoryForOneOnly) {
  roc::options smaller = roc::get_options();
  smaller.staging_block = 4096;
  smaller.staging_limit = 2 * smaller.staging_block;
  roc::scoped_options const scope(smaller);
  roc::stream const stream, other;
  using roc::transfer::staging_pool;
  auto const held =
      staging_pool::device_scratch(staging_pool::client::user_upload).acquire(4096, other);
  auto const work = std::make_shared<recorded_work>();
  auto* const driver = roc::transfer::driver_for(stream);
  ASSERT_NE(nullptr, driver);
  roc::transfer::enqueue_stream_ordered(work, roc::transfer::copy_kind::host_to_device, stream,
                                        driver);
  stream.synchronize();
  ASSERT_EQ(work->chunk_count(), work->slots.size());
  for (roc::transfer::staging_slot const& slot : work->slots) {
    EXPECT_EQ(work->slots[0].stream.handle(), slot.stream.handle());
    EXPECT_EQ(work->slots[0].scratch, slot.scratch);
    EXPECT_NE(nullptr, slot.scratch);
  }
}

// In a process of its own, because the library remembers it.
TEST(ValueStagingDeathTest, HostFunctionsAreUsedIfTheDeviceCannotWaitForValues) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        bytes const source = numbered(length, 2);
        roc::device_array<std::uint8_t> const array({length});
        array.copy_to_device(source);
        roc::platform::fail_call("hipStreamWaitValue64", 1, hipErrorNotSupported);
        bool right = true;
        roc::stream const stream;
        for (int round = 0; round != 2; ++round) {
          call_recorder const calls;
          bytes back(length);
          array.copy_to_host(back, stream);
          stream.synchronize();
          right = right && back == source && calls.count("hipLaunchHostFunc") != 0 &&
                  calls.count("hipStreamWaitValue64") == (round == 0 ? 1 : 0);
        }
        std::_Exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// The CPU waits for the device only before it packs into memory that an earlier chunk has used.
TEST(ValueStaging, UploadOfOneChunkWritesOneValue) {
  roc::stream const stream;
  bytes const source = numbered(1000, 1);
  roc::device_array<std::uint8_t> const array({source.size()});
  array.copy_to_device(source, stream, roc::borrow_source);
  stream.synchronize();
  {
    call_recorder const calls;
    array.copy_to_device(source, stream, roc::borrow_source);
    EXPECT_EQ(1u, calls.count("hipStreamWriteValue64"));
    EXPECT_EQ(1u, calls.count("hipStreamWaitValue64"));
  }
  bytes back(source.size());
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_EQ(source, back);
}

TEST(ValueStagingDeathTest, ProcessMayEndWithPendingCopies) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        // Not destroyed before the process ends.
        auto* const array = new roc::device_array<std::uint8_t>({length});
        auto* const back = new bytes(length);
        auto* const source = new bytes(numbered(length, 1));
        auto* const stream = new roc::stream;
        array->copy_to_device(*source, *stream, roc::borrow_source);
        array->copy_to_host(*back, *stream);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
