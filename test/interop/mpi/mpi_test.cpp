// SPDX-License-Identifier: MIT
// Tests of roc/interop/mpi.hpp, which run in several ranks. All ranks run the same tests in the
// same order; the test fails if it fails in one of them.
//
// The argument --direct passes device memory to MPI: for platforms whose device memory the CPU can
// access. --funneled initializes MPI for one thread, --serialized for one at a time.
#include <roc/interop/mpi.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/failing_new.hpp"
#include "support/gate.hpp"
#include "support/layouts.hpp"

namespace roc::test {
namespace {

/// Counts the calls of the functions of MPI below.
struct call_record {
  std::uintptr_t low = 0;  // buffers in this range are counted
  std::uintptr_t high = 0;
  int calls = 0;                  // with such a buffer
  int calls_on_other_device = 0;  // while another device than this was current
  int device = -1;
  int sends = 0;                // calls of MPI_Isend
  int failing_send = 0;         // the number of the call that fails; 0: none
  int reductions = 0;           // of other types than those of the library's comparison
  int reductions_in_place = 0;  // with MPI_IN_PLACE
  int freed_communicators = 0;

  void count(void const* buffer) {
    auto const address = reinterpret_cast<std::uintptr_t>(buffer);
    if (address < low || address >= high) return;
    ++calls;
    if (roc::device().ordinal() != device) ++calls_on_other_device;
  }
  void count_reduction(void const* from, MPI_Datatype type) {
    if (type == MPI_UINT64_T) return;
    ++reductions;
    if (from == MPI_IN_PLACE) ++reductions_in_place;
  }
};
call_record record;

/// The runtimes of AMD and NVIDIA execute the host functions of all streams in one thread, in which
/// a closed gate blocks.
#if ROCARRAY_PLATFORM_HOST
constexpr bool gates_hold_all_streams = false;
#else
constexpr bool gates_hold_all_streams = true;
#endif

/// Calls `condition` until it returns true. After 60 s the test fails.
template <class F>
void until(F condition) {
  auto const begin = std::chrono::steady_clock::now();
  while (!condition()) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(60)) {
      ADD_FAILURE() << "still waiting after 60 s";
      return;
    }
    std::this_thread::yield();
  }
}

}  // namespace
}  // namespace roc::test

// The profiling interface of MPI: these are called instead of those in the library of MPI.
extern "C" {
int MPI_Isend(void const* data, int count, MPI_Datatype type, int destination, int tag,
              MPI_Comm communicator, MPI_Request* request) {
  roc::test::record.count(data);
  if (++roc::test::record.sends == roc::test::record.failing_send) return MPI_ERR_OTHER;
  return PMPI_Isend(data, count, type, destination, tag, communicator, request);
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  roc::test::record.count(data);
  return PMPI_Irecv(data, count, type, source, tag, communicator, request);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  // A wait that does not end fails the test instead of blocking it.
  int code = MPI_SUCCESS;
  roc::test::until([&] {
    int is_done = 0;
    code = PMPI_Test(request, &is_done, status);
    return code != MPI_SUCCESS || is_done != 0;
  });
  return code;
}
int MPI_Comm_free(MPI_Comm* communicator) {
  ++roc::test::record.freed_communicators;
  return PMPI_Comm_free(communicator);
}
int MPI_Allreduce(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm communicator) {
  roc::test::record.count(to);
  roc::test::record.count_reduction(from, type);
  return PMPI_Allreduce(from, to, count, type, operation, communicator);
}
int MPI_Iallreduce(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm communicator, MPI_Request* request) {
  roc::test::record.count_reduction(from, type);
  return PMPI_Iallreduce(from, to, count, type, operation, communicator, request);
}
}

namespace roc::test {
namespace {

bool is_direct = false;
std::string error_before_init;

enum class memory { device, host };
constexpr std::array memories{memory::device, memory::host};

/// Options with which also small arrays take several chunks.
mpi_options small_chunks() {
  return {.device_memory = is_direct ? mpi_device_memory::direct : mpi_device_memory::ask,
          .chunk = 256,
          .inline_limit = 128};
}

/// An array of any layout in host or device memory, whose gaps are checked.
template <class T, std::size_t N>
class test_array {
 public:
  test_array(memory where, shape<N> const& extents, strides<N> const& steps)
      : where_(where), host_(extents, steps) {
    if (where == memory::device) device_ = to_device(host_.bytes());
  }

  /// Sets element i in C order to f(i).
  template <class F>
  void set(F f) {
    host_.for_each_element([&](T& element, std::size_t i) { element = f(i); });
    if (where_ == memory::device) to_device(host_.bytes(), device_.view());
  }
  /// Calls f with the view.
  template <class F>
  void with(F f) const {
    if (where_ == memory::host) return f(host_.view());
    auto const offset = reinterpret_cast<std::byte const*>(host_.view().data()) - bytes().data();
    f(device_view<T, N>(reinterpret_cast<T*>(device_.data() + offset), host_.view().shape(),
                        host_.view().strides()));
  }
  /// Expects element i in C order to be f(i), and unchanged gaps.
  template <class F>
  void expect(F f) {
    if (where_ == memory::device) device_.copy_to_host(host_.bytes());
    std::size_t wrong = 0;
    host_.for_each_element([&](T& element, std::size_t i) { wrong += !(element == f(i)); });
    EXPECT_EQ(wrong, 0U) << "of " << host_.view().size();
    EXPECT_TRUE(host_.are_gaps_unchanged());
  }

 private:
  std::vector<std::byte> const& bytes() const {
    return const_cast<guarded_array<T, N>&>(host_).bytes();
  }

  memory where_;
  guarded_array<T, N> host_;
  device_array<std::byte, 1> device_;
};

/// Contiguous, Fortran order, gaps, and negative strides with gaps.
template <std::size_t N>
std::vector<strides<N>> layouts_of(shape<N> const& extents) {
  std::vector<strides<N>> result{layout::compact_strides(extents)};
  if constexpr (N != 0) {
    result.push_back(layout::compact_strides(extents, order::f));
    std::mt19937_64 random(7);
    result.push_back(random_strides(extents, random, false));
    strides<N> reversed = layout::compact_strides(extents);
    for (auto& stride : reversed) stride *= -2;
    result.push_back(reversed);
  }
  return result;
}

template <class T>
T value(int rank, std::size_t i) {
  auto const number = static_cast<std::size_t>(rank + 1) * 1000 + i;
  if constexpr (requires { T::number(number); }) {
    return T::number(number);
  } else {
    return static_cast<T>(static_cast<int>(number % 100));
  }
}

class Mpi : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(late_errors, 0);
    late_errors = 0;
  }
  int next() const { return (comm.rank() + 1) % comm.size(); }
  int previous() const { return (comm.rank() + comm.size() - 1) % comm.size(); }

  static inline std::atomic<int> late_errors = 0;
  mpi_communicator comm{MPI_COMM_WORLD, small_chunks()};
};
class MpiMessage : public Mpi {};
class MpiCollective : public Mpi {};
class MpiRequest : public Mpi {};
class MpiError : public Mpi {};
class MpiOrder : public Mpi {};

/// Calls f(memory, layout, memory, layout) for two arrays of these extents.
template <std::size_t N, class F>
void for_each_pair(shape<N> const& extents, F f) {
  auto const layouts = layouts_of(extents);
  for (memory from : memories) {
    for (memory to : memories) {
      for (std::size_t i = 0; i < layouts.size(); ++i) {
        // Not all pairs: the two sides do not know each other's layout.
        f(from, layouts[i], to, layouts[(i + 1) % layouts.size()]);
      }
    }
  }
}

// Messages

template <class T, std::size_t N>
void send_around(mpi_communicator const& comm, shape<N> const& extents) {
  int const next = (comm.rank() + 1) % comm.size();
  int const previous = (comm.rank() + comm.size() - 1) % comm.size();
  static int calls = 0;
  int way = calls++;
  for_each_pair(extents, [&](memory from_memory, strides<N> const& from_steps, memory to_memory,
                             strides<N> const& to_steps) {
    test_array<T, N> from(from_memory, extents, from_steps);
    test_array<T, N> to(to_memory, extents, to_steps);
    from.set([&](std::size_t i) { return value<T>(comm.rank(), i); });
    to.set([](std::size_t) { return T{}; });
    from.with([&](auto source) {
      to.with([&](auto target) {
        stream stream;
        mpi_status status;
        // All ways have the same result, so each pair of arrays is sent in another way.
        switch (way++ % 4) {
          case 0: {
            auto const request = comm.isend(source, next, 3);
            status = comm.receive(target, previous, 3);
            break;
          }
          case 1: {
            auto request = comm.ireceive(target, MPI_ANY_SOURCE, MPI_ANY_TAG, stream);
            comm.send(source, next, 3, stream);
            status = request.wait();
            break;
          }
          case 2: status = comm.sendrecv(source, next, target, previous, 3); break;
          default: status = comm.sendrecv(source, next, target, previous, 3, stream);
        }
        stream.synchronize();
        EXPECT_EQ(status.source, previous);
        EXPECT_EQ(status.tag, 3);
        EXPECT_EQ(status.count, layout::element_count(extents));
      });
    });
    to.expect([&](std::size_t i) { return value<T>(previous, i); });
    from.expect([&](std::size_t i) { return value<T>(comm.rank(), i); });
  });
}

TEST_F(MpiMessage, OfAnyMemoryLayoutAndRankArrives) {
  send_around<int>(comm, shape<0>{});
  send_around<double>(comm, shape<1>{0});
  send_around<float>(comm, shape<2>{4, 0});
  send_around<float>(comm, shape<2>{3, 5});
  send_around<double>(comm, shape<2>{9, 11});
  send_around<std::int8_t>(comm, shape<3>{5, 7, 31});
}

