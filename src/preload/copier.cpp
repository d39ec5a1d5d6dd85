// SPDX-License-Identifier: MIT
#include "preload/copier.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <optional>
#include <source_location>
#include <system_error>

#include <roc/detail/strided_region.hpp>
#include <roc/error.hpp>

#include "base/byte_range.hpp"
#include "base/log.hpp"
#include "base/options.hpp"
#include "copy/operation.hpp"
#include "copy/plan.hpp"
#include "copy/staging/parallel_staging.hpp"
#include "copy/staging/staged_copy.hpp"
#include "copy/staging/thread_pool.hpp"
#include "kernels/strided_copy.hpp"
#include "platform/call.hpp"
#include "platform/pointer.hpp"
#include "preload/primary_context.hpp"
#include "runtime/current_device.hpp"

#if ROCARRAY_PLATFORM_AMD

namespace {
roc::preload::vendor_functions vendor;
}

// The linker's option --wrap makes the library call these functions. The vendor's would be replaced
// by those of librocarray-preload.so, which the program's search order finds first.
extern "C" {
hipError_t __wrap_hipMemcpy(void* to, void const* from, std::size_t bytes, hipMemcpyKind kind) {
  return reinterpret_cast<decltype(&__wrap_hipMemcpy)>(vendor.memcpy)(to, from, bytes, kind);
}
hipError_t __wrap_hipMemcpyAsync(void* to, void const* from, std::size_t bytes, hipMemcpyKind kind,
                                 hipStream_t stream) {
  return reinterpret_cast<decltype(&__wrap_hipMemcpyAsync)>(vendor.memcpy_async)(to, from, bytes,
                                                                                 kind, stream);
}
hipError_t __wrap_hipMemcpy2DAsync(void* to, std::size_t to_pitch, void const* from,
                                   std::size_t from_pitch, std::size_t width, std::size_t height,
                                   hipMemcpyKind kind, hipStream_t stream) {
  return reinterpret_cast<decltype(&__wrap_hipMemcpy2DAsync)>(vendor.memcpy_2d_async)(
      to, to_pitch, from, from_pitch, width, height, kind, stream);
}
hipError_t __wrap_hipMemcpy3DAsync(hipMemcpy3DParms const* parameters, hipStream_t stream) {
  return reinterpret_cast<decltype(&__wrap_hipMemcpy3DAsync)>(vendor.memcpy_3d_async)(parameters,
                                                                                      stream);
}
}

#endif

namespace roc::preload {
namespace {

using native_detail::memory_kind;

struct located_memory {
  memory_kind kind;
  int device;
};

// Returns the kind of memory at an address, or nullopt if the runtime cannot tell.
std::optional<located_memory> locate(void const* address) {
  // HIP before version 6, and HIP's headers for NVIDIA, report memory that the runtime does not
  // know as an error.
#if ROCARRAY_PLATFORM_AMD
  constexpr bool has_error_for_unknown = HIP_VERSION < 60000000;
#else
  constexpr bool has_error_for_unknown = true;
#endif
  hipPointerAttribute_t attributes{};
  hipError_t const result = ROCARRAY_HIP_CODE(hipPointerGetAttributes, &attributes, address);
  if (has_error_for_unknown && result == hipErrorInvalidValue) {
    return located_memory{memory_kind::unregistered, -1};
  }
  if (result != hipSuccess) return std::nullopt;
  return located_memory{native_detail::kind_of(attributes), attributes.device};
}

// Returns true if one allocation contains all bytes. Returns false if the runtime cannot tell.
bool is_in_one_allocation(base::byte_range range) {
#if ROCARRAY_PLATFORM_AMD
  auto const allocation = platform::query_block(range.begin);
#else
  // The program's copy uses the current context too.
  auto const allocation = find_driver_allocation(range.begin);
#endif
  return allocation && allocation->contains(range);
}

// One side of a copy: the bytes that it spans.
struct operand {
  std::byte* begin;
  std::size_t pitch;
  std::size_t slice;
  std::size_t span;  // from the first to the last byte of the copy

  operand(void const* data, std::size_t row_pitch, std::size_t slice_pitch,
          copy_request const& request) noexcept
      : begin(static_cast<std::byte*>(const_cast<void*>(data))),
        pitch(row_pitch),
        slice(slice_pitch),
        span((request.depth - 1) * slice_pitch + (request.height - 1) * row_pitch + request.width) {
  }

