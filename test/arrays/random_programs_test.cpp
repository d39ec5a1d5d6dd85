// SPDX-License-Identifier: MIT
// Programs of random array operations, executed on the device and on a model. In the model, memory
// is a vector and a view is a list of positions in it. All memory is compared at the end, with
// gaps.
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

// Memory on the device, and its expected contents.
template <class T>
struct memory {
  roc::device_array<T, 3> array;
  std::vector<T> expected;
};

template <class T>
struct view {
  std::shared_ptr<memory<T>> owner;
  roc::device_view<T, 3> device;
  shape<3> extents;
  std::vector<std::size_t> positions;  // in the memory, of the elements in C order

  std::size_t position_at(std::size_t i, std::size_t k, std::size_t l) const {
    return positions[(i * extents[1] + k) * extents[2] + l];
  }
};

// A slice of an axis, as an argument of the library and as the indices that it selects.
struct axis_slice {
  roc::slice argument;
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
    for (auto const& m : memories_) compare(*m);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  T next_value() { return T::number(++last_value_); }
  view<T>& random_view() { return views_[below(views_.size())]; }

  void add_view(view<T> result) {
    if (views_.size() < 8) {
      views_.push_back(std::move(result));
    } else {
      random_view() = std::move(result);
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

  // Returns the current stream; nullopt for a call without a stream.
  std::optional<roc::stream_ref> random_stream() {
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
    for (auto const& download : downloads_) {
      bool is_equal = true;
      download.host->for_each_element([&](T& element, std::size_t i) {
        is_equal = is_equal && element == download.expected[i];
      });
      ASSERT_TRUE(is_equal) << "copy to the host";
      ASSERT_TRUE(download.host->are_gaps_unchanged());
    }
    downloads_.clear();
  }

  void compare(memory<T> const& m) {
    if (m.expected.empty()) return;
    std::vector<T> found(m.expected.size());
    all_of(m).copy_to_host(found);
    ASSERT_TRUE(found == m.expected) << "memory, with gaps";
  }

  static roc::device_view<T> all_of(memory<T> const& m) {
    return {m.array.data(), shape<1>{m.expected.size()}};
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
        elements = static_cast<std::size_t>(roc::layout::element_range(extents, strides).high);
        return roc::device_array<T, 3>(extents, strides);
      }
    }
  }

  void create() {
    shape<3> const extents{one_in(30) ? 0 : 1 + below(6), 1 + below(6), 1 + below(6)};
    auto result = std::make_shared<memory<T>>();
    std::size_t elements = 0;
    result->array = random_array(extents, elements);
    view<T> whole{result, result->array.view(), extents, {}};
    auto const strides = result->array.strides();
    for (std::size_t i = 0; i < extents[0]; ++i) {
      for (std::size_t k = 0; k < extents[1]; ++k) {
        for (std::size_t l = 0; l < extents[2]; ++l) {
          whole.positions.push_back(i * static_cast<std::size_t>(strides[0]) +
                                    k * static_cast<std::size_t>(strides[1]) +
                                    l * static_cast<std::size_t>(strides[2]));
        }
      }
    }
    if (!whole.positions.empty()) {
      for (std::size_t i = 0; i < elements; ++i) result->expected.push_back(next_value());
      all_of(*result).copy_to_device(result->expected);
    }
    memories_.push_back(result);
    if (memories_.size() > 12) {
      compare(*memories_.front());
      memories_.pop_front();
    }
    add_view(std::move(whole));
  }

  axis_slice random_slice(std::size_t extent) {
    auto const n = static_cast<std::ptrdiff_t>(extent);
    if (n == 0 || one_in(4)) return {roc::slice(roc::none, roc::none), first_indices(extent)};
    auto const start = static_cast<std::ptrdiff_t>(below(extent));
    auto const step = static_cast<std::ptrdiff_t>(1 + below(3));
    std::vector<std::size_t> indices;
    if (one_in(2)) {
      auto const stop =
          start + static_cast<std::ptrdiff_t>(below(extent - static_cast<std::size_t>(start) + 1));
      for (auto i = start; i < stop; i += step) indices.push_back(static_cast<std::size_t>(i));
      return {roc::slice(one_in(2) ? start : start - n, stop, step), indices};
    }
    for (auto i = start; i >= 0; i -= step) indices.push_back(static_cast<std::size_t>(i));
    return {roc::slice(start, roc::none, -step), indices};
  }

  static std::vector<std::size_t> first_indices(std::size_t n) {
    std::vector<std::size_t> result(n);
    for (std::size_t i = 0; i < n; ++i) result[i] = i;
    return result;
  }

