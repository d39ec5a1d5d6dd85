// SPDX-License-Identifier: MIT
// The functions of the C interface: each calls the C++ interface and turns exceptions into a
// status.
#include <roc/c.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <roc/config.hpp>
#include <roc/copy_batch.hpp>
#include <roc/copy_path.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/device_storage.hpp>
#include <roc/detail/host_storage.hpp>
#include <roc/detail/tensor_operand.hpp>
#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/event.hpp>
#include <roc/memory/hip_resources.hpp>
#include <roc/memory/host_memory.hpp>
#include <roc/memory/mapped_view.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/memory/pool_resource.hpp>
#include <roc/native.hpp>
#include <roc/options.hpp>
#include <roc/registration.hpp>
#include <roc/stream.hpp>

#include "base/no_destructor.hpp"
#include "base/options.hpp"
#include "c_interface/handle_table.hpp"
#include "memory/device/device_use.hpp"

namespace roc::c_interface {
namespace {

// Errors

// The last error of a thread. Holds the text itself, so that an error is stored without an
// allocation.
struct last_error {
  roc_status status = ROCARRAY_SUCCESS;
  std::int32_t hip_code = 0;
  char message[2048] = "";
};

constinit thread_local last_error error_of_thread;

roc_status store(roc_status status, char const* message, std::int32_t hip_code = 0) noexcept {
  error_of_thread.status = status;
  error_of_thread.hip_code = hip_code;
  std::snprintf(error_of_thread.message, sizeof error_of_thread.message, "%s", message);
  return status;
}

roc_status status_of(error const& exception) noexcept {
  if (dynamic_cast<shape_error const*>(&exception)) return ROCARRAY_ERROR_SHAPE;
  if (dynamic_cast<layout_error const*>(&exception)) return ROCARRAY_ERROR_LAYOUT;
  if (dynamic_cast<overlap_error const*>(&exception)) return ROCARRAY_ERROR_OVERLAP;
  if (dynamic_cast<lifetime_error const*>(&exception)) return ROCARRAY_ERROR_LIFETIME;
  if (dynamic_cast<registration_error const*>(&exception)) return ROCARRAY_ERROR_REGISTRATION;
  std::error_code const code = exception.code();
  if (code == std::errc::not_enough_memory) return ROCARRAY_ERROR_OUT_OF_MEMORY;
  if (code == std::errc::not_supported) return ROCARRAY_ERROR_NOT_SUPPORTED;
  if (code == std::errc::no_such_device) return ROCARRAY_ERROR_NO_DEVICE;
  if (code.category() == hip_category()) return ROCARRAY_ERROR_HIP;
  if (code == std::errc::invalid_argument) return ROCARRAY_ERROR_INVALID_ARGUMENT;
  return ROCARRAY_ERROR_UNKNOWN;
}

// Stores the exception that is being handled, and returns its status.
roc_status store_current_exception() noexcept {
  try {
    throw;
  } catch (error const& exception) {
    bool const is_of_hip = exception.code().category() == hip_category();
    return store(status_of(exception), exception.what(), is_of_hip ? exception.code().value() : 0);
  } catch (std::bad_alloc const&) {
    return store(ROCARRAY_ERROR_OUT_OF_MEMORY,
                 "out of memory: an allocation of the library failed; free host memory");
  } catch (std::exception const& exception) {
    return store(ROCARRAY_ERROR_UNKNOWN, exception.what());
  } catch (...) {
    return store(
        ROCARRAY_ERROR_UNKNOWN,
        "an exception that is not a std::exception was thrown, such as by a host function");
  }
}

// Calls f() as the function of the C interface with this name, which its error messages begin with.
template <class F>
roc_status run(char const* name, F f) noexcept {
  try {
    detail::call_scope const call(name);
    f();
    return ROCARRAY_SUCCESS;
  } catch (...) {
    return store_current_exception();
  }
}

[[noreturn]] void throw_invalid(std::string const& message) {
  throw error(std::make_error_code(std::errc::invalid_argument), message);
}

void require(void const* pointer, char const* parameter) {
  if (pointer != nullptr) return;
  throw_invalid(std::string(parameter) + " is null; pass an address");
}

void check_flags(std::uint32_t flags, std::uint32_t known, char const* type) {
  if ((flags & ~known) == 0) return;
  throw_invalid("unknown flags: " + std::to_string(flags & ~known) + "; combine those of " + type);
}

// Handles

struct stream_entry {
  std::optional<stream> owned;  // empty for streams of other code
  stream_ref reference;
};

struct event_entry {
  std::variant<event, timed_event> value;

