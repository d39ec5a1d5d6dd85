# SPDX-License-Identifier: MIT
"""Copies between arrays of any library, by each protocol."""

import array
import mmap
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import rocarray as roc
from capsules import IS_COPIED, PADDED, READ_ONLY, OldProducer, Producer, flags_of, name_of, random_array, tensor_of


def test_copy_between_any_layouts_and_memories_keeps_gaps(random):
    for _ in range(200):
        source = random_array(random, np.int16)
        memory = np.full(int(np.prod(np.array(source.shape) * 3 + 1)), -1, np.int16)
        frame = memory.reshape(np.array(source.shape) * 3 + 1) if source.ndim else memory.reshape(())
        key = tuple(slice(1, 1 + 3 * n, 3) if random.random() < 0.5 else slice(n, 0, -1) for n in source.shape)
        axes = random.permutation(source.ndim)
        base = frame[(*key, ...)].transpose(axes)
        destination = base.transpose(np.argsort(axes)) if source.ndim else base
        expected = memory.copy()
        expected_frame = expected.reshape(frame.shape)
        expected_frame[key] = source
        from_ = roc.to_device(source) if random.random() < 0.5 else source
        if random.random() < 0.5:
            roc.copy(from_, destination)
            assert np.array_equal(memory, expected)
        else:
            device_frame = roc.to_device(frame)
            roc.copy(from_, device_frame[(*key, ...)])
            assert np.array_equal(device_frame.copy_to_host().ravel(), expected.ravel())


def test_flat_host_memory_stands_for_any_shape():
    d = roc.device_array((4, 6), np.int32, order="F")
    d.copy_to_device(np.arange(24, dtype=np.int32))
    flat = np.zeros(24, np.int32)
    d.copy_to_host(flat)
    assert np.array_equal(flat, np.arange(24))


def test_objects_with_the_buffer_protocol_are_not_copied():
    d = roc.device_array(8, np.uint8)
    roc.copy(b"abcdefgh", d)
    for target in (bytearray(8), memoryview(bytearray(8)), mmap.mmap(-1, 8)):
        roc.copy(d, target)
        assert bytes(target[:]) == b"abcdefgh"
    doubles = array.array("d", [0.0] * 6)
    roc.copy(roc.to_device(np.arange(6.0)), doubles)
    assert list(doubles) == [0, 1, 2, 3, 4, 5]
    strided = memoryview(bytearray(16))[::2]
    roc.copy(d, strided)
    assert bytes(strided) == b"abcdefgh"


@pytest.mark.parametrize("producer", [Producer, OldProducer])
def test_dlpack_of_host_memory_both_ways(producer):
    host = np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::-2]
    exported = producer(host)
    d = roc.to_device(exported)
    assert np.array_equal(d.copy_to_host(), host)
    assert exported.arguments["stream"] is None and exported.deleted == 1
    d.fill(5)
    d.copy_to_host(producer(host))
    assert (host == 5).all()


def test_dlpack_without_strides_is_in_c_order():
    host = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert np.array_equal(roc.to_device(Producer(host, strides=None)).copy_to_host(), host)


def test_types_that_numpy_does_not_have_are_copied():
    bits = np.arange(10, dtype=np.uint16)
    to = np.zeros(10, np.uint16)
    roc.copy(Producer(bits, code=4), Producer(to, code=4))  # bfloat16
    assert np.array_equal(to, bits)
    with pytest.raises(TypeError, match="NumPy has no type for the elements of this array, such as bfloat16"):
        roc.to_device(Producer(bits, code=4))
    with pytest.raises(ValueError, match="element types of source and destination differ: bfloat16, float16"):
        roc.copy(Producer(bits, code=4), Producer(to, code=2))


