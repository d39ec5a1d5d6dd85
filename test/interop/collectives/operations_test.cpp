// SPDX-License-Identifier: MIT
// Tests of the operations of roc/interop/collectives.hpp, in one process and in several.
#include <roc/interop/collectives.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "interop/collectives/ranks.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/layouts.hpp"

namespace roc::test {
namespace {

constexpr std::array reductions{reduction::sum, reduction::product, reduction::min, reduction::max,
                                reduction::average};

/// An array of any layout on the current device, whose gaps are checked.
template <class T, std::size_t N>
class device_test_array {
 public:
  device_test_array(shape<N> const& extents, strides<N> const& steps) : host_(extents, steps) {
    device_ = to_device(host_.bytes());
  }
  /// Sets element i in C order to f(i).
  template <class F>
  void set(F f) {
    host_.for_each_element([&](T& element, std::size_t i) { element = f(i); });
    to_device(host_.bytes(), device_.view());
  }
  device_view<T, N> view() {
    auto const offset =
        reinterpret_cast<std::byte const*>(host_.view().data()) - host_.bytes().data();
    return {reinterpret_cast<T*>(device_.data() + offset), host_.view().shape(),
            host_.view().strides(), device().ordinal()};
  }
  /// Expects is_right(element, i) for element i in C order, and unchanged gaps.
  template <class F>
  void expect(F is_right) {
    device_.copy_to_host(host_.bytes());
    std::size_t wrong = 0;
    host_.for_each_element(
        [&](T& element, std::size_t i) { wrong += is_right(element, i) ? 0 : 1; });
    EXPECT_EQ(wrong, 0U) << "of " << host_.view().size();
    EXPECT_TRUE(host_.are_gaps_unchanged());
  }

 private:
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

/// Element i of a rank: small, so that results are exact in every type.
template <class T>
T value(int rank, std::size_t i) {
  auto const number = static_cast<std::size_t>(rank) + i;
  if constexpr (detail::is_collective_number<T>) {
    return static_cast<T>(static_cast<std::int8_t>(number % 3));
  } else if constexpr (requires { T::number(number); }) {
    return T::number(number);
  } else {
    return static_cast<T>(static_cast<int>(number % 100));
  }
}

/// An element type without a counterpart in the libraries.
struct record {
  std::int32_t first;
  std::int16_t second[4];
  static record number(std::size_t i) {
    auto const n = static_cast<std::int16_t>(i % 1000);
    return {n, {n, static_cast<std::int16_t>(n + 1), 3, 4}};
  }
  friend bool operator==(record const&, record const&) = default;
};

std::size_t own(collective_communicator const& rank) {
  return static_cast<std::size_t>(rank.rank());
}

/// Returns true if a number is the reduction of element i of all ranks.
template <class T>
bool is_reduced(T found, reduction operation, int ranks, std::size_t i) {
  double result = static_cast<double>(value<T>(0, i));
  for (int rank = 1; rank < ranks; ++rank) {
    auto const next = static_cast<double>(value<T>(rank, i));
    switch (operation) {
      case reduction::min: result = std::min(result, next); break;
      case reduction::max: result = std::max(result, next); break;
      case reduction::product: result *= next; break;
      default: result += next;
    }
  }
  if (operation == reduction::average) {
    result /= ranks;
    if constexpr (std::is_integral_v<T>) result = std::trunc(result);
  }
  return std::abs(static_cast<double>(found) - result) <= 2e-3 * std::abs(result);
}

/// Calls f(layout, layout) for pairs of layouts.
template <std::size_t N, std::size_t M, class F>
void for_each_pair(shape<N> const& first, shape<M> const& second, F f) {
  auto const a = layouts_of(first);
  auto const b = layouts_of(second);
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    f(a[i % a.size()], b[(i + 1) % b.size()]);
  }
}

class Collective : public testing::Test {
 protected:
  /// A source and a destination of every rank of this process.
  template <class T, std::size_t N, std::size_t M>
  void arrays(shape<N> const& from_shape, strides<N> const& from_steps, shape<M> const& to_shape,
              strides<M> const& to_steps, auto test) {
    std::vector<std::unique_ptr<device_test_array<T, N>>> from;
    std::vector<std::unique_ptr<device_test_array<T, M>>> to;
    all.for_each([&](auto& rank, std::size_t) {
      from.push_back(std::make_unique<device_test_array<T, N>>(from_shape, from_steps));
      to.push_back(std::make_unique<device_test_array<T, M>>(to_shape, to_steps));
      from.back()->set([&](std::size_t i) { return value<T>(rank.rank(), i); });
      to.back()->set([](std::size_t) { return T{}; });
    });
    test(from, to);
    all.for_each([&](auto& rank, std::size_t i) {
      from[i]->expect(
          [&](T const& element, std::size_t k) { return element == value<T>(rank.rank(), k); });
    });
  }

