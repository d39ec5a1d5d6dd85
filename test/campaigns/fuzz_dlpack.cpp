// SPDX-License-Identifier: MIT
// DLPack tensors of a producer that is not trusted: any device, type, rank, extents, strides,
// offset, version, with and without data, shape, strides and deleter. A tensor is taken or refused
// with an error; what is taken has the elements that the tensor says, and its deleter is called
// once.
#include <roc/interop/dlpack.hpp>
#include <roc/roc.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "campaigns/fuzz_input.hpp"
#include "platform/call.hpp"

namespace {

using roc::fuzz::input;
using roc::fuzz::require;

__extension__ using wide = __int128;

constexpr std::size_t memory_bytes = 1024;

// Memory of another library: byte i has the value pattern(i).
struct foreign_memory {
  foreign_memory() {
    for (std::size_t i = 0; i < memory_bytes; ++i) host[i] = pattern(i);
    ROCARRAY_HIP(hipMalloc, &device, memory_bytes);
    ROCARRAY_HIP(hipMemcpy, device, host.data(), memory_bytes, hipMemcpyHostToDevice);
    ROCARRAY_HIP(hipDeviceSynchronize);
  }
  static unsigned char pattern(std::size_t i) {
    return static_cast<unsigned char>(i * 7 + i / 256);
  }

  void* device = nullptr;
  alignas(64) std::array<unsigned char, memory_bytes> host{};
};

// Never freed: HIP may have shut down when static objects are destroyed.
foreign_memory& foreign() {
  static auto* const instance = new foreign_memory;
  return *instance;
}

enum class place { none, device, host, wild };

// A tensor, and what it says.
template <class Managed>
struct tensor_of {
  Managed managed{};
  place data_place = place::none;
  // Arrays of exactly their size, so that a read beyond their end is noticed.
  std::unique_ptr<std::int64_t[]> shape;
  std::unique_ptr<std::int64_t[]> strides;
  int deletions = 0;
};

template <class Managed>
void take_tensor(input& in, DLDataType type, int rank, tensor_of<Managed>& result) {
  DLTensor& tensor = result.managed.dl_tensor;
  bool const is_benign = in.one_in(2);  // at most the shape is unusual
  auto const is_odd = [&] { return !is_benign && in.one_in(8); };
  tensor.ndim = !is_odd()      ? rank
                : in.one_in(2) ? static_cast<int>(in.between(-1, 4))
                               : static_cast<int>(in.hostile());
  tensor.dtype = type;
  if (is_odd()) {
    tensor.dtype = {static_cast<std::uint8_t>(in.below(256)),
                    static_cast<std::uint8_t>(in.below(256)),
                    static_cast<std::uint16_t>(in.below(4))};
  }
  std::int32_t device_type = in.one_in(2) ? roc::dlpack_device : kDLCPU;
  if (is_odd()) device_type = static_cast<std::int32_t>(in.hostile());
  std::memcpy(&tensor.device.device_type, &device_type, sizeof(device_type));
  tensor.device.device_id = is_odd() ? static_cast<int>(in.hostile()) : 0;
  tensor.byte_offset = is_odd() ? static_cast<std::uint64_t>(in.hostile()) : 16 * in.below(8);

  result.data_place = is_odd()                ? static_cast<place>(in.below(4))
                      : device_type == kDLCPU ? place::host
                                              : place::device;
  switch (result.data_place) {
    case place::none: break;
    case place::device: tensor.data = foreign().device; break;
    case place::host: tensor.data = foreign().host.data(); break;
    case place::wild:
      tensor.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(in.hostile()));
  }
  std::size_t const axes = static_cast<std::size_t>(std::clamp(tensor.ndim, 0, 4));
  if (!is_odd() && (axes != 0 || in.one_in(2))) {
    result.shape = std::make_unique<std::int64_t[]>(axes);
    for (std::size_t i = 0; i < axes; ++i) {
      result.shape[i] = is_odd() ? in.hostile() : in.one_in(16) ? 0 : in.between(1, 5);
    }
  }
  if (in.one_in(2)) {
    result.strides = std::make_unique<std::int64_t[]>(axes);
    std::int64_t step = 1;
    for (std::size_t i = axes; i-- != 0;) {
      result.strides[i] = is_odd() ? in.hostile() : in.one_in(4) ? in.between(-6, 6) : step;
      std::int64_t const extent = result.shape == nullptr ? 1 : result.shape[i];
      if (extent > 0 && extent < 100) step *= extent;
    }
  }
  tensor.shape = result.shape.get();
  tensor.strides = result.strides.get();
  result.managed.manager_ctx = &result;
  if (!in.one_in(4)) {
    result.managed.deleter = [](Managed* self) {
      ++static_cast<tensor_of<Managed>*>(self->manager_ctx)->deletions;
    };
  }
#if ROCARRAY_DLPACK_VERSIONED
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    result.managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    if (is_odd()) {
      result.managed.version.major = static_cast<std::uint32_t>(in.hostile());
      result.managed.version.minor = static_cast<std::uint32_t>(in.hostile());
    }
    if (is_odd()) result.managed.flags = static_cast<std::uint64_t>(in.hostile());
  }
