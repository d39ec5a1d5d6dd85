# SPDX-License-Identifier: MIT
"""Streams and events, and how long asynchronous work keeps its arrays alive."""

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
from capsules import Producer, Tensor, tensor_of


def test_copies_on_a_stream_are_complete_after_synchronization():
    stream = roc.stream()
    host = np.arange(1000.0)
    d = roc.to_device(host, stream=stream)
    result = d.copy_to_host(stream=stream)
    stream.synchronize()
    assert np.array_equal(result, host) and stream.query()


def test_auto_synchronize_waits_also_after_an_exception():
    stream = roc.stream()
    host, result = np.arange(1000.0), np.zeros(1000)
    d = roc.device_array_like(host)
    with pytest.raises(KeyError):
        with stream.auto_synchronize() as entered:
            assert entered is stream
            d.copy_to_device(host, stream)
            d.copy_to_host(result, stream)
            raise KeyError
    assert np.array_equal(result, host)


def test_pageable_source_may_change_on_return():
    stream = roc.stream()
    host = np.arange(1000.0)
    d = roc.device_array_like(host)
    d.copy_to_device(host, stream)
    host[:] = -1
    assert np.array_equal(d.copy_to_host(), np.arange(1000.0))


def test_stream_zero_and_none_wait_for_the_result():
    for stream in (None, 0):
        d = roc.to_device(np.arange(10.0), stream=stream)
        assert d.copy_to_host(stream=stream)[9] == 9


def test_pending_work_keeps_arrays_alive(is_deferred):
    stream = roc.stream()
    source = roc.pinned_array(100000, np.float32)
    source[:] = np.arange(100000)
    result = roc.pinned_array(100000, np.float32)
    d = roc.device_array_like(source)
    d.copy_to_device(source, stream)
    d.copy_to_host(result, stream)
    alive = weakref.ref(source), weakref.ref(result)
    del source, result, d
    gc.collect()
    # Memory that was freed too early would be taken by these.
    others = [roc.pinned_array(100000, np.float32) for _ in range(4)]
    for other in others:
        other[:] = -1
    if is_deferred:
        assert alive[1]() is not None
    final = alive[1]()
    stream.synchronize()
    if final is not None:
        assert np.array_equal(final, np.arange(100000, dtype=np.float32))
    del final
    gc.collect()
    assert alive[0]() is None and alive[1]() is None


def test_event_and_device_synchronization_release_arrays():
    for wait in ("event", "device", "query", "query of an event"):
        stream = roc.stream()
        source = np.zeros(1000)
        d = roc.to_device(source, stream)
        alive = weakref.ref(source)
        del source
        event = roc.event()
        event.record(stream)
        if wait == "event":
            event.synchronize()
            assert event.query()
        elif wait == "device":
            roc.synchronize()
        elif wait == "query of an event":
            while not event.query():
                d.copy_to_host()
        else:
            while not stream.query():
                d.copy_to_host()
        assert alive() is None, wait


def test_a_busy_program_does_not_collect_finished_work():
    stream = roc.stream()
    d = roc.device_array(1000)
    alive = []
    for _ in range(50):
        source = np.zeros(1000)
        alive.append(weakref.ref(source))
        d.copy_to_device(source, stream)
        d.copy_to_host()  # waits for all work
    del source
    d.copy_to_device(np.zeros(1000), stream)
    assert sum(item() is not None for item in alive) <= 1


@pytest.mark.parametrize("wait", ["copy_to_host", "fill", "zero", "nothing"])
@pytest.mark.parametrize("kind", ["external", "per_thread", "default", "own"])
def test_work_with_a_new_stream_object_for_each_call_does_not_collect(kind, wait):
    owner = roc.stream()
    make = {"external": lambda: roc.external_stream(owner.handle), "per_thread": roc.per_thread_default_stream,
            "default": roc.default_stream, "own": roc.stream}[kind]
    d, other = roc.device_array(1000), roc.device_array(1000)
    alive = []
    for _ in range(200):
        source = np.zeros(1000)
        alive.append(weakref.ref(source))
        roc.copy(source, d, make())
        if wait == "copy_to_host":
            d.copy_to_host()
        elif wait == "fill":
            other.fill(1)
        elif wait == "zero":
            other.zero()
        else:
            _synchronize_outside_the_package()  # the next call finds that the work has finished
    del source
    assert sum(item() is not None for item in alive) <= 1
    roc.synchronize()
    assert sum(item() is not None for item in alive) == 0


