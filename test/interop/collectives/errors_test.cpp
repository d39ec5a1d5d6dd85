// SPDX-License-Identifier: MIT
// Tests of errors, time limits, groups and threads of roc/interop/collectives.hpp in one process.
#include <roc/interop/collectives.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "interop/collectives/ranks.hpp"
#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/expect_error.hpp"
#include "support/failing_new.hpp"
#include "support/gate.hpp"
#include "support/open_descriptors.hpp"
#include "support/other_process.hpp"

namespace roc::test {
namespace {

// The libraries of the host platform and of the fake HIP runtime tell all ranks of an error.
#if ROCARRAY_TEST_WITH_NCCL
constexpr bool all_ranks_know = false;
#else
constexpr bool all_ranks_know = true;
#endif

/// Connects ranks with a short time limit with NCCL, which needs it before their first operation.
/// Not otherwise, because on a busy machine this operation could exceed the limit.
void connect_if_needed(rank_set& limited) {
#if ROCARRAY_TEST_WITH_NCCL
  limited.connect();
#else
  static_cast<void>(limited);
#endif
}

/// Keeps the last late error.
class late_errors {
 public:
  late_errors() : previous_(set_log_hook(&late_errors::write)) {
    text().clear();
    text().reserve(1000);  // write() does not throw if memory is exhausted
  }
  ~late_errors() { set_log_hook(previous_); }
  late_errors(late_errors const&) = delete;
  late_errors& operator=(late_errors const&) = delete;
  static std::string& text() {
    static std::string last;
    return last;
  }

 private:
  static void write(char const* message) noexcept {
    text().assign(message, std::min(std::strlen(message), text().capacity()));
  }
  log_hook previous_;
};

class CollectiveError : public testing::Test {
 protected:
  CollectiveError() {
    all.for_each([&](auto& rank, std::size_t) {
      arrays.emplace_back(shape<2>{4, 6});
      arrays.back().fill(rank.rank() + 1);
    });
  }
  bool has_several_ranks() const { return all.size() > 1; }
  /// Expects that the communicator still works.
  void expect_usable() {
    std::vector<device_array<int, 1>> numbers;
    all.for_each([&](auto& rank, std::size_t) {
      numbers.push_back(to_device(std::vector<int>(7, rank.rank() + 1)));
    });
    all.in_group([&](auto& rank, std::size_t i) {
      rank.all_reduce(numbers[i], reduction::sum, all.streams[i]);
    });
    all.synchronize();
    all.for_each([&](auto&, std::size_t i) {
      EXPECT_EQ(numbers[i].copy_to_host()(6), all.size() * (all.size() + 1) / 2);
    });
  }

  rank_set all{{.time_limit = std::chrono::seconds(30)}};
  std::vector<device_array<int, 2>> arrays;
};

using array = device_array<int, 1>;
struct pair_of_numbers {
  int a, b;
};

template <class X>
concept broadcastable =
    requires(collective_communicator const& rank, X&& x) { rank.broadcast(std::forward<X>(x), 0); };
template <class X>
concept asynchronously_broadcastable =
    requires(collective_communicator const& rank, X&& x, stream_ref stream) {
      rank.broadcast(std::forward<X>(x), 0, stream);
    };
template <class X>
concept reducible = requires(collective_communicator const& rank, X&& x) {
  rank.all_reduce(std::forward<X>(x), reduction::sum);
};
static_assert(broadcastable<array&> && broadcastable<array> && broadcastable<device_view<bool, 3>>);
static_assert(!broadcastable<std::vector<int>&> && !broadcastable<host_array<int, 1>&>);
static_assert(!broadcastable<device_view<int const, 1>> && !broadcastable<int*>);
static_assert(asynchronously_broadcastable<array&> && !asynchronously_broadcastable<array>);
static_assert(reducible<device_array<half, 2>&> && reducible<device_array<std::int8_t, 2>&>);
static_assert(!reducible<device_array<bool, 1>&> && !reducible<device_array<short, 1>&> &&
              !reducible<device_array<pair_of_numbers, 1>&>);
static_assert(!std::is_copy_constructible_v<collective_communicator> &&
              std::is_nothrow_move_constructible_v<collective_communicator>);

TEST_F(CollectiveError, DisagreementInGroupIsFoundBeforeAnythingIsEnqueued) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  auto const is_first = [](auto& rank) { return rank.rank() == 0; };
  expect_error<collective_error>(
      [&] {
        all.in_group([&](auto& rank, std::size_t i) {
          if (is_first(rank)) {
            rank.broadcast(arrays[i], 0, all.streams[i]);
          } else {
            rank.all_reduce(arrays[i], reduction::sum, all.streams[i]);
          }
        });
      },
      "call different operations, broadcast and all_reduce");
  expect_error<collective_error>(
      [&] {
        all.in_group([&](auto& rank, std::size_t i) {
          rank.broadcast(arrays[i], is_first(rank) ? 0 : 1, all.streams[i]);
        });
      },
      "pass different roots, 0 and 1");
  expect_error<collective_error>(
      [&] {
        all.in_group([&](auto& rank, std::size_t i) {
          rank.all_reduce(arrays[i], is_first(rank) ? reduction::sum : reduction::max);
        });
      },
      "pass different reductions");
  std::vector<device_array<float, 2>> others;
  all.for_each([&](auto&, std::size_t) { others.emplace_back(shape<2>{4, 6}); });
  expect_error<collective_error>(
      [&] {
        all.in_group([&](auto& rank, std::size_t i) {
          if (is_first(rank)) {
            rank.all_reduce(others[i], reduction::sum);
          } else {
            rank.all_reduce(arrays[i], reduction::sum);
          }
        });
      },
      "pass different element types");
  expect_error<shape_error>(
      [&] {
        all.in_group([&](auto& rank, std::size_t i) {
          rank.all_reduce(arrays[i](slice(0, is_first(rank) ? 4 : 2), roc::all), reduction::sum);
        });
      },
      "pass 24 and 12 elements to all_reduce");
  // Bytes are transferred: the library sees no difference.
  expect_error<collective_error>(
      [&] {
        all.in_group([&](auto& rank, std::size_t i) {
          if (is_first(rank)) {
            rank.broadcast(others[i], 0);
          } else {
            rank.broadcast(arrays[i], 0);
          }
        });
      },
      "pass different element types to broadcast");
  expect_error<shape_error>(
      [&] {
        all.in_group([&](auto& rank, std::size_t i) {
          if (is_first(rank)) {
            rank.broadcast(arrays[i].reshape(6, 4), 0);
          } else {
            rank.broadcast(arrays[i], 0);
          }
        });
      },
      "pass (6, 4) and (4, 6) to broadcast");
  all.for_each([&](auto& rank, std::size_t i) {
    EXPECT_EQ(arrays[i].copy_to_host()(3, 5), rank.rank() + 1);
  });
  expect_usable();
}

TEST_F(CollectiveError, ArrayWithoutElementsInOneRankIsFound) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  expect_error<shape_error>(
      [&] {
        all.in_group([&](auto& rank, std::size_t i) {
          rank.all_reduce(arrays[i](slice(0, rank.rank() == 0 ? 0 : 4), roc::all), reduction::sum);
        });
      },
      "pass 0 and 24 elements to all_reduce");
  expect_usable();
}

