// SPDX-License-Identifier: MIT
// Everything except the vendor's types (roc/native.hpp).
#pragma once

#include <roc/adopt.hpp>
#include <roc/bound_view.hpp>
#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/copy_batch.hpp>
#include <roc/device.hpp>
#include <roc/device_allocation.hpp>
#include <roc/device_array.hpp>
#include <roc/device_resources.hpp>
#include <roc/device_view.hpp>
#include <roc/error.hpp>
#include <roc/event.hpp>
#include <roc/fill.hpp>
#include <roc/for_each.hpp>
#include <roc/host_array.hpp>
#include <roc/host_memory.hpp>
#include <roc/host_view.hpp>
#include <roc/managed.hpp>
#include <roc/map.hpp>
#include <roc/mapped_view.hpp>
#include <roc/memory_resource.hpp>
#include <roc/padding.hpp>
#include <roc/pinned_cache.hpp>
#include <roc/pool_resource.hpp>
#include <roc/profiler_range.hpp>
#include <roc/rectangle.hpp>
#include <roc/registration.hpp>
#include <roc/resource_adaptors.hpp>
#include <roc/stream.hpp>
#include <roc/stream_pool.hpp>
#include <roc/to_device.hpp>
