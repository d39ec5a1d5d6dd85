// SPDX-License-Identifier: MIT
// roc::image: its functions for kernels and those of the host; the software sampler against a
// reference, and the texture units against the software sampler.
#include "kernels/image_kernels.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "platform/call.hpp"
#include "support/call_counter.hpp"
#include "support/environment.hpp"
#include "support/expect_error.hpp"
#include "support/failing_new.hpp"
#include "support/gate.hpp"

namespace {

using roc::address_mode;
using roc::filter_mode;
using roc::read_mode;
using roc::sampler;
using roc::sampler_unit;

// A kind of view: element type, axes, layers, read mode.
template <class T, std::size_t N, bool Layered, read_mode Read>
struct view_kind {
  using element = T;
  using image = roc::image<T, N, Layered>;
  using view = roc::image_view<T, N, Layered, Read>;
  using traits = roc::detail::pixel_traits<T>;
  using channel = typename traits::channel;
  static constexpr bool is_normalized = Read == read_mode::normalized;
  static constexpr bool is_filterable = is_normalized || roc::detail::is_floating_channel<channel>;

  static view view_of(image const& source, sampler const& how) {
    if constexpr (is_normalized) {
      return source.normalized_view(how);
    } else {
      return source.view(how);
    }
  }
  static std::string name() {
    std::string const sign = roc::detail::is_floating_channel<channel> ? "float"
                             : std::is_signed_v<channel>               ? "int"
                                                                       : "uint";
    return sign + std::to_string(8 * sizeof(channel)) + "x" + std::to_string(traits::channels) +
           (is_normalized ? " normalized, " : ", ") + std::to_string(N) + " axes" +
           (Layered ? " with layers" : "");
  }
};

// Calls f(view_kind) for every kind of view.
template <class F>
void for_each_kind(F f) {
#define ROCARRAY_CALL(T, N, Layered, Read) f(view_kind<T, N, Layered, roc::Read>());
  ROCARRAY_TEST_IMAGE_VIEWS(ROCARRAY_CALL)
#undef ROCARRAY_CALL
}

template <std::size_t Rank>
roc::shape<Rank> test_shape() {
  if constexpr (Rank == 1) {
    return {67};
  } else if constexpr (Rank == 2) {
    return {5, 7};
  } else {
    return {3, 4, 6};
  }
}

// Returns random elements; of numbers, from 0 to 1, or of the whole range of integers.
template <class T>
std::vector<T> random_elements(std::size_t count, std::mt19937_64& random) {
  using traits = roc::detail::pixel_traits<T>;
  using channel = typename traits::channel;
  std::vector<T> result(count);
  for (T& element : result) {
    for (std::size_t c = 0; c < traits::channels; ++c) {
      if constexpr (roc::detail::is_floating_channel<channel>) {
        traits::at(element, c) = std::uniform_real_distribution<float>(0, 1)(random);
      } else {
        traits::at(element, c) = static_cast<channel>(random());
      }
    }
  }
  return result;
}

// The samplers that are valid for a kind of view.
template <class Kind>
std::vector<sampler> samplers_of(sampler_unit unit) {
  std::vector<sampler> result;
  for (auto const address :
       {address_mode::clamp, address_mode::wrap, address_mode::mirror, address_mode::border}) {
    for (auto const filter : {filter_mode::nearest, filter_mode::linear}) {
      for (bool const is_normalized : {false, true}) {
        bool const repeats = address == address_mode::wrap || address == address_mode::mirror;
        if (repeats && !is_normalized) continue;
        if (filter == filter_mode::linear && !Kind::is_filterable) continue;
        result.push_back({address, filter, is_normalized, unit});
      }
    }
  }
  return result;
}

std::string name_of(sampler const& how) {
  char const* const addresses[] = {"clamp", "wrap", "mirror", "border"};
  return std::string(addresses[static_cast<int>(how.address)]) +
         (how.filter == filter_mode::linear ? " linear" : " nearest") +
         (how.normalized_coordinates ? " normalized" : "");
}

// Random points: coordinates x, y, z from before to beyond the image, and layers.
struct points {
  std::vector<float> coordinates;  // 3 for each point
  std::vector<int> layers;
};
template <class Kind>
points random_points(std::size_t count, typename Kind::image const& image, sampler const& how,
                     std::mt19937_64& random) {
  points result;
  std::uniform_real_distribution<double> anywhere(-2.3, 3.4);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double scale = 1;
      if (!how.normalized_coordinates && axis < Kind::image::dimensions) {
        scale = static_cast<double>(image.extent(Kind::image::rank - 1 - axis));
      }
      result.coordinates.push_back(static_cast<float>(anywhere(random) * scale));
    }
    result.layers.push_back(static_cast<int>(random() % 5) - 1);
  }
  return result;
}

// Returns the channels of the samples, one after the other.
template <class Kind>
std::vector<double> sampled(typename Kind::image const& image, sampler const& how,
                            points const& at) {
  std::size_t const count = at.layers.size();
  auto const coordinates = roc::to_device(at.coordinates);
  auto const layers = roc::to_device(at.layers);
  roc::device_array<double, 2> const out({count, Kind::traits::channels});
  roc::test::sample_at({}, Kind::view_of(image, how), coordinates.view().reshape(int(count), 3),
                       layers.view(), out.view());
  std::vector<double> result(count * Kind::traits::channels);
  out.view().ravel().copy_to_host(result);
  return result;
}

// Returns the index of an element of an axis that repeats, ends or has a border.
std::optional<long> resolve(long index, long extent, address_mode address) {
  auto const modulo = [](long a, long b) { return (a % b + b) % b; };
  switch (address) {
    case address_mode::clamp: return std::clamp(index, 0L, extent - 1);
    case address_mode::wrap: return modulo(index, extent);
    case address_mode::mirror: {
      long const in_period = modulo(index, 2 * extent);
      return in_period < extent ? in_period : 2 * extent - 1 - in_period;
    }
    case address_mode::border: break;
  }
  if (index < 0 || index >= extent) return std::nullopt;
  return index;
}

