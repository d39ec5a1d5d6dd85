// SPDX-License-Identifier: MIT
// The C interface with a caller that is not trusted: tensors of any device, type, rank, extents,
// strides and offset, and handles and addresses in any order, of any kind, destroyed or never
// created. A call succeeds and does what it says, or fails and touches nothing.
#include <roc/c.h>
#include <roc/roc.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "campaigns/fuzz_input.hpp"

namespace {

using roc::fuzz::input;
using roc::fuzz::require;

__extension__ using wide = __int128;

constexpr std::size_t memory_bytes = 1024;
using bytes = std::array<unsigned char, memory_bytes>;

// The memory that tensors may refer to: on the host and on the device.
struct memories {
  memories() : device({memory_bytes}) {}
  // Byte i of the host has the value i * 7, that of the device i * 11 + 1.
  void reset() {
    for (std::size_t i = 0; i < memory_bytes; ++i) {
      host[i] = static_cast<unsigned char>(i * 7);
      on_device[i] = static_cast<unsigned char>(i * 11 + 1);
    }
    device.copy_to_device(on_device);
  }
  void check(bytes const& expected_host, bytes const& expected_device, char const* call) {
    require(host == expected_host, "%s: host memory", call);
    device.copy_to_host(on_device);
    require(on_device == expected_device, "%s: device memory", call);
  }

  alignas(64) bytes host{};
  bytes on_device{};  // a copy of the device's memory
  roc::device_array<unsigned char> device;
};

// Never freed: HIP may have shut down when static objects are destroyed.
memories& memory() {
  static auto* const instance = new memories;
  return *instance;
}

// The expected result of reading a tensor, computed with wider integers.
struct expectation {
  bool is_valid = false;
  bool is_empty = false;
  bool is_on_device = false;
  std::size_t element_size = 0;
  std::size_t count = 1;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  wide begin = 0;  // of all elements
  wide end = 0;
  wide first = 0;  // address of the first element

  // Returns the memory that contains all elements, or null.
  bytes* container(bytes& host, bytes& device) const {
    void const* const address =
        is_on_device ? static_cast<void const*>(memory().device.data()) : memory().host.data();
    auto const origin = static_cast<wide>(reinterpret_cast<std::uintptr_t>(address));
    if (is_empty || begin < origin || end > origin + wide{memory_bytes}) return nullptr;
    return is_on_device ? &device : &host;
  }
  // Returns the offsets of all elements in that memory, in C order.
  std::vector<std::size_t> offsets() const {
    void const* const address =
        is_on_device ? static_cast<void const*>(memory().device.data()) : memory().host.data();
    auto const origin = static_cast<wide>(reinterpret_cast<std::uintptr_t>(address));
    std::vector<std::size_t> result;
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t number = 0; number != count; ++number) {
      wide offset = first - origin;
      for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] != 1) offset += wide{index[i]} * strides[i] * static_cast<wide>(element_size);
      }
      result.push_back(static_cast<std::size_t>(offset));
      for (std::size_t i = shape.size(); i-- != 0;) {
        if (++index[i] != shape[i]) break;
        index[i] = 0;
      }
    }
    return result;
  }
  bool is_flat_host_memory() const {
    return shape.size() == 1 && !is_on_device && (shape[0] <= 1 || strides[0] == 1);
  }
  void reshape_as(expectation const& other) {
    if (count != other.count) return;
    shape = other.shape;
    strides.assign(shape.size(), 0);
    std::int64_t step = 1;
    for (std::size_t i = shape.size(); i-- != 0;) {
      strides[i] = step;
      if (!is_empty) step *= shape[i];
    }
  }
};

