// SPDX-License-Identifier: MIT
#include <roc/ipc.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/ipc_event.hpp>

#include "base/byte_range.hpp"
#include "base/no_destructor.hpp"
#include "base/process_identity.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_watch.hpp"
#include "memory/device/device_use.hpp"
#include "memory/device/pool_slab.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "platform/pointer.hpp"
#include "runtime/current_device.hpp"
#include "runtime/ipc_origin.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"

namespace roc::detail {
namespace {

using native_detail::memory_kind;

// The events of ROCm that other processes open have defects in several versions; see ipc_event.
#if ROCARRAY_PLATFORM_AMD
constexpr bool handles_have_events = false;
#else
constexpr bool handles_have_events = true;
#endif

std::string text_of(void const* address) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

// An allocation of another process that is open in this one.
struct opened_allocation {
  base::process_identity owner;
  std::uint64_t address;  // in the owner
  std::uint64_t number;
  ipc_native_handle handle;
  int device;
  std::byte* data;
  std::size_t bytes;
  std::size_t count;        // of arrays; 0 if HIP could not close it, so that it is still open
  bool is_closing = false;  // HIP closes it at present, without the mutex

  // Two handles of one allocation may differ if the runtime numbers allocations.
  bool is_of(ipc_array_data const& wanted, base::process_identity const& process) const noexcept {
    return owner == process && address == wanted.address && number == wanted.number &&
           (number != 0 || handle == wanted.memory);
  }
};

// The allocations that are open. The mutex is held while HIP opens one, so that no thread opens an
// allocation twice, but not while HIP closes one, which may wait for work of other devices.
struct opened_allocations {
  std::mutex mutex;
  std::condition_variable close_ended;
  std::list<opened_allocation> list;
};

// Never destroyed: static arrays are destroyed after every other static object.
opened_allocations& opened() {
  static base::no_destructor<opened_allocations> instance;
  return *instance;
}

// Returns the process that has allocated the memory at an address, if it is not this one.
std::optional<std::int64_t> owner_of(void const* address) {
  std::lock_guard const lock(opened().mutex);
  auto const value = reinterpret_cast<std::uintptr_t>(address);
  for (opened_allocation const& item : opened().list) {
    // HIP may have given the addresses of a closed allocation to memory of this process.
    if (item.is_closing) continue;
    if (value - reinterpret_cast<std::uintptr_t>(item.data) < item.bytes) return item.owner.pid;
  }
  return std::nullopt;
}

// The text about a failed call of HIP.
std::string describe(char const* call, hipError_t code) {
  return std::string(call) + " failed: " + hipGetErrorString(code) + " (" +
         std::to_string(static_cast<int>(code)) + ")";
}

[[noreturn]] void throw_open_error(ipc_array_data const& data, hipError_t code) {
  runtime::check_running(data.origin);
  constexpr int already_mapped = 208;
  std::string const problem = "cannot open " + std::to_string(data.bytes) + " bytes of process " +
                              std::to_string(data.origin.pid) + ": " +
                              describe("hipIpcOpenMemHandle", code);
  if (static_cast<int>(code) == already_mapped) {
    throw ipc_error(std::make_error_code(std::errc::device_or_resource_busy),
                    problem + "; other code of this process has opened the memory: close it there",
                    "hipIpcOpenMemHandle");
  }
  throw ipc_error(
      std::error_code(static_cast<int>(code), hip_category()),
      problem + "; the exporting process must keep the array, and belong to the same user",
      "hipIpcOpenMemHandle");
}

// Opens the allocation of a handle, or counts one more array if it is open. Blocks while HIP opens
// another one or closes this one. Throws ipc_error, roc::error.
opened_allocation& open_allocation(ipc_array_data const& data, int device) {
  platform::refuse_in_host_function();
  base::process_identity const owner = runtime::identity_of(data.origin);
  std::unique_lock lock(opened().mutex);
  auto& list = opened().list;
  auto const find = [&] {
    return std::find_if(list.begin(), list.end(),
                        [&](opened_allocation const& item) { return item.is_of(data, owner); });
  };
  auto found = find();
  while (found != list.end() && found->is_closing) {
    opened().close_ended.wait(lock);
    found = find();
  }
  if (found != list.end()) {
    ++found->count;
    return *found;
  }
  list.push_back({owner, data.address, data.number, data.memory, device, nullptr,
                  static_cast<std::size_t>(data.bytes), 1});
  void* address = nullptr;
  try {
    runtime::on_device const guard(device);
    hipError_t const result = ROCARRAY_HIP_CODE(
        hipIpcOpenMemHandle, &address, runtime::native_handle<hipIpcMemHandle_t>(data.memory),
        hipIpcMemLazyEnablePeerAccess);
    if (result != hipSuccess) throw_open_error(data, result);
  } catch (...) {
    list.pop_back();
    throw;
  }
  list.back().data = static_cast<std::byte*>(address);
  return list.back();
}

// Ends the use by one array, and closes the allocation after the last one. If HIP cannot close it,
// logs the error, and the allocation stays in the list for a later opening.
void close_allocation(opened_allocation& closed) noexcept {
  std::unique_lock lock(opened().mutex);
  if (--closed.count != 0) return;
  closed.is_closing = true;
  lock.unlock();
  bool const is_closed = platform::retry_then_log([&] {
    runtime::on_device const guard(closed.device);
    ROCARRAY_HIP(hipIpcCloseMemHandle, static_cast<void*>(closed.data));
  });
  lock.lock();
  closed.is_closing = false;
  if (is_closed) {
    opened().list.remove_if([&](opened_allocation const& item) { return &item == &closed; });
  }
  opened().close_ended.notify_all();
}

// Ends the use of an allocation by an array that is being opened, unless it is released.
class opening_scope {
 public:
  explicit opening_scope(opened_allocation& allocation) noexcept : allocation_(&allocation) {}
  ~opening_scope() {
    if (allocation_ != nullptr) close_allocation(*allocation_);
  }
  opening_scope(opening_scope const&) = delete;
  opening_scope& operator=(opening_scope const&) = delete;

