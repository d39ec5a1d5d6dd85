// SPDX-License-Identifier: MIT
// Devices: attributes, names, versions, and the codes for invalid device numbers.
#include "support.hpp"

#include <cstdio>
#include <cstring>

namespace probe {

namespace {

int attribute(hipDeviceAttribute_t attribute_id, char const* name) {
  int value = 0;
  expect(hipSuccess, hipDeviceGetAttribute(&value, attribute_id, 0), name);
  std::printf("        %d\n", value);
  return value;
}

}  // namespace

void probe_device() {
  section("device");
  int count = 0;
  expect(hipSuccess, hipGetDeviceCount(&count), "hipGetDeviceCount");
  int current = -1;
  expect(hipSuccess, hipSetDevice(0), "hipSetDevice(0)");
  expect(hipSuccess, hipGetDevice(&current), "hipGetDevice");
  check(current == 0, "hipGetDevice returns the device that was set");
  expect(hipErrorInvalidDevice, hipSetDevice(count),
         "hipSetDevice with an invalid number returns 101");
  int value = 0;
  expect(hipErrorInvalidDevice, hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, count),
         "an attribute of an invalid device number returns 101");

  char name[256] = {};
  expect(hipSuccess, hipDeviceGetName(name, sizeof name, 0), "hipDeviceGetName");
  char bus[64] = {};
  expect(hipSuccess, hipDeviceGetPCIBusId(bus, sizeof bus, 0), "hipDeviceGetPCIBusId");
  check(std::strlen(name) > 0 && std::strchr(bus, ':') != nullptr, "name and bus id are not empty");
  int runtime = 0;
  int driver = 0;
  expect(hipSuccess, hipRuntimeGetVersion(&runtime), "hipRuntimeGetVersion");
  expect(hipSuccess, hipDriverGetVersion(&driver), "hipDriverGetVersion");
  std::printf("        %s at %s, runtime %d, driver %d\n", name, bus, runtime, driver);

  check(attribute(hipDeviceAttributeMultiprocessorCount, "MultiprocessorCount") > 0, "positive");
  check(attribute(hipDeviceAttributeWarpSize, "WarpSize") == 32, "32 lanes");
  check(attribute(hipDeviceAttributeMaxThreadsPerBlock, "MaxThreadsPerBlock") >= 1024, "1024");
  check(attribute(hipDeviceAttributeMemoryBusWidth, "MemoryBusWidth") > 0, "positive");
  check(attribute(hipDeviceAttributeL2CacheSize, "L2CacheSize") > 0, "positive");
  check(attribute(hipDeviceAttributeCanMapHostMemory, "CanMapHostMemory") == 1, "1");
  attribute(hipDeviceAttributeClockRate, "ClockRate");
  attribute(hipDeviceAttributeMemoryClockRate, "MemoryClockRate");
  attribute(hipDeviceAttributeComputeCapabilityMajor, "ComputeCapabilityMajor");
  attribute(hipDeviceAttributeComputeCapabilityMinor, "ComputeCapabilityMinor");
  attribute(hipDeviceAttributeIntegrated, "Integrated");
  attribute(hipDeviceAttributeManagedMemory, "ManagedMemory");
  attribute(hipDeviceAttributeConcurrentManagedAccess, "ConcurrentManagedAccess");
  attribute(hipDeviceAttributePageableMemoryAccess, "PageableMemoryAccess");
  attribute(hipDeviceAttributePciBusId, "PciBusId");
  attribute(hipDeviceAttributePciDeviceId, "PciDeviceId");
  note(hipDeviceGetAttribute(&value, hipDeviceAttributePciDomainID, 0), "PciDomainID");
  note(hipDeviceGetAttribute(&value, hipDeviceAttributeAsyncEngineCount, 0), "AsyncEngineCount");
  note(hipDeviceGetAttribute(&value, roc::native_detail::host_register_supported(), 0),
       "HostRegisterSupported");

  int least = 0;
  int greatest = 0;
  expect(hipSuccess, hipDeviceGetStreamPriorityRange(&least, &greatest), "stream priorities");
  check(greatest <= least, "a higher priority is a lower number");
}

}  // namespace probe
