# SPDX-License-Identifier: MIT
"""Arrays of PyTorch, CuPy and numba on a GPU, both ways. Skipped where a package is absent."""

import numpy as np
import pytest

import rocarray as roc

needs_gpu = pytest.mark.skipif(roc.platform == "host", reason="the host platform has no memory of a GPU")


def test_torch_tensors_in_host_memory():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    d = roc.to_device(tensor.t())
    assert np.array_equal(d.copy_to_host(), tensor.t().numpy())
    result = torch.zeros(6, 4)
    d.copy_to_host(result)
    assert torch.equal(result, tensor.t())


@needs_gpu
def test_torch_tensors_in_device_memory():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    tensor = torch.zeros(6, 4, device="cuda").t()
    roc.copy(host, tensor)
    assert np.array_equal(tensor.cpu().numpy(), host)
    back = np.zeros_like(host)
    roc.copy(tensor, back)
    assert np.array_equal(back, host)
    assert torch.equal(torch.from_dlpack(roc.to_device(host)).cpu(), torch.from_numpy(host))
    view = roc.to_device(host)[1:, 2:]
    assert torch.equal(torch.from_dlpack(view).cpu(), torch.from_numpy(host[1:, 2:]))
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        produced = torch.ones(1 << 20, device="cuda").cumsum(0)
    side_stream = roc.external_stream(side.cuda_stream)
    result = np.zeros(1 << 20, np.float32)
    with side_stream.auto_synchronize():
        roc.copy(produced, result, side_stream)
    assert result[-1] == 1 << 20
    half = torch.arange(1000, dtype=torch.bfloat16)
    on_device = torch.empty(1000, dtype=torch.bfloat16, device="cuda")
    roc.copy(half, on_device)
    assert torch.equal(on_device.cpu(), half)
    pinned = torch.zeros(4, 6).pin_memory()
    roc.copy(tensor, pinned)
    assert np.array_equal(pinned.numpy(), host)


@needs_gpu
def test_cupy_arrays_both_ways():
    cupy = pytest.importorskip("cupy")
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    array = cupy.zeros((6, 4), np.float32).T
    roc.copy(host, array)
    assert np.array_equal(cupy.asnumpy(array), host)
    assert np.array_equal(roc.to_device(array).copy_to_host(), host)
    shared = cupy.from_dlpack(roc.to_device(host)[::2])
    assert np.array_equal(cupy.asnumpy(shared), host[::2])
    d = roc.to_device(host)
    assert np.array_equal(cupy.asnumpy(cupy.asarray(d)), host)


@needs_gpu
def test_numba_arrays_both_ways():
    cuda = pytest.importorskip("numba.cuda")
    if not cuda.is_available():
        pytest.skip("numba has no GPU")
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    array = cuda.device_array((4, 6), np.float32)
    roc.copy(host, array)
    assert np.array_equal(array.copy_to_host(), host)
    d = roc.to_device(host)
    assert np.array_equal(cuda.as_cuda_array(d).copy_to_host(), host)