#if !ROCARRAY_TEST_WITH_NCCL  // NCCL's first operation may block until the other ranks come
TEST_F(CollectiveError, OperationsOfEarlierGroupsAreNotCompared) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  std::vector<device_array<int, 1>> others;
  all.for_each([&](auto& rank, std::size_t) {
    others.emplace_back(shape<1>{3});
    others.back().fill(10 * rank.rank());
  });
  // Rank 0 calls two operations before the group in which the other ranks call them.
  auto& first = all.ranks[0];
  first.broadcast(others[0](slice(0, 0)), 0, all.streams[0]);
  first.all_reduce(arrays[0], reduction::sum, all.streams[0]);
  all.in_group([&](auto& rank, std::size_t i) {
    if (rank.rank() != 0) {
      rank.broadcast(others[i](slice(0, 0)), 0, all.streams[i]);
      rank.all_reduce(arrays[i], reduction::sum, all.streams[i]);
    }
    rank.broadcast(others[i], 1, all.streams[i]);
  });
  all.synchronize();
  int const sum = all.size() * (all.size() + 1) / 2;
  all.for_each([&](auto&, std::size_t i) {
    EXPECT_EQ(sum, arrays[i].copy_to_host()(3, 5));
    EXPECT_EQ(10, others[i].copy_to_host()(2));
  });
  // Operations that both ranks call in the group are compared.
  first.broadcast(others[0], 0, all.streams[0]);
  expect_error<collective_error>(
      [&] {
        all.in_group([&](auto& rank, std::size_t i) {
          if (rank.rank() != 0) rank.broadcast(others[i], 0, all.streams[i]);
          rank.broadcast(others[i], rank.rank() == 0 ? 0 : 1, all.streams[i]);
        });
      },
      "pass different roots, 0 and 1");
  all.in_group([&](auto& rank, std::size_t i) {
    if (rank.rank() != 0) rank.broadcast(others[i], 0, all.streams[i]);
  });
  all.synchronize();
}
#endif

TEST_F(CollectiveError, DisagreementOfMessageInGroupIsFound) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  expect_error<shape_error>(
      [&] {
        all.in_group([&](auto& rank, std::size_t i) {
          if (rank.rank() == 0) rank.send(arrays[i], 1);
          if (rank.rank() == 1) rank.receive(arrays[i](slice(0, 2), roc::all), 0);
        });
      },
      "rank 0 of the communicator sends 24 elements to rank 1, which receives 12");
  std::vector<device_array<float, 2>> others;
  all.for_each([&](auto&, std::size_t) { others.emplace_back(shape<2>{4, 6}); });
  expect_error<collective_error>(
      [&] {
        all.in_group([&](auto& rank, std::size_t i) {
          if (rank.rank() == 0) rank.send(arrays[i], 1);
          if (rank.rank() == 1) rank.receive(others[i], 0);
        });
      },
      "elements of another type");
  all.for_each([&](auto& rank, std::size_t i) {
    EXPECT_EQ(arrays[i].copy_to_host()(3, 5), rank.rank() + 1);
  });
#if !ROCARRAY_TEST_WITH_NCCL  // NCCL's first send may block until the other rank receives
  // The receive of one group may be that of an earlier group's send.
  all.ranks[0].send(arrays[0], 1, all.streams[0]);
  all.in_group([&](auto& rank, std::size_t i) {
    if (rank.rank() == 0) rank.send(arrays[i](slice(0, 2), roc::all), 1, all.streams[i]);
    if (rank.rank() == 1) rank.receive(arrays[i], 0, all.streams[i]);
  });
  all.in_group([&](auto& rank, std::size_t i) {
    if (rank.rank() == 1) rank.receive(arrays[i](slice(0, 2), roc::all), 0, all.streams[i]);
  });
  all.synchronize();
  EXPECT_EQ(1, arrays[1].copy_to_host()(3, 5));
#endif
  expect_usable();
}

TEST_F(CollectiveError, ArgumentsAreChecked) {
  auto& rank = all.ranks.front();
  auto& a = arrays.front();
  device_guard const current(device(rank.device_ordinal()));
  device_array<int, 2> other(shape<2>{6, 4});
  expect_error<shape_error>([&] { rank.all_reduce(a, other, reduction::sum); },
                            "from (4, 6), to (6, 4)");
  expect_error<overlap_error>(
      [&] { rank.all_reduce(a(slice(0, 3), roc::all), a(slice(1, 4), roc::all), reduction::sum); },
      "overlap");
  expect_error<shape_error>([&] { rank.all_gather(a, other); }, "must have a block for each");
  expect_error<collective_error>([&] { rank.broadcast(a, -1); }, "there is no rank -1 among");
  expect_error<collective_error>([&] { rank.broadcast(a, rank.size()); }, "as root");
  expect_error<collective_error>([&] { rank.reduce(a, rank.size(), reduction::sum); }, "as root");
  expect_error<collective_error>([&] { rank.send(a, rank.size()); }, "as destination");
  expect_error<collective_error>([&] { rank.receive(a, -3); }, "as source");
  expect_error<collective_error>([&] { rank.all_reduce(a, static_cast<reduction>(9)); },
                                 "there is no reduction 9");
  expect_error<shape_error>([&] { rank.all_to_all(a(0, 0), other(0, 0)); }, "first extent");
  device_view<int, 2> const repeated(a.data(), shape<2>{3, 3}, strides<2>{0, 1},
                                     rank.device_ordinal());
  expect_error<layout_error>([&] { rank.broadcast(repeated, 0); }, "share memory");
  expect_usable();
}

TEST_F(CollectiveError, ArrayOrStreamOfOtherDeviceIsRefused) {
  if (all.ranks.size() < 2) GTEST_SKIP() << "needs two devices";
  expect_error<collective_error>([&] { all.ranks[0].broadcast(arrays[1], 0); },
                                 "the array is on device 1, but rank 0");
  expect_error<collective_error>([&] { all.ranks[0].broadcast(arrays[0], 0, all.streams[1]); },
                                 "the stream is on device 1, but rank 0");
  expect_usable();
}

TEST_F(CollectiveError, MovedFromCommunicatorIsRefused) {
  collective_communicator const taken = std::move(all.ranks.front());
  auto& rank = all.ranks.front();
  expect_error<lifetime_error>([&] { rank.all_reduce(arrays.front(), reduction::sum); },
                               "the communicator was moved from");
  expect_error<lifetime_error>([&] { rank.check(); }, "moved from");
  expect_error<lifetime_error>([&] { rank.abort(); }, "moved from");
  EXPECT_THROW(static_cast<void>(rank.size()), lifetime_error);
  EXPECT_EQ(taken.rank(), 0);
}

