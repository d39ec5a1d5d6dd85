// SPDX-License-Identifier: MIT
#include <roc/detail/image_textures.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <roc/detail/image_sampling.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device.hpp>
#include <roc/error.hpp>

#include "base/error.hpp"
#include "base/no_destructor.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_uses.hpp"

namespace roc::detail {

class texture_set {
 public:
  struct entry {
    sampler how;
    bool is_normalized;
    unsigned long long texture;  // 0 if the device refused it, so that the kernel samples
  };

  /// Returns the entry of a sampler and a read mode, or null. The caller holds the mutex.
  entry const* find(image_description const& image, sampler const& how) const {
    for (entry const& item : entries) {
      if (item.how == how && item.is_normalized == image.is_normalized) return &item;
    }
    return nullptr;
  }

  std::mutex mutex;
  std::vector<entry> entries;  // few: one for each sampler
  void* data = nullptr;        // of the image; set with the first entry
  int device = -1;

  // Set by retire. Once the set is in the list of retired_textures, its mutex guards them.
  runtime::stream_uses uses;  // the work that may use the textures
  bool has_logged_failure = false;
  std::unique_ptr<texture_set> next;
};

namespace {

// The caller holds no lock: on AMD hipDestroyTextureObject may wait for the device.
void destroy_textures(texture_set const& textures) noexcept {
  std::optional<runtime::on_device> guard;
  if (!platform::retry_then_log([&] { guard.emplace(textures.device); })) {
    return base::log_error(
        "the textures of a destroyed image are leaked, because their device cannot be made "
        "current");
  }
  for (texture_set::entry const& item : textures.entries) {
    if (item.texture == 0) continue;
    auto const native = std::bit_cast<hipTextureObject_t>(item.texture);
    platform::retry_then_log([&] { ROCARRAY_HIP(hipDestroyTextureObject, native); });
  }
}

// Returns false in host functions, where HIP refuses all calls, and while a graph is captured: no
// event can be recorded on a captured stream, and on AMD the destruction may wait for the device.
bool may_destroy_now() noexcept {
  return !runtime::is_any_capture_active() && !platform::is_in_host_function();
}

// Waits for the device and destroys the textures. Needs no memory. Returns false if that is not
// possible now; logs errors.
bool destroy_when_idle(texture_set const& textures) noexcept {
  if (!may_destroy_now()) return false;
  bool const is_idle = platform::retry_then_log([&] {
    runtime::on_device const guard(textures.device);
    ROCARRAY_HIP(hipDeviceSynchronize);
  });
  if (is_idle) destroy_textures(textures);
  return is_idle;
}

// Textures of destroyed images, which kernels may still use.
class retired_textures {
 public:
  static retired_textures& instance() noexcept {
    static base::no_destructor<retired_textures> object;
    return *object;
  }

  /// Takes over textures whose `uses` are set.
  void add(std::unique_ptr<texture_set> textures) noexcept {
    std::lock_guard const lock(mutex_);
    textures->next = std::move(first_);
    first_ = std::move(textures);
  }

  /// Destroys the textures whose work has finished, unless HIP does not allow it now. Logs errors.
  void destroy_finished() noexcept {
    if (!may_destroy_now()) return;
    std::unique_ptr<texture_set> finished = take_finished();
    while (finished != nullptr) {
      destroy_textures(*finished);
      finished = std::move(finished->next);
    }
  }

 private:
  // Returns true if no work uses the textures. Logs the first error; the work may then be pending.
  static bool is_finished(texture_set& textures) noexcept {
    bool result = false;
    auto const check = [&] {
      textures.uses.record_events();
      result = textures.uses.remove_finished();
    };
    if (!textures.has_logged_failure) {
      textures.has_logged_failure = !platform::log_if_throws(check);
    } else {
      try {
        check();
      } catch (std::exception const&) {
      }
    }
    return result;
  }

  std::unique_ptr<texture_set> take_finished() noexcept {
    std::unique_ptr<texture_set> finished;
    std::lock_guard const lock(mutex_);
    for (std::unique_ptr<texture_set>* item = &first_; *item != nullptr;) {
      if (!is_finished(**item)) {
        item = &(*item)->next;
        continue;
      }
      std::unique_ptr<texture_set> taken = std::move(*item);
      *item = std::move(taken->next);
      taken->next = std::move(finished);
      finished = std::move(taken);
    }
    return finished;
  }