// A sample in double precision.
struct reference {
  std::vector<double> channels;
  double boundary_distance = 1;  // from the next boundary between elements, of the filter nearest
};
template <class Kind>
reference reference_sample(std::vector<typename Kind::element> const& elements,
                           typename Kind::image const& image, sampler const& how, points const& at,
                           std::size_t point) {
  constexpr std::size_t axes = Kind::image::dimensions;
  constexpr std::size_t rank = Kind::image::rank;
  using traits = typename Kind::traits;
  using channel = typename Kind::channel;
  bool const is_linear = how.filter == filter_mode::linear;
  reference result;
  result.channels.resize(traits::channels);
  long layer = 0;
  if constexpr (rank != axes) {
    layer = std::clamp<long>(at.layers[point], 0, static_cast<long>(image.extent(0)) - 1);
  }
  for (unsigned corner = 0; corner < (is_linear ? 1u << axes : 1u); ++corner) {
    long element = 0;
    long stride = 1;
    double weight = 1;
    bool is_inside = true;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      long const extent = static_cast<long>(image.extent(rank - 1 - axis));
      double u = at.coordinates[3 * point + axis];
      if (how.normalized_coordinates) u *= static_cast<double>(extent);
      if (!is_linear) {
        result.boundary_distance = std::min(result.boundary_distance, std::abs(u - std::round(u)));
      }
      if (is_linear) u -= 0.5;
      long const side = corner >> axis & 1;
      double const fraction = u - std::floor(u);
      if (is_linear) weight *= side == 1 ? fraction : 1 - fraction;
      auto const index = resolve(static_cast<long>(std::floor(u)) + side, extent, how.address);
      is_inside = is_inside && index.has_value();
      element += index.value_or(0) * stride;
      stride *= extent;
    }
    if (!is_inside) continue;
    auto const& source = elements[static_cast<std::size_t>(element + layer * stride)];
    for (std::size_t c = 0; c < traits::channels; ++c) {
      double value = static_cast<double>(traits::at(source, c));
      if (Kind::is_normalized) {
        value = std::max(value / static_cast<double>(std::numeric_limits<channel>::max()), -1.0);
      }
      result.channels[c] += weight * value;
    }
  }
  return result;
}

template <class Kind>
struct test_image {
  explicit test_image(std::mt19937_64& random)
      : image(test_shape<Kind::image::rank>()),
        elements(random_elements<typename Kind::element>(roc::layout::element_count(image.shape()),
                                                         random)) {
    image.copy_to_device(elements);
  }

  typename Kind::image image;
  std::vector<typename Kind::element> elements;
};

// The difference of the largest and the smallest value of a channel.
template <class Kind>
constexpr double value_range() {
  return Kind::is_normalized && std::is_signed_v<typename Kind::channel> ? 2 : 1;
}

// Expects that f() throws a roc::error of this code whose message contains `text`.
template <class F>
void expect_error(F f, std::errc code, std::string const& text) {
  try {
    f();
    ADD_FAILURE() << "no error: " << text;
  } catch (roc::error const& error) {
    EXPECT_EQ(std::make_error_code(code), error.code()) << error.what();
    EXPECT_NE(std::string::npos, std::string(error.what()).find(text)) << error.what();
    EXPECT_EQ(__FILE__, std::string(error.location().file_name()));
  }
}

TEST(Image, RowsBeginAtMultiplesOf256Bytes) {
  roc::image<roc::test::rgba8, 2> const narrow({3, 5});
  EXPECT_EQ(256u, narrow.row_bytes());
  EXPECT_EQ((roc::shape<2>{3, 5}), narrow.shape());
  EXPECT_EQ((roc::strides<2>{64, 1}), narrow.pixels().strides());
  EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(narrow.pixels().data()) % 512);
  roc::layered_image<float, 2> const layered({4, 3, 65});
  EXPECT_EQ(512u, layered.row_bytes());
  EXPECT_EQ((roc::strides<3>{3 * 128, 128, 1}), layered.pixels().strides());
  EXPECT_EQ(4u, layered.extent(0));
}

TEST(Image, CopiesOfWholeImagesKeepElements) {
  auto random = roc::test::random_generator("CopiesOfWholeImagesKeepElements");
  for_each_kind([&]<class Kind>(Kind) {
    SCOPED_TRACE(Kind::name());
    test_image<Kind> const source(random);
    std::vector<typename Kind::element> out(source.elements.size());
    source.image.copy_to_host(out);
    EXPECT_EQ(source.elements, out);

    roc::stream const stream;
    typename Kind::image const other(source.image.shape(), stream);
    other.copy_to_device(source.image.pixels(), stream);
    auto const back = other.copy_to_host(stream);
    stream.synchronize();
    EXPECT_EQ(source.image.shape(), back.shape());
    EXPECT_TRUE(std::equal(source.elements.begin(), source.elements.end(), back.data()));
  });
}

TEST(Image, CopiesOfRegionsTouchNothingElse) {
  roc::image<float, 2> const image({6, 9});
  image.pixels().fill(1);
  std::vector<float> part(2 * 4, 5);
  auto const region = image.pixels()(roc::slice(1, 3), roc::slice(2, 6));
  region.copy_to_device(part);
  roc::device_array<float, 2> const array({6, 9});
  roc::stream const stream;
  roc::copy(image.pixels(), array, stream);
  roc::copy(array(roc::slice(1, 2), roc::all), image.pixels()(roc::slice(5, 6), roc::all), stream);
  stream.synchronize();
  auto const actual = image.copy_to_host();
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 9; ++j) {
      bool const is_changed = (i == 1 || i == 2 || i == 5) && j >= 2 && j < 6;
      EXPECT_EQ(is_changed ? 5 : 1, actual(i, j)) << i << ", " << j;
    }
  }
}

// Copies a region inside an image from and to an array, and a region from one image to another.
template <class Image>
void expect_regions_are_copied(roc::shape<Image::rank> const& shape) {
  constexpr std::size_t rank = Image::rank;
  Image const image(shape);
  Image const other(shape);
  image.pixels().fill(1);
  other.pixels().fill(2);
  roc::shape<rank> inner = shape;
  for (std::size_t& extent : inner) extent -= 2;
  auto const inside = [](auto const& view) {
    if constexpr (rank == 1) {
      return view(roc::slice(1, -1));
    } else if constexpr (rank == 2) {
      return view(roc::slice(1, -1), roc::slice(1, -1));
    } else {
      return view(roc::slice(1, -1), roc::slice(1, -1), roc::slice(1, -1));
    }
  };
  roc::device_array<int, rank> const numbers(inner);
  std::vector<int> values(numbers.size());
  std::iota(values.begin(), values.end(), 100);
  numbers.copy_to_device(values);
  roc::stream const stream;
  roc::copy(numbers, inside(image.pixels()), stream);
  roc::copy(inside(image.pixels()), inside(other.pixels()), stream);
  roc::device_array<int, rank> const back(inner, roc::order::f, stream);
  roc::copy(inside(other.pixels()), back, stream);
  stream.synchronize();
  std::vector<int> result(values.size());
  back.copy_to_host(roc::host_view<int, rank>(result.data(), inner));
  EXPECT_EQ(values, result);
  inside(image.pixels()).fill(1);
  inside(other.pixels()).fill(2);
  std::vector<int> elements(image.pixels().size());
  image.copy_to_host(elements);
  EXPECT_EQ(std::vector<int>(elements.size(), 1), elements);
  other.copy_to_host(elements);
  EXPECT_EQ(std::vector<int>(elements.size(), 2), elements);
}

