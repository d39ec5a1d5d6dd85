// SPDX-License-Identifier: MIT
// Copies and fills. The call checks its pointers; the bytes are copied when the operation runs.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "platform/host/access_checker.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/arena.hpp"
#include "platform/host/box_copy.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/located_memory.hpp"
#include "platform/host/peer_access.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Arithmetic on numbers of bytes that saturates instead of wrapping; see also saturating_sum.
std::size_t saturating_product(std::size_t a, std::size_t b) {
  std::size_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? SIZE_MAX : result;
}

// Returns the number of bytes from `memory.data` to the end of a box that is not empty.
std::size_t span_bytes(extent const& size, pitched_memory const& memory) {
  std::size_t const last_slice = saturating_product(size.depth - 1, memory.slice_pitch);
  std::size_t const last_row = saturating_product(size.height - 1, memory.row_pitch);
  return saturating_sum(memory.offset,
                        saturating_sum(last_slice, saturating_sum(last_row, size.width)));
}

// Returns true if the kind of the copy agrees with the memory of both operands. ROCm accepts every
// kind and looks at the memory.
bool is_valid_kind(hipMemcpyKind kind, located_memory const& source,
                   located_memory const& destination) {
  bool const accepts_all = emulates_rocm();
  switch (kind) {
    case hipMemcpyHostToHost: return accepts_all || (source.on_host() && destination.on_host());
    case hipMemcpyHostToDevice: return accepts_all || (source.on_host() && destination.on_device());
    case hipMemcpyDeviceToHost: return accepts_all || (source.on_device() && destination.on_host());
    case hipMemcpyDeviceToDevice:
      return accepts_all || (source.on_device() && destination.on_device());
    case hipMemcpyDefault: return true;
    default: return false;
  }
}

// Returns the memory of a box that an operation will access at `located`, for the access checker.
// `box.data` is the address that the program passed.
accessed_memory accessed(pitched_memory const& box, located_memory const& located,
                         extent const& size, bool is_written) {
  accessed_memory result;
  result.is_device = located.kind == memory_kind::device;
  result.ends_allocation = located.ends_allocation;
  result.data = (result.is_device ? box.data : located.data) + box.offset;
  result.run = size.width;
  result.is_written = is_written;
  auto const add_axis = [&](std::size_t extent, std::size_t pitch) {
    if (extent > 1) result.axes[result.rank++] = {extent, static_cast<std::ptrdiff_t>(pitch)};
  };
  add_axis(size.depth, box.slice_pitch);
  add_axis(size.height, box.row_pitch);
  return result;
}

// Returns true if a copy reads its source when it is enqueued, although the source is pinned: see
// runtime_rules::cuda13.
bool reads_source_early(located_memory const& source, located_memory const& destination,
                        extent const& size, std::shared_ptr<stream_object> const& stream) {
  constexpr std::size_t max_bytes = 24 << 10;
  return host_settings().emulated == runtime_rules::cuda13 && source.kind == memory_kind::pinned &&
         destination.kind == memory_kind::device && size.height == 1 && size.depth == 1 &&
         size.width <= max_bytes && !scheduler::instance().has_pending_work(stream) &&
         stream_captures::instance().query(stream.get()).status == hipStreamCaptureStatusNone;
}

// Returns true if a device can copy rows of both operands. The runtimes copy contiguous memory of
// devices that cannot access each other through host memory, but not rows.
bool can_copy_rows(int device, extent const& size, pitched_memory const& destination,
                   pitched_memory const& source) {
  bool const has_rows = size.height > 1 || size.depth > 1;
  return !has_rows ||
         (can_access_memory(device, destination.data) && can_access_memory(device, source.data));
}

// Checks and enqueues a copy. Sets `host_copy`, if it is not null, to the enqueued operation if
// host memory takes part in the copy. Under the rules of ROCm, blocks until the copy is done if its
// destination is pageable.
hipError_t enqueue_copy(pitched_memory destination, pitched_memory source, extent const& size,
                        hipMemcpyKind kind, hipStream_t stream,
                        operation_ptr* host_copy = nullptr) {
  auto const target = scheduler::instance().find_stream(stream);
  if (target == nullptr) return hipErrorInvalidHandle;
  if (size.empty()) return hipSuccess;
  if (destination.row_pitch < size.width || source.row_pitch < size.width) {
    return hipErrorInvalidPitchValue;
  }
  located_memory const from = locate(source.data, span_bytes(size, source));
  located_memory const to = locate(destination.data, span_bytes(size, destination));
  if (from.data == nullptr || to.data == nullptr) return hipErrorInvalidValue;
  if (!is_valid_kind(kind, from, to)) return hipErrorInvalidValue;
  if (!can_copy_rows(target->device, size, destination, source)) return hipErrorInvalidValue;
  tracked_work work;
  if (tracks_work()) {
    work = stream_captures::instance().track(
        target.get(), "copy", stream,
        {accessed(destination, to, size, true), accessed(source, from, size, false)});
  }
  destination.data = to.data + destination.offset;
  source.data = from.data + source.offset;
  std::shared_ptr<std::vector<std::byte>> already_read;
  if (reads_source_early(from, to, size, target)) {
    already_read = std::make_shared<std::vector<std::byte>>(source.data, source.data + size.width);
    source.data = already_read->data();
  }
  auto operation = scheduler::instance().submit(
      target,
      [=, work = std::move(work), owner = std::move(already_read)] {
        memory_access_scope const access;
        copy_box(destination, source, size);
      },
      nullptr, "copy", true);
  if (emulates_rocm() && to.kind == memory_kind::pageable) scheduler::instance().wait(operation);
  bool const is_on_device = from.is_migrated() && to.is_migrated();
  if (host_copy != nullptr && !is_on_device) *host_copy = std::move(operation);
  return hipSuccess;
}