  template <class T, std::size_t N>
  void all_reduce(shape<N> const& extents) {
    int number = 0;
    for_each_pair(extents, extents, [&](auto const& from_steps, auto const& to_steps) {
      auto const operation = reductions[static_cast<std::size_t>(number) % reductions.size()];
      bool const is_asynchronous = number++ % 2 == 0;
      arrays<T>(extents, from_steps, extents, to_steps, [&](auto& from, auto& to) {
        all.in_group([&](auto& rank, std::size_t i) {
          if (is_asynchronous) {
            rank.all_reduce(from[i]->view(), to[i]->view(), operation, all.streams[i]);
          } else {
            rank.all_reduce(from[i]->view(), to[i]->view(), operation);
          }
        });
        if (is_asynchronous) all.synchronize();
        all.for_each([&](auto&, std::size_t i) {
          to[i]->expect([&](T element, std::size_t k) {
            return is_reduced(element, operation, all.size(), k);
          });
        });
      });
    });
  }
  template <class T>
  void all_reductions() {
    shape<2> const extents{3, 7};
    for (reduction const operation : reductions) {
      arrays<T>(extents, layout::compact_strides(extents), extents,
                layout::compact_strides(extents, order::f), [&](auto& from, auto& to) {
                  all.in_group([&](auto& rank, std::size_t i) {
                    rank.all_reduce(from[i]->view(), to[i]->view(), operation, all.streams[i]);
                  });
                  all.synchronize();
                  all.for_each([&](auto&, std::size_t i) {
                    to[i]->expect([&](T element, std::size_t k) {
                      return is_reduced(element, operation, all.size(), k);
                    });
                  });
                });
    }
  }
  template <class T, std::size_t N>
  void broadcast(shape<N> const& extents) {
    int number = 0;
    for_each_pair(extents, extents, [&](auto const& from_steps, auto const& to_steps) {
      int const root = number++ % all.size();
      arrays<T>(extents, to_steps, extents, from_steps, [&](auto&, auto& to) {
        all.for_each([&](auto& rank, std::size_t i) {
          to[i]->set([&](std::size_t k) { return value<T>(rank.rank(), k); });
        });
        all.in_group([&](auto& rank, std::size_t i) {
          if (number % 2 == 0) {
            rank.broadcast(to[i]->view(), root, all.streams[i]);
          } else {
            rank.broadcast(to[i]->view(), root);
          }
        });
        all.synchronize();
        all.for_each([&](auto&, std::size_t i) {
          to[i]->expect(
              [&](T const& element, std::size_t k) { return element == value<T>(root, k); });
        });
      });
    });
  }
  /// Element k of the concatenation of the ranks' blocks of `block` elements.
  template <class T>
  static T gathered(std::size_t k, std::size_t block) {
    return value<T>(static_cast<int>(k / block), k % block);
  }
  template <class T, std::size_t N, std::size_t M>
  void all_gather(shape<N> const& block, shape<M> const& whole) {
    std::size_t const count = layout::element_count(block);
    int number = 0;
    for_each_pair(block, whole, [&](auto const& from_steps, auto const& to_steps) {
      arrays<T>(block, from_steps, whole, to_steps, [&](auto& from, auto& to) {
        bool const is_asynchronous = number++ % 2 == 0;
        all.in_group([&](auto& rank, std::size_t i) {
          if (is_asynchronous) {
            rank.all_gather(from[i]->view(), to[i]->view(), all.streams[i]);
          } else {
            rank.all_gather(from[i]->view(), to[i]->view());
          }
        });
        if (is_asynchronous) all.synchronize();
        all.for_each([&](auto&, std::size_t i) {
          to[i]->expect(
              [&](T const& element, std::size_t k) { return element == gathered<T>(k, count); });
        });
      });
    });
  }
  template <class T, std::size_t N, std::size_t M>
  void reduce_scatter(shape<M> const& whole, shape<N> const& block) {
    std::size_t const count = layout::element_count(block);
    int number = 0;
    for_each_pair(whole, block, [&](auto const& from_steps, auto const& to_steps) {
      auto const operation = reductions[static_cast<std::size_t>(number++) % reductions.size()];
      arrays<T>(whole, from_steps, block, to_steps, [&](auto& from, auto& to) {
        all.in_group([&](auto& rank, std::size_t i) {
          if (number % 2 == 0) {
            rank.reduce_scatter(from[i]->view(), to[i]->view(), operation, all.streams[i]);
          } else {
            rank.reduce_scatter(from[i]->view(), to[i]->view(), operation);
          }
        });
        all.synchronize();
        all.for_each([&](auto& rank, std::size_t i) {
          std::size_t const begin = own(rank) * count;
          to[i]->expect([&](T element, std::size_t k) {
            return is_reduced(element, operation, all.size(), begin + k);
          });
        });
      });
    });
  }
  template <class T, std::size_t N>
  void all_to_all(shape<N> const& extents) {
    std::size_t const block = layout::element_count(extents) / static_cast<std::size_t>(all.size());
    int number = 0;
    for_each_pair(extents, extents, [&](auto const& from_steps, auto const& to_steps) {
      arrays<T>(extents, from_steps, extents, to_steps, [&](auto& from, auto& to) {
        bool const is_asynchronous = number++ % 2 == 0;
        all.in_group([&](auto& rank, std::size_t i) {
          if (is_asynchronous) {
            rank.all_to_all(from[i]->view(), to[i]->view(), all.streams[i]);
          } else {
            rank.all_to_all(from[i]->view(), to[i]->view());
          }
        });
        if (is_asynchronous) all.synchronize();
        all.for_each([&](auto& rank, std::size_t i) {
          std::size_t const begin = own(rank) * block;
          to[i]->expect([&](T const& element, std::size_t k) {
            return element == value<T>(static_cast<int>(k / block), begin + k % block);
          });
        });
      });
    });
  }
  template <class T, std::size_t N>
  void send_around(shape<N> const& extents) {
    int number = 0;
    for_each_pair(extents, extents, [&](auto const& from_steps, auto const& to_steps) {
      arrays<T>(extents, from_steps, extents, to_steps, [&](auto& from, auto& to) {
        bool const is_asynchronous = number++ % 2 == 0;
        all.in_group([&](auto& rank, std::size_t i) {
          int const next = (rank.rank() + 1) % rank.size();
          int const previous = (rank.rank() + rank.size() - 1) % rank.size();
          if (is_asynchronous) {
            rank.receive(to[i]->view(), previous, all.streams[i]);
            rank.send(from[i]->view(), next, all.streams[i]);
          } else {
            rank.send(from[i]->view(), next);
            rank.receive(to[i]->view(), previous);
          }
        });
        if (is_asynchronous) all.synchronize();
        all.for_each([&](auto& rank, std::size_t i) {
          int const previous = (rank.rank() + rank.size() - 1) % rank.size();
          to[i]->expect(
              [&](T const& element, std::size_t k) { return element == value<T>(previous, k); });
        });
      });
    });
  }

