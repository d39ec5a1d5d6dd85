// SPDX-License-Identifier: MIT
// Textures over pitched memory (ROCARRAY_HOST_TEXTURES). Nothing reads them: kernels on the CPU
// sample the memory themselves. They show when programs create and destroy textures.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>

#include "base/no_destructor.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/located_memory.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// The limits of textures over pitched memory of NVIDIA's devices.
constexpr std::size_t max_texture_width = 131072;
constexpr std::size_t max_texture_height = 65000;
constexpr std::size_t texture_alignment = 512;
constexpr std::size_t texture_row_alignment = 32;

struct texture_table {
  std::mutex mutex;
  std::set<std::uintptr_t> textures;
  std::uintptr_t last = 0;
};

// Never destroyed: static objects of the program may own textures.
texture_table& textures() {
  static base::no_destructor<texture_table> instance;
  return *instance;
}

bool is_valid(hipResourceDesc const& resource) {
  if (resource.resType != hipResourceTypePitch2D) return false;
  auto const& memory = resource.res.pitch2D;
  std::size_t const bits =
      static_cast<std::size_t>(memory.desc.x) + static_cast<std::size_t>(memory.desc.y) +
      static_cast<std::size_t>(memory.desc.z) + static_cast<std::size_t>(memory.desc.w);
  if (bits == 0 || memory.width == 0 || memory.width > max_texture_width || memory.height == 0 ||
      memory.height > max_texture_height ||
      std::bit_cast<std::uintptr_t>(memory.devPtr) % texture_alignment != 0 ||
      memory.pitchInBytes % texture_row_alignment != 0 ||
      memory.pitchInBytes < memory.width * bits / 8) {
    return false;
  }
  std::size_t const bytes = (memory.height - 1) * memory.pitchInBytes + memory.width * bits / 8;
  located_memory const found = locate(static_cast<std::byte*>(memory.devPtr), bytes);
  return found.data != nullptr && found.on_device();
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipCreateTextureObject(hipTextureObject_t* texture,
                                                    hipResourceDesc const* resource,
                                                    hipTextureDesc const* description,
                                                    hipResourceViewDesc const* view) {
  return api_call("hipCreateTextureObject", [=] {
    if (!host_settings().textures) return hipErrorNotSupported;
    if (texture == nullptr || resource == nullptr || description == nullptr || view != nullptr ||
        !is_valid(*resource)) {
      return hipErrorInvalidValue;
    }
    std::lock_guard const lock(textures().mutex);
    textures().textures.insert(textures().last + 1);
    *texture = std::bit_cast<hipTextureObject_t>(++textures().last);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipDestroyTextureObject(hipTextureObject_t texture) {
  return api_call("hipDestroyTextureObject", [=] {
    if (emulates_rocm()) {  // which frees memory
      stream_captures::instance().refuse_unsafe_call();
      scheduler::instance().wait_for_device(scheduler::all_devices);
    }
    std::lock_guard const lock(textures().mutex);
    bool const existed = textures().textures.erase(std::bit_cast<std::uintptr_t>(texture)) != 0;
    return existed ? hipSuccess : hipErrorInvalidValue;
  });
}

ROCARRAY_HOST_API_END
