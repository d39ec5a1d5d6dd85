// SPDX-License-Identifier: MIT
// Programs of random operations as data: what they consist of, how a seed becomes one, and how one
// is printed. Nothing here calls the library.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace roc::test {

constexpr std::size_t page = 4096;
/// Bytes at both ends of every buffer that no view contains.
constexpr std::size_t guard_bytes = 64;
constexpr int max_rank = 6;
constexpr std::array<std::size_t, 4> element_sizes{1, 3, 4, 16};
constexpr int buffer_count = 7;
constexpr int thread_count = 3;  // number 0 is the main thread
constexpr int event_count = 3;   // for each device

/// The streams of one device. The owned ones are destroyed and created again.
enum stream_number {
  default_stream,
  owned_stream,
  foreign_blocking = owned_stream + 3,
  foreign_non_blocking,
  per_thread,
  stream_count,
  no_stream = -1,
};

enum class memory_kind {
  device_pool,
  device_small_pool,
  device_hip,
  device_hip_async,
  pageable,
  pageable_array,
  pinned,
  mapped,
  managed,
};
constexpr int memory_kind_count = 9;
constexpr bool is_device(memory_kind kind) { return kind <= memory_kind::device_hip_async; }
inline char const* name_of(memory_kind kind) {
  constexpr char const* names[] = {
      "device(pool)", "device(small pool)",  "device(hip)", "device(hip_async)",
      "pageable",     "pageable host_array", "pinned",      "mapped",
      "managed"};
  return names[static_cast<int>(kind)];
}

using extents_t = std::array<std::size_t, max_rank>;
using strides_t = std::array<std::ptrdiff_t, max_rank>;

/// How the library makes a view out of a dense one: slices, then an order of the axes. The strides
/// of the result are known independently.
struct view_recipe {
  extents_t parent{};
  bool fortran = false;
  std::size_t origin = 0;  // the parent's first byte
  std::array<std::ptrdiff_t, max_rank> start{}, step{};
  std::array<std::size_t, max_rank> sliced{};  // extents after slicing
  std::array<std::size_t, max_rank> axes{};
  bool reshaped = false, split = false, new_axis = false;
};

/// A strided part of a buffer.
struct view_spec {
  int buffer = 0;
  bool as_device = false;  // through the device address, if the memory is mapped
  int rank = 0;
  std::size_t offset = 0;  // bytes before the element at index 0 of every axis
  extents_t extents{};
  strides_t strides{};  // elements
  std::optional<view_recipe> recipe;

  std::size_t count() const {
    std::size_t result = 1;
    for (int i = 0; i < rank; ++i) result *= extents[i];
    return result;
  }
  /// Returns the first byte and the end of the bytes that the view spans; equal if it is empty.
  std::pair<std::ptrdiff_t, std::ptrdiff_t> span(std::size_t size) const {
    auto const bytes = static_cast<std::ptrdiff_t>(size);
    auto low = static_cast<std::ptrdiff_t>(offset), high = low + bytes;
    if (count() == 0) return {low, low};
    for (int i = 0; i < rank; ++i) {
      auto const reach = static_cast<std::ptrdiff_t>(extents[i] - 1) * strides[i] * bytes;
      (reach < 0 ? low : high) += reach;
    }
    return {low, high};
  }
  /// Calls f(offset in bytes) for every element, in C order.
  template <class F>
  void for_each(std::size_t size, F f) const {
    std::size_t const n = count();
    std::array<std::size_t, max_rank> index{};
    auto position = static_cast<std::ptrdiff_t>(offset);
    auto const bytes = static_cast<std::ptrdiff_t>(size);
    for (std::size_t i = 0; i < n; ++i) {
      f(static_cast<std::size_t>(position));
      for (int axis = rank; axis-- != 0;) {
        position += strides[axis] * bytes;
        if (++index[axis] < extents[axis]) break;
        position -= static_cast<std::ptrdiff_t>(extents[axis]) * strides[axis] * bytes;
        index[axis] = 0;
      }
    }
  }
};

struct copy_spec {
  view_spec from, to;
};

/// How memory is passed to a call.
enum class call_form {
  views,         // device_view and host_view
  memory_views,  // the kind of the memory is looked up
  located,       // memory_view::at
  bytes,         // roc::memcpy and memcpy_2d, if the layouts allow it; otherwise memory_views
};

