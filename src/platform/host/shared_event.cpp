// SPDX-License-Identifier: MIT
#include "platform/host/shared_event.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/no_destructor.hpp"
#include "platform/host/settings.hpp"
#include "platform/host/start_thread.hpp"

namespace roc::host_hip {
namespace {

constexpr std::uint32_t slot_count = 1024;
constexpr std::size_t file_bytes = slot_count * sizeof(shared_event_slot);

std::atomic_ref<std::uint64_t> shared(std::uint64_t& value) noexcept {
  static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);
  return std::atomic_ref<std::uint64_t>(value);
}

// Raises the value to `least`, if it is smaller.
void raise(std::uint64_t& value, std::uint64_t least) noexcept {
  std::uint64_t found = shared(value).load();
  while (found < least && !shared(value).compare_exchange_weak(found, least)) {
  }
}

std::size_t ring_index(std::uint64_t number) noexcept {
  return number % shared_event_slot::ring_size;
}

}  // namespace

/// The events that one process has created.
class shared_event_file {
 public:
  /// Maps the file, which must have file_bytes. Throws std::bad_alloc.
  shared_event_file(process_reference const& creator, int creators_descriptor, int descriptor)
      : creator_(creator), creators_descriptor_(creators_descriptor) {
    void* const data = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    slots_ = static_cast<shared_event_slot*>(data);
  }
  ~shared_event_file() { munmap(slots_, file_bytes); }
  shared_event_file(shared_event_file const&) = delete;
  shared_event_file& operator=(shared_event_file const&) = delete;

  /// Returns the file of this process. The first call creates it. Throws std::bad_alloc.
  static std::shared_ptr<shared_event_file> own() {
    static base::no_destructor<std::shared_ptr<shared_event_file>> instance;
    static std::mutex mutex;
    std::lock_guard const lock(mutex);
    if (*instance == nullptr) {
      file_descriptor file(memfd_create("rocarray events", MFD_CLOEXEC));
      if (file.get() < 0 || ftruncate(file.get(), static_cast<off_t>(file_bytes)) != 0) {
        throw std::bad_alloc();
      }
      *instance = std::make_shared<shared_event_file>(this_process(), file.get(), file.get());
      file.release();  // stays open: other processes open it by its number
    }
    return *instance;
  }

  process_reference const& creator() const noexcept { return creator_; }
  int creators_descriptor() const noexcept { return creators_descriptor_; }
  shared_event_slot& slot(std::uint32_t index) const noexcept { return slots_[index]; }

 private:
  process_reference const creator_;
  int const creators_descriptor_;
  shared_event_slot* slots_;
};

namespace {

// Runs the work that other processes wait for, in the modes inline and deferred.
class remote_waits {
 public:
  static remote_waits& instance() {
    static base::no_destructor<remote_waits> instance;
    return *instance;
  }

  // Adds a recording. The first call starts a thread.
  void add(std::shared_ptr<shared_event_file> file, shared_event_slot& slot, std::uint64_t number,
           operation_ptr reached) {
    std::lock_guard const lock(mutex_);
    if (!has_thread_) start_thread([this] { serve(); });
    has_thread_ = true;
    recordings_.push_back({std::move(file), &slot, number, std::move(reached)});
    changed_.notify_one();
  }

 private:
  struct recording {
    std::shared_ptr<shared_event_file> file;
    shared_event_slot* slot;
    std::uint64_t number;
    operation_ptr reached;

    bool is_reached() const noexcept {
      return shared(slot->reached[ring_index(number)]).load() >= number;
    }
    bool is_wanted() const noexcept { return shared(slot->wanted).load() >= number; }
  };

