// SPDX-License-Identifier: MIT
// The fake HIP runtime replaces the real libamdhip64, and programs of hipcc run on it. This program
// is linked with the real library; LD_LIBRARY_PATH makes it load the fake.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "smoke.hpp"

namespace {

// Returns the handle of the loaded library that defines hipMalloc.
void* loaded_library() {
  Dl_info info{};
  if (dladdr(dlsym(RTLD_DEFAULT, "hipMalloc"), &info) == 0) return nullptr;
  return dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_NOW);
}

// Returns the SONAME of a loaded library, or an empty string.
std::string soname(void* library) {
  link_map* map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return {};
  char const* strings = nullptr;
  std::size_t offset = 0;
  for (ElfW(Dyn) const* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<char const*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SONAME) offset = entry->d_un.d_val;
  }
  return strings == nullptr ? std::string() : strings + offset;
}

template <class T>
struct device_memory {
  explicit device_memory(std::size_t n) : size(n) {
    EXPECT_EQ(hipMalloc(reinterpret_cast<void**>(&data), n * sizeof(T)), hipSuccess);
  }
  explicit device_memory(std::vector<T> const& values) : device_memory(values.size()) {
    EXPECT_EQ(hipMemcpy(data, values.data(), size * sizeof(T), hipMemcpyHostToDevice), hipSuccess);
  }
  device_memory(device_memory const&) = delete;
  device_memory& operator=(device_memory const&) = delete;
  ~device_memory() { EXPECT_EQ(hipFree(data), hipSuccess); }

  std::vector<T> read() const {
    std::vector<T> values(size);
    EXPECT_EQ(hipMemcpy(values.data(), data, size * sizeof(T), hipMemcpyDeviceToHost), hipSuccess);
    return values;
  }

  T* data = nullptr;
  std::size_t size = 0;
};

struct stream {
  stream() { EXPECT_EQ(hipStreamCreateWithFlags(&handle, hipStreamNonBlocking), hipSuccess); }
  stream(stream const&) = delete;
  stream& operator=(stream const&) = delete;
  ~stream() { EXPECT_EQ(hipStreamDestroy(handle), hipSuccess); }

  hipStream_t handle = nullptr;
};

TEST(FakeRuntimeLibrary, HasSonameOfRealLibrary) {
  EXPECT_EQ(soname(loaded_library()), ROCARRAY_TEST_SONAME);
}

TEST(FakeRuntimeLibrary, HasEverySymbolOfRealLibraryAtItsVersion) {
  void* const library = loaded_library();
  ASSERT_NE(library, nullptr);
  std::ifstream list(ROCARRAY_TEST_SYMBOLS);
  std::size_t count = 0;
  for (std::string line; std::getline(list, line); ++count) {
    std::string const name = line.substr(0, line.find('@'));
    std::string const node = line.substr(line.find_last_of('@') + 1);
    EXPECT_NE(dlvsym(library, name.c_str(), node.c_str()), nullptr) << line;
  }
  EXPECT_GT(count, 300U);
  EXPECT_EQ(dlvsym(library, "hipMalloc", "hip_99.0"), nullptr);
}

TEST(FakeRuntimeLibrary, DoesNotExportInternalSymbols) {
  EXPECT_EQ(dlsym(loaded_library(), "_ZN3roc8host_hip9hipMallocEPPvm"), nullptr);
}

TEST(FakeRuntimeLibrary, UnsupportedFunctionReturnsNotSupported) {
  EXPECT_EQ(hipModuleUnload(nullptr), hipErrorNotSupported);
}

TEST(FakeRuntimeLibrary, HasItsOwnDeviceName) {
  char name[128] = {};
  ASSERT_EQ(hipDeviceGetName(name, sizeof name, 0), hipSuccess);
  EXPECT_STREQ(name, "rocarray fake HIP runtime (no GPU)");
}

TEST(FakeRuntimeKernel, RunsForEveryThread) {
  std::vector<float> x(1000);
  std::iota(x.begin(), x.end(), 0.0F);
  device_memory<float> const dx(x);
  device_memory<float> const dy(std::vector<float>(x.size(), 1.0F));
  ASSERT_EQ(smoke::launch_axpy(2.0F, dx.data, dy.data, x.size(), nullptr), hipSuccess);
  std::vector<float> const y = dy.read();
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 1.0F + 2.0F * x[i]) << i;
}