  rank_set all;
  std::size_t const n = static_cast<std::size_t>(all.size());
};

TEST_F(Collective, AllReduceOfAnyLayoutIsRight) {
  all_reduce<int>(shape<0>{});
  all_reduce<float>(shape<1>{1});
  all_reduce<float>(shape<2>{5, 9});
  all_reduce<double>(shape<3>{3, 4, 70});
}

TEST_F(Collective, AllReduceOfAnyTypeAndReductionIsRight) {
  all_reductions<std::int8_t>();
  all_reductions<std::uint8_t>();
  all_reductions<std::int32_t>();
  all_reductions<std::uint32_t>();
  all_reductions<std::int64_t>();
  all_reductions<std::uint64_t>();
  all_reductions<half>();
  all_reductions<float>();
  all_reductions<double>();
}

TEST_F(Collective, AverageOfIntegersIsCalculatedInTheirType) {
  constexpr signed char element = 100;
  std::vector<device_array<signed char, 1>> arrays;
  all.for_each([&](auto&, std::size_t) {
    arrays.emplace_back(shape<1>{7});
    arrays.back().fill(element);
  });
  all.in_group([&](auto& rank, std::size_t i) { rank.all_reduce(arrays[i], reduction::average); });
  auto const sum = static_cast<signed char>(element * all.size());
  all.for_each(
      [&](auto&, std::size_t i) { EXPECT_EQ(sum / all.size(), arrays[i].copy_to_host()(6)); });
}

TEST_F(Collective, AllReduceInPlaceReplacesArray) {
  shape<2> const extents{6, 5};
  for (auto const& steps : layouts_of(extents)) {
    std::vector<std::unique_ptr<device_test_array<float, 2>>> arrays;
    all.for_each([&](auto& rank, std::size_t) {
      arrays.push_back(std::make_unique<device_test_array<float, 2>>(extents, steps));
      arrays.back()->set([&](std::size_t i) { return value<float>(rank.rank(), i); });
    });
    all.in_group([&](auto& rank, std::size_t i) {
      rank.all_reduce(arrays[i]->view(), reduction::sum, all.streams[i]);
    });
    all.in_group([&](auto& rank, std::size_t i) {
      rank.all_reduce(arrays[i]->view(), arrays[i]->view(), reduction::max, all.streams[i]);
    });
    all.synchronize();
    all.in_group(
        [&](auto& rank, std::size_t i) { rank.all_reduce(arrays[i]->view(), reduction::min); });
    all.for_each([&](auto&, std::size_t i) {
      arrays[i]->expect([&](float element, std::size_t k) {
        return is_reduced(element, reduction::sum, all.size(), k);
      });
    });
  }
}

TEST_F(Collective, AllReduceOfReadOnlyAndRepeatedElementsIsRight) {
  std::vector<device_array<int, 1>> from;
  std::vector<device_array<int, 1>> to;
  all.for_each([&](auto& rank, std::size_t) {
    from.push_back(to_device(std::vector<int>{rank.rank() + 1}));
    to.emplace_back(shape<1>{5});
  });
  all.in_group([&](auto& rank, std::size_t i) {
    device_view<int const, 1> const repeated(from[i].data(), shape<1>{5}, strides<1>{0},
                                             rank.device_ordinal());
    rank.all_reduce(repeated, to[i], reduction::sum);
  });
  int const sum = all.size() * (all.size() + 1) / 2;
  all.for_each([&](auto&, std::size_t i) { EXPECT_EQ(to[i].copy_to_host()(4), sum); });
}

TEST_F(Collective, ArrayWithoutElementsIsNoOp) {
  all_reduce<float>(shape<2>{4, 0});
  broadcast<float>(shape<1>{0});
  all_gather<int>(shape<1>{0}, shape<2>{n, 0});
  reduce_scatter<int>(shape<2>{n, 0}, shape<1>{0});
  send_around<int>(shape<1>{0});
}

TEST_F(Collective, BroadcastOfAnyLayoutAndTypeIsRight) {
  broadcast<int>(shape<0>{});
  broadcast<record>(shape<2>{5, 9});
  broadcast<std::complex<double>>(shape<1>{40});
  broadcast<bool>(shape<1>{300});
  broadcast<half>(shape<3>{3, 4, 70});
}

TEST_F(Collective, ReduceWritesRootOnly) {
  shape<2> const extents{4, 6};
  for (int root = 0; root < all.size(); ++root) {
    for_each_pair(extents, extents, [&](auto const& from_steps, auto const& to_steps) {
      arrays<float>(extents, from_steps, extents, to_steps, [&](auto& from, auto& to) {
        all.in_group([&](auto& rank, std::size_t i) {
          rank.reduce(from[i]->view(), to[i]->view(), root, reduction::max, all.streams[i]);
        });
        all.synchronize();
        all.for_each([&](auto& rank, std::size_t i) {
          to[i]->expect([&](float element, std::size_t k) {
            return rank.rank() == root ? is_reduced(element, reduction::max, all.size(), k)
                                       : element == 0;
          });
        });
        all.for_each([&](auto& rank, std::size_t i) {
          to[i]->set([&](std::size_t k) { return value<float>(rank.rank(), k); });
        });
        all.in_group(
            [&](auto& rank, std::size_t i) { rank.reduce(to[i]->view(), root, reduction::sum); });
        all.for_each([&](auto& rank, std::size_t i) {
          to[i]->expect([&](float element, std::size_t k) {
            return rank.rank() == root ? is_reduced(element, reduction::sum, all.size(), k)
                                       : element == value<float>(rank.rank(), k);
          });
        });
      });
    });
  }
}

TEST_F(Collective, AllGatherOfAnyLayoutIsRight) {
  all_gather<int>(shape<0>{}, shape<1>{n});
  all_gather<float>(shape<1>{7}, shape<2>{n, 7});
  all_gather<record>(shape<1>{7}, shape<1>{7 * n});
  all_gather<double>(shape<2>{3, 5}, shape<3>{n, 3, 5});
  all_gather<double>(shape<2>{3, 5}, shape<2>{3 * n, 5});
}

TEST_F(Collective, ReduceScatterOfAnyLayoutIsRight) {
  reduce_scatter<int>(shape<1>{n}, shape<0>{});
  reduce_scatter<float>(shape<2>{n, 7}, shape<1>{7});
  reduce_scatter<half>(shape<1>{7 * n}, shape<1>{7});
  reduce_scatter<double>(shape<3>{n, 3, 5}, shape<2>{3, 5});
  reduce_scatter<std::int64_t>(shape<2>{3 * n, 5}, shape<2>{3, 5});
}

TEST_F(Collective, OwnBlockOfGatherAndScatterIsInPlace) {
  std::vector<device_array<int, 2>> arrays;
  all.for_each([&](auto& rank, std::size_t) {
    arrays.push_back(to_device(std::vector<int>(5 * n, rank.rank() + 1)).reshape(n, 5));
  });
  all.in_group([&](auto& rank, std::size_t i) {
    rank.all_gather(arrays[i](own(rank), roc::all), arrays[i], all.streams[i]);
  });
  all.synchronize();
  all.for_each([&](auto& rank, std::size_t i) {
    auto const found = arrays[i].copy_to_host();
    for (std::size_t k = 0; k < n; ++k) EXPECT_EQ(found(k, 4), static_cast<int>(k) + 1);
    arrays[i].fill(rank.rank() + 1);
  });
  all.in_group([&](auto& rank, std::size_t i) {
    rank.reduce_scatter(arrays[i], arrays[i](own(rank), roc::all), reduction::sum);
  });
  all.for_each([&](auto& rank, std::size_t i) {
    EXPECT_EQ(arrays[i].copy_to_host()(own(rank), 2), all.size() * (all.size() + 1) / 2);
  });
}

TEST_F(Collective, AllToAllOfAnyLayoutIsRight) {
  all_to_all<int>(shape<1>{n});
  all_to_all<record>(shape<2>{2 * n, 7});
  all_to_all<double>(shape<3>{n, 3, 5});
}

TEST_F(Collective, MessagesOfAnyLayoutArrive) {
  send_around<int>(shape<0>{});
  send_around<record>(shape<2>{5, 9});
  send_around<half>(shape<3>{3, 4, 70});
}

TEST_F(Collective, ManyMessagesArriveInOrder) {
  std::vector<device_array<int, 1>> sent;
  std::vector<device_array<int, 1>> received;
  all.for_each([&](auto& rank, std::size_t) {
    std::vector<int> numbers(150);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      numbers[k] = 1000 * rank.rank() + static_cast<int>(k);
    }
    sent.push_back(to_device(numbers));
    received.emplace_back(shape<1>{150});
  });
  for (std::size_t k = 0; k < 150; ++k) {
    all.in_group([&](auto& rank, std::size_t i) {
      rank.send(sent[i](k), (rank.rank() + 1) % rank.size(), all.streams[i]);
      rank.receive(received[i](k), (rank.rank() + rank.size() - 1) % rank.size(), all.streams[i]);
    });
  }
  all.synchronize();
  all.for_each([&](auto& rank, std::size_t i) {
    auto const found = received[i].copy_to_host();
    int const previous = (rank.rank() + rank.size() - 1) % rank.size();
    for (std::size_t k = 0; k < 150; ++k) {
      EXPECT_EQ(found(k), 1000 * previous + static_cast<int>(k));
    }
  });
}

// More messages between two ranks than the host platform's library keeps in flight.
TEST_F(Collective, GroupOfManyMessagesArrivesInOrder) {
  constexpr std::size_t messages = 70;
  std::vector<device_array<int, 1>> sent;
  std::vector<device_array<int, 1>> received;
  auto const number = [](int source, int destination, std::size_t k) {
    return 10000 * source + 1000 * destination + static_cast<int>(k);
  };
  all.for_each([&](auto& rank, std::size_t) {
    std::vector<int> numbers;
    for (int other = 0; other < rank.size(); ++other) {
      for (std::size_t k = 0; k < messages; ++k) {
        numbers.push_back(number(rank.rank(), other, k));
      }
    }
    sent.push_back(to_device(numbers));
    received.emplace_back(shape<1>{numbers.size()});
  });
  // All messages with one rank come before those with the next one, in another order on each rank.
  auto const for_each_other = [](auto& rank, auto f) {
    for (int step = 1; step < rank.size(); step += 2) f((rank.rank() + step) % rank.size());
  };
  all.in_group([&](auto& rank, std::size_t i) {
    for_each_other(rank, [&](int other) {
      for (std::size_t k = 0; k < messages; ++k) {
        std::size_t const part = static_cast<std::size_t>(other) * messages + k;
        rank.receive(received[i](part), other, all.streams[i]);
        rank.send(sent[i](part), other, all.streams[i]);
      }
    });
  });
  all.synchronize();
  all.for_each([&](auto& rank, std::size_t i) {
    auto const found = received[i].copy_to_host();
    for_each_other(rank, [&](int other) {
      for (std::size_t k = 0; k < messages; ++k) {
        EXPECT_EQ(found(static_cast<std::size_t>(other) * messages + k),
                  number(other, rank.rank(), k));
      }
    });
  });
}

#if !ROCARRAY_TEST_WITH_NCCL  // NCCL does not say how it orders messages and operations of a group
TEST_F(Collective, GroupOfManyMessagesAndOperationsIsDone) {
  if (all.ranks.front().size() < 2) GTEST_SKIP() << "needs two devices";
  constexpr std::size_t messages = 70;
  for (int const order : {0, 1, 2, 3}) {
    SCOPED_TRACE(order);
    std::vector<device_array<int, 1>> sent, received, sums;
    all.for_each([&](auto& rank, std::size_t) {
      sent.push_back(to_device(std::vector<int>(messages, rank.rank() + 1)));
      received.emplace_back(shape<1>{messages});
      sums.push_back(to_device(std::vector<int>(10, rank.rank())));
    });
    all.in_group([&](auto& rank, std::size_t i) {
      // The operation is before or after the messages, by rank.
      bool const is_first = rank.rank() == 0 ? (order & 1) != 0 : (order & 2) != 0;
      if (is_first) rank.all_reduce(sums[i], reduction::max, all.streams[i]);
      for (std::size_t k = 0; k < messages; ++k) {
        if (rank.rank() == 0) rank.send(sent[i](k), 1, all.streams[i]);
        if (rank.rank() == 1) rank.receive(received[i](k), 0, all.streams[i]);
      }
      if (!is_first) rank.all_reduce(sums[i], reduction::max, all.streams[i]);
    });
    all.synchronize();
    all.for_each([&](auto& rank, std::size_t i) {
      EXPECT_EQ(sums[i].copy_to_host()(9), rank.size() - 1);
      if (rank.rank() == 1) {
        EXPECT_EQ(received[i].copy_to_host()(messages - 1), 1);
      }
    });
  }
}
#endif

// The operations of all ranks are in flight at once.
TEST_F(Collective, GroupOfLargeOperationsIsDone) {
  std::vector<device_array<int, 1>> arrays;
  all.for_each([&](auto& rank, std::size_t) {
    arrays.emplace_back(shape<1>{std::size_t{5} << 20});
    arrays.back().fill(rank.rank() + 1);
  });
  all.in_group([&](auto& rank, std::size_t i) {
    rank.all_reduce(arrays[i], reduction::max, all.streams[i]);
  });
  all.synchronize();
  all.for_each([&](auto& rank, std::size_t i) {
    EXPECT_EQ(rank.size(), arrays[i](arrays[i].size() - 1).get());
  });
}

// Calls without a stream come after operations on streams that HIP does not order before them.
TEST_F(Collective, CallWithoutStreamComesAfterOperationOnNonBlockingStream) {
  all.connect();
  std::vector<stream> streams;
  std::vector<device_array<int, 1>> arrays;
  std::vector<std::unique_ptr<gate>> gates;
  all.for_each([&](auto& rank, std::size_t i) {
    streams.emplace_back(non_blocking);
    arrays.push_back(to_device(std::vector<int>(1000, rank.rank() + 1)));
    gates.push_back(std::make_unique<gate>());
    gates.back()->close(streams[i]);
  });
  all.in_group(
      [&](auto& rank, std::size_t i) { rank.all_reduce(arrays[i], reduction::max, streams[i]); });
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (auto const& closed : gates) closed->open();
  });
  all.for_each([&](auto&, std::size_t i) { EXPECT_EQ(all.size(), arrays[i].copy_to_host()(999)); });
  opener.join();
  all.for_each([&](auto& rank, std::size_t i) { rank.synchronize(streams[i]); });
}

