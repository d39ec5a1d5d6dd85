# SPDX-License-Identifier: MIT
# The sources of HIP on the CPU, relative to this directory.
set(ROCARRAY_HOST_HIP_SOURCES
  api/copy.cpp api/device.cpp api/error.cpp api/event.cpp api/graph.cpp api/ipc.cpp api/launch.cpp
  api/managed.cpp api/memory.cpp api/memory_pool.cpp api/stream.cpp api/stream_values.cpp api/texture.cpp
  access_checker.cpp access_report.cpp access_signals.cpp accessed_memory.cpp api_call.cpp arena.cpp
  block_runner.cpp block_shared_memory.cpp box_copy.cpp capture.cpp code_place.cpp current_device.cpp event.cpp
  fiber.cpp grid.cpp host_function.cpp host_ranges.cpp kernel_symbols.cpp launch.cpp located_memory.cpp
  parallel_for.cpp peer_access.cpp process_file.cpp protected_pages.cpp scheduler.cpp settings.cpp
  shared_event.cpp start_thread.cpp)
