// SPDX-License-Identifier: MIT
// Scenarios of the fault matrix: images, queues, launches, memory of unknown kind, resources of
// host memory and of other libraries, and the C interface.
#include <memory>
#include <memory_resource>
#include <optional>
#include <stdexcept>
#include <string>

#include <roc/c.h>
#include <roc/device_queue.hpp>
#include <roc/image.hpp>
#include <roc/interop/cuda_mr.hpp>
#include <roc/interop/foreign_resource.hpp>
#include <roc/interop/pmr.hpp>
#include <roc/interop/rmm.hpp>
#include <roc/mipmap.hpp>
#include <roc/native.hpp>
#if __has_include(<dlpack/dlpack.h>)
#include <roc/interop/dlpack.hpp>
#endif
#if ROCARRAY_PLATFORM_HOST
#include <roc/kernel.hpp>
#include <roc/launch.hpp>
#endif

#include "campaigns/fault_matrix.hpp"
#include "interop/foreign_resources.hpp"
#include "support/environment.hpp"

namespace roc::test::faults {
namespace {

// The kernels of these scenarios need a device compiler, except on the host platform.
#if ROCARRAY_PLATFORM_HOST
constexpr bool has_kernels = true;
#else
constexpr bool has_kernels = false;
#endif

// Images

void images(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  std::optional<image<word, 2>> created;
  stream s;
  if (!c.run([&] { created.emplace(shape<2>{side, side}, s); })) return;
  image<word, 2> const& picture = *created;
  picture.pixels().fill(9);
  c.watch(picture.pixels()(0, all));
  c.watch(picture.pixels()(-1, all));
  if (!c.call([&] { picture.copy_to_device(matrix_of(from)); })) return;
  if (!c.call([&] { picture.copy_to_device(matrix_of(from), s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { picture.copy_to_host(matrix_of(to), s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  c.expect(is_made(to, 1), "image");
}

void sampled_images(context& c) {
  hip_memory_resource direct;
  std::vector<float> numbers(side * side, 0.5f);
  array const found({2});
  found.zero();
  stream s;
  bool right = false;
  if (!c.run([&] {
        image<float, 2> picture({side, side}, direct, s);
        layered_image<pixel<std::uint8_t, 4>, 2> layers({3, 10, 20}, s);
        image<float, 1> row({50});
        row.pixels().fill(0.25f);
        picture.copy_to_device(host_view<float, 2>(numbers.data(), {side, side}), s);
        layers.pixels().zero(s);
        // The first use of a sampler creates a texture, if the device has texture units.
        [[maybe_unused]] auto const nearest = picture.view();
        [[maybe_unused]] auto const linear = picture.view({.filter = filter_mode::linear});
        [[maybe_unused]] auto const of_layers =
            layers.normalized_view({.filter = filter_mode::linear});
#if ROCARRAY_PLATFORM_HOST
        for_each(s, 1, [nearest, linear, of_layers, out = found.view()](std::size_t) {
          out(0) = nearest.sample(3.5f, 4.5f) == 0.5f && of_layers.sample(1, 2, 2)[3] == 0;
          out(1) = linear.sample(5, 5) == 0.5f;
        });
#endif
        image<float, 2> moved = std::move(picture);
        picture = image<float, 2>({side, side}, direct, s);
        moved.record_stream(s);
        static_cast<void>(moved.copy_to_host(s));
        s.synchronize();
        right = row.copy_to_host()(49) == 0.25f;
      }))
    return;
  c.expect(right && (!has_kernels || (found(0).get() == 1 && found(1).get() == 1)),
           "sampled images");
}

void mipmaps(context& c) {
  std::vector<float> numbers(48 * 36, 0.5f);
  array const found({1});
  found.zero();
  stream s;
  bool right = false;
  if (!c.run([&] {
        mipmap<float, 2> levels({48, 36}, s);
        levels.level(0).copy_to_device(host_view<float, 2>(numbers.data(), {48, 36}), s);
        if constexpr (has_kernels) {
          levels.fill_levels(s);
        } else {
          for (std::size_t i = 1; i != levels.levels(); ++i) levels.level(i).pixels().fill(0.5f, s);
        }
        [[maybe_unused]] auto const view =
            levels.view({.normalized_coordinates = true}, filter_mode::linear);
#if ROCARRAY_PLATFORM_HOST
        for_each(s, 1, [view, out = found.view()](std::size_t) {
          out(0) = view.sample(0.5f, 0.5f, 1.5f) == 0.5f;
        });
#endif
        mipmap<float, 2> const moved = std::move(levels);
        mipmap<std::uint8_t, 1> const small({100}, 3);
        small.level(2).pixels().fill(1, s);
        s.synchronize();
        right = moved.level(4).copy_to_host()(0, 0) == 0.5f && small.levels() == 3;
      }))
    return;
  c.expect(right && (!has_kernels || found(0).get() == 1), "mipmaps");
}

// Queues and launches

void queues(context& c) {
  words const& from = c.source(500);
  stream s;
  std::size_t drained = 0;
  words to(1000);
  bool right = false;
  if (!c.run([&] {
        device_queue<word> const queue(1000);
        device_queue<word> const other(600, s);
        queue.assign(from);
        other.assign(from, s);
        right = queue.size() == 500 && other.size(s) == 500;
#if ROCARRAY_PLATFORM_HOST
        for_each(s, 100, [in = other.view(), out = queue.view()](std::size_t) {
          word value = 0;
          if (in.pop(value)) static_cast<void>(out.push(value));
        });
#endif
        drained = queue.drain(to, s);
        host_array<word> const rest = other.drain(s);
        right = right && rest.size() + drained == 1000;
        queue.assign(from);
        queue.clear(s);
        other.clear();
        right = right && queue.drain(s).size() == 0 && other.size() == 0;
      }))
    return;
  to.resize(500);
  c.expect(right && drained == (has_kernels ? 600u : 500u) && is_made(to, 1), "queues");
}

#if ROCARRAY_PLATFORM_HOST
__global__ void reverse_blocks(device_view<word> values) {
  __shared__ word tile[64];
  unsigned const begin = blockIdx.x * 64;
  tile[threadIdx.x] = values(begin + threadIdx.x);
  __syncthreads();
  values(begin + threadIdx.x) = tile[63 - threadIdx.x];
}

__global__ void add_to_block(device_view<word> values, word number) {
  word* const sum = dynamic_shared<word>();
  if (threadIdx.x == 0) *sum = number;
  __syncthreads();
  values(blockIdx.x * blockDim.x + threadIdx.x) += *sum;
}
#endif

void launches(context& c) {
#if ROCARRAY_PLATFORM_HOST
  words const& from = c.source(640);
  words& to = c.target(640);
  stream s;
  if (!c.run([&] {
        array const a = to_device(from, s);
        launch(reverse_blocks, {10}, {64}, 0, s, a.view());
        launch(add_to_block, {5}, {128}, sizeof(word), s, a.view().bind(s), 3u);
        launch(add_to_block, {5, 0}, {128}, sizeof(word), s, a.view(), 3u);
        {
          array const b({64}, order::c, s);
          launch(reverse_blocks, 1, 64, 0, s, b.view());  // is freed before it runs
        }
        array const d({64});
        d.zero();
        launch(reverse_blocks, 1, 64, 0, per_thread_stream(), d.view());
        launch(reverse_blocks, 1, 64, 0, {}, d.view());
        per_thread_stream().synchronize();
        a.copy_to_host(to, s);
        s.synchronize();
      }))
    return;
  c.expect(to[0] == value_at(63, 1) + 3 && to[639] == value_at(576, 1) + 3, "launches");
#else
  static_cast<void>(c);
#endif
}

// Memory of unknown kind

// Memory that other code has allocated.
class foreign_memory {
 public:
  explicit foreign_memory(bool is_pinned) : is_pinned_(is_pinned) {
    if (is_pinned_) {
      ROCARRAY_HIP(hipHostMalloc, &data_, count * sizeof(word), hipHostMallocDefault);
    } else {
      ROCARRAY_HIP(hipMalloc, &data_, count * sizeof(word));
    }
  }
  ~foreign_memory() {
    if (is_pinned_) {
      ROCARRAY_HIP_QUIET(hipHostFree, data_);
    } else {
      ROCARRAY_HIP_QUIET(hipFree, data_);
    }
  }
  foreign_memory(foreign_memory const&) = delete;
  foreign_memory& operator=(foreign_memory const&) = delete;
  word* data() const { return static_cast<word*>(data_); }

 private:
  bool is_pinned_;
  void* data_ = nullptr;
};

void memory_views(context& c) {
  foreign_memory const device_memory(false);
  foreign_memory const pinned_memory(true);
  words& from = c.source(count);
  words& to = c.target(count);
  array const a({count});
  a.fill(9);
  c.watch(a.view());
  stream s;
  auto const view = [](word* data) { return memory_view(data, shape<1>{count}); };
  // Every second row, and all columns backwards.
  auto const strided = [](word* data) {
    return memory_view(data + side - 1, shape<2>{side / 2, side}, strides<2>{2 * side, -1});
  };
  if (!c.call([&] { roc::copy(view(from.data()), a, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { roc::copy(a, view(to.data())); })) return;
  if (!c.run([&] {
        roc::copy(view(to.data()), view(device_memory.data()));
        roc::copy(view(device_memory.data()), view(pinned_memory.data()), s);
        s.synchronize();
        roc::zero(view(device_memory.data()), s);
        roc::copy(strided(pinned_memory.data()), strided(device_memory.data()), s);
        roc::fill(view(to.data()), word{3});
        roc::copy(strided(device_memory.data()), strided(to.data()), s);
        s.synchronize();
        roc::copy(view(to.data()).at(memory_location::host()), view(a.data()).at(device(0)));
      }))
    return;
  c.expect(to[0] == value_at(0, 1) && to[side] == 3 &&
               to[2 * side + 7] == value_at(2 * side + 7, 1) && a(side).get() == 3,
           "memory views");
}

void tensors(context& c) {
#if __has_include(<dlpack/dlpack.h>)
  words& from = c.source(count);
  words& to = c.target(count);
  matrix const a({side, side}, order::f);
  a.fill(9);
  stream s;
  std::int64_t extents[] = {side, side};
  std::int64_t device_strides[] = {1, side};
  auto const tensor = [&](void* data, DLDevice where, std::int64_t* strides) {
    DLTensor result{};
    result.data = data;
    result.device = where;
    result.ndim = 2;
    result.dtype = {kDLUInt, 32, 1};
    result.shape = extents;
    result.strides = strides;
    return result;
  };
  DLDevice const on_device{static_cast<DLDeviceType>(roc_device_type()), 0};
  DLTensor const device_tensor = tensor(a.data(), on_device, device_strides);
  DLTensor const source = tensor(from.data(), {kDLCPU, 0}, nullptr);
  DLTensor const target = tensor(to.data(), {kDLCPU, 0}, nullptr);
  if (!c.call([&] { roc::copy(source, device_tensor); })) return;
  if (!c.call([&] { roc::copy(source, device_tensor, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { roc::copy(device_tensor, target, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  c.expect(is_made(to, 1), "tensors");
#else
  static_cast<void>(c);
#endif
}

void dlpack_views(context& c) {
#if __has_include(<dlpack/dlpack.h>)
  words& from = c.source(count);
  matrix const a({side, side});
  a.fill(9);
  stream s;
  bool right = false;
  if (!c.run([&] {
        dlpack_tensor<2> of_array(a.view());
        dlpack_tensor<2> of_memory(matrix_of(from));
        auto const view = dlpack_view<word, 2>(*of_array);
        roc::copy(dlpack_host_view<word, 2>(*of_memory), view, s);
        static_cast<void>(dlpack_stream(s));
        s.synchronize();
        right = view(7, 8).get() == value_at(7 * side + 8, 1);
        try {
          static_cast<void>(dlpack_view<float, 2>(*of_array));
          right = false;
        } catch (dlpack_error const&) {
        }
        auto pinned = pinned_array<word>(count);
        a.view().ravel().copy_to_host(pinned);
        DLManagedTensor* const tensor = to_dlpack(std::move(pinned));
        right = right && tensor->dl_tensor.device.device_type == dlpack_pinned;
        tensor->deleter(tensor);
      }))
    return;
  c.expect(right, "views of tensors");
#else
  static_cast<void>(c);
#endif
}

void copies_of_bytes(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  array const a({count});
  a.fill(9);
  c.watch(a.view());
  stream s;
  constexpr std::size_t bytes = count * sizeof(word);
  constexpr std::size_t row = side * sizeof(word);
  hipMemcpy3DParms block{};
  block.srcPtr = make_hipPitchedPtr(a.data(), row, row, 10);
  block.dstPtr = make_hipPitchedPtr(to.data(), row, row, 10);
  block.extent = make_hipExtent(row / 2, 5, 10);
  block.kind = hipMemcpyDefault;
  if (!c.call([&] { roc::memcpy(a.data(), from.data(), bytes); })) return;
  if (!c.call([&] { roc::memcpy(a.data(), from.data(), bytes, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { roc::memcpy_2d(to.data(), row, a.data(), row, row / 2, side, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { roc::memcpy_2d(to.data(), row, a.data(), row, row / 2, side); })) return;
  bool const right = to[0] == value_at(0, 1) && to[side / 2] == 7;
  if (!c.call([&] { roc::memcpy_3d(block); })) return;
  if (!c.call([&] { roc::memcpy_3d(block, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { roc::memcpy(to.data(), a.data(), bytes); })) return;
  c.expect(right && is_made(to, 1), "copies of bytes");
}

// Resources of host memory and of other libraries

void host_resources(context& c) {
  hip_pinned_memory_resource pinned;
  pool_resource pool(pinned, {.slab_bytes = 1 << 20});
  words const& from = c.source(count);
  array const a = to_device(from);
  stream s;
  bool right = false;
  bool const succeeded = c.run([&] {
    hip_pinned_memory_resource mapped(host_flags::mapped);
    {
      auto h = host_array<word>(shape<1>{count}, pool);
      auto m = host_array<word>(shape<1>{count}, mapped);
      a.copy_to_host(h, s);
      a.copy_to_host(m, s);
      s.synchronize();
      right = is_made(h, 1) && is_made(m, 1);
    }
    set_pinned_resource(&pool);
    {
      auto h = pinned_array<word>(count);
      a.copy_to_host(h, s);  // is freed before it is written
    }
    set_pinned_resource(nullptr);
    s.synchronize();
    pool.trim();
  });
  set_pinned_resource(nullptr);
  if (!succeeded) {
    if (pool.statistics().current_bytes != 0 && log_lines == 0) {
      c.expect(false, "bytes of a pool of pinned memory are lost");
    }
    return;
  }
  // Memory is leaked, and the log says so, if its device cannot be made current.
  c.expect(right && (pool.statistics().current_bytes == 0 || log_lines != 0),
           "resources of pinned memory");
}

void managed_resource(context& c) {
  if (!device().has_managed_memory() || !device().has_concurrent_managed_access()) return;
  words const& from = c.source(count);
  stream s;
  bool right = false;
  if (!c.run([&] {
        hip_managed_memory_resource resource;
        array const a({count}, resource, order::c, s);
        a.copy_to_device(from, s);
        auto h = host_array<word>(shape<1>{count}, resource);
        roc::copy(a, h, s);
        s.synchronize();
        right = is_made(h, 1) && a(7).get() == value_at(7, 1);
      }))
    return;
  c.expect(right, "resource of managed memory");
}

void foreign_resources(context& c) {
  stream s;
  words const& from = c.source(count);
  bool right = false;
  try {
    void* const data = foreign::pool_allocate(1, nullptr);
    foreign::pool_deallocate(data, nullptr);
  } catch (roc::error const&) {
    return;  // the device has no memory pool
  }
  if (!c.run([&] {
        foreign_resource upstream(foreign::resource{nullptr});
        foreign_resource synchronous(foreign::synchronous_resource{});
        cuda_mr_resource<foreign::device_accessible> adapter(device_resource(0));
        {
          array const a({count}, upstream, order::c, s);
          array const b({count}, synchronous, order::c, s);
          a.copy_to_device(from, s);
          roc::copy(a, b, s);
          right = is_made(b.copy_to_host(), 1);
        }
        auto const handle = native(s);
        void* const data = adapter.allocate(foreign::stream_ref(handle), 1000, 256);
        adapter.deallocate(foreign::stream_ref(handle), data, 1000, 256);
        rmm_resource<foreign::device_memory_resource, foreign::stream_view, foreign::out_of_memory>
            of_rmm(device_resource(0));
        void* const more = of_rmm.allocate(1000, handle);
        of_rmm.deallocate(more, 1000, handle);
      }))
    return;
  c.expect(right, "resources of other libraries");
}

// Reports the bytes of a pool that a failed call has lost without a message in the log.
void expect_no_lost_bytes(context& c, pool_resource& pool) {
  c.expect(pool.statistics().current_bytes == 0 || log_lines != 0, "bytes of a pool are lost");
}

void cuda_mr_resources(context& c) {
  hip_memory_resource direct;
  pool_resource pool(direct, {.slab_bytes = 1 << 20});
  hip_pinned_memory_resource pinned;
  pool_resource pinned_pool(pinned, {.slab_bytes = 1 << 20});
  words const& from = c.source(count);
  stream s;
  stream t;
  bool right = false;
  bool const succeeded = c.run([&] {
    cuda_mr_resource<foreign::device_accessible> adapter(pool);
    cuda_mr_resource<foreign::device_accessible, foreign::host_accessible> host(pinned_pool);
    foreign_resource upstream(adapter);
    foreign_resource host_upstream(host, host_memory::pinned);
    {
      array const a({count}, upstream, order::c, s);
      auto h = host_array<word>(shape<1>{count}, host_upstream);
      a.copy_to_device(from, s);
      a.copy_to_host(h, s);
      s.synchronize();
      right = is_made(h, 1);
      a.copy_to_host(h, s);  // both are freed before the copy
    }
    foreign::stream_ref const first(native(s));
    foreign::stream_ref const second(native(t));
    void* data = adapter.allocate(first, 1000, 256);
    adapter.deallocate(first, data, 1000, 256);
    data = adapter.allocate_async(900'000, second);
    adapter.deallocate_async(data, 900'000, second);
    for (auto* const resource : {&pool, &pinned_pool}) {
      cuda_mr_resource<foreign::device_accessible> synchronous(*resource);
      data = synchronous.allocate_sync(1000);
      synchronous.deallocate_sync(data, 1000);
    }
  });
  expect_no_lost_bytes(c, pool);
  expect_no_lost_bytes(c, pinned_pool);
  if (succeeded) c.expect(right, "resources of cuda::mr");
}

// rmm::device_buffer
class foreign_buffer {
 public:
  foreign_buffer(foreign::device_memory_resource& resource, std::size_t bytes, stream_ref s)
      : resource_(resource),
        bytes_(bytes),
        stream_(native(s)),
        data_(resource.allocate(bytes, stream_)) {}
  ~foreign_buffer() { resource_.deallocate(data_, bytes_, stream_); }
  foreign_buffer(foreign_buffer const&) = delete;
  foreign_buffer& operator=(foreign_buffer const&) = delete;
  void* data() const { return data_; }

 private:
  foreign::device_memory_resource& resource_;
  std::size_t bytes_;
  foreign::stream_view stream_;
  void* data_;
};

void rmm_resources(context& c) {
  using adapter =
      rmm_resource<foreign::device_memory_resource, foreign::stream_view, foreign::out_of_memory>;
  constexpr std::size_t bytes = count * sizeof(word);
  words const& from = c.source(count);
  words& to = c.target(count);
  stream s;
  stream t(non_blocking);
  bool right = false;
  if (!c.run([&] {
        adapter of_pool(device_resource(0));
        foreign::device_memory_resource& resource = of_pool;
        {
          foreign_buffer const a(resource, bytes, s);
          foreign_buffer const b(resource, bytes, t);
          roc::memcpy(a.data(), from.data(), bytes, s);
          event copied;
          copied.record(s);
          t.wait(copied);
          roc::memcpy(b.data(), a.data(), bytes, t);
          roc::memcpy(to.data(), b.data(), bytes, t);
        }  // are freed before the copies
        foreign_buffer const next(resource, bytes, s);
        roc::fill(device_view<word>(static_cast<word*>(next.data()), {count}), word{9}, s);
        t.synchronize();
        foreign_resource upstream(resource);
        array const on_device({count}, upstream, order::c, t);
        on_device.copy_to_device(from, t);
        right = is_made(on_device.copy_to_host(), 1);
      }))
    return;
  c.expect(right && is_made(to, 1), "resources of RMM");
}

void standard_resources(context& c) {
  words const& from = c.source(count);
  array const a = to_device(from);
  std::pmr::unsynchronized_pool_resource arena;
  stream s;
  bool right = false;
  if (!c.run([&] {
        foreign_resource pageable(arena);
        auto h = host_array<word>(shape<1>{count}, pageable);
        a.copy_to_host(h, s);
        pmr_resource pinned;
        std::pmr::vector<word> numbers(count, &pinned);
        a.copy_to_host(numbers, s);
        s.synchronize();
        right = is_made(h, 1) && is_made(numbers, 1);
        a.copy_to_host(numbers, s);  // is freed before it is written
      }))
    return;
  c.expect(right, "resources of the standard library");
}

// The C interface

// Throws what the C++ interface would have thrown.
void check(roc_status status) {
  if (status == ROCARRAY_SUCCESS) return;
  if (status == ROCARRAY_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
  static_cast<void>(roc_last_hip_error());
  std::string const message = roc_last_error_message();
  bool const is_complete = status == roc_last_error() && !message.empty();
  if (status == ROCARRAY_ERROR_UNKNOWN || !is_complete) {
    throw std::logic_error(std::string(roc_status_name(status)) + ": " + message);
  }
  throw roc::error(std::make_error_code(std::errc::io_error), message);
}

// Owns a handle. A scenario has its handles outside of `run`, so that they are destroyed after the
// fault: a call that fails has changed nothing, and can be repeated.
template <class T>
class c_handle {
 public:
  explicit c_handle(roc_status (*destroy)(T)) : destroy_(destroy) {}
  ~c_handle() { destroy_(value_); }
  c_handle(c_handle const&) = delete;
  c_handle& operator=(c_handle const&) = delete;
  T* operator&() { return &value_; }
  operator T() const { return value_; }
  void release() {
    check(destroy_(value_));
    value_ = nullptr;
  }

 private:
  roc_status (*destroy_)(T);
  T value_ = nullptr;
};

class c_tensor {
 public:
  c_tensor(void const* data, std::int32_t device_type, bool is_transposed = false) {
    std::int64_t const columns = is_transposed ? 1 : side;
    std::int64_t const rows = is_transposed ? side : 1;
    strides_[0] = columns;
    strides_[1] = rows;
    tensor_.data = const_cast<void*>(data);
    tensor_.device = {device_type, 0};
    tensor_.ndim = 2;
    tensor_.dtype = {ROCARRAY_TYPE_UINT, 32, 1};
    tensor_.shape = shape_;
    tensor_.strides = strides_;
  }
  c_tensor(c_tensor const&) = delete;
  c_tensor& operator=(c_tensor const&) = delete;
  roc_tensor const* operator&() const { return &tensor_; }

 private:
  std::int64_t shape_[2] = {side, side};
  std::int64_t strides_[2];
  roc_tensor tensor_{};
};

roc_status free_on_default_stream(void* data) { return roc_free(data, ROCARRAY_DEFAULT_STREAM); }

void c_copies(context& c) {
  words const& from = c.source(count);
  words& to = c.target(count);
  c_handle<roc_resource> pool(roc_resource_destroy);
  c_handle<void*> memory(free_on_default_stream);
  c_handle<roc_stream> s(roc_stream_destroy);
  roc_copy_options const options{ROCARRAY_PATH_FASTEST, 2, 1};
  word const value = 3;
  if (!c.run([&] {
        check(roc_stream_create(ROCARRAY_STREAM_BLOCKING, 0, &s));
        check(roc_resource_create_pool(ROCARRAY_DEFAULT_RESOURCE, SIZE_MAX, &pool));
        check(roc_allocate(pool, count * sizeof(word), s, &memory));
      }))
    return;
  c_tensor const source(from.data(), ROCARRAY_DEVICE_CPU);
  c_tensor const target(to.data(), ROCARRAY_DEVICE_CPU);
  c_tensor const on_device(memory, roc_device_type(), true);
  if (!c.call([&] { check(roc_fill(&on_device, &value, sizeof value)); })) return;
  if (!c.call([&] { check(roc_copy(&source, &on_device, nullptr)); })) return;
  if (!c.call([&] { check(roc_copy_async(&source, &on_device, s, &options)); })) return;
  if (!c.run([&] { check(roc_stream_synchronize(s)); })) return;
  if (!c.call([&] { check(roc_copy_async(&on_device, &target, s, nullptr)); })) return;
  if (!c.run([&] { check(roc_stream_synchronize(s)); })) return;
  bool const right = is_made(to, 1);
  if (!c.call([&] { check(roc_zero(&target)); })) return;
  if (!c.call([&] { check(roc_copy(&on_device, &target, nullptr)); })) return;
  c.expect(right && is_made(to, 1), "copies by the C interface");
}

void c_batches_and_streams(context& c) {
  words const& from = c.source(count);
  words& to = c.target(count);
  c.will_register(to);
  std::int32_t is_idle = 0;
  double milliseconds = -1;
  c_handle<roc_resource> upstream(roc_resource_destroy);
  c_handle<roc_resource> pool(roc_resource_destroy);
  c_handle<roc_stream> s(roc_stream_destroy);
  c_handle<roc_stream> t(roc_stream_destroy);
  c_handle<roc_event> filled(roc_event_destroy);
  c_handle<roc_event> begin(roc_event_destroy);
  c_handle<roc_event> end(roc_event_destroy);
  c_handle<roc_batch> batch(roc_batch_destroy);
  c_handle<void*> memory(free_on_default_stream);
  c_handle<void*> pinned(roc_free_host);
  if (!c.run([&] {
        roc_host_range const range{to.data(), count * sizeof(word)};
        check(roc_resource_create_hip(-1, &upstream));
        check(roc_resource_create_pool(upstream, SIZE_MAX, &pool));
        check(roc_stream_create(ROCARRAY_STREAM_NON_BLOCKING, 0, &s));
        check(roc_stream_create(ROCARRAY_STREAM_BLOCKING, -1, &t));
        check(roc_event_create(&filled));
        check(roc_event_create_timed(&begin));
        check(roc_event_create_timed(&end));
        check(roc_batch_create(&batch));
        check(roc_allocate(pool, count * sizeof(word), s, &memory));
        check(roc_allocate_host(ROCARRAY_MEMORY_PINNED, 0, count * sizeof(word), &pinned));
        check(roc_register_host(&range, 1, ROCARRAY_REGISTER_DEFAULT));
        c_tensor const source(from.data(), ROCARRAY_DEVICE_CPU);
        c_tensor const target(to.data(), ROCARRAY_DEVICE_CPU);
        c_tensor const on_device(memory, roc_device_type());
        c_tensor const through(pinned, ROCARRAY_DEVICE_CPU);
        check(roc_event_record(begin, s));
        check(roc_copy_async(&source, &on_device, s, nullptr));
        check(roc_event_record(end, s));
        check(roc_event_record(filled, s));
        check(roc_stream_wait(t, filled));
        check(roc_batch_add(batch, &on_device, &through));
        check(roc_batch_add(batch, &through, &target));
        check(roc_batch_submit_async(batch, t, nullptr));
        check(roc_record_stream(memory, t));
        check(roc_event_synchronize(end));
        check(roc_event_elapsed_time(begin, end, &milliseconds));
        check(roc_stream_synchronize(t));
        check(roc_batch_submit(batch, nullptr));
        check(roc_stream_query(s, &is_idle));
        check(roc_deregister(&range, 1));
        pool.release();  // the memory keeps it
        memory.release();
        pinned.release();
        batch.release();
        filled.release();
        t.release();
      }))
    return;
  c.expect(is_made(to, 1) && milliseconds >= 0 && is_idle == 1, "batches by the C interface");
}

void c_devices_and_options(context& c) {
  std::int32_t version[3] = {};
  std::int32_t devices = 0;
  std::int32_t current = -1;
  std::int32_t of_stream = -1;
  std::int32_t is_done = 0;
  c_handle<roc_resource> resource(roc_resource_destroy);
  c_handle<roc_stream> s(roc_stream_destroy);
  c_handle<roc_stream> same(roc_stream_destroy);
  c_handle<roc_stream> own(roc_stream_destroy);
  c_handle<roc_event> e(roc_event_destroy);
  c_handle<void*> memory(free_on_default_stream);
  c_handle<void*> mapped(roc_free_host);
  constexpr std::size_t bytes = count * sizeof(word);
  word const value = 3;
  if (!c.run([&] {
        roc_get_version(&version[0], &version[1], &version[2]);
        check(roc_device_count(&devices));
        check(roc_get_device(&current));
        check(roc_set_device(devices - 1));
        check(roc_synchronize_device(devices - 1));
        check(roc_set_device(0));
        void* handle = nullptr;
        check(roc_stream_create(ROCARRAY_STREAM_BLOCKING, 0, &s));
        check(roc_stream_native(s, &handle));
        check(roc_stream_from_native(handle, &same));
        check(roc_stream_per_thread(&own));
        check(roc_stream_device(own, &of_stream));
        // Without it, the default resource.
        roc_status const created = roc_resource_create_hip_async(-1, &resource);
        if (created != ROCARRAY_ERROR_NOT_SUPPORTED) check(created);
        check(roc_allocate(resource, bytes, s, &memory));
        check(roc_allocate_host(ROCARRAY_MEMORY_MAPPED, 0, bytes, &mapped));
        void* address = nullptr;
        check(roc_device_address(mapped, bytes, &address));
        c_tensor const on_device(memory, roc_device_type());
        c_tensor const through(address, roc_device_type());
        check(roc_zero_async(&on_device, s));
        check(roc_fill_async(&on_device, &value, sizeof value, same));
        check(roc_copy_async(&on_device, &through, s, nullptr));
        check(roc_event_create(&e));
        check(roc_event_record(e, s));
        check(roc_event_synchronize(e));
        check(roc_event_query(e, &is_done));
        check(roc_stream_synchronize(own));
        char text[64];
        std::size_t length = 0;
        check(roc_get_option("pinned_cache", text, sizeof text, &length));
        check(roc_set_option("pinned_cache", text));
      }))
    return;
  c.finish();
  c.expect(version[0] + version[1] + version[2] > 0 && current == 0 && of_stream == 0 &&
               is_done == 1 && static_cast<word*>(static_cast<void*>(mapped))[count - 1] == value,
           "devices and options by the C interface");
}

}  // namespace

std::vector<scenario> const& interface_scenarios() {
  static std::vector<scenario> const all{
      {"images", images},
      {"sampled images", sampled_images},
      {"mipmaps", mipmaps},
      {"queues", queues},
      {"launches", launches},
      {"memory views", memory_views},
      {"tensors", tensors},
      {"DLPack views", dlpack_views},
      {"copies of bytes", copies_of_bytes},
      {"host resources", host_resources},
      {"managed resource", managed_resource},
      {"foreign resources", foreign_resources},
      {"cuda::mr resources", cuda_mr_resources},
      {"RMM resources", rmm_resources},
      {"standard resources", standard_resources},
      {"C copies", c_copies},
      {"C batches and streams", c_batches_and_streams},
      {"C devices and options", c_devices_and_options},
  };
  return all;
}

}  // namespace roc::test::faults
