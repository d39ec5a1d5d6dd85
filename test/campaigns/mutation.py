#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes one operator, constant, condition or call of the library at a time and reports which of
these mutants the tests notice.

A mutant is drawn at random from all changes of the sources in src/layout, src/memory and src/copy:
  relation   < becomes <= or >=, == becomes !=, and so on
  arithmetic + becomes -, * becomes /, << becomes >>, ++ becomes --, += becomes -=, and so on
  logic      && becomes ||, & becomes |, and so on
  constant   an integer becomes one more or one less; true becomes false
  condition  the condition of an if or while is negated
  call       a statement that is only a call is removed

A mutant that does not compile does not count, nor does an equivalent one: the compiler makes the same
library of it, byte by byte. Another is drawn for each. A mutant is noticed if a test fails, crashes or
takes longer than 20 s and ten times its usual time. A test that fails is repeated, and must fail again.
The tests run in the modes deferred and threaded, those of the mutated source first, up to the first that
fails.

The mutants are made in a copy of the source tree that is built once, so that each costs the compilation
of one source and the links of the tests that run. With --jobs above 1 each job has an overlay mount of
that copy in a mount namespace of its own, which needs root on Linux.

A file of explained mutants has one mutant a line, as this program prints it without its number and
verdict, then " # " and the reason why no test can notice it. The line number is ignored and may be left
out:
  src/copy/plan.cpp:12: relation: < -> <= in "if (a < b) swap(a, b);" # equal values may be swapped

SIGINT and SIGTERM end a run; it prints the summary of the mutants that it has judged.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIRECTORIES = ["src/layout", "src/memory", "src/copy"]
# The modules whose tests use the mutated sources.
TEST_MODULES = "layout;platform;runtime;memory;copy;arrays;kernels;interop;campaigns"
MODES = ["deferred", "threaded"]
CONFIGURATION = ["-DROCARRAY_PLATFORM=host", "-DCMAKE_BUILD_TYPE=Release",
                 # With assertions, so that an access beyond the end of a vector is noticed.
                 "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -D_GLIBCXX_ASSERTIONS",
                 "-DROCARRAY_TEST_COMPILE_OPTIONS=-O0",
                 "-DROCARRAY_BUILD_EXAMPLES=OFF", "-DROCARRAY_BUILD_BENCHMARKS=OFF",
                 "-DROCARRAY_BUILD_PYTHON=OFF",
                 "-DROCARRAY_TEST_BY_PROGRAM=ON", f"-DROCARRAY_TEST_MODULES={TEST_MODULES}"]
MEMORY_LIMIT = 12 << 30  # of a test, in bytes: a mutant may allocate without end
THREAD_SANITIZER = b"__tsan_init"  # in programs, which reserve more address space than MEMORY_LIMIT
PROCESSORS = os.cpu_count() or 1

# The changes

