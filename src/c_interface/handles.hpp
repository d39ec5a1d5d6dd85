// SPDX-License-Identifier: MIT
// Streams as arguments, and the tables of handles.
#pragma once

#include <memory>
#include <optional>

#include <roc/c.h>
#include <roc/stream.hpp>

#include "base/no_destructor.hpp"
#include "c_interface/handle_table.hpp"

namespace roc::c_interface {

/// The stream that a handle refers to.
struct stream_entry {
  std::optional<stream> owned;  // empty for streams of other code
  stream_ref reference;
};

struct stream_table : handle_table<roc_stream, stream_entry> {
  stream_table() noexcept : handle_table("stream") {}
};
/// Returns the table of the process. Never destroyed: other threads, and static objects of the
/// program, may use them until the process ends.
template <class Table>
Table& table() noexcept {
  static base::no_destructor<Table> instance;
  return *instance;
}

/// A stream that is an argument. Keeps it alive during the call.
class stream_argument {
 public:
  explicit stream_argument(roc_stream handle) {
    if (handle != ROCARRAY_DEFAULT_STREAM) entry_ = table<stream_table>().get(handle);
  }
  stream_ref get() const noexcept { return entry_ == nullptr ? stream_ref() : entry_->reference; }

 private:
  std::shared_ptr<stream_entry> entry_;
};

}  // namespace roc::c_interface
