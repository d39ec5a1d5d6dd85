// SPDX-License-Identifier: MIT
// A tool of NVTX's, as NVTX_INJECTION64_PATH names one: prints what it is given.
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
void take(NvtxFunctionTable table, unsigned which, Function* function) {
  *table[which] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  auto const* const callbacks =
      static_cast<NvtxExportTableCallbacks const*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  take(table, NVTX_CBID_CORE_RangePushA, &push);
  take(table, NVTX_CBID_CORE_RangePop, &pop);
  return 1;
}