TEST(Image, CopiesOfRegionsOfAllRanks) {
  expect_regions_are_copied<roc::image<int, 1>>({67});
  expect_regions_are_copied<roc::image<int, 2>>({5, 67});
  expect_regions_are_copied<roc::image<int, 3>>({4, 5, 7});
  expect_regions_are_copied<roc::layered_image<int, 1>>({4, 67});
  expect_regions_are_copied<roc::layered_image<int, 2>>({4, 5, 67});
}

TEST(Image, RegionsAreMapped) {
  roc::image<int, 2> const image({5, 67});
  image.pixels().fill(1);
  roc::stream const stream;
  {
    auto const region = image.pixels()(roc::slice(1, 3), roc::slice(4, 9));
    auto mapped = roc::map(region, roc::access::read_write, stream);
    EXPECT_EQ((roc::shape<2>{2, 5}), mapped.view().shape());
    EXPECT_EQ(1, mapped(1, 4));
    mapped(1, 4) = 7;
    mapped.unmap();
  }
  auto const result = image.copy_to_host(stream);
  stream.synchronize();
  EXPECT_EQ(7, result(2, 8));
  EXPECT_EQ(5 * 67 + 6, std::accumulate(result.data(), result.data() + 5 * 67, 0));
}

TEST(Image, OfAnotherDeviceThanTheCurrentOne) {
  if (roc::device::count() < 2) GTEST_SKIP() << "there is one device";
  auto random = roc::test::random_generator("OfAnotherDeviceThanTheCurrentOne");
  std::optional<roc::stream> stream;
  std::optional<roc::image<float, 2>> image;
  std::optional<roc::device_array<float, 2>> coordinates;
  std::optional<roc::device_array<int>> layers;
  std::optional<roc::device_array<double, 2>> out;
  {
    roc::device_guard const second{roc::device(1)};
    stream.emplace();
    coordinates.emplace(roc::shape<2>{1, 2});
    layers.emplace(roc::shape<1>{1});
    out.emplace(roc::shape<2>{1, 1});
  }
  ASSERT_EQ(0, roc::device().ordinal());
  image.emplace(roc::shape<2>{5, 7}, *stream);
  EXPECT_EQ(1, image->device_ordinal());
  auto const elements = random_elements<float>(5 * 7, random);
  image->copy_to_device(elements);
  coordinates->copy_to_device(std::vector<float>{3.5f, 2.5f});
  layers->zero();
  auto const view = image->view();
  EXPECT_EQ(roc::device(1).has_texture_units(), view.uses_hardware());
  roc::test::sample_at(*stream, view, coordinates->view(), layers->view(), out->view());
  stream->synchronize();
  EXPECT_EQ(elements[2 * 7 + 3], static_cast<float>(out->copy_to_host()(0, 0)));
  roc::image<float, 2> const here({5, 7});
  roc::copy(image->pixels(), here.pixels());
  std::vector<float> copied(elements.size());
  here.copy_to_host(copied);
  EXPECT_EQ(elements, copied);
  image.reset();
  EXPECT_EQ(0, roc::device().ordinal());
}

TEST(Image, CopyOfOtherShapeIsRefused) {
  roc::image<float, 2> const image({6, 9});
  roc::device_array<float, 2> const array({9, 6});
  EXPECT_THROW(image.copy_to_device(array), roc::shape_error);
  std::vector<float> const few(10);
  EXPECT_THROW(image.copy_to_device(few), roc::shape_error);
  EXPECT_THROW(image.pixels()(roc::slice(0, 7), roc::all), roc::shape_error);
}

TEST(Image, LoadedElementsAreStored) {
  auto random = roc::test::random_generator("LoadedElementsAreStored");
  for_each_kind([&]<class Kind>(Kind) {
    SCOPED_TRACE(Kind::name());
    test_image<Kind> const source(random);
    typename Kind::image const other(source.image.shape());
    roc::test::transfer({}, Kind::view_of(source.image, {}), Kind::view_of(other, {}));
    std::vector<typename Kind::element> out(source.elements.size());
    other.copy_to_host(out);
    auto expected = source.elements;
    if constexpr (Kind::is_normalized && std::is_signed_v<typename Kind::channel>) {
      // The two smallest integers are both -1.
      auto const lowest = std::numeric_limits<typename Kind::channel>::min();
      for (auto& element : expected) {
        for (std::size_t c = 0; c < Kind::traits::channels; ++c) {
          auto& value = Kind::traits::at(element, c);
          if (value == lowest) ++value;
        }
      }
    }
    EXPECT_EQ(expected, out);
  });
}

// Returns what the elements become when a kernel converts them from one format to another.
template <class From, class To, class T>
std::vector<typename To::element_type> converted(std::vector<T> const& elements) {
  roc::image<T, From::dimensions> const from(roc::shape<From::dimensions>{elements.size()});
  roc::image<typename To::element_type, To::dimensions> const to(from.shape());
  from.copy_to_device(elements);
  roc::test::transfer({}, from.normalized_view(), to.normalized_view());
  std::vector<typename To::element_type> result(elements.size());
  to.copy_to_host(result);
  return result;
}

TEST(ImageFormats, KernelsConvertBetweenIntegersOfTwoSizes) {
  std::vector<std::uint16_t> wide;
  std::vector<std::uint8_t> nearest;
  for (int i = 0; i < 65536; i += 7) {
    wide.push_back(static_cast<std::uint16_t>(i));
    nearest.push_back(static_cast<std::uint8_t>((i + 128) / 257));  // 65535 / 255
  }
  EXPECT_EQ(nearest, (converted<roc::test::fractions16, roc::test::fractions8>(wide)));
  std::vector<std::uint8_t> narrow(256);
  std::vector<std::uint16_t> multiples(256);
  for (unsigned i = 0; i < 256; ++i) {
    narrow[i] = static_cast<std::uint8_t>(i);
    multiples[i] = static_cast<std::uint16_t>(257 * i);
  }
  EXPECT_EQ(multiples, (converted<roc::test::fractions8, roc::test::fractions16>(narrow)));
  // Negative fractions become 0.
  EXPECT_EQ((std::vector<std::uint8_t>{0, 0, 0, 2, 255}),
            (converted<roc::test::signed_fractions8, roc::test::fractions8>(
                std::vector<std::int8_t>{-128, -1, 0, 1, 127})));
}