  event_base& get() noexcept {
    if (auto* const timed = std::get_if<timed_event>(&value)) return *timed;
    return *std::get_if<event>(&value);
  }
};

struct batch_entry {
  copy_batch batch;
};

// A resource, and the one below it. Allocations and pools share it, so that it lives until the last
// of them is destroyed.
struct resource_entry {
  std::shared_ptr<resource_entry> upstream;  // destroyed after `resource`
  std::unique_ptr<memory_resource> resource;
};

struct allocation {
  std::shared_ptr<resource_entry> resource;  // destroyed after `storage`; null: the default
  detail::device_storage storage;
};

struct stream_table : handle_table<roc_stream, stream_entry> {
  stream_table() noexcept : handle_table("stream") {}
};
struct event_table : handle_table<roc_event, event_entry> {
  event_table() noexcept : handle_table("event") {}
};
struct batch_table : handle_table<roc_batch, batch_entry> {
  batch_table() noexcept : handle_table("batch") {}
};
struct resource_table : handle_table<roc_resource, resource_entry> {
  resource_table() noexcept : handle_table("resource") {}
};
struct device_memory_table : address_table<allocation> {
  device_memory_table() noexcept : address_table("device memory", "roc_allocate") {}
};
struct host_memory_table : address_table<detail::host_storage> {
  host_memory_table() noexcept : address_table("host memory", "roc_allocate_host") {}
};

// Never destroyed: other threads, and static objects of the program, may use them until the process
// ends.
template <class Table>
Table& table() noexcept {
  static base::no_destructor<Table> instance;
  return *instance;
}

// A stream that is an argument. Keeps it alive during the call.
class stream_argument {
 public:
  explicit stream_argument(roc_stream handle) {
    if (handle != ROCARRAY_DEFAULT_STREAM) entry_ = table<stream_table>().get(handle);
  }
  stream_ref get() const noexcept { return entry_ == nullptr ? stream_ref() : entry_->reference; }

 private:
  std::shared_ptr<stream_entry> entry_;
};

roc_stream add_stream(stream&& owned) {
  stream_ref const reference = owned;
  return table<stream_table>().add(
      std::make_shared<stream_entry>(stream_entry{std::move(owned), reference}));
}

roc_stream add_stream(stream_ref reference) {
  return table<stream_table>().add(
      std::make_shared<stream_entry>(stream_entry{std::nullopt, reference}));
}

template <class Event>
roc_event add_event() {
  return table<event_table>().add(
      std::make_shared<event_entry>(event_entry{std::variant<event, timed_event>(Event())}));
}

// Returns the event of an entry. Throws roc::error if it does not measure time.
timed_event& timed(event_entry& entry, char const* parameter) {
  if (auto* const result = std::get_if<timed_event>(&entry.value)) return *result;
  throw_invalid(std::string(parameter) +
                " does not measure time; create the event with roc_event_create_timed");
}

roc_resource add_resource(std::unique_ptr<memory_resource> resource) {
  return table<resource_table>().add(
      std::make_shared<resource_entry>(resource_entry{nullptr, std::move(resource)}));
}

// Records that work on `stream` uses an allocation of roc_allocate. Throws roc::error if the stream
// is on another device, and lifetime_error if the address is not allocated.
void record_use(void const* data, stream_ref stream) {
  int const device = table<device_memory_table>().with(
      data, [](allocation const& owner) { return owner.storage.device(); });
  if (stream.device_ordinal() >= 0 && stream.device_ordinal() != device) {
    throw_invalid("the stream is on device " + std::to_string(stream.device_ordinal()) +
                  ", but the memory is on device " + std::to_string(device) +
                  "; use a stream of the memory's device");
  }
  device_guard const current{roc::device(device)};
  memory::device_use const use(stream, device, data);
}

// Tensors

// Returns a tensor as an operand, in the memory that it names. `name` is that of the parameter.
// Throws as detail::tensor_operand does.
detail::tensor_operand operand(roc_tensor const* tensor, char const* name) {
  if (tensor == nullptr) throw_invalid(std::string(name) + " is null; pass a tensor");
  // The caller's object may be a DLTensor, which another compiler or language wrote.
  roc_tensor description;
  std::memcpy(&description, tensor, sizeof(description));
  auto const [code, bits, lanes] = description.dtype;
  return {{description.data,
           description.device.device_type,
           description.device.device_id,
           description.ndim,
           {code, bits, lanes},
           description.shape,
           description.strides,
           description.byte_offset},
          name};
}

// Copies

// The options of one call, in effect for the calling thread while this exists.
class call_options {
 public:
  explicit call_options(roc_copy_options const* options) {
    if (options == nullptr) return;
    if (options->path < 0 || options->path > ROCARRAY_PATH_HOST) {
      throw_invalid("roc_copy_options::path is invalid: " + std::to_string(options->path) +
                    "; use an enumerator of roc_copy_path");
    }
    if (options->threads < 0) {
      throw_invalid("roc_copy_options::threads is negative: " + std::to_string(options->threads) +
                    "; use a number from 0 to 256");
    }
    override_.emplace(copy_options{static_cast<copy_path>(options->path),
                                   static_cast<std::size_t>(options->threads)});
    if (options->borrow_source != 0) use_ = detail::source_use::borrowed;
  }
  detail::source_use source_use() const noexcept { return use_; }

