// SPDX-License-Identifier: MIT
// The main function of the programs that use Google Benchmark.
#include <cstdio>
#include <exception>

#include <benchmark/benchmark.h>

#include <roc/device.hpp>

int main(int argc, char** argv) {
  constexpr int no_device_exit_code = 5;
  char const* const program = argv[0];
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  try {
    if (roc::device::count() == 0) {
      std::fprintf(stderr, "%s: no device was found\n", program);
      return no_device_exit_code;
    }
    benchmark::AddCustomContext("device", roc::device().name());
    benchmark::RunSpecifiedBenchmarks();
  } catch (std::exception const& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
  benchmark::Shutdown();
  return 0;
}
