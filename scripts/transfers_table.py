#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""transfers_table.py DIRECTORY: prints the results of scripts/transfers as Markdown tables."""

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
    """The result files of a directory, by the name of the run."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.runs = {}
        self.context = {}
        for file in sorted(self.directory.glob("*.json")):
            try:
                document = json.loads(file.read_text())
            except ValueError as error:
                raise SystemExit(f"{file}: {error}")
            self.runs[file.stem] = document
            if "rocbench" in document.get("context", {}):
                self.context = document["context"]

    def entries(self, run):
        """Returns the results of a run; an empty list if there is no such run."""
        return self.runs.get(run, {}).get("benchmarks", [])

    def rate(self, run, case, size=None):
        """Returns the rate of a case in bytes per second, at any size unless one is given; or None."""
        for entry in self.entries(run):
            result = entry.get("rocbench", {})
            if result.get("name") == case and result.get("status") == "measured":
                if size is None or result.get("bytes") == size:
                    if result.get("verified") is not True:
                        raise SystemExit(f"{run}: the data of {case} was not verified; measure it again")
                    return entry["bytes_per_second"]
        return None

    def sizes(self, run, case):
        """Returns the sizes in bytes, ascending, that a run has results of a case for."""
        return sorted({e["rocbench"]["bytes"] for e in self.entries(run)
                       if e.get("rocbench", {}).get("name") == case})

    def seconds(self, run, case):
        """Returns the median time of a case in seconds, or None."""
        for entry in self.entries(run):
            result = entry.get("rocbench", {})
            if result.get("name") == case and result.get("status") == "measured":
                return entry["real_time"] / 1e9
        return None

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


def format_ratio(rate, base):
    return "–" if rate is None or not base else f"{rate / base:.2f}"


def print_table(title, head, rows):
    """Prints the rows that have at least one value."""
    rows = [row for row in rows if any(cell != "–" for cell in row[1:])]
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
                            ("reverse/interior", "last axis of an interior reversed")):
            library = results.rate(run, case + "/d2d")
            peers = [format_rate(results.peer(f"{case}/{element}", name)) for name in PEERS[:2]]
            rows.append([f"{title}, {element} B", format_rate(library),
                         format_ratio(library, copy), *peers])
    print_table("Permuted and reversed axes on the device, bytes read plus written, GB/s",
                ["operation", "library", "ratio to d2d/copy", *PEERS[:2]], rows)
    rows = []
    raw = results.rate("fill", "raw/fill/byte")
    for case, operation in (("fill/byte", ""), ("fill/float", "fill/4")):
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
        rows.append([title, format_rate(library), format_rate(loop), format_ratio(library, loop),
                     format_rate(call), format_ratio(library, call)])
    print_table("Batches of copies of 4 KiB, pageable, GB/s",
                ["direction", "copy_batch", "call per copy", "ratio", "batched call", "ratio"], rows)


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
        library = results.rate("both_ways", case)
        rows.append([case[6:], format_rate(library), format_rate(results.rate("both_ways", base)),
                     format_ratio(library, results.rate("both_ways", base))])
    print_table("Both directions at once from one thread, sum of both, GB/s",
                ["copies", "library", "pinned", "ratio"], rows)

    rows = []
    for case in ("h2d/just_written", "h2d/pageable", "d2h/pageable"):
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
    print_table("Until a call on a stream returns (pinned: 4 B, pageable: 64 MiB), ns", ["copy", "library", "HIP"], rows)


# The sectors of memory that must move, relative to the bytes that are counted: every second element
# reads twice its bytes.
BOXES = {"interior": 1, "compact": 1, "aligned": 1, "long_rows": 1, "long_rows_shifted": 1, "short_rows": 1,
         "short_rows_shifted": 1, "every_2nd_plane": 1, "every_2nd_element": 1.5}


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
    for rank in range(1, 5):
        library = results.rate("for_each", f"for_each/{rank}d")
        raw = results.rate("for_each", f"raw/for_each/{rank}d")
        rows.append([str(rank), format_rate(library), format_rate(raw), format_ratio(library, raw)])
    print_table("for_each of c = a + b, GB/s", ["rank", "library", "kernel written by hand", "ratio"], rows)


def targets(results):
    """Prints each target with the smallest measured ratio that it applies to."""
    directions = ("h2d", "d2h")

    def smallest_ratio(pairs):
        """Returns the smallest ratio of pairs (library, base) with both rates; None if there is none."""
        ratios = [library / base for library, base in pairs if library and base]
        return min(ratios) if ratios else None

    def contiguous_ratio(kinds, min_size, base):
        return smallest_ratio(
            (results.rate("contiguous", f"{direction}/{kind}", size), base(direction, kind, size))
            for direction in directions for kind in kinds
            for size in results.sizes("contiguous", f"{direction}/{kind}") if size >= min_size)

    def raw_rate(direction, kind, size):
        return results.rate("contiguous", f"raw/{direction}/{kind}", size)

    def pinned_rate(direction, kind, size):
        return results.rate("contiguous", f"{direction}/pinned", size)

    def pinned_ratio_at(size, kind="pageable"):
        return smallest_ratio((results.rate("contiguous", f"{direction}/{kind}", size),
                               pinned_rate(direction, kind, size)) for direction in directions)

    def rows_ratio(rows):
        return smallest_ratio(
            (results.rate(f"rows_{row}", case),
             results.rate("contiguous", f"{direction}/pinned", 64 << 20))
            for row in rows for direction in directions
            for case in (f"strided/2d/{direction}", f"strided/2d/{direction}/pageable"))

    def permutation_ratio(elements):
        return smallest_ratio((results.rate(f"elements_{element}", f"permute/{rank}/d2d"),
                               results.rate(f"elements_{element}", "d2d/copy"))
                              for element in elements for rank in ("2d", "3d"))

    def batch_ratio(base):
        return smallest_ratio((results.rate("batch", f"batch/{direction}"),
                               results.rate("batch", f"{base}/{direction}"))
                              for direction in directions)

    mebi = 1 << 20

    def stream_ratio():
        return smallest_ratio(
            (results.rate("streams", case, size),
             results.rate("streams", case.split("/")[1] + "/pageable", size))
            for case in ("async/h2d/pageable", "async/h2d/borrowed", "async/d2h/pageable")
            for size in results.sizes("streams", case) if size >= 8 * mebi)

    def case_ratio(run, cases, base, scale=1):
        """Returns the smallest ratio of the cases; None if one of them has no rate."""
        pairs = [(results.rate(run, case), results.rate(run, base.format(case))) for case in cases]
        if not all(library and raw for library, raw in pairs):
            return None
        return smallest_ratio((library * scale, raw) for library, raw in pairs)

    def new_array_rate(min_size):
        rates = [results.rate("new_arrays", "d2h/new_array", size)
                 for size in results.sizes("new_arrays", "d2h/new_array") if size >= min_size]
        return min(rates) / 1e9 if rates else None

    lines = [
        ("pinned and registered, from 64 MiB, relative to HIP's call", 0.99,
         contiguous_ratio(("pinned", "registered"), 64 * mebi, raw_rate)),
        ("pageable, from 256 MiB, relative to pinned", 0.90,
         contiguous_ratio(("pageable",), 256 * mebi, pinned_rate)),
        ("pageable, 64 MiB, relative to pinned", 0.75, pinned_ratio_at(64 * mebi)),
        ("pageable, 8 MiB, relative to pinned", 0.5, pinned_ratio_at(8 * mebi)),
        ("pageable, from 64 MiB, relative to HIP's call", 5.0,
         contiguous_ratio(("pageable",), 64 * mebi, raw_rate)),
        ("any host memory, any size, relative to HIP's call", 0.97,
         contiguous_ratio(("pinned", "registered", "pageable"), 0, raw_rate)),
        ("rows from 16 B, relative to contiguous pinned", 0.8, rows_ratio((16, 64, 4096))),
        ("rows of 4 B, relative to contiguous pinned", 0.7, rows_ratio((4,))),
        ("permutations, from 4 B, relative to a device copy", 0.95, permutation_ratio((4, 8, 16))),
        ("permutations, 1 and 2 B, relative to a device copy", 0.85, permutation_ratio((1, 2))),
        ("fills, relative to hipMemset", 0.98,
         smallest_ratio((results.rate("fill", case), results.rate("fill", "raw/fill/byte"))
                        for case in ("fill/byte", "fill/float"))),
        ("batches, relative to a call per copy", 30.0, batch_ratio("raw/batch")),
        ("batches, relative to the vendor's batched call", 8.0, batch_ratio("raw/batch_call")),
        ("triad with views, relative to pointers", 0.995,
         smallest_ratio([(results.rate("kernels", "stream/triad"),
                          results.rate("kernels", "raw/stream/triad"))])),
        ("both directions, pinned, relative to HIP's calls", 0.98,
         smallest_ratio([(results.rate("bidirectional", "bidir/pinned"),
                          results.rate("bidirectional", "raw/bidir/pinned"))])),
        ("both directions, pageable, relative to pinned by HIP's calls", 0.8,
         smallest_ratio([(results.rate("bidirectional", "bidir/pageable"),
                          results.rate("bidirectional", "raw/bidir/pinned"))])),
        ("pageable on a stream, from 8 MiB, relative to the call without a stream", 0.95, stream_ratio()),
        ("both directions from one thread, borrowed, relative to pinned", 0.75,
         case_ratio("both_ways", ("async/bidir/borrowed",), "raw/bidir/pinned")),
        ("tiles, pageable, relative to pinned", 0.75,
         case_ratio("both_ways", ("async/tiles/pageable", "async/tiles/borrowed"), "async/tiles/pinned")),
        ("pageable, 64 KiB to 1 MiB, relative to HIP's call", 0.98,
         smallest_ratio((results.rate("small_copies", case, size),
                         results.rate("small_copies", "raw/" + case, size))
                        for case in ("h2d/just_written", "h2d/pageable", "d2h/pageable")
                        for size in results.sizes("small_copies", case))),
        ("to a new array of host memory, from 64 MiB, GB/s", 40, new_array_rate(64 * mebi)),
        ("boxes with rows of 4 KiB and more, relative to a device copy", 0.95,
         case_ratio("boxes", ("box/long_rows", "box/long_rows_shifted"), "d2d/copy")),
        ("boxes with rows of 1 KiB, relative to a device copy", 0.85,
         case_ratio("boxes", ("box/interior", "box/compact"), "d2d/copy")),
        ("boxes with rows of 400 B, relative to a device copy", 0.75,
         case_ratio("boxes", ("box/short_rows", "box/short_rows_shifted"), "d2d/copy")),
        ("every second plane, relative to a device copy", 0.95,
         case_ratio("boxes", ("box/every_2nd_plane",), "d2d/copy")),
        ("every second element, sectors, relative to a device copy", 0.95,
         case_ratio("boxes", ("box/every_2nd_element",), "d2d/copy", BOXES["every_2nd_element"])),
        ("for_each, relative to a kernel written by hand", 0.97,
         case_ratio("for_each", [f"for_each/{rank}d" for rank in range(1, 5)], "raw/{}")),
    ]
    print_table("Targets, and the smallest measured ratio of each",
                ["operation", "target", "measured", ""],
                [[operation, f"{target:g}", "–" if ratio is None else f"{ratio:.3f}",
                  "–" if ratio is None else "reached" if ratio >= target else "missed"]
                 for operation, target, ratio in lines])


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    results = Results(sys.argv[1])
    if not results.runs:
        raise SystemExit(f"transfers_table.py: no result files in {sys.argv[1]}; run scripts/transfers")
    environment = results.context.get("rocbench", {})
    print(f"{environment.get('device_name', 'unknown device')}, "
          f"platform {environment.get('platform', '?')}, "
          f"{results.context.get('num_cpus', '?')} processors, {results.context.get('date', '')[:10]}; "
          "medians of one run, every sample verified; GB = 1e9 bytes.")
    versions = results.runs.get("peers", {}).get("peers", {})
    if versions:
        print("Peers: " + ", ".join(f"{name} {version}" for name, version in versions.items()) + ".")
    if environment.get("on_gpu") is False:
        print("Measured on the CPU: these are not figures of a GPU.")
    for print_section in (targets, contiguous, on_streams, strided, on_device, boxes, batches, scaling):
        print_section(results)


if __name__ == "__main__":
    main()
