// SPDX-License-Identifier: MIT
// Everything except the vendor's types (roc/native.hpp).
#pragma once

#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/device.hpp>
#include <roc/device_array.hpp>
#include <roc/device_view.hpp>
#include <roc/error.hpp>
#include <roc/event.hpp>
#include <roc/for_each.hpp>
#include <roc/host_array.hpp>
#include <roc/host_view.hpp>
#include <roc/registration.hpp>
#include <roc/stream.hpp>