expectation expect(roc_tensor const& tensor) {
  expectation result;
  std::int32_t const device_type = roc_device_type();
  std::int32_t const pinned = device_type == ROCARRAY_DEVICE_HOST_PLATFORM ? 1 : device_type + 1;
  result.is_on_device = tensor.device.device_type == device_type;
  if (!result.is_on_device && tensor.device.device_type != ROCARRAY_DEVICE_CPU &&
      tensor.device.device_type != pinned) {
    return result;
  }
  if (result.is_on_device &&
      (tensor.device.device_id < 0 || tensor.device.device_id >= roc::device::count())) {
    return result;
  }
  std::size_t const bits = std::size_t{tensor.dtype.bits} * tensor.dtype.lanes;
  if (tensor.dtype.code > 17 || bits == 0 || bits % 8 != 0) return result;
  result.element_size = bits / 8;
  if (tensor.ndim < 0 || tensor.ndim > ROCARRAY_MAX_RANK) return result;
  if (tensor.ndim != 0 && tensor.shape == nullptr) return result;
  auto const rank = static_cast<std::size_t>(tensor.ndim);
  wide total = static_cast<wide>(result.element_size);
  for (std::size_t i = 0; i < rank; ++i) {
    if (tensor.shape[i] < 0) return result;
    if (tensor.shape[i] == 0) result.is_empty = true;
  }
  for (std::size_t i = 0; i < rank && !result.is_empty; ++i) {
    total *= tensor.shape[i];
    if (total > PTRDIFF_MAX) return result;
  }
  result.count = result.is_empty ? 0 : static_cast<std::size_t>(total) / result.element_size;
  result.shape.assign(tensor.shape, tensor.shape + rank);
  expectation compact = result;
  compact.reshape_as(result);
  result.strides = compact.strides;
  if (tensor.strides != nullptr) result.strides.assign(tensor.strides, tensor.strides + rank);
  if (result.is_empty) {
    result.is_valid = true;
    return result;
  }
  if (tensor.data == nullptr) return result;
  result.first = static_cast<wide>(reinterpret_cast<std::uintptr_t>(tensor.data)) +
                 static_cast<wide>(tensor.byte_offset);
  wide low = 0;
  wide high = static_cast<wide>(result.element_size);
  constexpr wide far = wide{1} << 100;
  for (std::size_t i = 0; i < rank; ++i) {
    if (result.shape[i] == 1) continue;
    wide const reach =
        wide{result.shape[i] - 1} * static_cast<wide>(result.element_size) * result.strides[i];
    (reach < 0 ? low : high) += std::clamp(reach, -far, far);
  }
  result.begin = result.first + low;
  result.end = result.first + high;
  result.is_valid = result.first <= UINTPTR_MAX && result.begin >= 0 && result.end <= UINTPTR_MAX &&
                    high - low <= PTRDIFF_MAX;
  return result;
}

// A tensor, and arrays of the size that it says.
struct any_tensor {
  roc_tensor value{};
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

void take_tensor(input& in, std::vector<std::int64_t> const& likely_shape, any_tensor& result) {
  roc_tensor& tensor = result.value;
  bool const is_benign = in.one_in(2);  // at most its layout is unusual
  auto const is_odd = [&] { return !is_benign && in.one_in(8); };
  tensor.ndim = static_cast<std::int32_t>(likely_shape.size());
  if (is_odd()) tensor.ndim = static_cast<std::int32_t>(in.hostile());
  constexpr roc_element_type types[] = {{ROCARRAY_TYPE_INT, 32, 1},
                                        {ROCARRAY_TYPE_UINT, 8, 1},
                                        {ROCARRAY_TYPE_UINT, 8, 3},
                                        {ROCARRAY_TYPE_COMPLEX, 128, 1}};
  tensor.dtype = types[is_benign ? 0 : in.below(4)];
  if (is_odd()) {
    tensor.dtype = {static_cast<std::uint8_t>(in.below(256)),
                    static_cast<std::uint8_t>(in.below(256)), in.take<std::uint16_t>()};
  }
  bool const is_on_device = in.one_in(2);
  tensor.device = {is_on_device ? roc_device_type() : ROCARRAY_DEVICE_CPU, 0};
  if (is_odd()) tensor.device.device_type = static_cast<std::int32_t>(in.hostile());
  if (is_odd()) tensor.device.device_id = static_cast<std::int32_t>(in.hostile());
  // A program cannot know whether memory is managed; then any address may be valid.
  if (tensor.device.device_type == ROCARRAY_DEVICE_CUDA_MANAGED) ++tensor.device.device_type;
  tensor.data = tensor.device.device_type == roc_device_type()
                    ? static_cast<void*>(memory().device.data())
                    : memory().host.data();
  if (is_odd()) tensor.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(in.hostile()));
  tensor.byte_offset = is_odd() ? static_cast<std::uint64_t>(in.hostile()) : in.below(256);