TEST_F(MpiMessage, OfAnyElementTypeArrives) {
  send_around<element_of<12>>(comm, shape<2>{3, 30});
  send_around<std::complex<double>>(comm, shape<1>{40});
  send_around<bool>(comm, shape<1>{300});
}

TEST_F(MpiMessage, OfChunkSizeArrives) {
  // Around the limit of inline messages, one chunk, and all chunks that are in flight at once.
  for (std::size_t bytes : {127U, 128U, 129U, 256U, 257U, 1024U, 1025U, 1281U}) {
    std::vector<std::uint8_t> numbers(bytes), result(bytes);
    for (std::size_t i = 0; i < bytes; ++i) numbers[i] = value<std::uint8_t>(comm.rank(), i);
    auto const from = to_device(numbers);
    device_array<std::uint8_t, 1> to({bytes});
    comm.sendrecv(from, next(), to, previous());
    to.copy_to_host(result);
    for (std::size_t i = 0; i < bytes; ++i) numbers[i] = value<std::uint8_t>(previous(), i);
    EXPECT_EQ(result, numbers) << bytes;
    comm.sendrecv(result, next(), to, previous());
    EXPECT_EQ(to.copy_to_host()(bytes - 1),
              value<std::uint8_t>((previous() + comm.size() - 1) % comm.size(), bytes - 1));
  }
}

TEST_F(MpiMessage, FlatArrayMatchesAnyShapeWithAsManyElements) {
  auto const array = to_device(std::vector<int>(600, comm.rank())).reshape(20, 30);
  std::vector<int> flat(600);
  auto const request = comm.isend(array, next());
  comm.receive(flat, previous());
  EXPECT_EQ(flat, std::vector<int>(600, previous()));
}

TEST_F(MpiMessage, ToNoProcessDoesNothing) {
  auto array = to_device(std::vector<int>{1, 2, 3});
  comm.send(array, MPI_PROC_NULL);
  auto const status = comm.receive(array, MPI_PROC_NULL);
  EXPECT_EQ(status.source, MPI_PROC_NULL);
  EXPECT_EQ(status.count, 0U);
  EXPECT_EQ(array.copy_to_host()(2), 3);
}

TEST_F(MpiMessage, MessagesDoNotOvertake) {
  // Long and short ones with one tag, received in the order of the calls.
  std::vector<std::vector<int>> sent, received;
  std::vector<mpi_request> requests;
  for (std::size_t i = 0; i < 12; ++i) {
    sent.emplace_back(i % 3 == 0 ? 2000 : 7, static_cast<int>(i));
    received.emplace_back(sent.back().size());
  }
  for (auto& array : received) requests.push_back(comm.ireceive(array, MPI_ANY_SOURCE));
  for (auto& array : sent) requests.push_back(comm.isend(array, next(), 1));
  for (auto& request : requests) request.wait();
  EXPECT_EQ(received, sent);
}

TEST_F(MpiMessage, BlockingSendsMeetPendingReceives) {
  // Both sides of each pair block in send: their receives must proceed meanwhile.
  device_array<int, 2> from({50, 60}), to({50, 60});
  from.fill(comm.rank());
  auto receive = comm.ireceive(to, previous());
  comm.send(from, next());
  std::vector<int> sum{1};
  comm.all_reduce(sum, MPI_SUM);
  EXPECT_EQ(sum[0], comm.size());
  receive.wait();
  EXPECT_EQ(to.copy_to_host()(49, 59), previous());
}

TEST_F(MpiMessage, DoesNotMatchTheProgramsOwnMessages) {
  int const sent = 100 + comm.rank();
  int got = 0;
  MPI_Request request;
  MPI_Isend(&sent, 1, MPI_INT, next(), 0, MPI_COMM_WORLD, &request);
  std::vector<int> array(100, comm.rank());
  std::vector<int> into(100);
  comm.sendrecv(array, next(), into, previous());
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(got, 100 + previous());
  EXPECT_EQ(into[99], previous());
}

TEST_F(MpiMessage, ThreadsShareACommunicator) {
  int level = 0;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "MPI does not provide MPI_THREAD_MULTIPLE";
  std::vector<std::thread> threads;
  std::array<int, 3> got{};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      auto const from = to_device(std::vector<int>(500, 10 * comm.rank() + i));
      device_array<int, 1> to({500});
      comm.sendrecv(from, next(), to, previous(), i);
      got[static_cast<std::size_t>(i)] = to.copy_to_host()(499);
    });
  }
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(got[static_cast<std::size_t>(i)], 10 * previous() + i);
  }
}

// Requests

template <class X>
concept sendable =
    requires(mpi_communicator const& comm, X&& x) { comm.isend(std::forward<X>(x), 0); };
template <class X>
concept receivable =
    requires(mpi_communicator const& comm, X&& x) { comm.ireceive(std::forward<X>(x), 0); };
static_assert(sendable<std::vector<int>&> && sendable<device_view<int const, 2>>);
static_assert(!sendable<std::vector<int>> && !sendable<device_array<int, 1>>);
static_assert(receivable<device_array<int, 3>&> && receivable<host_view<int, 1>>);
static_assert(!receivable<std::vector<int> const&> && !receivable<device_array<int, 1>>);

TEST_F(MpiRequest, DestructorWaits) {
  device_array<int, 1> from({1000}), to({1000});
  from.fill(comm.rank());
  {
    auto const receive = comm.ireceive(to, previous());
    auto const send = comm.isend(from, next());
  }
  EXPECT_EQ(to.copy_to_host()(999), previous());
  try {
    auto const receive = comm.ireceive(to, previous());
    auto const send = comm.isend(from, next());
    throw 1;
  } catch (int) {
  }
}

TEST_F(MpiRequest, TestTellsWhetherWaitWouldBlock) {
  device_array<int, 1> from({1000}), to({1000});
  from.fill(comm.rank());
  auto receive = comm.ireceive(to, previous());
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(receive.test());  // not sent yet
  MPI_Barrier(MPI_COMM_WORLD);
  auto send = comm.isend(from, next());
  until([&] { return receive.test() && send.test(); });
  EXPECT_EQ(receive.wait().count, 1000U);
  send.wait();
  EXPECT_EQ(to.copy_to_host()(0), previous());
  EXPECT_THROW(send.wait(), lifetime_error);
  EXPECT_THROW(static_cast<void>(send.test()), lifetime_error);
}

TEST_F(MpiRequest, TestIsFalseUntilCopiesFromStagingMemoryHaveRun) {
  // In mode `deferred` test() itself runs the copies.
  if (is_direct || comm.takes_device_pointers() || run_mode() != mode::threaded) GTEST_SKIP();
  if (gates_hold_all_streams) GTEST_SKIP() << "the message would not be sent";
  for (std::size_t n : {10, 1000}) {  // inline, and in chunks
    std::vector<int> const from(n, comm.rank() + 1), zeros(2 * n);
    auto to = to_device(zeros);
    stream copies(non_blocking), sends(non_blocking);
    gate gate;
    auto receive = comm.ireceive(to(slice(0, 2 * n, 2)), previous(), 0, copies);
    gate.close(copies);
    MPI_Barrier(MPI_COMM_WORLD);  // nobody sends before
    auto send = comm.isend(from, next(), 0, sends);
    bool is_received = false;
    // MPI must buffer the chunks of 256 bytes that the receiver does not take while its gate is
    // closed, as all do; with larger ones the message would not be sent.
    until([&] {
      is_received = receive.test() || is_received;
      return send.test();
    });
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 1000; ++i) {
      is_received = receive.test() || is_received;
      std::this_thread::yield();
    }
    EXPECT_FALSE(is_received);
    gate.open();
    until([&] { return receive.test(); });
    receive.wait();
    std::vector<int> result(2 * n);
    to.copy_to_host(result, copies);
    copies.synchronize();
    for (std::size_t i = 0; i < 2 * n; ++i) ASSERT_EQ(result[i], i % 2 == 0 ? previous() + 1 : 0);
  }
}

TEST_F(MpiRequest, HostArrayIsReadInTheOrderOfTheStream) {
  for (std::size_t const n : {10, 1000}) {  // inline, and in chunks
    for (std::ptrdiff_t const step : {1, 2}) {
      std::vector<int> from(2 * n), to(n);
      host_view<int, 1> const sent(from.data(), {n}, strides<1>{step});
      stream sends(non_blocking);
      auto receive = comm.ireceive(to, previous());  // waits for all work
      gate gate;
      gate.close(sends);
      sends.launch_host_function([&] { std::fill(from.begin(), from.end(), comm.rank() + 1); });
      auto send = comm.isend(sent, next(), 0, sends);
      gate.open();
      receive.wait();
      send.wait();
      EXPECT_EQ(std::vector<int>(n, previous() + 1), to) << n << " elements, step " << step;
    }
  }
}

TEST_F(MpiRequest, MovedRequestIsEmpty) {
  std::vector<int> from(10, comm.rank()), to(10);
  auto first = comm.ireceive(to, previous());
  auto second = std::move(first);
  EXPECT_THROW(first.wait(), lifetime_error);
  comm.send(from, next());
  second.wait();
  second = comm.ireceive(to, previous());
  first = comm.isend(from, next());
  second.wait();
  EXPECT_EQ(to[9], previous());
}

TEST_F(MpiRequest, OutlivesTheCommunicator) {
  std::vector<int> from(1000, comm.rank()), to(1000);
  auto receive = [&] {
    mpi_communicator const other(MPI_COMM_WORLD, small_chunks());
    auto const send = other.isend(from, next());
    auto result = other.ireceive(to, previous());
    return result;
  }();
  receive.wait();
  EXPECT_EQ(to[999], previous());
}

