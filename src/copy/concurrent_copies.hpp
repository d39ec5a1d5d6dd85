// SPDX-License-Identifier: MIT
// Copies of several devices that are executed at the same time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <roc/stream.hpp>

#include "copy/plan.hpp"
#include "copy/stream_on_device.hpp"

namespace roc::transfer {

/// Blocks until the streams are idle, after an error, as runtime::synchronize_quietly does.
/// Allocates nothing if it can make the devices current. Logs errors.
void synchronize_quietly(std::span<stream_on_device const> streams) noexcept;

/// An internal stream, and a device whose memory the work on it will use.
struct device_dependency {
  stream_on_device executor;
  int device;
};
/// Makes each executor wait for all work enqueued earlier on the device, as calls without streams
/// require. Does not block. Throws roc::error, std::bad_alloc.
void order_after_earlier_work(std::span<device_dependency const> work);

/// Blocks until the work enqueued on the streams so far is done. Throws roc::error.
void wait_for(std::span<stream_on_device const> streams);

/// Returns the internal stream of a device for copies of several devices at once. Throws
/// roc::error.
stream_on_device concurrent_stream(int device);

/// Independent copies, each executed by one device. Copies that the devices execute alone are
/// enqueued one after the other. Those that the CPU takes part in run on one thread each, because
/// they return only after the CPU has read or written their host memory.
class concurrent_copies {
 public:
  /// The copies will be enqueued on streams, or be complete when execute() returns.
  explicit concurrent_copies(timing when) : when_(when) {}

  /// Plans a copy; enqueues nothing.
  /// @param device is that of one of the two sides; its stream executes the copy.
  /// @param stream is a stream of that device, or null if copies are to be complete on return.
  /// Throws what make_plan throws.
  void add(detail::strided_region const& source, detail::strided_region const& destination,
           int device, stream_ref const* stream);

  /// Returns the number of copies, with those of no elements.
  std::size_t size() const noexcept { return copies_.size(); }
  /// Returns the plan of a copy, whose canonical layout is set if its path is not none.
  plan const& plan_of(std::size_t number) const { return copies_[number].planned; }

  /// Executes all copies. Blocks as transfer::execute does for each. If it throws, no work of any
  /// copy is pending. Throws roc::error, out_of_memory, std::bad_alloc.
  void execute();

 private:
  struct copy {
    plan planned;
    stream_on_device executor;
    bool needs_no_cpu;  // the device executes it alone
    bool has_begun = false;
  };
  class cpu_work;

  void enqueue_device_copies();
  void run_cpu_copies();
  void run(copy& item) const;
  // Returns true if work of the copy may be pending on its stream after run() or an error. Without
  // streams, a copy that needs the CPU leaves nothing pending: it returns complete or after
  // waiting.
  bool may_be_pending(copy const& item) const noexcept {
    return item.has_begun && (when_ == timing::enqueued || item.needs_no_cpu);
  }
  void wait() const;
  void wait_quietly() const noexcept;

  timing const when_;
  std::vector<copy> copies_;
};

}  // namespace roc::transfer
