// SPDX-License-Identifier: MIT
// ROCARRAY_HOST_CHECK: accesses to memory of pending work and to device memory are reported with
// both places, and right programs have no report. Each test is a child process, because a report
// changes the exit code.
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <roc/memcpy.hpp>
#include <roc/roc.hpp>

#include "platform/host/support.hpp"

namespace roc::test {
namespace {

// Accesses that the compiler can neither remove nor move. Reports name the callers of these
// functions, because they are in namespace roc.
template <class T>
T read(T const& item) {
  return *const_cast<T const volatile*>(&item);
}
template <class T>
void write(T& item, T value) {
  *const_cast<T volatile*>(&item) = value;
}

}  // namespace
}  // namespace roc::test

namespace {

using namespace roc::test;

constexpr std::size_t count = 1000;

// A line of this file, as reports name it.
std::string line(unsigned number) { return "access_checker_test.cpp:" + std::to_string(number); }

// The pattern of a report: `access` is the text between the places.
std::string report(unsigned accessed, std::string const& access, unsigned enqueued) {
  return "^rocarray: .*" + line(accessed) + " " + access + ".* enqueued at .*" + line(enqueued) +
         " on (the default stream|stream 0x[0-9a-f]+), which has not been "
         "synchronized yet; synchronize the stream first\n";
}

std::string const summary =
    "rocarray: ROCARRAY_HOST_CHECK reported errors: 1; the exit code is 66\n$";

auto const has_report = testing::ExitedWithCode(66);
auto const has_none = testing::ExitedWithCode(0);

struct pending_download {
  roc::stream stream;
  roc::device_array<float> device{{count}};
};

class HostCheckDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(HostCheckDeathTest, ReadOfPendingDestinationIsReported) {
  unsigned const enqueued = __LINE__ + 4;
  auto const program = [] {
    pending_download const p;
    std::vector<float> h(count);
    p.device.copy_to_host(h, p.stream);
    static_cast<void>(read(h[7]));
    p.stream.synchronize();
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_report,
              report(enqueued + 1,
                     "reads memory of a pending copy: byte 28 of 4000 bytes at 0x[0-9a-f]+, the "
                     "destination of the copy",
                     enqueued) +
                  summary);
}

TEST_F(HostCheckDeathTest, WriteToPendingDestinationIsReported) {
  unsigned const enqueued = __LINE__ + 4;
  auto const program = [] {
    pending_download const p;
    auto h = roc::pinned_array<float>(count);
    p.device.copy_to_host(h, p.stream);
    write(h(1), 2.0f);
    p.stream.synchronize();
    return 0;
  };
  EXPECT_EXIT(
      std::exit(program()), has_report,
      report(enqueued + 1, "writes memory of a pending copy: byte 4 of 4000", enqueued) + summary);
}

TEST_F(HostCheckDeathTest, WriteToPendingSourceIsReportedButNoRead) {
  unsigned const enqueued = __LINE__ + 4;
  auto const program = [] {
    pending_download p;
    auto h = roc::pinned_array<float>(count);
    p.device.copy_to_device(h, p.stream);
    static_cast<void>(read(h(2)));
    write(h(2), 2.0f);
    p.stream.synchronize();
    return 0;
  };
  EXPECT_EXIT(
      std::exit(program()), has_report,
      report(enqueued + 2, "writes memory of a pending copy: byte 8 of 4000 bytes at .* the source",
             enqueued) +
          summary);
}

TEST_F(HostCheckDeathTest, WriteToBorrowedSourceIsReported) {
  unsigned const enqueued = __LINE__ + 4;
  auto const program = [] {
    pending_download p;
    std::vector<float> h(count);
    p.device.copy_to_device(h, p.stream, roc::borrow_source);
    write(h[999], 2.0f);
    p.stream.synchronize();
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_report,
              report(enqueued + 1, "writes .* the source of the copy", enqueued) + summary);
}

TEST_F(HostCheckDeathTest, CallOfHipNamesTheLineThatMadeIt) {
  unsigned const enqueued = __LINE__ + 7;
  auto const program = [] {
    void* h = nullptr;
    void* d = nullptr;
    ok(hipHostMalloc(&h, 64, 0));
    ok(hipMalloc(&d, 64));
    auto* const bytes = static_cast<unsigned char*>(h);
    ok(hipMemcpyAsync(h, d, 64, hipMemcpyDefault, nullptr));
    static_cast<void>(read(bytes[3]));
    ok(hipDeviceSynchronize());
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_report,
              report(enqueued + 1, "reads memory of a pending copy: byte 3 of 64 .* destination",
                     enqueued) +
                  summary);
}

// A pointer, so that the compiler calls the function of the C library.
void* (*volatile copy_bytes)(void*, void const*, std::size_t) = std::memcpy;

TEST_F(HostCheckDeathTest, ReadOfSmallPinnedDestinationByTheCLibraryIsReported) {
  unsigned const enqueued = __LINE__ + 7;
  auto const program = [] {
    void* pinned = nullptr;
    void* d = nullptr;
    char result[8];
    ok(hipHostMalloc(&pinned, 8, 0));
    ok(hipMalloc(&d, 8));
    ok(hipMemcpyAsync(pinned, d, 8, hipMemcpyDefault, nullptr));
    copy_bytes(result, pinned, 8);
    ok(hipDeviceSynchronize());
    return 0;
  };
  EXPECT_EXIT(
      std::exit(program()), has_report,
      report(enqueued + 1, "reads memory of a pending copy: byte 0 of 8", enqueued) + summary);
}

// Functions for strings read blocks that begin before the string.
TEST_F(HostCheckDeathTest, StringAfterADestinationOfThePinnedAllocationMayBeRead) {
  auto const program = [] {
    void* pinned = nullptr;
    void* d = nullptr;
    ok(hipHostMalloc(&pinned, 64, 0));
    ok(hipMalloc(&d, 40));
    char* const text = static_cast<char*>(pinned) + 40;
    std::strcpy(text, "a string");
    ok(hipMemcpyAsync(pinned, d, 40, hipMemcpyDefault, nullptr));
    std::size_t (*volatile length_of)(char const*) = std::strlen;
    std::size_t const length = length_of(text);
    ok(hipDeviceSynchronize());
    return length == 8 ? 0 : 1;
  };
  EXPECT_EXIT(std::exit(program()), has_none, "^$");
}

TEST_F(HostCheckDeathTest, CapturedLaunchOfAGraphIsNoPendingWork) {
  unsigned const enqueued = __LINE__ + 23;
  auto const program = [] {
    hipStream_t const stream = make_stream(hipStreamNonBlocking);
    void* pinned = nullptr;
    void* d = nullptr;
    ok(hipHostMalloc(&pinned, 8192, 0));
    ok(hipMalloc(&d, 8192));
    auto const* const bytes = static_cast<char*>(pinned);
    hipGraph_t graph = nullptr;
    hipGraphExec_t inner = nullptr;
    hipGraphExec_t outer = nullptr;
    ok(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    ok(hipMemcpyAsync(pinned, d, 8192, hipMemcpyDefault, stream));
    ok(hipStreamEndCapture(stream, &graph));
    ok(hipGraphInstantiateWithFlags(&inner, graph, 0));
    ok(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    ok(hipGraphLaunch(inner, stream));
    ok(hipStreamEndCapture(stream, &graph));
    ok(hipGraphInstantiateWithFlags(&outer, graph, 0));
    static_cast<void>(read(bytes[5]));
    ok(hipGraphLaunch(outer, stream));
    ok(hipStreamSynchronize(stream));
    static_cast<void>(read(bytes[6]));
    ok(hipGraphLaunch(outer, stream));
    static_cast<void>(read(bytes[7]));
    ok(hipStreamSynchronize(stream));
    return 0;
  };
  EXPECT_EXIT(
      std::exit(program()), has_report,
      report(enqueued + 1, "reads memory of a pending copy: byte 7 of 8192", enqueued) + summary);
}

TEST_F(HostCheckDeathTest, QueryMayReadAnAwaitedNumberThatPendingWorkWrites) {
  auto const program = [] {
    hipStream_t const waiting = make_stream(hipStreamNonBlocking);
    hipStream_t const writing = make_stream(hipStreamNonBlocking);
    void* number = nullptr;
    ok(hipHostMalloc(&number, 64, 0));
    std::memset(number, 0, 64);
    ok(hipStreamWaitValue64(waiting, number, 0x0101010101010101, hipStreamWaitValueEq));
    ok(hipMemsetAsync(number, 1, 64, writing));
    static_cast<void>(hipStreamQuery(waiting));
    ok(hipStreamSynchronize(writing));
    ok(hipStreamSynchronize(waiting));
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_none, "^$");
}

// Under the rules of ROCm 5, HIP knows nothing of ordinary memory either.
TEST_F(HostCheckDeathTest, OrdinaryMemoryOfAPendingCopyIsNotTakenForFreedMemory) {
  auto const program = [] {
    pending_download const p;
    std::vector<float> h(count);
    for (int i = 0; i != 2; ++i) roc::memcpy(h.data(), p.device.data(), 4 * count, p.stream);
    p.stream.synchronize();
    return 0;
  };
  setenv("ROCARRAY_HOST_EMULATE", "rocm5", 1);
  EXPECT_EXIT(std::exit(program()), has_none, "^$");
  unsetenv("ROCARRAY_HOST_EMULATE");
}

TEST_F(HostCheckDeathTest, ReadDuringPendingBatchIsReported) {
  unsigned const enqueued = __LINE__ + 8;
  auto const program = [] {
    pending_download const p;
    std::vector<float> first(count);
    std::vector<float> second(count);
    roc::copy_batch batch;
    batch.add(p.device, first);
    batch.add(p.device(roc::slice(0, 10)), roc::host_view<float>(second.data(), {10}));
    batch.submit(p.stream);
    static_cast<void>(read(second[10]));
    static_cast<void>(read(second[9]));
    p.stream.synchronize();
    return 0;
  };
  EXPECT_EXIT(
      std::exit(program()), has_report,
      report(enqueued + 2, "reads memory of a pending copy: byte 36 of 40", enqueued) + summary);
}

TEST_F(HostCheckDeathTest, WriteDuringPendingFillIsReported) {
  unsigned const enqueued = __LINE__ + 5;
  auto const program = [] {
    void* h = nullptr;
    hipStream_t const stream = make_stream();
    ok(hipHostMalloc(&h, 64, 0));
    ok(hipMemsetAsync(h, 1, 64, stream));
    write(*static_cast<char*>(h), 'x');
    ok(hipStreamSynchronize(stream));
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_report,
              report(enqueued + 1, "writes memory of a pending fill", enqueued) + summary);
}

TEST_F(HostCheckDeathTest, GapsOfAStridedDestinationMayBeAccessed) {
  unsigned const enqueued = __LINE__ + 6;
  auto const program = [] {
    roc::stream const stream;
    roc::device_array<int, 2> const device({50, 30});
    std::vector<int> memory(50 * 40, 1);
    roc::host_view<int, 2> const tile(memory.data(), {50, 30}, roc::strides<2>{40, 1});
    device.copy_to_host(tile, stream);
    for (int i = 0; i < 50; ++i) write(memory[i * 40 + 30], read(memory[i * 40 + 39]));
    static_cast<void>(read(memory[40 + 29]));
    stream.synchronize();
    return 0;
  };
  EXPECT_EXIT(
      std::exit(program()), has_report,
      report(enqueued + 2, "reads memory of a pending copy: byte 276 of", enqueued) + summary);
}

TEST_F(HostCheckDeathTest, DistinctPairsOfPlacesAreReportedOnce) {
  auto const program = [] {
    pending_download const p;
    std::vector<float> h(count);
    p.device.copy_to_host(h, p.stream);
    for (float const& item : h) static_cast<void>(read(item));
    write(h[1], 1.0f);
    p.stream.synchronize();
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_report,
              "^rocarray: [^\n]* reads [^\n]*\nrocarray: [^\n]* writes [^\n]*\n"
              "rocarray: ROCARRAY_HOST_CHECK reported errors: 2; the exit code is 66\n$");
}

TEST_F(HostCheckDeathTest, AccessToDeviceMemoryNamesTheArray) {
  unsigned const allocated = __LINE__ + 3;
  auto const program = [] {
    roc::device_array<float> const other({count});
    roc::device_array<float> const array({count});
    static_cast<void>(read(array.data()[2]));
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_report,
              "^rocarray: .*" + line(allocated + 1) +
                  " reads device memory: byte 8 of 4000 bytes at 0x[0-9a-f]+ on device 0, an array "
                  "allocated at .*" +
                  line(allocated) + "; copy the memory to the host and access the copy\n" +
                  summary);
}

TEST_F(HostCheckDeathTest, AccessToDeviceMemoryNamesTheAllocation) {
  unsigned const allocated = __LINE__ + 3;
  auto const program = [] {
    void* d = nullptr;
    ok(hipMalloc(&d, 64));
    write(static_cast<char*>(d)[9], 'x');
    ok(hipFree(d));
    return 0;
  };
  EXPECT_EXIT(
      std::exit(program()), has_report,
      "^rocarray: .*" + line(allocated + 1) +
          " writes device memory: byte 9 of 64 bytes at 0x[0-9a-f]+ on device 0, memory allocated "
          "at .*" +
          line(allocated) + "; .*\n" + summary);
}

TEST_F(HostCheckDeathTest, UnmappedMemoryIsReported) {
  unsigned const enqueued = __LINE__ + 6;
  auto const program = [] {
    void* const memory =
        mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void* d = nullptr;
    ok(hipMalloc(&d, 8192));
    ok(hipMemcpyAsync(memory, d, 8192, hipMemcpyDefault, nullptr));
    munmap(memory, 8192);
    ok(hipDeviceSynchronize());
    return 0;
  };
  EXPECT_EXIT(
      std::exit(program()), has_report,
      "^rocarray: memory was freed before a copy that uses it was synchronized: 8192 bytes at "
      "0x[0-9a-f]+, the destination of the copy enqueued at .*" +
          line(enqueued) + " on the default stream; .*\n" + summary);
}

TEST_F(HostCheckDeathTest, PartOfMemoryMayBeUnmappedAndTheRestIsCopiedTo) {
  unsigned const enqueued = __LINE__ + 9;
  auto const program = [] {
    std::size_t const page = static_cast<std::size_t>(getpagesize());
    void* const memory =
        mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto const* const bytes = static_cast<char*>(memory);
    void* d = nullptr;
    ok(hipMalloc(&d, 3 * page));
    ok(hipMemsetAsync(d, 7, 3 * page, nullptr));
    ok(hipMemcpyAsync(memory, d, 3 * page, hipMemcpyDefault, nullptr));
    munmap(memory, page);
    ok(hipDeviceSynchronize());
    if (read(bytes[page]) != 7 || read(bytes[3 * page - 1]) != 7) std::_Exit(1);
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_report,
              "^rocarray: memory was freed before a copy that uses it was synchronized: [^\n]*" +
                  line(enqueued) + " on the default stream; .*\n" + summary);
}

TEST_F(HostCheckDeathTest, LastPageOfMemoryMayBeUnmapped) {
  auto const program = [] {
    std::size_t const page = static_cast<std::size_t>(getpagesize());
    void* const memory =
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto const* const bytes = static_cast<char*>(memory);
    void* d = nullptr;
    ok(hipMalloc(&d, 2 * page));
    ok(hipMemsetAsync(d, 7, 2 * page, nullptr));
    ok(hipMemcpyAsync(memory, d, 2 * page, hipMemcpyDefault, nullptr));
    munmap(static_cast<char*>(memory) + page, page);
    ok(hipDeviceSynchronize());
    if (read(bytes[0]) != 7 || read(bytes[page - 1]) != 7) std::_Exit(1);
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_report,
              "^rocarray: memory was freed before a copy [^\n]*\n" + summary);
}

// Read by the signal handler below.
float const volatile* signaled_memory = nullptr;

TEST_F(HostCheckDeathTest, SignalHandlerMayAccessProtectedPagesDuringCalls) {
  auto const program = [] {
    pending_download const p;
    auto const memory = std::make_unique<std::array<float, 32>>();
    roc::host_view<float> const pending(memory->data(), {16});
    p.device(roc::slice(0, 16)).copy_to_host(pending, p.stream);
    signaled_memory = memory->data() + 31;
    struct sigaction action {};
    action.sa_handler = [](int) { static_cast<void>(*signaled_memory); };
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    itimerval const often{{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, nullptr);
    roc::stream other;
    std::vector<float> h(count);
    for (int i = 0; i < 2000; ++i) {
      p.device.copy_to_host(h, other);
      other.synchronize();
    }
    itimerval const never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    p.stream.synchronize();
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_none, "^$");
}

TEST_F(HostCheckDeathTest, BufferedOutputIsWrittenAfterReports) {
  auto const program = [] {
    std::ios::sync_with_stdio(false);
    int const copy = dup(STDERR_FILENO);
    dup2(copy, STDOUT_FILENO);
    pending_download const p;
    std::vector<float> h(count);
    p.device.copy_to_host(h, p.stream);
    static_cast<void>(read(h[0]));
    p.stream.synchronize();
    std::cout << "the last line\n";
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_report, "the last line\n" + summary);
}

TEST_F(HostCheckDeathTest, ChildProcessDoesNotListWorkOfItsParent) {
  auto const program = [] {
    void* h = nullptr;
    hipStream_t const stream = make_stream();
    ok(hipHostMalloc(&h, 64, 0));
    ok(hipMemsetAsync(h, 1, 64, stream));
    pid_t const child = fork();
    if (child == 0) std::exit(0);
    int status = -1;
    waitpid(child, &status, 0);
    ok(hipStreamSynchronize(stream));
    return status;
  };
  EXPECT_EXIT(std::exit(program()), has_none, "^$");
}

TEST_F(HostCheckDeathTest, WorkThatNobodyWaitedForIsListed) {
  unsigned const enqueued = __LINE__ + 5;
  auto const program = [] {
    hipStream_t const stream = make_stream();
    static std::array<int, 4> registered;
    ok(hipHostRegister(&registered, sizeof registered, 0));
    ok(hipMemsetAsync(&registered, 1, 16, stream));
    ok(hipHostUnregister(&registered));
    auto& log = *new execution_log;  // used after static objects are destroyed
    log.enqueue(stream, 1);
    return 0;
  };
  EXPECT_EXIT(
      std::exit(program()), has_none,
      "^rocarray: this work ran only because its memory was released or the process ended:\n"
      "  .*" +
          line(enqueued) + ": 1 x fill on stream 0x[0-9a-f]+, ran in hipHostUnregister\n  .*" +
          line(enqueued + 3) +
          ": 1 x host function on stream 0x[0-9a-f]+, ran in the exit handler\n$");
}

TEST_F(HostCheckDeathTest, PlacesAreOffsetsWithoutASymbolizer) {
  auto const program = [] {
    setenv("PATH", "/nowhere", 1);
    pending_download const p;
    std::vector<float> h(count);
    p.device.copy_to_host(h, p.stream);
    static_cast<void>(read(h[0]));
    p.stream.synchronize();
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_report,
              "^rocarray: .*host_access_checker_test\\+0x[0-9a-f]+ reads memory");
}

TEST_F(HostCheckDeathTest, RightProgramHasNoReport) {
  auto const program = [] {
    roc::stream const stream;
    std::vector<float> const source(count, 3.0f);
    std::vector<float> h(count);
    float on_stack[4] = {};
    roc::device_array<float> device({count});
    roc::device_array<float> four({4});
    for (int i = 0; i < 3; ++i) {
      device.copy_to_device(source, stream);
      device.copy_to_host(h, stream);
      four.fill(1.0f, stream);
      four.copy_to_host(on_stack, stream);
      auto const registered = roc::register_host(h);
      stream.synchronize();
      if (h != source || on_stack[3] != 1.0f) return 1;
    }
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_none, "^$");
}

TEST_F(HostCheckDeathTest, StacksOfOtherThreadsMayBeCopiedTo) {
  auto const program = [] {
    roc::stream const stream;
    roc::device_array<int> device({4});
    device.fill(3);
    std::array<int, 4>* on_stack = nullptr;
    std::mutex mutex;
    std::condition_variable changed;
    std::unique_lock lock(mutex);
    bool is_done = false;
    bool is_right = false;
    std::thread worker([&] {
      std::array<int, 4> values{};
      device.copy_to_host(values);
      device.copy_to_host(values, stream);
      stream.synchronize();
      std::unique_lock worker_lock(mutex);
      values = {};
      on_stack = &values;
      changed.notify_all();
      changed.wait(worker_lock, [&] { return is_done; });
      is_right = values[3] == 3;
    });
    changed.wait(lock, [&] { return on_stack != nullptr; });
    device.copy_to_host(*on_stack, stream);
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
    stream.synchronize();
    is_done = true;
    changed.notify_all();
    lock.unlock();
    worker.join();
    return is_right ? 0 : 1;
  };
  EXPECT_EXIT(std::exit(program()), has_none, "^$");
}

// Objects on the page of a pending copy, among them a lock and a buffer of the C library.
struct page {
  std::array<float, 16> before{};
  std::array<float, 16> pending{};
  std::array<float, 16> after{};
  std::mutex mutex;
  std::condition_variable changed;
  int waiting = 0;
  std::atomic<int> sum = 0;
};

TEST_F(HostCheckDeathTest, OtherMemoryOnThePageMayBeAccessedByManyThreads) {
  auto const program = [] {
    constexpr int threads = 4;
    auto const shared = std::make_unique<page>();
    roc::stream const stream;
    roc::device_array<float> device({16});
    device.fill(5.0f);
    device.copy_to_host(shared->pending, stream);
    std::vector<std::thread> started;
    for (int t = 0; t < threads; ++t) {
      started.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) {
          write(shared->before[t], read(shared->before[t]) + 1.0f);
          write(shared->after[15 - t], read(shared->before[t]));
          shared->sum += static_cast<int>(read(shared->after[15 - t])) - i;
        }
        std::unique_lock lock(shared->mutex);
        ++shared->waiting;
        shared->changed.notify_all();
        shared->changed.wait(lock, [&] { return shared->waiting == threads; });
      });
    }
    for (auto& thread : started) thread.join();
    stream.synchronize();
    bool const is_right = shared->sum == threads * 500 && shared->pending[15] == 5 &&
                          shared->before[3] == 500 && shared->after[12] == 500;
    return is_right ? 0 : 1;
  };
  EXPECT_EXIT(std::exit(program()), has_none, "^$");
}

// A fault may be handled after another thread ended the protection, and while a third begins it.
TEST_F(HostCheckDeathTest, OtherMemoryOnThePageMayBeReadWhileCopiesBeginAndEnd) {
  auto const program = [] {
    auto const bytes = static_cast<std::size_t>(getpagesize());
    auto* const memory = static_cast<char*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::atomic<bool> is_done = false;
    std::vector<std::thread> started;
    for (std::size_t t = 0; t < 3; ++t) {
      started.emplace_back([&, t] {
        roc::stream const stream;
        roc::device_array<char> const device({64});
        roc::host_view<char> const part(memory + 64 * t, {64});
        while (!is_done) {
          device.copy_to_host(part, stream);
          stream.synchronize();
        }
      });
    }
    for (int t = 0; t < 2; ++t) {
      started.emplace_back([&] {
        while (!is_done) static_cast<void>(read(memory[bytes - 1]));
      });
    }
    std::this_thread::sleep_for(std::chrono::seconds(2));
    is_done = true;
    for (auto& thread : started) thread.join();
    return 0;
  };
  EXPECT_EXIT(std::exit(program()), has_none, "^$");
}

TEST_F(HostCheckDeathTest, ManyThreadsMayCopyOnStreamsOfTheirOwn) {
  auto const program = [] {
    std::atomic<bool> is_right = true;
    std::vector<std::thread> started;
    for (int t = 0; t < 4; ++t) {
      started.emplace_back([&, t] {
        roc::stream const stream;
        for (std::size_t n = 1; n < 200; n += 7) {
          std::vector<int> h(n);
          roc::device_array<int> device({n});
          device.fill(t, stream);
          device.copy_to_host(h, stream);
          std::vector<int> const other(n, 1);
          if (std::accumulate(other.begin(), other.end(), 0) != static_cast<int>(n)) {
            is_right = false;
          }
          stream.synchronize();
          if (h != std::vector<int>(n, t)) is_right = false;
        }
      });
    }
    for (auto& thread : started) thread.join();
    return is_right ? 0 : 1;
  };
  EXPECT_EXIT(std::exit(program()), has_none, "^$");
}

TEST_F(HostCheckDeathTest, OutputFromTheSamePageIsComplete) {
  auto const program = [] {
    pending_download const p;
    std::vector<float> h(30);
    std::FILE* const file = std::tmpfile();
    roc::device_array<float> const device({30});
    device.copy_to_host(h, p.stream);
    for (int i = 0; i < 3000; ++i) std::fprintf(file, "%d\n", i);
    bool const is_written = std::fflush(file) == 0 && std::ftell(file) == 13890;
    p.stream.synchronize();
    return is_written ? 0 : 1;
  };
  EXPECT_EXIT(std::exit(program()), has_none, "^$");
}

TEST_F(HostCheckDeathTest, HostFunctionMayAccessMemoryOfLaterWork) {
  auto const program = [] {
    roc::stream stream;
    auto h = roc::pinned_array<float>(count);
    roc::device_array<float> device({count});
    device.fill(2.0f, stream);
    device.copy_to_host(h, stream);
    float seen = 0;
    stream.launch_host_function([&]() noexcept { seen = h(3); });
    device.copy_to_host(h, stream);
    stream.synchronize();
    return seen == 2.0f ? 0 : 1;
  };
  EXPECT_EXIT(std::exit(program()), has_none, "^$");
}

// Run by the next tests in mode abort.
constexpr unsigned aborting_line = __LINE__ + 6;
TEST(HostCheck, DISABLED_ReadsPendingDestination) {
  pending_download const p;
  auto const memory = std::make_unique<page>();
  p.device(roc::slice(0, 16)).copy_to_host(memory->pending, p.stream);
  write(memory->before[1], 1.0f);
  static_cast<void>(read(memory->pending[0]));
}

// Runs the test above in a child process. Returns its exit status; appends its output.
int run_aborting_test(std::string const& debugger, std::string& output) {
  std::array<char, 512> program{};
  EXPECT_GT(readlink("/proc/self/exe", program.data(), program.size() - 1), 0);
  std::string const command =
      "ROCARRAY_HOST_CHECK=abort exec " + debugger + "'" + program.data() +
      "' --gtest_also_run_disabled_tests --gtest_filter=HostCheck.DISABLED_* 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return -1;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
  return pclose(pipe);
}

TEST(HostCheck, ModeAbortEndsTheProcess) {
  std::string output;
  int const status = run_aborting_test("", output);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  EXPECT_NE(output.find(line(aborting_line) + " reads memory of a pending copy"), std::string::npos)
      << output;
}

TEST(HostCheck, DebuggerStopsAtTheAccess) {
  if (std::system("gdb --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "needs gdb";
  std::string output;
  run_aborting_test("gdb -nx -batch -x '" ROCARRAY_TEST_SOURCE_DIR
                    "/scripts/check.gdb' -ex run -ex bt --args ",
                    output);
  if (output.find("ptrace: Operation not permitted") != std::string::npos) {
    GTEST_SKIP() << "gdb may not debug programs here";
  }
  EXPECT_NE(output.find("received signal SIGABRT"), std::string::npos) << output;
  EXPECT_NE(output.find("read<float> (item="), std::string::npos) << output;
  EXPECT_NE(output.find("TestBody"), std::string::npos) << output;
  EXPECT_NE(output.find("test.cpp:" + std::to_string(aborting_line)), std::string::npos) << output;
}

}  // namespace
