// SPDX-License-Identifier: MIT
// Copies between memories of every kind, of the library and of other code, whose location is found
// at run time: compared element by element, and with bytes in gaps unchanged.
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "support/call_counter.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/layouts.hpp"
#include "support/options.hpp"

namespace {

// Staging memory is small, so that copies take many chunks.
roc::test::program_options const options_of_tests(roc::test::small_staging);

// "other" is memory that code outside of the library allocated.
enum class kind {
  pageable,
  pinned,
  other_pinned,
  registered,
  other_registered,
  half_registered,
  managed,
  other_managed,
  array,
  other_device,
  second_device,
};
bool has_second_device() { return roc::device::count() > 1; }

std::vector<kind> all_kinds() {
  std::vector<kind> result{kind::pageable,    kind::pinned,           kind::other_pinned,
                           kind::registered,  kind::other_registered, kind::half_registered,
                           kind::managed,     kind::other_managed,    kind::array,
                           kind::other_device};
  if (has_second_device()) result.push_back(kind::second_device);
  return result;
}

bool is_on_device(kind k) {
  return k == kind::array || k == kind::other_device || k == kind::second_device;
}

// The device whose streams can be used for a copy from or to the memory.
int device_of(kind k) { return k == kind::second_device ? 1 : 0; }

struct free_pages {
  void operator()(std::byte* data) const { std::free(data); }
};
using page_memory = std::unique_ptr<std::byte[], free_pages>;

constexpr std::size_t page = 4096;

// Returns zeroed memory that shares no page with other memory: runtimes register whole pages.
page_memory allocate_pages(std::size_t bytes) {
  std::size_t const rounded = (bytes / page + 1) * page;
  page_memory result(static_cast<std::byte*>(std::aligned_alloc(page, rounded)));
  std::fill_n(result.get(), rounded, std::byte{});
  return result;
}

// Memory of one kind, which the test reads and writes by HIP's own calls.
class raw_memory {
 public:
  raw_memory(kind k, std::size_t bytes) : kind_(k), bytes_(bytes) {
    switch (k) {
      case kind::pageable: break;
      case kind::pinned: pinned_ = roc::pinned_array<std::byte>(bytes); break;
      case kind::other_pinned:
        ROCARRAY_HIP(hipHostMalloc, &memory_, bytes, hipHostMallocDefault);
        break;
      case kind::registered:
      case kind::other_registered:
      case kind::half_registered: break;
      case kind::managed: managed_ = roc::managed_array<std::byte>(bytes); break;
      case kind::other_managed:
        ROCARRAY_HIP(hipMallocManaged, &memory_, bytes, hipMemAttachGlobal);
        break;
      case kind::array: array_ = roc::device_array<std::byte>(roc::shape<1>{bytes}); break;
      case kind::other_device: ROCARRAY_HIP(hipMalloc, &memory_, bytes); break;
      case kind::second_device: {
        roc::device_guard const guard{roc::device(1)};
        ROCARRAY_HIP(hipMalloc, &memory_, bytes);
        break;
      }
    }
    bool const on_heap = k == kind::pageable || k == kind::registered ||
                         k == kind::other_registered || k == kind::half_registered;
    if (on_heap) heap_ = allocate_pages(bytes);
    if (k == kind::registered) {
      registration_.emplace(roc::register_host(std::span(heap_.get(), bytes)));
    }
    if (k == kind::other_registered) {
      ROCARRAY_HIP(hipHostRegister, heap_.get(), bytes, hipHostRegisterDefault);
    }
    if (k == kind::half_registered) {
      ROCARRAY_HIP(hipHostRegister, heap_.get(), bytes / 2, hipHostRegisterDefault);
    }
  }
  ~raw_memory() {
    if (kind_ == kind::other_registered || kind_ == kind::half_registered) {
      ROCARRAY_HIP_QUIET(hipHostUnregister, heap_.get());
    }
    if (kind_ == kind::other_pinned) {
      ROCARRAY_HIP_QUIET(hipHostFree, memory_);
    } else if (memory_ != nullptr) {
      ROCARRAY_HIP_QUIET(hipFree, memory_);
    }
  }
  raw_memory(raw_memory const&) = delete;
  raw_memory& operator=(raw_memory const&) = delete;

  std::byte* data() {
    if (memory_ != nullptr) return static_cast<std::byte*>(memory_);
    if (kind_ == kind::pinned) return pinned_.data();
    if (kind_ == kind::managed) return managed_.data();
    if (kind_ == kind::array) return array_.data();
    return heap_.get();
  }
  std::size_t size() const { return bytes_; }
  void write(std::vector<std::byte> const& bytes) {
    if (!is_on_device(kind_)) {
      std::memcpy(data(), bytes.data(), bytes.size());
      return;
    }
    ROCARRAY_HIP(hipMemcpy, data(), bytes.data(), bytes.size(), hipMemcpyHostToDevice);
  }
  std::vector<std::byte> read() {
    std::vector<std::byte> result(bytes_);
    if (!is_on_device(kind_)) {
      std::memcpy(result.data(), data(), bytes_);
    } else {
      ROCARRAY_HIP(hipMemcpy, result.data(), data(), bytes_, hipMemcpyDeviceToHost);
    }
    return result;
  }

 private:
  kind kind_;
  std::size_t bytes_;
  void* memory_ = nullptr;
  page_memory heap_;
  roc::host_array<std::byte> pinned_;
  roc::host_array<std::byte> managed_;
  roc::device_array<std::byte> array_;
  std::optional<roc::registration> registration_;
};

// A layout of elements in memory of one kind, with gaps.
template <class T, std::size_t N>
struct placed {
  placed(kind k, roc::shape<N> const& extents, roc::strides<N> const& steps)
      : shape(extents),
        strides(steps),
        range(roc::layout::element_range(extents, steps)),
        memory(k, (static_cast<std::size_t>(range.high - range.low) + 2 * margin) * sizeof(T)) {}

  static constexpr std::ptrdiff_t margin = 3;  // elements before and after
  std::ptrdiff_t first() const { return margin - range.low; }
  roc::memory_view<T, N> view() {
    return {reinterpret_cast<T*>(memory.data()) + first(), shape, strides};
  }

  roc::shape<N> shape;
  roc::strides<N> strides;
  roc::layout::element_range_t range;
  raw_memory memory;
};

// Calls f(offset of the source, offset of the destination) for each element, in elements.
template <class T, std::size_t N, class F>
void for_each_pair(placed<T, N> const& from, placed<T, N> const& to, F f) {
  std::size_t count = 1;
  for (std::size_t extent : from.shape) count *= extent;
  for (std::size_t number = 0; number < count; ++number) {
    std::ptrdiff_t source = from.first();
    std::ptrdiff_t destination = to.first();
    std::size_t rest = number;
    for (std::size_t axis = N; axis-- != 0;) {
      auto const index = static_cast<std::ptrdiff_t>(rest % from.shape[axis]);
      rest /= from.shape[axis];
      source += index * from.strides[axis];
      destination += index * to.strides[axis];
    }
    f(static_cast<std::size_t>(source), static_cast<std::size_t>(destination));
  }
}

std::vector<std::byte> numbered_bytes(std::size_t count, unsigned seed) {
  std::vector<std::byte> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = static_cast<std::byte>((i + seed) * 2654435761u >> 13);
  }
  return result;
}

// How elements are copied.
enum class way { call, call_with_stream, batch, batch_with_stream };

template <class T, std::size_t N, class Random>
void copy_and_compare(kind from_kind, kind to_kind, roc::shape<N> const& shape, Random& random,
                      way how) {
  placed<T, N> from(from_kind, shape, roc::test::random_strides(shape, random, true));
  placed<T, N> to(to_kind, shape, roc::test::random_strides(shape, random, true));
  auto const source = numbered_bytes(from.memory.size(), 1);
  auto expected = numbered_bytes(to.memory.size(), 77);
  from.memory.write(source);
  to.memory.write(expected);
  for_each_pair(from, to, [&](std::size_t source_offset, std::size_t destination_offset) {
    std::memcpy(expected.data() + destination_offset * sizeof(T),
                source.data() + source_offset * sizeof(T), sizeof(T));
  });
  roc::device_guard const guard{
      roc::device(is_on_device(to_kind) ? device_of(to_kind) : device_of(from_kind))};
  roc::stream stream;
  switch (how) {
    case way::call: roc::copy(from.view(), to.view()); break;
    case way::call_with_stream: roc::copy(from.view(), to.view(), stream); break;
    case way::batch: roc::copy_batch().add(from.view(), to.view()).submit(); break;
    case way::batch_with_stream:
      roc::copy_batch().add(from.view(), to.view()).submit(stream);
      break;
  }
  stream.synchronize();
  ASSERT_EQ(expected, to.memory.read())
      << "from kind " << static_cast<int>(from_kind) << " to kind " << static_cast<int>(to_kind)
      << ", rank " << N << ", way " << static_cast<int>(how);
}

