// SPDX-License-Identifier: MIT
// Options of the process.
#include <roc/c.h>

#include <cstring>
#include <mutex>
#include <string>

#include <roc/options.hpp>

#include "base/options.hpp"
#include "c_interface/call.hpp"

using namespace roc::c_interface;

// Options

roc_status roc_get_option(char const* name, char* text, size_t size, size_t* length) {
  return run("roc_get_option", [&] {
    require(name, "name");
    if (size != 0) require(text, "text");
    std::string const value = roc::base::member_text(roc::base::read_environment(), name);
    if (length != nullptr) *length = value.size();
    if (size == 0 && length != nullptr) return;
    if (value.size() >= size) {
      throw_invalid("the text of " + std::to_string(value.size() + 1) +
                    " bytes does not fit into " + std::to_string(size) +
                    "; pass a larger one: 64 are always enough");
    }
    std::memcpy(text, value.c_str(), value.size() + 1);
  });
}

roc_status roc_set_option(char const* name, char const* text) {
  return run("roc_set_option", [&] {
    require(name, "name");
    require(text, "text");
    static std::mutex mutex;  // calls of other threads must not lose this change
    std::lock_guard const lock(mutex);
    roc::options values = roc::base::read_environment();
    roc::base::set_member(values, name, text);
    roc::set_options(values);
  });
}