  std::mutex mutex_;
  std::unique_ptr<texture_set> first_;
};

// The deleter of texture_set_owner.
void retire(texture_set* textures) noexcept {
  std::unique_ptr<texture_set> owner(textures);
  if (owner->entries.empty()) return;
  bool const are_uses_known = platform::retry_then_log([&] {
    // The caller still owns the memory.
    auto* const record = memory::find_record(owner->data);
    if (record == nullptr) return;
    owner->uses = record->uses();
    if (record->allocation_stream.is_empty()) return;
    owner->uses.begin(record->allocation_stream);
    // destroy_finished records the events of streams of the library. A foreign one may be destroyed
    // before.
    if (record->allocation_stream.is_foreign()) owner->uses.record_events();
  });
  if (!are_uses_known) {
    if (destroy_when_idle(*owner)) return;
    base::log_error(
        "the textures of a destroyed image are leaked, because the work that uses them is not "
        "known; see the error before");
    static_cast<void>(owner.release());
    return;
  }
  retired_textures::instance().add(std::move(owner));
  retired_textures::instance().destroy_finished();
}

[[noreturn]] void throw_invalid(char const* problem) {
  throw error(std::make_error_code(std::errc::invalid_argument), problem);
}

char const* name_of(address_mode mode) {
  switch (mode) {
    case address_mode::clamp: return "clamp";
    case address_mode::wrap: return "wrap";
    case address_mode::mirror: return "mirror";
    case address_mode::border: return "border";
  }
  return nullptr;
}

// Throws roc::error if the sampler cannot be used for the image.
void check_sampler(image_description const& image, sampler const& how) {
  char const* const address = name_of(how.address);
  if (address == nullptr) {
    throw_invalid("the address mode of a sampler is no value of roc::address_mode; use one");
  }
  if (how.filter != filter_mode::nearest && how.filter != filter_mode::linear) {
    throw_invalid("the filter of a sampler is no value of roc::filter_mode; use one");
  }
  if (how.unit != sampler_unit::automatic && how.unit != sampler_unit::software &&
      how.unit != sampler_unit::hardware) {
    throw_invalid("the unit of a sampler is no value of roc::sampler_unit; use one");
  }
  bool const repeats = how.address == address_mode::wrap || how.address == address_mode::mirror;
  if (repeats && !how.normalized_coordinates) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                std::string("address mode ") + address +
                    " without normalized coordinates; set normalized_coordinates, or use clamp or "
                    "border");
  }
  if (how.filter == filter_mode::linear && image.is_integer && !image.is_normalized) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "linear filter of integers of " + std::to_string(8 * image.channel_bytes) +
                    " bits that are not read as fractions; use " +
                    (image.channel_bytes <= 2 ? "normalized_view" : "an image of float") +
                    ", or the filter nearest");
  }
}

// Returns why texture units cannot sample the image, or null.
char const* why_not_in_hardware(image_description const& image) {
  if (!device(image.device).has_texture_units()) return "the device has no texture units";
  if (image.has_layers) return "they do not sample images with layers";
  if (image.dimensions > 2) return "they do not sample images of 3 axes";
  return nullptr;
}

[[noreturn]] void throw_not_in_hardware(image_description const& image, std::string const& reason) {
  throw error(std::make_error_code(std::errc::not_supported),
              "sampler_unit::hardware on device " + std::to_string(image.device) + ": " + reason +
                  "; use sampler_unit::automatic or software");
}

hipResourceDesc resource_of(image_description const& image) {
  int const bits = static_cast<int>(8 * image.channel_bytes);
  auto const bits_of_channel = [&](unsigned i) { return i < image.channels ? bits : 0; };
  hipResourceDesc result{};
  result.resType = hipResourceTypePitch2D;
  auto& memory = result.res.pitch2D;
  memory.devPtr = image.data;
  memory.desc.x = bits_of_channel(0);
  memory.desc.y = bits_of_channel(1);
  memory.desc.z = bits_of_channel(2);
  memory.desc.w = bits_of_channel(3);
  memory.desc.f = !image.is_integer ? hipChannelFormatKindFloat
                  : image.is_signed ? hipChannelFormatKindSigned
                                    : hipChannelFormatKindUnsigned;
  memory.width = image.width;
  memory.height = image.height;
  memory.pitchInBytes = image.row_bytes;
  return result;
}

hipTextureDesc texture_of(image_description const& image, sampler const& how) {
  hipTextureDesc result{};  // the color of the border is 0
  for (auto& mode : result.addressMode) {
    switch (how.address) {
      case address_mode::clamp: mode = hipAddressModeClamp; break;
      case address_mode::wrap: mode = hipAddressModeWrap; break;
      case address_mode::mirror: mode = hipAddressModeMirror; break;
      case address_mode::border: mode = hipAddressModeBorder; break;
    }
  }
  result.filterMode = how.filter == filter_mode::linear ? hipFilterModeLinear : hipFilterModePoint;
  result.readMode = image.is_normalized ? hipReadModeNormalizedFloat : hipReadModeElementType;
  result.normalizedCoords = how.normalized_coordinates ? 1 : 0;
  return result;
}

