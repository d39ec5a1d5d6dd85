#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Allocate + free with the caching allocators of torch and cupy, beside benchmarks/allocation.

Prints a line for each allocator, size and number of threads: the median over repetitions of the time
of one pair, in nanoseconds of real time per pair of all threads together. The pairs are called from
Python; "call" is the cost of one call into the same library that does next to nothing, two of which
each pair contains. With several threads Python's own lock is part of the figure. What is not
installed is named and left out; without any of them the exit status is 77.
"""

import statistics
import sys
import threading
import time

SIZES = [256, 4096, 64 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30]
SECONDS = 0.03
REPETITIONS = 5


def pairs_of_torch():
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
    import cupy

    pool = cupy.cuda.MemoryPool()

    def pairs(size, count):
        for _ in range(count):
            pool.malloc(size)  # given back with the last reference

    return "cupy " + cupy.__version__, pairs, cupy.cuda.runtime.getDevice


def nanoseconds(work, threads):
    """Of one unit of work(count), the median over repetitions; work is warmed up before."""
    work(100)
    count = 200
    while True:
        start = time.perf_counter()
        work(count)
        took = time.perf_counter() - start
        if took > SECONDS:
            break
        count *= 2

    def once():
        started = threading.Barrier(threads + 1)

        def run():
            started.wait()
            work(count)

        all_threads = [threading.Thread(target=run) for _ in range(threads)]
        for each in all_threads:
            each.start()
        started.wait()
        start = time.perf_counter()
        for each in all_threads:
            each.join()
        return (time.perf_counter() - start) / (count * threads)

    return 1e9 * statistics.median(once() for _ in range(REPETITIONS))


def main():
    measured = 0
    for make in (pairs_of_torch, pairs_of_cupy):
        try:
            name, pairs, smallest = make()
        except Exception as reason:  # not installed, or without a device
            print(f"left out: {make.__name__[9:]}: {reason}")
            continue

        def call(count):
            for _ in range(count):
                smallest()

        print(f"{name}: call {nanoseconds(call, 1):.0f} ns")
        for threads in (1, 8):
            for size in SIZES if threads == 1 else (256, 64 << 10, 1 << 20, 16 << 20):
                took = nanoseconds(lambda count: pairs(size, count), threads)
                print(f"{name}: {size} bytes, {threads} threads: {took:.0f} ns")
        measured += 1
    return 0 if measured else 77


if __name__ == "__main__":
    sys.exit(main())