TEST(ImageFormats, KernelsConvertBetweenBytesAndFloats) {
  using roc::test::float_rgba;
  using roc::test::rgba8;
  roc::image<rgba8, 2> const bytes({2, 64});
  roc::image<float_rgba, 2> const floats(bytes.shape());
  std::vector<rgba8> elements(2 * 64);
  for (unsigned i = 0; i < elements.size(); ++i) {
    auto const value = static_cast<std::uint8_t>(2 * i);
    elements[i] = {value, static_cast<std::uint8_t>(255 - value), 0, 255};
  }
  bytes.copy_to_device(elements);
  roc::test::transfer({}, bytes.normalized_view(), floats.view());
  std::vector<float_rgba> fractions(elements.size());
  floats.copy_to_host(fractions);
  for (unsigned i = 0; i < elements.size(); ++i) {
    EXPECT_FLOAT_EQ(static_cast<float>(2 * i) / 255, fractions[i].x);
    EXPECT_FLOAT_EQ(static_cast<float>(255 - 2 * i) / 255, fractions[i].y);
    EXPECT_EQ(0, fractions[i].z);
    EXPECT_EQ(1, fractions[i].w);
  }
  bytes.pixels().fill({});
  roc::test::transfer({}, floats.view(), bytes.normalized_view());
  std::vector<rgba8> back(elements.size());
  bytes.copy_to_host(back);
  EXPECT_EQ(elements, back);
  // Floats that are no fractions are limited.
  std::fill(fractions.begin(), fractions.end(), float_rgba{-3, 7, 0.5f, 1e30f});
  floats.copy_to_device(fractions);
  roc::test::transfer({}, floats.view(), bytes.normalized_view());
  bytes.copy_to_host(back);
  EXPECT_EQ(std::vector<rgba8>(back.size(), {0, 255, 128, 255}), back);
}

TEST(ImageFormats, KernelsConvertBetweenFloatsAndHalves) {
  using roc::test::float_rgba;
  using roc::test::half_rgba;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  roc::image<float_rgba, 2> const floats({1, 2});
  roc::image<half_rgba, 2> const halves(floats.shape());
  floats.copy_to_device(std::vector<float_rgba>{{0.1f, -2.5f, 65504, 0}, {65520, 1e-7f, 1, 2049}});
  roc::test::transfer({}, floats.view(), halves.view());
  std::vector<half_rgba> stored(2);
  halves.copy_to_host(stored);
  EXPECT_EQ((std::vector<half_rgba>{{0.1f, -2.5f, 65504, 0}, {infinity, 0x1p-23f, 1, 2048}}), stored);
  roc::test::transfer({}, halves.view(), floats.view());
  std::vector<float_rgba> back(2);
  floats.copy_to_host(back);
  EXPECT_EQ((std::vector<float_rgba>{{0.0999755859375f, -2.5f, 65504, 0},
                                     {infinity, 0x1p-23f, 1, 2048}}),
            back);
}

// The halves next to a finite one.
float below(roc::half value) {
  if (value.bits() == 0) return -0x1p-24f;
  std::uint16_t const step = value.bits() < 0x8000 ? 0xffff : 1;
  return roc::half::from_bits(static_cast<std::uint16_t>(value.bits() + step));
}
float above(roc::half value) {
  return -below(roc::half::from_bits(static_cast<std::uint16_t>(value.bits() ^ 0x8000)));
}

TEST(Half, HasTheBitsOfTheStandard) {
  EXPECT_EQ(0x3c00, roc::half(1).bits());
  EXPECT_EQ(0xc100, roc::half(-2.5f).bits());
  EXPECT_EQ(0x7bff, roc::half(65504).bits());
  EXPECT_EQ(0x7c00, roc::half(65520).bits());
  EXPECT_EQ(0x8000, roc::half(-0.0f).bits());
  EXPECT_EQ(0x0001, roc::half(0x1p-24f).bits());
  EXPECT_EQ(0x0400, roc::half(0x1p-14f).bits());
  EXPECT_EQ(0x7e00, roc::half(std::numeric_limits<float>::quiet_NaN()).bits());
  EXPECT_EQ(std::numeric_limits<float>::infinity(), roc::half::from_bits(0x7c00));
  EXPECT_TRUE(std::isnan(static_cast<float>(roc::half::from_bits(0x7c01))));
  static_assert(sizeof(roc::half) == 2 && roc::half(0.5f) == 0.5f);
}

TEST(Half, EachIsAFloatAndBack) {
  for (unsigned bits = 0; bits != 65536; ++bits) {
    auto const value = roc::half::from_bits(static_cast<std::uint16_t>(bits));
    float const number = value;
    if (std::isnan(number)) continue;
    ASSERT_EQ(bits, roc::half(number).bits());
  }
}

TEST(Half, IsTheNearestNumber) {
  auto random = roc::test::random_generator("HalfIsTheNearestNumber");
  for (int i = 0; i != 100'000; ++i) {
    float const number = std::ldexp(std::uniform_real_distribution<float>(-2, 2)(random),
                                    std::uniform_int_distribution<int>(-27, 14)(random));
    roc::half const value = number;
    float const distance = std::abs(value - number);
    ASSERT_LE(distance, std::abs(below(value) - number)) << number;
    ASSERT_LE(distance, std::abs(above(value) - number)) << number;
    float const midpoint = 0.5f * (value + above(value));
    ASSERT_EQ(0, roc::half(midpoint).bits() & 1) << midpoint;
  }
}