@pytest.mark.parametrize("changes, kind, message", [
    ({"version": (2, 0)}, BufferError, "has version 2, supported is 1"),
    ({"code": 99}, ValueError, "elements of an unknown type: code 99"),
    ({"bits": 3}, ValueError, "elements of 3 bits x 1 lanes"),
    ({"bits": 0}, ValueError, "elements of 0 bits"),
    ({"ndim": -1}, ValueError, "has rank -1"),
    ({"ndim": 33}, ValueError, "has rank 33; use a rank from 0 to 32"),
    ({"shape": (-3, 5)}, ValueError, "negative extent: -3"),
    ({"shape": (1 << 62, 1 << 62), "strides": (0, 0)}, ValueError, "larger than the address space"),
    ({"strides": (1 << 62, 1)}, ValueError, "outside the address space"),
    ({"strides": (1 << 60, 1)}, ValueError, "outside the address space"),
    ({"byte_offset": 1 << 63}, ValueError, "outside the address space"),
    ({"data": None}, ValueError, "is null, but has elements"),
    ({"device_type": 77}, ValueError, "is in memory of device type 77"),
    ({"device_type": -5}, ValueError, "is in memory of device type -5"),
])
def test_invalid_dlpack_tensors_are_errors(changes, kind, message):
    host = np.zeros((4, 5), np.float32)
    exported = Producer(host, **changes)
    d = roc.to_device(np.ones((4, 5), np.float32))
    for from_, to in ((exported, d), (d, exported)):
        with pytest.raises(kind, match=message):
            roc.copy(from_, to)
    assert not host.any() and (d.copy_to_host() == 1).all()


def test_dlpack_of_a_device_that_does_not_exist_is_an_error():
    exported = Producer(np.zeros(4, np.float32), device_type=roc.device_array(1).__dlpack_device__()[0], device_id=99)
    with pytest.raises(RuntimeError, match="is on device 99, which does not exist"):
        roc.copy(exported, np.zeros(4, np.float32))


def test_object_that_returns_no_capsule_is_an_error():
    class Liar:
        def __dlpack__(self, **_):
            return 5

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(BufferError, match="returned no capsule"):
        roc.copy(Liar(), np.zeros(3))


def test_read_only_destinations_are_errors():
    d = roc.to_device(np.arange(4.0))
    host = np.zeros(4)
    host.flags.writeable = False
    for target in (host, Producer(np.zeros(4), flags=READ_ONLY), bytes(32)):
        with pytest.raises(ValueError, match="the destination is read-only"):
            roc.copy(d.view(np.uint8) if isinstance(target, bytes) else d, target)
    roc.copy(host, d)
    assert not d.copy_to_host().any()


def test_objects_that_are_no_arrays_are_errors():
    for value in ([1.0, 2.0], 3, None):
        with pytest.raises(TypeError, match="is no array"):
            roc.copy(value, np.zeros(2))


def test_export_by_dlpack_describes_the_view():
    whole = roc.to_device(np.arange(24, dtype=np.int16).reshape(4, 6))
    whole_capsule = whole.__dlpack__()
    first = tensor_of(whole_capsule).data
    d = whole[::2, 1:]
    for capsule, name in ((d.__dlpack__(), "dltensor"), (d.__dlpack__(max_version=(0, 8)), "dltensor"),
                          (d.__dlpack__(stream=-1, max_version=(1, 3)), "dltensor_versioned")):
        tensor = tensor_of(capsule)
        assert name_of(capsule) == name
        assert (tensor.shape[:2], tensor.strides[:2]) == ([2, 5], [12, 1])
        # PyTorch ignores byte_offset.
        assert (tensor.data - first, tensor.byte_offset) == (2, 0)
        assert (tensor.code, tensor.bits, tensor.lanes) == (0, 16, 1)
        assert (tensor.device_type, tensor.device_id) == d.__dlpack_device__()


class _Exported:
    """Holds a capsule of an array, as a consumer does."""

    def __init__(self, array, **options):
        self.capsule, self.device = array.__dlpack__(max_version=(1, 1), **options), array.__dlpack_device__()

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("is_closed", [False, True])
def test_exported_memory_lives_until_the_consumer_deletes_it(is_closed):
    d = roc.to_device(np.arange(1000.0))
    exported = _Exported(d)
    if is_closed:
        d.close()
    del d
    others = [roc.to_device(np.zeros(1000)) for _ in range(8)]
    host = np.zeros(1000)
    roc.copy(exported, host)
    assert np.array_equal(host, np.arange(1000.0)) and others
    with pytest.raises(BufferError, match="returned no capsule that holds a tensor"):
        roc.copy(exported, host)  # consumed


