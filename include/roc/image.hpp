// SPDX-License-Identifier: MIT
// Images in device memory: arrays that kernels sample, with texture units or in software.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/detail/argument_traits.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/detail/image_sampling.hpp>
#include <roc/detail/image_textures.hpp>
#include <roc/detail/misuse.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device_array.hpp>
#include <roc/device_view.hpp>
#include <roc/host_array.hpp>
#include <roc/image_view.hpp>
#include <roc/layout/shape.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/pixel.hpp>
#include <roc/sampler.hpp>
#include <roc/stream.hpp>

namespace roc {

/// An image in device memory, of 1 to 3 axes, with or without layers: an array that kernels also
/// sample between its elements. Elements are not initialized. Move-only. (OpenCL: `cl_image`; CUDA,
/// HIP: memory of hipMallocPitch, texture and surface objects)
///
/// Kernels get a view that is made for a sampler: see image_view. If the device has texture units,
/// they sample images of 1 and 2 axes without layers; other images, and all images on other
/// devices, are sampled in software, with the same results up to the precision of the units. For
/// several levels of detail see mipmap.
///
/// The elements are in pitched memory: the rows, along the last axis, begin at multiples of 256
/// bytes. pixels() is a view of them, for copies of any region and for other kernels. The image
/// belongs to the device of the stream that it is created with, or to the current device, and takes
/// its memory from that device's resource. Const is shallow, as for device_array.
///
/// Destruction does not block, as that of device_array, except that AMD's runtime may wait for the
/// device when textures are destroyed: those of this image, or of images that were destroyed
/// before. The memory and the textures are kept until all kernels of roc::launch and for_each that
/// got a view have finished; for kernels launched otherwise call record_stream. If the image is
/// created on a captured stream, the graph keeps them too.
///
/// If the image is default-constructed or moved from, it can be destroyed or assigned to, and any
/// other use throws lifetime_error.
///
/// @tparam T the element type: std::uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, float,
///   or roc::pixel with 2 or 4 of them
/// @tparam N the number of axes, without that of the layers
/// @tparam Layered true if the image has layers: images of the same shape, at most of 2 axes. The
///   first extent of the shape is their number
template <class T, std::size_t N, bool Layered = false>
class image {
  using traits = detail::pixel_traits<T>;
  static_assert(detail::is_image_element<T>,
                "rocarray: the elements of an image are 8, 16 or 32-bit integers, half or "
                "float, or roc::pixel with 2 or 4 of them");
  static_assert(N >= 1 && N + Layered <= 3,
                "rocarray: an image has 1, 2 or 3 axes, and with layers 1 or 2");

 public:
  using element_type = T;                                     ///< as in device_array
  using value_type = T;                                       ///< as in device_array
  static constexpr std::size_t dimensions = N;                ///< axes without layers
  static constexpr std::size_t rank = N + (Layered ? 1 : 0);  ///< axes with layers
  /// The view that normalized_view returns.
  using normalized_view_type =
      image_view<T, N, Layered,
                 detail::is_normalizable<typename traits::channel> ? read_mode::normalized
                                                                   : read_mode::element>;

  /// @name Construction
  /// The memory is allocated on the device of `stream`, in the order of that stream. The default is
  /// the default stream of the current device. The constructors throw shape_error (an extent is 0
  /// or larger than 2^24, the size overflows), out_of_memory and roc::error.
  ///@{
  image() = default;  ///< Creates an image that owns nothing, as if moved from.
  /// Creates an image. `shape` has the number of layers first, if there are layers, and the length
  /// of the rows last.
  explicit image(roc::shape<rank> const& shape, stream_ref stream = {},
                 detail::caller at = std::source_location::current()) {
    detail::call_scope const call("image", at);
    auto const strides = row_strides(shape);
    memory_ = device_array<std::byte>(memory_shape(shape, strides), order::c, stream);
    initialize(shape, strides);
  }
  /// Creates an image with memory from `resource`, which must outlive it.
  image(roc::shape<rank> const& shape, memory_resource& resource, stream_ref stream = {},
        detail::caller at = std::source_location::current()) {
    detail::call_scope const call("image", at);
    auto const strides = row_strides(shape);
    memory_ = device_array<std::byte>(memory_shape(shape, strides), resource, order::c, stream);
    initialize(shape, strides);
  }
  /// Takes over the memory of `other`, which then owns nothing.
  image(image&& other) noexcept { swap(other); }
  /// Releases the current memory, as the destructor does, and takes over that of `other`.
  image& operator=(image&& other) noexcept {
    image(std::move(other)).swap(*this);
    return *this;
  }
  /// Exchanges the memory. Views keep referring to the same memory.
  void swap(image& other) noexcept {
    memory_.swap(other.memory_);
    textures_.swap(other.textures_);
    std::swap(pixels_, other.pixels_);
  }
  ///@}

