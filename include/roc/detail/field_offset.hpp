// SPDX-License-Identifier: MIT
// Where a member lies in its record.
#pragma once

#include <cstddef>

namespace roc::detail {

/// Bytes from the beginning of a record to a member.
template <class U, class Record>
std::size_t field_offset(U Record::*member) noexcept {
  // An address of a member is all that is formed: there need be no record.
  alignas(Record) static std::byte const storage[sizeof(Record)] = {};
  auto const* const record = reinterpret_cast<Record const*>(storage);
  // Through a byte, as the member's own type may have an operator&.
  auto const& place = reinterpret_cast<std::byte const volatile&>(record->*member);
  return static_cast<std::size_t>(&place - storage);
}

}  // namespace roc::detail