  opened_allocation& get() const noexcept { return *allocation_; }
  void release() noexcept { allocation_ = nullptr; }

 private:
  opened_allocation* allocation_;
};

// The events of exported memory, for processes that open it later. There is one for each allocation
// of the library, and for each allocation of HIP that is not the library's. A new record comes
// after the work of the one that it replaces, also on another stream.
class exported_events {
 public:
  static exported_events& instance() {
    static base::no_destructor<exported_events> instance;
    return *instance;
  }

  // Records the event of an allocation on a stream of the current device, and returns its handle.
  // `record` is null for memory that is not the library's. Throws roc::error, std::bad_alloc.
  ipc_native_handle record(memory::allocation_record* record, std::uintptr_t address,
                           runtime::stream_id stream) {
    auto const token = record == nullptr ? nullptr : memory::watch_allocation(*record);
    std::lock_guard const lock(mutex_);
    // Nobody may use memory that has been freed.
    std::erase_if(events_, [](item const& old) { return old.token != nullptr && !*old.token; });
    auto found = std::find_if(events_.begin(), events_.end(), [&](item const& old) {
      return old.token == token && old.address == address && old.stream.device() == stream.device();
    });
    if (found == events_.end()) {
      events_.push_back({token, address, stream, ipc_event()});
      found = std::prev(events_.end());
    } else if (found->stream != stream || stream.is_foreign()) {
      // The streams of several threads may share the identity of a foreign stream.
      runtime::wait(stream, found->event);
    }
    runtime::record(found->event, stream);
    found->stream = stream;
    hipIpcEventHandle_t native;
    auto const event = reinterpret_cast<hipEvent_t>(found->event.handle());
    ROCARRAY_HIP(hipIpcGetEventHandle, &native, event);
    return runtime::bytes_of(native);
  }

 private:
  struct item {
    memory::allocation_token token;  // null for memory that is not the library's
    std::uintptr_t address;          // of the allocation of HIP
    runtime::stream_id stream;       // of the last record
    ipc_event event;
  };