template <std::size_t N, class Random>
void all_directions(Random& random, std::size_t max_extent) {
  for (kind const from : all_kinds()) {
    for (kind const to : all_kinds()) {
      roc::shape<N> shape{};
      for (std::size_t& extent : shape) extent = 1 + random() % max_extent;
      ASSERT_NO_FATAL_FAILURE(
          (copy_and_compare<roc::test::element_of<4>>(from, to, shape, random, way::call)));
      ASSERT_NO_FATAL_FAILURE((copy_and_compare<roc::test::element_of<3>>(from, to, shape, random,
                                                                          way::call_with_stream)));
      way const of_batch = random() % 2 == 0 ? way::batch : way::batch_with_stream;
      ASSERT_NO_FATAL_FAILURE(
          (copy_and_compare<roc::test::element_of<4>>(from, to, shape, random, of_batch)));
    }
  }
}

TEST(AnyMemory, ElementsOfRank0AreCopiedInAllDirections) {
  auto random = roc::test::random_generator("rank 0");
  all_directions<0>(random, 1);
}
TEST(AnyMemory, ElementsOfRank1AreCopiedInAllDirections) {
  auto random = roc::test::random_generator("rank 1");
  all_directions<1>(random, 5000);
}
TEST(AnyMemory, ElementsOfRank2AreCopiedInAllDirections) {
  auto random = roc::test::random_generator("rank 2");
  all_directions<2>(random, 70);
}
TEST(AnyMemory, ElementsOfRank4AreCopiedInAllDirections) {
  auto random = roc::test::random_generator("rank 4");
  all_directions<4>(random, 8);
}

template <class T, std::size_t N, class Random>
void fill_and_compare(kind k, roc::shape<N> const& shape, Random& random, bool with_stream) {
  placed<T, N> to(k, shape, roc::test::random_strides(shape, random, true));
  auto expected = numbered_bytes(to.memory.size(), 77);
  to.memory.write(expected);
  for (T const value : {static_cast<T>(0x1234), T{}}) {
    for_each_pair(to, to, [&](std::size_t, std::size_t offset) {
      std::memcpy(expected.data() + offset * sizeof(T), &value, sizeof(T));
    });
    roc::device_guard const guard{roc::device(device_of(k))};
    roc::stream stream;
    if (value == T{}) {
      with_stream ? roc::zero(to.view(), stream) : roc::zero(to.view());
    } else {
      with_stream ? roc::fill(to.view(), value, stream) : roc::fill(to.view(), value);
    }
    stream.synchronize();
    ASSERT_EQ(expected, to.memory.read()) << "kind " << static_cast<int>(k) << ", rank " << N;
  }
}

TEST(AnyMemory, EveryKindIsFilled) {
  auto random = roc::test::random_generator("any memory");
  for (kind const k : all_kinds()) {
    for (bool const with_stream : {false, true}) {
      ASSERT_NO_FATAL_FAILURE(
          (fill_and_compare<std::uint32_t>(k, roc::shape<0>{}, random, with_stream)));
      ASSERT_NO_FATAL_FAILURE(
          (fill_and_compare<std::uint64_t>(k, roc::shape<1>{3000}, random, with_stream)));
      ASSERT_NO_FATAL_FAILURE(
          (fill_and_compare<std::uint16_t>(k, roc::shape<3>{5, 7, 9}, random, with_stream)));
    }
  }
}

TEST(AnyMemory, SpanOfDeviceMemoryIsFilledAndCopiedInBatches) {
  raw_memory memory(kind::other_device, 1000);
  std::span const all(memory.data(), 1000);
  roc::fill(all, std::byte{3});
  roc::zero(all.first(10));
  std::vector<std::byte> host(1000);
  roc::copy_batch().add(all, host).submit();
  EXPECT_EQ(std::byte{0}, host[9]);
  EXPECT_EQ(std::byte{3}, host[10]);
  EXPECT_EQ(std::byte{3}, host[999]);
}

TEST(AnyMemory, ViewsWithoutElementsAreNotAccessed) {
  roc::memory_view<int, 2> const empty(nullptr, {0, 3});
  roc::memory_view<int, 2> const other(reinterpret_cast<int*>(16), {0, 3},
                                       roc::strides<2>{PTRDIFF_MAX, PTRDIFF_MIN});
  EXPECT_NO_THROW(roc::copy(empty, other));
  EXPECT_NO_THROW(roc::copy(other, empty, roc::stream()));
  roc::device_array<int, 2> const array({0, 3});
  EXPECT_NO_THROW(roc::copy(other, array));
  EXPECT_NO_THROW(roc::copy(array, other));
  EXPECT_THROW(roc::copy(empty, roc::memory_view<int, 2>(nullptr, {3, 0})), roc::shape_error);
}

TEST(AnyMemory, CopiesToAndFromTypedOperands) {
  if (!has_second_device()) GTEST_SKIP() << "needs two devices";
  std::vector<int> host(12);
  for (int i = 0; i < 12; ++i) host[static_cast<std::size_t>(i)] = i;
  raw_memory memory(kind::second_device, 12 * sizeof(int));
  roc::memory_view const view(reinterpret_cast<int*>(memory.data()), roc::shape<2>{3, 4});
  roc::copy(host, view);  // a range of rank 1 takes the shape
  roc::device_array<int, 2> array({3, 4}, roc::order::f);
  roc::copy(view, array);
  EXPECT_EQ(6, array(1, 2).get());
  auto back = roc::host_array<int, 2>({3, 4});
  roc::copy(view, back.view());
  EXPECT_EQ(11, back(2, 3));
  roc::copy(array, view);
  int c_array[3][4] = {};
  roc::copy(view, c_array);
  EXPECT_EQ(7, c_array[1][3]);
}

TEST(AnyMemory, SpanOfDeviceMemoryIsFound) {
  raw_memory memory(kind::other_device, 8 * sizeof(int));
  std::span const span(reinterpret_cast<int*>(memory.data()), 8);
  roc::copy(std::vector<int>(8, 5), span);
  std::vector<int> host(8);
  roc::copy(span, host);
  EXPECT_EQ(std::vector<int>(8, 5), host);
  roc::copy(span.subspan(3, 2), roc::memory_view(std::span(host).first(2)));
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(span, roc::device_array<int>(roc::shape<1>{8})));
}

// Containers of other libraries for device memory have data() and size() of raw pointers.
TEST(AnyMemory, ContainerOfDeviceMemoryIsFound) {
  if (!has_second_device()) GTEST_SKIP() << "needs two devices";
  struct device_container {
    int* data() const { return first; }
    std::size_t size() const { return 8; }
    int* first;
  };
  raw_memory memory(kind::second_device, 8 * sizeof(int));
  device_container container{reinterpret_cast<int*>(memory.data())};
  roc::copy(std::vector<int>(8, 6), container);
  std::vector<int> host(8);
  roc::copy(container, host);
  EXPECT_EQ(std::vector<int>(8, 6), host);
}

// Pinned memory

TEST(AnyMemory, MemoryThatOtherCodePinnedIsCopiedByTheEngines) {
  roc::device_array<std::byte> const array(roc::shape<1>{1 << 20});
  raw_memory pinned(kind::other_pinned, 1 << 20);
  raw_memory registered(kind::other_registered, 1 << 20);
  raw_memory half(kind::half_registered, 1 << 20);
  auto const view = [](raw_memory& memory) {
    return roc::memory_view(memory.data(), roc::shape<1>{1 << 20});
  };
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(view(pinned), array));
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(array, view(registered)));
  EXPECT_EQ(roc::copy_path::staged, roc::planned_path(array, view(half)));
  auto const host = roc::memory_location::host();
  EXPECT_EQ(roc::copy_path::staged, roc::planned_path(view(pinned).at(host), array));
}