  /// @name Observers
  ///@{

  /// Returns the extents, the number of layers first.
  roc::shape<rank> shape() const { return checked().shape(); }
  /// Returns the number of elements along one axis, which must be less than the rank.
  std::size_t extent(std::size_t axis) const { return checked().extent(axis); }
  /// Returns the bytes from one row to the next. (hipMallocPitch)
  std::size_t row_bytes() const {
    static_cast<void>(checked());
    return row_bytes_of(pixels_.extent(rank - 1));
  }
  /// Returns the ordinal of the device that has the memory.
  int device_ordinal() const { return checked_memory().device_ordinal(); }
  /// Returns the stream that the image was created with.
  stream_ref stream() const { return checked_memory().stream(); }
  /// Records that kernels on `stream` use the image: see device_array::record_stream.
  void record_stream(stream_ref stream, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    checked_memory().record_stream(stream);
  }
  ///@}

  /// @name Views
  /// The image must outlive them.
  ///@{

  /// Returns the elements as a view, for copies, fills and kernels:
  /// `roc::copy(image.pixels()(roc::slice(0, 8), roc::all), to)`.
  device_view<T, rank> pixels() const& { return checked(); }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  device_view<T, rank> pixels() const&& = delete;

  /// Returns the view for kernels that read and write elements as they are. The first use of a
  /// sampler creates a texture, if the device samples the image with texture units, and destroys
  /// those of destroyed images, for which AMD's runtime may wait for the device.
  ///
  /// @throws roc::error (std::errc::invalid_argument) if the sampler is invalid: wrap or mirror
  ///   without normalized coordinates, linear filtering of integers that are not read as fractions
  /// @throws roc::error (std::errc::not_supported) if the sampler asks for texture units which the
  ///   device does not have, or which cannot sample the image; the error of the HIP call
  image_view<T, N, Layered> view(roc::sampler const& how = {},
                                 detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return {checked(), how,
            detail::find_or_create_texture(*textures_, describe(read_mode::element), how)};
  }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  image_view<T, N, Layered> view(roc::sampler const& how = {}) const&& = delete;

  /// Returns the view for kernels that read and write integers of 8 or 16 bits as fractions from 0
  /// to 1, or from -1 to 1 if they are signed. Throws as view().
  normalized_view_type normalized_view(roc::sampler const& how = {},
                                       detail::caller at = std::source_location::current()) const& {
    static_assert(detail::is_normalizable<typename traits::channel>,
                  "rocarray: only integers of 8 and 16 bits are read as fractions: use view()");
    detail::call_scope const call(__func__, at);
    return {checked(), how,
            detail::find_or_create_texture(*textures_, describe(read_mode::normalized), how)};
  }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  normalized_view_type normalized_view(roc::sampler const& how = {}) const&& = delete;
  ///@}

  /// @name Copies
  /// All elements, with those of an array or view of the same rank, the layers first, or of
  /// contiguous host memory. For regions, copy pixels()(…). Without a stream: ordered after all
  /// work enqueued earlier on the device through the library, and complete on return. With a
  /// stream: enqueued there; lifetimes are as for roc::copy(from, to, stream). They throw what
  /// roc::copy throws.
  ///@{