 private:
  std::optional<detail::options_override> override_;
  detail::source_use use_ = detail::source_use::copied;
};

static_assert(ROCARRAY_PATH_FASTEST == static_cast<int>(copy_path::none) &&
              ROCARRAY_PATH_DMA == static_cast<int>(copy_path::dma) &&
              ROCARRAY_PATH_DMA_2D == static_cast<int>(copy_path::dma_2d) &&
              ROCARRAY_PATH_DMA_3D == static_cast<int>(copy_path::dma_3d) &&
              ROCARRAY_PATH_STAGED == static_cast<int>(copy_path::staged) &&
              ROCARRAY_PATH_PACKED == static_cast<int>(copy_path::packed) &&
              ROCARRAY_PATH_KERNEL == static_cast<int>(copy_path::kernel) &&
              ROCARRAY_PATH_HOST == static_cast<int>(copy_path::host));

void copy(roc_tensor const* from, roc_tensor const* to, stream_ref const* stream,
          roc_copy_options const* options) {
  detail::tensor_operand source = operand(from, "from");
  detail::tensor_operand destination = operand(to, "to");
  source.look_up();
  destination.look_up();
  detail::tensor_operand::match(source, destination);
  call_options const scope(options);
  detail::copy(source.region(), destination.region(), stream, scope.source_use());
}

void fill(roc_tensor const* to, void const* value, std::size_t bytes, stream_ref const* stream) {
  detail::tensor_operand const destination = operand(to, "to");
  require(value, "value");
  if (bytes != destination.element_size() || bytes > 16) {
    throw_invalid("the value has " + std::to_string(bytes) + " bytes, the elements of `to` have " +
                  std::to_string(destination.element_size()) +
                  "; use a value of the size of an element, from 1 to 16 bytes");
  }
  detail::fill(destination.region(), value, stream);
}

void submit(roc_batch batch, stream_ref const* stream, roc_copy_options const* options) {
  auto const entry = table<batch_table>().get(batch);
  call_options const scope(options);
  if (stream == nullptr) {
    entry->batch.submit();
  } else if (scope.source_use() == detail::source_use::borrowed) {
    entry->batch.submit(*stream, borrow_source);
  } else {
    entry->batch.submit(*stream);
  }
}

// Host memory

constexpr std::uint32_t known_host_flags = ROCARRAY_MEMORY_PORTABLE |
                                           ROCARRAY_MEMORY_WRITE_COMBINED |
                                           ROCARRAY_MEMORY_COHERENT | ROCARRAY_MEMORY_NON_COHERENT;
static_assert(ROCARRAY_MEMORY_PORTABLE == static_cast<unsigned>(host_flags::portable) &&
              ROCARRAY_MEMORY_WRITE_COMBINED == static_cast<unsigned>(host_flags::write_combined) &&
              ROCARRAY_MEMORY_COHERENT == static_cast<unsigned>(host_flags::coherent) &&
              ROCARRAY_MEMORY_NON_COHERENT == static_cast<unsigned>(host_flags::non_coherent));
static_assert(ROCARRAY_MEMORY_PINNED == static_cast<int>(host_memory::pinned) &&
              ROCARRAY_MEMORY_MAPPED == static_cast<int>(host_memory::mapped) &&
              ROCARRAY_MEMORY_MANAGED == static_cast<int>(host_memory::managed));

detail::host_storage allocate_host(std::int32_t kind, std::uint32_t flags, std::size_t bytes) {
  if (kind < ROCARRAY_MEMORY_PINNED || kind > ROCARRAY_MEMORY_MANAGED) {
    throw_invalid("the kind of host memory is invalid: " + std::to_string(kind) +
                  "; use an enumerator of roc_host_memory");
  }
  check_flags(flags, kind == ROCARRAY_MEMORY_MANAGED ? 0 : known_host_flags, "roc_host_flags");
  if (bytes > PTRDIFF_MAX) {
    throw out_of_memory(std::make_error_code(std::errc::not_enough_memory),
                        "cannot allocate " + std::to_string(bytes) +
                            " bytes: the size is larger than the address space");
  }
  return {bytes, static_cast<host_memory>(kind), static_cast<host_flags>(flags)};
}

// Throws roc::error unless [data, data + bytes) is a range of addresses.
void check_range(void const* data, std::size_t bytes) {
  if (bytes == 0) return;
  if (data == nullptr) throw lifetime_error("a range of host memory is null; pass its address");
  std::uintptr_t end = 0;
  if (bytes > PTRDIFF_MAX ||
      __builtin_add_overflow(reinterpret_cast<std::uintptr_t>(data), bytes, &end)) {
    throw shape_error("a range of host memory of " + std::to_string(bytes) +
                      " bytes leaves the address space; use its size in bytes");
  }
}

std::vector<detail::host_extent> extents_of(roc_host_range const* ranges, std::size_t count) {
  if (count != 0) require(ranges, "ranges");
  std::vector<detail::host_extent> extents;
  for (std::size_t i = 0; i < count; ++i) {
    check_range(ranges[i].data, ranges[i].bytes);
    extents.push_back({ranges[i].data, ranges[i].bytes});
  }
  return extents;
}

}  // namespace
}  // namespace roc::c_interface

