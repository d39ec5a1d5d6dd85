#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Transfers by torch, cupy and numba-cuda: what scripts/transfers shows beside rocbench's figures.

Writes JSON to standard output: {"peers": {name: version}, "rates": {work: {name: bytes a second}}},
where a work is "h2d/pageable/67108864", "d2h/pinned/1073741824", "permute/2d/4",
"strided/pageable/h2d/64" or "fill/4", as in scripts/transfers_table.py. Each rate is the median of
several runs behind a warm-up, each waited for; every result is compared with what is due. What is
not installed is named on standard error and left out; without any of them the exit status is 77.
"""

import json
import statistics
import sys
import time

import numpy as np

MEBI = 1 << 20
SIZES = [MEBI, 8 * MEBI, 64 * MEBI, 256 * MEBI, 1024 * MEBI]
ROWS = [4, 16, 64, 4096]
ELEMENTS = {1: np.uint8, 2: np.uint16, 4: np.float32, 8: np.float64, 16: np.complex128}
STRIDED = 64 * MEBI
PERMUTED = 256 * MEBI
FILLED = 256 * MEBI
SECONDS = 0.3


def seconds_of(run, wait):
    """The median time of run() and the wait behind it."""
    run()
    wait()
    times = []
    begin = time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < SECONDS:
        start = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def numbers(size):
    return np.arange(size // 8, dtype=np.uint64).view(np.uint8)


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

    def copy(self, to, source):
        to.copy_(source, non_blocking=True)

    def rows(self, array, row):
        return array.view(-1, 2 * row)[:, :row]

    def transposition(self, element):
        side = int((PERMUTED // element) ** 0.5)
        kinds = {1: "uint8", 2: "int16", 4: "float32", 8: "float64", 16: "complex128"}
        source = self.torch.ones((side, side), dtype=getattr(self.torch, kinds[element]), device="cuda")
        target = self.torch.zeros_like(source)
        return side * side * element, lambda: target.copy_(source.t()), lambda: bool((target == 1).all())

    def fill(self):
        target = self.torch.zeros(FILLED // 4, dtype=self.torch.float32, device="cuda")
        return lambda: target.fill_(3.5), lambda: bool((target == 3.5).all())


class Cupy:
    def __init__(self):
        import cupy

        self.cupy = cupy
        self.version = cupy.__version__
        self.stream = cupy.cuda.Stream(non_blocking=True)
        cupy.zeros(1)
        self.wait = cupy.cuda.Device().synchronize

    def host(self, size, pinned):
        if not pinned:
            array = np.empty(size, dtype=np.uint8)
        else:
            memory = self.cupy.cuda.alloc_pinned_memory(size)
            array = np.frombuffer(memory, dtype=np.uint8, count=size)
        return array, array

    def device(self, size):
        array = self.cupy.zeros(size, dtype=np.uint8)
        return array, lambda: self.cupy.asnumpy(array)

    def copy(self, to, source):
        if isinstance(to, self.cupy.ndarray):
            to.set(source, stream=self.stream)
        else:
            source.get(stream=self.stream, out=to)

    rows = None  # its copies between host and device want contiguous arrays

    def transposition(self, element):
        side = int((PERMUTED // element) ** 0.5)
        source = self.cupy.ones((side, side), dtype=ELEMENTS[element])
        target = self.cupy.zeros_like(source)

        def run():
            target[...] = source.T

        return side * side * element, run, lambda: bool((target == 1).all())

    def fill(self):
        target = self.cupy.zeros(FILLED // 4, dtype=np.float32)
        return lambda: target.fill(3.5), lambda: bool((target == 3.5).all())


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

    def copy(self, to, source):
        if isinstance(to, np.ndarray):
            source.copy_to_host(to)
        else:
            to.copy_to_device(source)

    rows = None
    transposition = None
    fill = None


def check(found, wanted, work):
    if not np.array_equal(found, wanted):
        raise RuntimeError(f"{work}: wrong bytes")


def measure(peer, note):
    for size in SIZES:
        wanted = numbers(size)
        for kind in ("pinned", "pageable"):
            host, view = peer.host(size, kind == "pinned")
            device, taken = peer.device(size)
            view[:] = wanted
            took = seconds_of(lambda: peer.copy(device, host), peer.wait)
            check(taken(), wanted, "to the device")
            note(f"h2d/{kind}/{size}", size / took)
            view[:] = 0
            took = seconds_of(lambda: peer.copy(host, device), peer.wait)
            check(view, wanted, "back")
            note(f"d2h/{kind}/{size}", size / took)
            del host, view, device, taken
    if peer.rows is not None:
        for row in ROWS:
            for kind in ("pinned", "pageable"):
                host, view = peer.host(2 * STRIDED, kind == "pinned")
                device, taken = peer.device(STRIDED)
                view[:] = numbers(2 * STRIDED)
                wanted = view.reshape(-1, 2 * row)[:, :row].copy()
                there = device.view(-1, row)
                took = seconds_of(lambda: peer.copy(there, peer.rows(host, row)), peer.wait)
                check(taken().reshape(-1, row), wanted, "rows to the device")
                note(f"strided/{kind}/h2d/{row}", STRIDED / took)
                view[:] = 0
                took = seconds_of(lambda: peer.copy(peer.rows(host, row), there), peer.wait)
                check(view.reshape(-1, 2 * row)[:, :row], wanted, "rows back")
                note(f"strided/{kind}/d2h/{row}", STRIDED / took)
                del host, view, device, taken, there
    if peer.transposition is not None:
        for element in ELEMENTS:
            size, run, right = peer.transposition(element)
            took = seconds_of(run, peer.wait)
            if not right():
                raise RuntimeError("a transposition: wrong bytes")
            note(f"permute/2d/{element}", 2 * size / took)
            del run, right
    if peer.fill is not None:
        run, right = peer.fill()
        took = seconds_of(run, peer.wait)
        if not right():
            raise RuntimeError("a fill: wrong bytes")
        note("fill/4", FILLED / took)


def main():
    result = {"peers": {}, "rates": {}}
    for name, kind in (("torch", Torch), ("cupy", Cupy), ("numba-cuda", Numba)):
        try:
            peer = kind()
        except Exception as reason:  # not installed, or without a device
            print(f"left out: {name}: {str(reason).splitlines()[0]}", file=sys.stderr)
            continue
        result["peers"][name] = peer.version
        try:
            measure(peer, lambda work, rate: result["rates"].setdefault(work, {}).update({name: rate}))
        except Exception as reason:
            print(f"{name} stopped early: {reason}", file=sys.stderr)
    json.dump(result, sys.stdout)
    print()
    return 0 if result["peers"] else 77


if __name__ == "__main__":
    sys.exit(main())
