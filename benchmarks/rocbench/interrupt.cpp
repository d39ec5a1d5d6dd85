// SPDX-License-Identifier: MIT
#include "interrupt.hpp"

#include <atomic>

#include <signal.h>

namespace rocbench {
namespace {

std::atomic<bool> signal_received{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not lock");

}  // namespace

void handle_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { signal_received = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept { return signal_received; }

}  // namespace rocbench