  result.shape = likely_shape;
  for (auto& extent : result.shape) {
    if (is_odd()) extent = in.hostile();
  }
  result.shape.resize(ROCARRAY_MAX_RANK, 1);
  tensor.shape = is_odd() ? nullptr : result.shape.data();
  if (!in.one_in(2)) return;
  result.strides.assign(ROCARRAY_MAX_RANK, 1);
  std::int64_t step = 1;
  for (std::size_t i = likely_shape.size(); i-- != 0;) {
    result.strides[i] = is_odd() ? in.hostile() : in.one_in(3) ? in.between(-8, 8) : step;
    step *= std::clamp<std::int64_t>(result.shape[i], 1, 8);
  }
  tensor.strides = result.strides.data();
}

std::vector<std::int64_t> take_shape(input& in) {
  std::vector<std::int64_t> shape(in.below(4));
  for (auto& extent : shape) extent = in.one_in(16) ? 0 : in.between(1, 5);
  return shape;
}

// Requires that the status fits, and that an error has a message with advice.
void check_status(char const* call, roc_status status, bool may_succeed, bool may_fail) {
  if (status == ROCARRAY_SUCCESS) return require(may_succeed, "%s succeeds", call);
  require(may_fail, "%s fails: %s", call, roc_last_error_message());
  require(roc_last_error() == status && status != ROCARRAY_ERROR_UNKNOWN &&
              std::strncmp(roc_last_error_message(), call, std::strlen(call)) == 0,
          "the error of %s: %s", call, roc_last_error_message());
}

struct async_scope {
  explicit async_scope(bool is_async) {
    if (is_async) roc_stream_create(ROCARRAY_STREAM_NON_BLOCKING, 0, &stream);
  }
  ~async_scope() {
    if (stream == nullptr) return;
    require(roc_stream_synchronize(stream) == ROCARRAY_SUCCESS, "roc_stream_synchronize");
    require(roc_stream_destroy(stream) == ROCARRAY_SUCCESS, "roc_stream_destroy");
  }
  roc_stream stream = nullptr;
};

bool are_unique(std::vector<std::size_t> offsets, std::size_t element_size) {
  std::sort(offsets.begin(), offsets.end());
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] - offsets[i - 1] < element_size) return false;
  }
  return true;
}

// Returns true if an element of one is less than `element_size` bytes from one of the other.
bool overlap(std::vector<std::size_t> const& a, std::vector<std::size_t> const& b,
             std::size_t element_size) {
  return std::any_of(a.begin(), a.end(), [&](std::size_t x) {
    return std::any_of(b.begin(), b.end(),
                       [&](std::size_t y) { return x < y + element_size && y < x + element_size; });
  });
}