#if !ROCARRAY_TEST_WITH_NCCL  // its first operation may block, as CUDA at 1024 launches does
// The ranks of this process may call in any order, also if the first one is far ahead.
TEST_F(Collective, ManyOperationsOfOneRankMayComeFirst) {
  std::vector<device_array<std::uint64_t, 1>> arrays;
  all.for_each([&](auto& rank, std::size_t) {
    arrays.push_back(to_device(std::vector<std::uint64_t>(3, own(rank) + 1)));
  });
  all.for_each([&](auto& rank, std::size_t i) {
    for (int round = 0; round < 1100; ++round) {
      rank.all_reduce(arrays[i], reduction::max, all.streams[i]);
    }
  });
  all.synchronize();
  all.for_each([&](auto&, std::size_t i) { EXPECT_EQ(arrays[i].copy_to_host()(2), n); });
}
#endif

TEST_F(Collective, AnyNumberOfOperationsCanBeEnqueuedWithoutWait) {
  std::vector<device_array<std::uint64_t, 1>> arrays;
  all.for_each([&](auto& rank, std::size_t) {
    arrays.push_back(to_device(std::vector<std::uint64_t>(3, own(rank) + 1)));
  });
  // More than the host platform's library keeps in flight.
  for (int round = 0; round < 1100; ++round) {
    all.in_group([&](auto& rank, std::size_t i) {
      rank.all_reduce(arrays[i], reduction::max, all.streams[i]);
    });
  }
  all.synchronize();
  all.for_each([&](auto&, std::size_t i) { EXPECT_EQ(arrays[i].copy_to_host()(2), n); });
}

