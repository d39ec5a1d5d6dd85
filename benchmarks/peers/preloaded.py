#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares programs as they are with the same programs under rocarray-run.

Usage: preloaded.py RUN PLAIN_COPIES [--programs plain,static,torch,cupy,numba] [--sizes N,N,...]
                    [--rounds N] [--device-rows] [--strict]
RUN is the path of rocarray-run, PLAIN_COPIES that of the program of plain_copies.cpp. The programs are
that one, the same with a static CUDA runtime (PLAIN_COPIES_static), torch, CuPy and numba, if they are
installed. They copy pageable and pinned memory to and from the device:

  contiguous         one range
  rows               rows of 1 KiB with gaps in host memory. torch packs pageable ones with OpenMP first.
                     CuPy copies them by its memcpy2D.
  rows_by_temporary  the same with CuPy and numba, which copy a contiguous temporary array of pageable memory,
                     so that NumPy takes most of the time; up to 256 MiB
  transposed         a transposed tensor of torch in host memory; 1 to 64 MiB

With --device-rows, the plain programs and CuPy also copy rows of 4, 64 and 1024 bytes within the device, with
gaps of the same size on both sides: 256 MiB without the gaps, or the largest size if that is less.

Each program runs without and with rocarray-run in turn: N times, once less for copies of 1 GiB and more. Prints
a Markdown table of the medians of the rounds in GB/s, and which copies are slower with rocarray-run than in
every round without it: with --strict, the exit status is then 1. If the Python package rocarray can be
imported, the table has the rate of its own copy of the same memory (roc.copy). The bytes of a last copy each
way, which is not timed, are compared; its destination holds others before. Exit status 77: there is no device.
"""

import argparse
import concurrent.futures
import glob
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

KIBI = 1024
MEBI = KIBI**2
GIBI = KIBI**3
SIZES = [64 * KIBI, 256 * KIBI, MEBI, 4 * MEBI, 16 * MEBI, 64 * MEBI, 256 * MEBI, GIBI, 4 * GIBI]
TRANSPOSED_SIZES = [MEBI, 4 * MEBI, 16 * MEBI, 64 * MEBI]
LARGE = GIBI  # from here on, copies are repeated less often
MAX_TEMPORARY = 256 * MEBI
ROW = 1024
DEVICE_ROWS = (4, 64, 1024)
MAX_DEVICE_ROWS = 256 * MEBI
WORD = 8


def median_seconds(copy, wait, rows, width=ROW):
    """Returns the median time of copy(rows) followed by wait(), after a first one that is not timed."""
    is_large = rows * width >= LARGE
    copy(rows // 4 if is_large else rows)
    wait()
    times = []
    while len(times) < (2 if is_large else 3) or (sum(times) < 0.05 and len(times) < 500):
        begin = time.perf_counter()
        copy(rows)
        wait()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


class Contents:
    """Fills, clears and compares host memory in blocks, by several threads."""

    BLOCK = 64 * MEBI // WORD

    def __init__(self):
        self.pattern = np.arange(self.BLOCK, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        self.pool = concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1))
        self.of_thread = threading.local()

    def for_blocks(self, function, words):
        """Returns whether function(block, index) is true for all blocks of an array of words."""
        blocks = range(0, words.size, self.BLOCK)
        return all(self.pool.map(
            lambda begin: function(words[begin:begin + self.BLOCK], begin // self.BLOCK), blocks))

    def expected(self, out, index, seed):
        np.bitwise_xor(self.pattern[:out.size], np.uint64(index * 1000003 + seed), out=out)
        return True

    def fill(self, words, seed):
        self.for_blocks(lambda block, index: self.expected(block, index, seed), words)

    def clear(self, words):
        self.for_blocks(lambda block, index: block.fill(0) is None, words)

    def is_equal(self, words, seed, row):
        """Returns whether the words are those of fill(), and gaps those of clear(): every second range of
        `row` bytes. If `row` is 0, there are no gaps."""
        def compare(block, index):
            if not hasattr(self.of_thread, "scratch"):
                self.of_thread.scratch = np.empty(self.BLOCK, np.uint64)
            scratch = self.of_thread.scratch[:block.size]
            self.expected(scratch, index, seed)
            if row:
                scratch.view(np.uint8).reshape(-1, 2 * row)[:, row:] = 0
            return np.array_equal(block, scratch)
        return self.for_blocks(compare, words)


class Torch:
    """Tensors of torch."""

    layouts = ("contiguous", "rows", "transposed")

    def __init__(self):
        import torch
        self.torch = torch
        self.wait = torch.cuda.synchronize

    def has_device(self):
        return self.torch.cuda.is_available()

    def host(self, size, pinned):
        """Returns an array of bytes in host memory, and a NumPy view of it."""
        tensor = self.torch.empty(size, dtype=self.torch.uint8, pin_memory=pinned)
        return tensor, tensor.numpy()

    def device(self, shape):
        return self.torch.empty(shape, dtype=self.torch.uint8, device="cuda")

    def up(self, device, host, _layout):
        device.copy_(host)

    def down(self, host, device, _layout):
        host.copy_(device)


class Cupy:
    """Arrays of CuPy."""

    layouts = ("contiguous", "rows", "rows_by_temporary")

    def __init__(self):
        import cupy
        self.cupy = cupy
        self.runtime = cupy.cuda.runtime
        self.wait = cupy.cuda.runtime.deviceSynchronize

    def has_device(self):
        try:
            return self.cupy.cuda.runtime.getDeviceCount() > 0
        except self.cupy.cuda.runtime.CUDARuntimeError:
            return False

    def host(self, size, pinned):
        array = (np.frombuffer(self.cupy.cuda.alloc_pinned_memory(size), np.uint8, size) if pinned
                 else np.empty(size, np.uint8))
        return array, array

    def device(self, shape):
        return self.cupy.empty(shape, np.uint8)

    def up(self, device, host, layout):
        if layout == "rows":
            self.runtime.memcpy2D(device.data.ptr, device.strides[0], host.ctypes.data, host.strides[0],
                                  host.shape[1], host.shape[0], self.runtime.memcpyHostToDevice)
        else:
            device.set(np.ascontiguousarray(host))

    def down(self, host, device, layout):
        if layout == "rows":
            self.runtime.memcpy2D(host.ctypes.data, host.strides[0], device.data.ptr, device.strides[0],
                                  host.shape[1], host.shape[0], self.runtime.memcpyDeviceToHost)
        elif host.flags.c_contiguous:
            device.get(out=host)
        else:
            host[...] = device.get()

    def copy_rows(self, to, source, width, rows):
        """Copies rows between flat arrays on the device; gaps have the size of a row."""
        self.runtime.memcpy2D(to.data.ptr, 2 * width, source.data.ptr, 2 * width, width, rows,
                              self.runtime.memcpyDeviceToDevice)


class Numba:
    """Arrays of numba.cuda."""

    layouts = ("contiguous", "rows_by_temporary")

    def __init__(self):
        from numba import cuda
        self.cuda = cuda
        self.wait = cuda.synchronize

    def has_device(self):
        return self.cuda.is_available()

    def host(self, size, pinned):
        array = self.cuda.pinned_array(size, np.uint8) if pinned else np.empty(size, np.uint8)
        return array, array

    def device(self, shape):
        return self.cuda.device_array(shape, np.uint8)

    def up(self, device, host, _layout):
        device.copy_to_device(np.ascontiguousarray(host))

    def down(self, host, device, _layout):
        if host.flags.c_contiguous:
            device.copy_to_host(host)
        else:
            host[...] = device.copy_to_host()


class Rocarray:
    """The copies of the Python package rocarray, for comparison."""

    layouts = ("contiguous", "rows", "transposed")

    def __init__(self):
        import rocarray
        self.roc = rocarray
        self.wait = rocarray.synchronize

    def has_device(self):
        return self.roc.device_count() > 0

    def host(self, size, pinned):
        array = self.roc.pinned_array(size, np.uint8) if pinned else np.empty(size, np.uint8)
        return array, array

    def device(self, shape):
        return self.roc.device_array(shape, np.uint8)

    def up(self, device, host, _layout):
        self.roc.copy(host, device)

    def down(self, host, device, _layout):
        self.roc.copy(device, host)


LIBRARIES = {"torch": Torch, "cupy": Cupy, "numba": Numba, "rocarray": Rocarray}
PROGRAMS = ["plain", "static", "torch", "cupy", "numba"]
WITH_DEVICE_ROWS = ["plain", "static", "cupy"]  # torch and numba have no such copy


def is_measured(layout, size):
    if layout == "transposed":
        return size in TRANSPOSED_SIZES
    return layout != "rows_by_temporary" or size <= MAX_TEMPORARY


def matrix(host, rows, layout):
    """Returns an array of `rows` rows of 1 KiB in a flat one, and the number of bytes that it spans."""
    if layout == "contiguous":
        return host[:rows * ROW].reshape(rows, ROW), rows * ROW
    if layout == "transposed":
        return host[:rows * ROW].reshape(ROW, rows).T, rows * ROW
    return host[:2 * rows * ROW].reshape(rows, 2 * ROW)[:, :ROW], 2 * rows * ROW


def measure(library, sizes):
    """Prints lines as plain_copies does: OPERATION BYTES SECONDS."""
    if not library.has_device():
        sys.exit(77)
    contents = Contents()
    most = max(sizes)
    device = library.device((most // ROW, ROW))
    # The rows use one of each 2 KiB of host memory.
    in_rows = most if "rows" in library.layouts else min(most, MAX_TEMPORARY)
    span = max(most, 2 * in_rows)
    hosts = [library.host(span, pinned) for pinned in (False, True)]
    for size in sizes:
        rows = size // ROW
        for (host, bytes_of_host), pinned in zip(hosts, ("pageable", "pinned")):
            for layout in library.layouts:
                if not is_measured(layout, size):
                    continue
                span = matrix(host, rows, layout)[1]
                words = bytes_of_host[:span].view(np.uint64)

                def up(count):
                    library.up(device[:count], matrix(host, count, layout)[0], layout)

                def down(count):
                    library.down(matrix(host, count, layout)[0], device[:count], layout)

                contents.fill(words, 1)
                seconds = {"h2d": median_seconds(up, library.wait, rows),
                           "d2h": median_seconds(down, library.wait, rows)}
                # Other bytes than those that the device holds.
                contents.fill(words, 2)
                up(rows)
                library.wait()
                contents.clear(words)
                down(rows)
                library.wait()
                if not contents.is_equal(words, 2, ROW if layout.startswith("rows") else 0):
                    sys.exit(f"wrong bytes: {size}, {pinned}, {layout}")
                for way, value in seconds.items():
                    print(f"{way}/{pinned}/{layout} {size} {value:.9f}", flush=True)


def measure_device_rows(library, size):
    """Prints lines as plain_copies does, of copies of rows within the device."""
    if not library.has_device():
        sys.exit(77)
    contents = Contents()
    host, bytes_of_host = library.host(2 * size, True)
    source, to = library.device(2 * size), library.device(2 * size)
    for width in DEVICE_ROWS:
        def copy(count):
            library.copy_rows(to, source, width, count)

        seconds = median_seconds(copy, library.wait, size // width, width)
        words = bytes_of_host.view(np.uint64)
        contents.fill(words, 3)
        library.up(source, host, "contiguous")
        to.fill(0)
        copy(size // width)
        library.wait()
        library.down(host, to, "contiguous")
        if not contents.is_equal(words, 3, width):
            sys.exit(f"wrong bytes: {size}, rows of {width} bytes")
        print(f"d2d/rows_{width} {size} {seconds:.9f}", flush=True)


def run(command):
    """Returns {(operation, bytes): seconds} as a program prints them."""
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if result.returncode == 77:
        sys.exit(77)
    if result.returncode != 0:
        sys.exit(f"{command}: exit status {result.returncode}")
    lines = (line.split() for line in result.stdout.splitlines())
    return {(operation, int(size)): float(seconds) for operation, size, seconds in lines}


def without_space(run):
    """Returns the path of rocarray-run, copied with its objects if it has a space: LD_PRELOAD cannot."""
    if " " not in run:
        return run, None
    directory = tempfile.TemporaryDirectory()
    for file in [run, *glob.glob(os.path.join(glob.escape(os.path.dirname(run)), "librocarray-preload*.so"))]:
        shutil.copy(file, directory.name)
    return os.path.join(directory.name, os.path.basename(run)), directory


def named(size):
    """Returns a size with its unit, such as "64 KiB"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < KIBI:
            return f"{size} {unit}"
        size //= KIBI
    return f"{size} TiB"