void check_copy(input& in) {
  memories& actual = memory();
  actual.reset();
  bytes expected_host = actual.host;
  bytes expected_device = actual.on_device;
  auto const shape = take_shape(in);
  any_tensor from;
  any_tensor to;
  take_tensor(in, shape, from);
  std::int64_t count = 1;
  for (std::int64_t const extent : shape) count *= extent;
  take_tensor(in,
              in.one_in(6)   ? take_shape(in)
              : in.one_in(6) ? std::vector<std::int64_t>{count}
                             : shape,
              to);
  bool const is_in_batch = in.one_in(3);
  bool const is_async = in.one_in(2);
  roc_copy_options options{};
  if (in.one_in(8)) options.threads = static_cast<std::int32_t>(in.below(4));
  options.borrow_source = in.one_in(4);

  expectation source = expect(from.value);
  expectation destination = expect(to.value);
  bool may_succeed = source.is_valid && destination.is_valid &&
                     std::memcmp(&from.value.dtype, &to.value.dtype, sizeof from.value.dtype) == 0;
  if (may_succeed && source.shape.size() != destination.shape.size()) {
    if (source.is_flat_host_memory()) {
      source.reshape_as(destination);
    } else if (destination.is_flat_host_memory()) {
      destination.reshape_as(source);
    }
  }
  may_succeed = may_succeed && source.shape == destination.shape;
  bool may_fail = !may_succeed;
  if (may_succeed && !source.is_empty) {
    bytes* const container_from = source.container(expected_host, expected_device);
    bytes* const container_to = destination.container(expected_host, expected_device);
    if (container_from == nullptr || container_to == nullptr || source.count > memory_bytes) {
      return;  // the interface cannot know that the memory does not exist
    }
    auto const read = source.offsets();
    auto const written = destination.offsets();
    std::size_t const size = source.element_size;
    bool const is_in_one = source.is_on_device == destination.is_on_device;
    may_fail = is_in_one && source.begin < destination.end && destination.begin < source.end;
    if ((is_in_one && overlap(read, written, size)) || !are_unique(written, size)) {
      may_succeed = false;
      may_fail = true;
    }
    roc_status status = ROCARRAY_SUCCESS;
    {
      bytes const before = *container_from;
      async_scope const scope(is_async);
      roc_batch batch = nullptr;
      if (!is_in_batch) {
        status = is_async ? roc_copy_async(&from.value, &to.value, scope.stream, &options)
                          : roc_copy(&from.value, &to.value, &options);
        check_status(is_async ? "roc_copy_async" : "roc_copy", status, may_succeed, may_fail);
      } else {
        require(roc_batch_create(&batch) == ROCARRAY_SUCCESS, "roc_batch_create");
        status = roc_batch_add(batch, &from.value, &to.value);
        check_status("roc_batch_add", status, may_succeed, may_fail);
        roc_status const submitted = is_async
                                         ? roc_batch_submit_async(batch, scope.stream, &options)
                                         : roc_batch_submit(batch, &options);
        require(submitted == ROCARRAY_SUCCESS, "roc_batch_submit: %s", roc_last_error_message());
        require(roc_batch_destroy(batch) == ROCARRAY_SUCCESS, "roc_batch_destroy");
      }
      for (std::size_t i = 0; i < read.size() && status == ROCARRAY_SUCCESS; ++i) {
        std::memcpy(container_to->data() + written[i], before.data() + read[i], size);
      }
    }
  } else {
    check_status("roc_copy", roc_copy(&from.value, &to.value, &options), may_succeed, may_fail);
  }
  actual.check(expected_host, expected_device, "roc_copy");
}

void check_fill(input& in) {
  memories& actual = memory();
  actual.reset();
  bytes expected_host = actual.host;
  bytes expected_device = actual.on_device;
  any_tensor to;
  take_tensor(in, take_shape(in), to);
  expectation const destination = expect(to.value);
  bool const is_zero = in.one_in(3);
  std::size_t const size =
      in.one_in(8) ? static_cast<std::size_t>(in.hostile()) : destination.element_size;
  std::array<unsigned char, 16> value{};
  if (!is_zero) std::generate(value.begin(), value.end(), [&] { return in.take<unsigned char>(); });
  bool const is_async = in.one_in(2);
  bool const may_succeed =
      destination.is_valid && (is_zero || (size == destination.element_size && size <= 16));
  std::vector<std::size_t> offsets;
  bytes* const container = destination.container(expected_host, expected_device);
  if (may_succeed && !destination.is_empty) {
    if (container == nullptr || destination.count > memory_bytes) return;
    offsets = destination.offsets();
    // The order of elements that overlap is not defined.
    if (!is_zero && !are_unique(offsets, size)) return;
  }
  {
    async_scope const scope(is_async);
    roc_status const status =
        is_zero    ? is_async ? roc_zero_async(&to.value, scope.stream) : roc_zero(&to.value)
           : is_async ? roc_fill_async(&to.value, value.data(), size, scope.stream)
                   : roc_fill(&to.value, value.data(), size);
    check_status(is_zero ? "roc_zero" : "roc_fill", status, may_succeed, !may_succeed);
  }
  for (std::size_t const offset : offsets) {
    if (is_zero) {
      std::memset(container->data() + offset, 0, destination.element_size);
    } else {
      std::memcpy(container->data() + offset, value.data(), size);
    }
  }
  actual.check(expected_host, expected_device, is_zero ? "roc_zero" : "roc_fill");
}