TEST_F(Collective, OperationsOnStreamRunInOrderWithOtherWork) {
  std::vector<device_array<double, 1>> arrays;
  std::vector<std::unique_ptr<gate>> gates;
  all.for_each([&](auto&, std::size_t i) {
    arrays.emplace_back(shape<1>{1000});
    arrays.back().zero();
    gates.push_back(std::make_unique<gate>());
    gates.back()->close(all.streams[i]);
    arrays.back().fill(1.0, all.streams[i]);
  });
  // Each round multiplies by the number of ranks.
  for (int round = 0; round < 5; ++round) {
    all.in_group([&](auto& rank, std::size_t i) {
      rank.all_reduce(arrays[i], reduction::sum, all.streams[i]);
    });
  }
  std::vector<host_array<double, 1>> results;
  all.for_each([&](auto&, std::size_t i) {
    results.push_back(pinned_array<double>(shape<1>{1000}));
    arrays[i].copy_to_host(results[i], all.streams[i]);
    gates[i]->open();
  });
  all.synchronize();
  for (auto const& result : results) EXPECT_EQ(result(999), std::pow(all.size(), 5));
}

TEST_F(Collective, OperationWithoutStreamComesAfterEarlierWork) {
  std::vector<device_array<int, 1>> arrays;
  std::vector<stream> others;
  all.for_each([&](auto&, std::size_t) {
    arrays.emplace_back(shape<1>{5000});
    others.emplace_back(non_blocking);
    arrays.back().zero();
    arrays.back().fill(1, others.back());
  });
  all.in_group([&](auto& rank, std::size_t i) { rank.all_reduce(arrays[i], reduction::sum); });
  all.for_each(
      [&](auto&, std::size_t i) { EXPECT_EQ(arrays[i].copy_to_host()(4999), all.size()); });
}