using namespace roc::c_interface;

// Errors

char const* roc_status_name(roc_status status) {
#define ROCARRAY_CASE(name) \
  case name: return #name
  switch (status) {
    ROCARRAY_CASE(ROCARRAY_SUCCESS);
    ROCARRAY_CASE(ROCARRAY_ERROR_INVALID_ARGUMENT);
    ROCARRAY_CASE(ROCARRAY_ERROR_SHAPE);
    ROCARRAY_CASE(ROCARRAY_ERROR_LAYOUT);
    ROCARRAY_CASE(ROCARRAY_ERROR_OVERLAP);
    ROCARRAY_CASE(ROCARRAY_ERROR_LIFETIME);
    ROCARRAY_CASE(ROCARRAY_ERROR_REGISTRATION);
    ROCARRAY_CASE(ROCARRAY_ERROR_OUT_OF_MEMORY);
    ROCARRAY_CASE(ROCARRAY_ERROR_NOT_SUPPORTED);
    ROCARRAY_CASE(ROCARRAY_ERROR_NO_DEVICE);
    ROCARRAY_CASE(ROCARRAY_ERROR_HIP);
    ROCARRAY_CASE(ROCARRAY_ERROR_UNKNOWN);
    default: return "unknown status";
  }
#undef ROCARRAY_CASE
}

roc_status roc_last_error(void) { return error_of_thread.status; }
char const* roc_last_error_message(void) { return error_of_thread.message; }
int32_t roc_last_hip_error(void) { return error_of_thread.hip_code; }

void roc_get_version(int32_t* major_version, int32_t* minor_version, int32_t* patch_version) {
  if (major_version != nullptr) *major_version = ROCARRAY_VERSION_MAJOR;
  if (minor_version != nullptr) *minor_version = ROCARRAY_VERSION_MINOR;
  if (patch_version != nullptr) *patch_version = ROCARRAY_VERSION_PATCH;
}

// Devices

roc_status roc_device_count(int32_t* count) {
  return run("roc_device_count", [&] {
    require(count, "count");
    *count = roc::device::count();
  });
}

roc_status roc_get_device(int32_t* device) {
  return run("roc_get_device", [&] {
    require(device, "device");
    *device = roc::device().ordinal();
  });
}

