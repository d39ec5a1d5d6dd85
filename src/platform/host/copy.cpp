// SPDX-License-Identifier: MIT
// Copies and fills: pointers are checked when they are enqueued, bytes move when they run.
#include <cstdint>
#include <utility>

#include "platform/host/arena.hpp"
#include "platform/host/engine.hpp"
#include "platform/host/entry.hpp"
#include "platform/host/host_memory.hpp"
#include "platform/host/move.hpp"

namespace roc::host_hip {
namespace {

// A number of bytes, which stays at the largest there is instead of wrapping.
std::size_t times(std::size_t a, std::size_t b) {
  std::size_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? SIZE_MAX : result;
}
std::size_t plus(std::size_t a, std::size_t b) {
  std::size_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? SIZE_MAX : result;
}

std::size_t span(extent const& size, box const& b) {
  return plus(b.skipped, plus(times(size.planes - 1, b.plane),
                              plus(times(size.rows - 1, b.pitch), size.width)));
}

// Where a checked side really lies: device memory by the provider's own address, registered memory
// by the host's.
struct located {
  std::byte* data = nullptr;  // null: the pointer may not be used so
  bool on_device = false;
  bool on_host = true;  // managed memory is both
  bool pinned = false;
};

located locate(std::byte* data, std::size_t bytes) {
  if (data == nullptr) return {};
  if (int const device = device_owning(data); device >= 0) {
    auto const known = memory_of(device).find(data);
    if (!known || !within(last_byte(data, bytes), known->data, known->bytes)) return {};
    return {memory_of(device).writable(data), true, false};
  }
  if (plus(reinterpret_cast<std::uintptr_t>(data), bytes) == SIZE_MAX) return {};
  if (device_owning(last_byte(data, bytes)) >= 0) return {};
  auto const known = host_ranges::instance().find(data);
  if (known && !within(data, known->data, known->bytes)) {
    // The device's address of registered memory.
    if (!within(last_byte(data, bytes), known->device, known->bytes)) return {};
    return {known->data + (data - known->device), false, true, true};
  }
  if (host_ranges::instance().straddles(data, bytes)) return {};
  return {data, known && known->managed, true, known.has_value()};
}

bool fits(hipMemcpyKind kind, located const& from, located const& to) {
  switch (kind) {
    case hipMemcpyHostToHost: return from.on_host && to.on_host;
    case hipMemcpyHostToDevice: return from.on_host && to.on_device;
    case hipMemcpyDeviceToHost: return from.on_device && to.on_host;
    case hipMemcpyDeviceToDevice: return from.on_device && to.on_device;
    case hipMemcpyDefault: return true;
    default: return false;
  }
}

// `awaited`: the operation, where the host's memory is part of it.
hipError_t enqueue(box to, box from, extent const& size, hipMemcpyKind kind, hipStream_t stream,
                   operation_ptr* awaited = nullptr) {
  auto const found = engine::instance().find(stream);
  if (found == nullptr) return hipErrorInvalidHandle;
  if (size.empty()) return hipSuccess;
  if (to.pitch < size.width || from.pitch < size.width) return hipErrorInvalidPitchValue;
  located const source = locate(from.data, span(size, from));
  located const destination = locate(to.data, span(size, to));
  if (source.data == nullptr || destination.data == nullptr) return hipErrorInvalidValue;
  if (!fits(kind, source, destination)) return hipErrorInvalidValue;
  to.data = destination.data + to.skipped;
  from.data = source.data + from.skipped;
  auto operation = engine::instance().submit(found, [=] { move_box(to, from, size); });
  bool const on_device_only = source.on_device && destination.on_device;
  if (awaited != nullptr && !on_device_only) *awaited = std::move(operation);
  return hipSuccess;
}

std::byte* bytes_of(void const* data) {
  return const_cast<std::byte*>(static_cast<std::byte const*>(data));
}

box row(void const* data, std::size_t bytes) { return {bytes_of(data), bytes, bytes}; }

box at(hipPitchedPtr const& memory, hipPos const& place) {
  std::size_t const plane = times(memory.pitch, memory.ysize);
  return {bytes_of(memory.ptr), memory.pitch, plane,
          plus(times(place.z, plane), plus(times(place.y, memory.pitch), place.x))};
}

bool is_within_pitch(hipPitchedPtr const& memory, hipPos const& place, std::size_t width) {
  return plus(place.x, width) <= memory.pitch;
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipMemcpy(void* to, void const* from, std::size_t bytes,
                                  hipMemcpyKind kind) {
  return call("hipMemcpy", [=] {
    // Between places of device memory the host does not wait, as with a real device.
    operation_ptr awaited;
    hipError_t const result =
        enqueue(row(to, bytes), row(from, bytes), {bytes, 1, 1}, kind, nullptr, &awaited);
    engine::instance().wait(awaited);
    return result;
  });
}

ROCARRAY_HOST_API hipError_t hipMemcpyAsync(void* to, void const* from, std::size_t bytes,
                                       hipMemcpyKind kind, hipStream_t stream) {
  return call("hipMemcpyAsync", [=] {
    return enqueue(row(to, bytes), row(from, bytes), {bytes, 1, 1}, kind, stream);
  });
}

ROCARRAY_HOST_API hipError_t hipMemcpy2DAsync(void* to, std::size_t to_pitch, void const* from,
                                         std::size_t from_pitch, std::size_t width,
                                         std::size_t height, hipMemcpyKind kind,
                                         hipStream_t stream) {
  return call("hipMemcpy2DAsync", [=] {
    return enqueue({bytes_of(to), to_pitch, 0}, {bytes_of(from), from_pitch, 0},
                   {width, height, 1}, kind, stream);
  });
}

ROCARRAY_HOST_API hipError_t hipMemcpy3DAsync(hipMemcpy3DParms const* parameters, hipStream_t stream) {
  return call("hipMemcpy3DAsync", [=] {
    if (parameters == nullptr) return hipErrorInvalidValue;
    hipMemcpy3DParms const& p = *parameters;
    if (p.srcArray != nullptr || p.dstArray != nullptr) return hipErrorNotSupported;
    extent const size{p.extent.width, p.extent.height, p.extent.depth};
    if (!size.empty() && (!is_within_pitch(p.srcPtr, p.srcPos, size.width) ||
                          !is_within_pitch(p.dstPtr, p.dstPos, size.width))) {
      return hipErrorInvalidPitchValue;
    }
    bool const planes_fit = size.planes < 2 || (p.srcPtr.ysize >= plus(p.srcPos.y, size.rows) &&
                                                p.dstPtr.ysize >= plus(p.dstPos.y, size.rows));
    if (!planes_fit) return hipErrorInvalidValue;
    return enqueue(at(p.dstPtr, p.dstPos), at(p.srcPtr, p.srcPos), size, p.kind, stream);
  });
}

ROCARRAY_HOST_API hipError_t hipMemsetAsync(void* data, int value, std::size_t bytes,
                                       hipStream_t stream) {
  return call("hipMemsetAsync", [=] {
    auto const found = engine::instance().find(stream);
    if (found == nullptr) return hipErrorInvalidHandle;
    if (bytes == 0) return hipSuccess;
    located const place = locate(bytes_of(data), bytes);
    // Pinned memory is within a device's reach too.
    if (place.data == nullptr || !(place.on_device || place.pinned)) return hipErrorInvalidValue;
    engine::instance().submit(found, [=] { fill(place.data, value, bytes); });
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END