// A pinned source is read in the order of the stream, so that it may be written by earlier work.
TEST(AnyMemory, PinnedSourceIsReadInStreamOrder) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  constexpr std::size_t bytes = 4096;
  raw_memory pinned(kind::other_pinned, bytes);
  pinned.write(std::vector<std::byte>(bytes, std::byte{1}));
  roc::device_array<std::byte> const twos(roc::shape<1>{bytes});
  roc::device_array<std::byte> const result(roc::shape<1>{bytes});
  twos.fill(std::byte{2});
  result.zero();
  roc::memory_view const view(pinned.data(), roc::shape<1>{bytes});
  roc::stream stream;
  {
    roc::test::gate gate;
    gate.close(stream);
    roc::copy(twos, view, stream);
    roc::copy(view, result, stream);
    gate.open();
    stream.synchronize();
  }
  EXPECT_EQ(std::byte{2}, result(0).get());
  EXPECT_EQ(std::byte{2}, result(bytes - 1).get());
}

// Single copies and batches read pinned memory in the order of the stream, also if it was written
// by work that the library does not know.
TEST(AnyMemory, BatchReadsMemoryThatOtherCodePinnedInStreamOrder) {
  for (kind const k : {kind::other_pinned, kind::other_registered}) {
    for (std::size_t const bytes : {std::size_t{1000}, std::size_t{100'000}}) {
      raw_memory pinned(k, bytes);
      pinned.write(std::vector<std::byte>(bytes, std::byte{1}));
      roc::device_array<std::byte> const twos(roc::shape<1>{bytes});
      roc::device_array<std::byte> const result(roc::shape<1>{bytes});
      twos.fill(std::byte{2});
      result.zero();
      roc::stream stream;
      roc::test::gate gate;
      gate.close(stream);
      ROCARRAY_HIP(hipMemcpyAsync, pinned.data(), twos.data(), bytes, hipMemcpyDeviceToHost,
                   roc::native(stream));
      roc::copy_batch().add(std::span(pinned.data(), bytes), result).submit(stream);
      gate.open();
      stream.synchronize();
      EXPECT_EQ(std::byte{2}, result(0).get()) << bytes;
      EXPECT_EQ(std::byte{2}, result(-1).get()) << bytes;
    }
  }
}

// Opens the gate after the thread has been able to go on for long enough to make an error visible.
std::jthread open_later(roc::test::gate& gate) {
  return std::jthread([&gate] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    gate.open();
  });
}

// Calls second(memory, result, stream) while a copy of bytes 2 to the first `written_bytes` bytes
// of `memory` is pending. Expects that it copies these bytes.
template <class Second>
void read_while_write_is_pending(kind k, std::size_t written_bytes, Second second) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  constexpr std::size_t bytes = std::size_t{1} << 20;
  raw_memory memory(k, bytes);
  memory.write(std::vector<std::byte>(bytes, std::byte{1}));
  std::span const all(memory.data(), bytes);
  roc::device_array<std::byte> const twos(roc::shape<1>{written_bytes});
  roc::device_array<std::byte> const result(roc::shape<1>{bytes});
  twos.fill(std::byte{2});
  result.zero();
  roc::stream stream;
  {
    roc::test::gate gate;
    gate.close(stream);
    roc::copy(twos, all.first(written_bytes), stream);
    std::jthread const opener = open_later(gate);
    second(all, result, stream);
    stream.synchronize();
  }
  EXPECT_EQ(std::byte{2}, result(0).get());
  EXPECT_EQ(std::byte{2}, result(static_cast<std::ptrdiff_t>(written_bytes) - 1).get());
}

// The functions below treat the memory as pageable and read it during the call.

TEST(AnyMemory, CopyToDeviceReadsAfterWriteToMemoryThatOtherCodePinned) {
  for (kind const k : {kind::other_registered, kind::other_pinned, kind::other_managed}) {
    read_while_write_is_pending(k, 1 << 20, [](auto all, auto& result, auto& stream) {
      result.copy_to_device(all, stream);
    });
  }
}

// Calls write(view, twos, stream) with a view that states that memory of other code is on a device,
// so that it is not looked up. Expects that the host view of a later copy is read after that.
template <class Write>
void read_after_write_to_stated_memory(Write write) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  constexpr std::size_t bytes = std::size_t{1} << 20;
  for (kind const k : {kind::other_managed, kind::other_pinned}) {
    raw_memory memory(k, bytes);
    memory.write(std::vector<std::byte>(bytes, std::byte{1}));
    std::span const all(memory.data(), bytes);
    roc::device_array<std::byte> const twos(roc::shape<1>{bytes});
    roc::device_array<std::byte> const result(roc::shape<1>{bytes});
    twos.fill(std::byte{2});
    result.zero();
    roc::stream stream;
    {
      roc::test::gate gate;
      gate.close(stream);
      write(roc::memory_view(all).at(roc::device()), twos, stream);
      std::jthread const opener = open_later(gate);
      roc::stream other(roc::non_blocking);
      roc::copy(roc::host_view<std::byte>(all), result, other);
      other.synchronize();
      stream.synchronize();
    }
    EXPECT_EQ(std::byte{2}, result(0).get());
    EXPECT_EQ(std::byte{2}, result(-1).get());
  }
}

TEST(AnyMemoryLocation, StatedMemoryIsReadAfterCopyToIt) {
  read_after_write_to_stated_memory(
      [](auto view, auto& twos, auto& stream) { roc::copy(twos, view, stream); });
}

TEST(AnyMemoryLocation, StatedMemoryIsReadAfterBatchThatWritesIt) {
  read_after_write_to_stated_memory([](auto view, auto& twos, auto& stream) {
    roc::copy_batch().add(twos, view).submit(stream);
  });
}

TEST(AnyMemoryLocation, StatedMemoryIsReadAfterFill) {
  read_after_write_to_stated_memory(
      [](auto view, auto&, auto& stream) { roc::fill(view, std::byte{2}, stream); });
}

// Mapped memory of the library by its device address, which may differ from its host address.

constexpr std::size_t mapped_bytes = std::size_t{1} << 16;

using write_function = void (*)(roc::memory_view<std::byte> view,
                                roc::device_array<std::byte> const& twos,
                                roc::stream const& stream);
constexpr write_function write_functions[] = {
    [](auto view, auto& twos, auto& stream) { roc::copy(twos, view, stream); },
    [](auto view, auto&, auto& stream) { roc::fill(view, std::byte{2}, stream); },
    [](auto view, auto& twos, auto& stream) { roc::copy_batch().add(twos, view).submit(stream); },
};

// Pinned pages that the library knows only while they are adopted. HIP does not wait for work when
// the adoption ends.
struct adoptable_memory {
  explicit adoptable_memory(std::size_t bytes) : pages(allocate_pages(bytes)) {
    ROCARRAY_HIP(hipHostRegister, pages.get(), mapped_bytes, hipHostRegisterDefault);
  }
  ~adoptable_memory() { ROCARRAY_HIP_QUIET(hipHostUnregister, pages.get()); }
  adoptable_memory(adoptable_memory const&) = delete;
  adoptable_memory& operator=(adoptable_memory const&) = delete;

  page_memory pages;
};

// Adopts the first mapped_bytes of `memory` and enqueues on `stream`, after a gate that opens
// later, that they are overwritten with bytes 2 by their device address. Calls then() before the
// adoption ends.
template <class Then>
void write_by_device_address(write_function write, adoptable_memory const& memory,
                             roc::stream const& stream, Then then) {
  std::span const range(memory.pages.get(), mapped_bytes);
  roc::device_array<std::byte> const twos(roc::shape<1>{mapped_bytes});
  twos.fill(std::byte{2});
  roc::test::gate gate;
  std::jthread opener;
  auto const adoption = roc::adopt_registered(range);
  auto const mapped = roc::device_view_of(range);
  gate.close(stream);
  write(roc::memory_view(mapped.data(), mapped.shape()).at(roc::device()), twos, stream);
  opener = open_later(gate);
  then();
}