TEST_F(Collective, ArrayCanBeDestroyedAfterTheCall) {
  std::vector<device_array<int, 1>> results;
  all.for_each([&](auto&, std::size_t) { results.emplace_back(shape<1>{3000}); });
  {
    std::vector<device_array<int, 1>> arrays;
    all.for_each([&](auto&, std::size_t i) {
      arrays.emplace_back(shape<1>{3000});
      arrays.back().fill(2, all.streams[i]);
    });
    all.in_group([&](auto& rank, std::size_t i) {
      rank.all_reduce(arrays[i], results[i], reduction::sum, all.streams[i]);
    });
  }
  all.for_each([&](auto&, std::size_t i) {
    device_array<int, 1> other(shape<1>{3000});
    other.fill(-1);
    all.ranks[i].synchronize(all.streams[i]);
    EXPECT_EQ(results[i].copy_to_host()(2999), 2 * all.size());
  });
}

TEST_F(Collective, SeveralOperationsOfGroupAreDone) {
  std::vector<device_array<int, 1>> a, b, c;
  all.for_each([&](auto& rank, std::size_t) {
    a.push_back(to_device(std::vector<int>(10, rank.rank() + 1)));
    b.push_back(to_device(std::vector<int>(20, rank.rank())));
    c.emplace_back(shape<1>{10 * n});
  });
  {
    collective_group group;
    all.for_each([&](auto& rank, std::size_t i) {
      collective_group const inner;
      rank.broadcast(b[i], all.size() - 1, all.streams[i]);
      rank.all_gather(a[i], c[i], all.streams[i]);
    });
    group.end();
  }
  all.synchronize();
  all.for_each([&](auto&, std::size_t i) {
    EXPECT_EQ(b[i].copy_to_host()(19), all.size() - 1);
    EXPECT_EQ(c[i].copy_to_host()(10 * n - 1), all.size());
  });
}