TEST(FakeRuntimeKernel, RunsTemplateInstance) {
  device_memory<int> const data(std::vector<int>(1000, 7));
  ASSERT_EQ(smoke::launch_add(data.data, 3, data.size, nullptr), hipSuccess);
  EXPECT_EQ(data.read(), std::vector<int>(1000, 4));
}

TEST(FakeRuntimeKernel, HasIndicesInThreeDimensionalGrid) {
  dim3 const grid(3, 2, 4);
  dim3 const block(5, 3, 2);
  std::vector<unsigned> expected(3 * 2 * 4 * 5 * 3 * 2);
  std::iota(expected.begin(), expected.end(), 0U);
  device_memory<unsigned> const data(expected.size());
  ASSERT_EQ(smoke::launch_number(data.data, grid, block, nullptr), hipSuccess);
  EXPECT_EQ(data.read(), expected);
}

TEST(FakeRuntimeKernel, ElementwiseStubVisitsAllItems) {
  device_memory<float> const data(std::vector<float>(100'000, 3.0F));
  ASSERT_EQ(smoke::launch_scale({0.5, data.data}, data.size, nullptr), hipSuccess);
  EXPECT_EQ(data.read(), std::vector<float>(data.size, 1.5F));
}

TEST(FakeRuntimeKernel, RunsInStreamOrder) {
  stream const s;
  std::vector<int> host(64, 100);
  device_memory<int> const data(std::vector<int>(host.size(), 0));
  std::size_t const bytes = host.size() * sizeof(int);
  EXPECT_EQ(hipMemcpyAsync(data.data, host.data(), bytes, hipMemcpyHostToDevice, s.handle),
            hipSuccess);
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(smoke::launch_add(data.data, i, data.size, s.handle), hipSuccess);
  }
  std::vector<int> result(host.size());
  EXPECT_EQ(hipMemcpyAsync(result.data(), data.data, bytes, hipMemcpyDeviceToHost, s.handle),
            hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(s.handle), hipSuccess);
  EXPECT_EQ(result, std::vector<int>(host.size(), 100 - 15));
}

TEST(FakeRuntimeKernel, RunsAtTimeOfHostMode) {
  char const* const setting = std::getenv("ROCARRAY_HOST_MODE");
  std::string const mode = setting == nullptr ? "threaded" : setting;
  stream const s;
  device_memory<int> const data(std::vector<int>(1, 0));
  EXPECT_EQ(smoke::launch_add(data.data, 1, 1, s.handle), hipSuccess);
  hipError_t const first = hipStreamQuery(s.handle);
  if (mode == "inline") {
    EXPECT_EQ(first, hipSuccess);
  } else if (mode == "deferred") {
    EXPECT_EQ(first, hipErrorNotReady);
  }
  EXPECT_EQ(hipStreamSynchronize(s.handle), hipSuccess);
  EXPECT_EQ(hipStreamQuery(s.handle), hipSuccess);
  EXPECT_EQ(data.read(), std::vector<int>(1, -1));
}

TEST(FakeRuntimeKernel, FailsAndIsNamedIfItHasNoHostStub) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(smoke::launch_without_host_stub(nullptr), hipErrorNotSupported);
  std::string const message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("_ZN5smoke17without_host_stubEv"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), message.size() - 1) << message;
}

TEST(FakeRuntimeKernel, RejectsInvalidGridOrBlock) {
  device_memory<unsigned> const data(1);
  EXPECT_EQ(smoke::launch_number(data.data, dim3(0), dim3(1), nullptr),
            hipErrorInvalidConfiguration);
  EXPECT_EQ(smoke::launch_number(data.data, dim3(1), dim3(2048), nullptr),
            hipErrorInvalidConfiguration);
}

