// SPDX-License-Identifier: MIT
#include <roc/memory/pool_resource.hpp>

#include "memory/pool/pool_state.hpp"

namespace roc {

pool_resource::pool_resource(memory_resource& upstream, pool_options const& options,
                             detail::caller at)
    : state_((detail::call_scope("pool_resource", at),
              std::make_shared<memory::pool_state>(upstream, options))) {}

pool_resource::~pool_resource() { state_->close(); }

void pool_resource::set_limit(std::size_t bytes) { state_->set_limit(bytes); }

std::size_t pool_resource::limit() const { return state_->limit(); }

detail::resource_block pool_resource::do_allocate_block(std::size_t bytes, stream_ref stream) {
  return state_->allocate(bytes, stream);
}

void pool_resource::do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                                        stream_ref stream) noexcept {
  state_->deallocate(block, bytes, stream);
}

void* pool_resource::do_allocate(std::size_t bytes, stream_ref stream) {
  return do_allocate_block(bytes, stream).data;
}

void pool_resource::do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept {
  do_deallocate_block({data}, bytes, stream);
}

int pool_resource::do_device_ordinal() const noexcept { return state_->device(); }

std::optional<host_memory> pool_resource::do_host_kind() const noexcept {
  return state_->host_kind();
}

memory_statistics pool_resource::do_statistics() const { return state_->statistics(); }

void pool_resource::do_trim() { state_->trim(); }

}  // namespace roc
