// SPDX-License-Identifier: MIT
// The CPU double of libamdhip64: that it stands in the real library's place, and that programs of
// hipcc run on it. Linked with the real library by name; the launcher's LD_LIBRARY_PATH picks the
// double.
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

void* loaded_library() {
  Dl_info info{};
  if (dladdr(dlsym(RTLD_DEFAULT, "hipMalloc"), &info) == 0) return nullptr;
  return dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_NOW);
}

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

TEST(double_library, has_the_real_librarys_soname) {
  EXPECT_EQ(soname(loaded_library()), ROCARRAY_TEST_SONAME);
}

TEST(double_library, has_every_symbol_at_its_version) {
  void* const library = loaded_library();
  ASSERT_NE(library, nullptr);
  std::ifstream list(ROCARRAY_TEST_SYMBOLS);
  std::size_t count = 0;
  for (std::string line; std::getline(list, line); ++count) {
    std::size_t const at = line.find('@');
    std::string const name = line.substr(0, at);
    std::string const node = line.substr(line.find_last_of('@') + 1);
    EXPECT_NE(dlvsym(library, name.c_str(), node.c_str()), nullptr) << line;
  }
  EXPECT_GT(count, 300U);
  EXPECT_EQ(dlvsym(library, "hipMalloc", "hip_99.0"), nullptr);
}

TEST(double_library, exports_nothing_of_the_provider) {
  EXPECT_EQ(dlsym(loaded_library(), "_ZN3roc8host_hip9hipMallocEPPvm"), nullptr);
}

TEST(double_library, says_not_supported_for_what_it_lacks) {
  hipIpcMemHandle_t handle{};
  EXPECT_EQ(hipIpcGetMemHandle(&handle, nullptr), hipErrorNotSupported);
}

TEST(double_library, can_be_recognised_by_the_devices_name) {
  char name[128] = {};
  ASSERT_EQ(hipDeviceGetName(name, sizeof name, 0), hipSuccess);
  EXPECT_STREQ(name, "rocarray CPU double (no GPU)");
}

TEST(double_kernels, run_for_every_thread) {
  std::vector<float> x(1000);
  std::iota(x.begin(), x.end(), 0.0F);
  device_memory<float> const dx(x);
  device_memory<float> const dy(std::vector<float>(x.size(), 1.0F));
  ASSERT_EQ(smoke::launch_axpy(2.0F, dx.data, dy.data, x.size(), nullptr), hipSuccess);
  std::vector<float> const y = dy.read();
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 1.0F + 2.0F * x[i]) << i;
}

TEST(double_kernels, run_template_instances) {
  device_memory<int> const data(std::vector<int>(1000, 7));
  ASSERT_EQ(smoke::launch_add(data.data, 3, data.size, nullptr), hipSuccess);
  EXPECT_EQ(data.read(), std::vector<int>(1000, 4));
}

TEST(double_kernels, see_their_place_in_a_grid_of_three_dimensions) {
  dim3 const grid(3, 2, 4);
  dim3 const block(5, 3, 2);
  std::vector<unsigned> expected(3 * 2 * 4 * 5 * 3 * 2);
  std::iota(expected.begin(), expected.end(), 0U);
  device_memory<unsigned> const data(expected.size());
  ASSERT_EQ(smoke::launch_number(data.data, grid, block, nullptr), hipSuccess);
  EXPECT_EQ(data.read(), expected);
}

TEST(double_kernels, run_elementwise_over_all_items) {
  device_memory<float> const data(std::vector<float>(100'000, 3.0F));
  ASSERT_EQ(smoke::launch_scale({0.5, data.data}, data.size, nullptr), hipSuccess);
  EXPECT_EQ(data.read(), std::vector<float>(data.size, 1.5F));
}

TEST(double_kernels, run_in_the_order_of_their_stream) {
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

TEST(double_kernels, run_when_the_mode_says_so) {
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

TEST(double_kernels, without_a_twin_are_not_supported_and_named) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(smoke::launch_without_twin(nullptr), hipErrorNotSupported);
  std::string const message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("_ZN5smoke12without_twinEv"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), message.size() - 1) << message;
}

TEST(double_kernels, refuse_a_grid_or_a_block_that_no_device_takes) {
  device_memory<unsigned> const data(1);
  EXPECT_EQ(smoke::launch_number(data.data, dim3(0), dim3(1), nullptr),
            hipErrorInvalidConfiguration);
  EXPECT_EQ(smoke::launch_number(data.data, dim3(1), dim3(2048), nullptr),
            hipErrorInvalidConfiguration);
}

TEST(double_kernels, refuse_a_function_that_is_no_kernel) {
  int no_kernel = 0;
  EXPECT_EQ(hipLaunchKernel(&no_kernel, dim3(1), dim3(1), nullptr, 0, nullptr),
            hipErrorInvalidDeviceFunction);
  static_cast<void>(hipGetLastError());
}

TEST(double_twins_DeathTest, that_cannot_be_loaded_are_named) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("ROCARRAY_HOST_STUBS", ":/nowhere/twins.so:libm.so.6", 1);
        std::_Exit(smoke::launch_without_twin(nullptr));
      },
      testing::ExitedWithCode(hipErrorNotSupported & 0xff),
      "ROCARRAY_HOST_STUBS: /nowhere/twins.so.*\n.*libm.so.6 has no rocarray_register_host_stubs");
}

// In a process of its own: settings are read once.
TEST(double_kernels_DeathTest, can_be_made_to_fail) {
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

TEST(double_memory_DeathTest, is_closed_to_host_code) {
  char const* const setting = std::getenv("ROCARRAY_HOST_PROTECT");
  if (setting != nullptr && std::string(setting) == "off") GTEST_SKIP() << "ROCARRAY_HOST_PROTECT=off";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  device_memory<int> const data(1);
  EXPECT_DEATH(*const_cast<int volatile*>(data.data) = 1, "");
}

TEST(double_library, calls_back_in_the_order_of_the_stream) {
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
