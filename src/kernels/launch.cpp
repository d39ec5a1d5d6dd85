// SPDX-License-Identifier: MIT
#include <roc/detail/launch.hpp>

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <system_error>

#include <roc/error.hpp>

#include "base/format_bytes.hpp"
#include "base/no_destructor.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"

namespace roc::detail {

int launch_host_kernel(host_kernel kernel, std::size_t count, native_stream* stream) {
#if ROCARRAY_PLATFORM_HOST
  return host_hip::launch_host_kernel(reinterpret_cast<hipStream_t>(stream), count, kernel.run,
                                      kernel.functor, kernel.destroy);
#else
  static_cast<void>(count);
  static_cast<void>(stream);
  kernel.destroy(kernel.functor);
  return hipErrorNotSupported;
#endif
}

namespace {

// What a device allows a launch.
struct launch_limits {
  std::array<std::ptrdiff_t, 3> grid;
  std::array<std::ptrdiff_t, 3> block;
  std::ptrdiff_t threads;  // of a block
  std::size_t shared_bytes;
};

struct limits_of_devices {
  std::mutex mutex;
  std::map<int, launch_limits> limits;
};

launch_limits query_limits(int device) {
  auto const query = [=](hipDeviceAttribute_t attribute) {
    int value = 0;
    ROCARRAY_HIP(hipDeviceGetAttribute, &value, attribute, device);
    return std::ptrdiff_t{value};
  };
  int shared_bytes = 0;
  platform::check_launch("hipDeviceGetAttribute",
                         native_detail::shared_memory_limit(&shared_bytes, device));
  return {{query(hipDeviceAttributeMaxGridDimX), query(hipDeviceAttributeMaxGridDimY),
           query(hipDeviceAttributeMaxGridDimZ)},
          {query(hipDeviceAttributeMaxBlockDimX), query(hipDeviceAttributeMaxBlockDimY),
           query(hipDeviceAttributeMaxBlockDimZ)},
          query(hipDeviceAttributeMaxThreadsPerBlock),
          static_cast<std::size_t>(shared_bytes)};
}

// Returns the limits of a device, which the first call queries.
launch_limits limits_of(int device) {
  static base::no_destructor<limits_of_devices> known;
  {
    std::lock_guard const lock((*known).mutex);
    auto const found = (*known).limits.find(device);
    if (found != (*known).limits.end()) return found->second;
  }
  launch_limits const result = query_limits(device);
  std::lock_guard const lock((*known).mutex);
  (*known).limits.emplace(device, result);
  return result;
}

std::string to_string(std::array<std::ptrdiff_t, 3> const& extent) {
  return "(" + std::to_string(extent[0]) + ", " + std::to_string(extent[1]) + ", " +
         std::to_string(extent[2]) + ")";
}

// Returns true if an extent is negative, or greater than its limit.
bool exceeds(std::array<std::ptrdiff_t, 3> const& extent,
             std::array<std::ptrdiff_t, 3> const& limit) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (extent[i] < 0 || extent[i] > limit[i]) return true;
  }
  return false;
}

bool is_empty(std::array<std::ptrdiff_t, 3> const& extent) {
  return extent[0] == 0 || extent[1] == 0 || extent[2] == 0;
}

// Prepares a kernel for its launch on `device`, and returns the static shared memory of a block.
// Throws roc::error.
std::size_t prepare_kernel(launched_kernel const& kernel, int device, int current_device,
                           std::size_t dynamic_bytes, std::size_t limit) {
  std::size_t static_bytes = 0;
  if (device != current_device) ROCARRAY_HIP(hipSetDevice, device);
  int const result = kernel.prepare(kernel.function, dynamic_bytes, limit, &static_bytes);
  if (device != current_device) runtime::restore_current_device(current_device);
  platform::check_launch("kernel", static_cast<hipError_t>(result));
  return static_bytes;
}

// Calls f(record) with the allocation record of every address among the bytes of the arguments:
// views hold the addresses of their arrays. Bytes that only look like an address make an array wait
// longer than needed, which is harmless.
template <class F>
void for_each_record(void const* arguments, std::size_t bytes, F f) {
  auto const* const begin = static_cast<std::byte const*>(arguments);
  for (std::size_t i = 0; i + sizeof(void*) <= bytes; i += sizeof(void*)) {
    void const* address = nullptr;
    std::memcpy(&address, begin + i, sizeof address);
    if (auto* const record = memory::find_record(address)) f(*record);
  }
}

