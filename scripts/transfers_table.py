#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the results of scripts/transfers as Markdown tables."""

import argparse
import json
import pathlib
import re
import sys

PEERS = ["torch", "cupy", "numba-cuda"]
UNITS = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]


def format_size(size):
    for unit, name in UNITS:
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


class Results:
    """The result files of a directory, by the name of the run; or one result file of rocbench, which
    then stands for all runs with the usual sizes of rows and elements."""

    def __init__(self, path):
        self.directory = pathlib.Path(path)
        self.runs = {}
        self.context = {}
        self.is_file = self.directory.is_file()
        files = [self.directory] if self.is_file else sorted(self.directory.glob("*.json"))
        for file in files:
            try:
                document = json.loads(file.read_text(encoding="utf-8"))
            except ValueError as error:
                raise SystemExit(f"{file}: {error}")
            self.runs[file.stem] = document
            if "rocbench" in document.get("context", {}):
                self.context = document["context"]

    def entries(self, run):
        """Returns the results of a run; an empty list if there is no such run."""
        if self.is_file:
            has_other_parameters = run.startswith(("rows_", "elements_", "threads_", "staging_"))
            run = None if has_other_parameters else self.directory.stem
        return self.runs.get(run, {}).get("benchmarks", [])

    def measured(self, run, case, size):
        """Returns the result of a case, at any size unless one is given; or None. Exits if its data was
        not verified."""
        for entry in self.entries(run):
            result = entry.get("rocbench", {})
            if result.get("name") == case and result.get("status") == "measured":
                if size is None or result.get("bytes") == size:
                    if result.get("verified") is not True:
                        raise SystemExit(f"{run}: the data of {case} was not verified; measure it again")
                    return entry
        return None

    def rate(self, run, case, size=None):
        """Returns the rate of a case in bytes per second, at any size unless one is given; or None."""
        entry = self.measured(run, case, size)
        return entry and entry["bytes_per_second"]

    def sizes(self, run, case):
        """Returns the sizes in bytes, ascending, that a run has results of a case for."""
        return sorted({e["rocbench"]["bytes"] for e in self.entries(run)
                       if e.get("rocbench", {}).get("name") == case})

    def seconds(self, run, case, size=None):
        """Returns the median time of a case in seconds, at any size unless one is given; or None."""
        entry = self.measured(run, case, size)
        return entry and entry["real_time"] / 1e9

    def time(self, run, name):
        """Returns the median time of a Google Benchmark in nanoseconds, or None."""
        for entry in self.entries(run):
            if entry.get("run_name") == name and entry.get("aggregate_name") == "median":
                return entry["real_time"]
        return None

    def peer(self, operation, name):
        """Returns the rate of another library in bytes per second, or None."""
        return self.runs.get("peers", {}).get("rates", {}).get(operation, {}).get(name)


def format_rate(rate):
    return "–" if rate is None else f"{rate / 1e9:.1f}"


def format_seconds(seconds):
    if seconds is None:
        return "–"
    return f"{seconds * 1e9:.0f} ns" if seconds < 1e-5 else f"{seconds * 1e6:.0f} µs"


def format_ratio(rate, base):
    return "–" if rate is None or not base else f"{rate / base:.2f}"


