#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures transfers and allocations by torch, cupy and numba-cuda, for comparison with rocbench's
results in scripts/transfers.

Writes JSON to standard output: {"peers": {name: version}, "rates": {operation: {name: rate}}, "failed":
[text]}. Operations are named as in scripts/transfers_table.py, for example "h2d/pageable/67108864",
"bidir/pinned/268435456" and "tiles/pageable/536870912" (the bytes of both directions), "permute/2d/4",
"strided/pageable/h2d/64", "box/interior", "for_each", "batch/h2d" and "fill/4": bytes per second. Rates of
"alloc/SIZE", "latency/..." and "enqueue/..." are calls per second from Python: an allocation and its
deallocation, a copy of 4 bytes and a wait, and such a copy without the wait. Each rate is the median of
several runs after a warm-up; the result is compared. A case that fails is reported, and the others
continue. Libraries that are not installed are named on standard error and skipped; if none is installed,
the exit code is 77.
"""

import argparse
import gc
import json
import statistics
import sys
import time

import numpy as np

MEBI = 1 << 20
KIBI = 1 << 10
SIZES = [64 * KIBI, 256 * KIBI, 512 * KIBI, MEBI, 8 * MEBI, 64 * MEBI, 256 * MEBI, 1024 * MEBI]
NEW_ARRAYS = [8 * MEBI, 64 * MEBI, 256 * MEBI]
BOTH_WAYS = [256 * MEBI, 512 * MEBI, 2048 * MEBI]  # bytes of both directions
TILED = [512 * MEBI, 2048 * MEBI]
TILES = 32
ROWS = [4, 16, 64, 4096]
ELEMENTS = {1: np.uint8, 2: np.uint16, 4: np.float32, 8: np.float64, 16: np.complex128}
STRIDED_BYTES = 64 * MEBI
PERMUTED_BYTES = 256 * MEBI
FILLED_BYTES = 256 * MEBI
BATCH, PIECE, GAP = 4096, 4 * KIBI, 256
ALLOCATED = [256, MEBI, 16 * MEBI, 1024 * MEBI]
seconds_of_an_operation = 0.3


def median_seconds(run, wait):
    """Returns the median time of run() followed by wait()."""
    run()
    wait()
    times = []
    begin = time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < seconds_of_an_operation:
        start = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def pattern(size):
    """Returns bytes whose 8-byte words are all different."""
    return np.arange(size // 8, dtype=np.uint64).view(np.uint8)


def boxes():
    """Returns {operation: (shape of the source, region of it, shape of the destination, region)} of floats, as
    in rocbench's cases of 256 MiB."""
    inner, every = slice(1, -1), slice(None)
    cube, interior = (512, 512, 256), (inner, inner, inner)
    right = slice(2, None)
    result = {
        "box/interior": (cube, interior, cube, interior),
        "box/compact": (cube, interior, (510, 510, 254), (every, every, every)),
        "box/every_2nd_plane": (cube, (slice(None, None, 2),), (256, 512, 256), (every,)),
        "box/every_2nd_element": ((1 << 26,), (slice(None, None, 2),), (1 << 25,), (every,)),
    }
    for name, rows, width in (("long_rows", 16384, 4096), ("short_rows", 658000, 102)):
        result[f"box/{name}"] = ((rows, width), (every, inner), (rows, width), (every, inner))
        result[f"box/{name}_shifted"] = ((rows, width), (every, inner), (rows, width), (every, right))
    for columns in (64, 128, 256):
        matrix, part = ((1 << 26) // columns, columns + 4), (every, slice(1, 1 + columns))
        result[f"box/columns_{columns}"] = (matrix, part, matrix, part)
    return result


def side(element, rank):
    """Returns the side of a square or cubic array of at most PERMUTED_BYTES bytes."""
    length = round((PERMUTED_BYTES // element) ** (1 / rank))
    return length if length ** rank * element <= PERMUTED_BYTES else length - 1


# Operations that write an array of PERMUTED_BYTES bytes in another order: the rank, and the function that
# returns the view of the source, which is its own inverse. torch has no views with negative strides.
REORDERED = {
    "permute/2d": (2, (1, 0)),
    "permute/3d": (3, (2, 1, 0)),
    "permute/021": (3, (0, 2, 1)),
    "reverse/last_axis": (2, 1),
    "reverse/first_axis": (2, 0),
}


# A class for each library. Its members:
#   version                 the library's version
#   wait()                  blocks until the work of the device has finished
#   host(size, pinned)      returns an array of `size` bytes in host memory, and a NumPy view of it
#   device(size)            returns an array of `size` zero bytes in device memory, and a function that
#                           returns a copy of it as a NumPy array
#   copy(destination, source)  copies all bytes; may return before the copy has finished
#   release()               frees memory that the library keeps for reuse
# and, if the library has the operation:
#   rows(array, row)        returns a view of the first half of each 2 * row bytes of a host array
#   stream()                returns a new stream
#   enqueue(stream, destination, source)  enqueues a copy on the stream
#   new_array(source)       returns a new NumPy array, or one that shares its memory
#   reorder(operation, element)  returns a function that enqueues an operation of REORDERED, and one that
#                           returns whether the result is correct
#   box(operation)          returns the bytes read and written by a copy of boxes(), a function that enqueues
#                           it, and one that returns whether the result is correct
#   add()                   returns a function that enqueues c = a + b for floats, and one as above
#   fill(element)           returns a function that enqueues a fill with bytes or floats, and one as above
#   allocate(size)          allocates and frees device memory once


class Torch:
    def __init__(self):
        import torch

        self.torch = torch
        self.version = torch.__version__
        torch.cuda.init()
        self.wait = torch.cuda.synchronize
        self.stream = torch.cuda.Stream
        self.release = torch.cuda.empty_cache

    def host(self, size, pinned):
        array = self.torch.empty(size, dtype=self.torch.uint8, pin_memory=pinned)
        return array, array.numpy()

    def device(self, size):
        array = self.torch.zeros(size, dtype=self.torch.uint8, device="cuda")
        return array, lambda: array.cpu().numpy()

    def copy(self, destination, source):
        destination.copy_(source, non_blocking=True)

    def enqueue(self, stream, destination, source):
        with self.torch.cuda.stream(stream):
            destination.copy_(source, non_blocking=True)

    def new_array(self, source):
        return source.cpu().numpy()

    def rows(self, array, row):
        return array.view(-1, 2 * row)[:, :row]

    def pattern(self, shape, element):
        kind = {1: "uint8", 2: "int16", 4: "float32", 8: "float64", 16: "complex128"}[element]
        values = self.torch.arange(int(np.prod(shape)), device="cuda") % 251
        return values.to(getattr(self.torch, kind)).view(shape)

    def reorder(self, operation, element):
        rank, axes = REORDERED[operation]
        source = self.pattern((side(element, rank),) * rank, element)
        if isinstance(axes, int):  # returns a new array
            result = []

            def run():
                result[:] = [self.torch.flip(source, (axes,))]

            return run, lambda: bool((self.torch.flip(result[0], (axes,)) == source).all())
        target = self.torch.zeros_like(source)
        return (lambda: target.copy_(source.permute(axes)),
                lambda: bool((target.permute(axes) == source).all()))

    def box(self, operation):
        shape, region, target_shape, target_region = boxes()[operation]
        source = self.torch.arange(int(np.prod(shape)), dtype=self.torch.float32, device="cuda").view(shape)[region]
        target = self.torch.zeros(target_shape, dtype=self.torch.float32, device="cuda")[target_region]
        return (2 * 4 * source.numel(), lambda: target.copy_(source),
                lambda: bool((target == source).all()))

    def add(self):
        a = self.pattern((FILLED_BYTES // 4,), 4)
        b = self.pattern((FILLED_BYTES // 4,), 4) * 2
        c = self.torch.zeros_like(a)
        return lambda: self.torch.add(a, b, out=c), lambda: bool((c == 3 * a).all())

    def fill(self, element):
        kind = {1: self.torch.uint8, 4: self.torch.float32}[element]
        target = self.torch.zeros(FILLED_BYTES // element, dtype=kind, device="cuda")
        return lambda: target.fill_(7), lambda: bool((target == 7).all())

    def allocate(self, size):
        self.torch.cuda.caching_allocator_delete(self.torch.cuda.caching_allocator_alloc(size))


class Cupy:
    def __init__(self):
        import cupy

        self.cupy = cupy
        self.version = cupy.__version__
        self.copies = cupy.cuda.Stream(non_blocking=True)
        self.pool = cupy.cuda.MemoryPool()
        cupy.zeros(1)
        self.wait = cupy.cuda.Device().synchronize

    def release(self):
        self.cupy.get_default_memory_pool().free_all_blocks()
        self.cupy.get_default_pinned_memory_pool().free_all_blocks()
        self.pool.free_all_blocks()

    def host(self, size, pinned):
        if pinned:
            memory = self.cupy.cuda.alloc_pinned_memory(size)
            array = np.frombuffer(memory, dtype=np.uint8, count=size)
        else:
            array = np.empty(size, dtype=np.uint8)
        return array, array

    def device(self, size):
        array = self.cupy.zeros(size, dtype=np.uint8)
        return array, lambda: self.cupy.asnumpy(array)

    def copy(self, destination, source):
        self.enqueue(self.copies, destination, source)

    def enqueue(self, stream, destination, source):
        if not isinstance(destination, self.cupy.ndarray):
            if destination.flags.c_contiguous:
                source.get(stream=stream, out=destination, blocking=False)
            else:
                destination[...] = source.get(stream=stream)
        elif isinstance(source, self.cupy.ndarray):
            with stream:
                destination[...] = source
        else:
            destination.set(np.ascontiguousarray(source), stream=stream)

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def new_array(self, source):
        return source.get()

    def rows(self, array, row):
        return array.reshape(-1, 2 * row)[:, :row]

    def pattern(self, shape, element):
        values = self.cupy.arange(int(np.prod(shape))) % 251
        return values.astype(ELEMENTS[element]).reshape(shape)

    def reorder(self, operation, element):
        rank, axes = REORDERED[operation]
        source = self.pattern((side(element, rank),) * rank, element)
        target = self.cupy.zeros_like(source)

        def view(array):
            return self.cupy.flip(array, axes) if isinstance(axes, int) else array.transpose(axes)

        def run():
            target[...] = view(source)

        return run, lambda: bool((view(target) == source).all())

    def box(self, operation):
        shape, region, target_shape, target_region = boxes()[operation]
        source = self.cupy.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)[region]
        target = self.cupy.zeros(target_shape, dtype=np.float32)[target_region]

        def run():
            target[...] = source

        return 2 * 4 * source.size, run, lambda: bool((target == source).all())

    def add(self):
        a = self.pattern((FILLED_BYTES // 4,), 4)
        b = self.pattern((FILLED_BYTES // 4,), 4) * 2
        c = self.cupy.zeros_like(a)
        return lambda: self.cupy.add(a, b, out=c), lambda: bool((c == 3 * a).all())

    def fill(self, element):
        target = self.cupy.zeros(FILLED_BYTES // element, dtype=ELEMENTS[element])
        return lambda: target.fill(7), lambda: bool((target == 7).all())

    def allocate(self, size):
        self.pool.malloc(size)  # deallocated with the last reference


class Numba:
    def __init__(self):
        import numba
        from numba import cuda

        self.cuda = cuda
        self.version = numba.__version__
        cuda.device_array(1, np.uint8)
        self.wait = cuda.synchronize

    def release(self):
        pass

    def host(self, size, pinned):
        array = self.cuda.pinned_array(size, np.uint8) if pinned else np.empty(size, np.uint8)
        return array, array

    def device(self, size):
        array = self.cuda.to_device(np.zeros(size, np.uint8))
        return array, array.copy_to_host

    def copy(self, destination, source):
        if isinstance(destination, np.ndarray):
            source.copy_to_host(destination)
        else:
            destination.copy_to_device(source)

    def new_array(self, source):
        return source.copy_to_host()


class Measurement:
    """The cases of one library."""

    def __init__(self, peer, record):
        self.peer = peer
        self.record = record  # record(operation, rate)

    def copies(self, name, size, is_pinned, row=None):
        """Copies of `size` bytes in both directions. If `row` is given, the host memory is the first half of
        each 2 * row bytes."""
        peer = self.peer
        host, view = peer.host(size if row is None else 2 * size, is_pinned)
        device, read_back = peer.device(size)
        selected = view
        if row is not None:
            host, device = peer.rows(host, row), device.reshape(-1, row)
            selected = view.reshape(-1, 2 * row)[:, :row]
        view[:] = pattern(view.size)
        expected = selected.copy()
        peer.wait()
        seconds = median_seconds(lambda: peer.copy(device, host), peer.wait)
        check(read_back().reshape(expected.shape), expected, name.format("h2d"))
        self.record(name.format("h2d"), size / seconds)
        view[:] = 0
        seconds = median_seconds(lambda: peer.copy(host, device), peer.wait)
        check(selected, expected, name.format("d2h"))
        self.record(name.format("d2h"), size / seconds)

    def new_array(self, size):
        """A copy to a new array of host memory, which is freed before the next one."""
        peer = self.peer
        host, view = peer.host(size, False)
        device, _ = peer.device(size)
        view[:] = pattern(size)
        peer.wait()
        peer.copy(device, host)
        peer.wait()
        check(peer.new_array(device).reshape(-1), view, "d2h/new_array")
        self.record(f"d2h/new_array/{size}",
                    size / median_seconds(lambda: peer.new_array(device) is None, peer.wait))

    def both_ways(self, kind, size):
        """Half of the bytes in each direction, on two streams of one thread."""
        peer = self.peer
        half = size // 2
        (up, up_view), (down, down_view) = (peer.host(half, kind == "pinned") for _ in range(2))
        (to, read_to), (source, _) = (peer.device(half) for _ in range(2))
        up_view[:] = pattern(half)
        peer.wait()
        peer.copy(source, up)
        down_view[:] = 0
        peer.wait()
        streams = peer.stream(), peer.stream()

        def run():
            peer.enqueue(streams[0], to, up)
            peer.enqueue(streams[1], down, source)

        seconds = median_seconds(run, peer.wait)
        check(read_to(), up_view, "both ways, to the device")
        check(down_view, up_view, "both ways, to the host")
        self.record(f"bidir/{kind}/{size}", size / seconds)

    def tiles(self, kind, size):
        """TILES tiles of an array to the device and back to another array, on three streams."""
        peer = self.peer
        half, tile = size // 2, size // 2 // TILES
        (source, view), (target, target_view) = (peer.host(half, kind == "pinned") for _ in range(2))
        slots = [(peer.stream(), peer.device(tile)[0]) for _ in range(3)]
        view[:] = pattern(half)
        target_view[:] = 0
        peer.wait()

        def run():
            for i in range(TILES):
                stream, device = slots[i % 3]
                part = slice(i * tile, (i + 1) * tile)
                peer.enqueue(stream, device, source[part])
                peer.enqueue(stream, target[part], device)

        seconds = median_seconds(run, peer.wait)
        check(target_view, view, "tiles")
        self.record(f"tiles/{kind}/{size}", size / seconds)

    def batch(self, direction):
        """Pieces with gaps, in another order, copied by a call each."""
        peer = self.peer
        size = BATCH * (PIECE + GAP)
        arrays, views = [], []
        for place in (direction[0], direction[2]):
            array, view = peer.host(size, False) if place == "h" else peer.device(size)
            arrays.append(array.reshape(BATCH, PIECE + GAP))
            views.append(view)
        expected = pattern(size)
        if direction[0] == "h":
            views[0][:] = expected
        else:
            host, view = peer.host(size, False)
            view[:] = expected
            peer.copy(arrays[0].reshape(-1), host)
        if direction[2] == "h":
            views[1][:] = 0
        peer.wait()
        order = [7919 * i % BATCH for i in range(BATCH)]
        pieces = [(arrays[1][order[i]][:PIECE], arrays[0][i][:PIECE]) for i in range(BATCH)]

        def run():
            for destination, source in pieces:
                peer.copy(destination, source)

        seconds = median_seconds(run, peer.wait)
        found = (views[1] if direction[2] == "h" else views[1]()).reshape(BATCH, PIECE + GAP)
        check(found[order, :PIECE], expected.reshape(BATCH, PIECE + GAP)[:, :PIECE], f"batch/{direction}")
        payload = BATCH * PIECE * (2 if direction == "d2d" else 1)
        self.record(f"batch/{direction}", payload / seconds)

    def small_call(self, direction, kind):
        """A copy of 4 bytes with a wait, and, unless the memory is pageable, 64 copies without one."""
        peer = self.peer
        arrays, views = [], []
        for place in (direction[0], direction[2]):
            array, view = peer.host(4, kind == "pinned") if place == "h" else peer.device(4)
            arrays.append(array)
            views.append(view)
        value = np.array([1, 2, 3, 4], dtype=np.uint8)
        host, view = peer.host(4, False)
        view[:] = value
        if direction[0] == "h":
            views[0][:] = value
        else:
            peer.copy(arrays[0], host)
        peer.wait()
        source, destination = arrays
        seconds = median_seconds(lambda: peer.copy(destination, source), peer.wait)
        found = views[1] if direction[2] == "h" else views[1]()
        check(found, value, f"latency/{direction}/{kind}")
        self.record(f"latency/{direction}/{kind}", 1 / seconds)
        if kind == "pageable" or not hasattr(peer, "enqueue"):
            return
        stream, times = peer.stream(), []
        begin = time.perf_counter()
        while len(times) < 5 or time.perf_counter() - begin < seconds_of_an_operation:
            start = time.perf_counter()
            for _ in range(64):
                peer.enqueue(stream, destination, source)
            times.append((time.perf_counter() - start) / 64)
            peer.wait()
        self.record(f"enqueue/{direction}/{kind}", 1 / statistics.median(times))

    def kernel(self, operation, size, run, is_correct):
        self.peer.wait()
        seconds = median_seconds(run, self.peer.wait)
        if not is_correct():
            raise RuntimeError("wrong data")
        self.record(operation, size / seconds)

    def box(self, operation):
        self.kernel(operation, *self.peer.box(operation))

    def reorder(self, operation, element):
        rank = REORDERED[operation][0]
        self.kernel(f"{operation}/{element}", 2 * side(element, rank) ** rank * element,
                    *self.peer.reorder(operation, element))

    def add(self):
        self.kernel("for_each", 3 * FILLED_BYTES, *self.peer.add())

    def fill(self, element):
        self.kernel(f"fill/{element}", FILLED_BYTES, *self.peer.fill(element))

    def allocation(self, size):
        seconds = median_seconds(lambda: [self.peer.allocate(size) for _ in range(1000)], self.peer.wait)
        self.record(f"alloc/{size}", 1000 / seconds)

    def cases(self):
        """Returns (function, arguments) of each case that the library has."""
        kinds = ("pinned", "pageable")
        result = [(self.copies, (f"{{}}/{kind}/{size}", size, kind == "pinned"))
                  for kind in kinds for size in SIZES]
        if hasattr(self.peer, "rows"):
            result += [(self.copies, (f"strided/{kind}/{{}}/{row}", STRIDED_BYTES, kind == "pinned", row))
                       for kind in kinds for row in ROWS]
        result += [(self.new_array, (size,)) for size in NEW_ARRAYS]
        if hasattr(self.peer, "enqueue"):
            result += [(self.both_ways, (kind, size)) for kind in kinds for size in BOTH_WAYS]
            result += [(self.tiles, (kind, size)) for kind in kinds for size in TILED]
            result += [(self.batch, (direction,)) for direction in ("h2d", "d2h", "d2d")]
            result += [(self.small_call, (direction, kind)) for direction in ("h2d", "d2h") for kind in kinds]
            result.append((self.small_call, ("d2d", "copy")))
        if hasattr(self.peer, "reorder"):
            result += [(self.reorder, (operation, element)) for operation in REORDERED for element in ELEMENTS]
            result += [(self.box, (operation,)) for operation in boxes()]
            result += [(self.fill, (element,)) for element in (1, 4)]
            result.append((self.add, ()))
        if hasattr(self.peer, "allocate"):
            result += [(self.allocation, (size,)) for size in ALLOCATED]
        return result


def check(actual, expected, operation):
    """Throws RuntimeError, which names the operation, if the arrays differ."""
    if not np.array_equal(actual, expected):
        raise RuntimeError(f"{operation}: wrong data")


def measure(name, peer, result):
    """Adds the rates of the library to the result. A case that fails does not end the measurement."""
    def record(operation, rate):
        result["rates"].setdefault(operation, {})[name] = rate

    for case, arguments in Measurement(peer, record).cases():
        try:
            case(*arguments)
        except Exception as error:
            text = f"{name}: {case.__name__}{arguments}: {str(error).splitlines()[0] if str(error) else error!r}"
            print(f"failed: {text}", file=sys.stderr)
            result["failed"].append(text)
        gc.collect()
        try:
            peer.release()
        except Exception as error:  # after a failed case
            print(f"failed: {name}: release: {error!r}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--time", type=float, default=0.3, help="seconds of an operation, at least")
    global seconds_of_an_operation
    seconds_of_an_operation = parser.parse_args().time
    result = {"peers": {}, "rates": {}, "failed": []}
    for name, make_peer in (("torch", Torch), ("cupy", Cupy), ("numba-cuda", Numba)):
        try:
            peer = make_peer()
        except Exception as error:  # not installed, or no device
            print(f"skipped: {name}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        result["peers"][name] = peer.version
        measure(name, peer, result)
    json.dump(result, sys.stdout)
    print()
    return 0 if result["peers"] else 77


if __name__ == "__main__":
    sys.exit(main())