TEST(AnyMemoryLocation, MappedMemoryIsReadAfterWriteByItsDeviceAddress) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  for (write_function const write : write_functions) {
    // Only a part is pinned, so that all is read as pageable memory, during the call.
    adoptable_memory const memory(2 * mapped_bytes);
    roc::device_array<std::byte> const result(roc::shape<1>{2 * mapped_bytes});
    roc::stream const stream;
    write_by_device_address(write, memory, stream, [&] {
      roc::stream const other(roc::non_blocking);
      roc::copy(roc::host_view<std::byte>(memory.pages.get(), result.shape()), result, other);
      other.synchronize();
    });
    EXPECT_EQ(std::byte{2}, result(0).get());
    EXPECT_EQ(std::byte{2}, result(mapped_bytes - 1).get());
    EXPECT_EQ(std::byte{0}, result(mapped_bytes).get());
  }
}

TEST(AnyMemoryLocation, EndOfAdoptionWaitsForWriteByDeviceAddress) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  for (write_function const write : write_functions) {
    adoptable_memory const memory(mapped_bytes);
    roc::stream const stream;
    write_by_device_address(write, memory, stream, [] {});
    EXPECT_EQ(std::byte{2}, memory.pages[0]);
    EXPECT_EQ(std::byte{2}, memory.pages[mapped_bytes - 1]);
    stream.synchronize();
  }
}

TEST(AnyMemory, HostViewIsReadAfterWriteToMemoryThatOtherCodePinned) {
  read_while_write_is_pending(kind::other_registered, 1 << 20,
                              [](auto all, auto& result, auto& stream) {
                                roc::copy(roc::host_view<std::byte>(all), result, stream);
                              });
}

TEST(AnyMemory, BatchReadsAfterWriteToMemoryThatOtherCodePinned) {
  read_while_write_is_pending(kind::other_registered, 1 << 20,
                              [](auto all, auto& result, auto& stream) {
                                roc::copy_batch().add(all, result).submit(stream);
                              });
}

TEST(AnyMemory, PartlyPinnedSourceIsReadAfterWriteToItsPinnedPart) {
  read_while_write_is_pending(
      kind::half_registered, 1 << 19,
      [](auto all, auto& result, auto& stream) { roc::copy(all, result, stream); });
}

// The copy engines reject a range that is not in one registration.
TEST(AnyMemory, MemoryInSeveralRegistrationsIsCopied) {
  constexpr std::size_t half = std::size_t{1} << 19;
  roc::device_array<std::byte> const array(roc::shape<1>{2 * half});
  for (std::size_t const hole : {std::size_t{0}, page}) {
    page_memory const memory = allocate_pages(2 * half);
    std::byte* const second = memory.get() + half + hole;
    ROCARRAY_HIP(hipHostRegister, memory.get(), half, hipHostRegisterDefault);
    ROCARRAY_HIP(hipHostRegister, second, half - hole, hipHostRegisterDefault);
    std::span const all(memory.get(), 2 * half);
    auto const source = numbered_bytes(2 * half, 3);
    std::copy(source.begin(), source.end(), all.begin());
    EXPECT_EQ(roc::copy_path::staged, roc::planned_path(all, array));
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(all.first(half), array(roc::slice(0, half))));
    EXPECT_THROW(static_cast<void>(roc::adopt_registered(all)), roc::registration_error);
    roc::copy(all, array);
    std::fill(all.begin(), all.end(), std::byte{});
    roc::stream stream;
    roc::copy(array, all, stream);
    stream.synchronize();
    EXPECT_TRUE(std::equal(source.begin(), source.end(), all.begin()));
    roc::copy(all, array, stream);
    stream.synchronize();
    ROCARRAY_HIP(hipHostUnregister, memory.get());
    ROCARRAY_HIP(hipHostUnregister, second);
  }
}

// A copy by the device address of mapped memory is executed individually.
TEST(AnyMemory, BatchCopiesMemoryThatIsPinnedInPartByDeviceAddress) {
  roc::scoped_options const scope({.staging_threshold = std::size_t{1} << 20});
  constexpr std::size_t bytes = 2 * page;
  auto mapped = roc::mapped_array<std::byte>(bytes);
  raw_memory half(kind::half_registered, bytes);
  auto const expected = numbered_bytes(bytes, 4);
  half.write(expected);
  std::span const source(half.data(), bytes);
  roc::stream const stream;
  for (bool const with_stream : {false, true}) {
    std::fill(mapped.begin(), mapped.end(), std::byte{});
    roc::copy_batch batch;
    batch.add(source, roc::device_view_of(mapped));
    with_stream ? batch.submit(stream) : batch.submit();
    stream.synchronize();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), mapped.begin()));
  }
}

TEST(AnyMemory, PinnedMemoryWithUnknownBoundsIsStaged) {
  raw_memory pinned(kind::other_pinned, 1 << 20);
  roc::device_array<std::byte> const array(roc::shape<1>{1 << 20});
  roc::memory_view const view(pinned.data(), roc::shape<1>{1 << 20});
  ASSERT_TRUE(roc::platform::fail_call("hipPointerGetAttribute", 1, hipErrorInvalidValue));
  EXPECT_EQ(roc::copy_path::staged, roc::planned_path(view, array));
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(view, array));
}

TEST(AnyMemory, PageableSourceMayChangeOnReturn) {
  std::vector<int> numbers(2000, 1);  // fits into the staging memory
  roc::device_array<int> const array(roc::shape<1>{numbers.size()});
  roc::stream stream;
  {
    roc::test::gate gate;
    gate.close(stream);
    roc::copy(std::span(numbers), array, stream);
    std::fill(numbers.begin(), numbers.end(), 2);
    gate.open();
    stream.synchronize();
  }
  EXPECT_EQ(1, array(0).get());
  EXPECT_EQ(1, array(-1).get());
}

// Locations that the caller states

// The calls that look up memory.
constexpr char const* lookup_call = "hipPointerGetAttributes";

TEST(AnyMemoryLocation, StatedLocationSavesMostOfTheLookUp) {
  if (!has_second_device()) GTEST_SKIP() << "needs two devices";
  raw_memory memory(kind::second_device, 64);
  roc::memory_view const view(memory.data(), roc::shape<1>{64});
  std::vector<std::byte> host(64, std::byte{9});
  {
    roc::test::call_counter const counter(lookup_call);
    roc::memory_view const source(host);
    roc::copy(source.at(roc::memory_location::host()), roc::device_array<std::byte>({64}));
    EXPECT_EQ(0, counter.count());
    roc::copy(host, view.at(roc::device(1)));  // may be managed
    EXPECT_EQ(1, counter.count());
    roc::copy(view, host);
    EXPECT_EQ(3, counter.count());
  }
  EXPECT_EQ(std::vector<std::byte>(64, std::byte{9}), memory.read());
}

TEST(AnyMemoryLocation, UsesAreRecordedOnlyIfTheCpuCanAccessTheMemory) {
  constexpr std::size_t bytes = 64;
  roc::device_array<std::byte> const array(roc::shape<1>{bytes});
  array.zero();
  roc::stream const stream;
  for (kind const k : {kind::other_device, kind::array, kind::other_managed, kind::other_pinned}) {
    raw_memory memory(k, bytes);
    auto const view = roc::memory_view(memory.data(), array.shape()).at(roc::device());
    roc::test::call_counter const counter("hipEventRecord");  // one for each recorded use
    roc::copy(array, view, stream);
    roc::fill(view, std::byte{1}, stream);
    EXPECT_EQ(is_on_device(k) ? 0 : 2, counter.count()) << static_cast<int>(k);
    stream.synchronize();
  }
}

TEST(AnyMemoryLocation, TypedOperandsAreNotLookedUp) {
  std::vector<int> host(4);
  auto const pinned = roc::pinned_array<int>(4);
  roc::device_array<int> const array(roc::shape<1>{4});
  int c_array[4] = {};
  roc::test::call_counter const counter(lookup_call);
  roc::copy(host, array);
  roc::copy(pinned, array);
  roc::copy(array, c_array);
  array.copy_to_host(std::span(host));
  array.copy_to_device(std::span(host));
  static_cast<void>(roc::to_device(std::span(host)));
  EXPECT_EQ(0, counter.count());
}

TEST(AnyMemoryLocation, TablesOfTheLibrarySaveTheLookUp) {
  auto const pinned = roc::pinned_array<int>(4);
  roc::device_array<int> const array(roc::shape<1>{4});
  roc::test::call_counter const counter(lookup_call);
  roc::copy(roc::memory_view(pinned.data(), pinned.shape()),
            roc::memory_view(array.data(), array.shape()));
  EXPECT_EQ(0, counter.count());
}

