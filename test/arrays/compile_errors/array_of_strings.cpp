// SPDX-License-Identifier: MIT
// expected: rocarray: the element type must be trivially copyable
#include <roc/roc.hpp>

#include <string>

roc::device_array<std::string> array;
