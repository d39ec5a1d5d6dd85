# SPDX-License-Identifier: MIT
"""Registration, pinned and managed memory."""

import ctypes
import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import rocarray as roc
from capsules import Producer


def test_register_as_context_manager_deregisters_also_after_an_exception():
    a, b = np.arange(10000.0), np.zeros(10000)
    for _ in range(2):
        with pytest.raises(KeyError):
            with roc.register(a, b):
                roc.to_device(a).copy_to_host(b)
                raise KeyError
        with pytest.raises(ValueError, match="is not registered; use exactly the range that was registered"):
            roc.deregister(a)
    assert np.array_equal(b, a)


def test_register_without_context_lasts_until_deregister():
    a = np.zeros(10000)
    roc.register(a)
    gc.collect()
    roc.deregister(a)
    with pytest.raises(ValueError, match="deregister: .* is not registered"):
        roc.deregister(a)


def test_registered_arrays_stay_alive():
    a = np.zeros(10000)
    alive = weakref.ref(a)
    guard = roc.register(a)
    del a
    gc.collect()
    assert alive() is not None
    guard.deregister()
    gc.collect()
    assert alive() is None


def test_registration_counts():
    a = np.zeros(10000)
    with roc.register(a):
        with roc.register(a):
            pass
        roc.register(a)
        roc.deregister(a)
    with pytest.raises(ValueError, match="is not registered"):
        roc.deregister(a)


def test_deregistration_is_an_error_the_second_time():
    guard = roc.register(np.zeros(5000))
    with guard:
        guard.deregister()
    with pytest.raises(ValueError, match="were deregistered by this object before"):
        guard.deregister()


def test_partial_overlap_is_an_error_and_registers_nothing():
    a = np.zeros(10000)
    other = np.zeros(10000)
    with roc.register(a):
        with pytest.raises(ValueError, match="register: .*overlaps"):
            roc.register(other, a[:500])
        with pytest.raises(ValueError, match="is not registered"):
            roc.deregister(other)
        with pytest.raises(ValueError, match="is not the registered range"):
            roc.deregister(a[:500])


def test_strided_and_foreign_arrays_register_the_bytes_that_they_span():
    a = np.arange(20000, dtype=np.float32).reshape(100, 200)
    view = a[::-2, 10:20]
    low, high = a[1::2, 10:20].ctypes.data, a[-1, 19:].ctypes.data + a.itemsize
    with roc.register(view):
        assert np.array_equal(roc.to_device(view).copy_to_host(), view)
        flat = a.view(np.uint8).ravel()
        begin = low - flat.ctypes.data
        roc.deregister(flat[begin:begin + high - low])
        roc.register(view)
    buffer = bytearray(10000)
    with roc.register(buffer, Producer(a)), pytest.raises(BufferError):
        buffer.append(1)  # registered memory cannot be moved
    buffer.append(1)


def test_empty_arrays_register_nothing():
    with roc.register(np.zeros((0, 3)), np.zeros(0)):
        pass


def test_device_arrays_cannot_be_registered():
    with pytest.raises(ValueError, match="is in device memory; register host memory"):
        roc.register(roc.device_array(5))
    with pytest.raises(TypeError, match="is no array"):
        roc.register([1, 2])


def test_read_only_registration_refuses_copies_to_it():
    a = np.arange(5000.0)
    with roc.register(a, read_only=True):
        d = roc.to_device(a)
        with pytest.raises(ValueError, match="read"):
            d.copy_to_host(a)


def test_device_address_of_memory_that_was_deregistered_is_an_error():
    a, other = np.full(5000, 3, np.int32), np.full(5000, 4, np.int32)
    d = roc.device_array(5000, np.int32)
    d.fill(5)
    device = d.__dlpack_device__()
    c_interface = ctypes.CDLL(roc._rocarray.__file__)
    address = ctypes.c_void_p()
    with roc.register(a, mapped=True):
        assert c_interface.roc_device_address(ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(a.nbytes),
                                              ctypes.byref(address)) == 0
        # By the host's address, and by that of the device.
        mapped = [Producer(a, data=data, device_type=device[0], device_id=device[1])
                  for data in (a.ctypes.data, address.value)]
        for array in mapped:
            roc.copy(array, other)
            assert (other == 3).all()
            other[:] = 4
    stream = roc.stream()
    for array in mapped:
        for good in (other, d):
            for source, destination in ((array, good), (good, array)):
                for order in ((), (stream,)):
                    with pytest.raises(ValueError, match="is described as memory of device 0, but it is pageable host|"
                                                         "is not allocated"):
                        roc.copy(source, destination, *order)
    stream.synchronize()
    assert (a == 3).all() and (other == 4).all() and (d.copy_to_host() == 5).all()