template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (roc::error const& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(AnyMemoryLocation, WrongLocationOfAnArrayThrows) {
  roc::device_array<int> const array(roc::shape<1>{4});
  array.fill(3);
  std::vector<int> host(4, 1);
  roc::memory_view const view(array.data(), array.shape());
  auto const text =
      message([&] { roc::copy(view.at(roc::memory_location::host()), std::span(host)); });
  EXPECT_NE(std::string::npos, text.find("the source, [0x")) << text;
  EXPECT_NE(std::string::npos,
            text.find("is stated to be host memory, but it is memory of device 0; "))
      << text;
  if (has_second_device()) {
    EXPECT_THROW(roc::copy(host, view.at(roc::device(1))), roc::error);
  }
  EXPECT_EQ(std::vector<int>(4, 1), host);
  EXPECT_EQ(3, array(0).get());
}

TEST(AnyMemoryLocation, WrongLocationOfOneByteThrows) {
  roc::device_array<unsigned char> const array(roc::shape<1>{1});
  array.fill(3);
  std::vector<unsigned char> host(1, 1);
  roc::memory_view const view(array.data(), array.shape());
  EXPECT_THROW(roc::copy(view.at(roc::memory_location::host()), host), roc::error);
  EXPECT_EQ(1, host[0]);
}

TEST(AnyMemoryLocation, PinnedArrayThatIsStatedToBeOnADeviceThrows) {
  auto pinned = roc::pinned_array<int>(100);
  std::vector<int> host(100, 1);
  roc::memory_view const view(pinned.data(), pinned.shape());
  auto const text = message([&] { roc::copy(host, view.at(roc::device(0))); });
  EXPECT_NE(std::string::npos,
            text.find("is stated to be memory of device 0, but it is pinned host memory; "))
      << text;
  page_memory const memory = allocate_pages(2 * page);
  std::span const all(memory.get(), 2 * page);
  auto const pins = roc::register_host(all.first(page));
  EXPECT_THROW(
      roc::copy(roc::memory_view(all).at(roc::device(0)), std::vector<std::byte>(2 * page)),
      roc::error);
}

// The slabs of the pool are not device memory, whatever its upstream is.
TEST(AnyMemoryLocation, ArrayInAPoolOfPinnedMemoryIsHostMemory) {
  roc::hip_pinned_memory_resource upstream;
  roc::pool_resource pool(upstream);
  auto pinned = roc::pinned_array<int>(roc::shape<1>{100}, pool);
  std::fill(pinned.begin(), pinned.end(), 4);
  std::vector<int> host(100);
  roc::memory_view const view(pinned.data(), pinned.shape());
  roc::copy(view.at(roc::memory_location::host()), host);
  EXPECT_EQ(std::vector<int>(100, 4), host);
  EXPECT_THROW(roc::copy(view.at(roc::device(0)), host), roc::error);
  EXPECT_THROW(roc::copy(view, std::span(pinned.data(), 100)), roc::overlap_error);
}

// The array waits for the copy, which its entry in the host table tracks.
TEST(AnyMemoryLocation, ManagedArrayThatIsStatedToBeOnADeviceIsTracked) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  constexpr std::size_t count = 1000;
  roc::device_array<int> const result(roc::shape<1>{count});
  result.zero();
  roc::stream stream;
  {
    roc::test::gate gate;
    std::jthread opener;
    {
      auto managed = roc::managed_array<int>(count);
      std::fill(managed.begin(), managed.end(), 5);
      gate.close(stream);
      // Before the copy: CUDA may block in copies of managed memory that is on the CPU.
      opener = open_later(gate);
      roc::copy(roc::memory_view(managed.data(), managed.shape()).at(roc::device(0)), result,
                stream);
    }
    EXPECT_TRUE(stream.query());
  }
  EXPECT_EQ(5, result(-1).get());
}

// Bad input

TEST(AnyMemoryErrors, AddressInTheFirstPageThrows) {
  std::vector<char> host(1);
  for (std::uintptr_t const address : {1, 3, 7, 8, 4095}) {
    roc::memory_view<char> const view(reinterpret_cast<char*>(address), {1});
    EXPECT_THROW(roc::copy(view, host), roc::lifetime_error) << address;
  }
}

// Before the tests for which the synchronization check installs its fault handler.
TEST(AnyMemoryErrors, PageableMemoryWhoseEndIsNotAccessibleThrows) {
  struct sigaction action{};
  ASSERT_EQ(0, ::sigaction(SIGSEGV, nullptr, &action));
  if (action.sa_handler != SIG_DFL) GTEST_SKIP() << "a handler may make the memory accessible";
  page_memory const memory = allocate_pages(2 * page);
  ASSERT_EQ(0, ::mprotect(memory.get() + page, page, PROT_NONE));
  roc::device_array<std::byte> const array(roc::shape<1>{2 * page});
  EXPECT_THROW(roc::memcpy(array.data(), memory.get(), 2 * page), roc::lifetime_error);
  EXPECT_THROW(roc::memcpy(memory.get(), array.data(), 2 * page), roc::lifetime_error);
  EXPECT_NO_THROW(roc::memcpy(array.data(), memory.get(), page));
  ASSERT_EQ(0, ::mprotect(memory.get() + page, page, PROT_READ | PROT_WRITE));
}

TEST(AnyMemoryErrors, FillOfInvalidMemoryThrows) {
  std::byte* const invalid = reinterpret_cast<std::byte*>(16);
  EXPECT_THROW(roc::fill(std::span(invalid, 4), std::byte{1}), roc::lifetime_error);
  EXPECT_THROW(roc::zero(std::span(invalid, 4)), roc::lifetime_error);
  // Before the memory below, for which the synchronization check installs its fault handler.
  std::vector<std::byte> host(4);
  EXPECT_THROW(roc::copy_batch().add(host, std::span(invalid, 4)), roc::lifetime_error);
  raw_memory memory(kind::other_device, 1000);
  roc::memory_view<std::byte> const huge(memory.data(), {3}, {PTRDIFF_MAX});
  EXPECT_THROW(roc::fill(huge, std::byte{1}), roc::layout_error);
}

TEST(AnyMemoryErrors, NullPointerWithElementsThrows) {
  std::vector<int> host(4, 1);
  roc::memory_view<int> const null(nullptr, {4});
  EXPECT_THROW(roc::copy(null, host), roc::lifetime_error);
  EXPECT_THROW(roc::copy(host, null), roc::lifetime_error);
  EXPECT_THROW(roc::copy(host, null.at(roc::device(0))), roc::lifetime_error);
  auto const text = message([&] { roc::copy(host, null); });
  EXPECT_NE(std::string::npos,
            text.find("the destination is null, but has elements: shape (4); use "))
      << text;
  EXPECT_EQ(0u, text.find("copy at any_memory_test.cpp:")) << text;
  EXPECT_EQ(std::vector<int>(4, 1), host);
}

TEST(AnyMemoryErrors, FreedMemoryThrows) {
  std::vector<std::byte> host(4096, std::byte{1});
  void* memory = nullptr;
  ROCARRAY_HIP(hipMalloc, &memory, host.size());
  ROCARRAY_HIP(hipFree, memory);
  roc::memory_view const freed(static_cast<std::byte*>(memory), roc::shape<1>{host.size()});
  EXPECT_THROW(roc::copy(freed, host), roc::lifetime_error);
  EXPECT_THROW(roc::copy(host, freed), roc::lifetime_error);
  EXPECT_THROW(roc::memcpy(memory, host.data(), host.size()), roc::lifetime_error);
  EXPECT_THROW(roc::memcpy(host.data(), memory, host.size()), roc::lifetime_error);
  auto const text = message([&] { roc::copy(host, freed); });
  std::ostringstream address;
  address << memory;
  EXPECT_NE(std::string::npos, text.find(address.str())) << text;
  EXPECT_EQ(std::vector<std::byte>(4096, std::byte{1}), host);
}