// Records events after the uses by a foreign stream, which may be destroyed without notice. To be
// called also after an error. Throws roc::error.
void finish_uses(stream_ref stream, int device, void const* arguments, std::size_t bytes) {
  auto const id = runtime::stream_id_of(stream, device);
  if (!id.is_foreign()) return;
  for_each_record(arguments, bytes, [&](memory::allocation_record& record) {
    if (record.allocation_stream != id) record.finish_use(id);
  });
}

}  // namespace

bool check_launch(stream_ref stream, launched_kernel const& kernel,
                  std::array<std::ptrdiff_t, 3> const& grid,
                  std::array<std::ptrdiff_t, 3> const& block, std::size_t dynamic_bytes) {
  static_cast<void>(runtime::handle(stream));
  int const current = runtime::current_device();
  int const device = runtime::device_of(stream, current);
  launch_limits const limits = limits_of(device);
  auto const allows = [=] { return ": device " + std::to_string(device) + " allows "; };
  if (is_empty(block)) {
    throw shape_error("block " + to_string(block) + " has no threads; use at least (1, 1, 1)");
  }
  if (exceeds(block, limits.block)) {
    throw shape_error("block " + to_string(block) + " is not possible" + allows() + "1 to " +
                      to_string(limits.block) + "; use another block");
  }
  std::ptrdiff_t const threads = block[0] * block[1] * block[2];
  if (threads > limits.threads) {
    throw shape_error("block " + to_string(block) + " has " + std::to_string(threads) + " threads" +
                      allows() + std::to_string(limits.threads) + "; use smaller blocks");
  }
  if (exceeds(grid, limits.grid)) {
    throw shape_error("grid " + to_string(grid) + " is not possible" + allows() + "0 to " +
                      to_string(limits.grid) + "; use fewer blocks, and a loop in the kernel");
  }
  std::size_t static_bytes = 0;
  if (dynamic_bytes <= limits.shared_bytes) {
    static_bytes = prepare_kernel(kernel, device, current, dynamic_bytes, limits.shared_bytes);
    if (static_bytes <= limits.shared_bytes - dynamic_bytes) return !is_empty(grid);
  }
  std::string const part =
      static_bytes == 0 ? "" : " (" + base::format_bytes(static_bytes) + " of it static)";
  throw shape_error(base::format_bytes(static_bytes + dynamic_bytes) +
                    " of shared memory for a block" + part + allows() +
                    base::format_bytes(limits.shared_bytes) + "; use less of it");
}

void check_bound_stream(stream_ref stream, stream_ref bound, std::size_t argument) {
  if (bound.handle() == stream.handle()) return;
  throw error(std::make_error_code(std::errc::invalid_argument),
              "argument " + std::to_string(argument) +
                  " of the kernel is bound to another stream than that of the launch; launch on "
                  "its stream, or pass its view()");
}

launch_scope::launch_scope(stream_ref stream, void const* arguments, std::size_t bytes)
    : stream_(stream),
      previous_device_(runtime::current_device()),
      arguments_(arguments),
      bytes_(bytes) {
  static_cast<void>(runtime::handle(stream));
  int const device = runtime::device_of(stream, previous_device_);
  auto const id = runtime::stream_id_of(stream, device);
  try {
    for_each_record(arguments, bytes,
                    [&](memory::allocation_record& record) { record.begin_use(id); });
    if (device != previous_device_) ROCARRAY_HIP(hipSetDevice, device);
  } catch (...) {
    platform::log_if_throws([&] { finish_uses(stream, device, arguments, bytes); });
    throw;
  }
}

launch_scope::~launch_scope() {
  if (!is_finished_) {
    platform::log_if_throws([&] {
      finish_uses(stream_, runtime::device_of(stream_, previous_device_), arguments_, bytes_);
    });
  }
  if (runtime::device_of(stream_, previous_device_) != previous_device_)
    runtime::restore_current_device(previous_device_);
}

void launch_scope::check(int code, char const* kernel) {
  auto const finish = [&] {
    finish_uses(stream_, runtime::device_of(stream_, previous_device_), arguments_, bytes_);
  };
  auto const result = static_cast<hipError_t>(code);
  if (result != hipSuccess) is_finished_ = platform::log_if_throws(finish);
  platform::check_launch(kernel, result);
  // If this fails, the kernel may be running: enqueue_and_record waits for it, because the caller
  // frees its memory next.
  runtime::enqueue_and_record(stream_, finish);
  is_finished_ = true;
}

}  // namespace roc::detail
