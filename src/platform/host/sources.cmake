# SPDX-License-Identifier: MIT
# The host provider: HIP on the CPU.
set(ROCARRAY_HOST_PROVIDER_SOURCES
  arena.cpp copy.cpp device.cpp engine.cpp entry.cpp errors.cpp event.cpp host_memory.cpp launch.cpp
  managed.cpp memory.cpp memory_pool.cpp move.cpp settings.cpp stream.cpp workers.cpp)