def print_table(title, head, rows, keep_empty=False):
    """Prints the rows that have at least one value, or all rows."""
    rows = [row for row in rows if keep_empty or any(cell != "–" for cell in row[1:])]
    if not rows:
        return
    print(f"\n{title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def contiguous(results):
    rows = []
    for direction, title in (("h2d", "to the device"), ("d2h", "to the host")):
        for kind in ("pinned", "registered", "pageable"):
            case = f"{direction}/{kind}"
            for size in results.sizes("contiguous", case):
                library = results.rate("contiguous", case, size)
                raw = results.rate("contiguous", "raw/" + case, size)
                pinned = results.rate("contiguous", f"{direction}/pinned", size)
                peers = [format_rate(results.peer(f"{case}/{size}", name)) for name in PEERS]
                rows.append([f"{kind}, {title}, {format_size(size)}", format_rate(library),
                             format_rate(raw), format_ratio(library, raw),
                             format_ratio(library, pinned), *peers])
    print_table("Contiguous memory, GB/s",
                ["memory, direction, size", "library", "HIP's call", "ratio to HIP",
                 "ratio to pinned", *PEERS], rows)


def strided(results):
    rows = []
    for row in (4, 16, 64, 4096):
        run = f"rows_{row}"
        for case, title, peer, pinned in (
                ("strided/2d/h2d", "pinned to the device", f"strided/pinned/h2d/{row}", "h2d"),
                ("strided/2d/d2h", "pinned to the host", f"strided/pinned/d2h/{row}", "d2h"),
                ("strided/2d/h2d/pageable", "pageable to the device",
                 f"strided/pageable/h2d/{row}", "h2d"),
                ("strided/2d/d2h/pageable", "pageable to the host",
                 f"strided/pageable/d2h/{row}", "d2h"),
                ("strided/2d/d2d", "within the device", "", "")):
            library = results.rate(run, case)
            raw = results.rate(run, "raw/" + case)
            contiguous_rate = (results.rate("contiguous", f"{pinned}/pinned", 64 << 20)
                               if pinned else None)
            rows.append([f"{row} B, {title}", format_rate(library), format_rate(raw),
                         format_ratio(library, raw), format_ratio(library, contiguous_rate),
                         format_rate(results.peer(peer, "torch"))])
    print_table("Rows at a pitch of twice their length, GB/s (within the device: bytes read plus written)",
                ["row", "library", "HIP's call", "ratio to HIP", "ratio to contiguous pinned",
                 "torch"], rows)


def on_device(results):
    rows = []
    for element in (1, 2, 4, 8, 16):
        run = f"elements_{element}"
        copy = results.rate(run, "d2d/copy")
        for case, title in (("permute/2d", "transposition"), ("permute/3d", "(2, 1, 0) of a cube"),
                            ("reverse/last_axis", "last axis of a matrix reversed"),
                            ("reverse/first_axis", "first axis of a matrix reversed"),
                            ("reverse/interior", "last axis of an interior reversed"),
                            ("permute/021", "(0, 2, 1) of a cube")):
            library = results.rate(run, case + "/d2d")
            peers = [format_rate(results.peer(f"{case}/{element}", name)) for name in PEERS[:2]]
            rows.append([f"{title}, {element} B", format_rate(library),
                         format_ratio(library, copy), *peers])
    print_table("Permuted and reversed axes on the device, bytes read plus written, GB/s",
                ["operation", "library", "ratio to d2d/copy", *PEERS[:2]], rows)
    rows = []
    raw = results.rate("fill", "raw/fill/byte")
    for case, operation in (("fill/byte", "fill/1"), ("fill/float", "fill/4")):
        library = results.rate("fill", case)
        rows.append([case, format_rate(library), format_rate(raw), format_ratio(library, raw),
                     *[format_rate(results.peer(operation, name)) for name in PEERS[:2]]])
    print_table("Fills, GB/s", ["operation", "library", "hipMemset", "ratio", *PEERS[:2]], rows)
    rows = []
    for kernel in ("copy", "mul", "add", "triad", "dot"):
        library = results.rate("kernels", f"stream/{kernel}")
        raw = results.rate("kernels", f"raw/stream/{kernel}")
        rows.append([kernel, format_rate(library), format_rate(raw),
                     f"{library / raw:.4f}" if library and raw else "–"])
    print_table("Kernels with views and with pointers, GB/s",
                ["kernel", "views", "pointers", "ratio"], rows)


def batches(results):
    rows = []
    for direction, title in (("h2d", "to the device"), ("d2h", "to the host"),
                             ("d2d", "within the device")):
        library = results.rate("batch", f"batch/{direction}")
        loop = results.rate("batch", f"raw/batch/{direction}")
        call = results.rate("batch", f"raw/batch_call/{direction}")
        peers = [format_rate(results.peer(f"batch/{direction}", name)) for name in PEERS[:2]]
        rows.append([title, format_rate(library), format_rate(loop), format_ratio(library, loop),
                     format_rate(call), format_ratio(library, call), *peers])
    print_table("Batches of copies of 4 KiB, pageable, GB/s",
                ["direction", "copy_batch", "call per copy", "ratio", "batched call", "ratio",
                 *[f"{name}, a call per copy" for name in PEERS[:2]]], rows)


def allocations(results):
    cases = ("alloc/pool", "alloc/device", "raw/alloc/driver_pool", "raw/alloc/device")
    rows = []
    for size in results.sizes("alloc", "alloc/device"):
        peers = [results.peer(f"alloc/{size}", name) for name in PEERS[:2]]
        rows.append([format_size(size), *[format_seconds(results.seconds("alloc", case, size)) for case in cases],
                     *[format_seconds(1 / rate if rate else None) for rate in peers]])
    print_table("One allocation and its deallocation; torch and cupy from Python",
                ["size", "the pool", "a device array", "hipMallocAsync", "hipMalloc", *PEERS[:2]], rows)
    rows = []
    for case in ("alloc/pinned", "alloc/registered"):
        for size in results.sizes("alloc_host", case):
            rows.append([f"{case}, {format_size(size)}",
                         *[format_seconds(results.seconds("alloc_host", prefix + case, size))
                           for prefix in ("", "raw/")]])
    print_table("Pinned and registered memory", ["work", "library", "HIP's call"], rows)


def scaling(results):
    rows = []
    for threads in (1, 2, 4, 8, 16):
        run = f"threads_{threads}"
        rows.append([str(threads), format_rate(results.rate(run, "h2d/pageable")),
                     format_rate(results.rate(run, "d2h/pageable"))])
    print_table("Pageable memory by ROCARRAY_COPY_THREADS, GB/s",
                ["threads", "to the device", "to the host"], rows)

    rows = []
    # A line of the library's log: allocated block N of BYTES.
    block = re.compile(r"(\d+) bytes of pinned memory for copies: block (\d+) of")
    for log in results.directory.glob("staging_*.log"):
        blocks = [int(size) for size, _ in block.findall(log.read_text())]
        size = results.sizes(log.stem, "h2d/pageable")
        if size:
            rows.append((size[0], [format_size(size[0]), format_size(sum(blocks))]))
    print_table("Staging memory after copies in both directions",
                ["size of the copies", "pinned memory"], [row for _, row in sorted(rows)])

    rows = []
    for rank in (1, 2, 4, 8):
        times = [results.time("planning", f"{kind}<{rank}>")
                 for kind in ("contiguous", "padded", "transposed")]
        rows.append([str(rank), *["–" if t is None else f"{t:.0f}" for t in times]])
    print_table("Planning a copy, ns", ["rank", "contiguous", "padded", "transposed"], rows)

    rows = []
    for name in ("copy_4_bytes", "event_record", "stream_synchronize", "stream_query"):
        library = results.time("call_overhead", name)
        raw = results.time("call_overhead", "raw_" + name)
        if library and raw:
            rows.append([name, f"{library:.0f}", f"{raw:.0f}",
                         f"{library - raw:+.0f} ns, {library / raw:.2f}"])
    print_table("Calls, ns", ["call", "library", "HIP", "difference"], rows)


def on_streams(results):
    rows = []
    for case in ("async/h2d/pageable", "async/h2d/borrowed", "async/d2h/pageable"):
        blocking = case.split("/")[1] + "/pageable"
        for size in results.sizes("streams", case):
            library = results.rate("streams", case, size)
            rows.append([f"{case[6:]}, {format_size(size)}", format_rate(library),
                         format_ratio(library, results.rate("streams", blocking, size)),
                         format_rate(results.rate("contiguous", "raw/" + blocking, size))])
    print_table("Pageable memory on a stream, GB/s",
                ["copy", "library", "ratio to the call without a stream", "HIP's call without a stream"], rows)

    rows = []
    for case, base in (("async/bidir/pageable", "raw/bidir/pinned"), ("async/bidir/borrowed", "raw/bidir/pinned"),
                       ("async/tiles/pageable", "async/tiles/pinned"),
                       ("async/tiles/borrowed", "async/tiles/pinned")):
        for size in results.sizes("both_ways", case):
            library = results.rate("both_ways", case, size)
            pinned = results.rate("both_ways", base, size)
            rows.append([f"{case[6:]}, {format_size(size)}", format_rate(library), format_rate(pinned),
                         format_ratio(library, pinned)])
    print_table("Both directions at once from one thread, sum of both, GB/s",
                ["copies", "library", "pinned", "ratio"], rows)

    rows = []
    for case in ("h2d/just_written", "async/h2d/just_written", "async/h2d/written_borrowed", "h2d/pageable",
                 "d2h/pageable"):
        for size in results.sizes("small_copies", case):
            library = results.rate("small_copies", case, size)
            raw = results.rate("small_copies", "raw/" + case, size)
            rows.append([f"{case}, {format_size(size)}", format_rate(library), format_rate(raw),
                         format_ratio(library, raw)])
    print_table("Small copies of pageable memory, GB/s", ["copy", "library", "HIP's call", "ratio"], rows)

    rows = []
    for size in results.sizes("new_arrays", "d2h/new_array"):
        library = results.rate("new_arrays", "d2h/new_array", size)
        raw = results.rate("new_arrays", "raw/d2h/new_array", size)
        rows.append([format_size(size), format_rate(library), format_rate(raw), format_ratio(library, raw)])
    print_table("To a new array of host memory, GB/s", ["size", "library", "new and HIP's call", "ratio"], rows)

    rows = []
    for case in ("h2d/pinned", "d2h/pinned", "d2d/copy", "h2d/pageable", "h2d/borrowed", "d2h/pageable"):
        library, raw = (results.seconds("calls", prefix + "enqueue/" + case) for prefix in ("", "raw/"))
        if library and raw:
            rows.append([case, f"{library * 1e9:.0f}", f"{raw * 1e9:.0f}"])
    print_table("Until a call on a stream returns (pinned: 4 B, pageable: 64 MiB), ns",
                ["copy", "library", "HIP"], rows)


# The sectors of memory that must move, relative to the bytes that are counted: every second element
# reads twice its bytes.
BOXES = {"interior": 1, "compact": 1, "aligned": 1, "long_rows": 1, "long_rows_shifted": 1, "short_rows": 1,
         "short_rows_shifted": 1, "columns_64": 1, "columns_128": 1, "columns_256": 1, "every_2nd_plane": 1,
         "every_2nd_element": 1.5}


# The cases of for_each: names, titles, and the names of the same work by other libraries.
FOR_EACH = [*[(f"for_each/{rank}d", f"c = a + b, rank {rank}", "for_each") for rank in range(1, 5)],
            ("for_each/stencil", "five-point stencil", None),
            ("for_each/stencil_8x32", "five-point stencil in blocks", None)]


def boxes(results):
    copy = results.rate("boxes", "d2d/copy")
    rows = []
    for name, sectors in BOXES.items():
        library = results.rate("boxes", f"box/{name}")
        peers = [format_rate(results.peer(f"box/{name}", peer)) for peer in PEERS[:2]]
        rows.append([name, format_rate(library), format_ratio(library and library * sectors, copy),
                     format_rate(results.rate("boxes", f"raw/box/{name}")), *peers])
    print_table("Boxes of floats within the device, bytes read plus written, GB/s",
                ["box", "library", "sectors moved, relative to d2d/copy", "HIP's call", *PEERS[:2]], rows)
    rows = []
    for name, sectors in BOXES.items():
        row = [name]
        for element in (1, 2, 8, 16):
            library = results.rate(f"elements_{element}", f"box/{name}")
            row.append(format_ratio(library and library * sectors, results.rate(f"elements_{element}", "d2d/copy")))
        rows.append(row)
    print_table("Boxes of other elements, sectors moved, relative to d2d/copy",
                ["box", "1 B", "2 B", "8 B", "16 B"], rows)
    rows = []
    for case, title, peer in FOR_EACH:
        library = results.rate("for_each", case)
        raw = results.rate("for_each", "raw/" + case)
        rows.append([title, format_rate(library), format_rate(raw), format_ratio(library, raw),
                     *[format_rate(results.peer(peer, name)) for name in PEERS[:2]]])
    print_table("for_each, GB/s",
                ["work", "library", "kernel written by hand", "ratio", *PEERS[:2]], rows)


class Cell:
    """A measured figure that a target applies to, and the figures beside it: rates in bytes per second,
    or times in seconds."""

    def __init__(self, label, library, measured, raw=None, before=None, torch=None, cupy=None, is_time=False):
        self.label = label
        self.library = library
        self.measured = measured  # what is compared with the target; None if it cannot be computed
        self.raw = raw
        self.before = before
        self.peers = (torch, cupy)
        self.is_time = is_time

    def figures(self):
        """Returns the texts of the columns before, now, raw, torch and cupy."""
        form = format_seconds if self.is_time else format_rate
        return [form(value) for value in (self.before, self.library, self.raw, *self.peers)]


class Target:
    """A line of ../docs/figures-targets.md: what is measured, and the least (or the largest) value."""

    def __init__(self, number, work, bound, cells, at_most=False, unit=""):
        self.number = number
        self.work = work
        self.bound = bound
        self.at_most = at_most
        self.unit = unit
        self.cells = [cell for cell in cells if cell.measured is not None]

    def is_met(self, cell):
        return cell.measured <= self.bound if self.at_most else cell.measured >= self.bound

    def worst(self):
        choose = max if self.at_most else min
        return choose(self.cells, key=lambda cell: cell.measured)

    def shown(self, value):
        return (f"{value:.0f}" if self.at_most and abs(value) >= 10 else f"{value:.3g}" if self.unit
                else f"{value:.3f}") + self.unit


def quotient(a, b):
    return a / b if a and b else None


# The elements of a row of each box; 1 for boxes that are not rows.
BOX_WIDTHS = {"interior": 254, "compact": 254, "aligned": 248, "long_rows": 4094, "long_rows_shifted": 4094,
              "short_rows": 100, "short_rows_shifted": 100, "columns_64": 64, "columns_128": 128,
              "columns_256": 256}
DIRECTIONS = (("h2d", "to the device"), ("d2h", "to the host"))


def make_targets(results, before):
    """Returns the targets of ../docs/figures-targets.md with their measured figures."""
    mebi = 1 << 20

    def rate_cell(label, run, case, size=None, base=None, raw=None, peer=None, scale=1, raw_run=None):
        """Returns a cell whose measured value is the rate, times `scale`, divided by `base`."""
        library = results.rate(run, case, size)
        return Cell(label, library, quotient(library and library * scale, base),
                    results.rate(raw_run or run, raw or "raw/" + case, size),
                    before.rate(run, case, size) if before else None,
                    results.peer(peer, "torch"), results.peer(peer, "cupy"))

    def time_cell(label, run, case, measure, size=None, raw=None, peer=None):
        """Returns a cell of times; `measure(library, raw)` returns the value that is compared."""
        library = results.seconds(run, case, size)
        raw_time = results.seconds(run, raw or "raw/" + case, size)
        peers = [results.peer(peer, name) for name in ("torch", "cupy")]
        return Cell(label, library, measure(library, raw_time) if library else None, raw_time,
                    before.seconds(run, case, size) if before else None,
                    *[1 / rate if rate else None for rate in peers], is_time=True)

    def contiguous_cells(kinds, min_size, base, max_size=1 << 60):
        return [rate_cell(f"{kind}, {title}, {format_size(size)}", "contiguous", f"{direction}/{kind}", size,
                          base(direction, kind, size), peer=f"{direction}/{kind}/{size}")
                for direction, title in DIRECTIONS for kind in kinds
                for size in results.sizes("contiguous", f"{direction}/{kind}")
                if min_size <= size <= max_size]

    def raw_rate(direction, kind, size):
        return results.rate("contiguous", f"raw/{direction}/{kind}", size)

    def pinned_rate(direction, _, size):
        return results.rate("contiguous", f"{direction}/pinned", size)

    def row_cells(rows):
        return [rate_cell(f"rows of {row} B, {kind}, {title}", f"rows_{row}",
                          f"strided/2d/{direction}" + ("/pageable" if kind == "pageable" else ""),
                          base=results.rate("contiguous", f"{direction}/pinned", 64 * mebi),
                          peer=f"strided/{kind}/{direction}/{row}")
                for row in rows for direction, title in DIRECTIONS for kind in ("pinned", "pageable")]

    def device_cells(cases, elements):
        return [rate_cell(f"{case}, {element} B", f"elements_{element}", case + "/d2d",
                          base=results.rate(f"elements_{element}", "d2d/copy"), peer=f"{case}/{element}")
                for element in elements for case in cases]

    def box_cells(names, elements, scale=1, base="d2d/copy"):
        cells = []
        for element in elements:
            run = "boxes" if element == 4 else f"elements_{element}"
            suffix = "" if element == 4 else f", {element} B"
            for name in names:
                peer = f"box/{name}" if element == 4 else ""
                cells.append(rate_cell(f"box/{name}{suffix}", run, f"box/{name}", None, results.rate(run, base),
                                       peer=peer, scale=scale))
        return cells

    def boxes_with_rows(least, most, shifted=None):
        """Returns the cells of boxes whose rows have at least `least` bytes and less than `most`. If `shifted`
        is given, only those off 16 B, as boxes of elements of 16 B are not."""
        cells = []
        for element in (4, 8, 16) if shifted is None else (4, 8):
            names = [name for name, width in BOX_WIDTHS.items() if least <= width * element < most
                     and shifted in (None, name.endswith("shifted"))]
            cells += box_cells(names, [element])
        return cells

    def ahead_of_peers():
        cells = []
        for cell in box_cells(BOXES, [4]):
            fastest = max([peer for peer in cell.peers if peer], default=None)
            cell.measured = quotient(cell.library, fastest)
            cells.append(cell)
        return cells

    def batch_cells(base):
        return [rate_cell(f"batch/{direction}", "batch", f"batch/{direction}", None,
                          results.rate("batch", f"{base}/{direction}"), raw=f"{base}/{direction}",
                          peer=f"batch/{direction}")
                for direction in ("h2d", "d2h", "d2d")]

    def call_cells():
        """Returns the cells of times above HIP's call, relative to what is allowed."""
        def excess(library, raw):
            return (library - raw) / max(50e-9, 0.05 * raw) if raw else None

        cells = []
        for name, peer in (("copy_4_bytes", "enqueue/h2d/pinned"), ("copy_4_bytes_to_host", "enqueue/d2h/pinned"),
                           ("copy_4_bytes_and_wait", "latency/h2d/pinned"), ("event_record", ""),
                           ("stream_synchronize", ""), ("stream_query", "")):
            times = [results.time("call_overhead", prefix + name) for prefix in ("", "raw_")]
            earlier = before.time("call_overhead", name) if before else None
            if all(times):
                library, raw = (time / 1e9 for time in times)
                peers = [results.peer(peer, peer_name) for peer_name in ("torch", "cupy")]
                cells.append(Cell(f"{name}, {(library - raw) * 1e9:+.0f} ns, {library / raw:.2f}", library,
                                  excess(library, raw), raw, earlier and earlier / 1e9,
                                  *[1 / rate if rate else None for rate in peers], is_time=True))
        for run, cases in (("calls", ("enqueue/h2d/pinned", "enqueue/d2h/pinned", "enqueue/d2d/copy")),
                           ("latency", ("latency/h2d/pinned", "latency/h2d/pageable", "latency/d2h/pinned",
                                        "latency/d2h/pageable", "latency/d2d/copy"))):
            for case in cases:
                cell = time_cell(case, run, case, excess, peer=case)
                if cell.measured is not None:
                    cell.label += f", {(cell.library - cell.raw) * 1e9:+.0f} ns, {cell.library / cell.raw:.2f}"
                cells.append(cell)
        return cells

    def alloc_cells(case, measure, sizes=None):
        return [time_cell(f"{case}, {format_size(size)}", "alloc", case, measure, size,
                          raw="raw/alloc/driver_pool", peer=f"alloc/{size}")
                for size in sizes or results.sizes("alloc", case)]

    def stream_cells(case):
        blocking = case.split("/")[1] + "/pageable"
        return [rate_cell(f"{case}, {format_size(size)}", "streams", case, size,
                          results.rate("streams", blocking, size), raw="raw/" + blocking,
                          raw_run="contiguous", peer=f"{blocking}/{size}")
                for size in results.sizes("streams", case) if size >= 8 * mebi]

    def both_ways_cells(cases, base, raw, peer):
        return [rate_cell(f"{case}, {format_size(size)}", "both_ways", case, size,
                          results.rate("both_ways", base, size), raw=raw, peer=f"{peer}/{size}")
                for case in cases for size in results.sizes("both_ways", case)]

    def all_devices_cells(direction):
        case = f"all/{direction}/pageable_1thread"
        return [rate_cell(case, "all", case, None, results.rate("all", f"all/{direction}/registered"))]

    def small_cells():
        return [rate_cell(f"{case}, {format_size(size)}", "small_copies", case, size,
                          results.rate("small_copies", "raw/" + case, size),
                          peer=f"{case}/{size}" if "written" not in case else "")
                for case in ("h2d/pageable", "d2h/pageable", "h2d/just_written", "async/h2d/just_written")
                for size in results.sizes("small_copies", case)]

    def new_array_cells(min_size, max_size=1 << 60):
        return [rate_cell(format_size(size), "new_arrays", "d2h/new_array", size, 1e9,
                          peer=f"d2h/new_array/{size}")
                for size in results.sizes("new_arrays", "d2h/new_array") if min_size <= size <= max_size]

    def return_cells():
        return [time_cell(f"{case}, 64 MiB", "calls", case, lambda library, raw: library * 1e6)
                for case in ("enqueue/h2d/borrowed", "enqueue/d2h/pageable")]

    def nanoseconds(library, raw):
        return library * 1e9

    def times_faster(library, raw):
        return quotient(raw, library)

    def memcpy_cells():
        return [rate_cell(format_size(size), "host_memory", "h2d/pageable", size,
                          results.rate("host_memory", "raw/host/memcpy", size), raw="raw/host/memcpy")
                for size in results.sizes("host_memory", "h2d/pageable")]

    any_memory = ("pinned", "registered", "pageable")
    return [
        Target("P1", "pinned and registered, from 64 MiB, relative to HIP's call", 0.99,
               contiguous_cells(("pinned", "registered"), 64 * mebi, raw_rate)),
        Target("P2", "pageable, from 256 MiB, relative to pinned", 0.90,
               contiguous_cells(("pageable",), 256 * mebi, pinned_rate)),
        Target("P2", "pageable, 64 MiB, relative to pinned", 0.75,
               contiguous_cells(("pageable",), 64 * mebi, pinned_rate, 64 * mebi)),
        Target("P2", "pageable, 8 MiB, relative to pinned", 0.5,
               contiguous_cells(("pageable",), 8 * mebi, pinned_rate, 8 * mebi)),
        Target("P2", "pageable, from 64 MiB, relative to HIP's call", 5.0,
               contiguous_cells(("pageable",), 64 * mebi, raw_rate)),
        Target("P2", "pageable, any size, relative to HIP's call", 1.0,
               contiguous_cells(("pageable",), 0, raw_rate)),
        Target("P2", "pinned and registered, any size, relative to HIP's call", 1.0,
               contiguous_cells(("pinned", "registered"), 0, raw_rate)),
        Target("P3", "rows from 16 B, relative to contiguous pinned", 0.8, row_cells((16, 64, 4096))),
        Target("P3", "rows of 4 B, relative to contiguous pinned", 0.7, row_cells((4,))),
        Target("P4", "permutations, from 4 B, relative to a device copy", 0.95,
               device_cells(("permute/2d", "permute/3d", "permute/021"), (4, 8, 16))),
        Target("P4", "permutations, 1 and 2 B, relative to a device copy", 0.85,
               device_cells(("permute/2d", "permute/3d", "permute/021"), (1, 2))),
        Target("P4", "reversed axes, from 4 B, relative to a device copy", 0.95,
               device_cells(("reverse/last_axis", "reverse/first_axis", "reverse/interior"), (4, 8, 16))),
        Target("P4", "reversed axes, 1 and 2 B, relative to a device copy", 0.85,
               device_cells(("reverse/last_axis", "reverse/first_axis", "reverse/interior"), (1, 2))),
        Target("P5", "fills, relative to hipMemset", 0.98,
               [rate_cell(case, "fill", case, None, results.rate("fill", "raw/fill/byte"),
                          raw="raw/fill/byte", peer=peer)
                for case, peer in (("fill/byte", "fill/1"), ("fill/float", "fill/4"))]),
        Target("P6", "batches, relative to a call per copy", 30.0, batch_cells("raw/batch")),
        Target("P6", "batches, relative to the vendor's batched call", 8.0, batch_cells("raw/batch_call")),
        Target("P7", "allocation and free through the pool", 100, alloc_cells("alloc/pool", nanoseconds),
               at_most=True, unit=" ns"),
        Target("P7", "the same, times faster than hipMallocAsync and hipFreeAsync", 10,
               alloc_cells("alloc/pool", times_faster)),
        Target("P7", "a device array made and destroyed", 100, alloc_cells("alloc/device", nanoseconds),
               at_most=True, unit=" ns"),
        Target("P8", "calls of 4 bytes and waits, time above HIP's call, relative to 50 ns or 5 %", 1, call_cells(),
               at_most=True),
        Target("P9", "triad with views, relative to pointers", 0.995,
               [rate_cell("stream/triad", "kernels", "stream/triad", None,
                          results.rate("kernels", "raw/stream/triad"))]),
        Target("P10", "both directions, pinned, relative to HIP's calls", 0.98,
               [rate_cell("bidir/pinned", "bidirectional", "bidir/pinned", None,
                          results.rate("bidirectional", "raw/bidir/pinned"), peer=f"bidir/pinned/{256 * mebi}")]),
        Target("P10", "both directions, pageable, relative to pinned by HIP's calls", 0.8,
               [rate_cell("bidir/pageable", "bidirectional", "bidir/pageable", None,
                          results.rate("bidirectional", "raw/bidir/pinned"),
                          peer=f"bidir/pageable/{256 * mebi}")]),
        Target("P11", "host platform: contiguous, relative to memcpy by all processors", 0.9, memcpy_cells()),
        Target("S1", "pageable on a stream, from 8 MiB, to the host, relative to the call without a stream", 0.95,
               stream_cells("async/d2h/pageable")),
        Target("S1", "the same, to the device, borrowed", 0.95, stream_cells("async/h2d/borrowed")),
        Target("S1", "the same, to the device, source read by the call", 0.95, stream_cells("async/h2d/pageable")),
        Target("S1", "return of a call of 64 MiB, borrowed or to the host", 100, return_cells(), at_most=True,
               unit=" µs"),
        Target("S2", "both directions from one thread, borrowed, relative to pinned", 0.75,
               both_ways_cells(("async/bidir/borrowed",), "raw/bidir/pinned", "raw/async/bidir/pageable",
                               "bidir/pageable")),
        Target("S2", "both directions from one thread, source read by the call, relative to pinned", 0.75,
               both_ways_cells(("async/bidir/pageable",), "raw/bidir/pinned", "raw/async/bidir/pageable",
                               "bidir/pageable")),
        Target("S2", "32 tiles, borrowed, relative to pinned", 0.75,
               both_ways_cells(("async/tiles/borrowed",), "async/tiles/pinned", "raw/async/tiles/pageable",
                               "tiles/pageable")),
        Target("S2", "32 tiles, source read by the call, relative to pinned", 0.75,
               both_ways_cells(("async/tiles/pageable",), "async/tiles/pinned", "raw/async/tiles/pageable",
                               "tiles/pageable")),
        Target("S3", "pageable to all devices from one thread, relative to registered", 0.8,
               all_devices_cells("h2d")),
        Target("S3", "the same to the host", 0.8, all_devices_cells("d2h")),
        Target("S3", "the same both ways", 0.8, all_devices_cells("bidir")),
        Target("S4", "pageable, 64 KiB to 1 MiB, relative to HIP's call", 0.98, small_cells()),
        Target("S5", "to a new array of host memory, from 64 MiB, GB/s", 40, new_array_cells(64 * mebi)),
        Target("S5", "to a new array of host memory, 8 MiB, GB/s", 25, new_array_cells(8 * mebi, 8 * mebi)),
        Target("D1", "boxes with rows of 4 KiB and more, off 16 B by the same, relative to a device copy", 0.95,
               boxes_with_rows(4096, 1 << 60, shifted=False)),
        Target("D1", "the same, off by different amounts", 0.85, boxes_with_rows(4096, 1 << 60, shifted=True)),
        # Interiors of floats have rows of 1016 bytes.
        Target("D1", "boxes with rows of 1 to 4 KiB", 0.85, boxes_with_rows(1000, 4096)),
        Target("D1", "boxes with rows of 256 B to 1 KiB", 0.75, boxes_with_rows(256, 1000)),
        Target("D1", "boxes, relative to the faster one of torch and cupy", 1.0, ahead_of_peers()),
        Target("D2", "every second plane, relative to a device copy", 0.95,
               box_cells(("every_2nd_plane",), (1, 2, 4, 8, 16))),
        Target("D2", "every second element, sectors, relative to a device copy", 0.95,
               box_cells(("every_2nd_element",), (1, 2, 4, 8, 16), BOXES["every_2nd_element"])),
        Target("D3", "for_each, relative to a kernel written by hand", 0.97,
               [rate_cell(case, "for_each", case, None, results.rate("for_each", "raw/" + case), peer=peer)
                for case, _, peer in FOR_EACH]),
    ]


def targets(results, before):
    """Prints each target with its worst case, then all cases."""
    head = ["before", "now", "raw", "torch", "cupy"]
    rows, cells = [], []
    for target in make_targets(results, before):
        name, bound = f"{target.number}: {target.work}", target.shown(target.bound)
        if not target.cells:
            rows.append([name, bound, *["–"] * 8])
            continue
        worst = target.worst()
        missed = [cell for cell in target.cells if not target.is_met(cell)]
        verdict = "met" if not missed else f"missed, {len(missed)} of {len(target.cells)}"
        rows.append([name, bound, target.shown(worst.measured), verdict, worst.label, *worst.figures()])
        cells += [[name, cell.label, bound, target.shown(cell.measured), *cell.figures(),
                   "met" if target.is_met(cell) else "missed"] for cell in target.cells]
    print_table("Targets, and the worst measured case of each; GB/s, or times",
                ["work", "target", "measured", "", "worst case", *head], rows, keep_empty=True)
    print_table("All cases of the targets; GB/s, or times",
                ["work", "case", "target", "measured", *head, ""], cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", help="result files of scripts/transfers")
    parser.add_argument("--before", metavar="PATH",
                        help="results of an earlier version: such a directory, or one result file of rocbench")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8")  # the tables have dashes, also if the locale does not
    results = Results(arguments.directory)
    if not results.runs:
        raise SystemExit(f"transfers_table.py: no result files in {arguments.directory}; run scripts/transfers")
    before = None
    if arguments.before:
        before = Results(arguments.before)
        if not before.runs:
            raise SystemExit(f"transfers_table.py: no result files in {arguments.before}")
    environment = results.context.get("rocbench", {})
    print(f"{environment.get('device_name', 'unknown device')}, "
          f"platform {environment.get('platform', '?')}, "
          f"{results.context.get('num_cpus', '?')} processors, {results.context.get('date', '')[:10]}; "
          "medians of one run, every sample verified; GB = 1e9 bytes.")
    versions = results.runs.get("peers", {}).get("peers", {})
    if versions:
        print("Peers: " + ", ".join(f"{name} {version}" for name, version in versions.items()) + ".")
    failed = results.runs.get("peers", {}).get("failed", [])
    if failed:
        print("Failed: " + "; ".join(failed) + ".")
    if environment.get("on_gpu") is False:
        print("Measured on the CPU: these are not figures of a GPU.")
    targets(results, before)
    for print_section in (contiguous, on_streams, strided, on_device, boxes, batches, allocations, scaling):
        print_section(results)


if __name__ == "__main__":
    main()
