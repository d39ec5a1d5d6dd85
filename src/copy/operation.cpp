// SPDX-License-Identifier: MIT
#include "copy/operation.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <system_error>

#include <roc/detail/enqueue_failure.hpp>
#include <roc/error.hpp>

#include "memory/host/host_table.hpp"

namespace roc {
namespace {

thread_local detail::enqueue_failure_scope* innermost_failure_scope = nullptr;

}  // namespace

detail::enqueue_failure_scope::enqueue_failure_scope(void (*before_wait)(void* data) noexcept,
                                                     void* data) noexcept
    : before_wait_(before_wait), data_(data), outer_(innermost_failure_scope) {
  innermost_failure_scope = this;
}

detail::enqueue_failure_scope::~enqueue_failure_scope() { innermost_failure_scope = outer_; }

void detail::enqueue_failure_scope::run_innermost() noexcept {
  auto const* const scope = innermost_failure_scope;
  if (scope != nullptr) scope->before_wait_(scope->data_);
}

}  // namespace roc

namespace roc::transfer {

using memory::host_table;

void trace_scope::begin_copy(plan const& p) {
  begin("roc::copy %s %s %zu bytes", to_string(p.kind), roc::to_string(p.path),
        p.canonical.bytes());
}

void trace_scope::begin(char const* format, ...) {
  std::array<char, 96> name;
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(name.data(), name.size(), format, arguments);
  va_end(arguments);
  base::log_line(base::log_level::trace, "%s", name.data());
  range_.emplace(name.data());
}

void wait_for_host_uses(std::span<base::byte_range const> reads,
                        std::span<base::byte_range const> writes) {
  host_table::instance().wait_for_writes(reads);
  host_table::instance().wait_for_uses(writes);
}

void order_after_earlier_work(operation const& op, int device) {
  memory::synchronize_default_stream(device, op.device_memory[0], op.device_memory[1]);
  for (memory::allocation_record const* const record : op.records) {
    memory::synchronize_default_stream(device, record);
  }
  bool const must_block =
      op.access == host_access::by_cpu ||
      (op.access == host_access::by_hip_call && runtime::has_unsynchronized_work(device));
  if (must_block) {
    runtime::synchronize_all_streams(device);
  } else {
    runtime::order_default_stream_after_all(device);
  }
  // Pending uses may be on streams of other devices too.
  if (op.has_partly_pinned || !runtime::has_one_device()) {
    wait_for_host_uses(op.host_reads, op.host_writes);
  }
}

void order_after_host_uses(operation const& op, stream_ref stream) {
  auto& table = host_table::instance();
  if (!op.read_now.empty()) table.wait_for_writes(op.read_now);
  if (!op.has_partly_pinned) return;
  table.order_after_uses(op.host_reads, stream);
  table.order_after_uses(op.host_writes, stream);
}

void check_capturable(base::byte_range range, bool is_untracked) {
  auto const memory = host_table::instance().query_access(range, false);
  if (memory.pinned || (is_untracked && !memory.partly_pinned)) return;
  throw error(std::make_error_code(std::errc::not_supported),
              "the host memory at " + to_string(range) + " is pageable" +
                  (memory.partly_pinned ? " in part" : "") +
                  ", and cannot be used by captured work; register it, or use a pinned array");
}

void add_host_memory(operation const& op, memory::graph_memory& graph) {
  for (base::byte_range const range : op.read_now) check_capturable(range, false);
  for (base::byte_range const range : op.host_reads) {
    check_capturable(range, op.are_reads_untracked);
  }
  for (base::byte_range const range : op.host_writes) {
    check_capturable(range, op.are_writes_untracked);
  }
  if (op.uses_host_functions) runtime::require_captured_host_functions();
  auto const add = [&](base::byte_range range, bool is_write) {
    auto const uses = host_table::instance().find_pinned_uses(range);
    if (uses.empty()) return graph.add_untracked(range, is_write);
    for (auto const& memory : uses) graph.add_host({range, memory, is_write});
  };
  for (base::byte_range const range : op.host_reads) add(range, false);
  for (base::byte_range const range : op.host_writes) add(range, true);
}

void record_host_ranges(operation const& op, stream_ref stream) {
  if (op.records_write_ranges && !op.host_writes.empty()) {
    host_table::instance().record_writes({op.host_writes.begin(), op.host_writes.end()}, stream);
  }
  if (op.records_read_ranges && !op.host_reads.empty()) {
    host_table::instance().record_reads({op.host_reads.begin(), op.host_reads.end()}, stream);
  }
}

}  // namespace roc::transfer
