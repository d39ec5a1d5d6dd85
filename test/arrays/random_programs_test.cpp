// SPDX-License-Identifier: MIT
// Programs of random array operations, on the device and on a plain model: every element is a place
// in a vector, every view a list of places. All memory is compared in the end, gaps included.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "support/environment.hpp"
#include "support/layouts.hpp"

namespace {

using roc::shape;

std::size_t count_of(shape<3> const& extents) { return extents[0] * extents[1] * extents[2]; }

// Memory on the device, and what should be in it.
template <class T>
struct memory {
  roc::device_array<T, 3> array;
  std::vector<T> truth;
};

template <class T>
struct view {
  std::shared_ptr<memory<T>> of;
  roc::device_view<T, 3> there;
  shape<3> extents;
  std::vector<std::size_t> places;  // of the elements, in C order

  std::size_t at(std::size_t i, std::size_t k, std::size_t l) const {
    return places[(i * extents[1] + k) * extents[2] + l];
  }
};

// A slice of an axis, as the library takes it and as the indices that it names.
struct cut {
  roc::slice asked;
  std::vector<std::size_t> indices;
};

template <class T>
class program {
 public:
  explicit program(std::mt19937_64& random) : random_(random) {}

  void run(int steps) {
    for (int i = 0; i < 3; ++i) create();
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    synchronize();
    for (auto const& each : memories_) compare(*each);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  T fresh() { return T::number(++last_); }
  view<T>& any() { return views_[below(views_.size())]; }

  void keep(view<T> made) {
    if (views_.size() < 8) {
      views_.push_back(std::move(made));
    } else {
      any() = std::move(made);
    }
  }

  void step() {
    switch (below(14)) {
      case 0: return one_in(4) ? create() : slice();
      case 1:
      case 2: return slice();
      case 3: return transpose();
      case 4: return reshape();
      case 5: return index_and_new_axis();
      case 6: return split();
      case 7: return fill();
      case 8: return zero();
      case 9: return set();
      case 10: return upload();
      case 11: return download();
      case 12: return copy();
      default: return one_in(3) ? synchronize() : change_stream();
    }
  }

  // Null: a call without a stream.
  std::optional<roc::stream_ref> somewhere() {
    if (one_in(3)) return std::nullopt;
    return streams_[current_];
  }

  void change_stream() {
    roc::event done;
    done.record(streams_[current_]);
    current_ = 1 - current_;
    streams_[current_].wait(done);
  }

  void synchronize() {
    streams_[current_].synchronize();
    for (auto const& each : downloads_) {
      bool right = true;
      each.into->each([&](T& element, std::size_t i) { right = right && element == each.expected[i]; });
      ASSERT_TRUE(right) << "copy to the host";
      ASSERT_TRUE(each.into->gaps_untouched());
    }
    downloads_.clear();
  }

  void compare(memory<T> const& m) {
    if (m.truth.empty()) return;
    std::vector<T> found(m.truth.size());
    all_of(m).copy_to_host(found);
    ASSERT_TRUE(found == m.truth) << "memory, gaps included";
  }

  static roc::device_view<T> all_of(memory<T> const& m) {
    return {m.array.data(), shape<1>{m.truth.size()}};
  }

  roc::device_array<T, 3> random_array(shape<3> const& extents, std::size_t& elements) {
    elements = count_of(extents);
    switch (below(4)) {
      case 0: return roc::device_array<T, 3>(extents);
      case 1: return roc::device_array<T, 3>(extents, roc::order::f);
      case 2: {
        roc::padded<3> const padding(extents[0] + below(3), roc::padding().round_to(1 + below(4)),
                                     roc::padding().align(4));
        elements = count_of(padding.extents(extents, sizeof(T)));
        return roc::device_array<T, 3>(extents, padding, one_in(2) ? roc::order::c : roc::order::f);
      }
      default: {
        auto const strides = roc::test::random_strides(extents, random_, false);
        elements =
            static_cast<std::size_t>(roc::layout::element_range(extents, strides).high);
        return roc::device_array<T, 3>(extents, strides);
      }
    }
  }

  void create() {
    shape<3> const extents{one_in(30) ? 0 : 1 + below(6), 1 + below(6), 1 + below(6)};
    auto made = std::make_shared<memory<T>>();
    std::size_t elements = 0;
    made->array = random_array(extents, elements);
    view<T> whole{made, made->array.view(), extents, {}};
    auto const strides = made->array.strides();
    for (std::size_t i = 0; i < extents[0]; ++i) {
      for (std::size_t k = 0; k < extents[1]; ++k) {
        for (std::size_t l = 0; l < extents[2]; ++l) {
          whole.places.push_back(i * static_cast<std::size_t>(strides[0]) +
                                 k * static_cast<std::size_t>(strides[1]) +
                                 l * static_cast<std::size_t>(strides[2]));
        }
      }
    }
    if (!whole.places.empty()) {
      for (std::size_t i = 0; i < elements; ++i) made->truth.push_back(fresh());
      all_of(*made).copy_to_device(made->truth);
    }
    memories_.push_back(made);
    if (memories_.size() > 12) {
      compare(*memories_.front());
      memories_.pop_front();
    }
    keep(std::move(whole));
  }

  cut random_cut(std::size_t extent) {
    auto const n = static_cast<std::ptrdiff_t>(extent);
    if (n == 0 || one_in(4)) return {roc::slice(roc::none, roc::none), upto(extent)};
    auto const start = static_cast<std::ptrdiff_t>(below(extent));
    auto const step = static_cast<std::ptrdiff_t>(1 + below(3));
    std::vector<std::size_t> indices;
    if (one_in(2)) {
      auto const stop = start + static_cast<std::ptrdiff_t>(below(extent - static_cast<std::size_t>(start) + 1));
      for (auto i = start; i < stop; i += step) indices.push_back(static_cast<std::size_t>(i));
      return {roc::slice(one_in(2) ? start : start - n, stop, step), indices};
    }
    for (auto i = start; i >= 0; i -= step) indices.push_back(static_cast<std::size_t>(i));
    return {roc::slice(start, roc::none, -step), indices};
  }

  static std::vector<std::size_t> upto(std::size_t n) {
    std::vector<std::size_t> result(n);
    for (std::size_t i = 0; i < n; ++i) result[i] = i;
    return result;
  }

  view<T> cut_from(view<T> const& from, cut const& a, cut const& b, cut const& c) {
    view<T> made{from.of, from.there(a.asked, b.asked, c.asked),
                 {a.indices.size(), b.indices.size(), c.indices.size()}, {}};
    for (std::size_t i : a.indices) {
      for (std::size_t k : b.indices) {
        for (std::size_t l : c.indices) made.places.push_back(from.at(i, k, l));
      }
    }
    return made;
  }

  void slice() {
    auto const& from = any();
    auto made = cut_from(from, random_cut(from.extents[0]), random_cut(from.extents[1]),
                         random_cut(from.extents[2]));
    // Slices of slices are soon of nothing: mostly, what is left to work on stays large.
    if (made.places.size() < 4 && !one_in(5)) return create();
    keep(std::move(made));
  }

  void index_and_new_axis() {
    auto const& from = any();
    if (count_of(from.extents) == 0) return;
    auto const index = below(from.extents[1]);
    auto const all = [](std::size_t n) { return cut{roc::slice(0, n), upto(n)}; };
    auto made = cut_from(from, all(from.extents[0]),
                         {roc::slice(index, index + 1), {index}}, all(from.extents[2]));
    made.there = from.there(roc::all, index, roc::newaxis, roc::ellipsis);
    keep(std::move(made));
  }

  void transpose() {
    auto const& from = any();
    std::array<std::size_t, 3> axes{0, 1, 2};
    std::shuffle(axes.begin(), axes.end(), random_);
    view<T> made{from.of, from.there.transpose(axes), {}, {}};
    for (std::size_t i = 0; i < 3; ++i) made.extents[i] = from.extents[axes[i]];
    std::array<std::size_t, 3> at{};
    for (std::size_t i = 0; i < made.extents[0]; ++i) {
      for (std::size_t k = 0; k < made.extents[1]; ++k) {
        for (std::size_t l = 0; l < made.extents[2]; ++l) {
          at[axes[0]] = i;
          at[axes[1]] = k;
          at[axes[2]] = l;
          made.places.push_back(from.at(at[0], at[1], at[2]));
        }
      }
    }
    keep(std::move(made));
  }

  void reshape() {
    auto const& from = any();
    std::size_t const size = count_of(from.extents);
    if (size == 0) return;
    std::size_t divisor = 1 + below(size);
    while (size % divisor != 0) --divisor;
    shape<3> const extents{divisor, 1, size / divisor};
    try {
      view<T> made = from;
      made.there = from.there.reshape(extents);
      made.extents = extents;
      keep(std::move(made));
    } catch (roc::layout_error const&) {
      if (count_of(from.extents) == 1) throw;
      auto const order = from.there.ravel_copy().copy_to_host();
      streams_[current_].synchronize();
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(from.of->truth[from.places[i]], order(i));
    }
  }

  void split() {
    auto const& from = any();
    std::size_t const axis = below(3);
    if (from.extents[axis] == 0) return;
    auto const section = 1 + below(from.extents[axis]);
    auto const parts = from.there.split(section, axis);
    auto const number = below(parts.size());
    cut cuts[3] = {{roc::slice(0, from.extents[0]), upto(from.extents[0])},
                   {roc::slice(0, from.extents[1]), upto(from.extents[1])},
                   {roc::slice(0, from.extents[2]), upto(from.extents[2])}};
    auto const first = number * section;
    auto const last = std::min(first + section, from.extents[axis]);
    cuts[axis].asked = roc::slice(first, last);
    cuts[axis].indices = upto(last - first);
    for (auto& index : cuts[axis].indices) index += first;
    auto made = cut_from(from, cuts[0], cuts[1], cuts[2]);
    made.there = parts[number];
    keep(std::move(made));
  }

  void write(view<T> const& to, T const& value) {
    for (std::size_t place : to.places) to.of->truth[place] = value;
  }

  void fill() {
    auto const& to = any();
    T const value = fresh();
    if (auto const stream = somewhere()) {
      to.there.fill(value, *stream);
    } else {
      to.there.fill(value);
    }
    write(to, value);
  }

  void zero() {
    auto const& to = any();
    if (auto const stream = somewhere()) {
      to.there.bind(*stream).zero();
    } else {
      to.there.zero();
    }
    write(to, T{});
  }

  void set() {
    auto const& to = any();
    if (to.places.empty()) return;
    auto const i = below(to.extents[0]);
    auto const k = below(to.extents[1]);
    auto const l = below(to.extents[2]);
    T const value = fresh();
    if (auto const stream = somewhere()) {
      to.there(i, k, l).set(value, *stream);
    } else {
      to.there(i, k, l).set(value);
      EXPECT_EQ(value, to.there.region(i, k, l).get());
    }
    to.of->truth[to.at(i, k, l)] = value;
  }

  void upload() {
    auto const& to = any();
    roc::test::watched<T, 3> const from(to.extents,
                                        roc::test::random_strides(to.extents, random_, true));
    from.each([&](T& element, std::size_t i) {
      element = fresh();
      to.of->truth[to.places[i]] = element;
    });
    auto const source = from.view();
    if (auto const stream = somewhere()) {
      to.there.copy_to_device(source, *stream);  // pageable: read on return
    } else {
      to.there.copy_to_device(source);
    }
  }

  void download() {
    auto const& from = any();
    download_of next{std::make_shared<roc::test::watched<T, 3>>(
                         from.extents, roc::test::random_strides(from.extents, random_, true)),
                     {}};
    for (std::size_t place : from.places) next.expected.push_back(from.of->truth[place]);
    auto const target = next.into->view();
    auto const stream = somewhere();
    if (stream) {
      from.there.copy_to_host(target, *stream);
    } else {
      from.there.copy_to_host(target);
    }
    downloads_.push_back(std::move(next));
    if (!stream) synchronize();
  }

  // To another view of the same shape: part of a new array, or of the same memory, reversed or not.
  void copy() {
    auto const from = any();
    if (one_in(2)) create();
    auto const other = any();
    shape<3> const least{std::min(from.extents[0], other.extents[0]),
                         std::min(from.extents[1], other.extents[1]),
                         std::min(from.extents[2], other.extents[2])};
    auto const corner = [&](view<T> const& of, bool last) {
      cut cuts[3] = {{roc::slice(0, 0), {}}, {roc::slice(0, 0), {}}, {roc::slice(0, 0), {}}};
      for (std::size_t i = 0; i < 3; ++i) {
        auto const first = last ? of.extents[i] - least[i] : 0;
        cuts[i].asked = roc::slice(first, first + least[i]);
        cuts[i].indices = upto(least[i]);
        for (auto& index : cuts[i].indices) index += first;
      }
      return cut_from(of, cuts[0], cuts[1], cuts[2]);
    };
    auto const source = corner(from, false);
    auto const destination = corner(other, true);
    auto places = source.places;
    std::sort(places.begin(), places.end());
    bool const overlap =
        source.of == destination.of &&
        std::any_of(destination.places.begin(), destination.places.end(), [&](std::size_t place) {
          return std::binary_search(places.begin(), places.end(), place);
        });
    auto const stream = somewhere();
    auto const act = [&] {
      if (stream) {
        roc::copy(source.there, destination.there, *stream);
      } else {
        roc::copy(source.there, destination.there);
      }
    };
    if (overlap) {
      EXPECT_THROW(act(), roc::overlap_error);
      return;
    }
    act();
    for (std::size_t i = 0; i < source.places.size(); ++i) {
      destination.of->truth[destination.places[i]] = source.of->truth[source.places[i]];
    }
  }

  struct download_of {
    std::shared_ptr<roc::test::watched<T, 3>> into;
    std::vector<T> expected;
  };

  std::mt19937_64& random_;
  std::size_t last_ = 0;
  roc::stream streams_[2];
  std::size_t current_ = 0;
  std::list<std::shared_ptr<memory<T>>> memories_;
  std::vector<view<T>> views_;
  std::vector<download_of> downloads_;
};

template <class T>
void run_programs(char const* what, std::size_t steps) {
  auto random = roc::test::random_generator(what);
  constexpr int length = 250;
  std::size_t const programs = roc::test::scaled(steps) / length;
  for (std::size_t i = 0; i < programs; ++i) {
    SCOPED_TRACE("program " + std::to_string(i));
    program<T>(random).run(length);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomPrograms, ElementsOf4Bytes) {
  run_programs<roc::test::element_of<4>>("RandomPrograms.ElementsOf4Bytes", 60'000);
}
TEST(RandomPrograms, ElementsOf3Bytes) {
  run_programs<roc::test::element_of<3>>("RandomPrograms.ElementsOf3Bytes", 20'000);
}
TEST(RandomPrograms, ElementsOf16Bytes) {
  run_programs<roc::test::element_of<16>>("RandomPrograms.ElementsOf16Bytes", 20'000);
}

}  // namespace