  void serve() noexcept {
    constexpr auto interval = std::chrono::microseconds(100);
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !recordings_.empty(); });
      std::erase_if(recordings_, [](recording const& item) { return item.is_reached(); });
      operation_ptr wanted;
      for (recording const& item : recordings_) {
        if (!item.is_wanted()) continue;
        wanted = item.reached;
        lock.unlock();
        // Runs one operation, and does not wait for values, which other processes may write.
        scheduler::instance().query(wanted);
        lock.lock();
        break;
      }
      // The next wanted recording comes first next time: this one may wait for a value.
      if (wanted != nullptr && recordings_.size() > 1) {
        std::rotate(recordings_.begin(), recordings_.begin() + 1, recordings_.end());
      }
      bool const is_progressing = wanted != nullptr && ++rounds_ % 64 != 0;
      if (!is_progressing) {
        lock.unlock();
        std::this_thread::sleep_for(interval);
        lock.lock();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<recording> recordings_;
  unsigned rounds_ = 0;
  bool has_thread_ = false;
};

}  // namespace

shared_event::shared_event(std::shared_ptr<shared_event_file> file, std::uint32_t slot,
                           std::uint64_t generation)
    : file_(std::move(file)), slot_(slot), generation_(generation) {}

shared_event::~shared_event() {
  bool const is_own = file_->creator() == this_process();
  if (is_own) shared(slot().generation).store(generation_ + 1);
}

shared_event_slot& shared_event::slot() const noexcept { return file_->slot(slot_); }

std::shared_ptr<shared_event> shared_event::create() {
  auto file = shared_event_file::own();
  for (std::uint32_t i = 0; i < slot_count; ++i) {
    shared_event_slot& slot = file->slot(i);
    std::uint64_t generation = shared(slot.generation).load();
    if (generation % 2 != 0) continue;
    // Another thread may take the slot.
    if (!shared(slot.generation).compare_exchange_strong(generation, generation + 1)) continue;
    std::uint64_t const next = shared(slot.next).load();
    shared(slot.first).store(next);
    shared(slot.recorded).store(next);
    return std::shared_ptr<shared_event>(new shared_event(std::move(file), i, generation + 1));
  }
  throw std::bad_alloc();
}

std::shared_ptr<shared_event> shared_event::open(shared_event_location const& location) {
  file_descriptor const descriptor = open_file_of(location.creator, location.file);
  if (descriptor.get() < 0 || location.slot >= slot_count) return nullptr;
  auto file =
      std::make_shared<shared_event_file>(location.creator, location.file, descriptor.get());
  if (shared(file->slot(location.slot).generation).load() != location.generation) return nullptr;
  return std::shared_ptr<shared_event>(
      new shared_event(std::move(file), location.slot, location.generation));
}

shared_event_location shared_event::location(unsigned flags, int device) const noexcept {
  return {file_->creator(), file_->creators_descriptor(), slot_, generation_, flags, device};
}

std::uint64_t shared_event::begin_recording() noexcept {
  std::uint64_t const number = shared(slot().next).fetch_add(1) + 1;
  std::atomic_ref<std::int64_t>(slot().recorder[ring_index(number)]).store(::getpid());
  return number;
}

void shared_event::reach(std::uint64_t number) noexcept {
  raise(slot().reached[ring_index(number)], number);
}

void shared_event::publish(std::shared_ptr<shared_event> const& event, std::uint64_t number,
                           operation_ptr const& reached) {
  raise(event->slot().recorded, number);
  if (host_settings().mode == run_mode::threaded) return;
  remote_waits::instance().add(event->file_, event->slot(), number, reached);
}

std::optional<shared_event::remote_recording> shared_event::last_recording(
    std::uint64_t own) const {
  std::uint64_t const number = shared(slot().recorded).load();
  if (number == own || number == shared(slot().first).load()) return std::nullopt;
  raise(slot().wanted, number);
  struct owner {
    std::shared_ptr<shared_event_file> file;
    file_descriptor recorder;
  };
  auto const pid = std::atomic_ref<std::int64_t>(slot().recorder[ring_index(number)]).load();
  auto held = std::make_shared<owner>(owner{file_, watch_process(pid)});
  // The recording of a process that has ended counts as reached.
  if (held->recorder.get() < 0 && !process_exists(pid)) return std::nullopt;
  remote_recording result;
  result.condition.address = &slot().reached[ring_index(number)];
  result.condition.value = number;
  result.condition.compares = awaited_value::comparison::greater_or_equal;
  result.condition.writer = held->recorder.get();
  result.owner = std::move(held);
  return result;
}

}  // namespace roc::host_hip