def test_many_pending_entries_are_released_together():
    streams = [roc.stream() for _ in range(3)]
    d = [roc.device_array(10) for _ in streams]
    alive = []
    for i in range(300):
        source = np.zeros(10)
        alive.append(weakref.ref(source))
        d[i % 3].copy_to_device(source, streams[i % 3])
    del source
    _synchronize_outside_the_package()
    d[0].zero()
    assert sum(item() is not None for item in alive) == 0


def test_destroyed_stream_still_does_its_work():
    host = np.zeros(1000)
    roc.to_device(np.arange(1000.0)).copy_to_host(host, roc.stream())
    gc.collect()
    roc.synchronize()
    assert np.array_equal(host, np.arange(1000.0))


def test_closed_stream_is_an_error():
    stream = roc.stream()
    d = roc.to_device(np.arange(10.0), stream)
    stream.close()
    stream.close()
    for use in (stream.synchronize, stream.query, stream.auto_synchronize, lambda: stream.handle,
                lambda: d.copy_to_host(stream=stream), lambda: roc.event().record(stream),
                lambda: roc.device_array(3, stream=stream)):
        with pytest.raises(ValueError, match="the stream was closed; use one that is open"):
            use()
    assert d.copy_to_host()[9] == 9  # the memory is still of that stream


def test_timed_events_measure_milliseconds():
    begin, end, stream = roc.event(timing=True), roc.event(timing=True), roc.stream()
    with pytest.raises(RuntimeError, match="elapsed_time"):  # nothing was recorded
        begin.elapsed_time(end)
    begin.record(stream)
    d = roc.to_device(np.arange(1000), stream)
    end.record(stream)
    end.synchronize()
    assert 0 <= begin.elapsed_time(end) < 60000
    untimed = roc.event()
    untimed.record(stream)
    untimed.synchronize()
    for first, second in ((begin, untimed), (untimed, end)):
        with pytest.raises(ValueError, match="does not measure time"):
            first.elapsed_time(second)
    assert d.copy_to_host()[999] == 999


@pytest.mark.parametrize("non_blocking", [False, True])
def test_only_blocking_streams_are_ordered_after_the_default_stream(non_blocking, is_deferred):
    stream, default, event = roc.stream(0, non_blocking), roc.default_stream(), roc.event()
    d, result = roc.to_device(np.full(1000, 7)), np.zeros(1000, int)
    d.copy_to_host(result, stream=default)
    event.record(stream)
    event.synchronize()
    if is_deferred or not non_blocking:
        assert (result == 7).all() != non_blocking
    default.synchronize()
    assert (result == 7).all()


def test_calls_without_a_stream_come_after_copies_on_a_non_blocking_stream():
    stream = roc.stream(non_blocking=True)
    source = roc.pinned_array(100000, np.int32)
    source[:] = 7
    d = roc.device_array(100000, np.int32)
    d.zero()
    d.copy_to_device(source, stream)
    assert (d.copy_to_host() == 7).all()


def test_events_order_streams():
    first, second, event = roc.stream(), roc.stream(), roc.event()
    source = roc.pinned_array(100000, np.int32)
    source[:] = 7
    d = roc.device_array(100000, np.int32)
    d.zero()
    d.copy_to_device(source, first)
    event.record(first)
    second.wait(event)
    result = d.copy_to_host(stream=second)
    second.synchronize()
    assert (result == 7).all()
    event.wait(second)
    event.wait()


def test_export_waits_for_pending_work():
    stream, consumer = roc.stream(), roc.stream()
    source = roc.pinned_array(100000, np.int32)
    source[:] = 7
    d = roc.device_array(100000, np.int32)
    d.zero()
    d.copy_to_device(source, stream)

    class Exported:
        def __dlpack__(self, **_):
            return d.__dlpack__(stream=consumer.handle)

        def __dlpack_device__(self):
            return d.__dlpack_device__()

    result = np.zeros(100000, np.int32)
    roc.copy(Exported(), result, consumer)
    consumer.synchronize()
    assert (result == 7).all()


