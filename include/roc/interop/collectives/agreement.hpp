// SPDX-License-Identifier: MIT
// Describes a call of a collective operation, and compares those of two ranks. Included by
// roc/interop/collectives.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include <roc/detail/array_operand.hpp>
#include <roc/error.hpp>
#include <roc/interop/collectives/error.hpp>

namespace roc::detail {

enum class collective_kind : unsigned char {
  all_reduce,
  broadcast,
  reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  send,
  receive
};

inline char const* name_of(collective_kind kind) {
  static char const* const names[] = {"all_reduce",     "broadcast",  "reduce", "all_gather",
                                      "reduce_scatter", "all_to_all", "send",   "receive"};
  return names[static_cast<int>(kind)];
}

/// Returns a hash of the name of a type, which is equal in all processes. (FNV-1a)
inline std::uint64_t hash_of_name(std::type_info const& type) {
  std::uint64_t result = 0xcbf29ce484222325u;
  for (char const letter : std::string_view(type.name())) {
    result = (result ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  }
  return result;
}

/// One rank's call of a collective operation. A plain value, which processes exchange.
struct collective_description {
  collective_kind kind;
  int rank;
  int root;
  int reduction;  // equal in all ranks for operations that reduce nothing
  std::uint64_t element;
  std::uint64_t element_size;
  std::uint64_t count;
  std::uint64_t axes;
  std::array<std::size_t, array_operand::max_rank> shape;

  std::string shape_text() const {
    return array_operand::text_of(shape, static_cast<std::size_t>(axes));
  }
};
static_assert(std::is_trivially_copyable_v<collective_description>);

/// Returns the descriptions that all ranks pass, in their order. Blocks until all have called it,
/// and meanwhile calls `poll`, whose exceptions end the wait.
using collective_exchange = std::function<std::vector<collective_description>(
    collective_description const& own, std::function<void()> const& poll)>;

/// Throws collective_error or shape_error if two ranks of a communicator disagree.
inline void check_agreement(collective_description const& a, collective_description const& b) {
  std::string const ranks = "ranks " + std::to_string(a.rank) + " and " + std::to_string(b.rank) +
                            " of the communicator ";
  std::string const name = name_of(a.kind);
  if (a.kind != b.kind) {
    throw collective_error(ranks + "call different operations, " + name + " and " +
                           name_of(b.kind) + "; call the same in the same order");
  }
  if (a.root != b.root) {
    throw collective_error(ranks + "pass different roots, " + std::to_string(a.root) + " and " +
                           std::to_string(b.root) + "; pass the same");
  }
  if (a.reduction != b.reduction) {
    throw collective_error(ranks + "pass different reductions to " + name + "; pass the same");
  }
  if (a.element != b.element || a.element_size != b.element_size) {
    throw collective_error(ranks + "pass different element types to " + name + "; pass the same");
  }
  if (a.count != b.count) {
    throw shape_error("incompatible shape: " + ranks + "pass " + std::to_string(a.count) + " and " +
                      std::to_string(b.count) + " elements to " + name + "; pass equal shapes");
  }
  if (a.axes != b.axes || a.shape != b.shape) {
    throw shape_error("incompatible shape: " + ranks + "pass " + a.shape_text() + " and " +
                      b.shape_text() + " to " + name + "; pass equal shapes");
  }
}

}  // namespace roc::detail