TEST_F(MpiRequest, ErrorInDestructorGoesToTheLogHook) {
  auto const previous_hook = set_log_hook([](char const*) noexcept { ++late_errors; });
  std::vector<int> from(10), to(11);
  {
    auto const receive = comm.ireceive(to, previous());
    comm.send(from, next());
  }
  set_log_hook(previous_hook);
  EXPECT_EQ(late_errors.exchange(0), 1);
}

// Collective operations

/// The extents, with another one in front.
template <std::size_t N>
shape<N + 1> stacked(std::size_t first, shape<N> const& extents) {
  shape<N + 1> result{first};
  std::copy(extents.begin(), extents.end(), result.begin() + 1);
  return result;
}

/// Calls f(from array, to array, is_last) for arrays of two shapes in each memory and layout.
template <class T, std::size_t N, std::size_t M, class F>
void for_each_collective(shape<N> const& extents, shape<M> const& other, F f) {
  auto const layouts = layouts_of(extents);
  auto const other_layouts = layouts_of(other);
  for (memory from : memories) {
    for (memory to : memories) {
      for (std::size_t i = 0; i < other_layouts.size(); ++i) {
        test_array<T, N> first(from, extents, layouts[i % layouts.size()]);
        test_array<T, M> second(to, other, other_layouts[i]);
        second.set([](std::size_t) { return T{}; });
        f(first, second);
      }
    }
  }
}

template <class T, std::size_t N>
void collective_operations(mpi_communicator const& comm, shape<N> const& extents) {
  auto const ranks = static_cast<std::size_t>(comm.size());
  std::size_t const count = layout::element_count(extents);
  auto const own = [&](std::size_t i) { return value<T>(comm.rank(), i); };
  auto const of_all = [&](std::size_t i) {
    return value<T>(static_cast<int>(i / count), i % count);
  };
  auto const zero = [](std::size_t) { return T{}; };
  int const root = comm.size() - 1;
  bool const is_root = comm.rank() == root;
  stream stream;

  for_each_collective<T>(extents, extents, [&](auto& from, auto& to) {
    is_root ? to.set(own) : to.set(zero);
    to.with([&](auto array) { comm.broadcast(array, root); });
    to.expect([&](std::size_t i) { return value<T>(root, i); });
    static_cast<void>(from);
  });
  auto const whole = stacked(ranks, extents);
  for_each_collective<T>(extents, whole, [&](auto& from, auto& to) {
    from.set(own);
    from.with(
        [&](auto source) { to.with([&](auto target) { comm.gather(source, target, root); }); });
    is_root ? to.expect(of_all) : to.expect(zero);
    from.with([&](auto source) {
      if (is_root) {
        to.with([&](auto target) { comm.gather(source, target, root, stream); });
      } else {
        comm.gather(source, root, stream);
      }
    });
    stream.synchronize();
    is_root ? to.expect(of_all) : to.expect(zero);

    from.set(zero);
    from.with(
        [&](auto target) { to.with([&](auto source) { comm.scatter(source, target, root); }); });
    from.expect(own);
    from.set(zero);
    from.with([&](auto target) {
      if (is_root) {
        to.with([&](auto source) { comm.scatter(source, target, root, stream); });
      } else {
        comm.scatter(target, root, stream);
      }
    });
    stream.synchronize();
    from.expect(own);
  });
  for_each_collective<T>(whole, whole, [&](auto& from, auto& to) {
    // Block b of rank r has the elements b * ranks + r.
    from.set([&](std::size_t i) {
      return value<T>(static_cast<int>(i / count * ranks) + comm.rank(), i % count);
    });
    from.with([&](auto source) { to.with([&](auto target) { comm.all_to_all(source, target); }); });
    to.expect([&](std::size_t i) {
      return value<T>(comm.rank() * comm.size() + static_cast<int>(i / count), i % count);
    });
  });
}

TEST_F(MpiCollective, OfAnyMemoryLayoutAndRank) {
  collective_operations<int>(comm, shape<0>{});
  collective_operations<double>(comm, shape<1>{0});
  collective_operations<float>(comm, shape<2>{3, 5});
  collective_operations<element_of<12>>(comm, shape<2>{5, 23});
}

TEST_F(MpiCollective, ConcatenatesAlongTheFirstAxis) {
  auto const ranks = static_cast<std::size_t>(comm.size());
  device_array<int, 2> part({2, 100});
  part.fill(comm.rank());
  device_array<int, 2> whole({2 * ranks, 100});
  comm.gather(part, whole, 0);
  part.zero();
  comm.scatter(whole, part, 0);
  EXPECT_EQ(part.copy_to_host()(1, 99), comm.rank());
  if (comm.rank() == 0) {
    EXPECT_EQ(whole.copy_to_host()(2 * comm.size() - 1, 0), comm.size() - 1);
  }
}

TEST_F(MpiCollective, AllReduceAddsEveryElement) {
  shape<2> const extents{9, 13};
  int const ranks = comm.size();
  for_each_collective<double>(extents, extents, [&](auto& from, auto& to) {
    auto const own = [&](std::size_t i) { return static_cast<double>(i) + comm.rank(); };
    auto const sum = [&](std::size_t i) {
      return ranks * static_cast<double>(i) + ranks * (ranks - 1) / 2;
    };
    from.set(own);
    from.with([&](auto source) {
      to.with([&](auto target) { comm.all_reduce(source, target, MPI_SUM); });
    });
    to.expect(sum);
    from.expect(own);
    stream stream;
    from.with([&](auto array) { comm.all_reduce(array, MPI_SUM, stream); });
    stream.synchronize();
    from.expect(sum);
  });
}

TEST_F(MpiCollective, AllReduceInPlaceInSomeRanks) {
  shape<2> const extents{9, 13};
  int const ranks = comm.size();
  for_each_collective<double>(extents, extents, [&](auto& from, auto& to) {
    auto const own = [&](std::size_t i) { return static_cast<double>(i) + comm.rank(); };
    auto const sum = [&](std::size_t i) {
      return ranks * static_cast<double>(i) + ranks * (ranks - 1) / 2;
    };
    from.set(own);
    to.set(own);
    record = {};
    stream const stream;
    from.with([&](auto source) {
      to.with([&](auto target) {
        for (bool with_stream : {false, true}) {
          if (with_stream) to.set(own);
          if (with_stream && comm.rank() == 0) {
            comm.all_reduce(target, MPI_SUM, stream);
          } else if (with_stream) {
            comm.all_reduce(source, target, MPI_SUM, stream);
          } else if (comm.rank() == 0) {
            comm.all_reduce(target, MPI_SUM);
          } else {
            comm.all_reduce(source, target, MPI_SUM);
          }
          stream.synchronize();
          to.expect(sum);
          from.expect(own);
        }
      });
    });
    // MPI demands MPI_IN_PLACE in all ranks or in none.
    EXPECT_GT(record.reductions, 0);
    EXPECT_EQ(record.reductions, record.reductions_in_place);
  });
}

