// SPDX-License-Identifier: MIT
// The cases that there are, by name.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiment.hpp"

namespace rocbench {

/// Which bytes a rate counts.
enum class accounting : unsigned char {
  payload,  ///< the bytes that were copied or written, once
  traffic,  ///< the bytes that were read and the bytes that were written
  time,     ///< none: what matters is how long one execution takes
};
char const* to_string(accounting counted) noexcept;

/// What the physics of the machine bounds a rate by.
enum class bound : unsigned char {
  link,                 ///< between host and device, in one direction
  link_both_ways,       ///< in both
  device_memory,        ///< traffic of the device's memory
  device_memory_reads,  ///< the same, of work that next to never writes
  none,                 ///< a matter of software
};

/// Who does the work.
enum class caller : unsigned char {
  library,
  raw,  ///< HIP's own call, and a wait where the library's call waits too
};

/// What is asked of a case.
struct extent_request {
  std::size_t bytes = 0;     ///< of payload
  std::size_t row = 4096;    ///< bytes of a row of the strided cases, and of a piece of the batches
  std::size_t pitch = 4608;  ///< bytes from one row to the next, at least `row`
  std::size_t element = 4;   ///< bytes of an element of the permutations: 1, 2, 4, 8 or 16
};

/// A case that can be asked for by name.
struct benchmark_case {
  std::string name;
  std::string description;
  accounting counted;
  bound limited_by;
  bool by_default;  ///< measured where no case is named
  std::function<std::unique_ptr<experiment>(extent_request const&)> make;
};

/// Every case, in the order of the table: each of the library's with HIP's own call behind it.
std::vector<benchmark_case> const& all_cases();

/// The cases that any of the globs names, in the table's order. `*` matches any text, slashes too:
/// "*pinned" names h2d/pinned, bidir/pinned, raw/h2d/pinned and more.
std::vector<benchmark_case> matching_cases(std::vector<std::string> const& globs);
/// Those that are measured where none is named.
std::vector<benchmark_case> default_cases();

// The groups that all_cases() is made of; each appends its own.
void add_copy_cases(std::vector<benchmark_case>& to);
void add_bidirectional_cases(std::vector<benchmark_case>& to);
void add_strided_cases(std::vector<benchmark_case>& to);
void add_batch_cases(std::vector<benchmark_case>& to);
void add_fill_cases(std::vector<benchmark_case>& to);
void add_kernel_access_cases(std::vector<benchmark_case>& to);
void add_stream_cases(std::vector<benchmark_case>& to);
void add_latency_cases(std::vector<benchmark_case>& to);
void add_alloc_cases(std::vector<benchmark_case>& to);

}  // namespace rocbench