// Returns a texture; 0 if the device refuses it and the sampler does not need it. Throws
// roc::error.
unsigned long long create_texture(image_description const& image, sampler const& how) {
  static_assert(sizeof(hipTextureObject_t) == sizeof(unsigned long long));
  hipResourceDesc const resource = resource_of(image);
  hipTextureDesc const texture = texture_of(image, how);
  runtime::on_device const guard(image.device);
  hipTextureObject_t result{};
  hipError_t const code =
      ROCARRAY_HIP_CODE(hipCreateTextureObject, &result, &resource, &texture, nullptr);
  if (code == hipSuccess) return std::bit_cast<unsigned long long>(result);
  // The limits of the sizes are not among the attributes of all versions of HIP.
  bool const is_refused = code == hipErrorInvalidValue || code == hipErrorNotSupported;
  if (!is_refused) {
    platform::detail::fail(platform::call::call_hipCreateTextureObject, code,
                           std::source_location::current());
  }
  if (how.unit == sampler_unit::hardware) {
    throw_not_in_hardware(
        image, "it refuses a texture of " + std::to_string(image.height) + " x " +
                   std::to_string(image.width) + " elements with address mode " +
                   name_of(how.address) + " (" +
                   std::error_code(static_cast<int>(code), hip_category()).message() + ")");
  }
  return 0;
}

}  // namespace

texture_set_owner make_texture_set(stream_ref stream) {
  texture_set_owner result(new texture_set, retire);
  if (auto* const capture = runtime::capture_of(stream)) capture->keep(result);
  return result;
}

unsigned long long find_or_create_texture(texture_set& textures, image_description const& image,
                                          sampler const& how) {
  check_sampler(image, how);
  if (how.unit == sampler_unit::software) return 0;
  if (char const* const reason = why_not_in_hardware(image); reason != nullptr) {
    if (how.unit == sampler_unit::hardware) throw_not_in_hardware(image, reason);
    return 0;
  }
  {
    std::lock_guard const lock(textures.mutex);
    if (auto const* const found = textures.find(image, how)) return found->texture;
  }
  retired_textures::instance().destroy_finished();
  std::lock_guard const lock(textures.mutex);
  if (auto const* const found = textures.find(image, how)) return found->texture;
  textures.entries.reserve(textures.entries.size() + 1);
  unsigned long long const texture = create_texture(image, how);
  textures.data = image.data;
  textures.device = image.device;
  textures.entries.push_back({how, image.is_normalized, texture});
  return texture;
}

void check_image_extents(std::size_t const* extents, std::size_t count, std::size_t layers) {
  for (std::size_t axis = 0; axis != count; ++axis) {
    if (extents[axis] == 0 || extents[axis] > max_image_extent) {
      throw_shape_error("an image cannot have extent {}; each extent is from 1 to {}",
                        extents[axis], max_image_extent);
    }
  }
  if (layers == 0) throw_shape_error("an image cannot have {} layers; use at least 1", layers);
}

std::size_t most_mipmap_levels(std::size_t const* extents, std::size_t count) {
  std::size_t const largest = *std::max_element(extents, extents + count);
  auto const levels = static_cast<std::size_t>(std::bit_width(largest));
  return std::min(levels, max_mipmap_levels);
}

std::size_t checked_mipmap_levels(std::size_t const* extents, std::size_t count,
                                  std::ptrdiff_t levels) {
  check_image_extents(extents, count, 1);
  auto const most = static_cast<std::ptrdiff_t>(most_mipmap_levels(extents, count));
  if (levels < 1 || levels > most) {
    throw_shape_error("a mipmap with these extents cannot have {} levels; use 1 to {}", levels,
                      most);
  }
  return static_cast<std::size_t>(levels);
}

void check_mipmap_sampler(sampler const& how, filter_mode between_levels, bool is_filterable) {
  if (!how.normalized_coordinates) {
    throw_invalid("a mipmap needs normalized coordinates; set normalized_coordinates");
  }
  if (between_levels != filter_mode::nearest && between_levels != filter_mode::linear) {
    throw_invalid("the filter between levels is no value of roc::filter_mode; use one");
  }
  if (between_levels == filter_mode::linear && !is_filterable) {
    throw_invalid(
        "linear filter between levels of integers that are not read as fractions; use "
        "normalized_view, a mipmap of float, or the filter nearest");
  }
}

}  // namespace roc::detail
