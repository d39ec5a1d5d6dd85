// SPDX-License-Identifier: MIT
#include "interrupt.hpp"

#include <atomic>

#include <signal.h>

namespace rocbench {
namespace {

std::atomic<bool> came{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may use nothing else");

}  // namespace

void note_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { came = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept { return came; }

}  // namespace rocbench
