// SPDX-License-Identifier: MIT
// Events that several processes use (hipEventInterprocess): their state is in memory that the
// processes share.
//
// Every recording has a number. The stream of the process that made it writes the number when it
// has reached the recording, and other processes wait for the number: see awaited_value. In the
// modes inline and deferred a thread runs the work that other processes wait for.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "platform/host/process_file.hpp"
#include "platform/host/scheduler.hpp"

namespace roc::host_hip {

/// How another process finds an event.
struct shared_event_location {
  process_reference creator;
  std::int32_t file;  // a descriptor of the creator
  std::uint32_t slot;
  std::uint64_t generation;
  std::uint32_t flags;
  std::int32_t device;
};

/// The state of one event, in the file of the process that created it. The members are atomic, and
/// zero at first.
struct shared_event_slot {
  static constexpr std::size_t ring_size = 32;

  std::uint64_t generation;  // odd while the event exists
  std::uint64_t next;        // numbers of recordings that have begun
  std::uint64_t first;       // `next` when the event was created
  std::uint64_t recorded;    // the last recording that has been enqueued
  std::uint64_t wanted;      // the last recording that another process waits for
  // By the number of a recording modulo the size: the last number that was reached, and the process
  // that made the recording. More recordings are rarely pending at the same time; a wait may then
  // end late.
  std::array<std::uint64_t, ring_size> reached;
  std::array<std::int64_t, ring_size> recorder;
};

class shared_event_file;

/// An event in memory that processes share. Members may be called from any thread.
class shared_event {
 public:
  /// Creates an event. Throws std::bad_alloc, also if the process has too many.
  static std::shared_ptr<shared_event> create();
  /// Opens an event of another process. Returns null if it does not exist any more. Throws
  /// std::bad_alloc.
  static std::shared_ptr<shared_event> open(shared_event_location const& location);
  ~shared_event();
  shared_event(shared_event const&) = delete;
  shared_event& operator=(shared_event const&) = delete;

  /// Returns how other processes find it.
  shared_event_location location(unsigned flags, int device) const noexcept;
  /// Returns the number for a recording that is about to be enqueued.
  std::uint64_t begin_recording() noexcept;
  /// To be called when the stream has reached a recording.
  void reach(std::uint64_t number) noexcept;
  /// Makes the recording, which the operation `reached` reaches, the last one. Throws
  /// std::bad_alloc, std::system_error; the recording is then the last one nevertheless, but other
  /// processes may wait in vain for it in the modes inline and deferred.
  static void publish(std::shared_ptr<shared_event> const& event, std::uint64_t number,
                      operation_ptr const& reached);

  /// A recording that another process has made, or may have made.
  struct remote_recording {
    awaited_value condition;
    std::shared_ptr<void> owner;  // keeps the memory of the condition
  };
  /// Returns the last recording, and tells its process that it is awaited. Returns nothing if there
  /// is none, or if its number is `own`.
  std::optional<remote_recording> last_recording(std::uint64_t own) const;

 private:
  friend struct std::default_delete<shared_event>;
  shared_event(std::shared_ptr<shared_event_file> file, std::uint32_t slot,
               std::uint64_t generation);
  shared_event_slot& slot() const noexcept;

  std::shared_ptr<shared_event_file> file_;
  std::uint32_t slot_;
  std::uint64_t generation_;
};

}  // namespace roc::host_hip