TEST_F(CollectiveError, AbortEndsPendingWorkAndIsKnownToAllRanks) {
  all.connect();
  all.ranks[0].all_reduce(arrays[0], reduction::sum, all.streams[0]);
  all.ranks[0].abort();
  all.streams[0].synchronize();
  all.ranks[0].abort();
  expect_error<collective_abort_error>([&] { all.ranks[0].all_reduce(arrays[0], reduction::sum); },
                                       "the communicator was aborted: abort() was called");
  expect_error<collective_abort_error>([&] { all.ranks[0].check(); }, "aborted");
  expect_error<collective_abort_error>([&] { all.ranks[0].synchronize(all.streams[0]); },
                                       "aborted");
  if (!all_ranks_know || !has_several_ranks()) return;
  expect_error<collective_error>([&] { all.ranks[1].check(); }, "rank 0 aborted the communicator");
  expect_error<collective_abort_error>([&] { all.ranks[1].broadcast(arrays[1], 0); },
                                       "rank 0 aborted the communicator");
}

TEST_F(CollectiveError, AbortOfOtherThreadEndsWait) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  rank_set unlimited;
  unlimited.connect();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    unlimited.ranks[0].abort();
  });
  expect_error<collective_abort_error>(
      [&] { unlimited.ranks[0].all_reduce(arrays[0], reduction::sum); }, "abort() was called");
  other.join();
}

TEST_F(CollectiveError, RankThatNeverComesIsFoundByTimeLimit) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  // Without a stream; on a stream; and without a stream after an operation on a stream.
  for (int const variant : {0, 1, 2}) {
    rank_set limited({.time_limit = std::chrono::seconds(2)});
    connect_if_needed(limited);
    auto const call = [&] {
      if (variant != 0) {
        limited.ranks[0].all_reduce(arrays[0], reduction::sum, limited.streams[0]);
      }
      if (variant == 1) return limited.ranks[0].synchronize(limited.streams[0]);
      limited.ranks[0].all_reduce(arrays[0], reduction::sum);
    };
    expect_error<collective_timeout_error>(call, "took longer than the limit of 2000 ms in rank 0");
    expect_error<collective_abort_error>(call, "took longer than the limit");
    limited.streams[0].synchronize();
    if (!all_ranks_know) continue;
    expect_error<collective_error>([&] { limited.ranks[1].check(); }, "rank 0 aborted");
  }
}

TEST_F(CollectiveError, RankThatNeverComesIsFoundBySynchronizationOfItsStreams) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  rank_set limited({.time_limit = std::chrono::seconds(2)});
  connect_if_needed(limited);
  device_guard const current(device(limited.ranks[0].device_ordinal()));
  stream const other;
  limited.ranks[0].all_reduce(arrays[0], reduction::sum, limited.streams[0]);
  device_array<int, 1> numbers(shape<1>{5});
  limited.ranks[0].all_reduce(numbers, reduction::sum, other);
  stream const idle;
  device_array<int, 1> filled(shape<1>{5});
  filled.fill(3, idle);
  idle.synchronize();  // does not wait for the operations of other streams
  expect_error<collective_timeout_error>([&] { limited.streams[0].synchronize(); },
                                         "took longer than the limit of 2000 ms");
  limited.streams[0].synchronize();
  expect_error<collective_abort_error>([&] { other.synchronize(); }, "took longer than the limit");
  other.synchronize();
  expect_error<collective_abort_error>([&] { limited.ranks[0].check(); }, "took longer");
}

TEST_F(CollectiveError, AbortOfOtherThreadEndsSynchronizationOfStream) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  rank_set unlimited;
  unlimited.connect();
  unlimited.ranks[0].all_reduce(arrays[0], reduction::sum, unlimited.streams[0]);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    unlimited.ranks[0].abort();
  });
  expect_error<collective_abort_error>([&] { unlimited.streams[0].synchronize(); },
                                       "abort() was called");
  other.join();
}

TEST_F(CollectiveError, GuardLogsErrorOfPendingOperation) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  late_errors const errors;
  rank_set limited({.time_limit = std::chrono::milliseconds(500)});
  connect_if_needed(limited);
  {
    auto const guard = limited.streams[0].auto_synchronize();
    limited.ranks[0].all_reduce(arrays[0], reduction::sum, limited.streams[0]);
  }
  EXPECT_NE(late_errors::text().find("took longer than the limit of 500 ms"), std::string::npos)
      << late_errors::text();
  EXPECT_TRUE(limited.streams[0].query());
}

TEST_F(CollectiveError, ErrorIsNoneOfCompleteOperations) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  rank_set limited({.time_limit = std::chrono::seconds(5)});
  limited.connect();  // without a stream
  device_guard const current(device(limited.ranks[0].device_ordinal()));
  limited.ranks[0].all_reduce(arrays[0], reduction::sum, limited.streams[0]);
  expect_error<collective_timeout_error>([&] { limited.streams[0].synchronize(); },
                                         "took longer than the limit of 5000 ms");
  arrays[0].fill(3);
  stream_ref().synchronize();
  EXPECT_EQ(arrays[0].copy_to_host()(3, 5), 3);
}

#if !ROCARRAY_TEST_WITH_NCCL
TEST_F(CollectiveError, GuardLogsDisagreement) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  late_errors const errors;
  {
    auto const guard = all.streams[1].auto_synchronize();
    try {
      all.for_each([&](auto& rank, std::size_t i) {
        rank.all_reduce(arrays[i](slice(0, rank.rank() == 0 ? 4 : 2), roc::all), reduction::sum,
                        all.streams[i]);
      });
    } catch (collective_error const&) {  // in mode inline
    }
  }
  EXPECT_NE(late_errors::text().find("ranks disagree"), std::string::npos) << late_errors::text();
}

TEST_F(CollectiveError, SynchronizationFindsErrorsOfSeveralCommunicators) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  late_errors const errors;
  rank_set first({.time_limit = std::chrono::milliseconds(500)});
  rank_set second({.time_limit = std::chrono::milliseconds(500)});
  rank_set third({.time_limit = std::chrono::milliseconds(500)});
  device_guard const current(device(first.ranks[0].device_ordinal()));
  stream const work;
  {
    rank_set destroyed;
    collective_group group;
    destroyed.for_each([&](auto& rank, std::size_t i) {
      rank.all_reduce(arrays[i], reduction::max, i == 0 ? stream_ref(work) : destroyed.streams[i]);
    });
    group.end();
    destroyed.synchronize();
  }
  first.ranks[0].all_reduce(arrays[0], reduction::sum, work);
  second.ranks[0].all_reduce(arrays[0], reduction::sum, work);
  third.ranks[0].all_reduce(arrays[0], reduction::sum, work);
  expect_error<collective_timeout_error>([&] { work.synchronize(); }, "limit of 500 ms");
  EXPECT_NE(late_errors::text().find("limit of 500 ms"), std::string::npos) << late_errors::text();
  work.synchronize();
}
#endif