// The pool returns memory whose earlier use on another stream is pending.
TEST_F(Collective, OperationComesAfterEarlierUsesOfTheMemory) {
  all.connect();
  shape<1> const extents{1 << 16};
  std::vector<stream> others;
  std::vector<device_array<int, 1>> sources;
  std::vector<device_array<int, 1>> arrays;
  std::vector<std::unique_ptr<gate>> gates;
  all.for_each([&](auto&, std::size_t i) {
    sources.emplace_back(extents);
    sources.back().fill(7);
    others.emplace_back();
    gates.push_back(std::make_unique<gate>());
    gates.back()->close(others.back());
    {
      device_array<int, 1> const earlier(extents, order::c, others[i]);
      earlier.fill(-1, others[i]);
    }
    arrays.emplace_back(extents, order::c, others[i]);
  });
  all.in_group([&](auto& rank, std::size_t i) {
    rank.broadcast(rank.rank() == 0 ? sources[i] : arrays[i], 0, all.streams[i]);
  });
  for (auto const& closed : gates) closed->open();
  all.synchronize();
  all.for_each([&](auto& rank, std::size_t i) {
    others[i].synchronize();
    if (rank.rank() != 0) {
      EXPECT_EQ(7, arrays[i].copy_to_host()(100));
    }
  });
}

