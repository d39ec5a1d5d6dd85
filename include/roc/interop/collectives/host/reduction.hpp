// SPDX-License-Identifier: MIT
// Reductions of the elements of all ranks by the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <roc/half.hpp>
#include <roc/interop/collectives/host/types.hpp>

namespace roc::host_ccl::impl {

inline std::size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclFloat16: return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8;
  }
  return 0;
}

template <class T>
T combined(T a, T b, ncclRedOp_t operation) {
  if (operation == ncclMax) return a < b ? b : a;
  if (operation == ncclMin) return b < a ? b : a;
  if constexpr (std::is_integral_v<T>) {
    // Without overflow of signed numbers.
    auto const x = static_cast<std::uint64_t>(a);
    auto const y = static_cast<std::uint64_t>(b);
    return static_cast<T>(operation == ncclProd ? x * y : x + y);
  } else {
    return operation == ncclProd ? a * b : a + b;
  }
}

/// Combines `count` elements of each input, in the order of the ranks.
template <class T, class Sum = T>
void reduce_typed(std::vector<std::byte const*> const& inputs, std::byte* output, std::size_t count,
                  ncclRedOp_t operation) {
  for (std::size_t i = 0; i < count; ++i) {
    auto const element = [&](std::size_t rank) {
      T value;
      std::memcpy(&value, inputs[rank] + i * sizeof(T), sizeof(T));
      return static_cast<Sum>(value);
    };
    Sum result = element(0);
    for (std::size_t rank = 1; rank < inputs.size(); ++rank) {
      result = combined(result, element(rank), operation);
    }
    if (operation == ncclAvg) {
      // As in NCCL: the sum of integers has their type.
      if constexpr (std::is_integral_v<T>) result = static_cast<T>(result);
      result = static_cast<Sum>(result / static_cast<Sum>(inputs.size()));
    }
    T const value = static_cast<T>(result);
    std::memcpy(output + i * sizeof(T), &value, sizeof(T));
  }
}

inline void reduce(std::vector<std::byte const*> const& inputs, std::byte* output,
                   std::size_t count, ncclDataType_t type, ncclRedOp_t operation) {
  switch (type) {
    case ncclInt8: return reduce_typed<std::int8_t, std::int64_t>(inputs, output, count, operation);
    case ncclUint8:
      return reduce_typed<std::uint8_t, std::uint64_t>(inputs, output, count, operation);
    case ncclInt32:
      return reduce_typed<std::int32_t, std::int64_t>(inputs, output, count, operation);
    case ncclUint32:
      return reduce_typed<std::uint32_t, std::uint64_t>(inputs, output, count, operation);
    case ncclInt64: return reduce_typed<std::int64_t>(inputs, output, count, operation);
    case ncclUint64: return reduce_typed<std::uint64_t>(inputs, output, count, operation);
    case ncclFloat16: return reduce_typed<half, float>(inputs, output, count, operation);
    case ncclFloat32: return reduce_typed<float>(inputs, output, count, operation);
    case ncclFloat64: return reduce_typed<double>(inputs, output, count, operation);
  }
}

}  // namespace roc::host_ccl::impl
