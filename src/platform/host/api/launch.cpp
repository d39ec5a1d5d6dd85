// SPDX-License-Identifier: MIT
// Host functions, and kernels that are functions of the program.
#include "platform/host/launch.hpp"

#include <atomic>
#include <cstdio>
#include <memory>

#include "base/format_bytes.hpp"
#include "base/log.hpp"
#include "platform/host/access_checker.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/fiber.hpp"
#include "platform/host/grid.hpp"
#include "platform/host/host_function.hpp"
#include "platform/host/kernel_symbols.hpp"
#include "platform/host/parallel_for.hpp"
#include "platform/host/scheduler.hpp"

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function,
                                               void* data) {
  return api_call("hipLaunchHostFunc", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    if (function == nullptr) return hipErrorInvalidValue;
    scheduler::instance().submit(
        target,
        [=, work = stream_captures::instance().track(target.get(), "host function", stream)] {
          run_host_function(function, data);
        },
        nullptr, "host function");
    return hipSuccess;
  });
}

#if !defined(ROCARRAY_FAKE_RUNTIME)

namespace {

// The arguments of a kernel, which `destroy` destroys after the operation that uses them. An
// operation may be destroyed by another thread than that which runs it, and ThreadSanitizer does
// not see the order of these if the library is compiled without it.
class kernel_arguments {
 public:
  kernel_arguments(void* closure, void (*destroy)(void*)) : closure_(closure), destroy_(destroy) {}
  ~kernel_arguments() {
    fiber::acquire(closure_);
    destroy_(closure_);
  }
  kernel_arguments(kernel_arguments const&) = delete;
  kernel_arguments& operator=(kernel_arguments const&) = delete;

  void* get() const noexcept { return closure_; }
  // To be called after the kernel.
  void finish_use() const noexcept { fiber::release(closure_); }

 private:
  void* closure_;
  void (*destroy_)(void*);
};

using closure_pointer = std::unique_ptr<void, void (*)(void*)>;

// Throws std::bad_alloc, and then leaves the closure to its owner.
std::shared_ptr<kernel_arguments const> take_arguments(closure_pointer& owner) {
  auto result = std::make_shared<kernel_arguments const>(owner.get(), owner.get_deleter());
  static_cast<void>(owner.release());
  return result;
}

}  // namespace

hipError_t launch_host_kernel(hipStream_t stream, std::size_t items,
                              void (*run)(void*, std::size_t, std::size_t), void* closure,
                              void (*destroy)(void*)) {
  closure_pointer owner(closure, destroy);
  return api_call("launch_host_kernel", [&] {
    if (run == nullptr) return hipErrorInvalidValue;
    return enqueue_kernel(stream, [=, arguments = take_arguments(owner)] {
      parallel_for(items, run, arguments->get());
      arguments->finish_use();
    });
  });
}

#endif

ROCARRAY_HOST_API_END

#if !defined(ROCARRAY_FAKE_RUNTIME)

namespace roc::host_kernels {

using namespace host_hip;

namespace {

// Says once that a shared object with kernels takes much of the stack of each thread.
void warn_of_thread_local_memory(kernel_symbols const& kernel) {
  constexpr std::size_t warned_bytes = std::size_t{1} << 20;
  static std::atomic<bool> has_warned = false;
  if (kernel.thread_local_bytes <= warned_bytes || has_warned.exchange(true)) return;
  base::log_line(log_level::warning,
                 "%s has %s of thread-local variables, which include the __shared__ variables of "
                 "all its kernels; glibc takes them from the stack of each thread of the process "
                 "if the file is loaded at its start; use roc::dynamic_shared for large arrays, or "
                 "load the kernels with dlopen",
                 kernel.is_program ? "the program" : kernel.path.c_str(),
                 base::format_bytes(kernel.thread_local_bytes).c_str());
}

}  // namespace

hipError_t launch_host_grid(hipStream_t stream, host_kernel const& kernel, dim3 grid, dim3 block,
                            std::size_t shared_bytes, void* closure, void (*destroy)(void*)) {
  closure_pointer owner(closure, destroy);
  return api_call("launch_host_grid", [&] {
    std::size_t const threads = std::size_t{block.x} * block.y * block.z;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || threads > max_block_threads) {
      return hipErrorInvalidConfiguration;
    }
    auto const* const variables = reinterpret_cast<void const*>(kernel.variables);
    if (defining_object(kernel.function) != defining_object(variables)) {
      std::fprintf(stderr,
                   "rocarray host: kernel %s belongs to another shared object than the caller of "
                   "roc::launch; launch it from its own shared object, and give kernels hidden "
                   "visibility\n",
                   kernel_name(kernel.function).c_str());
      return hipErrorInvalidDeviceFunction;
    }
    auto const symbols = symbols_of(kernel.function);
    warn_of_thread_local_memory(*symbols);
    if (shared_bytes > max_shared_bytes() ||
        symbols->shared_bytes > max_shared_bytes() - shared_bytes) {
      return hipErrorInvalidValue;
    }
    grid_launch const launch{
        kernel, closure, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes};
    reserve_runner(launch);
    return enqueue_kernel(stream, [launch, arguments = take_arguments(owner)] {
      run_grid(launch);
      arguments->finish_use();
    });
  });
}

hipError_t static_shared_bytes(void const* kernel, std::size_t* bytes) {
  return api_call("static_shared_bytes", [=] {
    *bytes = symbols_of(kernel)->shared_bytes;
    return hipSuccess;
  });
}

}  // namespace roc::host_kernels

#endif