  // Returns the memory if both ends are in one allocation, or are unknown to the runtime. Each
  // chunk of the copy is a call of its own, and the runtime checks it alone: it would write to a
  // neighbouring allocation where the copy of the whole fails. Between two unknown ends, memory may
  // be pinned: the CPU reads and writes it as well.
  std::optional<located_memory> memory() const {
    auto const first = locate(begin);
    auto const last = locate(begin + (span - 1));
    if (!first || !last || first->kind != last->kind || first->device != last->device) {
      return std::nullopt;
    }
    bool const is_known = first->kind != memory_kind::unregistered;
    if (is_known && !is_in_one_allocation(base::byte_range::of(begin, span))) return std::nullopt;
    return first;
  }

  // Returns true if all pages are mapped. The CPU must not access others: the vendor's function can
  // return an error where the CPU would fault. Mapped pages that the process must not access are
  // not detected. Since Linux 2.6.19, the call has no other effect.
  bool is_mapped() const noexcept {
    static auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    auto const address = reinterpret_cast<std::uintptr_t>(begin);
    std::uintptr_t const first_page = address / page * page;
    return msync(reinterpret_cast<void*>(first_page), address + span - first_page, MS_ASYNC) == 0;
  }
};

struct recorded_event {
  hipEvent_t handle = nullptr;

