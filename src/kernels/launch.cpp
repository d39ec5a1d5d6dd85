// SPDX-License-Identifier: MIT
#include <roc/detail/launch.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include <roc/error.hpp>

#include "base/format_bytes.hpp"
#include "base/function_cache.hpp"
#include "base/no_destructor.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "memory/device/allocation_watch.hpp"
#include "memory/device/graph_memory.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_capture.hpp"
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
launch_limits device_limits(int device) {
  static base::no_destructor<limits_of_devices> cache;
  {
    std::lock_guard const lock((*cache).mutex);
    auto const found = (*cache).limits.find(device);
    if (found != (*cache).limits.end()) return found->second;
  }
  launch_limits const result = query_limits(device);
  std::lock_guard const lock((*cache).mutex);
  (*cache).limits.emplace(device, result);
  return result;
}

// A kernel and a device.
using kernel_on_device = std::pair<void const*, int>;

// Calls f(), which returns the value of a hipError_t, while `device` is current. Throws roc::error.
template <class F>
void call_on_device(int device, F f) {
  int const previous = runtime::current_device();
  if (device != previous) ROCARRAY_HIP(hipSetDevice, device);
  int const result = f();
  if (device != previous) runtime::restore_current_device(previous);
  platform::check_launch("kernel", static_cast<hipError_t>(result));
}

// Returns the limits of a kernel, which the first call queries. Throws roc::error.
kernel_limits limits_of_kernel(launched_kernel const& kernel, int device) {
  static base::no_destructor<base::function_cache<kernel_on_device, kernel_limits>> cache;
  return (*cache).get({kernel.function, device}, [&] {
    kernel_limits result;
    call_on_device(device, [&] { return kernel.query(kernel.function, &result); });
    return result;
  });
}

// Allows a kernel more shared memory than the 48 KiB that every kernel can have. Always the
// device's maximum: a concurrent launch that needs less must not lower the limit.
void allow_all_shared_memory(launched_kernel const& kernel, int device, std::size_t dynamic_bytes) {
  static base::no_destructor<base::function_cache<kernel_on_device, bool>> cache;
  (*cache).get({kernel.function, device}, [&] {
    call_on_device(device,
                   [&] { return kernel.allow_dynamic_bytes(kernel.function, dynamic_bytes); });
    return true;
  });
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

constexpr std::ptrdiff_t max_index = std::numeric_limits<std::uint32_t>::max();

// AMD's runtime refuses more threads along an axis than their numbers of 32 bits can count.
bool has_too_many_threads(std::array<std::ptrdiff_t, 3> const& grid,
                          std::array<std::ptrdiff_t, 3> const& block) {
#if ROCARRAY_PLATFORM_AMD
  for (std::size_t i = 0; i < 3; ++i) {
    if (grid[i] > max_index / block[i]) return true;
  }
#else
  static_cast<void>(grid), static_cast<void>(block);
#endif
  return false;
}

bool is_empty(std::array<std::ptrdiff_t, 3> const& extent) {
  return extent[0] == 0 || extent[1] == 0 || extent[2] == 0;
}

// Calls f(address) for every word of the arguments, which may be an address: views hold those of
// their arrays. A word that only looks like an address makes an array wait longer than needed; in a
// capture, it makes the graph depend on that array. Nothing keeps that array alive, and so the
// records of the addresses are visited only.
template <class F>
void for_each_word(void const* arguments, std::size_t bytes, F f) {
  auto const* const begin = static_cast<std::byte const*>(arguments);
  for (std::size_t i = 0; i + sizeof(void*) <= bytes; i += sizeof(void*)) {
    void const* address = nullptr;
    std::memcpy(&address, begin + i, sizeof address);
    if (address != nullptr) f(address);
  }
}

// Adds the allocation that contains `address`, if there is one. Throws std::bad_alloc.
void add_to_graph(memory::graph_memory& graph, void const* address) {
  memory::allocation_record* watched = nullptr;
  memory::allocation_token token;
  auto const watch = [&](memory::allocation_visit&, memory::allocation_record& record) {
    token = memory::watch_allocation(record);
    watched = &record;
  };
  memory::visit_record(address, watch);
  // After the visit, because launches of the graph lock in the other order.
  if (watched != nullptr) graph.add_device(watched, address, std::move(token));
}

// Records events after the uses by a foreign stream, whose destruction the library does not see. To
// be called also after an error. Throws roc::error.
void finish_uses(stream_ref stream, int device, void const* arguments, std::size_t bytes) {
  auto const id = runtime::stream_id_of(stream, device);
  if (!id.is_foreign() || runtime::belongs_to_capture(stream)) return;
  for_each_word(arguments, bytes, [&](void const* address) {
    auto const finish = [&](memory::allocation_visit& visit, memory::allocation_record& record) {
      if (record.allocation_stream != id) visit.finish_use(id);
    };
    memory::visit_record(address, finish);
  });
}

}  // namespace

