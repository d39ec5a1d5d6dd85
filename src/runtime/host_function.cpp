// SPDX-License-Identifier: MIT
#include <roc/stream.hpp>

#include <exception>
#include <memory>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/host_function_errors.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::detail {
namespace {

// A host function that has been enqueued, and the slot for its exception. Owns the closure.
struct host_job {
  explicit host_job(host_function f) : function(f) {}
  ~host_job() { function.destroy(function.closure); }
  host_job(host_job const&) = delete;
  host_job& operator=(host_job const&) = delete;

  // Runs and deletes the job that `argument` points to. The HIP runtime calls it on its own thread.
  static void run(void* argument) {
    platform::host_function_scope const scope;
    std::unique_ptr<host_job> const self(static_cast<host_job*>(argument));
    try {
      self->function.run(self->function.closure);
    } catch (...) {
      self->errors->store(std::current_exception());
    }
  }

  host_function function;
  std::shared_ptr<runtime::host_error_slot> errors;
};

}  // namespace

void launch_host_function(stream_ref stream, host_function function) {
  auto job = [&] {
    try {
      return std::make_unique<host_job>(function);
    } catch (...) {
      function.destroy(function.closure);
      throw;
    }
  }();
  hipStream_t const native = runtime::handle(stream);
  int const device = runtime::device_of(stream, runtime::current_device());
  runtime::on_device const guard(device);
  job->errors = runtime::host_error_slot_of(stream, device);
  runtime::enqueue_and_record(stream, [&] {
    ROCARRAY_HIP(hipLaunchHostFunc, native, &host_job::run, job.get());
    static_cast<void>(job.release());  // host_job::run deletes it
  });
}

}  // namespace roc::detail
