// SPDX-License-Identifier: MIT
// Includes all of the library, except roc/native.hpp, roc/native/ and roc/interop/.
#pragma once

// Arrays and views. device_array.hpp is first so that a compiler's message about its element type
// begins with few lines about includes.
#include <roc/device_array.hpp>

#include <roc/bound_view.hpp>
#include <roc/device_view.hpp>
#include <roc/host_array.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/padding.hpp>
#include <roc/layout/rectangle.hpp>
#include <roc/to_device.hpp>

// Copies, fills and kernels.
#include <roc/block_shape.hpp>
#include <roc/copy.hpp>
#include <roc/copy_batch.hpp>
#include <roc/fill.hpp>
#include <roc/for_each.hpp>
#include <roc/graph.hpp>
#include <roc/memcpy.hpp>
#include <roc/memory_view.hpp>
#include <roc/several_devices.hpp>

// Host memory.
#include <roc/memory/host_memory.hpp>
#include <roc/memory/managed.hpp>
#include <roc/memory/map.hpp>
#include <roc/memory/mapped_view.hpp>
#include <roc/memory/pageable_cache.hpp>
#include <roc/memory/pinned_cache.hpp>
#include <roc/registration.hpp>

// Device memory.
#include <roc/ipc.hpp>
#include <roc/memory/adaptors.hpp>
#include <roc/memory/adopt.hpp>
#include <roc/memory/device_allocation.hpp>
#include <roc/memory/hip_host_resources.hpp>
#include <roc/memory/hip_resources.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/memory/pool_resource.hpp>

// Devices, streams, events, errors, options.
#include <roc/config.hpp>
#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/event.hpp>
#include <roc/ipc_event.hpp>
#include <roc/options.hpp>
#include <roc/profiler_range.hpp>
#include <roc/stream.hpp>
#include <roc/stream_pool.hpp>
