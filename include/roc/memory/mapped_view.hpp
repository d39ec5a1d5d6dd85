// SPDX-License-Identifier: MIT
// Host memory as the device sees it, without a copy: roc::device_view_of.
#pragma once

#include <roc/device_view.hpp>
#include <roc/detail/mapped_view.hpp>
