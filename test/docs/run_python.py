# SPDX-License-Identifier: MIT
"""Runs the Python code of pages.

run_python.py PAGE...: the blocks that begin with ```python run in the order of the page and share their
variables. In tables whose last column is named "rocarray in Python" each row runs on its own, with the
variables of the blocks above it: the code in the last column, or that in the first one if the last one says
"unchanged". A line that begins a block, such as `with s.auto_synchronize():`, gets a body. A table without
code, and a page without code, are errors. Tracebacks name the page and its line.
"""

import re
import sys

COLUMN = "rocarray in Python"


class PageError(Exception):
    pass


def run(code, page, line, variables):
    # Empty lines before the code, so that errors have the line of the page.
    exec(compile("\n" * (line - 1) + code, page, "exec"), variables)


def cells_of(line):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def code_of(cell, place):
    """Returns the code of a cell: spans of code, separated by <br>."""
    lines = []
    for span in cell.split("<br>"):
        match = re.fullmatch(r"`([^`]+)`", span.strip())
        if match is None:
            raise PageError(f'{place}: a cell mixes code and words: "{span}"')
        lines.append(match.group(1) + (" pass" if match.group(1).endswith(":") else ""))
    return "; ".join(lines)  # on one line, so that errors have the line of the page


def run_page(page):
    variables = {"__name__": "page"}
    block, begun, column, executed, rows = None, 0, None, 0, None
    with open(page) as text:
        lines = text.read().splitlines()
    for number, line in enumerate(lines + [""], 1):
        place = f"{page}:{number}"
        if block is not None:
            if line.startswith("```"):
                run("\n".join(block), page, begun, variables)
                executed, block = executed + 1, None
            else:
                block.append(line)
        elif line == "```python":
            block, begun = [], number + 1
        elif line.startswith("|"):
            cells = cells_of(line)
            if column is None:
                column = cells[-1]
                rows = 0
            elif column == COLUMN and not re.fullmatch(r"[-|: ]+", line):
                if len(cells) != 2:
                    raise PageError(f"{place}: a row must have two columns; write \\| for a bar in code")
                cell = cells[0] if cells[1] == "unchanged" else cells[1]
                if cell != "–":
                    run(code_of(cell, place), page, number, dict(variables))
                    rows += 1
        else:
            if column == COLUMN and rows == 0:
                raise PageError(f"{place}: the table above has no code")
            executed += rows if column == COLUMN else 0
            column = None
    if block is not None:
        raise PageError(f"{page}:{begun}: the block is not closed")
    if executed == 0:
        raise PageError(f"{page} has no Python code")
    print(f"{page}: {executed} blocks and rows")


def check_rejections(directory):
    """Checks that invalid pages are errors, with the line in the message."""
    head = ["```python", "x = 1", "```", "", f"| theirs | {COLUMN} |", "|---|---|"]
    invalid = {
        "no Python code": ["Text."],
        "page.md:2": ["```python", "undefined_name", "```"],
        "page.md:7": [*head, "| `a` | `undefined_name` |", ""],
        "page.md:7 ": [*head, "| `undefined_name` | unchanged |", ""],
        "mixes code and words": [*head, "| `a` | `x` and words |", ""],
        "must have two columns": [*head, "| `a` | `x | x` |", ""],
        "has no code": [*head, "| `a` | – |", ""],
        "is not closed": ["```python", "x = 1"],
    }
    import traceback

    for message, lines in invalid.items():
        with open(f"{directory}/page.md", "w") as page:
            page.write("\n".join(lines))
        try:
            run_page(f"{directory}/page.md")
        except Exception:
            text = traceback.format_exc().replace('page.md", line ', "page.md:") + " "
            if message not in text.replace("\n", " ").replace(",", " "):
                sys.exit(f'expected "{message}", got: {text}')
        else:
            sys.exit(f'a page was accepted that must fail with "{message}"')


if __name__ == "__main__":
    import tempfile

    import rocarray

    if rocarray.device_count() == 0:
        print("no device")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        check_rejections(scratch)
    for name in sys.argv[1:]:
        run_page(name)