TEST_F(CollectiveError, CommunicatorMayBeDestroyedWhileItsStreamIsSynchronized) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  late_errors const errors;
  auto others = std::make_unique<rank_set>(
      collective_options{.destruction_limit = std::chrono::milliseconds(100)});
  others->connect();
  device_guard const current(device(others->ranks[0].device_ordinal()));
  stream const work;
  others->ranks[0].all_reduce(arrays[0], reduction::sum, work);
  std::thread waiting([&] {
    device_guard const same(device(work.device_ordinal()));
    work.synchronize();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  others.reset();
  waiting.join();
  EXPECT_TRUE(work.query());
}

TEST_F(CollectiveError, StreamOutlivesCommunicatorsOfItsOperations) {
  stream work;
  {
    rank_set first;
    rank_set second;
    device_guard const current(device(first.ranks[0].device_ordinal()));
    work = stream();
    for (rank_set* const set : {&first, &second}) {
      collective_group group;
      set->for_each([&](auto& rank, std::size_t i) {
        rank.all_reduce(arrays[i], reduction::max, i == 0 ? work : set->streams[i]);
      });
      group.end();
      // Operations of two communicators must not run at the same time.
      set->synchronize();
    }
    work.synchronize();
  }
  work.synchronize();
  EXPECT_TRUE(work.query());
}

TEST_F(CollectiveError, RankThatNeverComesToTheCreationIsFoundByTimeLimit) {
  auto const id = collective_id::create();
  expect_error<collective_timeout_error>(
      [&] {
        collective_communicator(id, 0, 2, device(0),
                                {.time_limit = std::chrono::milliseconds(150)});
      },
      "the creation of the communicator took longer");
}

TEST_F(CollectiveError, DestructionWithPendingWorkDoesNotHang) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  late_errors const errors;
  std::vector<stream> streams;
  {
    rank_set others({.destruction_limit = std::chrono::milliseconds(100)});
    others.connect();
    others.ranks[0].all_reduce(arrays[0], reduction::sum, others.streams[0]);
    streams = std::move(others.streams);
  }
  EXPECT_NE(late_errors::text().find("was destroyed while an operation was pending"),
            std::string::npos)
      << late_errors::text();
  streams[0].synchronize();
}

#if !ROCARRAY_TEST_WITH_NCCL  // the error paths of NCCL are its own
TEST_F(CollectiveError, RanksAreDestroyedWithoutMemory) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  late_errors const errors;
  auto finished = std::make_unique<rank_set>();
  finished->in_group(
      [&](auto& rank, std::size_t i) { rank.all_reduce(arrays[i], reduction::sum); });
  auto aborted = std::make_unique<rank_set>();
  aborted->ranks[0].all_reduce(arrays[0], reduction::sum, aborted->streams[0]);
  fail_new_of_all_threads(1, true);
  finished->ranks.clear();
  aborted->ranks[0].abort();
  aborted->ranks.clear();
  stop_failing_new();
  finished.reset();
  aborted.reset();
  all.for_each([&](auto& rank, std::size_t i) { arrays[i].fill(rank.rank() + 1); });
  expect_usable();
}
#endif

TEST_F(CollectiveError, DestructionCompletesOperations) {
  late_errors const errors;
  std::vector<stream> streams;
  {
    rank_set others;
    others.in_group([&](auto& rank, std::size_t i) {
      rank.all_reduce(arrays[i], reduction::sum, others.streams[i]);
    });
    streams = std::move(others.streams);
  }
  EXPECT_EQ(late_errors::text(), "");
  all.for_each([&](auto&, std::size_t i) {
    streams[i].synchronize();
    EXPECT_EQ(arrays[i].copy_to_host()(0, 0), all.size() * (all.size() + 1) / 2);
  });
}