#endif
}

// What a tensor must be for a view or an array of T and N.
template <class T, std::size_t N, class Managed>
class expectation {
 public:
  explicit expectation(tensor_of<Managed> const& subject) : tensor_(subject.managed.dl_tensor) {
    static_assert(std::is_same_v<std::remove_cv_t<T>, T>);
    constexpr DLDataType type = roc::dlpack_type<T>;
    is_valid_ = tensor_.dtype.code == type.code && tensor_.dtype.bits == type.bits &&
                tensor_.dtype.lanes == type.lanes && tensor_.ndim == static_cast<std::int64_t>(N) &&
                (N == 0 || tensor_.shape != nullptr);
#if ROCARRAY_DLPACK_VERSIONED
    if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
      is_valid_ = is_valid_ && subject.managed.version.major == DLPACK_MAJOR_VERSION &&
                  (subject.managed.flags & 1) == 0;
    }
#endif
    if (!is_valid_) return;
    wide bytes = sizeof(T);
    for (std::size_t i = 0; i < N; ++i) {
      if (tensor_.shape[i] < 0) is_valid_ = false;
      if (tensor_.shape[i] == 0) is_empty_ = true;
      bytes = std::min<wide>(bytes * std::max<std::int64_t>(tensor_.shape[i], 1), wide{1} << 64);
    }
    if (is_empty_) bytes = 0;
    if (bytes > PTRDIFF_MAX) is_valid_ = false;
    if (!is_valid_) return;
    std::int64_t step = 1;
    for (std::size_t i = N; i-- != 0;) {
      shape[i] = static_cast<std::size_t>(tensor_.shape[i]);
      strides[i] = tensor_.strides == nullptr ? step : tensor_.strides[i];
      if (!is_empty_) step *= tensor_.shape[i];
    }
    wide const start = static_cast<wide>(reinterpret_cast<std::uintptr_t>(tensor_.data)) +
                       static_cast<wide>(tensor_.byte_offset);
    address = static_cast<std::uintptr_t>(start);
    if (!is_empty_ &&
        (tensor_.data == nullptr || start > UINTPTR_MAX || address % alignof(T) != 0)) {
      is_valid_ = false;
    }
    if (is_empty_) address = 0;
    for (std::size_t i = 0; i < N && !is_empty_; ++i) {
      wide const reach = (wide{tensor_.shape[i]} - 1) * strides[i];
      (reach < 0 ? low : high) += reach;
    }
  }

  bool is_empty() const { return is_empty_; }
  bool is_for_view() const {
    return is_valid_ && roc::detail::dlpack_device_type(tensor_.device) == roc::dlpack_device &&
           tensor_.device.device_id >= 0 && tensor_.device.device_id < roc::device::count();
  }
  bool is_for_host_view() const {
    int const type = roc::detail::dlpack_device_type(tensor_.device);
    return is_valid_ && (type == kDLCPU || type == roc::dlpack_pinned);
  }

  // True if there are few elements and all lie in memory of `foreign_memory`, which begins at
  // `begin`.
  bool is_inside(void const* begin) const {
    wide count = 1;
    for (std::size_t extent : shape) count = std::min<wide>(count * extent, wide{1} << 64);
    if (count > wide{memory_bytes}) return false;
    wide const offset =
        static_cast<wide>(address) - static_cast<wide>(reinterpret_cast<std::uintptr_t>(begin));
    return !is_empty_ && offset + low * wide{sizeof(T)} >= 0 &&
           offset + high * wide{sizeof(T)} <= wide{memory_bytes};
  }

  // Calls f(number in C order, offset in elements) for all elements.
  template <class F>
  void for_each_element(F f) const {
    std::array<std::size_t, N> index{};
    for (std::size_t number = 0;; ++number) {
      std::ptrdiff_t offset = 0;
      for (std::size_t i = 0; i < N; ++i)
        offset += static_cast<std::ptrdiff_t>(index[i]) * strides[i];
      f(number, offset);
      std::size_t i = N;
      while (i-- != 0) {
        if (++index[i] != shape[i]) break;
        index[i] = 0;
      }
      if (i == static_cast<std::size_t>(-1)) return;
    }
  }

  // True if no two indices have the same element. Only for elements that are inside.
  bool is_unique() const {
    std::vector<std::ptrdiff_t> offsets;
    for_each_element([&](std::size_t, std::ptrdiff_t offset) { offsets.push_back(offset); });
    std::sort(offsets.begin(), offsets.end());
    return std::adjacent_find(offsets.begin(), offsets.end()) == offsets.end();
  }

  roc::shape<N> shape{};
  roc::strides<N> strides{};
  std::uintptr_t address = 0;
  wide low = 0;   // of the elements, from the first
  wide high = 1;  // one past the last

 private:
  DLTensor const& tensor_;
  bool is_valid_ = false;
  bool is_empty_ = false;
};

