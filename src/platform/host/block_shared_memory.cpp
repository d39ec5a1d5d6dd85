// SPDX-License-Identifier: MIT
#include "platform/host/block_shared_memory.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>

#include "base/round_up.hpp"
#include "platform/host/api.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {

bool block_shared_memory::has(std::size_t bytes) const noexcept {
  return memory_ != nullptr && memory_->size() >= bytes;
}

void block_shared_memory::allocate(std::size_t bytes) {
  if (has(bytes)) return;
  memory_ = std::make_unique<guarded_memory>(std::max(bytes, alignment),
                                             guarded_memory::guards::before_and_after);
}

std::byte* block_shared_memory::prepare(grid_launch const& launch, bool poisons) {
  dynamic_bytes_ = base::round_up(launch.shared_bytes, alignment);
  allocate(dynamic_bytes_);
  // Ends where the inaccessible page begins, so that an access beyond the end faults.
  dynamic_ = memory_->data() + memory_->size() - dynamic_bytes_;
  static_ = nullptr;
  if (!poisons) return dynamic_;
  static_ = thread_local_memory_of(launch.kernel.function);
  symbols_ = symbols_of(launch.kernel.function);
  try {
    find_unused_memory(launch.kernel.function);
  } catch (std::bad_alloc const&) {
    unused_memory_.clear();  // is not checked
  }
  return dynamic_;
}

void block_shared_memory::find_unused_memory(void const* kernel) {
  unused_memory_.clear();
  auto const& variables = symbols_->shared_variables;
  if (host_settings().check == check_mode::off || variables.empty()) return;
  for (shared_variable const& variable : variables) {
    if (variable.unused_bytes == 0) continue;
    unused_memory_.push_back({variable.offset + variable.bytes, variable.unused_bytes});
  }
  // The variables of other kernels have no values while this kernel runs. Only the near ones are
  // checked: a block takes time for each byte.
  constexpr std::size_t distance = 4096;
  std::size_t const first = variables.front().offset;
  std::size_t const begin = first < distance ? 0 : first - distance;
  std::size_t const end = variables.back().offset + variables.back().bytes + distance;
  for (auto const& other : symbols_of_other_kernels(kernel)) {
    for (shared_variable const& variable : other->shared_variables) {
      bool const is_own =
          std::any_of(variables.begin(), variables.end(),
                      [&](shared_variable const& own) { return own.offset == variable.offset; });
      if (is_own) continue;  // two kernels have the same name
      std::size_t const from = std::max(begin, variable.offset);
      std::size_t const to =
          std::min(end, variable.offset + variable.bytes + variable.unused_bytes);
      if (from < to) unused_memory_.push_back({from, to - from});
    }
  }
}

void block_shared_memory::poison() const {
  std::memset(dynamic_, fresh_poison, dynamic_bytes_);
  if (static_ == nullptr) return;
  for (shared_variable const& variable : symbols_->shared_variables) {
    std::memset(static_ + variable.offset, fresh_poison, variable.bytes);
  }
  for (thread_local_range const& range : unused_memory_) {
    std::memset(static_ + range.offset, fresh_poison, range.bytes);
  }
}

std::vector<unused_memory_write> block_shared_memory::writes_to_unused_memory() const {
  std::vector<unused_memory_write> result;
  if (static_ == nullptr) return result;
  for (thread_local_range const& range : unused_memory_) {
    std::byte const* const begin = static_ + range.offset;
    std::byte const* const written = std::find_if(begin, begin + range.bytes, [](std::byte value) {
      return value != std::byte{fresh_poison};
    });
    if (written == begin + range.bytes) continue;
    auto const position = static_cast<std::size_t>(written - static_);
    auto const& variables = symbols_->shared_variables;
    auto const next = std::upper_bound(
        variables.begin(), variables.end(), position,
        [](std::size_t at, shared_variable const& variable) { return at < variable.offset; });
    bool const is_before = next == variables.begin();
    shared_variable const& nearest = is_before ? *next : *std::prev(next);
    std::array<char, 1024> text;
    std::snprintf(
        text.data(), text.size(),
        "has written %zu bytes %s the __shared__ variable %s, which has %zu bytes; "
        "check the indices",
        is_before ? nearest.offset - position : position - nearest.offset - nearest.bytes + 1,
        is_before ? "before" : "beyond", nearest.name.c_str(), nearest.bytes);
    result.push_back({text.data(), nearest.offset});
  }
  return result;
}

}  // namespace roc::host_hip