roc_status roc_set_device(int32_t device) {
  return run("roc_set_device", [&] { roc::device(device).make_current(); });
}

roc_status roc_synchronize_device(int32_t device) {
  return run("roc_synchronize_device", [&] { roc::device(device).synchronize(); });
}

// Streams

roc_status roc_stream_create(int32_t kind, int32_t priority, roc_stream* stream) {
  return run("roc_stream_create", [&] {
    require(stream, "stream");
    switch (kind) {
      case ROCARRAY_STREAM_BLOCKING: *stream = add_stream(roc::stream(priority)); break;
      case ROCARRAY_STREAM_NON_BLOCKING:
        *stream = add_stream(roc::stream(roc::non_blocking, priority));
        break;
      default:
        throw_invalid("the kind of the stream is invalid: " + std::to_string(kind) +
                      "; use an enumerator of roc_stream_kind");
    }
  });
}

roc_status roc_stream_from_native(void* native_stream, roc_stream* stream) {
  return run("roc_stream_from_native", [&] {
    require(stream, "stream");
    *stream = add_stream(roc::from_native(static_cast<hipStream_t>(native_stream)));
  });
}

roc_status roc_stream_per_thread(roc_stream* stream) {
  return run("roc_stream_per_thread", [&] {
    require(stream, "stream");
    *stream = add_stream(roc::per_thread_stream());
  });
}

roc_status roc_stream_native(roc_stream stream, void** native_stream) {
  return run("roc_stream_native", [&] {
    require(native_stream, "native_stream");
    *native_stream = roc::native(stream_argument(stream).get());
  });
}

roc_status roc_stream_device(roc_stream stream, int32_t* device) {
  return run("roc_stream_device", [&] {
    require(device, "device");
    int const ordinal = stream_argument(stream).get().device_ordinal();
    *device = ordinal >= 0 ? ordinal : roc::device().ordinal();
  });
}

roc_status roc_stream_synchronize(roc_stream stream) {
  return run("roc_stream_synchronize", [&] {
    stream_argument const argument(stream);
    argument.get().synchronize();
  });
}

roc_status roc_stream_query(roc_stream stream, int32_t* is_idle) {
  return run("roc_stream_query", [&] {
    require(is_idle, "is_idle");
    stream_argument const argument(stream);
    *is_idle = argument.get().query() ? 1 : 0;
  });
}

roc_status roc_stream_wait(roc_stream stream, roc_event event) {
  return run("roc_stream_wait", [&] {
    stream_argument const argument(stream);
    argument.get().wait(table<event_table>().get(event)->get());
  });
}

roc_status roc_stream_destroy(roc_stream stream) {
  return run("roc_stream_destroy", [&] {
    if (stream != ROCARRAY_DEFAULT_STREAM) table<stream_table>().remove(stream);
  });
}

// Events

roc_status roc_event_create(roc_event* event) {
  return run("roc_event_create", [&] {
    require(event, "event");
    *event = add_event<roc::event>();
  });
}

roc_status roc_event_create_timed(roc_event* event) {
  return run("roc_event_create_timed", [&] {
    require(event, "event");
    *event = add_event<roc::timed_event>();
  });
}

roc_status roc_event_record(roc_event event, roc_stream stream) {
  return run("roc_event_record", [&] {
    auto const recorded = table<event_table>().get(event);
    stream_argument const argument(stream);
    recorded->get().record(argument.get());
  });
}

roc_status roc_event_query(roc_event event, int32_t* is_done) {
  return run("roc_event_query", [&] {
    require(is_done, "is_done");
    *is_done = table<event_table>().get(event)->get().query() ? 1 : 0;
  });
}

roc_status roc_event_synchronize(roc_event event) {
  return run("roc_event_synchronize",
             [&] { table<event_table>().get(event)->get().synchronize(); });
}

roc_status roc_event_elapsed_time(roc_event begin, roc_event end, double* milliseconds) {
  return run("roc_event_elapsed_time", [&] {
    require(milliseconds, "milliseconds");
    auto const first = table<event_table>().get(begin);
    auto const second = table<event_table>().get(end);
    *milliseconds = timed(*first, "begin").elapsed_time(timed(*second, "end"));
  });
}