@pytest.mark.skipif(roc.device_count() < 2, reason="there is one device")
def test_producer_is_called_with_the_device_of_its_tensor_current():
    roc.set_device(1)
    try:
        d = roc.to_device(np.arange(10))
    finally:
        roc.set_device(0)
    seen = []

    class Exported:
        def __dlpack__(self, **options):
            seen.append(roc.get_device())
            return d.__dlpack__(**options)

        def __dlpack_device__(self):
            return d.__dlpack_device__()

    result = np.zeros(10, np.int64)
    roc.copy(Exported(), result)
    assert seen == [1]
    assert roc.get_device() == 0
    assert (result == np.arange(10)).all()


def _library():
    """Returns the C interface of the library that the package uses."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "librocarray.so" in line}
    return ctypes.CDLL(paths.pop())


def _synchronize_outside_the_package():
    assert _library().roc_synchronize_device(0) == 0


def _copy_outside_the_package(source, d, stream):
    """Enqueues a copy from pinned memory as other code does: the package does not know of it."""
    library = _library()
    for function, arguments in (("roc_stream_from_native", 2), ("roc_copy_async", 4), ("roc_stream_destroy", 1)):
        getattr(library, function).argtypes = [ctypes.c_void_p] * arguments
    handle = ctypes.c_void_p()
    assert library.roc_stream_from_native(stream.handle, ctypes.byref(handle)) == 0
    capsule = d.__dlpack__(stream=-1)
    to = tensor_of(capsule)
    from_ = Tensor(source.ctypes.data, 1, 0, to.ndim, to.code, to.bits, to.lanes, to.shape)
    assert library.roc_copy_async(ctypes.addressof(from_), ctypes.addressof(to), handle, None) == 0
    library.roc_stream_destroy(handle)


def test_export_waits_for_other_work_on_the_stream_of_the_allocation():
    stream, consumer = roc.stream(), roc.stream()
    source = roc.pinned_array(100000, np.int32)
    source[:] = 7
    d = roc.device_array(100000, np.int32, stream=stream)
    d.zero()
    _copy_outside_the_package(source, d, stream)

    class Exported:
        def __dlpack__(self, **_):
            return d.__dlpack__(stream=consumer.handle)

        def __dlpack_device__(self):
            return d.__dlpack_device__()

    result = np.zeros(100000, np.int32)
    roc.copy(Exported(), result, consumer)
    consumer.synchronize()
    assert (result == 7).all()
    stream.synchronize()


@pytest.mark.skipif(roc.device_count() < 2, reason="there is one device")
def test_import_orders_the_default_stream_of_the_device_of_the_tensor():
    source = roc.pinned_array(100000, np.int32)
    source[:] = 7
    to = roc.device_array(100000, np.int32)
    to.zero()
    roc.set_device(1)
    try:
        d = roc.device_array(100000, np.int32)
        d.zero()
    finally:
        roc.set_device(0)

    class Exported:
        def __dlpack__(self, **_):
            _copy_outside_the_package(source, d, roc.default_stream())  # of device 1, which is current
            return d.__dlpack__(stream=-1)

        def __dlpack_device__(self):
            return d.__dlpack_device__()

    stream = roc.per_thread_default_stream()
    roc.copy(Exported(), to, stream)
    stream.synchronize()
    assert (to.copy_to_host() == 7).all()


def test_import_by_dlpack_on_the_default_stream_of_the_thread():
    d = roc.to_device(np.arange(1000.0))
    numbers = []

    class Exported:
        def __dlpack__(self, *, stream, **_):
            numbers.append(stream)
            return d.__dlpack__(stream=stream)

        def __dlpack_device__(self):
            return d.__dlpack_device__()

    stream = roc.per_thread_default_stream()
    result = np.zeros(1000)
    roc.copy(Exported(), result, stream)
    stream.synchronize()
    assert numbers == [1 if roc.platform == "nvidia" else 0] and np.array_equal(result, np.arange(1000.0))


@pytest.mark.skipif(roc.platform == "nvidia", reason="the memory would be that of the platform")
def test_producers_on_cuda_are_told_the_default_stream_instead_of_that_of_the_thread():
    exported = Producer(np.zeros(3), device_type=2)
    for stream, number in ((roc.per_thread_default_stream(), 1), (roc.default_stream(), 1), (None, 1)):
        with pytest.raises(ValueError, match="device type 2"):
            roc.copy(exported, np.zeros(3), stream)
        assert exported.arguments["stream"] == number  # PyTorch refuses 2


@pytest.mark.skipif(roc.platform == "nvidia", reason="numbers differ on CUDA")
def test_streams_that_dlpack_does_not_allow_are_errors():
    d = roc.device_array(3)
    for number in (1, 2):
        with pytest.raises(ValueError, match=f"the stream {number} is not allowed"):
            d.__dlpack__(stream=number)
    d.__dlpack__(stream=0)


def test_streams_of_other_code_and_default_streams():
    owner = roc.stream()
    for stream in (roc.external_stream(owner.handle), roc.default_stream(), roc.per_thread_default_stream()):
        result = roc.to_device(np.arange(10.0), stream).copy_to_host(stream=stream)
        stream.synchronize()
        assert result[9] == 9 and stream.device == 0
    assert roc.default_stream().handle == 0 and roc.stream(priority=-1).device == 0


def test_arguments_that_are_no_streams_are_errors():
    for value in (1, "s", 0.0, False):
        with pytest.raises(TypeError, match="use a Stream, or None to wait for the result"):
            roc.to_device(np.zeros(3), stream=value)


def test_devices():
    assert roc.get_device() == 0 and roc.device_count() >= 1
    roc.set_device(0)
    with pytest.raises(RuntimeError, match="99"):
        roc.set_device(99)


@pytest.mark.skipif(roc.device_count() < 2, reason="there is one device")
def test_several_devices():
    first = roc.to_device(np.arange(1000.0))
    roc.set_device(1)
    try:
        stream = roc.stream()
        second = roc.to_device(first, stream)
        assert (second.device, stream.device, first.device) == (1, 1, 0)
        roc.set_device(0)
        result = second.copy_to_host(stream=stream)
        stream.synchronize()
        assert np.array_equal(result, np.arange(1000.0))
        with pytest.raises(ValueError, match="device"):
            first.copy_to_host(stream=stream)
    finally:
        roc.set_device(0)


@pytest.mark.skipif(roc.device_count() < 2, reason="there is one device")
def test_copies_of_an_array_are_on_its_device():
    host = np.arange(6.0).reshape(2, 3)
    roc.set_device(1)
    try:
        d = roc.to_device(host)
    finally:
        roc.set_device(0)
    for copied in (d.reshape_copy(3, 2), d.ravel_copy(), d.T.ravel_copy()):
        assert copied.device == 1
    capsule = d.T.__dlpack__(copy=True)
    tensor = tensor_of(capsule)
    assert (tensor.device_type, tensor.device_id) == d.__dlpack_device__() and tensor.device_id == 1
    assert roc.get_device() == 0
    assert np.array_equal(d.T.ravel_copy().copy_to_host(), host.T.ravel())


@pytest.mark.skipif(roc.device_count() < 2, reason="there is one device")
def test_streams_of_another_device_are_errors_and_nothing_is_copied():
    d = roc.to_device(np.full(1000, 7.0))
    host, zeros = np.full(1000, 1.0), np.zeros(1000)
    roc.set_device(1)
    try:
        stream = roc.stream()
    finally:
        roc.set_device(0)
    for call in (lambda: roc.copy(zeros, d, stream), lambda: roc.copy(d, host, stream),
                 lambda: d.copy_to_device(zeros, stream), lambda: d.copy_to_host(host, stream),
                 lambda: d.fill(0, stream), lambda: d.zero(stream)):
        with pytest.raises(ValueError, match="the stream is on device 1, but the array is on device 0"):
            call()
    stream.synchronize()
    assert (host == 1).all() and (zeros == 0).all() and (d.copy_to_host() == 7).all()


def test_program_whose_threads_use_one_stream_keeps_their_arrays_alive():
    program = """
