// SPDX-License-Identifier: MIT
// Arrays as arguments of cuBLAS or hipBLAS: data(), and the stride of the columns as leading
// dimension. BLAS uses Fortran order, as arrays with order::f do. A block of rows has the stride of
// the whole array.
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

// Returns the leading dimension of a matrix in Fortran order.
int leading_dimension(roc::device_view<float const, 2> matrix) {
  if (matrix.stride(0) != 1) throw std::runtime_error("BLAS needs columns without gaps");
  return static_cast<int>(matrix.stride(1));
}

// Enqueues c = alpha a b + beta c, with alpha 1 and beta 0, on the stream of the handle.
void multiply(BLAS(Handle_t) blas, roc::device_view<float const, 2> a,
              roc::device_view<float const, 2> b, roc::device_view<float, 2> c) {
  float const alpha = 1;
  float const beta = 0;
  check(BLAS(Sgemm)(blas, BLAS_CONSTANT(OP_N), BLAS_CONSTANT(OP_N), static_cast<int>(c.extent(0)),
                    static_cast<int>(c.extent(1)), static_cast<int>(a.extent(1)), &alpha, a.data(),
                    leading_dimension(a), b.data(), leading_dimension(b), &beta, c.data(),
                    leading_dimension(c)),
        "Sgemm");
}

}  // namespace

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  roc::device_array<float, 2> const whole({64, 32}, roc::order::f);
  roc::device_array<float, 2> const b({32, 16}, roc::order::f);
  roc::device_array<float, 2> const c({20, 16}, roc::order::f);
  whole.fill(0);
  auto const a = whole(roc::slice(10, 30), roc::all);  // 20 of 64 rows: the stride is still 64
  a.fill(2);
  b.fill(3);

  roc::stream const stream;
  BLAS(Handle_t) blas{};
  check(BLAS(Create)(&blas), "Create");
  check(BLAS(SetStream)(blas, roc::native(stream)), "SetStream");
  // The library does not see the work that BLAS enqueues.
  for (auto const* array : {&whole, &b, &c}) array->record_stream(stream);
  multiply(blas, a, b.view(), c.view());
  auto result = roc::pinned_array<float>(c.shape(), roc::order::f);
  c.copy_to_host(result, stream);
  stream.synchronize();
  check(BLAS(Destroy)(blas), "Destroy");

  bool correct = true;
  for (float const value : result) correct = correct && value == 192;
  std::printf("gemm: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