// Checks address and layout of a view, and the elements if they are in the foreign memory.
template <class View, class Expected>
void check_view(View const& view, Expected const& expected, void const* begin) {
  using T = typename View::value_type;
  require(reinterpret_cast<std::uintptr_t>(view.data()) == expected.address, "the address");
  require(view.shape() == expected.shape, "the shape");
  require(expected.is_empty() || view.strides() == expected.strides, "the strides");
  if (begin == nullptr || !expected.is_inside(begin)) return;
  auto const first = expected.address - reinterpret_cast<std::uintptr_t>(begin);
  auto const copy = view.ravel_copy();
  std::vector<T> values(copy.size());
  roc::copy(copy, values);
  expected.for_each_element([&](std::size_t number, std::ptrdiff_t offset) {
    unsigned char bytes[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes[i] = foreign_memory::pattern(first + static_cast<std::size_t>(offset) * sizeof(T) + i);
    }
    require(std::memcmp(&values[number], bytes, sizeof(T)) == 0, "element %zu", number);
  });
}

std::string last_error;

// Returns true if f() returns, false if it throws roc::error, whose message it keeps.
template <class F>
bool succeeds(F f) {
  last_error.clear();
  try {
    f();
    return true;
  } catch (roc::error const& e) {
    last_error = e.what();
    require(std::string_view(e.what()).find(';') != std::string_view::npos ||
                std::string_view(e.what()).find("failed") != std::string_view::npos,
            "the message has no advice: %s", e.what());
    return false;
  }
}

template <class Managed>
auto const& viewed(tensor_of<Managed> const& tensor) {
  if constexpr (std::is_same_v<Managed, DLManagedTensor>) {
    return tensor.managed.dl_tensor;
  } else {
    return tensor.managed;
  }
}

template <class T, std::size_t N, class Managed>
void check_import(input& in) {
  tensor_of<Managed> tensor;
  std::size_t const which = in.below(3);
  take_tensor(in, roc::dlpack_type<T>, static_cast<int>(N), tensor);
  expectation<T, N, Managed> const expected(tensor);
  foreign_memory& memory = foreign();
  if (which == 0) {
    bool const is_taken = succeeds([&] {
      check_view(roc::dlpack_view<T, N>(viewed(tensor)), expected,
                 tensor.data_place == place::device ? memory.device : nullptr);
    });
    require(is_taken == expected.is_for_view(), "dlpack_view: %s", last_error.c_str());
    return;
  }
  if (which == 1) {
    bool const is_taken = succeeds([&] {
      check_view(roc::dlpack_host_view<T, N>(viewed(tensor)), expected,
                 tensor.data_place == place::host ? memory.host.data() : nullptr);
    });
    require(is_taken == expected.is_for_host_view(), "dlpack_host_view: %s", last_error.c_str());
    return;
  }
  bool const has_deleter = tensor.managed.deleter != nullptr;
  bool const is_taken = succeeds([&] {
    auto array = roc::from_dlpack<T, N>(&tensor.managed);
    require(tensor.deletions == (expected.is_empty() && has_deleter ? 1 : 0), "an early deletion");
    check_view(array.view(), expected, memory.device);
    auto const moved = std::move(array);
    require(expected.is_empty() || moved.data() != nullptr, "an array that was moved");
  });
  require(tensor.deletions == (is_taken && has_deleter ? 1 : 0), "%d deletions", tensor.deletions);
  if (!expected.is_for_view()) {
    require(!is_taken, "from_dlpack takes an invalid tensor");
  } else if (expected.is_empty()) {
    // The strides of an empty array need not fit.
    require(is_taken, "from_dlpack refuses a tensor without elements");
  } else if (tensor.data_place == place::device && expected.is_inside(memory.device)) {
    require(is_taken == (expected.low == 0 && expected.is_unique()), "from_dlpack: %s",
            last_error.c_str());
  } else if (tensor.data_place != place::device && tensor.data_place != place::wild) {
    // Host memory at an offset that cannot reach the device memory.
    if (tensor.managed.dl_tensor.byte_offset < memory_bytes) {
      require(!is_taken, "from_dlpack takes host memory");
    }
  }
}