  view<T> slice_of(view<T> const& from, axis_slice const& a, axis_slice const& b,
                   axis_slice const& c) {
    view<T> result{from.owner,
                   from.device(a.argument, b.argument, c.argument),
                   {a.indices.size(), b.indices.size(), c.indices.size()},
                   {}};
    for (std::size_t i : a.indices) {
      for (std::size_t k : b.indices) {
        for (std::size_t l : c.indices) result.positions.push_back(from.position_at(i, k, l));
      }
    }
    return result;
  }

  void slice() {
    auto const& from = random_view();
    auto result = slice_of(from, random_slice(from.extents[0]), random_slice(from.extents[1]),
                           random_slice(from.extents[2]));
    // Slices of slices soon become empty: keep most views large enough to work on.
    if (result.positions.size() < 4 && !one_in(5)) return create();
    add_view(std::move(result));
  }

  void index_and_new_axis() {
    auto const& from = random_view();
    if (count_of(from.extents) == 0) return;
    auto const index = below(from.extents[1]);
    auto const all = [](std::size_t n) { return axis_slice{roc::slice(0, n), first_indices(n)}; };
    auto result = slice_of(from, all(from.extents[0]), {roc::slice(index, index + 1), {index}},
                           all(from.extents[2]));
    result.device = from.device(roc::all, index, roc::newaxis, roc::ellipsis);
    add_view(std::move(result));
  }

  void transpose() {
    auto const& from = random_view();
    std::array<std::size_t, 3> axes{0, 1, 2};
    std::shuffle(axes.begin(), axes.end(), random_);
    view<T> result{from.owner, from.device.transpose(axes), {}, {}};
    for (std::size_t i = 0; i < 3; ++i) result.extents[i] = from.extents[axes[i]];
    std::array<std::size_t, 3> index{};
    for (std::size_t i = 0; i < result.extents[0]; ++i) {
      for (std::size_t k = 0; k < result.extents[1]; ++k) {
        for (std::size_t l = 0; l < result.extents[2]; ++l) {
          index[axes[0]] = i;
          index[axes[1]] = k;
          index[axes[2]] = l;
          result.positions.push_back(from.position_at(index[0], index[1], index[2]));
        }
      }
    }
    add_view(std::move(result));
  }

  void reshape() {
    auto const& from = random_view();
    std::size_t const size = count_of(from.extents);
    if (size == 0) return;
    std::size_t divisor = 1 + below(size);
    while (size % divisor != 0) --divisor;
    shape<3> const extents{divisor, 1, size / divisor};
    try {
      view<T> result = from;
      result.device = from.device.reshape(extents);
      result.extents = extents;
      add_view(std::move(result));
    } catch (roc::layout_error const&) {
      if (count_of(from.extents) == 1) throw;
      auto const order = from.device.ravel_copy().copy_to_host();
      streams_[current_].synchronize();
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(from.owner->expected[from.positions[i]], order(i));
    }
  }

  void split() {
    auto const& from = random_view();
    std::size_t const axis = below(3);
    if (from.extents[axis] == 0) return;
    auto const section = 1 + below(from.extents[axis]);
    auto const parts = from.device.split(section, axis);
    auto const number = below(parts.size());
    axis_slice slices[3] = {{roc::slice(0, from.extents[0]), first_indices(from.extents[0])},
                            {roc::slice(0, from.extents[1]), first_indices(from.extents[1])},
                            {roc::slice(0, from.extents[2]), first_indices(from.extents[2])}};
    auto const first = number * section;
    auto const last = std::min(first + section, from.extents[axis]);
    slices[axis].argument = roc::slice(first, last);
    slices[axis].indices = first_indices(last - first);
    for (auto& index : slices[axis].indices) index += first;
    auto result = slice_of(from, slices[0], slices[1], slices[2]);
    result.device = parts[number];
    add_view(std::move(result));
  }

  void write(view<T> const& to, T const& value) {
    for (std::size_t position : to.positions) to.owner->expected[position] = value;
  }

  void fill() {
    auto const& to = random_view();
    T const value = next_value();
    if (auto const stream = random_stream()) {
      to.device.fill(value, *stream);
    } else {
      to.device.fill(value);
    }
    write(to, value);
  }

  void zero() {
    auto const& to = random_view();
    if (auto const stream = random_stream()) {
      to.device.bind(*stream).zero();
    } else {
      to.device.zero();
    }
    write(to, T{});
  }

  void set() {
    auto const& to = random_view();
    if (to.positions.empty()) return;
    auto const i = below(to.extents[0]);
    auto const k = below(to.extents[1]);
    auto const l = below(to.extents[2]);
    T const value = next_value();
    if (auto const stream = random_stream()) {
      to.device(i, k, l).set(value, *stream);
    } else {
      to.device(i, k, l).set(value);
      EXPECT_EQ(value, to.device.region(i, k, l).get());
    }
    to.owner->expected[to.position_at(i, k, l)] = value;
  }