roc_status roc_event_destroy(roc_event event) {
  return run("roc_event_destroy", [&] {
    if (event != nullptr) table<event_table>().remove(event);
  });
}

// Device memory

roc_status roc_resource_create_hip(int32_t device, roc_resource* resource) {
  return run("roc_resource_create_hip", [&] {
    require(resource, "resource");
    *resource = add_resource(std::make_unique<roc::hip_memory_resource>(device));
  });
}

roc_status roc_resource_create_hip_async(int32_t device, roc_resource* resource) {
  return run("roc_resource_create_hip_async", [&] {
    require(resource, "resource");
    *resource = add_resource(std::make_unique<roc::hip_async_memory_resource>(device));
  });
}

roc_status roc_resource_create_pool(roc_resource upstream, size_t limit, roc_resource* resource) {
  return run("roc_resource_create_pool", [&] {
    require(resource, "resource");
    auto entry = std::make_shared<resource_entry>();
    if (upstream == ROCARRAY_DEFAULT_RESOURCE) {
      entry->upstream = std::make_shared<resource_entry>();
      entry->upstream->resource = std::make_unique<roc::hip_memory_resource>();
    } else {
      entry->upstream = table<resource_table>().get(upstream);
    }
    roc::pool_options options;
    options.limit = limit;
    entry->resource = std::make_unique<roc::pool_resource>(*entry->upstream->resource, options);
    *resource = table<resource_table>().add(std::move(entry));
  });
}

roc_status roc_resource_destroy(roc_resource resource) {
  return run("roc_resource_destroy", [&] {
    if (resource != ROCARRAY_DEFAULT_RESOURCE) table<resource_table>().remove(resource);
  });
}

roc_status roc_allocate(roc_resource resource, size_t bytes, roc_stream stream, void** data) {
  return run("roc_allocate", [&] {
    require(data, "data");
    stream_argument const argument(stream);
    allocation owner;
    if (resource == ROCARRAY_DEFAULT_RESOURCE) {
      owner.storage = roc::detail::device_storage(bytes, argument.get());
    } else {
      owner.resource = table<resource_table>().get(resource);
      owner.storage = roc::detail::device_storage(bytes, argument.get(), *owner.resource->resource);
    }
    void* const address = owner.storage.data();
    if (address != nullptr) table<device_memory_table>().add(address, std::move(owner));
    *data = address;
  });
}

roc_status roc_free(void* data, roc_stream stream) {
  return run("roc_free", [&] {
    stream_argument const argument(stream);
    if (data == nullptr) return;
    record_use(data, argument.get());
    table<device_memory_table>().remove(data);
  });
}

roc_status roc_record_stream(void* data, roc_stream stream) {
  return run("roc_record_stream", [&] {
    stream_argument const argument(stream);
    if (data != nullptr) record_use(data, argument.get());
  });
}

// Host memory

roc_status roc_allocate_host(int32_t kind, uint32_t flags, size_t bytes, void** data) {
  return run("roc_allocate_host", [&] {
    require(data, "data");
    auto storage = allocate_host(kind, flags, bytes);
    void* const address = storage.data();
    if (address != nullptr) table<host_memory_table>().add(address, std::move(storage));
    *data = address;
  });
}

roc_status roc_free_host(void* data) {
  return run("roc_free_host", [&] {
    if (data != nullptr) table<host_memory_table>().remove(data);
  });
}

roc_status roc_device_address(void* data, size_t bytes, void** address) {
  return run("roc_device_address", [&] {
    require(address, "address");
    check_range(data, bytes);
    *address = bytes == 0 ? nullptr : roc::detail::device_address_of(data, bytes, false).data;
  });
}

roc_status roc_register_host(roc_host_range const* ranges, size_t count, uint32_t flags) {
  return run("roc_register_host", [&] {
    check_flags(flags,
                ROCARRAY_REGISTER_MAPPED | ROCARRAY_REGISTER_PORTABLE |
                    ROCARRAY_REGISTER_READ_ONLY | ROCARRAY_REGISTER_HUGE_PAGES,
                "roc_register_flags");
    auto const extents = extents_of(ranges, count);
    roc::registration_options options;
    options.mapped = (flags & ROCARRAY_REGISTER_MAPPED) != 0;
    options.portable = (flags & ROCARRAY_REGISTER_PORTABLE) != 0;
    options.read_only = (flags & ROCARRAY_REGISTER_READ_ONLY) != 0;
    options.huge_pages = (flags & ROCARRAY_REGISTER_HUGE_PAGES) != 0;
    roc::detail::register_extents(extents.data(), extents.size(), options);
  });
}

