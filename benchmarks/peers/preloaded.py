#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares programs as they are with the same programs under rocarray-run.

Usage: preloaded.py RUN PLAIN_COPIES [--programs plain,static,torch,cupy,numba] [--sizes N,N,...] [--rounds N]
RUN is the path of rocarray-run, PLAIN_COPIES that of the program of plain_copies.cpp. The programs are
that one, the same with a static CUDA runtime (PLAIN_COPIES_static), torch, CuPy and numba, if they are
installed: contiguous and strided copies of pageable and pinned memory to and from the device. Each program
runs without and with rocarray-run in turn. Prints a Markdown table of the medians of the rounds in GB/s, and
which copies are slower with rocarray-run than in every round without it. Every result is compared. Exit
status 77: there is no device.
"""

import argparse
import glob
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

KIBI = 1024
SIZES = [64 * KIBI, 256 * KIBI, KIBI**2, 4 * KIBI**2, 16 * KIBI**2, 64 * KIBI**2, 256 * KIBI**2, KIBI**3,
         4 * KIBI**3]
ROW = 1024


def median_seconds(run, wait):
    """Returns the median time of run() followed by wait(), after a first one that is not counted."""
    run()
    wait()
    times = []
    while len(times) < 3 or (sum(times) < 0.15 and len(times) < 500):
        begin = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


class Torch:
    """Tensors of torch."""

    def __init__(self):
        import torch
        self.torch = torch
        self.wait = torch.cuda.synchronize

    def has_device(self):
        return self.torch.cuda.is_available()

    def host(self, shape, pinned):
        """Returns an array of bytes in host memory, and a NumPy view of it."""
        tensor = self.torch.zeros(shape, dtype=self.torch.uint8, pin_memory=pinned)
        return tensor, tensor.numpy()

    def device(self, shape):
        return self.torch.empty(shape, dtype=self.torch.uint8, device="cuda")

    def up(self, device, host):
        device.copy_(host)

    def down(self, host, device):
        host.copy_(device)


class Cupy:
    """Arrays of CuPy; strided NumPy arrays go through those that set() and asnumpy() make."""

    def __init__(self):
        import cupy
        self.cupy = cupy
        self.wait = cupy.cuda.runtime.deviceSynchronize

    def has_device(self):
        try:
            return self.cupy.cuda.runtime.getDeviceCount() > 0
        except self.cupy.cuda.runtime.CUDARuntimeError:
            return False

    def host(self, shape, pinned):
        size = int(np.prod(shape))
        if pinned:
            memory = self.cupy.cuda.alloc_pinned_memory(size)
            array = np.frombuffer(memory, np.uint8, size).reshape(shape)
            array[...] = 0
        else:
            array = np.zeros(shape, np.uint8)
        return array, array

    def device(self, shape):
        return self.cupy.empty(shape, np.uint8)

    def up(self, device, host):
        device.set(host)

    def down(self, host, device):
        if host.flags.c_contiguous:
            device.get(out=host)
        else:
            host[...] = device.get()


class Numba:
    """Arrays of numba.cuda; strided NumPy arrays go through contiguous ones."""

    def __init__(self):
        from numba import cuda
        self.cuda = cuda
        self.wait = cuda.synchronize

    def has_device(self):
        return self.cuda.is_available()

    def host(self, shape, pinned):
        if pinned:
            array = self.cuda.pinned_array(shape, np.uint8)
            array[...] = 0
        else:
            array = np.zeros(shape, np.uint8)
        return array, array

    def device(self, shape):
        return self.cuda.device_array(shape, np.uint8)

    def up(self, device, host):
        device.copy_to_device(np.ascontiguousarray(host))

    def down(self, host, device):
        if host.flags.c_contiguous:
            device.copy_to_host(host)
        else:
            host[...] = device.copy_to_host()


LIBRARIES = {"torch": Torch, "cupy": Cupy, "numba": Numba}
PROGRAMS = ["plain", "static", *LIBRARIES]


def measure(library, sizes):
    """Prints lines as plain_copies does: OPERATION BYTES SECONDS."""
    if not library.has_device():
        sys.exit(77)
    for size in sizes:
        rows = size // ROW
        for pinned in (False, True):
            for in_rows in (False, True):
                shape = (rows, 2 * ROW) if in_rows else (rows, ROW)
                source, source_view = library.host(shape, pinned)
                back, back_view = library.host(shape, pinned)
                source_view.reshape(-1).view(np.uint64)[:] = np.arange(source_view.size // 8)
                device = library.device((rows, ROW))
                seconds = {
                    "h2d": median_seconds(lambda: library.up(device, source[:, :ROW]), library.wait),
                    "d2h": median_seconds(lambda: library.down(back[:, :ROW], device), library.wait)}
                if not np.array_equal(source_view[:, :ROW], back_view[:, :ROW]):
                    sys.exit(f"wrong bytes: {size}, pinned: {pinned}, in rows: {in_rows}")
                kind = ("pinned" if pinned else "pageable") + ("/rows" if in_rows else "/contiguous")
                for operation, value in seconds.items():
                    print(f"{operation}/{kind} {size} {value:.9f}", flush=True)


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("plain_copies")
    parser.add_argument("--programs", type=lambda text: text.split(","), default=PROGRAMS)
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", choices=LIBRARIES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := set(arguments.programs) - set(PROGRAMS):
        parser.error(f"unknown programs: {', '.join(sorted(unknown))}; use {', '.join(PROGRAMS)}")
    if arguments.measure:
        return measure(LIBRARIES[arguments.measure](), arguments.sizes)

    rocarray_run, _directory = without_space(arguments.run)
    sizes = [str(size) for size in arguments.sizes]
    print("| Program | Copy | Size | As it is, GB/s | Rounds | With rocarray-run, GB/s | Ratio |")
    print("|---|---|---|---|---|---|---|")
    count = 0
    slower = []
    for program in arguments.programs:
        if program == "plain":
            command = [arguments.plain_copies, *sizes]
        elif program == "static":
            if not os.path.exists(arguments.plain_copies + "_static"):
                continue  # the HIP runtime is not linked statically
            command = [arguments.plain_copies + "_static", *sizes]
        elif importlib.util.find_spec(program):
            command = [sys.executable, __file__, "-", "-", "--measure", program, "--sizes", ",".join(sizes)]
        else:
            print(f"{program} is not installed", file=sys.stderr)
            continue
        rounds = [(run(command), run([rocarray_run, *command])) for _ in range(arguments.rounds)]
        for key in rounds[0][0]:
            plain, served = (statistics.median(one[which][key] for one in rounds) for which in (0, 1))
            operation, size = key
            slowest, fastest = (choose(one[0][key] for one in rounds) for choose in (max, min))
            print(f"| {program} | {operation} | {named(size)} | {size / plain / 1e9:.2f} | "
                  f"{size / slowest / 1e9:.2f} to {size / fastest / 1e9:.2f} | "
                  f"{size / served / 1e9:.2f} | {plain / served:.2f} |", flush=True)
            count += 1
            if served > slowest:
                slower.append(f"{program} {operation} {named(size)} ({slowest / served:.2f})")
    print(f"\nSlower with rocarray-run than in every round without it: {len(slower)} of {count}"
          f"{': ' + ', '.join(slower) if slower else ''}")


if __name__ == "__main__":
    main()