def test_close_during_a_call_does_not_free_the_memory_that_the_call_uses():
    d = roc.to_device(np.zeros(1000))
    others = []

    class Closing(Producer):
        def __dlpack__(self, **arguments):
            d.close()
            others.extend(roc.to_device(np.zeros(1000)) for _ in range(8))  # would take freed memory
            return super().__dlpack__(**arguments)

    d.copy_to_device(Closing(np.ones(1000)))
    assert len(others) == 8 and not any(other.copy_to_host().any() for other in others)
    with pytest.raises(ValueError, match="was freed by close"):
        d.copy_to_host()


def test_close_in_another_thread_is_safe():
    def close(array, start):
        start.wait()
        array.close()

    for _ in range(200):
        d = roc.to_device(np.ones(1000))
        start = threading.Barrier(2)
        thread = threading.Thread(target=close, args=(d, start))
        thread.start()
        start.wait()
        try:
            for _ in range(20):
                assert (d.copy_to_host() == 1).all()
        except ValueError as error:
            assert "the memory of the array was freed by close()" in str(error)
        thread.join()


def test_export_by_dlpack_to_other_devices():
    d = roc.to_device(np.arange(5.0))
    capsule = d.__dlpack__(dl_device=(1, 0))
    assert tensor_of(capsule).device_type == 1
    copied = d.__dlpack__(copy=True)
    assert tensor_of(copied).data != tensor_of(d.__dlpack__()).data
    with pytest.raises(BufferError, match="cannot be exported to device"):
        d.__dlpack__(dl_device=(77, 0))
    with pytest.raises(BufferError, match="cannot be exported to device"):
        d.__dlpack__(dl_device=(1, 0), copy=False)


def test_export_of_types_and_strides_that_dlpack_does_not_have_is_an_error():
    d = roc.device_array(5, "u1,f8")
    with pytest.raises(BufferError, match="DLPack has no type"):
        d.__dlpack__()
    with pytest.raises(BufferError, match=r"the strides \(9,\) are no multiples of 8 bytes"):
        d["f1"].__dlpack__(copy=False)
    for dtype in ("g", "G"):
        if np.dtype(dtype).itemsize > np.dtype(dtype.replace("g", "d").replace("G", "D")).itemsize:
            with pytest.raises(BufferError, match="DLPack has no type"):
                roc.device_array(5, dtype).__dlpack__()


@pytest.mark.parametrize("copy", [None, True])
def test_strides_that_dlpack_does_not_have_are_exported_as_a_copy(copy):
    host = np.zeros(5, "u1,f8")
    host["f1"] = np.arange(5)
    exported = _Exported(roc.to_device(host)["f1"], copy=copy)
    assert flags_of(exported.capsule) == IS_COPIED and tensor_of(exported.capsule).strides[0] == 1
    result = np.zeros(5)
    roc.copy(exported, result)
    assert np.array_equal(result, np.arange(5.0))


def test_copies_are_marked_in_the_capsule():
    d = roc.to_device(np.arange(5.0))
    assert flags_of(d.__dlpack__(max_version=(1, 1))) == 0
    assert flags_of(d.__dlpack__(max_version=(1, 1), copy=True)) == IS_COPIED
    assert flags_of(d.__dlpack__(max_version=(1, 1), copy=False)) == 0


def test_export_to_host_memory_has_the_version_that_numpy_offers():
    def name(**options):
        return name_of(roc.to_device(np.arange(5.0)).__dlpack__(dl_device=(1, 0), **options))

    try:
        expected = name_of(np.arange(5.0).__dlpack__(max_version=(1, 0)))
    except TypeError:
        expected = "dltensor"  # NumPy before 2.1
    assert name() == "dltensor" and name(max_version=(1, 0)) == expected


def test_elements_that_are_padded_to_bytes_are_errors():
    host = np.zeros(4, np.uint8)
    for bits, lanes in ((4, 2), (1, 8)):
        exported = Producer(host, flags=PADDED, code=1, bits=bits, lanes=lanes)
        with pytest.raises(BufferError, match=f"elements of {bits} bits that are padded to bytes"):
            roc.copy(exported, np.ones(4, np.uint8))
    result = np.ones(4, np.uint8)
    roc.copy(Producer(host, flags=PADDED), result)  # nothing to pad
    assert not result.any()