import sys, threading, time
import numpy as np, rocarray as roc

sys.setswitchinterval(1e-6)
end = time.time() + 3
while time.time() < end:
    stream = roc.stream()
    arrays = [roc.to_device(np.full(4096, i, np.uint8)) for i in range(3)]
    start = threading.Barrier(3)

    def run(array):
        start.wait()
        for _ in range(30):
            array.copy_to_host(np.zeros(4096, np.uint8), stream)  # the destination has no other owner

    threads = [threading.Thread(target=run, args=(array,)) for array in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stream.synchronize()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("ending", ["pass", "import sys; sys.exit(0)", "del d, h, s", "s = None",
                                    "import atexit; atexit.register(lambda: d.copy_to_host(h, s))"])
def test_program_that_ends_with_pending_work_exits_cleanly(ending):
    program = f"""
import numpy as np, rocarray as roc
s = roc.stream()
h = np.zeros(1 << 20)
p = roc.pinned_array(1 << 20)
roc.register(np.zeros(5000))
d = roc.to_device(h, s)
d.copy_to_device(p, s)
d.copy_to_host(h, s)
{ending}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stderr) == (0, "")


def _run(program, **environment):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=300)
    return done.returncode, done.stderr


@pytest.mark.parametrize("call", ["roc.copy(d, host)", "roc.copy(d, host, s)", "d[1]", "d.fill(1, s)",
                                  "roc.to_device(host).close()"])
def test_program_that_ends_during_calls_of_a_daemon_thread_exits_cleanly(call):
    program = f"""
import threading
import numpy as np, rocarray as roc

s = roc.stream()
host = bytearray(1 << 20)
d = roc.to_device(host)
count = threading.Semaphore(0)

def run():
    while True:
        {call}
        count.release()

threading.Thread(target=run, daemon=True).start()
for _ in range(20):
    count.acquire()
"""
    for _ in range(2):
        assert _run(program) == (0, "")


def test_program_frees_the_memory_of_a_stream_that_has_ended():
    program = """
import gc
import numpy as np, rocarray as roc
s = roc.stream()
e = roc.external_stream(s.handle)
d = roc.device_array(1000, stream=e)
roc.copy(np.zeros(1000), d, e)
roc.synchronize()
s.close()
del d, e
gc.collect()
roc.to_device(np.zeros(10)).copy_to_host()
"""
    assert _run(program, ROCARRAY_LEAK_CHECK="1") == (0, "")


def test_program_with_a_subinterpreter_deletes_an_export_without_the_gil():
    pytest.importorskip("_xxsubinterpreters")
    program = f"""
import ctypes, sys
import _xxsubinterpreters as interpreters
import numpy as np, rocarray as roc

sys.path.insert(0, {os.path.dirname(__file__)!r})
from capsules import Managed, _get

interpreters.create()
d = roc.to_device(np.arange(1000))
capsule = d.__dlpack__()
address = _get(capsule, b"dltensor")
ctypes.pythonapi.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
ctypes.pythonapi.PyCapsule_SetName(capsule, b"used_dltensor")
d.close()  # the export is the last owner of the memory
deleter = Managed.from_address(address).deleter
ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(address)  # ctypes releases the GIL
"""
    assert _run(program, ROCARRAY_LEAK_CHECK="1") == (0, "")


def test_child_process_of_a_program_that_has_used_the_library_cannot_use_it():
    program = """
import os, sys, warnings
import numpy as np, rocarray as roc

warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: fork of a process with threads
s = roc.stream()
d, h = roc.to_device(np.zeros(1000)), np.zeros(1000)
pinned, event, guard = roc.pinned_array(1000), roc.event(), roc.register(np.zeros(5000))
d.copy_to_host(h, s)  # pending
process = os.fork()
if process == 0:
    for call in (d.copy_to_host, s.synchronize, roc.stream, roc.synchronize, event.query, guard.deregister,
                 lambda: roc.to_device(h), lambda: d.__dlpack__(), lambda: roc.device_array(3), roc.get_device):
        try:
            call()
        except RuntimeError as error:
            assert "cannot be used after fork" in str(error) and "'spawn'" in str(error), error
        else:
            os._exit(3)
    d.close()
    del d, s, pinned, event, guard
    sys.exit(0)
_, status = os.waitpid(process, 0)
assert status == 0, status
s.synchronize()
assert (d.copy_to_host() == 0).all()
"""
    assert _run(program) == (0, "")


def test_child_process_of_a_program_that_has_only_imported_the_package_can_use_it():
    program = """
import os, sys, warnings
import numpy as np, rocarray as roc

warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: fork of a process with threads
process = os.fork()
if process == 0:
    assert roc.platform
    assert (roc.to_device(np.full(1000, 7)).copy_to_host() == 7).all()
    sys.exit(0)
_, status = os.waitpid(process, 0)
assert status == 0, status
assert (roc.to_device(np.full(1000, 7)).copy_to_host() == 7).all()
"""
    assert _run(program) == (0, "")


def _host_hip(name, parameters):
    """Returns a function of HIP on the CPU, which the library exports as one of C++."""
    function = getattr(_library(), f"_ZN3roc8host_hip{len(name)}{name}E{parameters}")
    return lambda *arguments: function(*arguments)


@pytest.mark.skipif(roc.platform != "host", reason="calls HIP on the CPU")
def test_work_that_other_code_captures_does_not_stop_exports():
    begin = _host_hip("hipStreamBeginCapture", "PNS0_13stream_handleENS0_20hipStreamCaptureModeE")
    end = _host_hip("hipStreamEndCapture", "PNS0_13stream_handleEPPNS0_12graph_handleE")
    destroy = _host_hip("hipGraphDestroy", "PNS0_12graph_handleE")
    stream, consumer = roc.stream(non_blocking=True), roc.stream()
    source, d = roc.pinned_array(1000), roc.device_array(1 << 20, stream=stream)[:1000]
    source[:] = 7
    alive = weakref.ref(source)
    other, event = roc.to_device(np.arange(10.0)), roc.event()
    roc.synchronize()
    graph, handle = ctypes.c_void_p(), ctypes.c_void_p(stream.handle)
    assert begin(handle, 2) == 0
    for _ in range(3):  # the later calls must not end the capture by asking for the earlier ones
        roc.copy(source, d, stream)
    event.record(stream)
    for use in (event.query, event.synchronize):
        with pytest.raises(RuntimeError, match="the event was recorded in a capture"):
            use()
    exported = other.__dlpack__(stream=consumer.handle)
    assert end(handle, ctypes.byref(graph)) == 0 and graph.value
    other.__dlpack__()
    roc.synchronize()
    d.zero(stream)
    stream.synchronize()
    assert not d.copy_to_host().any() and exported is not None
    event.record(stream)
    event.synchronize()
    assert event.query()
    del source
    gc.collect()
    assert alive() is not None  # the graph could be launched
    assert destroy(graph) == 0


@pytest.mark.skipif(roc.platform != "host" or os.environ.get("ROCARRAY_HOST_MODE", "threaded") != "threaded",
                    reason="calls HIP on the CPU; work must run in a thread of its own")
def test_an_event_is_recorded_while_another_thread_waits_for_it():
    launch = _host_hip("hipLaunchHostFunc", "PNS0_13stream_handleEPFvPvES3_")
    blocked, other, event = roc.stream(non_blocking=True), roc.stream(non_blocking=True), roc.event()
    started, released, results = threading.Event(), threading.Event(), []
    hold = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: results.append(released.wait(60)))
    assert launch(ctypes.c_void_p(blocked.handle), hold, None) == 0
    event.record(blocked)

    def wait():
        started.set()
        event.synchronize()

    thread = threading.Thread(target=wait)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(10)  # `thread` gives up the GIL only in synchronize
    try:
        thread.start()
        started.wait()
    finally:
        sys.setswitchinterval(interval)
    event.record(other)
    event.wait(other)
    event.synchronize()
    assert event.query()
    released.set()
    thread.join()
    blocked.synchronize()
    assert results == [True]  # False: the record waited until the time was up


def test_events_are_recorded_and_awaited_by_several_threads():
    event, streams = roc.event(), [roc.stream() for _ in range(2)]
    errors = []

    def run(work):
        try:
            for _ in range(100):
                work()
        except Exception as error:
            errors.append(error)

    works = [lambda: event.record(streams[0]), lambda: event.record(streams[1]), event.query, event.synchronize,
             lambda: event.wait(streams[0])]
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
