#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""transfers_table.py FOLDER: Markdown tables of what scripts/transfers has measured there."""

import json
import pathlib
import re
import sys

PEERS = ["torch", "cupy", "numba-cuda"]
UNITS = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]


def words(size):
    for unit, name in UNITS:
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


class Results:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.runs = {}
        self.context = {}
        for file in sorted(self.folder.glob("*.json")):
            try:
                document = json.loads(file.read_text())
            except ValueError as reason:
                raise SystemExit(f"{file}: {reason}")
            self.runs[file.stem] = document
            if "rocbench" in document.get("context", {}):
                self.context = document["context"]

    def entries(self, run):
        return self.runs.get(run, {}).get("benchmarks", [])

    def rate(self, run, case, size=None):
        """Bytes a second of a case, of the size that was measured or that is asked for; or None."""
        for entry in self.entries(run):
            of = entry.get("rocbench", {})
            if of.get("case") == case and of.get("outcome") == "measured":
                if size is None or of.get("bytes") == size:
                    if of.get("verified") is not True:
                        raise SystemExit(f"{run}: {case} was not verified")
                    return entry["bytes_per_second"]
        return None

    def sizes(self, run, case):
        return sorted({e["rocbench"]["bytes"] for e in self.entries(run)
                       if e.get("rocbench", {}).get("case") == case})

    def time(self, run, name):
        """Nanoseconds of a Google Benchmark, the median of its repetitions."""
        for entry in self.entries(run):
            if entry.get("run_name") == name and entry.get("aggregate_name") == "median":
                return entry["real_time"]
        return None

    def peer(self, work, name):
        return self.runs.get("peers", {}).get("rates", {}).get(work, {}).get(name)


def figure(rate):
    return "–" if rate is None else f"{rate / 1e9:.1f}"


def ratio_text(ours, base):
    return "–" if ours is None or not base else f"{ours / base:.2f}"


def table(title, head, rows):
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
    for way, title in (("h2d", "to the device"), ("d2h", "back")):
        for kind in ("pinned", "registered", "pageable"):
            case = f"{way}/{kind}"
            for size in results.sizes("contiguous", case):
                ours = results.rate("contiguous", case, size)
                raw = results.rate("contiguous", "raw/" + case, size)
                pinned = results.rate("contiguous", f"{way}/pinned", size)
                peers = [figure(results.peer(f"{case}/{size}", name)) for name in PEERS]
                rows.append([f"{kind}, {title}, {words(size)}", figure(ours), figure(raw),
                             ratio_text(ours, raw), ratio_text(ours, pinned), *peers])
    table("Contiguous memory, GB/s",
          ["memory, way, size", "library", "HIP's call", "of HIP's", "of pinned", *PEERS], rows)


def strided(results):
    rows = []
    for row in (4, 16, 64, 4096):
        run = f"rows_{row}"
        for case, words_of, peer, pinned in (
                ("strided/2d/h2d", "pinned to the device", f"strided/pinned/h2d/{row}", "h2d"),
                ("strided/2d/d2h", "pinned, back", f"strided/pinned/d2h/{row}", "d2h"),
                ("strided/2d/h2d/pageable", "pageable to the device",
                 f"strided/pageable/h2d/{row}", "h2d"),
                ("strided/2d/d2h/pageable", "pageable, back", f"strided/pageable/d2h/{row}", "d2h"),
                ("strided/2d/d2d", "within the device", "", "")):
            ours = results.rate(run, case)
            raw = results.rate(run, "raw/" + case)
            whole = results.rate("contiguous", f"{pinned}/pinned", 64 << 20) if pinned else None
            rows.append([f"{row} B, {words_of}", figure(ours), figure(raw), ratio_text(ours, raw),
                         ratio_text(ours, whole), figure(results.peer(peer, "torch"))])
    table("Rows at twice the pitch, GB/s (within the device read and written)",
          ["row", "library", "HIP's call", "of HIP's", "of pinned, contiguous", "torch"], rows)


