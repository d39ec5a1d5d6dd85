// SPDX-License-Identifier: MIT
// Everything except the vendor's types (roc/native.hpp).
#pragma once

#include <roc/memory/adopt.hpp>
#include <roc/bound_view.hpp>
#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/copy_batch.hpp>
#include <roc/device.hpp>
#include <roc/memory/device_allocation.hpp>
#include <roc/device_array.hpp>
#include <roc/memory/hip_resources.hpp>
#include <roc/device_view.hpp>
#include <roc/error.hpp>
#include <roc/event.hpp>
#include <roc/fill.hpp>
#include <roc/for_each.hpp>
#include <roc/host_array.hpp>
#include <roc/memory/host_memory.hpp>
#include <roc/host_view.hpp>
#include <roc/memory/managed.hpp>
#include <roc/memory/map.hpp>
#include <roc/memory/mapped_view.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/layout/padding.hpp>
#include <roc/memory/pinned_cache.hpp>
#include <roc/memory/pool_resource.hpp>
#include <roc/profiler_range.hpp>
#include <roc/layout/rectangle.hpp>
#include <roc/registration.hpp>
#include <roc/memory/adaptors.hpp>
#include <roc/stream.hpp>
#include <roc/stream_pool.hpp>
#include <roc/to_device.hpp>