TEST_F(MpiCollective, AllReduceInPlaceInSomeRanksDoesNotBlockInTest) {
  if (comm.size() == 1 || run_mode() != mode::threaded) GTEST_SKIP();
  auto const state = detail::connect_mpi(MPI_COMM_WORLD, small_chunks());
  std::size_t const n = 1000;
  auto from = pinned_array<int>(2 * n), to = pinned_array<int>(n);
  std::fill(from.begin(), from.end(), comm.rank() + 1);
  std::fill(to.begin(), to.end(), comm.rank() + 1);
  host_view<int, 1> const with_gaps(from.data(), shape<1>{n}, strides<1>{2});
  stream const late(non_blocking);
  stream_ref const order(late);
  gate gate;
  gate.close(late);
  std::atomic<bool> has_finished = false;
  std::thread rescuer([&] {  // a call that blocks fails the test instead of blocking it
    auto const begin = std::chrono::steady_clock::now();
    while (!has_finished) {
      if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(20)) gate.open();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  auto const begin = std::chrono::steady_clock::now();
  // Only the other ranks pack their elements, to scratch memory in host memory.
  std::optional<detail::mpi_operand> source;
  if (comm.rank() != 0) source = detail::mpi_operand_of(with_gaps);
  auto operation = detail::begin_mpi_all_reduce(*state, MPI_INT, source, detail::mpi_operand_of(to),
                                                MPI_SUM, &order);
  auto const elapsed = [&] { return std::chrono::steady_clock::now() - begin; };
  until([&] { return state->test(operation) || elapsed() > std::chrono::milliseconds(300); });
  EXPECT_LT(elapsed(), std::chrono::seconds(10));
  EXPECT_FALSE(operation->is_done);
  MPI_Barrier(MPI_COMM_WORLD);
  gate.open();
  until([&] { return state->test(operation); });
  has_finished = true;
  rescuer.join();
  int const sum = comm.size() * (comm.size() + 1) / 2;
  EXPECT_TRUE(std::all_of(to.begin(), to.end(), [&](int element) { return element == sum; }));
}

template <class T>
T reduced(mpi_communicator const& comm, T own, MPI_Op operation) {
  device_array<T, 1> array({1000});
  array.fill(own);
  comm.all_reduce(array, operation);
  return array.copy_to_host()(999);
}

TEST_F(MpiCollective, AllReduceKnowsElementTypes) {
  int const last = comm.size() - 1;
  EXPECT_EQ(reduced<std::int8_t>(comm, static_cast<std::int8_t>(-comm.rank()), MPI_MIN), -last);
  EXPECT_EQ(reduced<std::uint16_t>(comm, static_cast<std::uint16_t>(comm.rank()), MPI_MAX), last);
  EXPECT_EQ(reduced<long long>(comm, comm.rank(), MPI_MAX), last);
  EXPECT_EQ(reduced<float>(comm, 2.0f, MPI_PROD), static_cast<float>(1 << comm.size()));
  EXPECT_EQ(reduced<std::complex<float>>(comm, {1, 2}, MPI_SUM),
            std::complex<float>(1, 2) * static_cast<float>(comm.size()));
  EXPECT_EQ(reduced<bool>(comm, comm.rank() == last, MPI_LOR), true);
  static_assert(!detail::mpi_reducible<element_of<12>>);
}

TEST_F(MpiCollective, MixesDefaultOptionsAndMemories) {
  // Some ranks have device memory and the others host memory.
  mpi_communicator const plain(
      MPI_COMM_WORLD,
      {.device_memory = is_direct ? mpi_device_memory::direct : mpi_device_memory::staged});
  auto device = to_device(std::vector<float>(3'000, 1.0f));
  std::vector<float> host(3'000, 1.0f);
  for (mpi_communicator const* group : {&plain, static_cast<mpi_communicator const*>(&comm)}) {
    if (comm.rank() % 2 == 0) {
      group->all_reduce(device, MPI_SUM);
    } else {
      group->all_reduce(host, MPI_SUM);
    }
  }
  if (comm.rank() % 2 == 0) device.copy_to_host(host);
  EXPECT_EQ(host[2'999], static_cast<float>(comm.size() * comm.size()));
}

// Order

TEST_F(MpiOrder, SendComesAfterEarlierWorkOfTheStream) {
  std::size_t const n = 20'000;
  device_array<int, 1> from({n}), to({n});
  std::vector<int> const numbers(n, comm.rank() + 1);
  from.zero();
  to.zero();
  stream stream;
  std::vector<int> result(n);
  from.copy_to_device(numbers, stream);
  auto send = comm.isend(from(slice(none, none, -1)), next(), 0, stream);
  to.fill(-1, stream);
  comm.receive(to(slice(none, none, -1)), previous(), 0, stream);
  to.copy_to_host(result, stream);  // not synchronized before
  stream.synchronize();
  send.wait();
  EXPECT_EQ(result, std::vector<int>(n, previous() + 1));
}

TEST_F(MpiOrder, HostMemoryIsSentAfterEarlierWorkOfTheStream) {
  auto const device = to_device(std::vector<int>(1000, comm.rank() + 1));
  auto pinned = pinned_array<int>(1000);
  std::vector<int> to(1000);
  stream stream;
  device.copy_to_host(pinned, stream);
  auto send = comm.isend(pinned, next(), 0, stream);
  comm.receive(to, previous());
  send.wait();
  EXPECT_EQ(to, std::vector<int>(1000, previous() + 1));
}

TEST_F(MpiOrder, WithoutStreamComesAfterAllWork) {
  device_array<int, 1> from({1000}), to({1000});
  stream stream(non_blocking);
  from.fill(comm.rank() + 1, stream);
  comm.sendrecv(from, next(), to, previous());
  EXPECT_EQ(to.copy_to_host()(500), previous() + 1);
}

TEST_F(MpiOrder, CollectiveComesAfterEarlierWorkOfTheStream) {
  device_array<int, 1> array({1000});
  array.zero();
  stream stream;
  array.fill(comm.rank() + 1, stream);
  comm.all_reduce(array, MPI_MAX, stream);
  std::vector<int> result(1000);
  array.copy_to_host(result, stream);
  stream.synchronize();
  EXPECT_EQ(result, std::vector<int>(1000, comm.size()));
}

// Errors

/// Expects that f() throws an E whose message contains `text`.
template <class E, class F>
void expect_error(F f, std::string const& text) {
  try {
    f();
    FAIL() << "no error: " << text;
  } catch (E const& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST_F(MpiError, OtherShapeOfMessageIsFoundBeforeElementsAreWritten) {
  for (std::size_t n : {10U, 1000U}) {
    for (std::size_t m : {11U, 1001U, 5000U}) {
      device_array<int, 2> from({n, 2}), to({m, 2});
      to.fill(7);
      auto send = comm.isend(from, next(), 1);
      expect_error<shape_error>(
          [&] { comm.receive(to, previous(), 1); },
          "sent (" + std::to_string(n) + ", 2), receiving array (" + std::to_string(m) + ", 2)");
      send.wait();
      EXPECT_EQ(to.copy_to_host()(0, 0), 7);
      // The next message is not affected.
      device_array<int, 2> right({n, 2});
      comm.sendrecv(from, next(), right, previous());
    }
  }
}

TEST_F(MpiError, OtherElementTypeOfMessageIsFound) {
  std::vector<float> from(1000);
  std::vector<int> to(1000);
  auto send = comm.isend(from, next());
  expect_error<mpi_error>([&] { comm.receive(to, previous()); }, "float32, requested int32");
}

TEST_F(MpiError, DisagreementOfRanksIsFoundInAllRanks) {
  if (comm.size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  auto const mine = static_cast<std::size_t>(comm.rank() == 0 ? 1 : 2);
  std::vector<int> array(100 * mine), whole(100 * static_cast<std::size_t>(comm.size()));
  std::vector<float> floats(100 * mine);
  std::vector<int> equal(100);
  expect_error<shape_error>([&] { comm.broadcast(array, 0); }, "different shapes");
  expect_error<mpi_error>([&] { comm.broadcast(equal, comm.rank()); }, "different roots");
  expect_error<mpi_error>([&] { comm.all_reduce(equal, mine == 1 ? MPI_SUM : MPI_MAX); }, "MPI_Op");
  expect_error<mpi_error>(
      [&] { mine == 1 ? comm.broadcast(equal, 0) : comm.gather(equal, whole, 0); },
      "different collective operations");
  expect_error<mpi_error>(
      [&] { mine == 1 ? comm.broadcast(equal, 0) : comm.broadcast(std::vector<float>(100), 0); },
      "different element types");
  // The communicator works on.
  comm.all_reduce(equal, MPI_SUM);
}

TEST_F(MpiError, InvalidArgumentsOfOneRankAreKnownToAll) {
  std::vector<int> part(10), wrong(10 * static_cast<std::size_t>(comm.size()) + 1);
  if (comm.rank() == 0) {
    expect_error<shape_error>([&] { comm.gather(part, wrong, 0); }, "a block for each rank");
    expect_error<shape_error>([&] { comm.gather(part, 0); }, "the root needs an array");
  } else {
    expect_error<mpi_error>([&] { comm.gather(part, wrong, 0); }, "another rank");
    expect_error<mpi_error>([&] { comm.gather(part, 0); }, "another rank");
  }
  if (comm.size() > 1) {
    expect_error<shape_error>([&] { comm.all_to_all(wrong, wrong); }, "multiple");
  }
  expect_error<mpi_error>([&] { comm.broadcast(part, comm.size()); }, "as root");
}

TEST_F(MpiError, MovedFromArrayOfOneRankIsKnownToAll) {
  device_array<int, 1> array({12}), other({12});  // a multiple of the number of ranks
  bool const is_first = comm.rank() == 0;
  if (is_first) {
    auto const moved_to = std::move(array);
  }
  auto const expect_refusal = [&](auto const& call) {
    is_first ? expect_error<lifetime_error>(call, "moved from")
             : expect_error<mpi_error>(call, "another rank");
  };
  device_array<int, 1> whole({12 * static_cast<std::size_t>(comm.size())});
  expect_refusal([&] { comm.broadcast(array, 0); });
  expect_refusal([&] { comm.gather(array, whole, 0); });
  expect_refusal([&] { comm.scatter(whole, array, 0); });
  expect_refusal([&] { comm.all_reduce(array, MPI_SUM); });
  expect_refusal([&] { comm.all_reduce(other, array, MPI_SUM); });
  expect_refusal([&] { comm.all_to_all(array, other); });
  // The communicator works on.
  comm.all_reduce(other, MPI_SUM);
}

// A call without a stream reports earlier errors of the devices before it begins.
TEST_F(MpiError, EarlierErrorInOneRankIsKnownToAll) {
  std::vector<int> array(10, comm.rank());
  if (comm.rank() == 0) {
    stream_ref().launch_host_function([] { throw 7; });
    EXPECT_THROW(comm.all_reduce(array, MPI_SUM), int);
  } else {
    expect_error<mpi_error>([&] { comm.all_reduce(array, MPI_SUM); }, "another rank");
  }
  // The communicator works on.
  comm.broadcast(array, 0);
  EXPECT_EQ(array, std::vector<int>(10, 0));
}

// Other ranks may be at another chunk: what follows would be mixed with it.
TEST_F(MpiError, CommunicatorIsNotUsedAfterCollectiveHasFailedInTheMiddle) {
  mpi_communicator const alone(MPI_COMM_SELF, small_chunks());
  if (alone.takes_device_pointers()) GTEST_SKIP() << "nothing is copied";
  auto array = to_device(std::vector<int>(1000, 3));
  ASSERT_TRUE(platform::fail_call("hipMemcpyAsync", 2, hipErrorUnknown));
  EXPECT_THROW(alone.all_reduce(array, MPI_SUM), roc::error);
  platform::clear_failures();
  expect_error<mpi_error>([&] { alone.all_reduce(array, MPI_SUM); }, "was given up");
  // Other communicators work on.
  comm.all_reduce(array, MPI_MAX);
}

TEST_F(MpiError, InvalidRankTagOrOptionIsFound) {
  std::vector<int> array(10);
  expect_error<mpi_error>([&] { comm.send(array, comm.size()); }, "there is no rank");
  expect_error<mpi_error>([&] { comm.send(array, MPI_ANY_SOURCE); }, "there is no rank");
  expect_error<mpi_error>([&] { comm.send(array, 0, -5); }, "out of range");
  expect_error<mpi_error>([&] { comm.receive(array, -7); }, "there is no rank");
  expect_error<mpi_error>(
      [&] {
        mpi_communicator const other(MPI_COMM_WORLD, {.chunk = comm.rank() == 0 ? 1U : 4096U});
      },
      "out of range");
  expect_error<mpi_error>([] { mpi_communicator const none(MPI_COMM_NULL); }, "MPI_COMM_NULL");
}

TEST_F(MpiError, PerThreadStreamIsFound) {
  device_array<int, 1> array({1000});
  std::vector<int> host(1000);
  auto const stream = per_thread_stream();
  auto const refuses = [&](auto call) {
    try {
      call();
      FAIL() << "no error";
    } catch (error const& error) {
      EXPECT_EQ(error.code(), std::errc::invalid_argument);
      EXPECT_NE(std::string(error.what()).find("use a stream of your own"), std::string::npos)
          << error.what();
    }
  };
  refuses([&] { comm.send(array, next(), 0, stream); });
  refuses([&] { static_cast<void>(comm.ireceive(host, previous(), 0, stream)); });
  refuses([&] { comm.sendrecv(host, next(), array, previous(), 0, stream); });
  refuses([&] { comm.broadcast(host, 0, stream); });
  if (comm.rank() == 0) {
    refuses([&] { comm.all_reduce(array, MPI_SUM, stream); });
  } else {
    expect_error<mpi_error>([&] { comm.all_reduce(array, MPI_SUM); }, "another rank");
  }
  // Nothing was begun.
  array.fill(comm.rank());
  comm.sendrecv(array, next(), host, previous());
  EXPECT_EQ(host, std::vector<int>(1000, previous()));
}

// Only with ROCARRAY_HOST_DEVICES=2.
class MpiDevices : public Mpi {
 protected:
  void SetUp() override {
    if (device::count() < 2) GTEST_SKIP() << "needs two devices";
  }
};

TEST_F(MpiDevices, WithoutStreamComesAfterWorkOfOtherDeviceOnHostMemory) {
  auto pinned = pinned_array<int>(1000);
  std::fill(pinned.begin(), pinned.end(), -1);
  std::vector<int> to(1000), sum(1000);
  device_guard const second(device(1));
  auto const array = to_device(std::vector<int>(1000, comm.rank() + 1));
  stream stream(non_blocking);
  array.copy_to_host(pinned, stream);
  {
    device_guard const first(device(0));
    comm.sendrecv(pinned, next(), to, previous());
  }
  EXPECT_EQ(to, std::vector<int>(1000, previous() + 1));
  auto const ones = to_device(std::vector<int>(1000, 1));
  ones.copy_to_host(pinned, stream);
  {
    device_guard const first(device(0));
    comm.all_reduce(pinned, sum, MPI_SUM);
  }
  EXPECT_EQ(sum, std::vector<int>(1000, comm.size()));
}

TEST_F(MpiDevices, WithoutStreamOperandsMayBeOnTwoDevices) {
  std::size_t const n = 900;
  device_guard const first(device(0));
  device_array<int, 1> to({2 * n});
  to.zero();
  stream to_stream(non_blocking);
  to.fill(-7, to_stream);
  device_guard const second(device(1));
  device_array<int, 1> from({2 * n});
  from.zero();
  stream from_stream(non_blocking);
  for (bool is_first_current : {true, false}) {
    device_guard const current(device(is_first_current ? 0 : 1));
    // Gaps on both sides: packed on the device of each.
    auto const source = from(slice(0, 2 * n, 2)), target = to(slice(1, 2 * n, 2));
    from.fill(comm.rank() + 1, from_stream);
    comm.all_reduce(source, target, MPI_SUM);
    auto result = to.copy_to_host();
    int const sum = comm.size() * (comm.size() + 1) / 2;
    for (std::size_t i = 0; i < 2 * n; ++i) ASSERT_EQ(result(i), i % 2 == 0 ? -7 : sum) << i;
    from.fill(comm.rank() + 100, from_stream);
    comm.sendrecv(source, next(), target, previous());
    result = to.copy_to_host();
    for (std::size_t i = 0; i < 2 * n; ++i) {
      ASSERT_EQ(result(i), i % 2 == 0 ? -7 : previous() + 100) << i;
    }
  }
}

TEST_F(MpiDevices, AllReduceInPlaceInSomeRanksFromDeviceThatIsNotCurrent) {
  // With a limit, so that the other ranks do not wait for ever if this one fails.
  mpi_communicator const group(MPI_COMM_WORLD, {.device_memory = small_chunks().device_memory,
                                                .chunk = 256,
                                                .inline_limit = 128,
                                                .time_limit = std::chrono::seconds(60)});
  std::size_t const n = 900;
  device_guard const second(device(1));
  device_array<int, 1> from({2 * n});
  from.fill(comm.rank() + 1);
  device_guard const first(device(0));
  int const sum = comm.size() * (comm.size() + 1) / 2;
  for (mpi_communicator const* used : {&group, static_cast<mpi_communicator const*>(&comm)}) {
    std::vector<int> host(n, comm.rank() + 1);
    if (comm.rank() == 0) {
      used->all_reduce(host, MPI_SUM);
    } else {
      used->all_reduce(from(slice(0, 2 * n, 2)), host, MPI_SUM);
    }
    EXPECT_EQ(host, std::vector<int>(n, sum));
  }
}

TEST_F(MpiDevices, MpiIsCalledOnTheDeviceOfTheMemoryThatItGets) {
  if (!comm.takes_device_pointers()) GTEST_SKIP() << "device memory is not passed to MPI";
  device_guard const second(device(1));
  device_array<float, 1> array({1000}), other({1000});
  array.fill(static_cast<float>(comm.rank() + 1));
  device_guard const first(device(0));
  auto const expect_calls_on_second = [&](device_array<float, 1> const& passed, auto call) {
    auto const address = reinterpret_cast<std::uintptr_t>(passed.data());
    record = {.low = address, .high = address + passed.size_bytes(), .device = 1};
    call();
    EXPECT_GT(record.calls, 0);
    EXPECT_EQ(record.calls_on_other_device, 0);
  };
  expect_calls_on_second(array, [&] { comm.sendrecv(array, next(), other, previous()); });
  expect_calls_on_second(other, [&] { comm.sendrecv(array, next(), other, previous()); });
  expect_calls_on_second(array, [&] { comm.all_reduce(array, MPI_SUM); });
  record = {};
  EXPECT_EQ(other.copy_to_host()(999), static_cast<float>(previous() + 1));
  EXPECT_EQ(array.copy_to_host()(999), static_cast<float>(comm.size() * (comm.size() + 1) / 2));
}

TEST_F(MpiDevices, StreamOfOtherDeviceIsFound) {
  device_guard const first(device(0));
  device_array<int, 1> array({1000});
  array.zero();
  stream stream;
  device_guard const second(device(1));
  device_array<int, 1> other({1000});
  other.zero();
  std::string const text = "the stream is on device 0, but the array is on device 1";
  expect_error<error>([&] { static_cast<void>(comm.isend(other, next(), 0, stream)); }, text);
  expect_error<error>([&] { comm.receive(other, previous(), 0, stream); }, text);
  expect_error<error>([&] { comm.sendrecv(array, next(), other, previous(), 0, stream); }, text);
  expect_error<error>([&] { comm.all_reduce(array, other, MPI_SUM, stream); }, text);
  if (comm.rank() == 0) {
    expect_error<error>([&] { comm.broadcast(other, 0, stream); }, text);
  } else {
    expect_error<mpi_error>([&] { comm.broadcast(array, 0, stream); }, "another rank");
  }
  device_guard const first_again(device(0));
  device_array<int, 1> received({1000});
  comm.sendrecv(array, next(), received, previous(), 0, stream);
}

// Time limits

class MpiTimeLimit : public Mpi {
 protected:
  /// Expects that f() exceeds the time limit.
  template <class F>
  static void expect_timeout(F f) {
    try {
      f();
      ADD_FAILURE() << "no error";
    } catch (mpi_timeout_error const& error) {
      EXPECT_EQ(error.code(), std::errc::timed_out);
      EXPECT_NE(std::string(error.what()).find("not complete after 500 ms"), std::string::npos)
          << error.what();
    }
  }
  /// Completes a request without its limit. After 60 s the test fails.
  static void complete(mpi_request& request) {
    until([&] { return request.test(); });
    request.wait();
  }
  /// Lets what MPI still does complete, so that nothing is leaked.
  static void proceed(mpi_communicator const& group) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 1000; ++i) {
      group.send(std::vector<int>(1), MPI_PROC_NULL);
      std::this_thread::yield();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  static mpi_options options(std::chrono::milliseconds limit) {
    return {.device_memory = small_chunks().device_memory,
            .chunk = std::size_t{1} << 20,  // MPI does not buffer them
            .inline_limit = 128,
            .time_limit = limit};
  }

  /// Opens a gate after a time in which a wait would exceed the limit.
  static std::jthread open_after_limit(gate& closed) {
    return std::jthread([&closed] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      closed.open();
    });
  }

  mpi_communicator limited{MPI_COMM_WORLD, options(std::chrono::milliseconds(500))};
  mpi_communicator self{MPI_COMM_SELF, options(std::chrono::milliseconds(500))};  // never late
};

TEST_F(MpiTimeLimit, OfReceiveLeavesTheArrayAndLaterMessagesAlone) {
  for (std::size_t n : {10U, 300'000U}) {
    std::vector<int> from(n, comm.rank() + 1), host(n, -1), strided(2 * n, -1), to(n);
    auto device = to_device(host);
    expect_timeout([&] { limited.receive(host, previous()); });
    expect_timeout([&] { limited.receive(device, previous()); });
    host_view<int, 1> const with_gaps(strided.data(), shape<1>{n}, strides<1>{2});
    expect_timeout([&] { limited.receive(with_gaps, previous()); });
    auto const previous_hook = set_log_hook([](char const*) noexcept { ++late_errors; });
    static_cast<void>(limited.ireceive(host, previous()));  // the destructor has the limit too
    set_log_hook(previous_hook);
    EXPECT_EQ(late_errors.exchange(0), 1);
    MPI_Barrier(MPI_COMM_WORLD);
    auto sent = limited.isend(from, next());
    auto received = limited.ireceive(to, previous());
    complete(received);
    complete(sent);
    EXPECT_EQ(to, std::vector<int>(n, previous() + 1));
    EXPECT_EQ(host, std::vector<int>(n, -1));
    EXPECT_EQ(strided, std::vector<int>(2 * n, -1));
    EXPECT_EQ(device.copy_to_host()(n - 1), -1);
    proceed(limited);
  }
}

TEST_F(MpiTimeLimit, OfSendNoLongerReadsTheArray) {
  std::size_t const n = 700'000;  // three chunks: not more than are in flight
  for (memory where : memories) {
    std::vector<int> host(n, comm.rank() + 1), to(n);
    auto device = to_device(host);
    record = {};
    auto sent = where == memory::host ? limited.isend(host, next()) : limited.isend(device, next());
    // After the time limit, chunks that were not passed to MPI are not sent.
    until([&] { return sent.test() || record.sends == 4; });
    expect_timeout([&] { sent.wait(); });
    std::fill(host.begin(), host.end(), -1);
    device.fill(-1);
    MPI_Barrier(MPI_COMM_WORLD);  // nobody receives before
    auto received = limited.ireceive(to, previous());
    complete(received);
    EXPECT_EQ(to, std::vector<int>(n, previous() + 1));
    proceed(limited);
  }
}

TEST_F(MpiTimeLimit, OfCollectiveIsKnownToLaterOnes) {
  if (comm.size() == 1) GTEST_SKIP() << "no rank is late";
  std::size_t const n = 300'000;
  std::vector<int> host(n, comm.rank() + 1), to(n);
  if (comm.rank() != 0) {
    expect_timeout([&] { limited.broadcast(host, 0); });
    expect_error<mpi_error>([&] { limited.broadcast(host, 0); }, "create another communicator");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank() == 0) {
    EXPECT_THROW(limited.all_reduce(host, MPI_SUM), mpi_error);
  }
  proceed(limited);
  EXPECT_EQ(host, std::vector<int>(n, comm.rank() + 1));
  // Messages still work.
  auto received = limited.ireceive(to, previous());
  auto sent = limited.isend(host, next());
  complete(received);
  complete(sent);
  EXPECT_EQ(to, std::vector<int>(n, previous() + 1));
}

TEST_F(MpiTimeLimit, ChangesNoResult) {
  auto small = options(std::chrono::milliseconds::max());
  small.chunk = 256;
  mpi_communicator const patient(MPI_COMM_WORLD, small);
  EXPECT_FALSE(patient.takes_device_pointers());
  send_around<double>(patient, shape<2>{9, 11});
  collective_operations<float>(patient, shape<2>{3, 5});
}

TEST_F(MpiTimeLimit, DoesNotCountWorkOfTheStreamOfASend) {
  if (run_mode() != mode::threaded) GTEST_SKIP() << "nothing holds work back";
  for (std::size_t n : {10U, 300'000U}) {  // inline, and in chunks
    auto const from = to_device(std::vector<int>(n, 7));
    std::vector<int> const other(10, 8);
    std::vector<int> to(n), to_other(10);
    stream late(non_blocking), idle(non_blocking);
    auto received = self.ireceive(to, 0, 0);
    auto received_other = self.ireceive(to_other, 0, 1);
    gate gate;
    gate.close(late);
    auto sent = self.isend(from, 0, 0, late);
    auto sent_other = self.isend(other, 0, 1, idle);  // must not overtake
    std::jthread const opener = open_after_limit(gate);
    sent_other.wait();
    sent.wait();
    complete(received);
    complete(received_other);
    EXPECT_EQ(to, std::vector<int>(n, 7));
    EXPECT_EQ(to_other, other);
  }
}

TEST_F(MpiTimeLimit, DoesNotCountCopiesOfAReceive) {
  if (run_mode() != mode::threaded) GTEST_SKIP() << "nothing holds work back";
  if (gates_hold_all_streams) GTEST_SKIP() << "the message would not be sent";
  // Inline; all chunks arrive before the first is copied; more chunks than are in flight.
  for (std::size_t n : {10U, 700'000U, 1'500'000U}) {
    std::vector<int> const from(n, 7);
    auto to = to_device(std::vector<int>(2 * n, -1));
    stream late(non_blocking), idle(non_blocking);
    gate gate;
    gate.close(late);
    auto received = self.ireceive(to(slice(0, 2 * n, 2)), 0, 0, late);
    auto sent = self.isend(from, 0, 0, idle);
    std::jthread const opener = open_after_limit(gate);
    received.wait();
    complete(sent);
    std::vector<int> result(2 * n);
    to.copy_to_host(result, late);
    late.synchronize();
    for (std::size_t i = 0; i < 2 * n; ++i) ASSERT_EQ(result[i], i % 2 == 0 ? 7 : -1) << i;
  }
}

TEST_F(MpiTimeLimit, DoesNotCountWorkOfTheStreamOfACollective) {
  if (run_mode() != mode::threaded) GTEST_SKIP() << "nothing holds work back";
  for (std::size_t n : {10U, 1'500'000U}) {
    auto array = to_device(std::vector<int>(2 * n, 7));
    stream late(non_blocking);
    gate gate;
    gate.close(late);
    std::jthread const opener = open_after_limit(gate);
    self.all_reduce(array(slice(0, 2 * n, 2)), MPI_SUM, late);
    late.synchronize();
    EXPECT_EQ(array.copy_to_host()(2 * n - 1), 7);
  }
}

TEST_F(MpiTimeLimit, OfExchangeAppliesToBothDirections) {
  if (comm.size() == 1) GTEST_SKIP() << "the message to itself would match";
  std::chrono::seconds const limit(1);
  mpi_communicator const group(MPI_COMM_WORLD, options(limit));
  std::vector<int> const from(200'000, comm.rank() + 1);  // one chunk
  // Two limits, one after the other, would always take twice as long. One limit may, on a busy
  // machine.
  int is_short = 0;  // in all ranks
  for (int attempt = 0; is_short == 0 && attempt != 10; ++attempt) {
    std::vector<int> to(from.size());
    auto const previous_hook = set_log_hook([](char const*) noexcept { ++late_errors; });
    auto const begin = std::chrono::steady_clock::now();
    // Each rank receives another tag than the previous one sends.
    EXPECT_THROW(group.sendrecv(from, next(), to, previous(), comm.rank()), mpi_timeout_error);
    is_short = std::chrono::steady_clock::now() - begin < 2 * limit ? 1 : 0;
    set_log_hook(previous_hook);
    EXPECT_EQ(late_errors.exchange(0), 1);  // of the receive
    MPI_Allreduce(MPI_IN_PLACE, &is_short, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    auto received = group.ireceive(to, previous(), previous());
    complete(received);
    EXPECT_EQ(to, std::vector<int>(to.size(), previous() + 1));
    proceed(group);
  }
  EXPECT_EQ(is_short, 1);
}

TEST_F(MpiTimeLimit, ErrorDoesNotWaitForOtherRanks) {
  // The limit is long for the send, which must not exceed it on a busy machine.
  auto const state = detail::connect_mpi(MPI_COMM_WORLD, options(std::chrono::seconds(60)));
  std::vector<int> const from(700'000, comm.rank() + 1);  // three chunks
  std::vector<int> to(from.size());
  record = {.failing_send = 3};  // the second chunk
  try {
    auto sent = detail::begin_mpi_send(*state, detail::mpi_operand_of(from), next(), 0, nullptr);
    detail::mpi_wait_timer timer(state->time_limit);
    state->wait(sent, timer);
    ADD_FAILURE() << "no error";
  } catch (mpi_timeout_error const& error) {
    ADD_FAILURE() << error.what();
  } catch (mpi_error const& error) {
    EXPECT_STREQ(error.call(), "MPI_Isend");
  }
  record = {};
  MPI_Barrier(MPI_COMM_WORLD);  // nobody receives before
  state->time_limit = std::chrono::milliseconds(500);
  auto received =
      detail::begin_mpi_receive(*state, detail::mpi_operand_of(to), previous(), 0, nullptr);
  detail::mpi_wait_timer timer(state->time_limit);
  expect_timeout([&] { state->wait(received, timer); });
  until([&] {
    std::scoped_lock const held(state->mutex);
    state->advance_locked();
    return state->abandoned->empty();
  });
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(MpiTimeLimit, AbandonedSendIsReleasedWhenItIsReceived) {
  auto const state = detail::connect_mpi(MPI_COMM_WORLD, options(std::chrono::milliseconds(500)));
  std::size_t const n = 200'000;  // one chunk
  std::vector<int> to(n);
  auto const previous_hook = set_log_hook([](char const*) noexcept { ++late_errors; });
  {
    auto from = to_device(std::vector<int>(2 * n, comm.rank() + 1));
    stream const stream;
    stream_ref const order(stream);
    auto const elements = from(slice(0, 2 * n, 2));
    auto sent = detail::begin_mpi_send(*state, detail::mpi_operand_of(elements), next(), 0, &order);
    detail::mpi_wait_timer timer(state->time_limit);
    expect_timeout([&] { state->wait(sent, timer); });
    EXPECT_EQ(sent, nullptr);
    EXPECT_EQ(state->abandoned->size(), 1U);
  }  // the stream and the array are destroyed before MPI has sent the elements
  MPI_Barrier(MPI_COMM_WORLD);
  auto received =
      detail::begin_mpi_receive(*state, detail::mpi_operand_of(to), previous(), 0, nullptr);
  until([&] { return state->test(received); });
  until([&] {
    std::scoped_lock const held(state->mutex);
    state->advance_locked();
    return state->abandoned->empty();
  });
  set_log_hook(previous_hook);
  EXPECT_EQ(to, std::vector<int>(n, previous() + 1));
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(MpiTimeLimit, DestructorOfPendingReceiveNeedsNoMemory) {
  for (memory where : memories) {
    std::vector<int> const from(100, 7);
    std::vector<int> host(100, -1), to(100);
    auto device = to_device(host);
    auto const previous_hook = set_log_hook([](char const*) noexcept { ++late_errors; });
    std::optional<mpi_request> request;
    if (where == memory::host) {
      request.emplace(self.ireceive(host, 0));
    } else {
      request.emplace(self.ireceive(device, 0));
    }
    fail_new_of_all_threads(1, true);
    request.reset();
    stop_failing_new();
    set_log_hook(previous_hook);
    EXPECT_EQ(late_errors.exchange(0), 1);
    // The message goes to the next receive.
    auto sent = self.isend(from, 0);
    auto received = self.ireceive(to, 0);
    complete(received);
    complete(sent);
    EXPECT_EQ(to, from);
    EXPECT_EQ(host, std::vector<int>(100, -1));
    EXPECT_EQ(device.copy_to_host()(99), -1);
  }
}

// The state of a communicator, with operations that the tests control

/// An operation that is never done.
class test_operation final : public detail::mpi_operation {
 public:
  bool advance(bool) override {
    if (on_advance) on_advance();
    return false;
  }
  void finish_copies() noexcept override {
    if (on_finish) on_finish();
  }
  bool is_idle() noexcept override {
    ++idle_queries;
    return idle;
  }
  bool is_waiting_for_device() noexcept override { return is_waiting; }

  std::function<void()> on_advance;
  std::function<void()> on_finish;
  bool idle = false;
  bool is_waiting = false;
  int idle_queries = 0;
};

class MpiProgress : public Mpi {
 protected:
  static constexpr std::chrono::milliseconds limit{2};

  /// Adds an operation to the state, and returns it as a request has it.
  std::shared_ptr<detail::mpi_operation> add(std::shared_ptr<test_operation> operation) const {
    std::scoped_lock const held(state->mutex);
    state->add_locked(operation);
    return operation;
  }
  void advance() const {
    std::scoped_lock const held(state->mutex);
    state->advance_locked();
  }
  /// Waits for an operation longer than the limit.
  void exceed_limit(std::shared_ptr<test_operation> operation) const {
    auto added = add(std::move(operation));
    detail::mpi_wait_timer timer(limit);
    EXPECT_THROW(state->wait(added, timer), mpi_timeout_error);
    EXPECT_EQ(added, nullptr);
    EXPECT_TRUE(state->pending.empty());
  }

  std::shared_ptr<detail::mpi_state> state =
      detail::connect_mpi(MPI_COMM_SELF, {.time_limit = limit});
};

TEST_F(MpiProgress, ErrorThatAnotherThreadFoundAfterTheLastTestIsThrown) {
  auto const operation = std::make_shared<test_operation>();
  operation->idle = true;
  auto added = add(operation);
  detail::mpi_wait_timer timer(limit);
  until([&] { return timer.is_exceeded(); });
  EXPECT_FALSE(state->test(added));
  operation->on_advance = [] { throw shape_error("of another thread"); };
  std::thread([&] { advance(); }).join();
  EXPECT_NO_THROW(state->check_time(added, timer));  // the next step of wait()
  ASSERT_NE(added, nullptr);
  EXPECT_THROW(state->wait(added, timer), shape_error);
}

TEST_F(MpiProgress, TimerRestartsWhileTheOperationWaitsForTheDevice) {
  auto const operation = std::make_shared<test_operation>();
  operation->idle = operation->is_waiting = true;
  auto added = add(operation);
  detail::mpi_wait_timer timer(limit);
  until([&] { return timer.is_exceeded(); });
  EXPECT_NO_THROW(state->check_time(added, timer));
  ASSERT_NE(added, nullptr);
  operation->is_waiting = false;
  EXPECT_THROW(state->wait(added, timer), mpi_timeout_error);
}

TEST_F(MpiProgress, FirstPollAfterWorkOfTheDeviceRestartsTheLimit) {
  auto const operation = std::make_shared<test_operation>();
  operation->idle = operation->is_waiting = true;
  auto added = add(operation);
  detail::mpi_wait_timer timer(limit);
  EXPECT_NO_THROW(state->check_time(added, timer));
  // Until the next poll takes longer than the limit; the device finishes meanwhile.
  until([&] { return timer.is_exceeded(); });
  operation->is_waiting = false;
  EXPECT_NO_THROW(state->check_time(added, timer));
  ASSERT_NE(added, nullptr);
  until([&] { return timer.is_exceeded(); });
  EXPECT_THROW(state->check_time(added, timer), mpi_timeout_error);
}

TEST_F(MpiProgress, AbandonedOperationIsDestroyedOnceItIsIdle) {
  auto operation = std::make_shared<test_operation>();
  auto& controlled = *operation;
  std::weak_ptr<test_operation> const observer = operation;
  exceed_limit(std::move(operation));
  advance();
  EXPECT_EQ(state->abandoned->size(), 1U);
  ASSERT_FALSE(observer.expired());
  controlled.idle = true;
  advance();
  EXPECT_TRUE(state->abandoned->empty());
  EXPECT_TRUE(observer.expired());
}

TEST_F(MpiProgress, OperationThatMpiStillUsesIsLeakedWithALineInTheLog) {
  auto operation = std::make_shared<test_operation>();
  std::weak_ptr<test_operation> const observer = operation;
  exceed_limit(std::move(operation));
  auto const previous_hook = set_log_hook([](char const* line) noexcept {
    if (std::strstr(line, "other ranks had not completed them") != nullptr) ++late_errors;
  });
  state = nullptr;
  set_log_hook(previous_hook);
  EXPECT_EQ(late_errors.exchange(0), 1);
  EXPECT_FALSE(observer.expired());
}

// A query of the operation would call MPI.
TEST_F(MpiProgress, StateDestroyedInThreadThatMustNotCallMpiIsLeakedWithoutQuery) {
  auto operation = std::make_shared<test_operation>();
  auto& controlled = *operation;
  std::weak_ptr<test_operation> const observer = operation;
  exceed_limit(std::move(operation));
  state->thread_level = MPI_THREAD_FUNNELED;
  auto const previous_hook = set_log_hook([](char const* line) noexcept {
    if (std::strstr(line, "in a thread that must not call MPI") != nullptr) ++late_errors;
  });
  controlled.idle = true;
  int const queries = controlled.idle_queries;
  record = {};
  std::thread([owner = std::move(state)]() mutable { owner = nullptr; }).join();
  set_log_hook(previous_hook);
  EXPECT_EQ(late_errors.exchange(0), 1);
  EXPECT_EQ(record.freed_communicators, 0);
  ASSERT_FALSE(observer.expired());
  EXPECT_EQ(controlled.idle_queries, queries);
}

// Without the list of what is leaked, the operation's destructor would wait for other ranks.
TEST_F(MpiProgress, OperationThatMpiStillUsesIsGivenUpAndLeakedWithoutMemory) {
  auto operation = std::make_shared<test_operation>();
  std::weak_ptr<test_operation> const observer = operation;
  auto added = add(std::move(operation));
  auto const previous_hook = set_log_hook([](char const*) noexcept { ++late_errors; });
  bool is_given_up = false;
  fail_new_of_all_threads(1, true);
  try {
    state->give_up(added);
    is_given_up = true;
  } catch (std::bad_alloc const&) {
  }
  stop_failing_new();
  EXPECT_TRUE(is_given_up);
  fail_new_of_all_threads(1, true);
  state = nullptr;
  stop_failing_new();
  set_log_hook(previous_hook);
  EXPECT_EQ(late_errors.exchange(0), 1);
  EXPECT_FALSE(observer.expired());
}

TEST_F(MpiProgress, ErrorOfOperationThatMpiStillUsesIsThrownAtOnce) {
  auto operation = std::make_shared<test_operation>();
  operation->on_advance = [] { throw shape_error("of the operation"); };
  auto& controlled = *operation;
  std::weak_ptr<test_operation> const observer = operation;
  auto added = add(std::move(operation));
  EXPECT_THROW(state->test(added), shape_error);
  EXPECT_EQ(added, nullptr);
  ASSERT_FALSE(observer.expired());
  controlled.idle = true;
  advance();
  EXPECT_TRUE(observer.expired());
}

TEST_F(MpiProgress, OtherThreadsProceedWhileCopiesOfAnAbandonedOperationAreAwaited) {
  auto const operation = std::make_shared<test_operation>();
  operation->idle = true;
  std::atomic<bool> is_finishing = false;
  std::atomic<bool> has_advanced = false;
  operation->on_finish = [&] {
    is_finishing = true;
    until([&] { return has_advanced.load(); });
  };
  std::thread thread([&] {
    until([&] { return is_finishing.load(); });
    advance();
    has_advanced = true;
  });
  exceed_limit(operation);
  thread.join();
}

TEST_F(MpiError, OverlappingArraysAreFound) {
  auto const ranks = static_cast<std::size_t>(comm.size());
  device_array<int, 1> array({100 * ranks + 100});
  auto const first = array(slice(0, 100 * ranks)), second = array(slice(10, 100 * ranks + 10));
  EXPECT_THROW(comm.sendrecv(first, next(), first, previous()), overlap_error);
  EXPECT_THROW(comm.sendrecv(first, next(), array, previous()), overlap_error);
  EXPECT_THROW(comm.all_reduce(first, second, MPI_SUM), overlap_error);
  EXPECT_THROW(comm.all_to_all(first, first), overlap_error);
  std::vector<int> whole(10 * ranks);
  std::span<int> const part(whole.data(), 10);
  if (comm.rank() == 0) {
    EXPECT_THROW(comm.gather(part, whole, 0), overlap_error);
    EXPECT_THROW(comm.scatter(whole, part, 0), overlap_error);
  } else {
    EXPECT_THROW(comm.gather(part, 0), mpi_error);
    EXPECT_THROW(comm.scatter(part, 0), mpi_error);
  }
  // Interleaved ones share no element.
  comm.sendrecv(array(slice(0, 100, 2)), next(), array(slice(1, 100, 2)), previous());
}

TEST_F(MpiError, OfMpiHasItsTextAndCode) {
  std::vector<std::complex<double>> array(10);
  try {
    comm.all_reduce(array, MPI_MAX);  // complex numbers have no order
    FAIL();
  } catch (mpi_error const& error) {
    EXPECT_EQ(&error.code().category(), &mpi_category());
    EXPECT_STREQ(error.call(), "MPI_Allreduce");
    EXPECT_EQ(error.code(), std::errc::invalid_argument);
    EXPECT_NE(std::string(error.what()).find(error.code().message()), std::string::npos)
        << error.what();
    EXPECT_NE(error.location().line(), 0U);
  }
}

TEST_F(MpiError, HandlerOfTheProgramIsKept) {
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  EXPECT_EQ(handler, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

TEST_F(MpiError, FreedCommunicatorIsFound) {
  mpi_communicator first(MPI_COMM_WORLD);
  mpi_communicator second(std::move(first));
  EXPECT_THROW(static_cast<void>(first.rank()), lifetime_error);
  std::vector<int> array(10, comm.rank() + 1), to(10);
  {
    auto const receive = second.ireceive(to, previous());
    expect_error<mpi_error>([&] { second.free(); }, "pending");
    MPI_Barrier(MPI_COMM_WORLD);  // nobody sends before all have tried
    second.send(array, next());
  }
  EXPECT_EQ(to, std::vector<int>(10, previous() + 1));
  second.free();
  EXPECT_THROW(second.send(array, 0), lifetime_error);
}

TEST_F(MpiError, BeforeInitIsFound) {
  EXPECT_NE(error_before_init.find("call MPI_Init before"), std::string::npos) << error_before_init;
}

// Only with --funneled.
TEST_F(Mpi, ThreadThatMustNotCallMpiIsFound) {
  int level = 0;
  MPI_Query_thread(&level);
  if (level > MPI_THREAD_FUNNELED) GTEST_SKIP() << "all threads may call MPI";
  std::thread([&] {
    std::vector<int> array(10);
    expect_error<mpi_error>([&] { comm.send(array, MPI_PROC_NULL); }, "this thread must not");
    expect_error<mpi_error>([&] { comm.broadcast(array, 0); }, "this thread must not");
  }).join();

  std::vector<int> from(1000, comm.rank() + 1), to(1000);
  std::optional request(comm.ireceive(to, previous()));
  std::thread([&] {
    expect_error<mpi_error>([&] { request->wait(); }, "this thread must not");
  }).join();
  EXPECT_DEATH(std::thread([&] { request.reset(); }).join(),
               "a pending request of MPI was destroyed and cannot be completed: .*this thread must "
               "not call MPI");
  comm.send(from, next());
  until([&] { return request->test(); });
  EXPECT_EQ(to, std::vector<int>(1000, previous() + 1));

  // The message is complete, so that the destructor has nothing to do.
  std::thread([&] { request.reset(); }).join();
}

// Only with --funneled.
TEST_F(Mpi, ThreadThatMustNotCallMpiLeaksCommunicatorThatItDestroys) {
  int level = 0;
  MPI_Query_thread(&level);
  if (level > MPI_THREAD_FUNNELED) GTEST_SKIP() << "all threads may call MPI";
  std::vector<int> const from(10, 7);
  std::vector<int> to(10);
  mpi_communicator moved(MPI_COMM_WORLD);
  std::optional<mpi_request> last_owner;
  {
    mpi_communicator const self(MPI_COMM_SELF);
    last_owner.emplace(self.ireceive(to, 0));
    self.send(from, 0);
    until([&] { return last_owner->test(); });
  }
  auto const previous_hook = set_log_hook([](char const* line) noexcept {
    if (std::strstr(line, "in a thread that must not call MPI") != nullptr) ++late_errors;
  });
  record = {};
  std::thread([&] { mpi_communicator const owner = std::move(moved); }).join();
  EXPECT_EQ(late_errors.exchange(0), 1);
  std::thread([&] { last_owner.reset(); }).join();  // the message is complete
  EXPECT_EQ(late_errors.exchange(0), 1);
  EXPECT_EQ(record.freed_communicators, 0);
  set_log_hook(previous_hook);
  EXPECT_EQ(to, from);
  // In a thread that may call MPI they are freed.
  mpi_communicator(MPI_COMM_SELF).send(from, MPI_PROC_NULL);
  EXPECT_EQ(record.freed_communicators, 2);
}

// With --serialized, MPI itself does no locking.
TEST_F(Mpi, PendingOperationsOfTwoThreadsComplete) {
  int level = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED) GTEST_SKIP() << "one thread may call MPI";
  // A call can fail only before it has begun an operation, if the other thread is in MPI.
  auto const repeat = [&](auto call) {
    for (int attempt = 1;; ++attempt) {
      try {
        call(attempt);
        return attempt;
      } catch (mpi_error const& error) {
        EXPECT_NE(std::string(error.what()).find("at the same time"), std::string::npos)
            << error.what();
        std::this_thread::yield();
      }
    }
  };
  std::size_t const n = 20'000;
  device_array<int, 1> to({n}), last({10});
  int sent = 0;
  std::vector<int> sum(n, 1);
  auto receive = comm.ireceive(to, previous(), 1);
  auto end = comm.ireceive(last, previous(), 2);
  std::atomic<bool> has_finished = false;
  std::thread thread([&] {
    sent = repeat([&](int attempt) {
      auto const from = to_device(std::vector<int>(n, attempt));
      comm.send(from, next(), 1);
    });
    repeat([&](int) { comm.all_reduce(sum, MPI_SUM); });
    has_finished = true;
  });
  EXPECT_NO_THROW({
    do {
      static_cast<void>(end.test());
      std::this_thread::yield();
    } while (!has_finished);
  });
  thread.join();
  receive.wait();
  comm.send(std::vector<int>(10, sent), next(), 2);
  end.wait();
  // Messages that were begun by a call that failed would arrive before.
  EXPECT_EQ(to.copy_to_host()(n - 1), last.copy_to_host()(0));
  EXPECT_EQ(sum, std::vector<int>(n, comm.size()));
}

TEST_F(Mpi, DeviceMemoryIsPassedAsAsked) {
  EXPECT_EQ(comm.takes_device_pointers(), is_direct || mpi_takes_device_pointers());
  EXPECT_FALSE(on_cpu() && !is_direct && comm.takes_device_pointers());
}

// Prints only failures, unless the rank is 0: otherwise the ranks' lines mix.
class failure_printer final : public testing::EmptyTestEventListener {
  void OnTestStart(testing::TestInfo const& test) override {
    name_ = std::string(test.test_suite_name()) + "." + test.name();
  }
  // GoogleTest holds a lock here that current_test_info() takes.
  void OnTestPartResult(testing::TestPartResult const& result) override {
    if (!result.failed()) return;
    std::printf("%s: %s:%d: %s\n", name_.c_str(),
                result.file_name() == nullptr ? "" : result.file_name(), result.line_number(),
                result.message());
    std::fflush(stdout);
  }

  std::string name_;
};

int run(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  // An exception that leaves a test ends all processes: the other ones would wait for this rank.
  GTEST_FLAG_SET(catch_exceptions, false);
  int level = MPI_THREAD_MULTIPLE;
  for (int i = 1; i < count; ++i) {
    std::string const argument = arguments[i];
    if (argument == "--direct") is_direct = true;
    if (argument == "--funneled") level = MPI_THREAD_FUNNELED;
    if (argument == "--serialized") level = MPI_THREAD_SERIALIZED;
  }
  set_options({.staging_threshold = 0});
  try {
    mpi_communicator const early(MPI_COMM_WORLD);
  } catch (lifetime_error const& error) {
    error_before_init = error.what();
  }
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, level, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new failure_printer);  // GoogleTest owns it
  }
  int result = device::count() == 0 ? 77 : RUN_ALL_TESTS();
  int worst = 0;
  MPI_Allreduce(&result, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);

  static std::atomic<int> late_errors = 0;
  {
    mpi_communicator const late(MPI_COMM_WORLD);
    MPI_Finalize();
    try {
      std::vector<int> array(1);
      late.send(array, 0);
      return 1;
    } catch (lifetime_error const&) {
    }
    set_log_hook([](char const*) noexcept { ++late_errors; });
  }
  if (late_errors != 1) {
    std::puts("a communicator that was destroyed after MPI_Finalize was not reported");
    return 1;
  }
  return worst;
}

}  // namespace
}  // namespace roc::test

int main(int count, char** arguments) { return roc::test::run(count, arguments); }
