// SPDX-License-Identifier: MIT
// The entry point of every copy.
#include <roc/copy.hpp>

#include "base/options.hpp"
#include "copy/execute.hpp"
#include "copy/plan.hpp"
#include "platform/call.hpp"

namespace roc {

void detail::copy(strided_region const& source, strided_region const& destination,
                  stream_ref const* stream, source_use use) {
  using transfer::timing;
  platform::refuse_in_host_function();
  base::options_scope const options;  // the same options from the plan to the last chunk
  timing const when = stream == nullptr ? timing::now : timing::enqueued;
  transfer::execute(transfer::make_plan(source, destination, when, use), stream);
}

copy_path detail::planned_path(strided_region const& source, strided_region const& destination) {
  return transfer::make_plan(source, destination, transfer::timing::now).path;
}

}  // namespace roc