enum class action {
  create,         // another buffer in the place of one, which is destroyed
  copy,           // one copy
  batch,          // several copies
  fill,           // views of copies.to
  zero,           //
  invalid_copy,   // shapes or strides that the library must refuse
  invalid_batch,  // as invalid_copy, among copies that are done
  host_function,  // adds `value` to bytes [first, first + count)
  delay,          // a host function that takes some time
  host_write,     // the host overwrites bytes, if no copy uses them
  map,            // the host changes elements of a mapped array
  register_pages,
  deregister,
  record_event,
  wait_event,
  synchronize_event,
  synchronize_stream,
  synchronize_device,
  new_stream,
  check,  // downloads a buffer
};

struct operation {
  action what = action::check;
  int device = 0;
  int stream = no_stream;
  int thread = 0;
  bool concurrent = false;  // may be called at the same time as adjacent operations
  std::size_t size = 1;     // of an element
  std::vector<copy_spec> copies;
  bool borrow = false;
  call_form form = call_form::views;  // unless the memory is managed or has a device address
  int path = 0;                       // copy_options
  std::size_t threads = 0;
  memory_kind memory = memory_kind::pageable;
  std::size_t capacity = 0;
  int buffer = 0;
  std::size_t first = 0, count = 0;
  unsigned value = 0;
  unsigned choice = 0;  // among equivalent ways, such as those to order two streams
};

struct program {
  std::uint64_t seed = 0;
  unsigned setting = 0;  // number of the options that the program runs with
  std::vector<operation> operations;
};

/// Makes programs. Everything derives from the seed; std::uniform_int_distribution is not used
/// because its results depend on the standard library.
class generator {
 public:
  explicit generator(std::uint64_t seed) : random_(seed) { result_.seed = seed; }

