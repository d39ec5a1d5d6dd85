// SPDX-License-Identifier: MIT
#include <roc/memory/mapped_view.hpp>
#include <roc/registration.hpp>

#include <roc/error.hpp>

#include "base/byte_range.hpp"
#include "memory/host/device_aliases.hpp"
#include "memory/host/host_registrations.hpp"
#include "memory/host/host_table.hpp"
#include "memory/host/huge_pages.hpp"
#include "platform/hip.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"

namespace roc {
namespace {

unsigned flags_of(registration_options options) {
  unsigned flags = hipHostRegisterDefault;
  if (options.mapped) flags |= hipHostRegisterMapped;
  if (options.portable) flags |= hipHostRegisterPortable;
  if (options.read_only) flags |= hipHostRegisterReadOnly;
  return flags;
}

}  // namespace

namespace detail {

device_address device_address_of(void const* data, std::size_t bytes, bool for_writing) {
  auto const range = base::byte_range::of(data, bytes);
  if (for_writing) memory::host_table::instance().check_writable(range);
  return {memory::device_aliases::instance().device_address(range), runtime::current_device()};
}

namespace {

// Calls `add` with the range of each extent that is not empty. If a call throws, deregisters the
// ranges that were added.
template <class F>
void add_all(host_extent const* extents, std::size_t count, F add) {
  for (std::size_t i = 0; i < count; ++i) {
    if (extents[i].bytes == 0) continue;
    try {
      add(base::byte_range::of(extents[i].data, extents[i].bytes));
    } catch (...) {
      deregister_extents_quietly(extents, i);
      throw;
    }
  }
}

}  // namespace

void register_extents(host_extent const* extents, std::size_t count, registration_options options) {
  add_all(extents, count, [&](base::byte_range range) {
    if (options.huge_pages) memory::advise_huge_pages(range);
    memory::host_registrations::instance().register_range(range, flags_of(options));
  });
}

void adopt_extents(host_extent const* extents, std::size_t count) {
  add_all(extents, count,
          [](base::byte_range range) { memory::host_registrations::instance().adopt(range); });
}

void deregister_extent(host_extent extent) {
  if (extent.bytes == 0) return;
  memory::host_registrations::instance().deregister(
      base::byte_range::of(extent.data, extent.bytes));
}

// Deregisters nothing if one of the extents is not registered exactly.
void deregister_extents(host_extent const* extents, std::size_t count) {
  auto& registrations = memory::host_registrations::instance();
  for (std::size_t i = 0; i < count; ++i) {
    if (extents[i].bytes == 0) continue;
    registrations.check_registered(base::byte_range::of(extents[i].data, extents[i].bytes));
  }
  for (std::size_t i = 0; i < count; ++i) deregister_extent(extents[i]);
}

// Deregisters in reverse order. Logs errors, except after the runtime has shut down, and continues
// with the next extent.
void deregister_extents_quietly(host_extent const* extents, std::size_t count) noexcept {
  while (count-- != 0) platform::log_if_throws([&] { deregister_extent(extents[count]); });
}

}  // namespace detail

registration registration::make_registered(std::vector<detail::host_extent> extents,
                                           registration_options options) {
  detail::register_extents(extents.data(), extents.size(), options);
  return registration(std::move(extents));
}

registration registration::make_adopted(std::vector<detail::host_extent> extents) {
  detail::adopt_extents(extents.data(), extents.size());
  return registration(std::move(extents));
}

registration& registration::operator=(registration&& other) noexcept {
  if (this == &other) return *this;
  detail::deregister_extents_quietly(extents_.data(), extents_.size());
  extents_ = std::exchange(other.extents_, {});
  return *this;
}

registration::~registration() {
  detail::deregister_extents_quietly(extents_.data(), extents_.size());
}

void registration::deregister(detail::caller at) {
  detail::call_scope const call(__func__, at);
  while (!extents_.empty()) {
    detail::deregister_extent(extents_.back());
    extents_.pop_back();
  }
}

}  // namespace roc