TEST_F(CollectiveError, InvalidCreationIsRefused) {
  device const first(0);
  std::array const twice{first, first};
  expect_error<collective_error>(
      [&] { static_cast<void>(collective_communicator::for_devices(twice)); },
      "device 0 is passed twice");
  expect_error<collective_error>(
      [&] { static_cast<void>(collective_communicator::for_devices({})); }, "there are no devices");
  expect_error<collective_error>(
      [&] { collective_communicator(collective_id::create(), 2, 2, first); }, "there is no rank 2");
  expect_error<collective_error>(
      [&] {
        collective_communicator(collective_id::create(), 0, 1, first,
                                {.time_limit = std::chrono::milliseconds(-1)});
      },
      "a time limit is negative");
#if !ROCARRAY_TEST_WITH_NCCL
  expect_error<collective_error>([&] { collective_communicator(collective_id(), 0, 1, first); },
                                 "not an identifier");
  std::array<std::string, 2> messages;
  auto const id = collective_id::create();
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      try {
        collective_communicator(id, i, 2, first);
      } catch (collective_error const& error) {
        messages[static_cast<std::size_t>(i)] = error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  bool const is_found = messages[0].find("on the same device 0") != std::string::npos ||
                        messages[1].find("on the same device 0") != std::string::npos;
  EXPECT_TRUE(is_found) << messages[0] << '\n' << messages[1];
  EXPECT_NE(messages[0], "");
  EXPECT_NE(messages[1], "");
#endif
}

#if !ROCARRAY_TEST_WITH_NCCL
TEST_F(CollectiveError, RefusedDevicesLeaveNoDescriptorOpen) {
  std::array const devices{device(0)};
  std::ptrdiff_t const before = open_descriptors();
  ASSERT_TRUE(platform::fail_call("hipSetDevice", 1, hipErrorUnknown));
  EXPECT_THROW(static_cast<void>(collective_communicator::for_devices(devices)), error);
  platform::clear_failures();
  EXPECT_EQ(before, open_descriptors());
}

TEST_F(CollectiveError, FailedCreationLeavesNoDescriptorOpen) {
  std::array const devices{device(0)};
  auto const create = [&] {
    try {
      static_cast<void>(collective_communicator::for_devices(devices));
    } catch (collective_error const&) {
    }
  };
  std::ptrdiff_t const before = open_descriptors();
  EXPECT_LT(5, fail_each_new(create));
  EXPECT_EQ(before, open_descriptors()) << "without memory";
  // The device is looked for and made current before and after the identifier is created.
  for (char const* const call : {"hipGetDevice", "hipSetDevice"}) {
    for (unsigned nth = 1; nth <= 8; ++nth) {
      ASSERT_TRUE(platform::fail_call(call, nth, hipErrorUnknown));
      try {
        create();
      } catch (error const&) {
      }
      platform::clear_failures();
      EXPECT_EQ(before, open_descriptors()) << call << ' ' << nth;
    }
  }
}
#endif

TEST_F(CollectiveError, MisuseOfGroupIsRefused) {
  collective_group group;
  group.end();
  expect_error<lifetime_error>([&] { group.end(); }, "the group has ended already");
  collective_group other;
  std::thread([&] {
    expect_error<lifetime_error>([&] { other.end(); }, "the group was created by another thread");
  }).join();
  other.cancel();
  expect_usable();
}

TEST_F(CollectiveError, TemporaryArrayInGroupIsRefused) {
  auto& rank = all.ranks.front();
  auto& a = arrays.front();
  std::string const problem = "a temporary array would be destroyed before the end of the group";
  auto const temporary = [&] {
    device_guard const current(device(rank.device_ordinal()));
    return device_array<int, 2>({4, 6});
  };
  collective_group group;
  expect_error<lifetime_error>([&] { rank.all_reduce(temporary(), reduction::sum); }, problem);
  expect_error<lifetime_error>([&] { rank.all_reduce(temporary(), a, reduction::sum); }, problem);
  expect_error<lifetime_error>([&] { rank.reduce(a, temporary(), 0, reduction::sum); }, problem);
  expect_error<lifetime_error>([&] { rank.broadcast(temporary(), 0); }, problem);
  expect_error<lifetime_error>([&] { rank.send(temporary(), 0); }, problem);
  expect_error<lifetime_error>([&] { rank.receive(temporary(), 0); }, problem);
  group.end();  // it has no operations
  expect_usable();
}

TEST_F(CollectiveError, GroupIsNotCancelledByOtherThreads) {
  collective_group group;
  all.for_each([&](auto& rank, std::size_t i) { rank.all_reduce(arrays[i], reduction::min); });
  std::thread([&] {
    group.cancel();
    // This thread still has no group: its operations are executed at the end of its own.
    collective_group own;
    all.for_each([&](auto& rank, std::size_t i) { rank.all_reduce(arrays[i], reduction::sum); });
    own.end();
  }).join();
  int const sum = all.size() * (all.size() + 1) / 2;
  all.for_each([&](auto&, std::size_t i) { EXPECT_EQ(sum, arrays[i].copy_to_host()(3, 5)); });
  all.for_each([&](auto& rank, std::size_t i) { arrays[i].fill(rank.rank() + 1); });
  group.end();
  all.for_each([&](auto&, std::size_t i) { EXPECT_EQ(1, arrays[i].copy_to_host()(3, 5)); });
}

TEST_F(CollectiveError, GroupThatIsLeftByExceptionEnqueuesNothing) {
  late_errors const errors;
  try {
    collective_group const group;
    all.ranks[0].all_reduce(arrays[0], reduction::sum, all.streams[0]);
    collective_group const inner;
    all.ranks[0].broadcast(arrays[0], all.size(), all.streams[0]);
    ADD_FAILURE();
  } catch (collective_error const&) {
  }
  EXPECT_TRUE(all.streams[0].query());
  EXPECT_EQ(late_errors::text(), "");
  expect_usable();
}

TEST_F(CollectiveError, ErrorAtTheEndOfGroupScopeIsLogged) {
  late_errors const errors;
  {
    collective_group const group;
    all.ranks[0].all_reduce(arrays[0], reduction::sum, all.streams[0]);
    all.ranks[0].abort();
  }
  EXPECT_NE(late_errors::text().find("abort() was called"), std::string::npos)
      << late_errors::text();
}

TEST_F(CollectiveError, CommunicatorDestroyedInGroupLivesUntilItsEnd) {
  rank_set others;
  {
    collective_group group;
    others.for_each([&](auto& rank, std::size_t i) {
      rank.all_reduce(arrays[i], reduction::max, others.streams[i]);
    });
    others.ranks.clear();
    group.end();
  }
  all.for_each([&](auto&, std::size_t i) {
    others.streams[i].synchronize();
    EXPECT_EQ(arrays[i].copy_to_host()(1, 1), all.size());
  });
}

TEST_F(CollectiveError, FailureOfHipLeavesEveryRankWithErrorOrResult) {
  char const* const calls[] = {
      "hipMalloc",       "hipMallocFromPoolAsync", "hipMemcpyAsync",
      "hipLaunchKernel", "hipMemcpy2DAsync",       "hipEventRecord",
      "hipSetDevice",    "hipStreamWaitEvent",     "hipEventCreateWithFlags"};
  int failures = 0;
  for (char const* const call : calls) {
    for (unsigned nth = 1; nth <= 6; ++nth) {
      SCOPED_TRACE(std::string(call) + ":" + std::to_string(nth));
      rank_set others({.time_limit = std::chrono::seconds(20)});
      others.for_each([&](auto&, std::size_t i) { arrays[i].fill(1); });
      if (!platform::fail_call(call, nth, hipErrorUnknown)) continue;
      try {
        others.in_group([&](auto& rank, std::size_t i) {
          rank.all_reduce(arrays[i](roc::all, slice(0, 6, 2)), reduction::sum, others.streams[i]);
        });
        others.synchronize();
        platform::clear_failures();
        others.for_each(
            [&](auto&, std::size_t i) { EXPECT_EQ(arrays[i].copy_to_host()(2, 2), all.size()); });
      } catch (error const&) {
        ++failures;
      }
      platform::clear_failures();
      // Nothing is pending for ever.
      others.for_each([&](auto&, std::size_t i) { others.streams[i].synchronize(); });
    }
  }
  EXPECT_GT(failures, 0);
  expect_usable();
}

// NCCL waits for the communicators of a group in one of two ways.
TEST_F(CollectiveError, GroupOfCommunicatorsWithAndWithoutTimeLimitIsRefused) {
  rank_set unlimited;
  expect_error<collective_error>(
      [&] {
        collective_group group;
        all.for_each([&](auto& rank, std::size_t i) {
          rank.broadcast(arrays[i], 0, all.streams[i]);
          unlimited.ranks[i].broadcast(arrays[i], 0, all.streams[i]);
        });
        group.end();
      },
      "with and without a time limit are used in one group");
  expect_usable();
}

#if !ROCARRAY_TEST_WITH_NCCL
// Two communicators in one group, of which one waits without limit in its destructor.
TEST_F(CollectiveError, FailedCallWaitsWithoutLimitIfOneCommunicatorHasNone) {
  if (!gate::holds() || run_mode() != mode::threaded) GTEST_SKIP() << "nothing holds work back";
  late_errors const errors;
  int waited = 0;  // failed calls that returned after the gate was opened
  // Some of these calls come after the first operand was packed, on a stream that is late.
  for (unsigned nth = 1; nth <= 8; ++nth) {
    SCOPED_TRACE(nth);
    rank_set unlimited({.destruction_limit = std::chrono::milliseconds(0)});
    rank_set limited({.destruction_limit = std::chrono::milliseconds(20)});
    device_guard const current(device(0));
    auto other = to_device(std::vector<int>(10, 1));
    gate gate;
    gate.close(unlimited.streams[0]);
    std::atomic<bool> is_open = false;
    std::jthread const opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      is_open = true;
      gate.open();
    });
    bool const is_early = !is_open;
    ASSERT_TRUE(platform::fail_call("hipEventRecord", nth, hipErrorUnknown));
    try {
      collective_group group;
      unlimited.ranks[0].all_reduce(arrays[0](roc::all, slice(0, none, 2)), reduction::sum,
                                    unlimited.streams[0]);
      limited.ranks[0].all_reduce(other(slice(0, none, 2)), reduction::sum, limited.streams[0]);
      group.end();
    } catch (error const&) {
      waited += is_early && is_open;
    }
    platform::clear_failures();
    // Without a failure, the destructors would wait for the other ranks.
    unlimited.ranks[0].abort();
    limited.ranks[0].abort();
    EXPECT_EQ(late_errors::text(), "");
  }
  EXPECT_GT(waited, 0);
}
#endif

