// SPDX-License-Identifier: MIT
// Experiments that copy from one buffer to another, by the library or by HIP: one copy after
// another, or several at once.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "image.hpp"
#include "verification.hpp"

namespace rocbench {

/// The operands of a case, and the part of its name that says so. At least one is device memory.
struct operand_pair {
  char const* name;
  memory_kind source;
  memory_kind destination;
  bool by_default = true;
  /// The device of device memory; -1 is the current device.
  int source_device = -1;
  int destination_device = -1;

  bool within_device() const {
    return source == memory_kind::device && destination == memory_kind::device &&
           source_device == destination_device;
  }
  bool has(memory_kind kind) const { return source == kind || destination == kind; }
};

/// Returns words such as "pinned host".
char const* description_of(memory_kind kind);

/// How a copy is called, and what follows the call.
enum class call_kind : unsigned char {
  blocking,           ///< without a stream; HIP's call and a synchronization
  on_stream,          ///< enqueued on the experiment's stream, then synchronized
  borrowed,           ///< as on_stream, with roc::borrow_source
  enqueued,           ///< only enqueued; whoever calls run() synchronizes
  enqueued_borrowed,  ///< as enqueued, with roc::borrow_source
};

/// Returns the call of a case that does not say otherwise: copies of pageable memory are blocking,
/// others are enqueued.
call_kind usual_call(operand_pair const& operands);

/// Returns an experiment that copies from one kind of memory to another. It is timed by device
/// events if the copies are only enqueued, else by the wall clock.
std::unique_ptr<buffer_experiment> make_transfer(operand_pair const& operands, api_kind api,
                                                 call_kind call, copy_layout const& layout);

/// How several transfers are executed at once.
enum class concurrency : unsigned char {
  threads,         ///< each in a thread of its own
  streams,         ///< one thread enqueues one of each in turn, then waits for all streams
  ordered_streams  ///< as streams, but timed by device events: the first stream waits for the
                   ///< others
};

/// Returns an experiment of transfers that run at once. Its bytes are those of all.
/// @param transfers at least one; enqueued unless they run in threads
std::unique_ptr<experiment> make_concurrent(
    std::vector<std::unique_ptr<buffer_experiment>> transfers, concurrency how);

}  // namespace rocbench