roc_status roc_deregister(roc_host_range const* ranges, size_t count) {
  return run("roc_deregister", [&] {
    auto const extents = extents_of(ranges, count);
    roc::detail::deregister_extents(extents.data(), extents.size());
  });
}

// Copies and fills

int32_t roc_device_type(void) { return roc::detail::tensor_operand::device_type(); }

roc_status roc_copy(roc_tensor const* from, roc_tensor const* to, roc_copy_options const* options) {
  return run("roc_copy", [&] { copy(from, to, nullptr, options); });
}

roc_status roc_copy_async(roc_tensor const* from, roc_tensor const* to, roc_stream stream,
                          roc_copy_options const* options) {
  return run("roc_copy_async", [&] {
    stream_argument const argument(stream);
    roc::stream_ref const target = argument.get();
    copy(from, to, &target, options);
  });
}

roc_status roc_fill(roc_tensor const* to, void const* value, size_t bytes) {
  return run("roc_fill", [&] { fill(to, value, bytes, nullptr); });
}

roc_status roc_fill_async(roc_tensor const* to, void const* value, size_t bytes,
                          roc_stream stream) {
  return run("roc_fill_async", [&] {
    stream_argument const argument(stream);
    roc::stream_ref const target = argument.get();
    fill(to, value, bytes, &target);
  });
}

roc_status roc_zero(roc_tensor const* to) {
  return run("roc_zero", [&] { roc::detail::zero(operand(to, "to").region(), nullptr); });
}

roc_status roc_zero_async(roc_tensor const* to, roc_stream stream) {
  return run("roc_zero_async", [&] {
    stream_argument const argument(stream);
    roc::stream_ref const target = argument.get();
    roc::detail::zero(operand(to, "to").region(), &target);
  });
}

// Batches

roc_status roc_batch_create(roc_batch* batch) {
  return run("roc_batch_create", [&] {
    require(batch, "batch");
    *batch = table<batch_table>().add(std::make_shared<batch_entry>());
  });
}

roc_status roc_batch_add(roc_batch batch, roc_tensor const* from, roc_tensor const* to) {
  return run("roc_batch_add", [&] {
    auto const entry = table<batch_table>().get(batch);
    auto source = operand(from, "from");
    auto destination = operand(to, "to");
    roc::detail::tensor_operand::match(source, destination);
    roc::detail::add_regions(entry->batch, source.region(), destination.region());
  });
}

roc_status roc_batch_submit(roc_batch batch, roc_copy_options const* options) {
  return run("roc_batch_submit", [&] { submit(batch, nullptr, options); });
}

roc_status roc_batch_submit_async(roc_batch batch, roc_stream stream,
                                  roc_copy_options const* options) {
  return run("roc_batch_submit_async", [&] {
    stream_argument const argument(stream);
    roc::stream_ref const target = argument.get();
    submit(batch, &target, options);
  });
}

roc_status roc_batch_destroy(roc_batch batch) {
  return run("roc_batch_destroy", [&] {
    if (batch != nullptr) table<batch_table>().remove(batch);
  });
}

// Options

roc_status roc_get_option(char const* name, char* text, size_t size, size_t* length) {
  return run("roc_get_option", [&] {
    require(name, "name");
    if (size != 0) require(text, "text");
    std::string const value = roc::base::member_text(roc::base::read_environment(), name);
    if (length != nullptr) *length = value.size();
    if (size == 0 && length != nullptr) return;
    if (value.size() >= size) {
      throw_invalid("the text of " + std::to_string(value.size() + 1) +
                    " bytes does not fit into " + std::to_string(size) +
                    "; pass a larger one: 64 are always enough");
    }
    std::memcpy(text, value.c_str(), value.size() + 1);
  });
}

roc_status roc_set_option(char const* name, char const* text) {
  return run("roc_set_option", [&] {
    require(name, "name");
    require(text, "text");
    static std::mutex mutex;  // calls of other threads must not lose this change
    std::lock_guard const lock(mutex);
    roc::options values = roc::base::read_environment();
    roc::base::set_member(values, name, text);
    roc::set_options(values);
  });
}