// Handles and addresses of all kinds, those that are destroyed among them.
class handle_user {
 public:
  void step(input& in) {
    switch (in.below(6)) {
      case 0:
      case 1: create(in); break;
      case 2: destroy(in); break;
      default: use(in);
    }
  }
  ~handle_user() {
    for (object& entry : objects_) {
      if (!entry.is_live) continue;
      require(destroy_as(entry.type, entry.value) == ROCARRAY_SUCCESS, "a live object: %s",
              roc_last_error_message());
    }
  }

 private:
  enum kind : std::uint8_t { stream, event, batch, resource, device_memory, host_memory, kinds };
  struct object {
    kind type;
    void* value;
    bool is_live;
  };

  static roc_status destroy_as(kind type, void* value) {
    switch (type) {
      case stream: return roc_stream_destroy(static_cast<roc_stream>(value));
      case event: return roc_event_destroy(static_cast<roc_event>(value));
      case batch: return roc_batch_destroy(static_cast<roc_batch>(value));
      case resource: return roc_resource_destroy(static_cast<roc_resource>(value));
      case device_memory: return roc_free(value, ROCARRAY_DEFAULT_STREAM);
      default: return roc_free_host(value);
    }
  }

  void create(input& in) {
    if (objects_.size() == 24) return;
    auto const type = static_cast<kind>(in.below(kinds));
    void* value = nullptr;
    roc_status status = ROCARRAY_SUCCESS;
    std::size_t const size = 1 + in.below(64);
    switch (type) {
      case stream:
        status = roc_stream_create(in.one_in(2) ? 1 : 0, 0, reinterpret_cast<roc_stream*>(&value));
        break;
      case event:
        status = in.one_in(2) ? roc_event_create_timed(reinterpret_cast<roc_event*>(&value))
                              : roc_event_create(reinterpret_cast<roc_event*>(&value));
        break;
      case batch: status = roc_batch_create(reinterpret_cast<roc_batch*>(&value)); break;
      case resource:
        status = in.one_in(2) ? roc_resource_create_hip(-1, reinterpret_cast<roc_resource*>(&value))
                              : roc_resource_create_pool(ROCARRAY_DEFAULT_RESOURCE, SIZE_MAX,
                                                         reinterpret_cast<roc_resource*>(&value));
        break;
      case device_memory:
        status = roc_allocate(ROCARRAY_DEFAULT_RESOURCE, size, ROCARRAY_DEFAULT_STREAM, &value);
        break;
      default: status = roc_allocate_host(ROCARRAY_MEMORY_PINNED, 0, size, &value);
    }
    require(status == ROCARRAY_SUCCESS && value != nullptr, "creation: %s",
            roc_last_error_message());
    objects_.push_back({type, value, true});
  }

  // Returns an object that was created, or a value that no object has.
  object take(input& in) const {
    if (objects_.empty() || in.one_in(8)) {
      return {kinds, reinterpret_cast<void*>(static_cast<std::uintptr_t>(in.hostile())), false};
    }
    return objects_[in.below(objects_.size())];
  }
  // Returns true if the value is a live object of this kind. An address may be in use again.
  bool is_live(kind type, void* value) const {
    return std::any_of(objects_.begin(), objects_.end(), [&](object const& entry) {
      return entry.type == type && entry.value == value && entry.is_live;
    });
  }

