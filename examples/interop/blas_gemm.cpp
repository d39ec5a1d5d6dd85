// SPDX-License-Identifier: MIT
// Arrays for cuBLAS or hipBLAS: data() and, as leading dimension, the stride of the columns. BLAS
// is of Fortran's order, as arrays of order::f are; a block of rows keeps the whole array's stride.
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <cstdio>
#include <stdexcept>

#if ROCARRAY_PLATFORM_NVIDIA
#include <cublas_v2.h>
#define BLAS(name) cublas##name
#define BLAS_CONSTANT(name) CUBLAS_##name
#else
#if __has_include(<hipblas/hipblas.h>)
#include <hipblas/hipblas.h>
#else
#include <hipblas.h>
#endif
#define BLAS(name) hipblas##name
#define BLAS_CONSTANT(name) HIPBLAS_##name
#endif

namespace {

void check(BLAS(Status_t) status, char const* call) {
  if (status != BLAS_CONSTANT(STATUS_SUCCESS)) throw std::runtime_error(call);
}

int leading(roc::device_view<float const, 2> matrix) {
  if (matrix.stride(0) != 1) throw std::runtime_error("BLAS needs columns without gaps");
  return static_cast<int>(matrix.stride(1));
}

// c = a b, on the stream of the handle.
void multiply(BLAS(Handle_t) blas, roc::device_view<float const, 2> a,
              roc::device_view<float const, 2> b, roc::device_view<float, 2> c) {
  float const one = 1;
  float const zero = 0;
  check(BLAS(Sgemm)(blas, BLAS_CONSTANT(OP_N), BLAS_CONSTANT(OP_N), static_cast<int>(c.extent(0)),
                    static_cast<int>(c.extent(1)), static_cast<int>(a.extent(1)), &one, a.data(),
                    leading(a), b.data(), leading(b), &zero, c.data(), leading(c)),
        "Sgemm");
}

}  // namespace

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  roc::device_array<float, 2> const all({64, 32}, roc::order::f);
  roc::device_array<float, 2> const b({32, 16}, roc::order::f);
  roc::device_array<float, 2> const c({20, 16}, roc::order::f);
  all.fill(0);
  auto const a = all(roc::slice(10, 30), roc::all);  // 20 rows of 64: the stride stays 64
  a.fill(2);
  b.fill(3);

  roc::stream const stream;
  BLAS(Handle_t) blas{};
  check(BLAS(Create)(&blas), "Create");
  check(BLAS(SetStream)(blas, roc::native(stream)), "SetStream");
  for (auto const* array : {&all, &b, &c}) array->record_stream(stream);
  multiply(blas, a, b.view(), c.view());
  auto result = roc::pinned_array<float>(c.shape(), roc::order::f);
  c.copy_to_host(result, stream);
  stream.synchronize();
  check(BLAS(Destroy)(blas), "Destroy");

  bool right = true;
  for (float const value : result) right = right && value == 192;
  std::printf("gemm: %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
