// SPDX-License-Identifier: MIT
// An NVTX tool for NVTX_INJECTION64_PATH, which prints the ranges.
#include <cstdio>

#include <nvtx3/nvToolsExt.h>

namespace {

int NVTX_API push(char const* name) {
  std::printf("[%s", name);
  return 0;
}

int NVTX_API pop() {
  std::printf("]");
  return 0;
}

template <class Function>
void install(NvtxFunctionTable table, unsigned id, Function* function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  auto const* const callbacks =
      static_cast<NvtxExportTableCallbacks const*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  install(table, NVTX_CBID_CORE_RangePushA, &push);
  install(table, NVTX_CBID_CORE_RangePop, &pop);
  return 1;
}
