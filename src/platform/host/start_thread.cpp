// SPDX-License-Identifier: MIT
#include "platform/host/start_thread.hpp"

#include <pthread.h>

#include <cstddef>
#include <memory>
#include <system_error>
#include <utility>

#include "base/without_signals.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/kernel_symbols.hpp"

namespace roc::host_hip {
namespace {

// The attributes of a detached thread.
class thread_attributes {
 public:
  thread_attributes() {
    if (int const error = ::pthread_attr_init(&attributes_); error != 0) fail(error);
    std::size_t stack_bytes = 0;
    pthread_attr_t defaults;
    if (::pthread_getattr_default_np(&defaults) == 0) {
      ::pthread_attr_getstacksize(&defaults, &stack_bytes);
      ::pthread_attr_destroy(&defaults);
      ::pthread_attr_setstacksize(&attributes_, stack_bytes + thread_local_bytes_of_process());
    }
    ::pthread_attr_setdetachstate(&attributes_, PTHREAD_CREATE_DETACHED);
  }
  ~thread_attributes() { ::pthread_attr_destroy(&attributes_); }
  thread_attributes(thread_attributes const&) = delete;
  thread_attributes& operator=(thread_attributes const&) = delete;

  pthread_attr_t const* get() const noexcept { return &attributes_; }
  [[noreturn]] static void fail(int error) {
    throw std::system_error(error, std::generic_category(), "pthread_create");
  }

 private:
  pthread_attr_t attributes_;
};

}  // namespace

void start_thread(std::function<void()> body) {
  if (injected_failure("start_thread") != hipSuccess) {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  thread_attributes const attributes;
  auto owner = std::make_unique<std::function<void()>>(std::move(body));
  auto const run = [](void* argument) noexcept -> void* {
    std::unique_ptr<std::function<void()>> const function(
        static_cast<std::function<void()>*>(argument));
    (*function)();
    return nullptr;
  };
  pthread_t thread;
  base::without_signals const mask;
  if (int const error = ::pthread_create(&thread, attributes.get(), run, owner.get()); error != 0) {
    thread_attributes::fail(error);
  }
  static_cast<void>(owner.release());
}

}  // namespace roc::host_hip