TEST_F(CollectiveError, TransientFailureAbortsNoRankThatIsDestroyed) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  late_errors const errors;
  rank_set all_ranks;
  all_ranks.connect();
  device_guard const current(device(0));
  ASSERT_TRUE(platform::fail_call("hipSetDevice", 1, hipErrorUnknown));
  all_ranks.ranks.pop_back();
  platform::clear_failures();
  EXPECT_EQ(late_errors::text(), "");
  EXPECT_NO_THROW(all_ranks.ranks[0].check());
}

// If HIP cannot wait, the log says so.
TEST_F(CollectiveError, NothingIsPendingAfterFailure) {
  static std::atomic<int> reports;
  reports = 0;
  auto const previous_hook = set_log_hook([](char const* message) noexcept {
    if (std::strstr(message, "may still be pending") != nullptr) ++reports;
  });
  int failures = 0;
  constexpr auto one = platform::failing_uses::one;
  constexpr auto all_later = platform::failing_uses::all_later;
  // No failure of the first 12 uses of hipSetDevice leaves work that HIP cannot wait for.
  for (auto const& [call, uses, last] :
       {std::tuple("hipSetDevice", one, 12u), std::tuple("hipSetDevice", all_later, 60u),
        std::tuple("hipEventRecord", one, 12u), std::tuple("hipEventRecord", all_later, 12u)}) {
    for (unsigned nth = 1; nth <= last; ++nth) {
      SCOPED_TRACE(std::string(call) + ":" + std::to_string(nth));
      rank_set others({.time_limit = std::chrono::seconds(20)});
      others.connect();
      std::vector<device_array<int, 1>> large;
      others.for_each([&](auto&, std::size_t i) {
        large.emplace_back(shape<1>{1 << 16}, order::c, others.streams[i]);
      });
      int const reports_before = reports;
      ASSERT_TRUE(platform::fail_call(call, nth, hipErrorUnknown, uses));
      try {
        others.in_group([&](auto& rank, std::size_t i) {
          rank.all_reduce(large[i], reduction::sum, others.streams[i]);
        });
      } catch (error const&) {
        ++failures;
        platform::clear_failures();
        bool const is_reported = reports != reports_before;
        others.for_each(
            [&](auto&, std::size_t i) { EXPECT_TRUE(is_reported || others.streams[i].query()); });
      }
      platform::clear_failures();
      device(0).make_current();  // HIP may not have restored it
      others.for_each([&](auto&, std::size_t i) { others.streams[i].synchronize(); });
    }
  }
  EXPECT_GT(failures, 0);
  if (has_several_ranks()) {
    EXPECT_GT(reports, 0);
  }
  set_log_hook(previous_hook);
  expect_usable();
}

#if !ROCARRAY_TEST_WITH_NCCL  // NCCL's first operation may block until the other ranks come
// Without the abort, the failed call would wait for ever.
TEST_F(CollectiveError, FailedCopyOfOperandEndsAlthoughOtherRankNeverCame) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  late_errors const errors;
  int failures = 0;
  for (long nth = 1, has_failed = 1; has_failed != 0; ++nth) {
    SCOPED_TRACE(nth);
    rank_set others({.destruction_limit = std::chrono::milliseconds(50)});
    device_guard const current(device(others.ranks[0].device_ordinal()));
    others.ranks[0].all_reduce(arrays[0], reduction::sum, others.streams[0]);
    // The copies of the second operation, whose operand has gaps, come after the first one.
    {
      failing_new const failure(nth);
      try {
        others.ranks[0].all_reduce(arrays[0](roc::all, slice(0, none, 2)), reduction::sum,
                                   others.streams[0]);
      } catch (std::bad_alloc const&) {
        ++failures;
      } catch (error const&) {
        ++failures;
      }
      has_failed = failure.has_failed() ? 1 : 0;
    }
    others.ranks[0].abort();
    others.streams[0].synchronize();
  }
  EXPECT_GT(failures, 10);
  all.for_each([&](auto& rank, std::size_t i) { arrays[i].fill(rank.rank() + 1); });
  expect_usable();
}
#endif