def on_device(results):
    rows = []
    for element in (1, 2, 4, 8, 16):
        run = f"elements_{element}"
        copy = results.rate(run, "d2d/copy")
        for case, title in (("permute/2d", "transposition"), ("permute/3d", "(2, 1, 0) of a cube")):
            ours = results.rate(run, case + "/d2d")
            peers = [figure(results.peer(f"{case}/{element}", name)) for name in PEERS[:2]]
            rows.append([f"{title}, {element} B", figure(ours), ratio_text(ours, copy), *peers])
    table("Permutations on the device, read and written, GB/s",
          ["work", "library", "of a plain copy", *PEERS[:2]], rows)
    rows = []
    raw = results.rate("fill", "raw/fill/byte")
    for case, work in (("fill/byte", ""), ("fill/float", "fill/4")):
        ours = results.rate("fill", case)
        rows.append([case, figure(ours), figure(raw), ratio_text(ours, raw),
                     *[figure(results.peer(work, name)) for name in PEERS[:2]]])
    table("Fills, written, GB/s", ["work", "library", "hipMemset", "of it", *PEERS[:2]], rows)
    rows = []
    for kernel in ("copy", "mul", "add", "triad", "dot"):
        ours = results.rate("kernels", f"stream/{kernel}")
        raw = results.rate("kernels", f"raw/stream/{kernel}")
        rows.append([kernel, figure(ours), figure(raw), f"{ours / raw:.4f}" if ours and raw else "–"])
    table("Views in kernels, GB/s", ["kernel", "views", "pointers", "of it"], rows)


def batches(results):
    rows = []
    for way, title in (("h2d", "to the device"), ("d2h", "back"), ("d2d", "within the device")):
        ours = results.rate("batch", f"batch/{way}")
        loop = results.rate("batch", f"raw/batch/{way}")
        call = results.rate("batch", f"raw/batch_call/{way}")
        rows.append([title, figure(ours), figure(loop), ratio_text(ours, loop), figure(call),
                     ratio_text(ours, call)])
    table("Batches of copies of 4 KiB, pageable, GB/s",
          ["way", "copy_batch", "a call each", "times", "the call for many", "times"], rows)


def scaling(results):
    rows = []
    for workers in (1, 2, 4, 8, 16):
        run = f"workers_{workers}"
        rows.append([str(workers), figure(results.rate(run, "h2d/pageable")),
                     figure(results.rate(run, "d2h/pageable"))])
    table("Pageable memory by ROCARRAY_COPY_THREADS, GB/s", ["workers", "to the device", "back"], rows)

    rows = []
    held = re.compile(r"(\d+) bytes of pinned memory for copies: block (\d+) of")
    for log in results.folder.glob("held_*.log"):
        found = [(int(b), int(n)) for b, n in held.findall(log.read_text())]
        size = results.sizes(log.stem, "h2d/pageable")
        if size:
            rows.append((size[0], [words(size[0]), words(sum(b for b, _ in found)) if found else "0 B"]))
    table("Staging memory held after copies both ways", ["size of the copies", "pinned memory"],
          [row for _, row in sorted(rows)])

    rows = []
    for rank in (1, 2, 4, 8):
        times = [results.time("planning", f"{kind}<{rank}>")
                 for kind in ("contiguous", "padded", "transposed")]
        rows.append([str(rank), *["–" if t is None else f"{t:.0f}" for t in times]])
    table("Planning a copy, ns", ["rank", "contiguous", "no axes merge", "transposed"], rows)

    rows = []
    for name in ("copy_4_bytes", "event_record", "stream_synchronize", "stream_query"):
        ours, raw = results.time("call_overhead", name), results.time("call_overhead", "raw_" + name)
        if ours and raw:
            rows.append([name, f"{ours:.0f}", f"{raw:.0f}", f"{ours - raw:+.0f} ns, {ours / raw:.2f}"])
    table("Calls, ns", ["call", "library", "HIP", "more"], rows)


