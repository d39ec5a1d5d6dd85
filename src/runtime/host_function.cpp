// SPDX-License-Identifier: MIT
#include <roc/detail/host_function.hpp>

#include <exception>
#include <memory>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/host_function_errors.hpp"
#include "runtime/stream.hpp"

namespace roc::detail {
namespace {

struct host_job {
  explicit host_job(host_function which) : function(which) {}
  ~host_job() { function.destroy(function.closure); }
  host_job(host_job const&) = delete;
  host_job& operator=(host_job const&) = delete;

  static void run(void* argument) {
    platform::host_function_scope const scope;
    std::unique_ptr<host_job> const self(static_cast<host_job*>(argument));
    try {
      self->function.run(self->function.closure);
    } catch (...) {
      self->result->keep(std::current_exception());
    }
  }

  host_function function;
  std::shared_ptr<runtime::host_outcome> result;
};

}  // namespace

void launch_host_function(stream_ref stream, host_function function) {
  auto work = [&] {
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
  work->result = runtime::host_outcome_of(stream, device);
  runtime::enqueue_noted(stream, [&] {
    ROCARRAY_HIP(hipLaunchHostFunc, native, &host_job::run, work.get());
    static_cast<void>(work.release());  // deleted by run
  });
}

}  // namespace roc::detail