TOKEN = re.compile(r"""
    (?P<skipped>//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
  | (?P<string>(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
  | (?P<number>(?:0[xX][0-9a-fA-F']+|[0-9](?:'?[0-9])*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?[uUlLzZfF]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<operator><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

# What a binary operator becomes. The project's format has blanks around them, and none around the
# brackets of templates and the declarators & and *.
BINARY = {
    "<": ("relation", ["<=", ">="]), "<=": ("relation", ["<", ">"]),
    ">": ("relation", [">=", "<="]), ">=": ("relation", [">", "<"]),
    "==": ("relation", ["!="]), "!=": ("relation", ["=="]),
    "+": ("arithmetic", ["-"]), "-": ("arithmetic", ["+"]), "*": ("arithmetic", ["/"]),
    "/": ("arithmetic", ["*"]), "%": ("arithmetic", ["*"]), "<<": ("arithmetic", [">>"]),
    ">>": ("arithmetic", ["<<"]), "+=": ("arithmetic", ["-="]), "-=": ("arithmetic", ["+="]),
    "*=": ("arithmetic", ["/="]), "/=": ("arithmetic", ["*="]),
    "&&": ("logic", ["||"]), "||": ("logic", ["&&"]), "&": ("logic", ["|"]), "|": ("logic", ["&"]),
    "|=": ("logic", ["&="]), "&=": ("logic", ["|="]),
}
STEPS = {"++": "--", "--": "++"}
NOT_CALLS = {"static_assert", "return", "throw", "delete", "new", "if", "for", "while", "switch",
             "sizeof", "alignas", "decltype", "requires", "catch", "noexcept", "operator"}

Token = collections.namedtuple("Token", "kind text begin end")
Change = collections.namedtuple("Change", "path line kind begin end text before code occurrence")


def tokens_of(text):
    result = []
    for match in TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "mark" else "string"
        if match.group("string"):
            kind = "string"
        if kind != "skipped":
            result.append(Token(kind, match.group(), match.start(), match.end()))
    return result


def closing(tokens, opening):
    """The index of the bracket that closes the one at the index `opening`; None if there is none."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    stack = []
    for i in range(opening, len(tokens)):
        text = tokens[i].text if tokens[i].kind == "operator" else ""
        if text in pairs:
            stack.append(pairs[text])
        elif stack and text == stack[-1]:
            stack.pop()
            if not stack:
                return i
    return None


def condition_of(tokens, i):
    """The first and the last token of the condition of the if or while at index i, or None."""
    if i + 1 >= len(tokens) or tokens[i + 1].text != "(":
        return None  # if constexpr
    end = closing(tokens, i + 1)
    if end is None:
        return None
    first, depth = i + 2, 0
    for k in range(i + 2, end):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(tokens[k].text, 0)
        if depth == 0 and tokens[k].text == ";":
            first = k + 1
    if any(token.text == "=" for token in tokens[first:end]):
        return None  # a declaration
    return first, end - 1


def call_at(tokens, i):
    """The index of the semicolon of the statement at index i if it is only a call, or None."""
    k = i
    while k < len(tokens) and (tokens[k].kind == "name" or tokens[k].text in {"::", ".", "->", "*"}):
        if tokens[k].text in NOT_CALLS:
            return None
        if tokens[k].kind == "name" and k + 1 < len(tokens) and tokens[k + 1].kind == "name":
            return None  # a declaration
        if tokens[k].text == "*" and k != i:
            return None
        k += 1
        while k < len(tokens) and tokens[k].text in {"(", "["}:
            end = closing(tokens, k)
            if end is None:
                return None
            is_call = tokens[k].text == "("
            k = end + 1
            if is_call and k < len(tokens) and tokens[k].text == ";":
                return k
    return None


def changes_of(path, text):
    """All changes of a source, in the order of their places."""
    tokens = tokens_of(text)
    lines = text.splitlines()
    occurrences = collections.Counter()
    result = []

    def add(kind, first, last, replacement):
        begin, end = tokens[first].begin, tokens[last].end
        line = text.count("\n", 0, begin) + 1
        change = Change(path, line, kind, begin, end, replacement, text[begin:end],
                        lines[line - 1].strip(), 1)
        same = without_line(describe(change))
        occurrences[same] += 1
        result.append(change._replace(occurrence=occurrences[same]))

    assertion_end = -1
    for i, token in enumerate(tokens):
        if token.text == "static_assert":
            assertion_end = closing(tokens, i + 1) or -1
        if i <= assertion_end:
            continue
        if token.kind == "operator":
            spaced = token.begin > 0 and text[token.begin - 1].isspace() and \
                text[token.end:token.end + 1].isspace()
            if spaced and token.text in BINARY:
                kind, replacements = BINARY[token.text]
                for replacement in replacements:
                    add(kind, i, i, replacement)
            elif token.text in STEPS:
                add("arithmetic", i, i, STEPS[token.text])
        elif token.kind == "number":
            parts = re.fullmatch(r"([0-9][0-9']*)([uUlLzZ]*)", token.text)
            if parts and not re.fullmatch(r"0[0-7]+", parts[1]):
                value = int(parts[1].replace("'", ""))
                for changed in [value + 1, value - 1]:
                    if changed >= 0:
                        add("constant", i, i, f"{changed}{parts[2]}")
        elif token.text in {"true", "false"}:
            add("constant", i, i, "false" if token.text == "true" else "true")
        elif token.text in {"if", "while"}:
            condition = condition_of(tokens, i)
            if condition:
                first, last = condition
                whole = text[tokens[first].begin:tokens[last].end]
                add("condition", first, last, f"!({whole})")
        if token.kind == "name" or token.text in {"::", "*"}:
            before = tokens[i - 1].text if i else ";"
            if before in {";", "{", "}", ")", "else", ":"}:
                end = call_at(tokens, i)
                if end is not None:
                    add("call", i, end, ";")
    return result


def all_changes(root):
    result = []
    for directory in DIRECTORIES:
        for file in sorted((root / directory).rglob("*")):
            if file.suffix in {".cpp", ".hpp"}:
                result += changes_of(str(file.relative_to(root)), file.read_text())
    return result


def mutated(text, change):
    return text[:change.begin] + change.text + text[change.end:]


def describe(change):
    shorten = lambda words: textwrap.shorten(words, 60, placeholder=" ...")
    what = "removed" if change.kind == "call" else f"-> {shorten(change.text)}"
    which = f", occurrence {change.occurrence}" if change.occurrence > 1 else ""
    return (f"{change.path}:{change.line}: {change.kind}: {shorten(change.before)} {what} "
            f"in \"{change.code}\"{which}")


def without_line(description):
    return re.sub(r":\d+:", ":", description, count=1)


# Building and testing

running = set()  # builds and tests, each of which is a process group


def start(command, **options):
    process = subprocess.Popen(command, start_new_session=True, **options)
    running.add(process)
    return process


def kill(process):
    running.discard(process)
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has just ended


Test = collections.namedtuple("Test", "name program module mode command environment directory is_limited")
Result = collections.namedtuple("Result", "verdict change detail seconds")


class Workspace:
    """A copy of the source tree that is built once."""

    def __init__(self, source, directory, configuration):
        self.directory = directory
        self.build_directory = directory / "build" / "h"
        self.configuration = configuration
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(directory), CCACHE_NOHASHDIR="1")
        self.copy(source)

    def copy(self, source):
        listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"],
                                capture_output=True, text=True, check=False)
        if listed.returncode == 0 and listed.stdout:
            names = listed.stdout.splitlines()
        else:
            names = [str(file.relative_to(source)) for entry in pathlib.Path(source).iterdir()
                     if entry.name != "build" for file in [entry, *entry.rglob("*")] if file.is_file()]
        for name in names:
            origin, copy = pathlib.Path(source) / name, self.directory / name
            if not origin.is_file() or (copy.is_file() and copy.read_bytes() == origin.read_bytes()):
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(origin, copy)
        known = set(names)
        for directory in DIRECTORIES:
            for file in (self.directory / directory).rglob("*"):
                if file.is_file() and str(file.relative_to(self.directory)) not in known:
                    file.unlink()

    def run(self, command):
        process = start(command, cwd=self.directory, env=self.environment, text=True,
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output, _ = process.communicate()
        running.discard(process)
        return subprocess.CompletedProcess(command, process.returncode, output)

    def configure(self):
        command = ["cmake", "-S", ".", "-B", self.build_directory, "-G", "Ninja", *self.configuration]
        if shutil.which("ccache"):
            command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        configured = self.run(command)
        if configured.returncode != 0:
            sys.exit(f"mutation: the configuration failed:\n{configured.stdout}")

    def build(self, targets, jobs):
        """Returns the output of a failed build, or None."""
        built = self.run(["ninja", "-C", self.build_directory, f"-j{jobs}", *targets])
        return None if built.returncode == 0 else built.stdout

    def prepare(self):
        """Builds everything without a mutant."""
        self.configure()
        problem = self.build([], PROCESSORS)
        if problem:
            sys.exit(f"mutation: the build failed without a mutant:\n{problem[-3000:]}")
        self.archive = next(self.build_directory.rglob("librocarray.a"))
        self.original = self.library()

    def library(self):
        return hashlib.sha256(self.archive.read_bytes()).hexdigest()

    def tests(self):
        """The tests that CTest would run in MODES, and those of programs that run in none of these."""
        listed = self.run(["ctest", "--test-dir", self.build_directory, "--show-only=json-v1"])
        result = []
        for test in json.loads(listed.stdout[listed.stdout.index("{"):])["tests"]:
            command = test.get("command", [])
            properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
            environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
            mode = environment.get("ROCARRAY_HOST_MODE", "")
            if not command or not command[0].startswith(str(self.build_directory)):
                continue  # a script
            if "PASS_REGULAR_EXPRESSION" in properties:
                continue  # CTest judges it by its output
            program = pathlib.Path(command[0])
            place = program.relative_to(self.build_directory).parts
            result.append(Test(test["name"], program.name, place[1] if len(place) > 2 else "", mode,
                               command, environment, properties["WORKING_DIRECTORY"],
                               THREAD_SANITIZER not in program.read_bytes()))
        in_modes = {test.program for test in result if test.mode in MODES}
        return [test for test in result if test.mode in MODES or test.program not in in_modes]


class OverlayError(Exception):
    """A thread cannot get an overlay."""


class Overlay:
    """Lets the calling thread, and the threads and processes that it starts, change a directory without
    changing it for others: the changes are stored in another directory. Needs root on Linux."""

    CLONE_NEWNS = 0x00020000  # of <sched.h>

    def __init__(self, directory, changes):
        self.directory = directory
        self.changes = changes
        self.mounts = 0
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(self.CLONE_NEWNS) != 0:
            raise OverlayError(f"no mount namespace: {os.strerror(ctypes.get_errno())}; use --jobs 1")
        try:
            subprocess.run(["mount", "--make-rprivate", "/"], check=True)
            self.mount()
        except subprocess.CalledProcessError as problem:
            raise OverlayError(f"no overlay of {directory} in {changes}: {problem}; use --jobs 1, or a "
                               "--build-dir in another file system") from problem

    def mount(self):
        # A process that outlives its test may still write to the directories of the mount before.
        shutil.rmtree(self.changes, ignore_errors=True)
        self.mounts += 1
        place = self.changes / str(self.mounts)
        (place / "upper").mkdir(parents=True)
        (place / "work").mkdir()
        options = f"lowerdir={self.directory},upperdir={place}/upper,workdir={place}/work"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, self.directory], check=True)

    def discard(self):
        """Removes the changes."""
        subprocess.run(["umount", "--lazy", self.directory], check=True)
        self.mount()