TEST_F(Collective, TimeLimitOfAnyLengthIsUsable) {
  rank_set unlimited({.time_limit = std::chrono::milliseconds::max()});
  unlimited.connect();
}

TEST_F(Collective, CommunicatorWithTimeLimitIsUsable) {
  rank_set limited({.time_limit = std::chrono::seconds(60)});
  std::vector<device_array<float, 2>> arrays;
  limited.for_each([&](auto& rank, std::size_t) {
    arrays.emplace_back(shape<2>{8, 8});
    arrays.back().fill(static_cast<float>(rank.rank() + 1));
  });
  limited.in_group([&](auto& rank, std::size_t i) {
    rank.all_reduce(arrays[i](roc::all, slice(0, 8, 2)), reduction::sum, limited.streams[i]);
  });
  limited.synchronize();
  limited.in_group([&](auto& rank, std::size_t i) { rank.broadcast(arrays[i], 0); });
  auto const sum = static_cast<float>(limited.size() * (limited.size() + 1) / 2);
  limited.for_each([&](auto& rank, std::size_t i) {
    EXPECT_EQ(arrays[i].copy_to_host()(3, 2), sum);
    EXPECT_EQ(arrays[i].copy_to_host()(3, 3), 1.0F);
    rank.check();
  });
}

}  // namespace
}  // namespace roc::test
