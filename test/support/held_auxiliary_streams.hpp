// SPDX-License-Identifier: MIT
// Holds all auxiliary streams that are free, so that operations get none.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <roc/device.hpp>
#include <roc/stream.hpp>

#include "runtime/auxiliary_streams.hpp"

namespace roc::test {

/// All pairs of auxiliary streams of a device that are free for operations on a stream. Nobody else
/// can use them while the object exists.
class held_auxiliary_streams {
 public:
  held_auxiliary_streams(int device, stream_ref user) {
    device_guard const guard{roc::device(device)};
    for (;;) {
      auto pair = std::make_unique<runtime::auxiliary_streams_guard>(user);
      if (!*pair) break;
      pairs_.push_back(std::move(pair));
    }
  }

  std::size_t size() const { return pairs_.size(); }
  void release_one() { pairs_.pop_back(); }

 private:
  std::vector<std::unique_ptr<runtime::auxiliary_streams_guard>> pairs_;
};

}  // namespace roc::test