def run_test(test, seed, timeout):
    """Runs a test. Returns (why it failed or None, seconds)."""
    def limit():
        if test.is_limited:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    begin = time.monotonic()
    environment = dict(os.environ, **test.environment, ROCARRAY_TEST_SEED=str(seed),
                       GTEST_FAIL_FAST="1")
    with tempfile.TemporaryFile() as output:
        process = start(test.command, cwd=test.directory, env=environment, stdout=output,
                        stderr=output, preexec_fn=limit)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            kill(process)
            process.wait()
            return "ran too long", time.monotonic() - begin
        running.discard(process)
        output.seek(0)
        text = output.read().decode(errors="replace")
    seconds = time.monotonic() - begin
    if status in {0, 77}:
        return None, seconds
    failed = re.findall(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)|^\[ RUN +\] (\S+)", text, re.MULTILINE)
    where = next((name for name, _ in failed if name), failed[-1][1] if failed else "")
    how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
    return f"{how}{' in ' + where if where else ''}", seconds


class Campaign:
    """The tests, how long each takes without a mutant, and what has noticed mutants so far."""

    def __init__(self, workspace, seed, minimum_timeout=20.0):
        self.seed = seed
        self.minimum_timeout = minimum_timeout
        self.workspace = workspace
        self.tests = workspace.tests()
        self.seconds = {}
        self.noticed_in = collections.Counter()
        self.lock = threading.Lock()
        self.slots = threading.Semaphore(PROCESSORS)  # of tests that run

    def run_test(self, test, timeout):
        with self.slots:
            return run_test(test, self.seed, timeout)

    def measure(self, leave_out_failing=False):
        """Runs all tests without a mutant. Those that fail are left out if this is asked for, or end
        the program."""
        failed = {}

        def run_unchanged(test):
            problem, self.seconds[test.name] = self.run_test(test, 600)
            if problem and self.run_test(test, 600)[0]:
                failed[test.name] = problem

        with concurrent.futures.ThreadPoolExecutor(PROCESSORS) as pool:
            list(pool.map(run_unchanged, self.tests))
        text = "".join(f"\n  {name}: {problem}" for name, problem in failed.items())
        if failed and not leave_out_failing:
            sys.exit(f"mutation: tests fail without a mutant:{text}")
        if failed:
            print(f"mutation: left out, because they fail without a mutant:{text}", flush=True)
            self.tests = [test for test in self.tests if test.name not in failed]

    def order(self, path):
        """The tests, the likeliest to notice a change of the source first."""
        parts = pathlib.PurePath(path).parts
        module, stem = parts[1], pathlib.PurePath(path).stem

        def rank(test):
            with self.lock:
                noticed = 4 * self.noticed_in[path, test.program] + \
                    self.noticed_in[parts[:3], test.program]
            own = 1000 if test.program.startswith(stem) else 0
            near = 3 if test.module == module else 0
            cost = self.seconds[test.name]
            return -(own + noticed + near) / (0.3 + cost), test.mode, test.name

        return sorted(self.tests, key=rank)

    def first_failure(self, tests, at_once):
        """Runs tests up to the first that fails. Returns ((test, problem) or None, what failed and
        passed when repeated)."""
        failures, unstable = [], []

        def judge(test):
            timeout = self.minimum_timeout + 10 * self.seconds[test.name]
            problem, _ = (None, 0) if failures else self.run_test(test, timeout)
            if not problem:
                return
            if not self.run_test(test, timeout)[0]:
                unstable.append(f"{test.name}: {problem}")
            else:
                failures.append((test, problem))

        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            list(pool.map(judge, tests))
        return failures[0] if failures else None, unstable

    def notice(self, change):
        """Returns (what noticed the mutant or None, what failed only once)."""
        order = self.order(change.path)
        # The likeliest programs one at a time; then all others at once, because few mutants get there.
        programs = list(dict.fromkeys(test.program for test in order))
        groups = [{program} for program in programs[:8]]
        if programs[8:]:
            groups.append(set(programs[8:]))
        unstable = []
        for group in groups:
            at_once = 1 if len(group) == 1 else PROCESSORS
            # Linking takes memory, and other jobs run tests.
            if self.workspace.build(sorted(group), max(1, at_once // 4)) is not None:
                return "does not compile", unstable
            tests = [test for test in order if test.program in group]
            failure, failed_once = self.first_failure(tests, at_once)
            unstable += failed_once
            if failure:
                test, problem = failure
                with self.lock:
                    self.noticed_in[change.path, test.program] += 1
                    self.noticed_in[pathlib.PurePath(change.path).parts[:3], test.program] += 1
                return f"{test.name}: {problem}", unstable
        return None, unstable

    def judge(self, change):
        start = time.monotonic()
        file = self.workspace.directory / change.path
        original = file.read_text()
        file.write_text(mutated(original, change))
        try:
            detail, unstable = "", []
            if self.workspace.build(["rocarray_static"], 1) is not None:
                verdict = "does not compile"
            elif self.workspace.library() == self.workspace.original:
                verdict = "equivalent"
            else:
                detail, unstable = self.notice(change)
                verdict = "noticed" if detail else "SURVIVED"
                if detail == "does not compile":
                    verdict = detail
        finally:
            file.write_text(original)
        if unstable and not detail:
            detail = "failed once: " + "; ".join(unstable)
        return Result(verdict, change, detail, time.monotonic() - start)


def draw(changes, seed):
    """The changes in the order in which they are drawn."""
    drawn = list(changes)
    random.Random(seed).shuffle(drawn)
    return drawn


def show(number, result, output=sys.stdout):
    print(f"{number}: {result.verdict}: {describe(result.change)}"
          f"{': ' + result.detail if result.detail else ''} ({result.seconds:.0f} s)", file=output,
          flush=True)


def read_explained(path, drawn):
    """The reasons of a file of explained mutants, by the text of the mutant."""
    result = {}
    known = {without_line(describe(change)) for change in drawn}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        mutant, _, reason = (part.strip() for part in line.partition(" # "))
        if not reason:
            sys.exit(f"mutation: {path}:{number}: no reason; write the mutant, then \" # \" and the reason")
        if without_line(mutant) not in known:
            print(f"mutation: {path}:{number}: there is no such mutant: {mutant}", flush=True)
        result[without_line(mutant)] = reason
    return result


def run(campaign, drawn, count, candidates, explained, results, overlays, output=sys.stdout):
    """Judges the candidates until `count` of them were noticed or survived. Adds to the results. Returns
    the exception that ended it before, or None.

    overlays  a directory for each job, which stores its changes of the workspace; [None] if the one job
              may change the workspace itself
    """
    numbers = collections.deque(candidates)
    changed = threading.Condition()
    judging = set()
    problems = []

    def counted():
        return sum(result.verdict in {"noticed", "SURVIVED"} for result in results.values())

    def take():
        """Returns the number of a mutant, or None if no other is to be judged."""
        with changed:
            # A mutant that is judged now may not count, so that another is needed.
            changed.wait_for(lambda: problems or not judging or counted() + len(judging) < count)
            if problems or counted() >= count or not numbers:
                return None
            judging.add(numbers[0])
            return numbers.popleft()

    def work(directory):
        overlay = Overlay(campaign.workspace.directory, directory) if directory else None
        while (number := take()) is not None:
            reason = explained.get(without_line(describe(drawn[number])))
            if reason:
                result = Result("explained", drawn[number], reason, 0)
            else:
                result = campaign.judge(drawn[number])
                if overlay:
                    overlay.discard()
            with changed:
                judging.discard(number)
                results[number] = result
                show(number, result, output)
                changed.notify_all()

    def guarded(directory):
        try:
            work(directory)
        except Exception as problem:  # the other jobs end too
            with changed:
                problems.append(problem)
                changed.notify_all()

    threads = [threading.Thread(target=guarded, args=[directory]) for directory in overlays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return problems[0] if problems else None


def summarize(results):
    verdicts = collections.Counter(result.verdict for result in results.values())
    counted = verdicts["noticed"] + verdicts["SURVIVED"]
    print(f"\n{verdicts['noticed']} of {counted} mutants noticed, {verdicts['SURVIVED']} survived; "
          f"not counted: {verdicts['equivalent']} equivalent, {verdicts['explained']} explained, "
          f"{verdicts['does not compile']} that do not compile")
    by_kind = collections.Counter((result.change.kind, result.verdict) for result in results.values())
    for kind in ["relation", "arithmetic", "logic", "constant", "condition", "call"]:
        noticed, survived = by_kind[kind, "noticed"], by_kind[kind, "SURVIVED"]
        print(f"  {kind:<10} {noticed:3} of {noticed + survived:3} noticed")
    for number, result in sorted(results.items()):
        if result.verdict in {"SURVIVED", "explained"}:
            show(number, result)


# The test of this program

PROJECT = {
    "CMakeLists.txt": """
        cmake_minimum_required(VERSION 3.25)
        project(mutated LANGUAGES CXX)
        enable_testing()
        add_library(rocarray_static STATIC src/layout/sum.cpp)
        set_target_properties(rocarray_static PROPERTIES OUTPUT_NAME rocarray)
        add_executable(sum_test test/layout/sum_test.cpp)
        set_target_properties(sum_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY test/layout)
        target_link_libraries(sum_test rocarray_static)
        add_test(NAME host.sum_test COMMAND sum_test WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
        """,
    "src/layout/sum.cpp": """
        int counter = 0;
        template <int N> struct positive { static_assert(N > 0); };
        int sum(int const* values, int count) {
          int result = 0;
          for (int i = 0; i < count; ++i) result += values[i];
          return result;
        }
        int untested(int a, int b) { return a - b; }
        int clamped(int a) {
          if (a >= 7 && a >= 7) return 7;  // both branches return 7 at 7
          return a;
        }
        using one = positive<1>;
        one const instance;
        void count() { ++counter; }
        void twice() {
          count();
          count();
        }
        """,
    "test/layout/sum_test.cpp": """
        int sum(int const* values, int count);
        int clamped(int);
        void twice();
        extern int counter;
        int main() {
          int const values[] = {1, 2, 4, 0, 0, 0};
          twice();
          return sum(values, 3) == 7 && clamped(6) == 6 && clamped(7) == 7 && clamped(9) == 7 &&
                         counter == 2 ? 0 : 1;
        }
        """,
}
# The verdicts on mutants of this project: line, kind, replacement.
EXPECTED = {
    (6, "relation", ">="): "noticed",
    (6, "arithmetic", "-="): "noticed",
    (6, "relation", "<="): "SURVIVED",  # it reads the zero after the values that the test passes
    (6, "arithmetic", "--"): "noticed",  # does not end, or crashes
    (9, "arithmetic", "+"): "SURVIVED",
    (11, "relation", ">"): "equivalent",  # at 7 both branches return 7
    (11, "condition", "!(a >= 7 && a >= 7)"): "noticed",
    (14, "constant", "0"): "does not compile",
    (18, "call", ";"): "noticed",
}


def test_overlay(campaign, changes, folder):
    """Judges six mutants by three jobs. Returns what is wrong."""
    results = {}
    before = {change: campaign.judge(change).verdict for change in changes[:6]}
    library = campaign.workspace.library()  # of the last mutant
    directories = [folder / str(job) for job in range(3)]
    problem = run(campaign, changes, len(changes), range(6), {}, results, directories)
    if isinstance(problem, OverlayError):
        print(f"mutation: --jobs is not tested here: {problem}")
        return []
    failures = [f"three jobs: {problem}"] if problem else []
    if {result.change: result.verdict for result in results.values()} != before:
        failures.append(f"three jobs judge other than one: {results}")
    if campaign.workspace.library() != library:
        failures.append("an overlay changed the workspace")
    results.clear()
    problem = run(campaign, changes, 2, range(len(changes)), {}, results, directories)
    if problem or sum(result.verdict in {"noticed", "SURVIVED"} for result in results.values()) != 2:
        failures.append(f"two mutants were to be counted: {results}")
    return failures


def test_interruption(source, changes):
    """Runs this program on the project, with the first mutant explained, and interrupts it after two
    others. Returns what is wrong."""
    program = source / "test" / "campaigns" / "mutation.py"
    program.parent.mkdir(parents=True)
    shutil.copy(__file__, program)
    (source / "build").mkdir()
    (source / "build" / "old_output").write_text("not to be copied")
    explained = describe(draw(changes, 3)[0])
    listed = source / "explained.txt"
    listed.write_text(f"# reasons\n\n{without_line(explained)} # not tested\n")
    process = start([sys.executable, "-u", program, "--seed", "3", "--explained", listed],
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines, judged = [], 0
    for line in process.stdout:
        lines.append(line)
        if re.match(r"\d+: (noticed|SURVIVED)", line):
            judged += 1
            if judged == 2:
                process.send_signal(signal.SIGTERM)
    running.discard(process)
    output = "".join(lines)
    failures = []
    if process.wait() != 128 + signal.SIGTERM:
        failures.append(f"an interrupted run ended with status {process.returncode}:\n{output}")
    if not re.search(r"^\d of [2-9] mutants noticed, ", output, re.MULTILINE):
        failures.append(f"an interrupted run printed no summary:\n{output}")
    of_explained = [line for line in lines if explained in line]
    if len(of_explained) != 2 or any(": explained: " not in line for line in of_explained):
        failures.append(f"an explained mutant was judged, or not listed:\n{output}")
    if (source / "build" / "mutation" / "copy" / "build" / "old_output").exists():
        failures.append("build/ was copied")
    return failures


def test_this_program():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "source"
        for name, text in PROJECT.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(textwrap.dedent(text))
        workspace = Workspace(source, pathlib.Path(folder) / "copy", ["-DCMAKE_BUILD_TYPE=Release"])
        workspace.prepare()
        campaign = Campaign(workspace, 1, minimum_timeout=2.0)
        campaign.measure()
        if not campaign.tests:
            sys.exit("mutation: the test of the project was not found")
        changes = all_changes(workspace.directory)
        failures = []
        for (line, kind, text), expected in EXPECTED.items():
            matching = [change for change in changes
                        if (change.line, change.kind, change.text) == (line, kind, text)]
            if not matching:
                failures.append(f"line {line}: no change of kind {kind} to {text}")
                continue
            # Of two places on one line the last: the relation that cannot matter.
            result = campaign.judge(matching[-1])
            show(line, result)
            if result.verdict != expected:
                failures.append(f"{describe(matching[-1])}: {result.verdict}, expected {expected}")
        if draw(changes, 7) != draw(changes, 7) or draw(changes, 7) == draw(changes, 8):
            failures.append("the seed does not decide the order of the mutants")
        failures += test_overlay(campaign, changes, pathlib.Path(folder) / "overlays")
        failures += test_interruption(source, changes)
        if failures:
            sys.exit("mutation: the test of this program failed:\n  " + "\n  ".join(failures))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="mutants to judge (default: 100)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32),
                        help="decides which mutants are drawn (default: at random)")
    parser.add_argument("--first", type=int, default=0,
                        help="number of the first mutant, to continue a run (default: 0)")
    parser.add_argument("--only", type=int, nargs="+", metavar="N",
                        help="only the mutants with these numbers, such as survivors of a run")
    parser.add_argument("--explained", type=pathlib.Path, metavar="FILE",
                        help="mutants that are listed instead of judged, with the reasons; others are "
                             "drawn for them")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at the same time (default: 1)")
    parser.add_argument("--leave-out-failing", action="store_true",
                        help="leave out tests that fail without a mutant (default: they end the run)")
    parser.add_argument("--build-dir", type=pathlib.Path, default=ROOT / "build" / "mutation",
                        help="where to copy and build (default: build/mutation)")
    parser.add_argument("--list", action="store_true", help="print the mutants without building them")
    parser.add_argument("--self-test", action="store_true", help="test this program")
    arguments = parser.parse_args()
    if arguments.self_test:
        return test_this_program()

    drawn = draw(all_changes(ROOT), arguments.seed)
    print(f"mutation: --seed {arguments.seed}, {len(drawn)} possible mutants", flush=True)
    explained = read_explained(arguments.explained, drawn) if arguments.explained else {}
    if arguments.list:
        for number, change in enumerate(drawn[arguments.first:][:arguments.count]):
            print(f"{arguments.first + number}: {describe(change)}")
        return None
    results = {}

    def interrupt(number, _):
        print("\nmutation: interrupted")
        summarize(dict(results))
        for process in list(running):
            kill(process)
        sys.stdout.flush()
        os._exit(128 + number)  # the threads still judge mutants

    for number in [signal.SIGINT, signal.SIGTERM]:
        signal.signal(number, interrupt)
    directory = arguments.build_dir.resolve()
    workspace = Workspace(ROOT, directory / "copy", CONFIGURATION)
    workspace.prepare()
    campaign = Campaign(workspace, arguments.seed)
    start = time.monotonic()
    campaign.measure(arguments.leave_out_failing)
    print(f"mutation: {len(campaign.tests)} tests pass without a mutant in "
          f"{time.monotonic() - start:.0f} s", flush=True)
    candidates = arguments.only or range(arguments.first, len(drawn))
    overlays = [directory / "overlays" / str(job) for job in range(arguments.jobs)]
    problem = run(campaign, drawn, arguments.count, candidates, explained, results,
                  overlays if arguments.jobs > 1 else [None])
    summarize(results)
    return f"mutation: {problem}" if problem else None


if __name__ == "__main__":
    sys.exit(main())
