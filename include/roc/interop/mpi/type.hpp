// SPDX-License-Identifier: MIT
// Element types and MPI's datatypes. Included by roc/interop/mpi.hpp.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <roc/interop/mpi/error.hpp>

namespace roc {

/// The MPI datatype of elements of type T: defined for integers, bool, float, double, long double
/// and std::complex of float and double. Specialise it for your own type, with a static member
/// `get`, if an MPI_Op can reduce it:
///   template <> struct roc::mpi_type<my_type> { static MPI_Datatype get() { return committed; } };
///
/// Only all_reduce needs it; other operations transfer elements of every type as bytes.
template <class T>
struct mpi_type {};

/// Integers, bool, floating-point and complex numbers.
template <class T>
  requires std::is_arithmetic_v<T> || std::same_as<T, std::complex<float>> ||
           std::same_as<T, std::complex<double>>
struct mpi_type<T> {
  /// Returns a predefined datatype of MPI. Needs MPI_Init with Open MPI.
  static MPI_Datatype get() {
    if constexpr (std::same_as<T, bool>) {
      return MPI_CXX_BOOL;
    } else if constexpr (std::same_as<T, float>) {
      return MPI_FLOAT;
    } else if constexpr (std::same_as<T, double>) {
      return MPI_DOUBLE;
    } else if constexpr (std::same_as<T, long double>) {
      return MPI_LONG_DOUBLE;
    } else if constexpr (std::same_as<T, std::complex<float>>) {
      return MPI_CXX_FLOAT_COMPLEX;
    } else if constexpr (std::same_as<T, std::complex<double>>) {
      return MPI_CXX_DOUBLE_COMPLEX;
    } else if constexpr (sizeof(T) == 1) {
      return std::is_signed_v<T> ? MPI_INT8_T : MPI_UINT8_T;
    } else if constexpr (sizeof(T) == 2) {
      return std::is_signed_v<T> ? MPI_INT16_T : MPI_UINT16_T;
    } else if constexpr (sizeof(T) == 4) {
      return std::is_signed_v<T> ? MPI_INT32_T : MPI_UINT32_T;
    } else {
      static_assert(sizeof(T) == 8, "rocarray: MPI has no datatype for this type");
      return std::is_signed_v<T> ? MPI_INT64_T : MPI_UINT64_T;
    }
  }
};

namespace detail {

/// An element type that all_reduce accepts.
template <class T>
concept mpi_reducible = requires {
  { mpi_type<T>::get() } -> std::same_as<MPI_Datatype>;
};

/// What the ranks compare of an element type, besides its size.
enum class mpi_kind : std::uint8_t {
  bytes,
  boolean,
  signed_integer,
  unsigned_integer,
  real,
  complex
};

template <class T>
inline constexpr mpi_kind mpi_kind_of =
    std::same_as<T, bool>         ? mpi_kind::boolean
    : std::is_floating_point_v<T> ? mpi_kind::real
    : std::is_integral_v<T>
        ? (std::is_signed_v<T> ? mpi_kind::signed_integer : mpi_kind::unsigned_integer)
    : std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>
        ? mpi_kind::complex
        : mpi_kind::bytes;

/// Returns a name for messages, such as "float32" or "struct of 12 bytes".
inline std::string mpi_type_name(mpi_kind kind, std::size_t size) {
  std::string const bits = std::to_string(8 * size);
  switch (kind) {
    case mpi_kind::boolean: return "bool";
    case mpi_kind::signed_integer: return "int" + bits;
    case mpi_kind::unsigned_integer: return "uint" + bits;
    case mpi_kind::real: return "float" + bits;
    case mpi_kind::complex: return "complex" + bits;
    case mpi_kind::bytes: break;
  }
  return "struct of " + std::to_string(size) + " bytes";
}

}  // namespace detail
}  // namespace roc