@pytest.mark.parametrize("device", [(1,), 1, ("x", 0), (1 << 40, 0)], ids=repr)
def test_invalid_devices_of_producers_are_errors(device):
    exported = Producer(np.zeros(3))
    exported.__class__ = type("Invalid", (Producer,), {"__dlpack_device__": lambda self: device})
    with pytest.raises(BufferError, match="the result of __dlpack_device__ is not valid"):
        roc.copy(exported, np.zeros(3))


class _OfAGpu:
    """Has only __cuda_array_interface__, as numba's arrays do."""

    def __init__(self, array, **changes):
        self.array, self.changes = array, changes

    @property
    def __cuda_array_interface__(self):
        return {**self.array.__cuda_array_interface__, **self.changes}


@pytest.mark.skipif(roc.platform == "host", reason="device memory of the host platform is not that of a GPU")
def test_cuda_array_interface_both_ways():
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    d = roc.to_device(host)
    for view, expected in ((d, host), (d.T, host.T), (d[::2, ::-1], host[::2, ::-1])):
        assert np.array_equal(roc.to_device(_OfAGpu(view)).copy_to_host(), expected)
    roc.copy(np.zeros((4, 6), np.float32), _OfAGpu(d, stream=None))
    assert not d.copy_to_host().any()
    stream = roc.stream()
    roc.copy(_OfAGpu(d, stream=stream.handle), host, stream)
    stream.synchronize()
    for changes, message in (({"mask": 1}, "has a mask"), ({"stream": 0}, "stream 0, which is ambiguous"),
                             ({"strides": (4,)}, "1 strides for 2 axes"), ({"typestr": None}, "has no 'typestr'"),
                             ({"data": (0, False)}, "is null, but has elements"),
                             ({"stream": -1}, "'stream' that is negative")):
        with pytest.raises(ValueError, match=message):
            roc.copy(_OfAGpu(d, **changes), host)
    with pytest.raises(TypeError, match="'stream' of type str"):
        roc.copy(_OfAGpu(d, stream="x"), host)
    assert d[2:2].__cuda_array_interface__["data"][0] == 0
    records = np.array([(1, 2.5), (3, 4.5)], np.dtype("i1,f8", align=True))
    on_device = roc.to_device(records)
    read = roc.to_device(_OfAGpu(on_device))
    assert read.dtype == records.dtype and np.array_equal(read.copy_to_host(), records)
    result = np.zeros_like(records)
    roc.copy(_OfAGpu(on_device, descr=None), result)
    assert np.array_equal(result, records)
    with pytest.raises(ValueError, match="the destination is read-only"):
        roc.copy(host, _OfAGpu(d, data=(d.__cuda_array_interface__["data"][0], True)))


@pytest.mark.skipif(roc.platform == "host", reason="device memory of the host platform is not that of a GPU")
def test_strides_of_cuda_array_interface_that_leave_the_address_space_are_errors():
    d = roc.to_device(np.full((2, 3), 7, np.uint8))
    host = np.full((2, 3), 1, np.uint8)
    for stride in (-(1 << 62), -(1 << 63), (1 << 63) - 1):
        invalid = _OfAGpu(d, strides=(stride, 1))
        for source, destination in ((invalid, host), (host, invalid)):
            with pytest.raises(ValueError):
                roc.copy(source, destination)
    assert (host == 1).all() and (d.copy_to_host() == 7).all()


def test_memory_of_a_closed_array_is_an_error():
    d = roc.to_device(np.full(1000, 7, np.uint8))
    capsule, device = d.__dlpack__(), d.__dlpack_device__()
    address = tensor_of(capsule).data
    del capsule  # would keep the memory
    host = np.full(1000, 1, np.uint8)
    closed = [Producer(host, data=address, device_type=device[0], device_id=device[1])]
    if roc.platform != "host":
        closed.append(type("OfAGpu", (), {"__cuda_array_interface__": d.__cuda_array_interface__})())
    roc.copy(closed[0], host)
    assert (host == 7).all()
    host[:] = 1
    d.close()
    for array in closed:
        for source, destination in ((array, host), (host, array)):
            with pytest.raises(ValueError, match="destroyed"):
                roc.copy(source, destination)
    assert (host == 1).all()