// The pool keeps the memory, so that HIP does not know that it is free.
TEST(AnyMemoryErrors, MemoryOfDestroyedArrayThrows) {
  for (std::size_t const bytes : {std::size_t{64}, std::size_t{8} << 20}) {
    std::vector<std::byte> host(bytes, std::byte{1});
    std::byte* data = nullptr;
    {
      roc::device_array<std::byte> const array(roc::shape<1>{bytes});
      data = array.data();
    }
    roc::memory_view const freed(data, roc::shape<1>{bytes});
    auto const text = message([&] { roc::copy(host, freed); });
    EXPECT_NE(std::string::npos, text.find("is memory of an array that was destroyed; ")) << text;
    EXPECT_THROW(roc::copy(freed.at(roc::device(0)), host), roc::lifetime_error);
    EXPECT_EQ(std::vector<std::byte>(bytes, std::byte{1}), host);
  }
}

TEST(AnyMemoryErrors, LayoutOutsideTheAddressSpaceThrows) {
  std::vector<int> host(4);
  std::vector<int> result(4, 7);
  roc::strides<1> const large{PTRDIFF_MAX / 2};
  roc::memory_view<int> const strided(host.data(), {4}, large);
  EXPECT_THROW(roc::copy(strided, result), roc::layout_error);
  EXPECT_THROW(roc::copy(result, strided), roc::layout_error);
  auto const text = message([&] { roc::copy(strided, result); });
  EXPECT_NE(std::string::npos,
            text.find("outside the address space: shape (4), strides (4611686018427387903)"))
      << text;
  roc::memory_view<int> const negative(host.data(), {4}, roc::strides<1>{PTRDIFF_MIN});
  EXPECT_THROW(roc::copy(negative, result), roc::layout_error);
  EXPECT_THROW((roc::memory_view<int, 2>(host.data(), {SIZE_MAX / 2, 8})), roc::shape_error);
  EXPECT_THROW(roc::memcpy(host.data(), result.data(), std::size_t{PTRDIFF_MAX} + 1),
               roc::shape_error);
  EXPECT_THROW(roc::memcpy_2d(host.data(), SIZE_MAX, result.data(), 4, 4, 2), roc::layout_error);
  EXPECT_EQ(std::vector<int>(4, 7), result);
}

TEST(AnyMemoryErrors, ViewsOutsideTheAddressSpaceThrow) {
  std::vector<int> host(8);
  std::vector<int> result(4, 7);
  roc::device_array<int> array(roc::shape<1>{8});
  array.zero();
  for (std::ptrdiff_t const stride : {PTRDIFF_MAX, PTRDIFF_MAX / 2, PTRDIFF_MAX / 4, PTRDIFF_MIN,
                                      PTRDIFF_MIN / 2, PTRDIFF_MIN / 4}) {
    roc::host_view<int> const on_host(host.data() + 4, {4}, roc::strides<1>{stride});
    roc::device_view<int> const on_device(array.data() + 4, {4}, roc::strides<1>{stride});
    EXPECT_THROW(roc::copy(on_host, result), roc::layout_error) << stride;
    EXPECT_THROW(roc::copy(result, on_host), roc::layout_error) << stride;
    EXPECT_THROW(on_device.copy_to_host(result), roc::layout_error) << stride;
    EXPECT_THROW(on_device.copy_to_device(result), roc::layout_error) << stride;
    EXPECT_THROW(on_device.fill(1), roc::layout_error) << stride;
    roc::copy_batch batch;
    EXPECT_THROW(
        {
          batch.add(result, on_device);
          batch.submit();
        },
        roc::layout_error)
        << stride;
    std::vector<roc::device_array<int>> parts;
    parts.emplace_back(roc::shape<1>{4});
    EXPECT_THROW(roc::split_to_devices(on_device, parts), roc::layout_error) << stride;
    EXPECT_THROW(roc::gather(parts, on_device), roc::layout_error) << stride;
    EXPECT_THROW(roc::broadcast(on_device, parts), roc::layout_error) << stride;
  }
  // The stride of an axis of extent 1 has no meaning.
  roc::host_view<int> const one(result.data(), {1}, roc::strides<1>{PTRDIFF_MAX});
  roc::copy(one, std::span(host).first(1));
  EXPECT_EQ(7, host[0]);
  EXPECT_EQ(std::vector<int>(4, 7), result);
  auto const untouched = array.copy_to_host();
  EXPECT_TRUE(std::all_of(untouched.begin(), untouched.end(), [](int i) { return i == 0; }));
}

TEST(AnyMemoryErrors, DestinationInPagesThatMustNotBeWrittenThrows) {
  auto const bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const mapped =
      ::mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, mapped);
  auto* const data = static_cast<std::byte*>(mapped);
  ASSERT_EQ(0, ::mprotect(data + bytes, bytes, PROT_READ));
  roc::device_array<std::byte> array(roc::shape<1>{64});
  array.fill(std::byte{5});
  struct sigaction action = {};
  ASSERT_EQ(0, ::sigaction(SIGSEGV, nullptr, &action));
  constexpr int madv_populate_write = 23;
  if (action.sa_handler != SIG_DFL || ::madvise(data, bytes, madv_populate_write) != 0) {
    GTEST_SKIP() << "SIGSEGV has a handler, or the kernel does not tell which pages are writable";
  }
  std::vector<std::byte> const host(64, std::byte{6});
  auto const expect_refusal = [](auto const& call) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (roc::error const& error) {
      EXPECT_EQ(error.code(), std::errc::permission_denied) << error.what();
      EXPECT_NE(std::string::npos, std::string(error.what()).find("the destination, ["))
          << error.what();
    }
  };
  // In the page, and from the writable page before it on.
  for (std::byte* const begin : {data + bytes, data + bytes - 32}) {
    roc::memory_view const target(begin, roc::shape<1>{64});
    expect_refusal([&] { roc::copy(array, target); });
    expect_refusal([&] { roc::copy(host, target); });
    expect_refusal([&] { roc::fill(target, std::byte{1}); });
    expect_refusal([&] { roc::memcpy(begin, array.data(), 64); });
    expect_refusal([&] { roc::memcpy(begin, host.data(), 64); });
    roc::copy(target, array);  // it can be read
  }
  roc::memory_view const writable(data + bytes - 64, roc::shape<1>{64});
  roc::copy(host, writable);
  EXPECT_EQ(std::byte{6}, data[bytes - 1]);
  EXPECT_EQ(0, ::munmap(mapped, 2 * bytes));
}

// The kernel does not prepare pages of secret memory, or of a device, for writes: only the list of
// mappings tells that they are writable.
TEST(AnyMemory, DestinationInSecretMemoryOfTheKernelIsWritten) {
  constexpr long memfd_secret = 447;  // since Linux 5.14, and glibc 2.34
  int const file = static_cast<int>(::syscall(memfd_secret, 0));
  if (file < 0) GTEST_SKIP() << "the kernel has no secret memory";
  auto const bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  ASSERT_EQ(0, ::ftruncate(file, static_cast<off_t>(bytes)));
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (mapped == MAP_FAILED) GTEST_SKIP() << "secret memory is limited";  // by RLIMIT_MEMLOCK
  roc::memory_view const target(static_cast<std::byte*>(mapped), roc::shape<1>{64});
  std::vector<std::byte> const host(64, std::byte{6});
  roc::copy(host, target);
  EXPECT_TRUE(std::equal(host.begin(), host.end(), static_cast<std::byte*>(mapped)));
  roc::fill(target, std::byte{7});
  EXPECT_EQ(std::byte{7}, static_cast<std::byte*>(mapped)[63]);
  EXPECT_EQ(0, ::munmap(mapped, bytes));
}

TEST(AnyMemoryErrors, RangeThatLeavesDeviceMemoryThrows) {
  raw_memory memory(kind::other_device, 4096);
  std::vector<std::byte> const contents(4096, std::byte{4});
  memory.write(contents);
  std::vector<std::byte> host(64, std::byte{1});
  // The other end is in host memory, at a distance that fits into a stride.
  auto const distance = host.data() - memory.data();
  roc::memory_view<std::byte> const mixed(memory.data(), {2}, roc::strides<1>{distance});
  auto const text = message([&] { roc::copy(mixed, host); });
  EXPECT_NE(std::string::npos, text.find(" begins in ")) << text;
  EXPECT_THROW(roc::copy(mixed, std::span(host).first(2)), roc::layout_error);
  EXPECT_THROW(roc::copy(std::span(host).last(2), mixed), roc::layout_error);
  EXPECT_EQ(std::vector<std::byte>(64, std::byte{1}), host);
  EXPECT_EQ(contents, memory.read());
}