TEST(FakeRuntimeKernel, RejectsMoreSharedMemoryThanTheDeviceHas) {
  device_memory<int> const data(64);
  EXPECT_EQ(smoke::launch_with_shared_memory(data.data, 64, 65'536 - 40'000, nullptr), hipSuccess);
  EXPECT_EQ(smoke::launch_with_shared_memory(data.data, 64, 65'537 - 40'000, nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(smoke::launch_with_shared_memory(data.data, 64, ~std::size_t{0}, nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(hipStreamSynchronize(nullptr), hipSuccess);
}

TEST(FakeRuntimeKernel, RejectsFunctionThatIsNotAKernel) {
  int no_kernel = 0;
  EXPECT_EQ(hipLaunchKernel(&no_kernel, dim3(1), dim3(1), nullptr, 0, nullptr),
            hipErrorInvalidDeviceFunction);
  static_cast<void>(hipGetLastError());
}

TEST(FakeRuntimeHostStubsDeathTest, NamesLibrariesThatCannotBeLoaded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("ROCARRAY_HOST_STUBS", ":/nowhere/stubs.so:libm.so.6", 1);
        std::_Exit(smoke::launch_without_host_stub(nullptr));
      },
      testing::ExitedWithCode(hipErrorNotSupported & 0xff),
      "ROCARRAY_HOST_STUBS: /nowhere/stubs.so.*\n.*libm.so.6 has no rocarray_register_host_stubs");
}

// In its own process, because settings are read once.
TEST(FakeRuntimeKernelDeathTest, LaunchFailsIfFailureIsInjected) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("ROCARRAY_HOST_INJECT_FAILURE", "hipLaunchKernel:2:719", 1);
        device_memory<int> const data(1);
        bool const first = smoke::launch_add(data.data, 1, 1, nullptr) == hipSuccess;
        bool const second = smoke::launch_add(data.data, 1, 1, nullptr) == hipErrorLaunchFailure;
        std::_Exit(first && second ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(FakeRuntimeMemoryDeathTest, HostAccessToDeviceMemoryFaults) {
  char const* const setting = std::getenv("ROCARRAY_HOST_PROTECT");
  if (setting != nullptr && std::string(setting) == "off")
    GTEST_SKIP() << "needs ROCARRAY_HOST_PROTECT=on";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  device_memory<int> const data(1);
  EXPECT_DEATH(*const_cast<int volatile*>(data.data) = 1, "");
}

#ifdef ROCARRAY_TEST_ACCESS_CHECKER

// Programs for the access checker. They are functions, because a macro's arguments have one line.

constexpr unsigned download_line = __LINE__ + 9;
int read_during_download() {
  setenv("ROCARRAY_HOST_CHECK", "report", 1);
  setenv("ROCARRAY_HOST_MODE", "deferred", 1);
  stream const s;
  device_memory<int> const data(16);
  void* memory = nullptr;
  EXPECT_EQ(hipHostMalloc(&memory, 64, 0), hipSuccess);
  auto const* const pinned = static_cast<int const volatile*>(memory);
  EXPECT_EQ(hipMemcpyAsync(memory, data.data, 64, hipMemcpyDeviceToHost, s.handle), hipSuccess);
  int const early = pinned[3];
  EXPECT_EQ(hipStreamSynchronize(s.handle), hipSuccess);
  EXPECT_EQ(hipHostFree(memory), hipSuccess);
  return early == pinned[3] ? 0 : 1;
}

constexpr unsigned allocation_line = __LINE__ + 4;
int read_device_memory() {
  setenv("ROCARRAY_HOST_CHECK", "report", 1);
  void* memory = nullptr;
  EXPECT_EQ(hipMalloc(&memory, 64), hipSuccess);
  return static_cast<char const volatile*>(memory)[5] == 0 ? 0 : 1;
}

std::string line(unsigned number) { return "fake_runtime_test.cpp:" + std::to_string(number); }

TEST(FakeRuntimeCheckDeathTest, ReadOfPendingDestinationIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(read_during_download()), testing::ExitedWithCode(66),
              "^rocarray: .*" + line(download_line + 1) +
                  " reads memory of a pending copy: byte 12 of 64 bytes .* the destination of the "
                  "copy enqueued at .*" +
                  line(download_line) + " on stream 0x");
}

TEST(FakeRuntimeCheckDeathTest, AccessToDeviceMemoryNamesTheAllocation) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(read_device_memory()), testing::ExitedWithCode(66),
              "^rocarray: .*" + line(allocation_line + 1) +
                  " reads device memory: byte 5 of 64 bytes at 0x[0-9a-f]+ on device 0, memory "
                  "allocated at .*" +
                  line(allocation_line));
}

#endif

TEST(FakeRuntimeCallback, RunsInStreamOrder) {
  stream const s;
  std::vector<int> host(4, 1);
  device_memory<int> const data(host);
  int value = 0;
  EXPECT_EQ(smoke::launch_add(data.data, 1, data.size, s.handle), hipSuccess);
  EXPECT_EQ(hipStreamAddCallback(
                s.handle,
                [](hipStream_t, hipError_t status, void* user) {
                  *static_cast<int*>(user) = status == hipSuccess ? 1 : -1;
                },
                &value, 0),
            hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(s.handle), hipSuccess);
  EXPECT_EQ(value, 1);
}

}  // namespace