// Returns a pointer to bytes that may be written, as HIP's structures need for both operands.
std::byte* as_bytes(void const* data) {
  return const_cast<std::byte*>(static_cast<std::byte const*>(data));
}

// Returns contiguous bytes as one row.
pitched_memory contiguous(void const* data, std::size_t bytes) {
  return {as_bytes(data), bytes, bytes};
}

// Returns the operand of a 3-D copy, with the position of the box as its offset.
pitched_memory at_position(hipPitchedPtr const& memory, hipPos const& position) {
  std::size_t const slice_pitch = saturating_product(memory.pitch, memory.ysize);
  std::size_t const slice = saturating_product(position.z, slice_pitch);
  std::size_t const row = saturating_product(position.y, memory.pitch);
  return {as_bytes(memory.ptr), memory.pitch, slice_pitch,
          saturating_sum(slice, saturating_sum(row, position.x))};
}

// Returns true if the rows of a box end within their pitch.
bool is_within_pitch(hipPitchedPtr const& memory, hipPos const& position, std::size_t width) {
  return saturating_sum(position.x, width) <= memory.pitch;
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipMemcpy(void* to, void const* from, std::size_t bytes,
                                       hipMemcpyKind kind) {
  return api_call("hipMemcpy", [=] {
    // A copy within device memory does not block the host, as on a real device.
    operation_ptr host_copy;
    hipError_t const result = enqueue_copy(contiguous(to, bytes), contiguous(from, bytes),
                                           {bytes, 1, 1}, kind, nullptr, &host_copy);
    scheduler::instance().wait(host_copy);
    return result;
  });
}

ROCARRAY_HOST_API hipError_t hipMemcpyAsync(void* to, void const* from, std::size_t bytes,
                                            hipMemcpyKind kind, hipStream_t stream) {
  return api_call("hipMemcpyAsync", [=] {
    return enqueue_copy(contiguous(to, bytes), contiguous(from, bytes), {bytes, 1, 1}, kind,
                        stream);
  });
}

ROCARRAY_HOST_API hipError_t hipMemcpy2DAsync(void* to, std::size_t to_pitch, void const* from,
                                              std::size_t from_pitch, std::size_t width,
                                              std::size_t height, hipMemcpyKind kind,
                                              hipStream_t stream) {
  return api_call("hipMemcpy2DAsync", [=] {
    return enqueue_copy({as_bytes(to), to_pitch, 0}, {as_bytes(from), from_pitch, 0},
                        {width, height, 1}, kind, stream);
  });
}

ROCARRAY_HOST_API hipError_t hipMemcpy3DAsync(hipMemcpy3DParms const* parameters,
                                              hipStream_t stream) {
  return api_call("hipMemcpy3DAsync", [=] {
    if (parameters == nullptr) return hipErrorInvalidValue;
    hipMemcpy3DParms const& p = *parameters;
    if (p.srcArray != nullptr || p.dstArray != nullptr) return hipErrorNotSupported;
    extent const size{p.extent.width, p.extent.height, p.extent.depth};
    if (!size.empty() && (!is_within_pitch(p.srcPtr, p.srcPos, size.width) ||
                          !is_within_pitch(p.dstPtr, p.dstPos, size.width))) {
      return emulates_rocm() ? hipErrorInvalidValue : hipErrorInvalidPitchValue;
    }
    // ROCm checks this even for one slice.
    bool const do_slices_fit = (size.depth < 2 && !emulates_rocm()) ||
                               (p.srcPtr.ysize >= saturating_sum(p.srcPos.y, size.height) &&
                                p.dstPtr.ysize >= saturating_sum(p.dstPos.y, size.height));
    if (!do_slices_fit) return hipErrorInvalidValue;
    return enqueue_copy(at_position(p.dstPtr, p.dstPos), at_position(p.srcPtr, p.srcPos), size,
                        p.kind, stream);
  });
}

ROCARRAY_HOST_API hipError_t hipMemsetAsync(void* data, int value, std::size_t bytes,
                                            hipStream_t stream) {
  return api_call("hipMemsetAsync", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    if (bytes == 0) return hipSuccess;
    located_memory const memory = locate(as_bytes(data), bytes);
    // Devices can access pinned memory too.
    if (memory.data == nullptr || !memory.on_device()) return hipErrorInvalidValue;
    tracked_work work;
    if (tracks_work()) {
      work = stream_captures::instance().track(
          target.get(), "fill", stream,
          {accessed({as_bytes(data), bytes, bytes}, memory, {bytes, 1, 1}, true)});
    }
    scheduler::instance().submit(
        target,
        [=, work = std::move(work)] {
          memory_access_scope const access;
          fill_bytes(memory.data, value, bytes);
        },
        nullptr, "fill", true);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END