def targets(results):
    """What is to be reached, from the same figures: the least ratio of each line."""
    largest = {way: max(results.sizes("contiguous", f"{way}/pinned"), default=0)
               for way in ("h2d", "d2h")}

    def least(pairs):
        ratios = [ours / base for ours, base in pairs if ours and base]
        return min(ratios) if ratios else None

    def of_contiguous(kinds, at_least, base):
        return least((results.rate("contiguous", f"{way}/{kind}", size), base(way, kind, size))
                     for way in largest for kind in kinds
                     for size in results.sizes("contiguous", f"{way}/{kind}") if size >= at_least)

    def raw_call(way, kind, size):
        return results.rate("contiguous", f"raw/{way}/{kind}", size)

    def ours_pinned(way, kind, size):
        return results.rate("contiguous", f"{way}/pinned", size)

    def of_pinned_at(size, kind="pageable"):
        return least((results.rate("contiguous", f"{way}/{kind}", size),
                      ours_pinned(way, kind, size)) for way in largest)

    def of_rows(rows):
        return least((results.rate(f"rows_{row}", case),
                      results.rate("contiguous", f"{way}/pinned", 64 << 20))
                     for row in rows for way in ("h2d", "d2h")
                     for case in (f"strided/2d/{way}", f"strided/2d/{way}/pageable"))

    def of_elements(elements):
        return least((results.rate(f"elements_{e}", f"permute/{rank}/d2d"),
                      results.rate(f"elements_{e}", "d2d/copy"))
                     for e in elements for rank in ("2d", "3d"))

    def of_batches(base):
        return least((results.rate("batch", f"batch/{way}"), results.rate("batch", f"{base}/{way}"))
                     for way in ("h2d", "d2h"))

    mebi = 1 << 20
    lines = [
        ("pinned and registered, 64 MiB and more, of HIP's call", 0.99,
         of_contiguous(("pinned", "registered"), 64 * mebi, raw_call)),
        ("pageable, 256 MiB and more, of pinned", 0.90,
         of_contiguous(("pageable",), 256 * mebi, ours_pinned)),
        ("pageable, 64 MiB, of pinned", 0.75, of_pinned_at(64 * mebi)),
        ("pageable, 8 MiB, of pinned", 0.5, of_pinned_at(8 * mebi)),
        ("pageable, 64 MiB and more, of HIP's call", 5.0,
         of_contiguous(("pageable",), 64 * mebi, raw_call)),
        ("any host memory, any size, of HIP's call", 0.97,
         of_contiguous(("pinned", "registered", "pageable"), 0, raw_call)),
        ("rows of 16 B and more, of pinned contiguous", 0.8, of_rows((16, 64, 4096))),
        ("rows of 4 B, of pinned contiguous", 0.7, of_rows((4,))),
        ("permutations, 4 B and more, of a device copy", 0.95, of_elements((4, 8, 16))),
        ("permutations, 1 and 2 B, of a device copy", 0.85, of_elements((1, 2))),
        ("fills, of hipMemset", 0.98,
         least((results.rate("fill", case), results.rate("fill", "raw/fill/byte"))
               for case in ("fill/byte", "fill/float"))),
        ("batches, of a call each", 30.0, of_batches("raw/batch")),
        ("batches, of the platform's call for many", 8.0, of_batches("raw/batch_call")),
        ("triad with views, of pointers", 0.995,
         least([(results.rate("kernels", "stream/triad"),
                 results.rate("kernels", "raw/stream/triad"))])),
        ("both ways, pinned, of HIP's calls", 0.98,
         least([(results.rate("both_ways", "bidir/pinned"),
                 results.rate("both_ways", "raw/bidir/pinned"))])),
        ("both ways, pageable, of both ways pinned by HIP's calls", 0.8,
         least([(results.rate("both_ways", "bidir/pageable"),
                 results.rate("both_ways", "raw/bidir/pinned"))])),
    ]
    table("What is to be reached: the least ratio of each line", ["work", "at least", "measured", ""],
          [[work, f"{wanted:g}", "–" if got is None else f"{got:.3f}",
            "–" if got is None else "reached" if got >= wanted else "missed"]
           for work, wanted, got in lines])


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    results = Results(sys.argv[1])
    if not results.runs:
        raise SystemExit(f"transfers_table.py: no results in {sys.argv[1]}")
    about = results.context.get("rocbench", {})
    print(f"{about.get('device_name', 'unknown device')}, platform {about.get('platform', '?')}, "
          f"{results.context.get('num_cpus', '?')} processors, {results.context.get('date', '')[:10]}; "
          "medians of one run, every sample verified; GB = 1e9 bytes.")
    versions = results.runs.get("peers", {}).get("peers", {})
    if versions:
        print("Peers: " + ", ".join(f"{name} {version}" for name, version in versions.items()) + ".")
    if about.get("on_gpu") is False:
        print("The CPU plays the device: these figures say nothing about a GPU.")
    for part in (targets, contiguous, strided, on_device, batches, scaling):
        part(results)


if __name__ == "__main__":
    main()