def _run_or_skip(program):
    """Runs a program without pytest's fault handler: with a handler of SIGSEGV the library does not check pages."""
    path = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": path, "PYTHONFAULTHANDLER": ""}, timeout=300)
    if done.returncode == 77:
        pytest.skip(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")


def test_program_that_copies_memory_that_other_code_freed_gets_an_error():
    _run_or_skip("""
import ctypes, mmap
import numpy as np, pytest, rocarray as roc
from capsules import Producer

def check(status):
    assert status == 0, status

# By the C interface: the package does not know the memory, which HIP frees.
c = ctypes.CDLL(roc._rocarray.__file__)
bytes, resource, on_device = ctypes.c_size_t(mmap.PAGESIZE), ctypes.c_void_p(), ctypes.c_void_p()
check(c.roc_resource_create_hip(0, ctypes.byref(resource)))
check(c.roc_allocate(resource, bytes, None, ctypes.byref(on_device)))
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
on_host = libc.mmap(None, bytes, 3, 0x22, -1, ctypes.c_long(0))  # private and anonymous, to read and write

host, d = np.full(mmap.PAGESIZE, 1, np.uint8), roc.device_array(mmap.PAGESIZE, np.uint8)
d.fill(2)
# Its thread starts before memory is freed: the stack could get the address.
stream = roc.stream()
d.copy_to_host(host, stream)
stream.synchronize()
host[:] = 1
device = d.__dlpack_device__()
arrays = [Producer(host, data=on_device.value, device_type=device[0], device_id=device[1]),
          Producer(host, data=on_host)]
for array in arrays:
    roc.copy(d, array)
    host[:] = 1
    roc.copy(array, host)
    assert (host == 2).all()
host[:] = 1
check(c.roc_free(on_device, None))
check(libc.munmap(ctypes.c_void_p(on_host), bytes))
for array in arrays:
    for good in (host, d):
        for source, destination in ((array, good), (good, array)):
            for order in ((), (stream,)):
                with pytest.raises(ValueError, match="is not allocated|but it is pageable host memory"):
                    roc.copy(source, destination, *order)
    with pytest.raises(ValueError, match="is not allocated|but it is pageable host memory"):
        d.copy_to_device(array)
stream.synchronize()
assert (host == 1).all() and (d.copy_to_host() == 2).all()
check(c.roc_resource_destroy(resource))
""")


def test_program_that_copies_to_pages_that_must_not_be_written_gets_an_error():
    _run_or_skip("""
import ctypes, mmap, sys
import numpy as np, pytest, rocarray as roc

page = mmap.PAGESIZE
memory = np.frombuffer(mmap.mmap(-1, 2 * page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), np.uint8)
memory[:] = 9
libc = ctypes.CDLL(None)
begin = memory.ctypes.data
populate_for_writing = 23
if libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(page), populate_for_writing) != 0:
    print("the kernel does not tell which pages are writable")
    sys.exit(77)
read_only = 1
assert libc.mprotect(ctypes.c_void_p(begin + page), ctypes.c_size_t(page), read_only) == 0
host, d, stream = np.full(64, 6, np.uint8), roc.device_array(64, np.uint8), roc.stream()
d.fill(5)
# In the page, and from the writable page before it on.
for first in (page, page - 32):
    destination = memory[first:first + 64]
    assert destination.flags.writeable
    for call in (lambda: d.copy_to_host(destination), lambda: d.copy_to_host(destination, stream),
                 lambda: roc.copy(d, destination), lambda: roc.copy(host, destination),
                 lambda: roc.copy(d, destination, stream), lambda: roc.copy(host, destination, stream)):
        with pytest.raises(ValueError, match="is in memory that must not be written; use memory whose pages are"):
            call()
stream.synchronize()
assert (memory == 9).all()
assert (roc.to_device(memory).copy_to_host() == 9).all()
d.copy_to_host(memory[:64])
assert (memory[:64] == 5).all()
""")


@pytest.mark.parametrize("dtype", [
    np.dtype("f8"), np.dtype("V12"), np.dtype("S3"), np.dtype("i1,f8"), np.dtype("i1,f8", align=True),
    np.dtype([("a", "i1"), ("s", [("x", "i2"), ("y", "f8", (2, 3))])], align=True),
    np.dtype({"names": ["a", "b"], "formats": ["i4", "i2"], "offsets": [2, 8], "itemsize": 16}),
    np.dtype([(("title", "a"), "i4"), ("b", "S3")]),
], ids=str)
def test_types_of_cuda_array_interface_are_those_that_numpy_describes(dtype):
    read = roc._rocarray._interface_dtype(dtype.str, dtype.descr)
    assert read == dtype and read.fields == dtype.fields
    without = roc._rocarray._interface_dtype(dtype.str, None)
    assert without == np.dtype(f"V{dtype.itemsize}") if dtype.fields else without == dtype


@pytest.mark.parametrize("changes, kind, message", [
    ({"typestr": 8}, TypeError, "'typestr' of type int"),
    ({"typestr": "no type"}, TypeError, "no type"),
    ({"typestr": "|V9", "descr": [("a", "i1")]}, ValueError, "a 'descr' of 1 bytes, but a 'typestr' of 9"),
    ({"typestr": "|V9", "descr": [3]}, ValueError, "a 'descr' that describes no type"),
    ({"data": (4096,)}, ValueError, "'data' of 1 elements"),
    ({"data": 4096}, TypeError, "'data' of type int; its producer must set a tuple"),
    ({"data": ("x", False)}, TypeError, "'data' of type str; its producer must set an integer"),
    ({"data": (-1, False)}, ValueError, "'data' that is negative"),
    ({"data": (2**70, False)}, ValueError, "'data' that is negative or has more than 64 bits"),
    ({"shape": 1.5}, TypeError, "the shape is of type float"),
    ({"shape": (2**70,)}, ValueError, "an extent has more than 64 bits"),
    ({"strides": (4, 4)}, ValueError, "2 strides for 1 axes"),
    ({"typestr": None}, ValueError, "has no 'typestr'"),
    ({"mask": 1}, ValueError, "has a mask"),
])
def test_invalid_cuda_array_interfaces_are_errors(changes, kind, message):
    valid = {"shape": (3,), "typestr": "<f8", "data": (4096, False), "version": 3}
    exported = type("OfAGpu", (), {"__cuda_array_interface__": {**valid, **changes}})()
    with pytest.raises(kind, match=message):
        roc.copy(exported, np.zeros(3))
    exported.__class__.__cuda_array_interface__ = [valid]
    with pytest.raises(TypeError, match="__cuda_array_interface__ is of type list"):
        roc.copy(exported, np.zeros(3))


@pytest.mark.skipif(roc.platform != "host", reason="arrays of GPUs have the interface")
def test_cuda_array_interface_is_refused_on_the_host_platform():
    assert not hasattr(roc.device_array(3), "__cuda_array_interface__")

    class OfAGpu:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (4096, False), "version": 3}

    with pytest.raises(ValueError, match="which the host platform cannot access"):
        roc.copy(OfAGpu(), np.zeros(3))


def test_other_threads_run_during_a_copy():
    big = np.zeros(16 << 20, np.uint8)
    d = roc.to_device(big)
    count, ends = 0, False

    def run():
        nonlocal count
        while not ends:
            count += 1
            time.sleep(0)  # releases the GIL, which this thread otherwise keeps

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    thread = threading.Thread(target=run)
    try:
        thread.start()
        for _ in range(100):
            before = count
            d.copy_to_host(big)  # the only call that can release the GIL
            if count > before:
                break
        else:
            pytest.fail("no copy released the GIL")
    finally:
        ends = True
        sys.setswitchinterval(interval)
        thread.join()


def test_threads_copy_at_the_same_time(random):
    def work(seed):
        host = np.random.default_rng(seed).integers(0, 1000, 5000)
        for _ in range(20):
            stream = roc.stream()
            with stream.auto_synchronize():
                d = roc.to_device(host, stream)
                result = d[::-1].copy_to_host(stream=stream)
            if not np.array_equal(result, host[::-1]):
                wrong.append(seed)

    wrong = []
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
