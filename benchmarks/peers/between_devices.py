#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures torch's copies between two devices and between the host and two devices, and NCCL's broadcast and
all_reduce over all devices, for comparison with peer_copies and rocbench's peer/* and collective/*.

Usage: between_devices.py [ROWS [SECONDS]]
ROWS is the side of the square matrices of float (default: 16384, 1 GiB), SECONDS the time of each
measurement (default: 0.3). Prints one line for each operation: rates in GB/s of medians, after a warm-up,
and microseconds for short copies. The bus bandwidth of a collective operation is that of nccl-tests. Every
result is compared. Exit status 77: there is no torch, or there are fewer than two devices.
"""

import statistics
import sys
import time

try:
    import torch
    import torch.cuda.nccl
except ImportError:
    print("torch is not installed", file=sys.stderr)
    sys.exit(77)

SIDE = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 0.3


def synchronize():
    for device in range(torch.cuda.device_count()):
        torch.cuda.synchronize(device)


def median_seconds(operation):
    """Returns the median time of operation() until all devices are idle, after two calls that are not timed."""
    for _ in range(2):
        operation()
    synchronize()
    times = []
    while len(times) < 11 or sum(times) < SECONDS:
        begin = time.perf_counter()
        operation()
        synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def check(name, left, right):
    if not torch.equal(left.cpu(), right.cpu()):
        sys.exit(f"{name}: wrong result")


def report(name, value, unit):
    print(f"{name:48s} {value:9.2f} {unit}", flush=True)


def measure_copies(side):
    source = torch.arange(side * side, dtype=torch.float32, device="cuda:0").reshape(side, side)
    target = torch.zeros((side, side), device="cuda:1")
    operations = {
        "contiguous": (source, target),
        "half of the columns": (source[:, : side // 2], target[:, : side // 2]),
        "transposed": (source.t(), target),
    }
    for name, (origin, destination) in operations.items():
        target.zero_()
        seconds = median_seconds(lambda o=origin, d=destination: d.copy_(o))
        check(name, origin, destination)
        report(f"torch: {name}", origin.numel() * 4 / seconds / 1e9, "GB/s")
    for name, origin, destination in (("4 KiB", source[0, :1024], target[0, :1024]),
                                      ("one column", source[:, 0], target[:, 0])):
        destination.zero_()
        seconds = median_seconds(lambda o=origin, d=destination: d.copy_(o))
        check(name, origin, destination)
        report(f"torch: {name}, with the wait", seconds * 1e6, "us")


def measure_both_ways(side):
    """Copies from device 0 to 1 and from 1 to 0 at once. A copy runs on the current stream of its source."""
    sources = [torch.arange(side * side, dtype=torch.float32, device=f"cuda:{device}").reshape(side, side) + device
               for device in (0, 1)]
    targets = [torch.zeros((side, side), device=f"cuda:{1 - device}") for device in (0, 1)]
    part = side // 2
    layouts = {
        "contiguous": lambda matrix, _: matrix,
        "half of the columns": lambda matrix, _: matrix[:, :part],
        "transposed": lambda matrix, is_source: matrix.t() if is_source else matrix,
    }
    for name, view in layouts.items():
        pairs = [(view(source, True), view(target, False)) for source, target in zip(sources, targets)]

        def copy_both():
            for origin, destination in pairs:
                destination.copy_(origin, non_blocking=True)

        for target in targets:
            target.zero_()
        seconds = median_seconds(copy_both)
        for origin, destination in pairs:
            check(name, origin, destination)
        report(f"torch: {name}, both ways", 2 * pairs[0][0].numel() * 4 / seconds / 1e9, "GB/s")


def measure_host_to_both(side):
    """Copies halves of a matrix of the host to two devices and back, from one thread."""
    for kind in ("pageable", "pinned"):
        whole = torch.arange(side * side, dtype=torch.float32).reshape(side, side)
        if kind == "pinned":
            whole = whole.pin_memory()
        halves = whole.split(side // 2)
        parts = [torch.zeros_like(half, device=f"cuda:{device}") for device, half in enumerate(halves)]

        def split():
            for part, half in zip(parts, halves):
                part.copy_(half, non_blocking=True)

        def gather():
            for part, half in zip(parts, halves):
                half.copy_(part, non_blocking=True)

        seconds = median_seconds(split)
        for part, half in zip(parts, halves):
            check("split", part, half)
        report(f"torch: {kind} memory to both devices", whole.numel() * 4 / seconds / 1e9, "GB/s")
        whole.zero_()
        seconds = median_seconds(gather)
        check("gather", whole, torch.arange(side * side, dtype=torch.float32).reshape(side, side))
        report(f"torch: both devices to {kind} memory", whole.numel() * 4 / seconds / 1e9, "GB/s")


def measure_collectives(side):
    devices = torch.cuda.device_count()
    arrays = [torch.full((side, side), float(device + 1), device=f"cuda:{device}") for device in range(devices)]
    size = arrays[0].numel() * 4
    seconds = median_seconds(lambda: torch.cuda.nccl.broadcast(arrays))
    for array in arrays[1:]:
        check("broadcast", arrays[0], array)
    report(f"NCCL: broadcast to {devices} devices, bus bandwidth", size / seconds / 1e9, "GB/s")
    results = [torch.empty_like(array) for array in arrays]
    seconds = median_seconds(lambda: torch.cuda.nccl.all_reduce(arrays, results))
    check("all_reduce", results[0], torch.full((side, side), float(devices)))
    report(f"NCCL: all_reduce over {devices} devices, bus bandwidth",
           size / seconds / 1e9 * 2 * (devices - 1) / devices, "GB/s")


def main():
    if torch.cuda.device_count() < 2:
        print("there are fewer than two devices", file=sys.stderr)
        sys.exit(77)
    measure_copies(SIDE)
    measure_both_ways(SIDE)
    measure_host_to_both(SIDE)
    measure_collectives(SIDE)


main()