  program make(std::size_t length) {
    result_.setting = static_cast<unsigned>(below(5));
    for (int i = 0; i < buffer_count; ++i) {
      create(i, i == 0   ? memory_kind::device_pool
                : i == 1 ? memory_kind::pageable
                         : static_cast<memory_kind>(below(memory_kind_count)));
    }
    while (result_.operations.size() < length) step();
    return std::move(result_);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  call_form random_form() {
    return one_in(2) ? call_form::views : static_cast<call_form>(1 + below(3));
  }

  operation& add(action what) {
    operation next;
    next.what = what;
    next.device = static_cast<int>(below(2));
    next.stream = one_in(5) ? static_cast<int>(no_stream) : static_cast<int>(below(stream_count));
    next.thread = one_in(2) ? 0 : static_cast<int>(below(thread_count));
    next.buffer = static_cast<int>(below(buffer_count));
    next.value = static_cast<unsigned>(1 + below(250));
    next.choice = static_cast<unsigned>(random_());
    result_.operations.push_back(next);
    return result_.operations.back();
  }

  void create(int buffer, memory_kind kind) {
    auto& next = add(action::create);
    next.buffer = buffer;
    next.memory = kind;
    next.capacity = page * (1 + below(4)) * (one_in(6) ? 4 : 1);
    if (next.stream > owned_stream + 2) next.stream = default_stream;
    kinds_[buffer] = kind;
    capacities_[buffer] = next.capacity;
  }

  int random_buffer(bool (*accept)(memory_kind)) {
    for (int tries = 0; tries < 20; ++tries) {
      auto const buffer = static_cast<int>(below(buffer_count));
      if (accept(kinds_[buffer])) return buffer;
    }
    return 1;
  }
  static bool is_any(memory_kind) { return true; }
  static bool is_host(memory_kind kind) { return !is_device(kind); }
  static bool is_pageable(memory_kind kind) { return kind == memory_kind::pageable; }

  void step() {
    switch (below(40)) {
      case 0:
        return create(
            static_cast<int>(below(buffer_count)),
            one_in(2) ? memory_kind::pageable : static_cast<memory_kind>(below(memory_kind_count)));
      case 1:
      case 2:
      case 3: return batch(action::batch);
      case 4: return batch(action::invalid_batch);
      case 5: return invalid_copy();
      case 6:
      case 7:
      case 8: {
        auto& next = add(one_in(3) ? action::zero : action::fill);
        next.concurrent = one_in(2);
        next.size = element_sizes[below(4)];
        next.form = random_form();
        copy_spec spec;
        random_shape(spec);
        place(spec.to, random_buffer(is_any), next.size, true);
        next.copies.push_back(spec);
        return;
      }
      case 9: {
        auto& next = add(action::host_function);
        next.buffer = random_buffer(is_host);
        return random_bytes(next);
      }
      case 10: return void(add(action::delay));
      case 11: {
        auto& next = add(action::host_write);
        next.buffer = random_buffer(is_host);
        next.thread = 0;
        return random_bytes(next);
      }
      case 12: {
        auto& next = add(action::map);
        next.size = 4;
        copy_spec spec;
        spec.from.rank = spec.to.rank = 2;
        spec.from.extents = spec.to.extents = {1 + below(6), 1 + below(6)};
        place(spec.to, random_buffer(is_any), 4, true);
        spec.to.recipe.reset();
        next.copies.push_back(spec);
        return;
      }
      case 13:
      case 14:
      case 15:
      case 16:
        if (one_in(3)) return spanning_copies();
        return register_pages(random_buffer(is_pageable));
      case 17:
      case 18: {
        auto& next = add(action::deregister);
        next.buffer = random_buffer(is_pageable);
        return;
      }
      case 19: return void(add(action::record_event));
      case 20:
      case 21: return void(add(action::wait_event));
      case 22: return void(add(one_in(2) ? action::synchronize_event : action::synchronize_stream));
      case 23: return void(add(one_in(2) ? action::synchronize_device : action::check));
      case 24: return void(add(action::new_stream));
      case 25:
      case 26: return concurrent_copies();
      default: return copy(random_buffer(is_any), random_buffer(is_any));
    }
  }

  void random_bytes(operation& next) {
    std::size_t const usable = capacities_[next.buffer] - 2 * guard_bytes;
    next.first = guard_bytes + below(usable);
    next.count = 1 + below(std::min<std::size_t>(usable - (next.first - guard_bytes), 300));
  }

  void register_pages(int buffer) {
    auto& next = add(action::register_pages);
    next.buffer = buffer;
    std::size_t const pages = capacities_[buffer] / page;
    next.first = below(pages);
    next.count = 1 + below(pages - next.first);
    if (one_in(2)) next.count = 1;
  }

  // The pattern of a range that two registrations and pageable memory share: copies to the parts,
  // then one from the whole.
  void spanning_copies() {
    int const host = random_buffer(is_pageable);
    register_pages(host);
    if (one_in(2)) register_pages(host);
    std::size_t const count = 2 + below(3);
    for (std::size_t i = 0; i < count; ++i) copy(random_buffer(is_any), host);
    auto& last = add(action::copy);
    last.size = 1;
    last.borrow = one_in(4);
    copy_spec spec;
    spec.from.rank = spec.to.rank = 1;
    std::size_t const usable = capacities_[host] - 2 * guard_bytes;
    int const other = random_buffer(is_any);
    spec.from.extents[0] = spec.to.extents[0] =
        std::min(usable, capacities_[other] - 2 * guard_bytes);
    spec.from.strides[0] = spec.to.strides[0] = 1;
    spec.from.offset = spec.to.offset = guard_bytes;
    spec.from.buffer = host;
    spec.to.buffer = other;
    if (one_in(3)) std::swap(spec.from.buffer, spec.to.buffer);
    last.copies.push_back(spec);
  }

  // Sets equal ranks and extents of both views. Most copies are small, so that many fit into a
  // buffer; some are rows or as large as the buffer.
  void random_shape(copy_spec& spec) {
    // Few copies have many axes: their rows are short.
    auto const rank = static_cast<int>(one_in(6) ? 5 + below(max_rank - 4) : below(5));
    extents_t extents{};
    std::size_t const largest = rank > 4 ? 4 : 6;
    for (int i = 0; i < rank; ++i) extents[i] = one_in(40) ? 0 : 1 + below(largest);
    if (rank == 1 && one_in(2)) extents[0] = 1 + below(one_in(3) ? 16'000 : 1500);
    if (rank >= 2 && one_in(3)) extents[one_in(3) ? 0 : rank - 1] = 20 + below(300);
    spec.from.rank = spec.to.rank = rank;
    spec.from.extents = spec.to.extents = extents;
  }

  void copy(int from, int to) {
    auto& next = add(action::copy);
    next.concurrent = one_in(2);
    next.size = element_sizes[below(4)];
    next.borrow = one_in(5);
    next.form = random_form();
    if (one_in(6)) next.path = static_cast<int>(1 + below(7));
    if (one_in(4)) next.threads = 1 + below(3);
    next.copies.push_back(random_copy(from, to, next.size));
    bool const overwrite = one_in(3);
    auto const last = next;
    if (!overwrite || is_device(kinds_[from])) return;
    // A pageable source may be changed on return.
    auto& write = add(action::host_write);
    write.thread = 0;
    write.buffer = from;
    auto const [low, high] = last.copies[0].from.span(last.size);
    write.first = static_cast<std::size_t>(low);
    write.count = std::min<std::size_t>(static_cast<std::size_t>(high - low), 64);
  }

  // Copies that several threads enqueue at the same time.
  void concurrent_copies() {
    std::size_t const count = 3 + below(4);
    for (std::size_t i = 0; i < count; ++i) {
      copy(random_buffer(is_any), random_buffer(is_any));
      auto& last = result_.operations.back();
      if (last.what != action::copy) continue;
      last.concurrent = true;
      last.path = 0;
      last.thread = static_cast<int>(i % thread_count);
      last.stream = static_cast<int>(owned_stream + below(stream_count - owned_stream));
    }
  }

  copy_spec random_copy(int from, int to, std::size_t size) {
    copy_spec spec;
    random_shape(spec);
    place(spec.from, from, size, false);
    spec.to.extents = spec.from.extents;
    if (place(spec.to, to, size, true)) {  // made smaller
      spec.from.extents = spec.to.extents;
      spec.from.recipe.reset();
    }
    spec.from.as_device = one_in(4);
    spec.to.as_device = one_in(4);
    return spec;
  }

  void batch(action what) {
    auto& next = add(what);
    next.size = element_sizes[below(4)];
    next.borrow = one_in(5);
    next.form = random_form();
    if (one_in(10)) next.path = static_cast<int>(1 + below(7));
    std::size_t const count = one_in(4) ? 10 + below(20) : 2 + below(5);
    int const a = random_buffer(is_any), b = random_buffer(is_any);
    for (std::size_t i = 0; i < count; ++i) {
      bool const same = one_in(2);
      next.copies.push_back(random_copy(same ? a : random_buffer(is_any),
                                        same ? b : random_buffer(is_any), next.size));
    }
  }

  void invalid_copy() {
    auto& next = add(action::invalid_copy);
    next.size = element_sizes[below(4)];
    next.form = random_form();
    next.copies.push_back(random_copy(random_buffer(is_any), random_buffer(is_any), next.size));
  }

  // Chooses a layout and a place in the buffer. Returns true if the extents had to be made smaller.
  bool place(view_spec& view, int buffer, std::size_t size, bool is_destination) {
    view.buffer = buffer;
    std::size_t const usable = capacities_[buffer] - 2 * guard_bytes;
    bool is_smaller = false;
    while (view.count() * size > usable) {
      auto const largest = std::max_element(view.extents.begin(), view.extents.end());
      *largest /= 2;
      is_smaller = true;
    }
    std::size_t const kind = below(8);
    view.recipe.reset();
    if (kind < 2 && view.count() != 0 && view.rank != 0)
      slice(view, size);
    else if (kind < 4)
      random_strides(view, is_destination);
    else
      dense(view, kind == 4);
    if (!is_destination && view.rank != 0 && one_in(12)) {
      view.strides[below(static_cast<std::size_t>(view.rank))] = 0;
      view.recipe.reset();
    }
    view.offset = 0;
    auto [low, high] = view.span(size);
    if (static_cast<std::size_t>(high - low) > usable) {
      view.recipe.reset();
      dense(view, false);
      std::tie(low, high) = view.span(size);
    }
    std::size_t const free = usable - static_cast<std::size_t>(high - low);
    std::size_t position = below(free + 1);
    if (!one_in(4)) position -= position % (one_in(2) ? 16 : size);  // mostly aligned
    if (one_in(8)) position = 0;
    if (one_in(8)) position = free;
    view.offset = guard_bytes + position + static_cast<std::size_t>(-low);
    if (view.recipe) {
      std::ptrdiff_t origin = static_cast<std::ptrdiff_t>(view.offset);
      auto const steps = dense_strides(view.recipe->parent, view.rank, view.recipe->fortran);
      for (int i = 0; i < view.rank; ++i) {
        origin -= view.recipe->start[i] * steps[i] * static_cast<std::ptrdiff_t>(size);
      }
      // The parent of the view must be inside of the buffer too.
      std::size_t parent_bytes = size;
      for (int i = 0; i < view.rank; ++i) parent_bytes *= view.recipe->parent[i];
      if (origin < 0 || static_cast<std::size_t>(origin) + parent_bytes > capacities_[buffer]) {
        view.recipe.reset();
      } else {
        view.recipe->origin = static_cast<std::size_t>(origin);
      }
    }
    return is_smaller;
  }

  static strides_t dense_strides(extents_t const& extents, int rank, bool fortran) {
    strides_t result{};
    std::ptrdiff_t step = 1;
    for (int k = 0; k < rank; ++k) {
      int const axis = fortran ? k : rank - 1 - k;
      result[axis] = step;
      step *= static_cast<std::ptrdiff_t>(std::max<std::size_t>(extents[axis], 1));
    }
    return result;
  }

  void dense(view_spec& view, bool fortran) {
    view.strides = dense_strides(view.extents, view.rank, fortran);
  }

  std::array<std::size_t, max_rank> random_axes(int rank) {
    std::array<std::size_t, max_rank> axes{};
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    for (int i = rank; i > 1; --i) std::swap(axes[i - 1], axes[below(static_cast<std::size_t>(i))]);
    return axes;
  }

  // A random order of the axes with gaps and signs; no two elements overlap.
  void random_strides(view_spec& view, bool) {
    std::ptrdiff_t step = one_in(3) ? 2 : 1;
    auto const axes = random_axes(view.rank);
    for (int k = 0; k < view.rank; ++k) {
      view.strides[axes[k]] = one_in(4) ? -step : step;
      step *= static_cast<std::ptrdiff_t>(std::max<std::size_t>(view.extents[axes[k]], 1));
      if (one_in(2)) step += static_cast<std::ptrdiff_t>(below(5));
    }
  }

  void slice(view_spec& view, std::size_t) {
    view_recipe recipe;
    recipe.fortran = one_in(2);
    recipe.axes = random_axes(view.rank);
    recipe.reshaped = one_in(2);
    recipe.split = one_in(3);
    recipe.new_axis = one_in(3);
    constexpr std::ptrdiff_t steps[] = {1, 1, 2, 3, -1, -2};
    for (int i = 0; i < view.rank; ++i) recipe.sliced[recipe.axes[i]] = view.extents[i];
    for (int i = 0; i < view.rank; ++i) {
      recipe.step[i] = steps[below(6)];
      std::ptrdiff_t const lead = static_cast<std::ptrdiff_t>(below(3));
      std::ptrdiff_t const span =
          static_cast<std::ptrdiff_t>(recipe.sliced[i] - 1) * std::abs(recipe.step[i]) + 1;
      recipe.parent[i] = static_cast<std::size_t>(lead + span) + below(3);
      recipe.start[i] = recipe.step[i] > 0 ? lead : lead + span - 1;
    }
    auto const parent = dense_strides(recipe.parent, view.rank, recipe.fortran);
    for (int i = 0; i < view.rank; ++i) {
      view.strides[i] = parent[recipe.axes[i]] * recipe.step[recipe.axes[i]];
    }
    view.recipe = recipe;
  }

  std::mt19937_64 random_;
  program result_;
  std::array<memory_kind, buffer_count> kinds_{};
  std::array<std::size_t, buffer_count> capacities_{};
};

inline std::string text_of(view_spec const& view) {
  std::string text = "b" + std::to_string(view.buffer) + "+" + std::to_string(view.offset) +
                     (view.as_device ? " by device address (" : " (");
  for (int i = 0; i < view.rank; ++i) text += (i ? "," : "") + std::to_string(view.extents[i]);
  text += "):(";
  for (int i = 0; i < view.rank; ++i) text += (i ? "," : "") + std::to_string(view.strides[i]);
  return text + (view.recipe ? ") sliced" : ")");
}

inline std::string stream_text(operation const& op) {
  if (op.stream == no_stream) return " without a stream";
  std::string name = op.stream == default_stream         ? "the default stream"
                     : op.stream == foreign_blocking     ? "a foreign stream"
                     : op.stream == foreign_non_blocking ? "a foreign non-blocking stream"
                     : op.stream == per_thread           ? "the per-thread stream"
                                                         : "s" + std::to_string(op.stream);
  return " on " + name;
}

}  // namespace roc::test