  std::mutex mutex_;
  std::vector<item> events_;
};

// Returns what HIP knows about memory that is to be exported. Throws ipc_error for memory that
// cannot be exported.
platform::pointer_information check_exportable(void const* first) {
  auto const reject = [&](std::errc code, std::string const& problem) {
    throw ipc_error(code, "memory at " + text_of(first) + " " + problem);
  };
  auto const found = platform::query_pointer(first);
  switch (found.kind) {
    case memory_kind::device: break;
    case memory_kind::managed:
      reject(std::errc::invalid_argument,
             "is managed memory, which other processes cannot open; copy it to a device_array");
      break;
    case memory_kind::host:
      reject(std::errc::invalid_argument,
             "is pinned or registered host memory; use a device_array, or shared memory of the "
             "system for host arrays");
      break;
    default:
      reject(std::errc::invalid_argument,
             "is no memory of a device: HIP does not know it; use a device_array");
      break;
  }
  if (auto const owner = owner_of(first)) {
    reject(std::errc::invalid_argument, "was opened from process " + std::to_string(*owner) +
                                            "; forward the handle that this process received");
  }
  return found;
}

bool is_from_driver_pool(memory::allocation_record const* record) noexcept {
  if (record == nullptr) return false;
  if (record->pool == nullptr) return record->is_from_driver_pool;
  auto const* const block = static_cast<memory::pool_block const*>(record);
  return block->span->slab->source().is_from_driver_pool;
}

// Returns true if the code means that HIP can share no memory of this kind.
bool means_unshareable(hipError_t code) noexcept {
  return code == hipErrorInvalidValue || code == hipErrorInvalidDevicePointer ||
         code == hipErrorNotSupported;
}

[[noreturn]] void throw_driver_pool(void const* first, std::string const& detail) {
  throw ipc_error(std::errc::not_supported,
                  "memory at " + text_of(first) +
                      " is from a memory pool of the driver (hipMallocAsync), or the driver cannot "
                      "share it" +
                      detail + "; allocate the array from a pool_resource or hip_memory_resource");
}

// Returns the bytes of a region whose first element is at `first`. Throws shape_error if they are
// more than an address can have.
base::byte_range bytes_of(std::uintptr_t first, ipc_region const& region,
                          std::size_t element_bytes) {
  auto const size = static_cast<std::ptrdiff_t>(element_bytes);
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = 0;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool const overflows = __builtin_mul_overflow(region.low, size, &low) ||
                         __builtin_mul_overflow(region.high, size, &high) ||
                         __builtin_add_overflow(first, low, &begin) ||
                         __builtin_add_overflow(first, high, &end);
  if (overflows) throw shape_error("the region exceeds the address space; use smaller strides");
  return {begin, end};
}

std::string name_of(ipc_element const& element) {
  if (element.name == 0) return to_string(element.type);
  return "records of " + std::to_string(element.bytes) + " bytes";
}

void check_stream(stream_ref stream, int device) {
  static_cast<void>(runtime::handle(stream));
  if (runtime::device_of(stream, device) == device) return;
  throw error(std::make_error_code(std::errc::invalid_argument),
              "memory of device " + std::to_string(device) + " used with a stream of device " +
                  std::to_string(stream.device_ordinal()) + "; use a stream of the same device");
}

// Returns the stream, or the default stream of `device`.
stream_ref on_device_of(stream_ref stream, int device) noexcept {
  if (stream.device_ordinal() >= 0) return stream;
  return {stream.handle(), device, stream.kind()};
}

}  // namespace

std::uint64_t ipc_name_hash(char const* name) noexcept {
  std::uint64_t const hash = runtime::checksum_of(name, std::strlen(name));
  return hash != 0 ? hash : 1;  // 0 means an arithmetic type
}

void export_ipc_array(ipc_array_data& data, ipc_region const& region, int device,
                      stream_ref const* stream, ipc_exposure exposure) {
  if (stream != nullptr) {
    runtime::refuse_captured(*stream, "the export of memory to other processes");
  }
  if (region.size == 0) {
    data.origin = runtime::origin_of(runtime::checked_device(device));
    data.checksum = runtime::checksum_of(data);
    return;
  }
  auto const found = check_exportable(region.first);
  if (stream != nullptr) check_stream(*stream, found.device);
  memory::allocation_record* const record = memory::find_record(region.first);
  if (is_from_driver_pool(record)) throw_driver_pool(region.first, "");
  auto const first = reinterpret_cast<std::uintptr_t>(region.first);
  auto const block = platform::query_block(first);
  if (!block) throw_driver_pool(region.first, ": HIP does not tell its allocation");
  base::byte_range const bytes = bytes_of(first, region, data.element.bytes);
  if (bytes.begin < block->begin || bytes.end > block->end) {
    throw shape_error("a region of " + std::to_string(bytes.bytes()) + " bytes at " +
                      text_of(region.first) + " exceeds its allocation of " +
                      std::to_string(block->bytes()) + " bytes");
  }
  if (exposure == ipc_exposure::array_only && block->bytes() != bytes.bytes()) {
    throw ipc_error(std::errc::operation_not_permitted,
                    "the array has " + std::to_string(bytes.bytes()) +
                        " bytes, and other processes would also see the other " +
                        std::to_string(block->bytes() - bytes.bytes()) +
                        " bytes of its allocation; allocate the array from a hip_memory_resource, "
                        "or allow it with ipc_exposure::allocation");
  }
  runtime::on_device const guard(found.device);
  hipIpcMemHandle_t native;
  hipError_t const result =
      ROCARRAY_HIP_CODE(hipIpcGetMemHandle, &native, reinterpret_cast<void*>(block->begin));
  if (means_unshareable(result)) {
    throw_driver_pool(region.first, ": " + describe("hipIpcGetMemHandle", result));
  }
  if (result != hipSuccess) {
    platform::detail::fail(platform::call::call_hipIpcGetMemHandle, result,
                           std::source_location::current());
  }
  data.origin = runtime::origin_of(found.device);
  data.memory = runtime::bytes_of(native);
  data.address = block->begin;
  data.bytes = block->bytes();
  data.offset = first - block->begin;
  data.number = platform::query_allocation_number(block->begin);
  if (stream == nullptr) {
    roc::device(found.device).synchronize();
  } else {
    stream_ref const ordered = on_device_of(*stream, found.device);
    memory::device_use const use(ordered, found.device, region.first);
    if (handles_have_events) {
      data.event = exported_events::instance().record(record, block->begin,
                                                      runtime::stream_id_of(ordered, found.device));
      data.has_event = 1;
    } else {
      ordered.synchronize();
    }
  }
  data.checksum = runtime::checksum_of(data);
}

void check_ipc_array(ipc_array_data const& data, ipc_element const& element, std::size_t rank) {
  runtime::check_checksum(data);
  if (data.element != element) {
    std::string const same_size =
        data.element.name != 0 && element.name != 0 && data.element.bytes == element.bytes
            ? " of another type"
            : "";
    throw ipc_error(std::errc::invalid_argument,
                    "the handle is of an array of " + name_of(data.element) + ", opened as " +
                        name_of(element) + same_size + "; open it with the exported type");
  }
  if (data.rank != rank) {
    throw shape_error("the handle is of an array of rank " + std::to_string(data.rank) +
                      ", opened with rank " + std::to_string(rank) +
                      "; open it with the exported rank");
  }
}

opened_ipc_memory open_ipc_memory(ipc_array_data const& data, ipc_region const& region,
                                  stream_ref const* stream) {
  if (stream != nullptr) {
    runtime::refuse_captured(*stream, "the opening of memory of another process");
  }
  int const device = runtime::device_of_origin(data.origin);
  if (stream != nullptr) check_stream(*stream, device);
  base::byte_range const offsets =
      bytes_of(static_cast<std::uintptr_t>(data.offset), region, data.element.bytes);
  if (offsets.end > data.bytes || offsets.begin > offsets.end) runtime::throw_damaged_handle();

  runtime::on_device const guard(device);
  // Opens the event first, because it is cheap to close if opening the memory fails.
  std::optional<ipc_event> done;
  if (data.has_event != 0) {
    ipc_event_data event{0, data.origin, data.event};
    event.checksum = runtime::checksum_of(event);
    done.emplace(ipc_access::event_handle(event));
  }
  opening_scope scope(open_allocation(data, device));
  std::byte* const begin = scope.get().data + offsets.begin;
  auto const close = [&allocation = scope.get()](void*) { close_allocation(allocation); };
  opened_ipc_memory result;
  result.first_offset = static_cast<std::size_t>(data.offset) - offsets.begin;
  if (stream == nullptr) {
    if (done) {
      done->synchronize();
      // An event counts as reached if its process has ended before the work that it follows.
      runtime::check_running(data.origin);
    }
    result.storage = device_storage::adopt(begin, offsets.bytes(), close);
    scope.release();
    return result;
  }
  stream_ref const ordered = on_device_of(*stream, device);
  if (done) {
    // If an array of these bytes is open, its record is used, which does not know this event.
    ordered.wait(*done);
    // The use of the memory on any stream comes after the work of this one.
    roc::stream const exporter(non_blocking);
    exporter.wait(*done);
    result.storage = device_storage::adopt_after(exporter, begin, offsets.bytes(), close);
  } else {
    result.storage = device_storage::adopt(begin, offsets.bytes(), close);
  }
  scope.release();
  result.stream = *stream;
  record_stream(begin, device, ordered);
  return result;
}

}  // namespace roc::detail