template <class Managed, class Array>
Managed* exported(Array&& array, bool has_stream, roc::stream_ref stream) {
  constexpr bool is_device = !std::is_same_v<Array, roc::host_array<int, 2>>;
#if ROCARRAY_DLPACK_VERSIONED
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    if constexpr (is_device) {
      if (has_stream) return roc::to_dlpack_versioned(std::move(array), stream);
    }
    return roc::to_dlpack_versioned(std::move(array));
  }
#endif
  if constexpr (std::is_same_v<Managed, DLManagedTensor>) {
    if constexpr (is_device) {
      if (has_stream) return roc::to_dlpack(std::move(array), stream);
    }
    return roc::to_dlpack(std::move(array));
  }
}

// Exports an array and takes it back.
template <class Managed>
void check_export(input& in) {
  roc::shape<2> const shape{in.below(6), in.below(6)};
  std::vector<int> values(shape[0] * shape[1]);
  for (auto& value : values) value = static_cast<int>(in.below(256));
  roc::host_view<int, 2> const source(values.data(), shape);
  roc::order const o = in.one_in(2) ? roc::order::c : roc::order::f;
  if (in.one_in(3)) {
    constexpr roc::host_memory kinds[] = {roc::host_memory::pageable, roc::host_memory::pinned,
                                          roc::host_memory::mapped};
    roc::host_array<int, 2> array(shape, o, kinds[in.below(3)]);
    roc::copy(source, array);
    auto* const data = array.data();
    auto* const tensor = exported<Managed>(std::move(array), false, {});
    require(values.empty() || tensor->dl_tensor.data == data, "the exported address");
    auto const view = roc::dlpack_host_view<int, 2>(tensor->dl_tensor);
    std::vector<int> read(values.size());
    roc::copy(view, roc::host_view<int, 2>(read.data(), shape));
    require(read == values && view.shape() == shape, "the exported host array");
    tensor->deleter(tensor);
    return;
  }
  roc::stream stream;
  roc::device_array<int, 2> array(shape, o);
  roc::copy(source, array);
  auto const* const data = array.data();
  auto* const tensor = exported<Managed>(std::move(array), in.one_in(2), stream);
  DLTensor const& shown = tensor->dl_tensor;
  require(shown.ndim == 2 && shown.shape[0] == static_cast<std::int64_t>(shape[0]) &&
              shown.shape[1] == static_cast<std::int64_t>(shape[1]) && shown.dtype.bits == 32 &&
              (values.empty() || shown.data == data),
          "the exported tensor");
  stream.synchronize();
  if (in.one_in(4)) {
    tensor->deleter(tensor);
    return;
  }
  auto const back = roc::from_dlpack<int, 2>(tensor);
  require(back.shape() == shape, "the shape of a tensor that is taken back");
  std::vector<int> read(values.size());
  roc::copy(back, roc::host_view<int, 2>(read.data(), shape));
  require(read == values, "the elements of a tensor that is taken back");
}

template <class Managed>
void check(input& in) {
  switch (in.below(12)) {
    case 0: check_import<int, 0, Managed>(in); break;
    case 1: check_import<int, 1, Managed>(in); break;
    case 2: check_import<int, 2, Managed>(in); break;
    case 3: check_import<int, 3, Managed>(in); break;
    case 4: check_import<std::complex<double>, 1, Managed>(in); break;
    case 5: check_import<std::complex<double>, 3, Managed>(in); break;
    case 6: check_import<std::uint8_t, 2, Managed>(in); break;
    case 7: check_import<float, 2, Managed>(in); break;
    default: check_export<Managed>(in);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (roc::device::count() == 0) {
    std::puts("skipped: there is no device");
    std::exit(77);
  }
  foreign();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  input in(data, size);
#if ROCARRAY_DLPACK_VERSIONED
  if (in.one_in(2)) {
    check<DLManagedTensorVersioned>(in);
    return 0;
  }
#else
  static_cast<void>(in.below(2));
#endif
  check<DLManagedTensor>(in);
  return 0;
}