TEST_F(CollectiveError, RanksInSeveralThreadsNeedNoGroup) {
  auto const id = collective_id::create();
  int const ranks = all.size();
  std::vector<std::thread> threads;
  std::vector<int> results(static_cast<std::size_t>(ranks));
  for (int i = 0; i < ranks; ++i) {
    threads.emplace_back([&, i] {
      try {
        device const own(i);
        device_guard const current(own);
        collective_communicator const rank(id, i, ranks, own,
                                           {.time_limit = std::chrono::seconds(60)});
        stream stream;
        device_array<int, 1> numbers(shape<1>{100});
        numbers.fill(i + 1);
        for (int round = 0; round < 20; ++round) {
          rank.all_reduce(numbers, reduction::max, stream);
          rank.broadcast(numbers, round % ranks, stream);
        }
        rank.synchronize(stream);
        rank.all_reduce(numbers, reduction::sum);
        results[static_cast<std::size_t>(i)] = numbers.copy_to_host()(99);
      } catch (error const& problem) {
        ADD_FAILURE() << problem.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(results, std::vector<int>(static_cast<std::size_t>(ranks), ranks * ranks));
}

// Rank 1 of two, on the second device. Connects, and is killed by the parent.
void connect_only(channel& parent) {
  auto const id = parent.receive<std::array<std::byte, collective_id::byte_count>>();
  device const own(1);
  device_guard const current(own);
  collective_communicator const rank(collective_id(id), 1, 2, own);
  device_array<int, 1> numbers = to_device(std::vector<int>{10, 20});
  rank.all_reduce(numbers, reduction::sum);
  parent.send(numbers.copy_to_host()(1));
  parent.receive<bool>();
}
role_definition const connecting_role("collective_connecting_peer", connect_only);

// The host platform sees the end of the process; RCCL and NCCL may need the time limit.
TEST_F(CollectiveError, EndOfProcessOnOtherDeviceIsFound) {
  if (device::count() < 2) GTEST_SKIP() << "needs two devices";
  other_process peer("collective_connecting_peer");
  auto const id = collective_id::create();
  peer.send(id.bytes());
  device const own(0);
  device_guard const current(own);
  collective_communicator const rank(id, 0, 2, own, {.time_limit = std::chrono::seconds(30)});
  device_array<int, 1> numbers = to_device(std::vector<int>{1, 2});
  rank.all_reduce(numbers, reduction::sum);
  EXPECT_EQ(22, numbers.copy_to_host()(1));
  EXPECT_EQ(22, peer.receive<int>());
  peer.kill();
  EXPECT_THROW(rank.all_reduce(numbers, reduction::sum), collective_error);
  EXPECT_THROW(rank.broadcast(numbers, 0), collective_abort_error);
  numbers.fill(3);
  EXPECT_EQ(3, numbers.copy_to_host()(0));
  expect_usable();
}

#if !ROCARRAY_TEST_WITH_NCCL
TEST_F(CollectiveError, DisagreementOutsideOfGroupIsFoundWhenTheDataIsThere) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  // In mode inline the last call already finds it.
  expect_error<collective_error>(
      [&] {
        all.for_each([&](auto& rank, std::size_t i) {
          rank.all_reduce(arrays[i](slice(0, rank.rank() == 0 ? 4 : 2), roc::all), reduction::sum,
                          all.streams[i]);
        });
        all.ranks[0].synchronize(all.streams[0]);
      },
      "ranks disagree");
  // One rank has thrown it: in mode inline the last one, else the first.
  int errors = 0;
  all.for_each([&](auto&, std::size_t i) {
    try {
      all.streams[i].synchronize();
    } catch (collective_error const&) {
      ++errors;
    }
    all.streams[i].synchronize();
  });
  EXPECT_EQ(errors, all.size() - 1);
  expect_error<collective_error>([&] { all.ranks[1].check(); }, "ranks disagree");
  rank_set others;
  others.ranks[0].send(arrays[0](0, roc::all), 1, others.streams[0]);
  expect_error<collective_error>(
      [&] {
        others.ranks[1].receive(arrays[1], 0, others.streams[1]);
        others.ranks[1].synchronize(others.streams[1]);
      },
      "ncclRecv for 96 elements, rank 0 ncclSend for 24");
}

TEST_F(CollectiveError, RankThatHasLeftIsFound) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  rank_set others;
  collective_communicator const first = std::move(others.ranks.front());
  others.ranks.clear();
  device_guard const current(device(0));
  expect_error<collective_error>([&] { first.all_reduce(arrays[0], reduction::sum); },
                                 "has left before ncclAllReduce");
}

using namespace roc::host_ccl;

// Creates a rank of two, within a group.
ncclResult_t create_rank(ncclComm_t& rank, ncclUniqueId const& id, int number, int ordinal) {
  device_guard const current{device(ordinal)};
  ncclConfig_t config{};
  return ncclCommInitRankConfig(&rank, 2, id, number, &config);
}

TEST_F(CollectiveError, RefusedRankLeavesTheDeviceOfTheExistingOne) {
  if (!has_several_ranks()) GTEST_SKIP() << "needs two devices";
  ncclUniqueId id{};
  ASSERT_EQ(ncclSuccess, ncclGetUniqueId(&id));
  ncclComm_t ranks[2] = {};
  ncclComm_t refused = nullptr;
  ASSERT_EQ(ncclSuccess, ncclGroupStart());
  EXPECT_EQ(ncclSuccess, create_rank(ranks[0], id, 0, 0));
  // Outside of the group, which it would make fail.
  std::thread([&] { EXPECT_EQ(ncclInvalidArgument, create_rank(refused, id, 0, 1)); }).join();
  EXPECT_EQ(ncclSuccess, create_rank(ranks[1], id, 1, 1));
  EXPECT_EQ(ncclSuccess, ncclGroupEnd()) << ncclGetLastError(nullptr);
  for (ncclComm_t rank : ranks) EXPECT_EQ(ncclSuccess, ncclCommDestroy(rank));
}

struct close_file {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using temporary_file = std::unique_ptr<std::FILE, close_file>;

// The process that created an identifier may have closed the board, so that its descriptor means
// another file.
TEST_F(CollectiveError, OtherFileWithTheDescriptorOfTheBoardIsRefused) {
  std::uint64_t const nonce = 4711;
  impl::board_header header{};
  header.magic = impl::board_header::expected_magic;
  header.nonce = nonce;
  temporary_file const empty(std::tmpfile()), other(std::tmpfile());
  ASSERT_NE(nullptr, empty);
  ASSERT_NE(nullptr, other);
  ASSERT_EQ(0, ::ftruncate(::fileno(other.get()), impl::page_bytes));
  ASSERT_EQ(static_cast<ssize_t>(sizeof header),
            ::pwrite(::fileno(other.get()), &header, sizeof header, 0));
  int const too_short = impl::create_shared_file();
  ASSERT_GE(too_short, 0);
  for (int const file : {::fileno(empty.get()), ::fileno(other.get()), too_short}) {
    SCOPED_TRACE(file);
    impl::id_content const content{header.magic, nonce, ::getpid(), file};
    ncclUniqueId id{};
    std::memcpy(id.internal, &content, sizeof content);
    ncclComm_t rank = nullptr;
    ncclConfig_t config{.blocking = 0};
    EXPECT_EQ(ncclRemoteError, ncclCommInitRankConfig(&rank, 2, id, 0, &config));
    EXPECT_EQ(nullptr, rank);
  }
  ::close(too_short);
}

// A rank that cannot be created: the board cannot grow, or else cannot be pinned.
struct failing_rank {
  int number;
  int size;
  bool can_grow;
};
void fail_to_join(channel& parent) {
  auto const rank_of = parent.receive<failing_rank>();
  auto const id = parent.receive<ncclUniqueId>();
  if (!rank_of.can_grow) {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit const limit{impl::page_bytes, impl::page_bytes};
    ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &limit));
  } else {
    // Read at the first call of HIP.
    ASSERT_EQ(0, ::setenv("ROCARRAY_HOST_INJECT_FAILURE", "hipHostRegister:1", 1));
  }
  ncclComm_t rank = nullptr;
  ncclConfig_t config{};
  parent.send(ncclCommInitRankConfig(&rank, rank_of.size, id, rank_of.number, &config));
}
role_definition const failing_role("collective_failing_peer", fail_to_join);

TEST_F(CollectiveError, RankThatCannotBeCreatedIsKnownToOthers) {
  // Rank 0 is created by another thread before the other rank fails, or by this one afterwards.
  for (bool const is_first : {false, true}) {
    // The member of rank 20 is not on the first page of the board.
    for (failing_rank const& failing :
         {failing_rank{1, 2, false}, failing_rank{20, 30, false}, failing_rank{1, 2, true}}) {
      if (is_first && !failing.can_grow) continue;  // rank 0 has let the board grow
      SCOPED_TRACE(std::to_string(failing.number) + (is_first ? ", rank 0 first" : ""));
      auto const id = collective_id::create();
      other_process peer("collective_failing_peer");
      auto const create = [&] {
        expect_error<collective_error>(
            [&] {
              collective_communicator(id, 0, failing.size, device(0),
                                      {.time_limit = std::chrono::seconds(20)});
            },
            "rank " + std::to_string(failing.number) + " could not be created: " +
                (failing.can_grow ? "no pinned memory" : "the shared memory cannot grow"));
      };
      std::optional<std::jthread> first;
      if (is_first) {
        first.emplace(create);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      peer.send(failing);
      peer.send(id.bytes());
      auto const result = peer.receive<ncclResult_t>();
      EXPECT_TRUE(peer.join());
      EXPECT_EQ(ncclSystemError, result);
      if (!is_first) create();
    }
  }
}

// Rank 1 of two, which does not wait for the other one.
void join_only(channel& parent) {
  ncclComm_t rank = nullptr;
  ASSERT_EQ(ncclSuccess, ncclGroupStart());
  ASSERT_EQ(ncclSuccess, create_rank(rank, parent.receive<ncclUniqueId>(), 1, 0));
  parent.send(true);
  parent.receive<bool>();  // the parent kills the process
}
role_definition const joining_role("collective_joining_peer", join_only);

// Creates rank 0 of two, in a group that the caller ends. The process of rank 1 has joined, and has
// ended. Null after a failure of the test.
ncclComm_t create_rank_with_ended_peer() {
  ncclUniqueId id{};
  ncclComm_t rank = nullptr;
  EXPECT_EQ(ncclSuccess, ncclGetUniqueId(&id));
  EXPECT_EQ(ncclSuccess, ncclGroupStart());
  EXPECT_EQ(ncclSuccess, create_rank(rank, id, 0, 0));
  other_process peer("collective_joining_peer");
  peer.send(id);
  EXPECT_TRUE(peer.receive<bool>());
  peer.kill();
  return rank;
}

// Returns the rank's error, or ncclSuccess if it has none for 20 s. Does not allocate.
ncclResult_t wait_for_error(ncclComm_t rank) {
  ncclResult_t result = ncclSuccess;
  auto const begin = std::chrono::steady_clock::now();
  while (result == ncclSuccess &&
         std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    if (auto const code = ncclCommGetAsyncError(rank, &result); code != ncclSuccess) return code;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return result;
}

TEST_F(CollectiveError, ProcessThatEndsBeforeTheOthersConnectIsFound) {
  ncclComm_t const rank = create_rank_with_ended_peer();
  ASSERT_NE(nullptr, rank);
  EXPECT_EQ(ncclSuccess, ncclGroupEnd());
  EXPECT_EQ(ncclRemoteError, wait_for_error(rank));
  EXPECT_STREQ("the process of rank 1 has ended", ncclGetLastError(rank));
  EXPECT_EQ(ncclSuccess, ncclCommAbort(rank));
}

// An exception in that thread would end this process.
TEST_F(CollectiveError, ThreadThatWatchesProcessesNeedsNoMemory) {
  bool is_watched = false;
  // The allocations of this thread succeed in the end, and none after them.
  for (long nth = 1; !is_watched; ++nth) {
    SCOPED_TRACE(nth);
    ASSERT_LE(nth, 20);
    ncclComm_t const rank = create_rank_with_ended_peer();
    ASSERT_NE(nullptr, rank);
    fail_new_of_all_threads(nth, true);
    ncclResult_t const ended = ncclGroupEnd();
    is_watched = ended == ncclSuccess;
    ncclResult_t const found = is_watched ? wait_for_error(rank) : ncclSuccess;
    stop_failing_new();
    EXPECT_EQ(is_watched ? ncclSuccess : ncclSystemError, ended);
    EXPECT_EQ(is_watched ? ncclRemoteError : ncclSuccess, found);
    EXPECT_EQ(ncclSuccess, ncclCommAbort(rank));
  }
}

/// Rank 1 of two. Ends in the middle of its work if the parent kills it.
void play_peer(channel& parent) {
  using bytes = std::array<std::byte, collective_id::byte_count>;
  collective_communicator const rank(collective_id(parent.receive<bytes>()), 1, 2, device(0));
  device_array<int, 1> numbers = to_device(std::vector<int>{10, 20});
  rank.all_reduce(numbers, reduction::sum);
  parent.send(numbers.copy_to_host()(1));
  // 0: leave; other numbers: call an operation with so many elements.
  while (auto const count = parent.receive<std::size_t>()) {
    device_array<int, 1> other(shape<1>{count});
    try {
      rank.all_reduce(other, reduction::max);
      parent.send(0);
    } catch (collective_error const&) {
      parent.send(1);
    }
  }
}
role_definition const peer_role("collective_peer", play_peer);

class CollectivePeer : public testing::Test {
 protected:
  CollectivePeer() {
    auto const id = collective_id::create();
    peer.send(id.bytes());
    rank.emplace(id, 0, 2, device(0));
    device_array<int, 1> sum = to_device(std::vector<int>{1, 2});
    rank->all_reduce(sum, reduction::sum);
    EXPECT_EQ(sum.copy_to_host()(1), 22);
    EXPECT_EQ(peer.receive<int>(), 22);
  }

  other_process peer{"collective_peer"};
  std::optional<collective_communicator> rank;
  stream work;
  device_array<int, 1> numbers = to_device(std::vector<int>{1, 2, 3});
};

TEST_F(CollectivePeer, EndOfProcessEndsPendingOperations) {
  rank->all_reduce(numbers, reduction::sum, work);
  peer.kill(false);
  expect_error<collective_error>([&] { work.synchronize(); }, "the process of rank 1 has ended");
  work.synchronize();
  expect_error<collective_abort_error>([&] { rank->check(); }, "the process of rank 1 has ended");
  expect_error<collective_abort_error>([&] { rank->broadcast(numbers, 1); }, "has ended");
}

TEST_F(CollectivePeer, EndOfProcessEndsWait) {
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    peer.kill();
  });
  expect_error<collective_error>([&] { rank->all_reduce(numbers, reduction::sum); },
                                 "the process of rank 1 has ended");
  killer.join();
}

TEST_F(CollectivePeer, RankThatHasLeftIsFound) {
  peer.send(std::size_t{0});
  EXPECT_TRUE(peer.join());
  expect_error<collective_error>([&] { rank->all_reduce(numbers, reduction::sum); },
                                 "rank 1 has left before ncclAllReduce");
}

TEST_F(CollectivePeer, DisagreementIsFoundInBothProcesses) {
  peer.send(std::size_t{5});
  expect_error<collective_error>([&] { rank->all_reduce(numbers, reduction::max); },
                                 "ranks disagree");
  EXPECT_EQ(peer.receive<int>(), 1);
  peer.send(std::size_t{0});
  EXPECT_TRUE(peer.join());
}

TEST_F(CollectivePeer, AbortIsKnownToOtherProcess) {
  peer.send(std::size_t{3});
  rank->abort();
  EXPECT_EQ(peer.receive<int>(), 1);
  peer.send(std::size_t{0});
  EXPECT_TRUE(peer.join());
}

TEST_F(CollectiveError, CapturedStreamIsRefused) {
  bool is_refused = false;
  try {
    device_guard const current(device(0));
    static_cast<void>(capture(
        [&](stream_ref stream) { all.ranks[0].all_reduce(arrays[0], reduction::sum, stream); }));
  } catch (collective_error const& error) {
    is_refused = std::string(error.what()).find("captured") != std::string::npos;
    EXPECT_TRUE(is_refused) << error.what();
  }
  EXPECT_TRUE(is_refused);
}
#endif

}  // namespace
}  // namespace roc::test