TEST(ImageFormats, FractionsAreLimitedAndRounded) {
  using roc::detail::from_fraction;
  using roc::detail::to_fraction;
  EXPECT_EQ(255, from_fraction<std::uint8_t>(7));
  EXPECT_EQ(0, from_fraction<std::uint8_t>(-7));
  EXPECT_EQ(0, from_fraction<std::uint8_t>(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_EQ(128, from_fraction<std::uint8_t>(0.5f));
  EXPECT_EQ(-127, from_fraction<std::int8_t>(-1));
  EXPECT_EQ(-64, from_fraction<std::int8_t>(-0.5f));
  EXPECT_EQ(65535, from_fraction<std::uint16_t>(1));
  EXPECT_EQ(-1.0f, to_fraction<std::int8_t>(-128));
  EXPECT_EQ(1.0f, to_fraction<std::uint16_t>(65535));
  for (int i = 0; i < 65536; ++i) {
    auto const value = static_cast<std::uint16_t>(i);
    ASSERT_EQ(value, from_fraction<std::uint16_t>(to_fraction(value)));
  }
}

TEST(SoftwareSampler, AgreesWithReferenceInAllModes) {
  auto random = roc::test::random_generator("AgreesWithReferenceInAllModes");
  for_each_kind([&]<class Kind>(Kind) {
    test_image<Kind> const source(random);
    for (sampler const& how : samplers_of<Kind>(sampler_unit::software)) {
      SCOPED_TRACE(Kind::name() + ", " + name_of(how));
      auto const at = random_points<Kind>(300, source.image, how, random);
      auto const actual = sampled<Kind>(source.image, how, at);
      // Half of the last bit of the weight, for each axis; and the precision of a float.
      double const tolerance = how.filter == filter_mode::linear
                                   ? value_range<Kind>() * (Kind::image::dimensions / 512.0 + 1e-4)
                                   : 1e-6 * value_range<Kind>();
      std::size_t skipped = 0;
      for (std::size_t i = 0; i < at.layers.size(); ++i) {
        auto const expected = reference_sample<Kind>(source.elements, source.image, how, at, i);
        if (expected.boundary_distance < 1e-3) {  // the precision of a float
          ++skipped;
          continue;
        }
        for (std::size_t c = 0; c < Kind::traits::channels; ++c) {
          ASSERT_NEAR(expected.channels[c], actual[i * Kind::traits::channels + c], tolerance)
              << "at " << at.coordinates[3 * i] << ", " << at.coordinates[3 * i + 1] << ", "
              << at.coordinates[3 * i + 2] << ", layer " << at.layers[i];
        }
      }
      EXPECT_LT(skipped, 10u);
    }
  });
}

TEST(SoftwareSampler, ImagesOfOneElementWorkInAllModes) {
  using kind = view_kind<float, 2, false, read_mode::element>;
  kind::image const image({1, 1});
  image.pixels().fill(3);
  auto random = roc::test::random_generator("ImagesOfOneElementWorkInAllModes");
  for (sampler const& how : samplers_of<kind>(sampler_unit::software)) {
    SCOPED_TRACE(name_of(how));
    if (how.address == address_mode::border) continue;
    auto const at = random_points<kind>(50, image, how, random);
    for (double const value : sampled<kind>(image, how, at)) EXPECT_FLOAT_EQ(3.0f, float(value));
  }
}

TEST(SoftwareSampler, CoordinatesThatAreNoNumbersAreInTheImageOrItsBorder) {
  using kind = view_kind<float, 3, false, read_mode::element>;
  kind::image const image({2, 3, 4});
  image.pixels().fill(3);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float largest = std::numeric_limits<float>::max();
  points at;
  for (float const x : {infinity, -infinity, nan, largest, -largest, 1e9f, -1e-30f}) {
    for (float const y : {0.5f, nan, -1e12f}) {
      at.coordinates.insert(at.coordinates.end(), {x, y, -x});
      at.layers.push_back(0);
    }
  }
  for (sampler const& how : samplers_of<kind>(sampler_unit::software)) {
    SCOPED_TRACE(name_of(how));
    for (double const value : sampled<kind>(image, how, at)) {
      if (how.address == address_mode::border) {
        EXPECT_TRUE(value >= 0 && value <= 3) << value;
      } else {
        EXPECT_EQ(3, value);
      }
    }
  }
}

TEST(TextureUnits, AgreeWithSoftwareSamplerInAllModes) {
  if (!roc::device().has_texture_units()) GTEST_SKIP() << "the device has no texture units";
  auto random = roc::test::random_generator("AgreeWithSoftwareSamplerInAllModes");
  for_each_kind([&]<class Kind>(Kind) {
    if constexpr (Kind::image::rank <= 2 && Kind::image::rank == Kind::image::dimensions) {
      test_image<Kind> const source(random);
      for (sampler how : samplers_of<Kind>(sampler_unit::hardware)) {
        SCOPED_TRACE(Kind::name() + ", " + name_of(how));
        EXPECT_TRUE(Kind::view_of(source.image, how).uses_hardware());
        std::size_t const count = roc::test::on_cpu() ? 1000 : roc::test::scaled(100'000);
        auto const at = random_points<Kind>(count, source.image, how, random);
        auto const hardware = sampled<Kind>(source.image, how, at);
        how.unit = sampler_unit::software;
        auto const software = sampled<Kind>(source.image, how, at);
        double largest = 0;
        std::size_t near_boundaries = 0;
        double largest_distance = 0;
        for (std::size_t i = 0; i < at.layers.size(); ++i) {
          double difference = 0;
          for (std::size_t c = 0; c < Kind::traits::channels; ++c) {
            std::size_t const k = i * Kind::traits::channels + c;
            difference = std::max(difference, std::abs(hardware[k] - software[k]));
          }
          if (how.filter == filter_mode::nearest && difference > 0) {
            double const distance =
                reference_sample<Kind>(source.elements, source.image, how, at, i).boundary_distance;
            // The units round coordinates to 8 bits of fraction.
            if (distance < 1.0 / 256) {
              ++near_boundaries;
              largest_distance = std::max(largest_distance, distance);
              continue;
            }
          }
          largest = std::max(largest, difference);
        }
        std::printf("%-32s %-26s largest difference %.6f", Kind::name().c_str(),
                    name_of(how).c_str(), largest);
        if (how.filter == filter_mode::nearest) {
          std::printf(", %zu points differ up to %.6f from a boundary", near_boundaries,
                      largest_distance);
        }
        std::printf("\n");
        // The last bit of the weight for each axis, and that of the result.
        double const tolerance =
            how.filter == filter_mode::linear
                ? value_range<Kind>() * (double(Kind::image::dimensions) + 1) / 256
                : 1e-6 * value_range<Kind>();
        EXPECT_LE(largest, tolerance);
      }
    }
  });
}

TEST(TextureUnits, AreUsedAgainForTheSameSampler) {
  if (!roc::device().has_texture_units()) GTEST_SKIP() << "the device has no texture units";
  for (int i = 0; i < 1000; ++i) {  // textures of destroyed images are destroyed
    roc::image<float, 2> const image({3, 4});
    image.pixels().zero();
    for (int k = 0; k < 3; ++k) {
      EXPECT_TRUE(image.view({.normalized_coordinates = k == 1}).uses_hardware());
    }
  }
}

TEST(TextureUnits, SampleWhatEarlierKernelsHaveStored) {
  if (!roc::device().has_texture_units()) GTEST_SKIP() << "the device has no texture units";
  using kind = view_kind<float, 2, false, read_mode::element>;
  kind::image const image({5, 7});
  kind::image const source({5, 7});
  points at{{2.5f, 3.5f, 0}, {0}};
  for (float const value : {1.0f, 2.0f, 3.0f}) {
    source.pixels().fill(value);
    roc::test::transfer({}, source.view(), image.view());
    EXPECT_EQ(value, sampled<kind>(image, {}, at)[0]);
  }
}

using plain_image = roc::image<float, 2>;

// What a kernel needs to sample an image once.
struct one_sample {
  roc::device_array<float> coordinates = roc::to_device(std::vector<float>{2.5f, 3.5f, 0});
  roc::device_array<int> layers = roc::to_device(std::vector<int>{0});
  roc::device_array<double, 2> out{roc::shape<2>{1, 1}};

  void enqueue(roc::stream_ref stream, plain_image const& image, sampler const& how = {}) const {
    roc::test::sample_at(stream, image.view(how), coordinates.view().reshape(1, 3), layers.view(),
                         out.view());
  }
  double value() const { return out.copy_to_host()(0, 0); }
};

// Creates a texture at each call, which destroys those of destroyed images whose work has finished.
class texture_creation {
 public:
  void operator()() {
    roc::device().synchronize();
    unsigned const k = count_++;
    static_cast<void>(
        image_.view({.address = (k & 1) != 0 ? address_mode::clamp : address_mode::border,
                     .filter = (k & 2) != 0 ? filter_mode::nearest : filter_mode::linear,
                     .normalized_coordinates = (k & 4) != 0}));
  }

 private:
  plain_image image_{roc::shape<2>{3, 4}};
  unsigned count_ = 0;
};

TEST(TextureUnits, RefusedTexturesAreSampledInSoftware) {
  if (!roc::device().has_texture_units()) GTEST_SKIP() << "the device has no texture units";
  plain_image const image({5, 7});
  image.pixels().fill(2);
  one_sample const sample;
  ASSERT_TRUE(roc::platform::fail_call("hipCreateTextureObject", 1, hipErrorInvalidValue));
  EXPECT_FALSE(image.view().uses_hardware());
  sample.enqueue({}, image);
  EXPECT_EQ(2, sample.value());
  sampler const hardware{.address = address_mode::border, .unit = sampler_unit::hardware};
  ASSERT_TRUE(roc::platform::fail_call("hipCreateTextureObject", 1, hipErrorInvalidValue));
  expect_error([&] { image.view(hardware); }, std::errc::not_supported,
               "it refuses a texture of 5 x 7 elements with address mode border (");
  EXPECT_TRUE(image.view(hardware).uses_hardware());
}

TEST(TextureUnits, FailedCreationIsRepeated) {
  if (!roc::device().has_texture_units()) GTEST_SKIP() << "the device has no texture units";
  plain_image const image({5, 7});
  ASSERT_TRUE(roc::platform::fail_call("hipCreateTextureObject", 1, hipErrorLaunchFailure));
  try {
    image.view();
    ADD_FAILURE() << "no error";
  } catch (roc::error const& error) {
    EXPECT_EQ(std::error_code(hipErrorLaunchFailure, roc::hip_category()), error.code());
    EXPECT_NE(std::string::npos, std::string(error.what()).find("hipCreateTextureObject"));
  }
  EXPECT_TRUE(image.view().uses_hardware());
}

TEST(TextureLifetime, TexturesAreKeptUntilTheirKernelsHaveFinished) {
  if (!roc::device().has_texture_units()) GTEST_SKIP() << "the device has no texture units";
  if (!roc::test::gate::holds()) GTEST_SKIP() << "nothing holds work back";
  texture_creation create_texture;
  one_sample const sample;
  roc::stream const stream(roc::non_blocking);
  create_texture();
  roc::test::call_counter const destroyed("hipDestroyTextureObject");
  roc::test::gate gate;
  {
    plain_image const image({5, 7}, stream);
    image.pixels().fill(3, stream);
    static_cast<void>(image.view());  // creates the texture before the gate is closed
    gate.close(stream);
    sample.enqueue(stream, image);
  }
  EXPECT_EQ(0, destroyed.count());
  gate.open();
  EXPECT_EQ(3, sample.value());
  create_texture();
  EXPECT_EQ(1, destroyed.count());
}

TEST(TextureLifetime, DestructionDelaysNoViewInOtherThreads) {
  if (!roc::device().has_texture_units()) GTEST_SKIP() << "the device has no texture units";
  if (!roc::test::gate::holds()) GTEST_SKIP() << "nothing holds work back";
  one_sample const sample;
  roc::stream const stream(roc::non_blocking);
  plain_image const image({5, 7});
  static_cast<void>(image.view());
  roc::test::gate first;
  {
    plain_image const retired({5, 7}, stream);
    static_cast<void>(retired.view());
    first.close(stream);
    sample.enqueue(stream, retired);
  }
  first.open();
  stream.synchronize();
  roc::test::gate second;
  second.close(stream);
  // On AMD the destruction of the texture of `retired` waits for the gate.
  roc::test::call_counter const created("hipCreateTextureObject");
  auto creation =
      std::async(std::launch::async, [&] { image.view({.address = address_mode::border}); });
  creation.wait_for(std::chrono::milliseconds(100));
  bool const waits = created.count() == 0;
  auto known = std::async(std::launch::async, [&] { image.view(); });
  EXPECT_EQ(std::future_status::ready, known.wait_for(std::chrono::seconds(20)));
  std::printf("the destruction %s for the device\n", waits ? "waits" : "does not wait");
  second.open();
  creation.get();
  known.get();
}

TEST(TextureLifetime, ForeignStreamMayBeDestroyedDuringACapture) {
  if (!roc::device().has_texture_units()) GTEST_SKIP() << "the device has no texture units";
  texture_creation create_texture;
  create_texture();
  roc::test::call_counter const destroyed("hipDestroyTextureObject");
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  auto image = std::make_optional<plain_image>(roc::shape<2>{5, 7}, roc::from_native(native));
  static_cast<void>(image->view());
  static_cast<void>(roc::capture([&](roc::stream_ref) {
    image.reset();
    ROCARRAY_HIP(hipStreamDestroy, native);
  }));
  create_texture();
  EXPECT_EQ(1, destroyed.count());
}

TEST(TextureLifetime, FailuresAreLoggedOnceAndCallsAreRepeated) {
  if (!roc::device().has_texture_units()) GTEST_SKIP() << "the device has no texture units";
  texture_creation create_texture;
  static std::vector<std::string> lines;
  lines.clear();
  auto const log = roc::set_log_hook([](char const* line) noexcept { lines.push_back(line); });
  create_texture();
  {
    roc::test::call_counter const destroyed("hipDestroyTextureObject");
    auto image = std::make_optional<plain_image>(roc::shape<2>{5, 7});
    static_cast<void>(image->view());
    roc::device().synchronize();
    ASSERT_TRUE(roc::platform::fail_call("hipEventRecord", 1, hipErrorLaunchFailure));
    image.reset();
    EXPECT_EQ(0, destroyed.count());
    ASSERT_EQ(1u, lines.size());
    EXPECT_NE(std::string::npos, lines[0].find("hipEventRecord")) << lines[0];
    ASSERT_TRUE(roc::platform::fail_call("hipEventRecord", 1, hipErrorLaunchFailure));
    create_texture();
    EXPECT_EQ(1u, lines.size());
    ASSERT_TRUE(roc::platform::fail_call("hipDestroyTextureObject", 1, hipErrorLaunchFailure));
    create_texture();  // records the event
    create_texture();
    EXPECT_EQ(2, destroyed.count());  // a failure and a success
    EXPECT_EQ(1u, lines.size());
    image.emplace(roc::shape<2>{5, 7});
    static_cast<void>(image->view());
    ASSERT_TRUE(roc::platform::fail_call("hipDestroyTextureObject", 1, hipErrorLaunchFailure,
                                         roc::platform::failing_uses::all_later));
    image.reset();
    create_texture();
    create_texture();
    roc::platform::clear_failures();
    ASSERT_EQ(2u, lines.size());
    EXPECT_NE(std::string::npos, lines[1].find("hipDestroyTextureObject")) << lines[1];
  }
  roc::set_log_hook(log);
}

TEST(TextureLifetime, OneFailureOfADeviceCallLosesNoTexture) {
  if (!roc::device().has_texture_units()) GTEST_SKIP() << "the device has no texture units";
  for (unsigned nth = 1; nth != 20; ++nth) {
    texture_creation create_texture;
    for (int i = 0; i != 2; ++i) create_texture();  // destroys those of earlier images
    auto image = std::make_optional<plain_image>(roc::shape<2>{5, 7});
    static_cast<void>(image->view());
    roc::device().synchronize();
    roc::test::call_counter const destroyed("hipDestroyTextureObject");
    ASSERT_TRUE(roc::platform::fail_call("hipGetDevice", nth, hipErrorUnknown));
    image.reset();
    for (int i = 0; i != 2; ++i) {
      try {
        create_texture();
      } catch (roc::error const&) {
      }
    }
    roc::platform::clear_failures();
    for (int i = 0; i != 2; ++i) create_texture();
    EXPECT_EQ(1, destroyed.count()) << nth;
  }
}

#if !ROCARRAY_PLATFORM_NVIDIA  // a program for amd also runs on the fake HIP runtime
TEST(TextureLifetime, TexturesAreDestroyedAlthoughMemoryIsExhausted) {
  if (!roc::device().has_texture_units()) GTEST_SKIP() << "the device has no texture units";
  if (!roc::test::on_cpu()) GTEST_SKIP() << "the vendor's runtime needs memory";
  texture_creation create_texture;
  create_texture();
  auto const log = roc::set_log_hook([](char const*) noexcept {});  // the first error is logged
  auto image = std::make_optional<plain_image>(roc::shape<2>{5, 7});
  static_cast<void>(image->view());
  image->record_stream(roc::per_thread_stream());
  // The work that uses the texture is not known, so that only a wait for the device makes it safe.
  static int waits;
  static std::vector<int> waits_before_destructions(10);
  waits = 0;
  waits_before_destructions.clear();  // keeps its memory
  auto const hook = roc::platform::set_call_hook([](roc::platform::call_record const& record) {
    std::string_view const name = record.name;
    if (name == "hipDeviceSynchronize") ++waits;
    if (name == "hipDestroyTextureObject") waits_before_destructions.push_back(waits);
  });
  roc::test::fail_new_of_all_threads(1, true);
  image.reset();
  roc::test::stop_failing_new();
  roc::platform::set_call_hook(hook);
  roc::set_log_hook(log);
  ASSERT_EQ(1u, waits_before_destructions.size());
  EXPECT_LE(1, waits_before_destructions[0]);
}
#endif

TEST(ImageInGraph, MemoryAndTexturesBelongToTheGraphToo) {
  texture_creation create_texture;
  bool const has_units = roc::device().has_texture_units();
  one_sample const sample;
  roc::device_array<float, 2> const values({5, 7});
  create_texture();
  roc::test::call_counter const destroyed("hipDestroyTextureObject");
  {
    roc::graph_exec executable(roc::capture([&](roc::stream_ref stream) {
      plain_image const image({5, 7}, stream);
      EXPECT_EQ(has_units, image.view().uses_hardware());
      roc::copy(values, image.pixels(), stream);
      sample.enqueue(stream, image);
    }));
    for (float const value : {1.0f, 2.0f}) {
      values.fill(value);
      executable.launch();
      EXPECT_EQ(value, sample.value());
    }
    create_texture();
    EXPECT_EQ(0, destroyed.count());
  }
  create_texture();
  EXPECT_EQ(has_units ? 1 : 0, destroyed.count());
}

TEST(ImageInGraph, LaunchAfterTheEndOfTheImageIsAnError) {
  one_sample const sample;
  auto copied = std::make_optional<plain_image>(roc::shape<2>{5, 7});
  auto sampled = std::make_optional<plain_image>(roc::shape<2>{5, 7});
  sampled->pixels().fill(3);
  roc::device_array<float, 2> const values({5, 7});
  roc::graph_exec copies(roc::capture(
      [&](roc::stream_ref stream) { roc::copy(values, copied->pixels(), stream); }));
  roc::graph_exec samples(
      roc::capture([&](roc::stream_ref stream) { sample.enqueue(stream, *sampled); }));
  copies.launch();
  samples.launch();
  EXPECT_EQ(3, sample.value());
  copied.reset();
  sampled.reset();
  constexpr auto text = "the graph uses the device array at ";
  roc::test::expect_error<roc::lifetime_error>([&] { copies.launch(); }, text);
  roc::test::expect_error<roc::lifetime_error>([&] { samples.launch(); }, text);
}

TEST(ImageInGraph, ImageMayOutliveTheGraph) {
  one_sample const sample;
  std::optional<plain_image> image;
  {
    roc::graph const captured = roc::capture([&](roc::stream_ref stream) {
      image.emplace(roc::shape<2>{5, 7}, stream);
      image->pixels().fill(1, stream);
      sample.enqueue(stream, *image);
    });
    roc::graph_exec executable(captured);
    executable.launch();
    EXPECT_EQ(1, sample.value());
  }
  image->pixels().fill(4);
  sample.enqueue({}, *image);
  EXPECT_EQ(4, sample.value());
}

TEST(ImageInGraph, ImageOfStreamThatJoinsIsDestroyedWithoutError) {
  texture_creation create_texture;
  static std::vector<std::string> lines;
  lines.clear();
  auto const log = roc::set_log_hook([](char const* line) noexcept { lines.push_back(line); });
  roc::stream const branch(roc::non_blocking);
  create_texture();
  {
    roc::test::call_counter const destroyed("hipDestroyTextureObject");
    auto image = std::make_optional<plain_image>(roc::shape<2>{5, 7}, branch);
    static_cast<void>(image->view());
    static_cast<void>(roc::capture([&](roc::stream_ref stream) {
      roc::event forked;
      forked.record(stream);
      branch.wait(forked);
      image.reset();
    }));
    create_texture();
    create_texture();
    EXPECT_EQ(roc::device().has_texture_units() ? 1 : 0, destroyed.count());
  }
  EXPECT_EQ(std::vector<std::string>(), lines);
  roc::set_log_hook(log);
}

TEST(ImageErrors, UnsupportedSizesAreNamed) {
  auto const message = [](auto make) -> std::string {
    try {
      make();
    } catch (roc::shape_error const& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(std::string::npos, message([] { roc::image<float, 2>({0, 3}); }).find("extent 0"));
  EXPECT_NE(std::string::npos,
            message([] { roc::image<float, 1>({20'000'000}); }).find("extent 20000000"));
  EXPECT_NE(std::string::npos, message([] {
                                 roc::layered_image<float, 1>({0, 3});
                               }).find("0 layers"));
  std::size_t const most = 1u << 24;
  EXPECT_NE(std::string::npos, message([=] {
                                 roc::image<float, 3>({most, most, most});
                               }).find("overflows"));
}

TEST(ImageErrors, InvalidSamplersAreNamed) {
  roc::image<float, 2> const image({3, 4});
  roc::image<std::uint8_t, 2> const bytes({3, 4});
  roc::image<std::int32_t, 2> const words({3, 4});
  auto const invalid = std::errc::invalid_argument;
  expect_error([&] { image.view({.address = address_mode::wrap}); }, invalid,
               "address mode wrap without normalized coordinates");
  expect_error([&] { image.view({.address = address_mode::mirror}); }, invalid,
               "address mode mirror without normalized coordinates");
  expect_error([&] { bytes.view({.filter = filter_mode::linear}); }, invalid,
               "linear filter of integers of 8 bits that are not read as fractions; use "
               "normalized_view");
  expect_error([&] { words.view({.filter = filter_mode::linear}); }, invalid,
               "use an image of float");
  expect_error([&] { image.view({.address = static_cast<address_mode>(9)}); }, invalid,
               "address mode");
  expect_error([&] { image.view({.filter = static_cast<filter_mode>(9)}); }, invalid, "filter");
  expect_error([&] { image.view({.unit = static_cast<sampler_unit>(9)}); }, invalid, "unit");
  EXPECT_NO_THROW(bytes.normalized_view({.filter = filter_mode::linear}));
}

TEST(ImageErrors, TextureUnitsThatCannotSampleAreNamed) {
  auto const unsupported = std::errc::not_supported;
  sampler const hardware{.unit = sampler_unit::hardware};
  bool const has_units = roc::device().has_texture_units();
  roc::image<float, 2> const image({3, 4});
  EXPECT_EQ(has_units, image.view().uses_hardware());
  if (!has_units) {
    expect_error([&] { image.view(hardware); }, unsupported, "the device has no texture units");
    return;
  }
  roc::image<float, 3> const solid({2, 3, 4});
  EXPECT_FALSE(solid.view().uses_hardware());
  expect_error([&] { solid.view(hardware); }, unsupported, "images of 3 axes");
  roc::layered_image<float, 2> const layered({2, 3, 4});
  EXPECT_FALSE(layered.view().uses_hardware());
  expect_error([&] { layered.view(hardware); }, unsupported, "images with layers");
  roc::image<float, 1> const wide({1 << 24});
  EXPECT_FALSE(wide.view().uses_hardware());
  expect_error([&] { wide.view(hardware); }, unsupported, "refuses a texture");
}

TEST(ImageLifetime, MovedImageKeepsElementsAndViews) {
  roc::image<float, 2> first({3, 4});
  first.pixels().fill(2);
  auto const view = first.view();
  roc::image<float, 2> second(std::move(first));
  EXPECT_EQ(view.pixels().data(), second.pixels().data());
  EXPECT_THROW(first.view(), roc::lifetime_error);
  EXPECT_THROW(first.copy_to_host(), roc::lifetime_error);
  EXPECT_THROW(first.shape(), roc::lifetime_error);
  EXPECT_THROW(first.row_bytes(), roc::lifetime_error);
  first = std::move(second);
  EXPECT_EQ(2, first.copy_to_host()(2, 3));
}

TEST(ImageLifetime, MemoryComesFromResource) {
  roc::hip_memory_resource direct;
  roc::pool_resource pool(direct);
  auto const before = pool.statistics().current_bytes;
  roc::image<float, 2> image({30, 40}, pool);
  EXPECT_GE(pool.statistics().current_bytes, before + 30 * 256);
  image.record_stream(roc::stream_ref());
  image = roc::image<float, 2>();
  EXPECT_EQ(before, pool.statistics().current_bytes);
}

// Ends the process; with code 3 if f(stream) or the synchronization throws.
template <class F>
[[noreturn]] void run(F f) {
  try {
    roc::image<float, 2> const image({4, 6});
    image.pixels().zero();
    roc::stream const stream;
    f(stream, image.view());
    stream.synchronize();
  } catch (roc::error const&) {
    std::_Exit(3);
  }
  std::_Exit(0);
}
bool has_failed(int status) {
  return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

class ImageBoundsDeathTest : public testing::Test {
 protected:
  ImageBoundsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ImageBoundsDeathTest, ElementsInsideAreUsed) {
  EXPECT_EXIT(run([](roc::stream_ref stream, auto const& image) {
                roc::test::load_image_at(stream, image, 3, 5);
                roc::test::store_image_at(stream, image, 3, 5);
              }),
              testing::ExitedWithCode(0), "");
}

TEST_F(ImageBoundsDeathTest, ElementsOutsideAreReportedWithKernelBlockAndThread) {
  std::string const place =
      roc::test::on_cpu() ? "kernel .*image_.*, block \\(1, 0, 0\\), thread \\(1, 2, 0\\).*bounds"
                          : "";
  for (auto const& [row, column] : {std::pair(4, 0), std::pair(0, 6), std::pair(-1, 0)}) {
    EXPECT_EXIT(run([row = row, column = column](roc::stream_ref stream, auto const& image) {
                  roc::test::load_image_at(stream, image, row, column);
                }),
                has_failed, place);
    EXPECT_EXIT(run([row = row, column = column](roc::stream_ref stream, auto const& image) {
                  roc::test::store_image_at(stream, image, row, column);
                }),
                has_failed, place);
  }
}

}  // namespace