TEST(AnyMemoryErrors, DestinationWithSharedElementsThrows) {
  std::vector<int> host(4, 1);
  std::vector<int> target(4, 2);
  roc::memory_view<int> const broadcast(target.data(), {4}, roc::strides<1>{0});
  EXPECT_THROW(roc::copy(host, broadcast), roc::layout_error);
  EXPECT_EQ(std::vector<int>(4, 2), target);
  roc::copy(broadcast, host);  // a source may repeat elements
  EXPECT_EQ(std::vector<int>(4, 2), host);
}

TEST(AnyMemoryErrors, OverlapThrows) {
  raw_memory memory(kind::other_device, 64);
  auto const contents = numbered_bytes(64, 3);
  memory.write(contents);
  EXPECT_THROW(roc::memcpy(memory.data() + 1, memory.data(), 8), roc::overlap_error);
  roc::memory_view const view(memory.data(), roc::shape<1>{8});
  EXPECT_THROW(roc::copy(view, view), roc::overlap_error);
  EXPECT_EQ(contents, memory.read());
}

TEST(AnyMemoryErrors, StreamOfAnotherDeviceThrows) {
  if (!has_second_device()) GTEST_SKIP() << "needs two devices";
  raw_memory memory(kind::second_device, 64);
  std::vector<std::byte> const contents(64, std::byte{4});
  memory.write(contents);
  std::vector<std::byte> host(64, std::byte{1});
  roc::stream stream;  // of device 0
  EXPECT_THROW(roc::copy(host, roc::memory_view(memory.data(), roc::shape<1>{64}), stream),
               roc::error);
  EXPECT_THROW(roc::copy(roc::memory_view(memory.data(), roc::shape<1>{64}), host, stream),
               roc::error);
  EXPECT_THROW(roc::memcpy(memory.data(), host.data(), 64, stream), roc::error);
  auto const text =
      message([&] { roc::copy(host, roc::memory_view(memory.data(), roc::shape<1>{64}), stream); });
  EXPECT_NE(std::string::npos, text.find("the stream is on device 0, but the array is on device 1"))
      << text;
  stream.synchronize();
  EXPECT_EQ(std::vector<std::byte>(64, std::byte{1}), host);
  EXPECT_EQ(contents, memory.read());
}

TEST(AnyMemoryErrors, FailedLookUpThrows) {
  raw_memory memory(kind::other_device, 64);
  memory.write(std::vector<std::byte>(64, std::byte{4}));
  std::vector<std::byte> host(64);
  ASSERT_TRUE(roc::platform::fail_call("hipPointerGetAttributes", 1, hipErrorLaunchFailure));
  EXPECT_THROW(roc::memcpy(memory.data(), host.data(), 64), roc::error);
  roc::platform::clear_failures();
  EXPECT_EQ(std::vector<std::byte>(64, std::byte{4}), memory.read());
}

TEST(AnyMemoryErrors, ReadOnlyRegistrationOfDestinationThrows) {
  std::vector<int> host(1024, 1);
  auto const pins = roc::register_host(roc::registration_options{.read_only = true}, host);
  roc::device_array<int> const array(roc::shape<1>{1024});
  array.zero();
  EXPECT_THROW(roc::copy(array, roc::memory_view(host)), roc::registration_error);
  EXPECT_EQ(1, host[0]);
}

// The device address differs from the host address on AMD.
TEST(AnyMemoryErrors, DeviceAddressOfReadOnlyRegistrationAsDestinationThrows) {
  std::vector<int> host(1024, 1);
  auto const pins =
      roc::register_host(roc::registration_options{.mapped = true, .read_only = true}, host);
  roc::device_view<int const, 1> const mapped = roc::device_view_of(std::as_const(host));
  roc::device_view<int, 1> const writable(const_cast<int*>(mapped.data()), mapped.shape());
  roc::device_array<int> const array(roc::shape<1>{1024});
  array.zero();
  EXPECT_THROW(roc::copy(array, writable), roc::registration_error);
  EXPECT_THROW(writable.fill(2), roc::registration_error);
  EXPECT_EQ(1, host[0]);
  roc::copy(mapped, array);  // it can be read
  EXPECT_EQ(1, array.copy_to_host()(1023));
}

std::vector<int> contents_of(roc::device_view<int const, 1> view) {
  std::vector<int> result(view.size());
  view.copy_to_host(result);
  return result;
}

// The view has the host's address, or one that is no longer mapped.
TEST(AnyMemoryErrors, ViewOfDeregisteredMemoryThrows) {
  constexpr std::size_t count = 4096;
  std::vector<int> host(count, 1);
  std::vector<int> other(count, 2);
  roc::device_array<int> const array(roc::shape<1>{count});
  array.fill(3);
  roc::device_view<int, 1> view;
  {
    auto const pins = roc::register_host(roc::registration_options{.mapped = true}, host);
    view = roc::device_view_of(host);
    roc::copy(view, array);
  }
  EXPECT_EQ(std::vector<int>(count, 1), contents_of(array.view()));
  auto const part = view(roc::slice(1, roc::none, 3));
  auto const part_of_array = array(roc::slice(1, roc::none, 3));
  roc::memory_view const stated = roc::memory_view(view.data(), view.shape()).at(roc::device(0));
  roc::stream const stream;
  auto const text = message([&] { view.copy_to_host(other); });
  EXPECT_NE(std::string::npos, text.find(" that was deregistered or freed; keep ")) << text;
  EXPECT_EQ(0u, text.find("copy_to_host (device to host) at any_memory_test.cpp:")) << text;
  EXPECT_THROW(view.copy_to_device(other), roc::lifetime_error);
  EXPECT_THROW(view.copy_to_host(other, stream), roc::lifetime_error);
  EXPECT_THROW(view.copy_to_device(other, stream), roc::lifetime_error);
  EXPECT_THROW(roc::copy(view, array), roc::lifetime_error);
  EXPECT_THROW(roc::copy(array, view, stream), roc::lifetime_error);
  EXPECT_THROW(roc::copy(part, part_of_array), roc::lifetime_error);
  EXPECT_THROW(roc::copy(part_of_array, part), roc::lifetime_error);
  EXPECT_THROW(roc::copy(stated, other), roc::lifetime_error);
  EXPECT_THROW(roc::copy(other, stated), roc::lifetime_error);
  EXPECT_THROW(view.fill(4), roc::lifetime_error);
  EXPECT_THROW(view.zero(stream), roc::lifetime_error);
  EXPECT_THROW(part.fill(4, stream), roc::lifetime_error);
  EXPECT_THROW(roc::copy_batch().add(view, other).submit(), roc::lifetime_error);
  EXPECT_THROW(roc::copy_batch().add(other, view).submit(stream), roc::lifetime_error);
  EXPECT_THROW(roc::copy_batch().add(array, view).submit(), roc::lifetime_error);
  stream.synchronize();
  EXPECT_EQ(std::vector<int>(count, 1), host);
  EXPECT_EQ(std::vector<int>(count, 2), other);
  EXPECT_EQ(std::vector<int>(count, 1), contents_of(array.view()));
}

TEST(AnyMemory, ViewOfMemoryThatIsRegisteredAgainIsCopied) {
  std::vector<int> host(4096, 1);
  {
    auto const pins = roc::register_host(roc::registration_options{.mapped = true}, host);
    static_cast<void>(roc::device_view_of(host));
  }
  auto const pins = roc::register_host(roc::registration_options{.mapped = true}, host);
  auto const view = roc::device_view_of(host);
  view.fill(5);
  EXPECT_EQ(std::vector<int>(4096, 5), host);
  EXPECT_EQ(std::vector<int>(4096, 5), contents_of(view));
}

// memcpy

