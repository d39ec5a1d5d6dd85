// SPDX-License-Identifier: MIT
#include "platform/host/event.hpp"

#include <unordered_map>
#include <utility>

#include "base/no_destructor.hpp"

namespace roc::host_hip {
namespace {

struct event_table {
  std::mutex mutex;
  std::unordered_map<hipEvent_t, std::shared_ptr<event_object>> by_handle;
};

// Never destroyed: static destructors of the program still destroy events.
event_table& events() {
  static base::no_destructor<event_table> instance;
  return *instance;
}

}  // namespace

hipEvent_t create_event(int device, unsigned flags) {
  bool const is_shared = (flags & hipEventInterprocess) != 0;
  return add_event(
      std::make_shared<event_object>(device, flags, is_shared ? shared_event::create() : nullptr));
}

hipEvent_t add_event(std::shared_ptr<event_object> added) {
  auto const handle = static_cast<hipEvent_t>(next_handle());
  std::lock_guard const lock(events().mutex);
  events().by_handle.emplace(handle, std::move(added));
  return handle;
}

bool destroy_event(hipEvent_t event) {
  std::lock_guard const lock(events().mutex);
  return events().by_handle.erase(event) != 0;
}

std::shared_ptr<event_object> find_event(hipEvent_t event) {
  std::lock_guard const lock(events().mutex);
  auto const found = events().by_handle.find(event);
  return found == events().by_handle.end() ? nullptr : found->second;
}

}  // namespace roc::host_hip