  void upload() {
    auto const& to = random_view();
    roc::test::guarded_array<T, 3> const from(to.extents,
                                              roc::test::random_strides(to.extents, random_, true));
    from.for_each_element([&](T& element, std::size_t i) {
      element = next_value();
      to.owner->expected[to.positions[i]] = element;
    });
    auto const source = from.view();
    if (auto const stream = random_stream()) {
      to.device.copy_to_device(source, *stream);  // pageable, so it has been read on return
    } else {
      to.device.copy_to_device(source);
    }
  }

  void download() {
    auto const& from = random_view();
    pending_download next{std::make_shared<roc::test::guarded_array<T, 3>>(
                              from.extents, roc::test::random_strides(from.extents, random_, true)),
                          {}};
    for (std::size_t position : from.positions)
      next.expected.push_back(from.owner->expected[position]);
    auto const target = next.host->view();
    auto const stream = random_stream();
    if (stream) {
      from.device.copy_to_host(target, *stream);
    } else {
      from.device.copy_to_host(target);
    }
    downloads_.push_back(std::move(next));
    if (!stream) synchronize();
  }

  // Copies to another view: of the same memory or of other memory. Both are cut to a common shape.
  void copy() {
    auto const from = random_view();
    if (one_in(2)) create();
    auto const other = random_view();
    shape<3> const common{std::min(from.extents[0], other.extents[0]),
                          std::min(from.extents[1], other.extents[1]),
                          std::min(from.extents[2], other.extents[2])};
    auto const corner_of = [&](view<T> const& v, bool last) {
      axis_slice slices[3] = {
          {roc::slice(0, 0), {}}, {roc::slice(0, 0), {}}, {roc::slice(0, 0), {}}};
      for (std::size_t i = 0; i < 3; ++i) {
        auto const first = last ? v.extents[i] - common[i] : 0;
        slices[i].argument = roc::slice(first, first + common[i]);
        slices[i].indices = first_indices(common[i]);
        for (auto& index : slices[i].indices) index += first;
      }
      return slice_of(v, slices[0], slices[1], slices[2]);
    };
    auto const source = corner_of(from, false);
    auto const destination = corner_of(other, true);
    auto positions = source.positions;
    std::sort(positions.begin(), positions.end());
    bool const overlap =
        source.owner == destination.owner &&
        std::any_of(destination.positions.begin(), destination.positions.end(),
                    [&](std::size_t position) {
                      return std::binary_search(positions.begin(), positions.end(), position);
                    });
    auto const stream = random_stream();
    auto const do_copy = [&] {
      if (stream) {
        roc::copy(source.device, destination.device, *stream);
      } else {
        roc::copy(source.device, destination.device);
      }
    };
    if (overlap) {
      EXPECT_THROW(do_copy(), roc::overlap_error);
      return;
    }
    do_copy();
    for (std::size_t i = 0; i < source.positions.size(); ++i) {
      destination.owner->expected[destination.positions[i]] =
          source.owner->expected[source.positions[i]];
    }
  }

  struct pending_download {
    std::shared_ptr<roc::test::guarded_array<T, 3>> host;
    std::vector<T> expected;
  };

  std::mt19937_64& random_;
  std::size_t last_value_ = 0;
  roc::stream streams_[2];
  std::size_t current_ = 0;
  std::list<std::shared_ptr<memory<T>>> memories_;
  std::vector<view<T>> views_;
  std::vector<pending_download> downloads_;
};

template <class T>
void run_programs(char const* name, std::size_t steps) {
  auto random = roc::test::random_generator(name);
  constexpr int length = 250;
  std::size_t const programs = roc::test::scaled(steps) / length;
  for (std::size_t i = 0; i < programs; ++i) {
    SCOPED_TRACE("program " + std::to_string(i));
    program<T>(random).run(length);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomPrograms, MatchTheModelForElementsOf4Bytes) {
  run_programs<roc::test::element_of<4>>("RandomPrograms.MatchTheModelForElementsOf4Bytes", 60'000);
}
TEST(RandomPrograms, MatchTheModelForElementsOf3Bytes) {
  run_programs<roc::test::element_of<3>>("RandomPrograms.MatchTheModelForElementsOf3Bytes", 20'000);
}
TEST(RandomPrograms, MatchTheModelForElementsOf16Bytes) {
  run_programs<roc::test::element_of<16>>("RandomPrograms.MatchTheModelForElementsOf16Bytes",
                                          20'000);
}

}  // namespace