  /// Returns a new pageable host array. Throws also out_of_memory.
  host_array<T, rank> copy_to_host(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, "device to host");
    return checked().copy_to_host();
  }
  /// Enqueues the copy to a new host array, which is complete after synchronization. The host
  /// array's destructor blocks until the copy has finished.
  host_array<T, rank> copy_to_host(stream_ref stream,
                                   detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at, "device to host");
    return checked().copy_to_host(stream);
  }
  /// Copies the elements into existing host memory. (OpenCL: `clEnqueueReadImage`)
  template <detail::host_argument H>
    requires detail::copyable_to<device_view<T, rank>&, H>
  void copy_to_host(H&& to, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, "device to host");
    copy(checked(), detail::view_of(to));
  }
  /// Enqueues a copy into existing host memory. A pageable destination is complete after
  /// synchronization.
  template <detail::host_argument H>
    requires detail::async_copyable_to<device_view<T, rank>&, H>
  void copy_to_host(H&& to, stream_ref stream,
                    detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at, "device to host");
    copy(checked(), detail::view_of(to), stream);
  }
  /// Copies host or device memory into this image. (OpenCL: `clEnqueueWriteImage`)
  template <detail::copy_argument S>
    requires detail::copyable_to<S, device_view<T, rank>&>
  void copy_to_device(S&& from, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, detail::direction_to_device<S>);
    copy(detail::view_of(from), checked());
  }
  /// Enqueues a copy into this image.
  template <detail::copy_argument S>
    requires detail::async_copyable_to<S, device_view<T, rank>&>
  void copy_to_device(S&& from, stream_ref stream,
                      detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at, detail::direction_to_device<S>);
    copy(detail::view_of(from), checked(), stream);
  }
  ///@}

  /// Deleted: the reason is in the compiler's message.
  ///@{
  template <class H, detail::incorrect_use Reason = detail::first_misuse<
                         detail::host_misuse<H>, detail::copy_misuse<device_view<T, rank>&, H>>>
    requires(!std::convertible_to<H, stream_ref>)
  void copy_to_host(H&& to) const = delete;
  template <class H,
            detail::incorrect_use Reason = detail::first_misuse<
                detail::host_misuse<H>, detail::async_copy_misuse<device_view<T, rank>&, H>>>
  void copy_to_host(H&& to, stream_ref stream) const = delete;
  template <class S, detail::incorrect_use Reason = detail::copy_misuse<S, device_view<T, rank>&>>
  void copy_to_device(S&& from) const = delete;
  template <class S,
            detail::incorrect_use Reason = detail::async_copy_misuse<S, device_view<T, rank>&>>
  void copy_to_device(S&& from, stream_ref stream) const = delete;
  ///@}

 private:
  // Returns the elements. Throws lifetime_error if the image owns nothing.
  device_view<T, rank> const& checked() const {
    if (textures_ == nullptr) {
      detail::throw_lifetime_error(
          "image was moved from or is default-constructed; give it a value before it is used");
    }
    return pixels_;
  }
  device_array<std::byte> const& checked_memory() const {
    static_cast<void>(checked());
    return memory_;
  }

  static std::size_t row_bytes_of(std::size_t width) {
    constexpr std::size_t unit = detail::image_row_alignment;
    return (width * sizeof(T) + unit - 1) / unit * unit;
  }

  // Returns the strides, in elements. Throws shape_error if the image is too small or too large.
  static roc::strides<rank> row_strides(roc::shape<rank> const& shape) {
    detail::check_image_extents(shape.data() + (Layered ? 1 : 0), N, Layered ? shape[0] : 1);
    roc::shape<rank> padded = shape;
    padded[rank - 1] = row_bytes_of(shape[rank - 1]) / sizeof(T);
    layout::check_size(padded, sizeof(T));
    return layout::compact_strides(padded);
  }
  // Returns the number of bytes to allocate: the rows with their padding, and what is needed to
  // begin at a multiple of image_alignment.
  static roc::shape<1> memory_shape(roc::shape<rank> const& shape,
                                    roc::strides<rank> const& strides) {
    std::size_t const row = row_bytes_of(shape[rank - 1]);
    std::size_t const first =
        rank == 1 ? row : shape[0] * static_cast<std::size_t>(strides[0]) * sizeof(T);
    constexpr std::size_t slack = detail::image_alignment - memory_resource::alignment;
    roc::shape<1> const result{first + slack};
    layout::check_size(result, 1);
    return result;
  }
  // Sets the view of the memory.
  void initialize(roc::shape<rank> const& shape, roc::strides<rank> const& strides) {
    auto const address = reinterpret_cast<std::uintptr_t>(memory_.data());
    constexpr std::uintptr_t unit = detail::image_alignment;
    auto* const data = reinterpret_cast<T*>((address + unit - 1) / unit * unit);
    pixels_ = device_view<T, rank>(data, shape, strides, memory_.device_ordinal());
    textures_ = detail::make_texture_set(memory_.stream());
  }

  detail::image_description describe(read_mode read) const {
    using channel = typename traits::channel;
    roc::shape<rank> const shape = checked().shape();
    return {.data = pixels_.data(),
            .width = shape[rank - 1],
            .height = rank == 1 ? 1 : shape[rank == 1 ? 0 : rank - 2],
            .row_bytes = row_bytes(),
            .device = device_ordinal(),
            .dimensions = N,
            .has_layers = Layered,
            .channels = traits::channels,
            .channel_bytes = sizeof(channel),
            .is_integer = std::is_integral_v<channel>,
            .is_signed = std::is_signed_v<channel>,
            .is_normalized = read == read_mode::normalized};
  }

  device_array<std::byte> memory_;
  device_view<T, rank> pixels_;
  detail::texture_set_owner textures_;  // after the memory: they must be destroyed before it
};

/// An image with layers: `layered_image<float, 2>({layers, rows, columns})`.
template <class T, std::size_t N>
using layered_image = image<T, N, true>;

}  // namespace roc
