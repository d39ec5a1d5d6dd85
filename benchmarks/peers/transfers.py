#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures transfers and allocations by torch, cupy and numba-cuda, for comparison with rocbench's
results in scripts/transfers.

Writes JSON to standard output: {"peers": {name: version}, "rates": {operation: {name: bytes per
second}}}. Operations are named as in scripts/transfers_table.py, for example
"h2d/pageable/67108864", "d2h/pinned/1073741824", "permute/2d/4", "strided/pageable/h2d/64",
"box/interior" and "fill/4". "alloc/SIZE" is the number of pairs of allocation and deallocation per second, called from
Python. Each rate is the median of several synchronized runs after a warm-up; every result of a
transfer is verified. Libraries that are not installed are named on standard error and skipped; if none is
installed, the exit code is 77.
"""

import argparse
import json
import statistics
import sys
import time

import numpy as np

MEBI = 1 << 20
SIZES = [MEBI, 8 * MEBI, 64 * MEBI, 256 * MEBI, 1024 * MEBI]
ROWS = [4, 16, 64, 4096]
ELEMENTS = {1: np.uint8, 2: np.uint16, 4: np.float32, 8: np.float64, 16: np.complex128}
STRIDED_BYTES = 64 * MEBI
PERMUTED_BYTES = 256 * MEBI
FILLED_BYTES = 256 * MEBI
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
    columns = (16384, 4096)
    return {
        "box/interior": (cube, interior, cube, interior),
        "box/compact": (cube, interior, (510, 510, 254), (every, every, every)),
        "box/long_rows": (columns, (every, inner), columns, (every, inner)),
        "box/short_rows": ((658000, 102), (every, inner), (658000, 102), (every, inner)),
        "box/every_2nd_plane": (cube, (slice(None, None, 2),), (256, 512, 256), (every,)),
        "box/every_2nd_element": ((1 << 26,), (slice(None, None, 2),), (1 << 25,), (every,)),
    }


def square(element):
    """Returns the side of a square matrix of PERMUTED_BYTES bytes."""
    return int((PERMUTED_BYTES // element) ** 0.5)


# A class for each library. Its members:
#   version                 the library's version
#   wait()                  blocks until the work of the device has finished
#   host(size, pinned)      returns an array of `size` bytes in host memory, and a NumPy view of it
#   device(size)            returns an array of `size` zero bytes in device memory, and a function that
#                           returns a copy of it as a NumPy array
#   copy(destination, source)  copies all bytes; may return before the copy has finished
# and, if the library has the operation:
#   rows(array, row)        returns a view of the first half of each 2 * row bytes of a host array
#   transposition(element)  returns a function that enqueues the transposition of a square matrix of
#                           ones, and one that returns whether the result is correct
#   box(operation)          returns the bytes read and written by a copy of boxes(), a function that enqueues
#                           it, and one that returns whether the result is correct
#   fill()                  returns a function that enqueues a fill with floats, and one as above
#   allocate(size)          allocates and frees device memory once


class Torch:
    def __init__(self):
        import torch

        self.torch = torch
        self.version = torch.__version__
        torch.cuda.init()
        self.wait = torch.cuda.synchronize

    def host(self, size, pinned):
        array = self.torch.empty(size, dtype=self.torch.uint8, pin_memory=pinned)
        return array, array.numpy()

    def device(self, size):
        array = self.torch.zeros(size, dtype=self.torch.uint8, device="cuda")
        return array, lambda: array.cpu().numpy()

    def copy(self, destination, source):
        destination.copy_(source, non_blocking=True)

    def rows(self, array, row):
        return array.view(-1, 2 * row)[:, :row]

    def transposition(self, element):
        kind = {1: "uint8", 2: "int16", 4: "float32", 8: "float64", 16: "complex128"}[element]
        shape = (square(element), square(element))
        source = self.torch.ones(shape, dtype=getattr(self.torch, kind), device="cuda")
        target = self.torch.zeros_like(source)
        return lambda: target.copy_(source.t()), lambda: bool((target == 1).all())

    def box(self, operation):
        shape, region, target_shape, target_region = boxes()[operation]
        source = self.torch.arange(int(np.prod(shape)), dtype=self.torch.float32, device="cuda").view(shape)[region]
        target = self.torch.zeros(target_shape, dtype=self.torch.float32, device="cuda")[target_region]
        return (2 * 4 * source.numel(), lambda: target.copy_(source),
                lambda: bool((target == source).all()))

    def fill(self):
        target = self.torch.zeros(FILLED_BYTES // 4, dtype=self.torch.float32, device="cuda")
        return lambda: target.fill_(3.5), lambda: bool((target == 3.5).all())

    def allocate(self, size):
        self.torch.cuda.caching_allocator_delete(self.torch.cuda.caching_allocator_alloc(size))


class Cupy:
    def __init__(self):
        import cupy

        self.cupy = cupy
        self.version = cupy.__version__
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.pool = cupy.cuda.MemoryPool()
        cupy.zeros(1)
        self.wait = cupy.cuda.Device().synchronize

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
        if isinstance(destination, self.cupy.ndarray):
            destination.set(source, stream=self.stream)
        else:
            source.get(stream=self.stream, out=destination)

    def transposition(self, element):
        source = self.cupy.ones((square(element), square(element)), dtype=ELEMENTS[element])
        target = self.cupy.zeros_like(source)

        def run():
            target[...] = source.T

        return run, lambda: bool((target == 1).all())

    def box(self, operation):
        shape, region, target_shape, target_region = boxes()[operation]
        source = self.cupy.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)[region]
        target = self.cupy.zeros(target_shape, dtype=np.float32)[target_region]

        def run():
            target[...] = source

        return 2 * 4 * source.size, run, lambda: bool((target == source).all())

    def fill(self):
        target = self.cupy.zeros(FILLED_BYTES // 4, dtype=np.float32)
        return lambda: target.fill(3.5), lambda: bool((target == 3.5).all())

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


def check(actual, expected, operation):
    """Throws RuntimeError, which names the operation, if the arrays differ."""
    if not np.array_equal(actual, expected):
        raise RuntimeError(f"{operation}: wrong data")


def measure_copies(peer, record, name, size, is_pinned, row=None):
    """Measures copies of `size` bytes in both directions. If `row` is given, the host memory is the first
    half of each 2 * row bytes."""
    host, view = peer.host(size if row is None else 2 * size, is_pinned)
    device, read_back = peer.device(size)
    selected = view
    if row is not None:
        host, device = peer.rows(host, row), device.view(-1, row)
        selected = view.reshape(-1, 2 * row)[:, :row]
    view[:] = pattern(view.size)
    expected = selected.copy()
    seconds = median_seconds(lambda: peer.copy(device, host), peer.wait)
    check(read_back().reshape(expected.shape), expected, name.format("h2d"))
    record(name.format("h2d"), size / seconds)
    view[:] = 0
    seconds = median_seconds(lambda: peer.copy(host, device), peer.wait)
    check(selected, expected, name.format("d2h"))
    record(name.format("d2h"), size / seconds)


def measure(peer, record):
    """Calls record(operation, rate) for each operation that the library supports."""
    for kind in ("pinned", "pageable"):
        for size in SIZES:
            measure_copies(peer, record, f"{{}}/{kind}/{size}", size, kind == "pinned")
        if hasattr(peer, "rows"):
            for row in ROWS:
                name = f"strided/{kind}/{{}}/{row}"
                measure_copies(peer, record, name, STRIDED_BYTES, kind == "pinned", row)
    works = []  # operation, bytes, function that makes its run and its check, arguments
    if hasattr(peer, "transposition"):
        works += [(f"permute/2d/{element}", 2 * square(element) ** 2 * element, peer.transposition, element)
                  for element in ELEMENTS]
    if hasattr(peer, "fill"):
        works.append(("fill/4", FILLED_BYTES, peer.fill))
    for operation, size, make, *arguments in works:
        run, is_correct = make(*arguments)
        seconds = median_seconds(run, peer.wait)
        if not is_correct():
            raise RuntimeError(f"{operation}: wrong data")
        record(operation, size / seconds)
    if hasattr(peer, "box"):
        for operation in boxes():
            size, run, is_correct = peer.box(operation)
            seconds = median_seconds(run, peer.wait)
            if not is_correct():
                raise RuntimeError(f"{operation}: wrong data")
            record(operation, size / seconds)
    if hasattr(peer, "allocate"):
        for size in ALLOCATED:
            seconds = median_seconds(lambda: [peer.allocate(size) for _ in range(1000)], peer.wait)
            record(f"alloc/{size}", 1000 / seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--time", type=float, default=0.3, help="seconds of an operation, at least")
    global seconds_of_an_operation
    seconds_of_an_operation = parser.parse_args().time
    result = {"peers": {}, "rates": {}}
    for name, make_peer in (("torch", Torch), ("cupy", Cupy), ("numba-cuda", Numba)):
        try:
            peer = make_peer()
        except Exception as error:  # not installed, or no device
            print(f"skipped: {name}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        result["peers"][name] = peer.version
        try:
            measure(peer, lambda operation, rate:
                    result["rates"].setdefault(operation, {}).update({name: rate}))
        except Exception as error:
            print(f"{name} failed, its further results are missing: {error}", file=sys.stderr)
    json.dump(result, sys.stdout)
    print()
    return 0 if result["peers"] else 77


if __name__ == "__main__":
    sys.exit(main())