@pytest.mark.parametrize("make", [roc.pinned_array, roc.managed_array])
def test_memory_that_cannot_be_allocated_is_a_memory_error(make):
    try:
        make(1)
    except NotImplementedError as problem:
        pytest.skip(str(problem))
    with pytest.raises(MemoryError, match="out of memory .*; free arrays, or use smaller ones"):
        make(1 << 45)
    assert make(3).shape == (3,)


def test_program_without_host_memory_gets_a_memory_error():
    program = """
import resource
import numpy as np, pytest, rocarray as roc

d, stream = roc.device_array(128 << 20, np.uint8), roc.stream()
d.fill(3)
for order in (None, stream):  # starts the threads of the library and of the runtime
    d[:8 << 20].copy_to_host(stream=order)
stream.synchronize()
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
for call in (d.copy_to_host, lambda: d.copy_to_host(stream=stream), lambda: np.asarray(d)):
    with pytest.raises(MemoryError):
        call()
assert (d[:1000].copy_to_host() == 3).all()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


def test_pinned_arrays_have_shape_dtype_and_order():
    a = roc.pinned_array((20, 50), np.int32, order="F", portable=True)
    assert isinstance(a, np.ndarray) and a.flags.f_contiguous and a.flags.writeable and a.dtype == np.int32
    a[:] = np.arange(1000).reshape(20, 50)
    assert np.array_equal(roc.to_device(a).copy_to_host(), a)
    assert roc.pinned_array(3, wc=True).shape == (3,) and roc.pinned_array((0, 2)).size == 0
    with pytest.raises(ValueError, match="array size overflows"):
        roc.pinned_array((1 << 40, 1 << 40))


def test_managed_arrays_can_be_copied():
    try:
        a = roc.managed_array(1000, np.float32)
    except NotImplementedError as problem:
        pytest.skip(str(problem))
    a[:] = 3
    assert (roc.to_device(a).copy_to_host() == 3).all()


def test_deregister_releases_the_array_that_is_given():
    a = np.zeros(10000)
    b = a.view()  # another object of the same range
    alive = weakref.ref(b)
    first, second = roc.register(a), roc.register(b)
    roc.deregister(b)
    del b
    gc.collect()
    assert alive() is None
    first.deregister()
    with pytest.raises(ValueError, match="is not registered"):
        second.deregister()


def test_a_registration_does_not_keep_arrays_that_were_deregistered():
    a = np.zeros(10000)
    alive = weakref.ref(a)
    guard = roc.register(a)
    roc.deregister(a)
    del a
    gc.collect()
    assert alive() is None
    with pytest.raises(ValueError, match="is not registered"):
        guard.deregister()


def test_a_registration_is_not_kept_by_its_own_arrays():
    class Array(np.ndarray):
        pass

    a = np.zeros(10000).view(Array)
    a.guard = roc.register(a)
    roc.deregister(a)
    alive = weakref.ref(a)
    del a
    gc.collect()
    assert alive() is None


def test_two_threads_deregister_once():
    a = np.zeros(10000)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(200):
            other, guard = roc.register(a), roc.register(a)
            start, errors = threading.Barrier(2), []

            def run():
                start.wait()
                try:
                    guard.deregister()
                except ValueError as error:
                    errors.append(str(error))

            threads = [threading.Thread(target=run) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(errors) == 1 and "were deregistered by this object before" in errors[0]
            other.deregister()
    finally:
        sys.setswitchinterval(interval)


def test_a_registration_can_be_ended_again_after_an_error():
    a = np.zeros(10000)
    guard = roc.register(a)
    roc.deregister(a)
    for _ in range(2):
        with pytest.raises(ValueError, match="is not registered"):
            guard.deregister()
    roc.register(a)
    guard.deregister()
    with pytest.raises(ValueError, match="is not registered"):
        roc.deregister(a)