  recorded_event() = default;
  ~recorded_event() {
    if (handle != nullptr) ROCARRAY_HIP_QUIET(hipEventDestroy, handle);
  }
  recorded_event(recorded_event const&) = delete;
  recorded_event& operator=(recorded_event const&) = delete;
};

// Creates an event on the current device and records it on the stream: the order of the streams is
// the vendor's. Returns false if the stream is not one of that device. Throws roc::error.
bool record(hipStream_t stream, recorded_event& event) {
  ROCARRAY_HIP(hipEventCreateWithFlags, &event.handle, hipEventDisableTiming);
  hipError_t const result = ROCARRAY_HIP_CODE(hipEventRecord, event.handle, stream);
  if (result == hipErrorInvalidHandle) return false;
  if (result != hipSuccess) {
    platform::detail::fail("hipEventRecord", result, std::source_location::current());
  }
  return true;
}

// Blocks until all work is done that a copy on the stream comes after. Returns what record returns.
// Throws roc::error.
bool wait_for_earlier_work(hipStream_t stream) {
  recorded_event reached;
  if (!record(stream, reached)) return false;
  ROCARRAY_HIP(hipEventSynchronize, reached.handle);
  return true;
}

// A copy that can be served.
struct candidate {
  direction copied;
  bool is_pinned;  // the host memory
};

// Finds out whether the copy is one between host memory and the current device, or within that
// device. Sets `found`, or returns why the copy must be passed on.
outcome examine(copy_request const& request, operand const& source, operand const& destination,
                std::optional<candidate>& found) {
  auto const asked = static_cast<direction>(request.kind);
  bool const asks_for_host = asked == direction::to_device || asked == direction::to_host;
  // The vendor's asynchronous copy of pinned memory does not block.
  bool const vendor_copies_pinned = !request.is_synchronous || request.is_contiguous();
  // The fast path of programs that pin their memory: the look-ups below take microseconds.
  if (vendor_copies_pinned && asks_for_host) {
    auto const host = locate(asked == direction::to_device ? source.begin : destination.begin);
    if (!host) return outcome::other_memory;
    if (host->kind == memory_kind::host) return outcome::pinned;
  }
  auto const from = source.memory();
  auto const to = destination.memory();
  if (!from || !to) return outcome::other_memory;
  bool const is_from_device = from->kind == memory_kind::device;
  bool const is_to_device = to->kind == memory_kind::device;
  if (!is_from_device && !is_to_device) return outcome::other_memory;
  direction const copied = !is_from_device ? direction::to_device
                           : is_to_device  ? direction::within_device
                                           : direction::to_host;
  if (asked != direction::unspecified && asked != copied) return outcome::other_memory;
  if (copied == direction::within_device) {
    if (request.is_contiguous()) return outcome::other_direction;
    if (request.is_small_within_device()) return outcome::small;
    if (from->device != request.device || to->device != request.device) {
      return outcome::other_device;
    }
    found = {copied, false};
    return outcome::served;
  }
  bool const is_upload = copied == direction::to_device;
  located_memory const& host = is_upload ? *from : *to;
  located_memory const& device = is_upload ? *to : *from;
  if (device.device != request.device) return outcome::other_device;
  if (host.kind == memory_kind::managed) return outcome::other_memory;
  bool const is_pinned = host.kind == memory_kind::host;
  if (is_pinned && vendor_copies_pinned) return outcome::pinned;
  if (!(is_upload ? source : destination).is_mapped()) return outcome::invalid;
  found = {copied, is_pinned};
  return outcome::served;
}

transfer::plan make_plan(copy_request const& request, operand const& source,
                         operand const& destination, candidate const& copy) {
  using detail::memory_space;
  std::array<std::size_t, 3> const shape{request.depth, request.height, request.width};
  auto const strides_of = [](operand const& side) {
    return std::array<std::ptrdiff_t, 3>{static_cast<std::ptrdiff_t>(side.slice),
                                         static_cast<std::ptrdiff_t>(side.pitch), 1};
  };
  auto const source_strides = strides_of(source);
  auto const destination_strides = strides_of(destination);
  auto const region_of = [&](operand const& side, auto const& strides, bool is_host) {
    return detail::strided_region{side.begin,
                                  1,
                                  shape.size(),
                                  shape.data(),
                                  strides.data(),
                                  is_host ? memory_space::host : memory_space::device,
                                  is_host ? -1 : request.device};
  };
  transfer::plan result = transfer::make_plan(
      region_of(source, source_strides, copy.copied == direction::to_device),
      region_of(destination, destination_strides, copy.copied == direction::to_host),
      copy.copied == direction::within_device ? transfer::timing::enqueued : transfer::timing::now);
  if (copy.is_pinned) {
    result.host_pinned = true;
    result.path = transfer::fastest_path(result, transfer::timing::now);
  }
  return result;
}

// Enqueues a copy within the device on the stream of the request, as the vendor's function does.
outcome serve_within_device(copy_request const& request, transfer::plan const& plan) {
  // The library may have no kernels for the device: each attempt to launch one costs time.
  static constinit std::atomic<int> failed_launches = 0;
  constexpr int max_failed_launches = 3;
  if (plan.path != copy_path::kernel || failed_launches >= max_failed_launches) {
    return outcome::suits_vendor;
  }
  auto* const stream = static_cast<hipStream_t>(request.stream);
  // A capture may have begun during the look-ups, see before_capture.
  if (request.captures->load() != 0) return outcome::capturing;
#if ROCARRAY_PLATFORM_AMD
  // On AMD a kernel runs on the device of its stream, which may not be the current one. Recording
  // an event of the current device fails then. On nvidia, is_used_by has checked the stream's
  // context.
  recorded_event stream_check;
  if (!record(stream, stream_check)) return outcome::other_device;
#endif
  transfer::trace_scope const trace(plan);
  try {
    kernels::permute(plan.canonical, stream);
  } catch (roc::error const&) {
    ++failed_launches;
    throw;
  }
#if ROCARRAY_PLATFORM_AMD
  // CUDA's synchronous copies within a device do not block, AMD's may.
  if (request.is_synchronous) ROCARRAY_HIP(hipStreamSynchronize, stream);
#endif
  return outcome::served;
}

// True while the calling thread is in serve_copy. It may then hold staging memory, for which a
// second copy would wait.
constinit thread_local bool is_serving = false;

struct serving_scope {
  serving_scope() noexcept { is_serving = true; }
  ~serving_scope() { is_serving = false; }
  serving_scope(serving_scope const&) = delete;
  serving_scope& operator=(serving_scope const&) = delete;
};

// Returns the options of a copy. The program's threads may use all processors: those of OpenMP spin
// for milliseconds after a parallel region, and a copy waits for each of its threads. So a small
// copy has few of them, unless their number was set.
base::active_options options_of_copy(std::size_t bytes) noexcept {
  constexpr std::size_t min_threads = 2;
  constexpr std::size_t bytes_per_thread = std::size_t{4} << 20;
  static bool const is_number_set = std::getenv("ROCARRAY_COPY_THREADS") != nullptr;
  base::active_options result = base::options();
  if (!is_number_set) {
    std::size_t const wanted = std::max(min_threads, bytes / bytes_per_thread);
    result.copy_threads = std::min(result.copy_threads, wanted);
  }
  return result;
}

// Serves a copy, or returns why the vendor's function has to do it.
outcome serve_copy(copy_request const& request, copy_report& report) {
  // A tool's callback copies within a call of this library, such as CUPTI's.
  if (is_serving || transfer::thread_pool::is_worker()) return outcome::nested;
  auto const begin = std::chrono::steady_clock::now();
  serving_scope const serving;
  primary_context_scope const context(request.device);
  if (context.was_reset()) return outcome::after_reset;
  if (!context.is_used_by(request.stream, nullptr)) return outcome::other_device;
  runtime::on_device const current(request.device);
  operand const source(request.source, request.source_pitch, request.source_slice, request);
  operand const destination(request.destination, request.destination_pitch,
                            request.destination_slice, request);
  std::optional<candidate> found;
  outcome const examined = examine(request, source, destination, found);
  if (examined != outcome::served) return examined;
  bool const is_upload = found->copied == direction::to_device;
  bool const is_within_device = found->copied == direction::within_device;
  if (!context.is_used_by(request.stream, is_upload ? request.destination : request.source)) {
    return outcome::other_device;
  }
  if (is_within_device && !context.is_used_by(request.stream, request.destination)) {
    return outcome::other_device;
  }
  // The same options from the plan to the last chunk.
  base::active_options const options_in_effect =
      options_of_copy(request.width * request.height * request.depth);
  base::options_scope const options(options_in_effect);
  report.copied = found->copied;
  report.is_pinned = found->is_pinned;
  transfer::plan const plan = make_plan(request, source, destination, *found);
  if (is_within_device) return serve_within_device(request, plan);
  if (plan.path != copy_path::staged && plan.path != copy_path::packed) {
    return found->is_pinned ? outcome::pinned : outcome::suits_vendor;
  }
  outcome const chosen =
      request.choose == nullptr ? outcome::served : request.choose(&request, &report);
  if (chosen != outcome::served && chosen != outcome::to_measure) return chosen;
  auto const before_wait = std::chrono::steady_clock::now();
  if (!wait_for_earlier_work(static_cast<hipStream_t>(request.stream))) {
    return outcome::other_device;
  }
  std::chrono::nanoseconds const waited = std::chrono::steady_clock::now() - before_wait;
  // A capture may have begun during the wait, see before_capture.
  if (request.captures->load() != 0) return outcome::capturing;
  if (chosen == outcome::to_measure) return chosen;
  transfer::trace_scope const trace(plan);
  // Both run on internal streams and are complete on return: nothing of the copy is pending on the
  // program's stream, which it may destroy next.
  auto const work = transfer::staged_copy::for_parallel_packing(plan);
  if (is_upload) {
    transfer::upload_and_wait(work);
  } else {
    transfer::download_and_wait(work);
  }
  std::chrono::nanoseconds const duration = std::chrono::steady_clock::now() - begin;
  // An event costs about this much, as an estimate; the vendor's function needs none.
  constexpr std::chrono::nanoseconds cost_of_event = std::chrono::microseconds(10);
  report.nanoseconds = (duration - waited + std::min(waited, cost_of_event)).count();
  return outcome::served;
}

}  // namespace
}  // namespace roc::preload

void rocarray_preload_start(
    [[maybe_unused]] roc::preload::vendor_functions const* functions) noexcept {
#if ROCARRAY_PLATFORM_AMD
  vendor = *functions;
#endif
}

roc::preload::outcome rocarray_preload_copy(roc::preload::copy_request const* request,
                                            roc::preload::copy_report* report) noexcept {
  try {
    return roc::preload::serve_copy(*request, *report);
  } catch (roc::overlap_error const&) {
    return roc::preload::outcome::invalid;
  } catch (roc::error const& error) {
    // On NVIDIA the library's own runtime ends before the program's exit handlers.
    bool const is_ending =
        error.code() == std::error_code(hipErrorDeinitialized, roc::hip_category());
    roc::base::log_line(roc::base::log_level::info, "a copy is passed on: %s", error.what());
    return is_ending ? roc::preload::outcome::exiting : roc::preload::outcome::failed;
  } catch (std::exception const& error) {
    roc::base::log_line(roc::base::log_level::info, "a copy is passed on: %s", error.what());
  } catch (...) {
  }
  return roc::preload::outcome::failed;
}