def command_of(program, plain_copies, sizes, options=()):
    """Returns the command of a program; None if it is not installed."""
    if program in ("plain", "static"):
        path = plain_copies + ("_static" if program == "static" else "")
        return [path, *options, *map(str, sizes)] if os.path.exists(path) else None
    if not importlib.util.find_spec(program):
        return None
    return [sys.executable, __file__, "-", "-", "--measure", program, "--sizes", ",".join(map(str, sizes)),
            *options]


def gigabytes(size, seconds):
    return f"{size / seconds / 1e9:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("plain_copies")
    parser.add_argument("--programs", type=lambda text: text.split(","), default=PROGRAMS)
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device-rows", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--measure", choices=LIBRARIES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := set(arguments.programs) - set(PROGRAMS):
        parser.error(f"unknown programs: {', '.join(sorted(unknown))}; use {', '.join(PROGRAMS)}")
    if too_small := [size for size in arguments.sizes if size < ROW]:
        parser.error(f"a size is {too_small[0]}; use {ROW} or more")
    if arguments.measure:
        library = LIBRARIES[arguments.measure]()
        if arguments.device_rows:
            return measure_device_rows(library, max(arguments.sizes))
        return measure(library, arguments.sizes)

    begin = time.monotonic()
    rocarray_run, _directory = without_space(arguments.run)
    groups = [([size for size in arguments.sizes if size < LARGE], arguments.rounds, []),
              ([size for size in arguments.sizes if size >= LARGE], max(1, arguments.rounds - 1), [])]
    groups = [group for group in groups if group[0]]
    of_library = {}
    for sizes, _, _ in groups:
        if command := command_of("rocarray", arguments.plain_copies, sizes):
            of_library |= run(command)
    if arguments.device_rows:
        size = min(MAX_DEVICE_ROWS, max(arguments.sizes) // ROW * ROW)
        groups.append(([size], arguments.rounds, ["--device-rows"]))
    print("| Program | Copy | Size | As it is, GB/s | Rounds | With rocarray-run, GB/s | Ratio |"
          + (" roc.copy, GB/s | Ratio to it |" if of_library else ""))
    print("|---|---|---|---|---|---|---|" + ("---|---|" if of_library else ""))
    count = 0
    slower = []
    for program in arguments.programs:
        for sizes, rounds, options in groups:
            if options and program not in WITH_DEVICE_ROWS:
                continue
            command = command_of(program, arguments.plain_copies, sizes, options)
            if command is None:
                print(f"{program} is not installed", file=sys.stderr)
                break
            results = [(run(command), run([rocarray_run, *command])) for _ in range(rounds)]
            for operation, size in results[0][0]:
                key = operation, size
                plain, served = (statistics.median(one[which][key] for one in results) for which in (0, 1))
                slowest, fastest = (choose(one[0][key] for one in results) for choose in (max, min))
                cells = [program, operation, named(size), gigabytes(size, plain),
                         f"{gigabytes(size, slowest)} to {gigabytes(size, fastest)}", gigabytes(size, served),
                         f"{plain / served:.2f}"]
                if of_library:
                    own = of_library.get(key)
                    cells += [gigabytes(size, own), f"{own / served:.2f}"] if own else ["", ""]
                print("| " + " | ".join(cells) + " |", flush=True)
                count += 1
                if served > slowest:
                    slower.append(f"{program} {operation} {named(size)} ({slowest / served:.2f})")
    print(f"\nSlower with rocarray-run than in every round without it: {len(slower)} of {count}"
          f"{': ' + ', '.join(slower) if slower else ''}")
    print(f"{time.monotonic() - begin:.0f} s", file=sys.stderr)
    if arguments.strict and slower:
        sys.exit(1)


if __name__ == "__main__":
    main()