bool check_launch(stream_ref stream, launched_kernel const& kernel,
                  std::array<std::ptrdiff_t, 3> const& grid,
                  std::array<std::ptrdiff_t, 3> const& block, std::size_t dynamic_bytes) {
  static_cast<void>(runtime::handle(stream));
  int const device = runtime::device_of(stream, runtime::current_device());
  launch_limits const limits = device_limits(device);
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
  if (has_too_many_threads(grid, block)) {
    throw shape_error("grid " + to_string(grid) + " of blocks " + to_string(block) +
                      " is not possible: AMD's runtime allows " + std::to_string(max_index) +
                      " threads along an axis; use fewer blocks, and a loop in the kernel");
  }
  kernel_limits const of_kernel = limits_of_kernel(kernel, device);
  if (threads > of_kernel.threads) {
    throw shape_error("block " + to_string(block) + " has " + std::to_string(threads) +
                      " threads: the kernel allows " + std::to_string(of_kernel.threads) +
                      " on device " + std::to_string(device) +
                      ", by its registers or __launch_bounds__; use smaller blocks");
  }
  std::size_t const static_bytes = of_kernel.static_bytes;
  if (dynamic_bytes <= limits.shared_bytes && static_bytes <= limits.shared_bytes - dynamic_bytes) {
    constexpr std::size_t always_allowed = 48 * 1024;
    if (kernel.allow_dynamic_bytes != nullptr && static_bytes + dynamic_bytes > always_allowed) {
      allow_all_shared_memory(kernel, device, limits.shared_bytes - static_bytes);
    }
    return !is_empty(grid);
  }
  std::string const static_part =
      static_bytes == 0 ? "" : "dynamic and " + base::format_bytes(static_bytes) + " of static ";
  throw shape_error(base::format_bytes(dynamic_bytes) + " of " + static_part +
                    "shared memory for a block" + allows() +
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
  runtime::refuse_uncaptured_call(&stream);
  memory::graph_memory* const graph = memory::captured_memory_of(stream);
  try {
    for_each_word(arguments, bytes, [&](void const* address) {
      if (graph != nullptr) return add_to_graph(*graph, address);
      auto const begin = [&](memory::allocation_visit& visit, memory::allocation_record&) {
        static_cast<void>(visit.begin_use(id));
      };
      memory::visit_record(address, begin);
    });
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
  if (result != hipSuccess) {
    is_finished_ = platform::log_if_throws(finish);
    // Earlier parts of a box with a long axis may be running, and the caller frees its memory next.
    runtime::synchronize_quietly(stream_);
  }
  platform::check_launch(kernel, result);
  // If this fails, the kernel may be running: enqueue_and_record waits for it, because the caller
  // frees its memory next.
  runtime::enqueue_and_record(stream_, finish);
  is_finished_ = true;
}

}  // namespace roc::detail
