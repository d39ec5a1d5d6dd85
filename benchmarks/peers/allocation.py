#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures allocation and deallocation by the caching allocators of torch and cupy, for comparison
with benchmarks/allocation.

Prints a line for each allocator, size and number of threads: the median time of one pair of
allocation and deallocation in nanoseconds, per pair of all threads together. The pairs are called
from Python; "call" is the time of an almost empty call of the same library, and a pair makes two
calls. With several threads, Python's global lock adds to the time. Libraries that are not installed
are named and skipped; if none is installed, the exit code is 77.
"""

import statistics
import sys
import threading
import time

SIZES = [256, 4096, 64 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30]
SECONDS = 0.03
REPETITIONS = 5


def pairs_of_torch():
    """Returns the name and version, a function that allocates and frees `size` bytes `count` times, and an
    almost empty function of the library. Throws if torch is not installed or finds no device."""
    import torch

    allocate = torch.cuda.caching_allocator_alloc
    free = torch.cuda.caching_allocator_delete
    stream = torch.cuda.current_stream().cuda_stream
    torch.cuda.init()

    def pairs(size, count):
        for _ in range(count):
            free(allocate(size, 0, stream))

    return "torch " + torch.__version__, pairs, torch.cuda.current_device


def pairs_of_cupy():
    """Returns the same for cupy."""
    import cupy

    pool = cupy.cuda.MemoryPool()

    def pairs(size, count):
        for _ in range(count):
            pool.malloc(size)  # deallocated with the last reference

    return "cupy " + cupy.__version__, pairs, cupy.cuda.runtime.getDevice


def nanoseconds(work, threads):
    """Returns the median time of work(count) divided by the total count of all threads, after a warm-up."""
    work(100)
    count = 200
    while True:
        start = time.perf_counter()
        work(count)
        elapsed = time.perf_counter() - start
        if elapsed > SECONDS:
            break
        count *= 2

    def measure_once():
        started = threading.Barrier(threads + 1)

        def run():
            started.wait()
            work(count)

        all_threads = [threading.Thread(target=run) for _ in range(threads)]
        for thread in all_threads:
            thread.start()
        started.wait()
        start = time.perf_counter()
        for thread in all_threads:
            thread.join()
        return (time.perf_counter() - start) / (count * threads)

    return 1e9 * statistics.median(measure_once() for _ in range(REPETITIONS))


def main():
    measured = 0
    for make_pairs in (pairs_of_torch, pairs_of_cupy):
        try:
            name, pairs, empty_call = make_pairs()
        except Exception as error:  # not installed, or no device
            print(f"skipped: {make_pairs.__name__[9:]}: {error}")
            continue

        def call(count):
            for _ in range(count):
                empty_call()

        print(f"{name}: call {nanoseconds(call, 1):.0f} ns")
        for threads in (1, 8):
            for size in SIZES if threads == 1 else (256, 64 << 10, 1 << 20, 16 << 20):
                pair_time = nanoseconds(lambda count: pairs(size, count), threads)
                print(f"{name}: {size} bytes, {threads} threads: {pair_time:.0f} ns")
        measured += 1
    return 0 if measured else 77


if __name__ == "__main__":
    sys.exit(main())