  void destroy(input& in) {
    object const chosen = take(in);
    auto const type =
        chosen.type == kinds || in.one_in(4) ? static_cast<kind>(in.below(kinds)) : chosen.type;
    bool const was_live = is_live(type, chosen.value);
    bool const is_nothing = chosen.value == nullptr;
    roc_status const status = destroy_as(type, chosen.value);
    require(status == (was_live || is_nothing ? ROCARRAY_SUCCESS : ROCARRAY_ERROR_LIFETIME),
            "destruction is %s", roc_status_name(status));
    for (object& entry : objects_) {
      if (entry.type == type && entry.value == chosen.value) entry.is_live = false;
    }
  }

  void use(input& in) {
    object const chosen = take(in);
    if (chosen.value == nullptr) return;
    roc_status status = ROCARRAY_SUCCESS;
    std::int32_t flag = 0;
    double time = 0;
    void* data = nullptr;
    auto const type = static_cast<kind>(in.below(5));
    switch (type) {
      case stream: status = roc_stream_query(static_cast<roc_stream>(chosen.value), &flag); break;
      case event:
        // An event may measure no time or not be recorded, so that any status is right.
        static_cast<void>(roc_event_elapsed_time(static_cast<roc_event>(chosen.value),
                                                 static_cast<roc_event>(chosen.value), &time));
        status = roc_event_record(static_cast<roc_event>(chosen.value), ROCARRAY_DEFAULT_STREAM);
        break;
      case batch: status = roc_batch_submit(static_cast<roc_batch>(chosen.value), nullptr); break;
      case resource:
        status = roc_allocate(static_cast<roc_resource>(chosen.value), 8, ROCARRAY_DEFAULT_STREAM,
                              &data);
        // The resource may be destroyed before its memory is freed.
        if (status == ROCARRAY_SUCCESS) objects_.push_back({device_memory, data, true});
        break;
      default: status = roc_record_stream(chosen.value, ROCARRAY_DEFAULT_STREAM);
    }
    bool const expected = is_live(type, chosen.value);
    require(status == (expected ? ROCARRAY_SUCCESS : ROCARRAY_ERROR_LIFETIME), "use is %s",
            roc_status_name(status));
  }

  std::vector<object> objects_;
};

void check_handles(input& in) {
  handle_user user;
  for (int step = 0; step < 60 && !in.is_at_end(); ++step) user.step(in);
}

// Options are set and read as text; a value that was read can be set.
void check_option(input& in) {
  roc::options const before = roc::get_options();
  constexpr char const* names[] = {"path", "copy_threads", "pinned_cache", "log", "leak_check", ""};
  std::string const name = in.one_in(4) ? in.text(20) : names[in.below(std::size(names))];
  std::string const value = in.text(24);
  roc_status const status = roc_set_option(name.c_str(), value.c_str());
  char text[64];
  std::size_t length = 0;
  if (status == ROCARRAY_SUCCESS) {
    require(roc_get_option(name.c_str(), text, sizeof text, &length) == ROCARRAY_SUCCESS &&
                length == std::strlen(text),
            "roc_get_option");
    roc::options const after = roc::get_options();
    require(roc_set_option(name.c_str(), text) == ROCARRAY_SUCCESS && after == roc::get_options(),
            "a text that was read cannot be set: %s", text);
    roc::set_options(before);
  } else {
    require(status == ROCARRAY_ERROR_INVALID_ARGUMENT && before == roc::get_options(),
            "roc_set_option: %s", roc_last_error_message());
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (roc::device::count() == 0) {
    std::puts("no device");
    std::exit(77);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  input in(data, size);
  switch (in.below(8)) {
    case 0: check_option(in); break;
    case 1:
    case 2: check_handles(in); break;
    case 3:
    case 4: check_fill(in); break;
    default: check_copy(in);
  }
  return 0;
}
