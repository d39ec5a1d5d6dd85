// SPDX-License-Identifier: MIT
// The options in effect for the calling thread.
#pragma once

#include <atomic>
#include <cstdarg>
#include <string>
#include <string_view>

#include <roc/options.hpp>

namespace roc::base {

using detail::active_options;
using roc::default_resource;

/// The options of the calling thread's innermost scope; null if it is in none.
extern constinit thread_local active_options const* thread_options;
/// The options of the process; null until the environment has been read. What it points to is
/// never changed or freed.
extern constinit std::atomic<active_options const*> process_options;
/// The number of reasons to report the library's calls of HIP: options with trace_calls that are in
/// effect, and what platform/call.cpp adds to it. A checked call takes the slow path unless it is
/// 0.
extern constinit std::atomic<unsigned> call_observers;

/// Reads the environment, unless that was done already, and returns the options of the process.
/// Warns of values that cannot be used, which are replaced by their defaults, and of unknown
/// variables. Does not allocate.
active_options const& read_environment() noexcept;

/// Returns the options in effect for the calling thread; the first call in a process reads the
/// environment. The reference is valid until the thread's innermost scope ends.
inline active_options const& options() noexcept {
  if (thread_options != nullptr) return *thread_options;
  active_options const* const of_process = process_options.load(std::memory_order_acquire);
  return of_process != nullptr ? *of_process : read_environment();
}

/// Makes the calling thread use `values`, such as the options of the thread that enqueued its work.
/// They must outlive the scope.
class options_scope {
 public:
  explicit options_scope(active_options const& values) noexcept : previous_(thread_options) {
    thread_options = &values;
  }
  /// Keeps the options in effect for the whole of a call, although another thread may change those
  /// of the process meanwhile.
  options_scope() noexcept : options_scope(options()) {}
  ~options_scope() { thread_options = previous_; }
  options_scope(options_scope const&) = delete;
  options_scope& operator=(options_scope const&) = delete;

 private:
  active_options const* previous_;
};

/// Writes the line of log_line, without asking for the level.
void write_line(log_level level, char const* format, std::va_list arguments) noexcept;

/// Returns the text of the member of `values` with this name, in the form that set_member takes.
/// Throws roc::error for an unknown name.
std::string member_text(roc::options const& values, std::string_view member);
/// Sets the member of `values` with this name from the text that its environment variable takes; 0
/// or 1 for a flag. Throws roc::error for an unknown name or a value that cannot be used.
void set_member(roc::options& values, std::string_view member, std::string_view text);

/// Throws the error of a copy that cannot take the path of its copy_options.
[[noreturn]] void throw_impossible_path(copy_path path);

}  // namespace roc::base