TEST(Memcpy, BytesAreCopiedInAllDirections) {
  for (std::size_t const bytes : {std::size_t{1}, std::size_t{1000}, std::size_t{100'003}}) {
    for (kind const from_kind : all_kinds()) {
      for (kind const to_kind : all_kinds()) {
        raw_memory from(from_kind, bytes + 2);
        raw_memory to(to_kind, bytes + 2);
        auto const source = numbered_bytes(bytes + 2, 5);
        auto expected = numbered_bytes(bytes + 2, 8);
        from.write(source);
        to.write(expected);
        std::copy_n(source.begin() + 1, bytes, expected.begin() + 1);
        roc::memcpy(to.data() + 1, from.data() + 1, bytes);
        ASSERT_EQ(expected, to.read()) << static_cast<int>(from_kind) << " to "
                                       << static_cast<int>(to_kind) << ", bytes " << bytes;
      }
    }
  }
}

TEST(Memcpy, ZeroBytesDoNothing) {
  EXPECT_NO_THROW(roc::memcpy(nullptr, nullptr, 0));
  EXPECT_NO_THROW(roc::memcpy(nullptr, nullptr, 0, roc::stream()));
  EXPECT_NO_THROW(roc::memcpy_2d(nullptr, 0, nullptr, 0, 4, 0));
  EXPECT_NO_THROW(roc::memcpy_2d(nullptr, 0, nullptr, 0, 0, 4, roc::stream()));
  EXPECT_THROW(roc::memcpy(nullptr, nullptr, 1), roc::lifetime_error);
}

TEST(Memcpy, CopyOnStreamKeepsItsOrder) {
  roc::stream stream;
  raw_memory first(kind::other_device, 4096);
  raw_memory second(kind::other_device, 4096);
  std::vector<std::byte> host(4096, std::byte{3});
  std::vector<std::byte> result(4096);
  roc::memcpy(first.data(), host.data(), 4096, stream);
  std::fill(host.begin(), host.end(), std::byte{});
  roc::memcpy(second.data(), first.data(), 4096, stream);
  roc::memcpy(result.data(), second.data(), 4096, stream);
  stream.synchronize();
  EXPECT_EQ(std::vector<std::byte>(4096, std::byte{3}), result);
}

TEST(Memcpy, CopyWithoutStreamComesAfterWorkOfStreams) {
  roc::stream stream;
  roc::device_array<int> const array(roc::shape<1>{1000});
  std::vector<int> host(1000);
  {
    roc::test::gate gate;
    gate.close(stream);
    array.fill(4, stream);
    gate.open();
    roc::memcpy(host.data(), array.data(), 4000);
  }
  EXPECT_EQ(std::vector<int>(1000, 4), host);
}

TEST(Memcpy, RowsAreCopiedAndGapsAreNot) {
  constexpr std::size_t to_pitch = 48;
  constexpr std::size_t from_pitch = 40;
  constexpr std::size_t width = 33;
  constexpr std::size_t height = 20;
  for (kind const from_kind : all_kinds()) {
    for (kind const to_kind : all_kinds()) {
      raw_memory from(from_kind, from_pitch * height);
      raw_memory to(to_kind, to_pitch * height);
      auto const source = numbered_bytes(from_pitch * height, 5);
      auto expected = numbered_bytes(to_pitch * height, 8);
      from.write(source);
      to.write(expected);
      for (std::size_t row = 0; row < height; ++row) {
        std::memcpy(&expected[row * to_pitch], &source[row * from_pitch], width);
      }
      roc::memcpy_2d(to.data(), to_pitch, from.data(), from_pitch, width, height);
      ASSERT_EQ(expected, to.read());
    }
  }
  std::vector<std::byte> host(100);
  EXPECT_THROW(roc::memcpy_2d(host.data(), 4, host.data() + 50, 8, 5, 2), roc::layout_error);
  EXPECT_THROW(roc::memcpy_2d(host.data(), 8, host.data() + 50, 4, 5, 2), roc::layout_error);
  EXPECT_THROW(roc::memcpy_2d(host.data(), 4, host.data() + 50, 8, 5, 1), roc::layout_error);
}

TEST(Memcpy, BlocksAreCopiedWithTheParametersOfHip) {
  // Planes of 7 and of 9 rows, of which a block of 3 planes of 4 rows of 10 bytes is copied.
  constexpr std::size_t from_pitch = 32;
  constexpr std::size_t to_pitch = 24;
  for (kind const from_kind : all_kinds()) {
    for (kind const to_kind : all_kinds()) {
      raw_memory from(from_kind, from_pitch * 7 * 5);
      raw_memory to(to_kind, to_pitch * 9 * 4);
      auto const source = numbered_bytes(from_pitch * 7 * 5, 5);
      auto expected = numbered_bytes(to_pitch * 9 * 4, 8);
      from.write(source);
      to.write(expected);
      for (std::size_t plane = 0; plane < 3; ++plane) {
        for (std::size_t row = 0; row < 4; ++row) {
          std::memcpy(&expected[((plane + 1) * 9 + row + 2) * to_pitch + 3],
                      &source[((plane + 2) * 7 + row + 1) * from_pitch + 8], 10);
        }
      }
      hipMemcpy3DParms parameters{};
      parameters.srcPtr = make_hipPitchedPtr(from.data(), from_pitch, from_pitch, 7);
      parameters.srcPos = make_hipPos(8, 1, 2);
      parameters.dstPtr = make_hipPitchedPtr(to.data(), to_pitch, to_pitch, 9);
      parameters.dstPos = make_hipPos(3, 2, 1);
      parameters.extent = make_hipExtent(10, 4, 3);
      parameters.kind = hipMemcpyDefault;
      if (is_on_device(from_kind) || is_on_device(to_kind)) {
        roc::memcpy_3d(parameters);
      } else {
        roc::stream const stream;
        roc::memcpy_3d(parameters, stream);
        stream.synchronize();
      }
      ASSERT_EQ(expected, to.read());
    }
  }
}

TEST(Memcpy, BlockThatExceedsItsPlaneThrows) {
  std::vector<std::byte> from(1000);
  std::vector<std::byte> to(1000, std::byte{1});
  hipMemcpy3DParms parameters{};
  parameters.srcPtr = make_hipPitchedPtr(from.data(), 10, 10, 5);
  parameters.dstPtr = make_hipPitchedPtr(to.data(), 10, 10, 5);
  parameters.extent = make_hipExtent(10, 5, 2);
  EXPECT_NO_THROW(roc::memcpy_3d(parameters));
  EXPECT_EQ(std::byte{0}, to[99]);
  EXPECT_EQ(std::byte{1}, to[100]);
  parameters.extent = make_hipExtent(11, 5, 2);
  EXPECT_THROW(roc::memcpy_3d(parameters), roc::layout_error);
  parameters.extent = make_hipExtent(10, 6, 2);
  EXPECT_THROW(roc::memcpy_3d(parameters), roc::layout_error);
  parameters.extent = make_hipExtent(10, 5, 2);
  parameters.dstPos = make_hipPos(0, 1, 0);
  EXPECT_THROW(roc::memcpy_3d(parameters), roc::layout_error);
  parameters.dstPos = make_hipPos(0, 0, SIZE_MAX);
  EXPECT_THROW(roc::memcpy_3d(parameters), roc::layout_error);
  parameters.extent = make_hipExtent(0, 5, 2);
  EXPECT_NO_THROW(roc::memcpy_3d(parameters));
}

TEST(Memcpy, ArrayOfTheRuntimeThrows) {
  std::vector<std::byte> from(100, std::byte{1});
  std::vector<std::byte> to(100, std::byte{2});
  hipMemcpy3DParms blocks{};
  blocks.srcPtr = make_hipPitchedPtr(from.data(), 10, 10, 10);
  blocks.dstPtr = make_hipPitchedPtr(to.data(), 10, 10, 10);
  blocks.extent = make_hipExtent(10, 10, 1);
  hipMemcpy3DParms from_array = blocks;
  from_array.srcArray = reinterpret_cast<decltype(from_array.srcArray)>(from.data());
  hipMemcpy3DParms to_array = blocks;
  to_array.dstArray = reinterpret_cast<decltype(to_array.dstArray)>(to.data());
  roc::stream const stream;
  auto const expect_refusal = [](auto const& call) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (roc::error const& error) {
      std::string const text = error.what();
      EXPECT_EQ(error.code(), std::errc::not_supported) << text;
      EXPECT_EQ(0u, text.find("memcpy_3d at any_memory_test.cpp:")) << text;
      EXPECT_NE(std::string::npos, text.find("(hipArray_t); use hipMemcpy3D")) << text;
    }
  };
  for (hipMemcpy3DParms const& parameters : {from_array, to_array}) {
    expect_refusal([&] { roc::memcpy_3d(parameters); });
    expect_refusal([&] { roc::memcpy_3d(parameters, stream); });
  }
  stream.synchronize();
  EXPECT_EQ(std::vector<std::byte>(100, std::byte{2}), to);
  roc::memcpy_3d(blocks);
  EXPECT_EQ(from, to);
}

}  // namespace
