// SPDX-License-Identifier: MIT
#include <roc/registration.hpp>

#include <exception>

#include <roc/error.hpp>

#include "memory/host_table.hpp"
#include "platform/hip.hpp"
#include "runtime/error.hpp"

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

void register_extents(host_extent const* extents, std::size_t count,
                      registration_options options) {
  for (std::size_t i = 0; i < count; ++i) {
    if (extents[i].bytes == 0) continue;
    try {
      memory::host_table::instance().register_range(
          memory::range::of(extents[i].data, extents[i].bytes), flags_of(options));
    } catch (...) {
      deregister_extents_quietly(extents, i);
      throw;
    }
  }
}

void deregister_extent(host_extent extent) {
  if (extent.bytes == 0) return;
  memory::host_table::instance().deregister(memory::range::of(extent.data, extent.bytes));
}

void deregister_extents(host_extent const* extents, std::size_t count) {
  auto& table = memory::host_table::instance();
  for (std::size_t i = 0; i < count; ++i) {
    if (extents[i].bytes == 0) continue;
    table.check_registered(memory::range::of(extents[i].data, extents[i].bytes));
  }
  for (std::size_t i = 0; i < count; ++i) deregister_extent(extents[i]);
}

void deregister_extents_quietly(host_extent const* extents, std::size_t count) noexcept {
  while (count-- != 0) {
    try {
      deregister_extent(extents[count]);
    } catch (std::exception const& late) {
      runtime::log(late.what());
    }
  }
}

}  // namespace detail

registration::registration(std::vector<detail::host_extent> extents, registration_options options)
    : extents_(std::move(extents)) {
  detail::register_extents(extents_.data(), extents_.size(), options);
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

void registration::deregister() {
  while (!extents_.empty()) {
    detail::deregister_extent(extents_.back());
    extents_.pop_back();
  }
}

}  // namespace roc
