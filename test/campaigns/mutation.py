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
objects of it, byte by byte. Another is drawn for each. A mutant is noticed if a test fails, crashes or
takes longer than 20 s and ten times its usual time. A test that fails is repeated, and must fail again.
The tests run in the modes deferred and threaded, those of the mutated source first, up to the first that
fails.

A copy of the source tree is built once, with tests that use the shared library. A mutant then costs the
compilation of one source, the link of the library, and the tests that run. Each of --jobs has a directory
with its own library, from which LD_LIBRARY_PATH lets the tests load it. A change of a header also
compiles all sources that include it, those of the tests too, and links their programs.

A file of explained mutants has one mutant a line, as this program prints it without its number and
verdict, then " # " and the reason why no test can notice it. The line number is ignored and may be left
out:
  src/copy/plan.cpp:12: relation: < -> <= in "if (a < b) swap(a, b);" # equal values may be swapped

--seconds ends a run when the mutants that are judged at that time are done; SIGINT and SIGTERM end it at
once. It prints the summary of the mutants that it has judged, and where --first continues it.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import resource
import shlex
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
                 "-DROCARRAY_BUILD_PYTHON=OFF", "-DROCARRAY_TEST_SHARED=ON",
                 # The path of the library in a program must not take precedence over LD_LIBRARY_PATH.
                 "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--enable-new-dtags",
                 "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,--enable-new-dtags",
                 "-DROCARRAY_TEST_BY_PROGRAM=ON", f"-DROCARRAY_TEST_MODULES={TEST_MODULES}"]
MEMORY_LIMIT = 12 << 30  # of a test, in bytes: a mutant may allocate without end
THREAD_SANITIZER = b"__tsan_init"  # in programs, which reserve more address space than MEMORY_LIMIT
PROCESSORS = len(os.sched_getaffinity(0))

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
    """A copy of the source tree that is built once, and the commands of this build."""

    def __init__(self, source, directory, configuration):
        self.directory = directory
        self.build_directory = directory / "build" / "h"
        self.configuration = configuration
        # ccache must not make paths relative: objects contain them, and those of mutants are compared.
        self.environment = dict(os.environ, CCACHE_BASEDIR="", CCACHE_DEPEND="1",
                                CCACHE_SLOPPINESS="pch_defines,time_macros,include_file_mtime,"
                                                  "include_file_ctime")
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

    def prepare(self):
        """Builds everything without a mutant."""
        self.configure()
        built = self.run(["ninja", "-C", self.build_directory, f"-j{PROCESSORS}"])
        if built.returncode != 0:
            sys.exit(f"mutation: the build failed without a mutant:\n{built.stdout[-3000:]}")
        self.read_commands()
        self.read_includes()

    def read_commands(self):
        """Reads the commands that compile and link, by their outputs."""
        self.compilations, self.links, self.archives = {}, {}, {}
        listed = self.run(["ninja", "-C", self.build_directory, "-t", "commands"])
        for line in listed.stdout.splitlines():
            for part in line.split(" && "):
                command = shlex.split(part)
                if command and pathlib.Path(command[0]).name == "ccache":
                    command = command[1:]  # no mutant is compiled twice
                if command[1:2] == ["qc"]:  # ar
                    self.archives[command[2]] = command[3:]
                elif "-o" in command:
                    kind = self.compilations if "-c" in command else self.links
                    kind[command[command.index("-o") + 1]] = command
        self.library = next(output for output in self.links
                            if re.fullmatch(r"librocarray\.so[.\d]*", pathlib.Path(output).name))
        self.library_name = next(argument[len("-Wl,-soname,"):] for argument in self.links[self.library]
                                 if argument.startswith("-Wl,-soname,"))

    def read_includes(self):
        """Reads which objects depend on a source or header of DIRECTORIES."""
        self.dependents = collections.defaultdict(list)
        listed = self.run(["ninja", "-C", self.build_directory, "-t", "deps"])
        output = None
        for line in listed.stdout.splitlines():
            if line.startswith("    "):
                file = os.path.relpath(self.build_directory / line.strip(), self.directory)
                if file.startswith(tuple(f"{directory}/" for directory in DIRECTORIES)):
                    self.dependents[file].append(output)
            elif ": #deps" in line:
                output = line.partition(": #deps")[0]
        affected = set().union(*self.dependents.values())
        for linked, command in self.links.items():
            if "-shared" in command and linked != self.library and affected & set(self.objects_of(linked)):
                sys.exit(f"mutation: {linked} includes headers of {', '.join(DIRECTORIES)}, but is not made "
                         "again for a mutant")

    def objects_of(self, linked):
        """The objects in a program or shared library, also those of static libraries."""
        result = []
        for argument in self.links.get(linked, []):
            result += self.archives.get(argument, [argument] if argument in self.compilations else [])
        return result

    def output_of(self, test):
        """The name of the test's program in the build's commands."""
        return os.path.relpath(test.command[0], self.build_directory)

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


class DoesNotCompile(Exception):
    """The change is no valid program."""


class Job:
    """A directory with a mutant's sources, objects, library and programs. What the mutant does not change
    is that of the workspace."""

    def __init__(self, workspace, directory, slots):
        self.workspace = workspace
        self.directory = directory
        self.slots = slots  # of processes that run
        self.lock = threading.Lock()  # of the objects and programs, while tests run
        self.libraries = directory / "lib"
        self.roots = sorted({pathlib.PurePath(name).parts[0] for name in DIRECTORIES})
        shutil.rmtree(directory, ignore_errors=True)
        self.libraries.mkdir(parents=True)
        for root in self.roots:
            shutil.copytree(workspace.directory / root, directory / root)
        self.forget()

    def forget(self):
        """Forgets the objects and programs of the mutant before."""
        self.programs = {}  # by their names in the build's commands
        self.objects = {}  # the path of each that was compiled, or None if the mutant does not change it
        self.affected = set()
        for name in ["objects", "programs"]:
            shutil.rmtree(self.directory / name, ignore_errors=True)

    def apply(self, change):
        """Changes a source and makes the library. Returns False if it stays the same. Throws
        DoesNotCompile."""
        self.forget()
        original = (self.workspace.directory / change.path).read_text()
        (self.directory / change.path).write_text(mutated(original, change))
        self.affected = set(self.workspace.dependents[change.path])
        self.compile(self.workspace.objects_of(self.workspace.library))
        if not any(self.objects.values()):
            return False
        self.link(self.workspace.library, self.libraries / self.workspace.library_name)
        return True

    def undo(self, change):
        shutil.copyfile(self.workspace.directory / change.path, self.directory / change.path)

    def run(self, command):
        with self.slots:
            process = start(command, cwd=self.workspace.build_directory, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            output, _ = process.communicate()
            running.discard(process)
        if process.returncode != 0:
            raise DoesNotCompile(output)

    def compile(self, objects):
        """Compiles those objects that depend on the changed file and have not been compiled."""
        def compile_one(name):
            output = self.directory / "objects" / name
            output.parent.mkdir(parents=True, exist_ok=True)
            command, options = list(self.workspace.compilations[name]), []
            for root in self.roots:
                original, copy = self.workspace.directory / root, self.directory / root
                command = [re.sub(rf"{re.escape(str(original))}(?=/|$)", str(copy), argument)
                           for argument in command]
                options.append(f"-ffile-prefix-map={copy}={original}")
            command[command.index("-o") + 1] = str(output)
            if "-MF" in command:
                command[command.index("-MF") + 1] = f"{output}.d"
            self.run(command + options)
            before = (self.workspace.build_directory / name).read_bytes()
            self.objects[name] = None if output.read_bytes() == before else output

        names = dict.fromkeys(name for name in objects
                              if name in self.affected and name not in self.objects)
        with concurrent.futures.ThreadPoolExecutor(PROCESSORS) as pool:
            list(pool.map(compile_one, names))

    def link(self, name, output):
        """Links a program or shared library with the changed objects."""
        command = []
        for argument in self.workspace.links[name]:
            # The linker takes nothing from an archive that an object before it has.
            for member in self.workspace.archives.get(argument, []):
                if self.objects.get(member):
                    command.append(str(self.objects[member]))
            command.append(str(self.objects.get(argument) or argument))
        command[command.index("-o") + 1] = str(output)
        self.run(command)

    def make_program(self, test):
        """Makes the program of the test if it contains an object which the mutant changes. Throws
        DoesNotCompile."""
        name = self.workspace.output_of(test)
        with self.lock:
            if name in self.programs:
                return
            self.programs[name] = None
            objects = self.workspace.objects_of(name)
            self.compile(objects)
            if any(self.objects.get(item) for item in objects):
                self.programs[name] = self.directory / "programs" / name
                self.programs[name].parent.mkdir(parents=True, exist_ok=True)
                self.link(name, self.programs[name])

    def prepared(self, test):
        """The test with the program and the library of the mutant."""
        program = self.programs.get(self.workspace.output_of(test))
        paths = [str(self.libraries), test.environment.get("LD_LIBRARY_PATH"),
                 os.environ.get("LD_LIBRARY_PATH")]
        environment = dict(test.environment, LD_LIBRARY_PATH=":".join(path for path in paths if path))
        return test._replace(environment=environment,
                             command=[str(program or test.command[0]), *test.command[1:]])

    def check(self, tests):
        """Returns why mutants could not be judged here, or None."""
        self.forget()
        place = self.libraries / self.workspace.library_name
        shutil.copy(self.workspace.build_directory / self.workspace.library, place)
        for test in {test.command[0]: test for test in tests}.values():
            loaded = subprocess.run(test.command[0], capture_output=True, text=True, check=False, env=dict(
                os.environ, **self.prepared(test).environment, LD_TRACE_LOADED_OBJECTS="1")).stdout
            found = re.search(rf"{re.escape(self.workspace.library_name)} => (\S+)", loaded)
            if found and found[1] != str(place):
                return f"{test.program} loads {found[1]}, and not {place}"
        name = min(self.workspace.objects_of(self.workspace.library),
                   key=lambda item: os.path.getsize(self.workspace.build_directory / item))
        self.affected = {name}
        self.compile([name])
        if self.objects[name]:
            return f"{name} is another object when it is compiled in {self.directory}"
        self.forget()
        return None


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

    def __init__(self, workspace, directory, jobs, seed, minimum_timeout=20.0):
        self.seed = seed
        self.minimum_timeout = minimum_timeout
        self.workspace = workspace
        self.tests = workspace.tests()
        # The run of each program in the strictest mode, without a check or another emulated machine.
        by_strictness = sorted(self.tests, key=lambda test: (test.mode != MODES[0], len(test.environment)))
        self.first_runs = {test.name for test in
                           {test.program: test for test in reversed(by_strictness)}.values()}
        self.seconds = {}
        self.noticed_in = collections.Counter()
        self.lock = threading.Lock()
        self.slots = threading.Semaphore(PROCESSORS)  # of processes that run
        self.jobs = [Job(workspace, directory / str(number), self.slots) for number in range(jobs)]
        problem = self.jobs[0].check(self.tests)
        if problem:
            sys.exit(f"mutation: {problem}")

    def run_test(self, test, timeout):
        with self.slots:
            return run_test(test, self.seed, timeout)

    def measure(self, file, leave_out_failing=False):
        """Runs all tests without a mutant, unless the file has the times of a run that the programs have
        not changed since. Those that fail are left out if this is asked for, or end the program."""
        if file.exists():
            made = [test.command[0] for test in self.tests]
            made.append(self.workspace.build_directory / self.workspace.library)
            known = json.loads(file.read_text())
            if max(map(os.path.getmtime, made)) < os.path.getmtime(file) and \
                    all(test.name in known for test in self.tests):
                self.seconds = known
                return
        self.seconds, failed = {}, {}

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
        else:
            file.write_text(json.dumps(self.seconds))

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
            # The other runs of a program seldom notice a mutant that the first one did not.
            share = 1 if test.name in self.first_runs else 0.2
            return -share * (own + noticed + near) / (0.3 + self.seconds[test.name]), test.name

        return sorted(self.tests, key=rank)

    def first_failure(self, job, tests, at_once):
        """Runs tests up to the first that fails. Returns ((test, problem) or None, what failed and
        passed when repeated)."""
        failures, unstable = [], []

        def judge(test):
            if failures:
                return
            job.make_program(test)
            timeout = self.minimum_timeout + 10 * self.seconds[test.name]
            prepared = job.prepared(test)
            problem, _ = self.run_test(prepared, timeout)
            if not problem:
                return
            if not self.run_test(prepared, timeout)[0]:
                unstable.append(f"{test.name}: {problem}")
            else:
                failures.append((test, problem))

        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            list(pool.map(judge, tests))
        return failures[0] if failures else None, unstable

    def notice(self, job, change):
        """Returns (what noticed the mutant or None, what failed only once)."""
        order = self.order(change.path)
        unstable = []
        # The likeliest tests one at a time; then all others at once, because few mutants get there.
        for tests, at_once in [(order[:16], 1), (order[16:], PROCESSORS)]:
            failure, failed_once = self.first_failure(job, tests, at_once)
            unstable += failed_once
            if failure:
                test, problem = failure
                with self.lock:
                    self.noticed_in[change.path, test.program] += 1
                    self.noticed_in[pathlib.PurePath(change.path).parts[:3], test.program] += 1
                return f"{test.name}: {problem}", unstable
        return None, unstable

    def judge(self, job, change):
        start = time.monotonic()
        detail, unstable = "", []
        try:
            if not job.apply(change):
                verdict = "equivalent"
            else:
                detail, unstable = self.notice(job, change)
                verdict = "noticed" if detail else "SURVIVED"
        except DoesNotCompile:
            verdict = "does not compile"
        finally:
            job.undo(change)
        if unstable and not detail:
            detail = "failed once: " + "; ".join(unstable)
        return Result(verdict, change, detail, time.monotonic() - start)


def draw(changes, seed):
    """The changes in the order in which they are drawn."""
    drawn = list(changes)
    random.Random(seed).shuffle(drawn)
    return drawn


def show(number, result):
    print(f"{number}: {result.verdict}: {describe(result.change)}"
          f"{': ' + result.detail if result.detail else ''} ({result.seconds:.0f} s)", flush=True)


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


def run(campaign, drawn, count, candidates, explained, results, end=math.inf):
    """Judges the candidates until `count` of them were noticed or survived, or until time.monotonic() is
    `end`. Adds to the results. Returns the exception that ended it before, or None."""
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
            if problems or counted() >= count or not numbers or time.monotonic() >= end:
                return None
            judging.add(numbers[0])
            return numbers.popleft()

    def work(job):
        while (number := take()) is not None:
            reason = explained.get(without_line(describe(drawn[number])))
            if reason:
                result = Result("explained", drawn[number], reason, 0)
            else:
                result = campaign.judge(job, drawn[number])
            with changed:
                judging.discard(number)
                results[number] = result
                show(number, result)
                changed.notify_all()

    def guarded(job):
        try:
            work(job)
        except Exception as problem:  # the other jobs end too
            with changed:
                problems.append(problem)
                changed.notify_all()

    threads = [threading.Thread(target=guarded, args=[job]) for job in campaign.jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return problems[0] if problems else None


def summarize(results, candidates):
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
    following = next((number for number in candidates if number not in results), None)
    if isinstance(candidates, range) and following is not None:
        print(f"mutation: --first {following} continues", flush=True)


# The test of this program

PROJECT = {
    "CMakeLists.txt": """
        cmake_minimum_required(VERSION 3.25)
        project(mutated LANGUAGES CXX)
        enable_testing()
        include_directories(src)
        add_library(rocarray SHARED src/layout/sum.cpp)
        add_library(support STATIC test/layout/support.cpp)
        add_executable(sum_test test/layout/sum_test.cpp)
        set_target_properties(sum_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY test/layout)
        target_link_libraries(sum_test support rocarray)
        add_test(NAME host.sum_test COMMAND sum_test WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
        """,
    "src/layout/scaled.hpp": """
        inline int doubled(int a) { return a * 2; }
        inline int tripled(int a) { return a * 3; }
        inline int negated(int a) { return 0 - a; }
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
        #include "layout/scaled.hpp"
        int of_header(int a) { return doubled(a) + tripled(a) + negated(a); }
        char const* path() { return __FILE__; }
        volatile int power = 1;
        void raise() { while (power != 4) power = power * 2; }
        """,
    "test/layout/support.cpp": """
        #include "layout/scaled.hpp"
        int tripled_by_support(int a) { return tripled(a); }
        """,
    "test/layout/sum_test.cpp": """
        #include "layout/scaled.hpp"
        int tripled_by_support(int a);
        int sum(int const* values, int count);
        int clamped(int);
        void twice();
        void raise();
        extern int counter;
        int main() {
          raise();
          int const values[] = {1, 2, 4, 0, 0, 0};
          twice();
          return sum(values, 3) == 7 && clamped(6) == 6 && clamped(7) == 7 && clamped(9) == 7 &&
                         counter == 2 && doubled(4) == 8 && tripled_by_support(3) == 9 ? 0 : 1;
        }
        """,
}
# The verdicts on mutants of this project: source, line, kind, replacement.
SOURCE, HEADER = "src/layout/sum.cpp", "src/layout/scaled.hpp"
EXPECTED = {
    (SOURCE, 6, "relation", ">="): "noticed",
    (SOURCE, 6, "arithmetic", "-="): "noticed",
    (SOURCE, 6, "relation", "<="): "SURVIVED",  # it reads the zero after the values that the test passes
    (SOURCE, 6, "arithmetic", "--"): "noticed",  # does not end, or crashes
    (SOURCE, 9, "arithmetic", "+"): "SURVIVED",
    (SOURCE, 11, "relation", ">"): "equivalent",  # at 7 both branches return 7
    (SOURCE, 11, "condition", "!(a >= 7 && a >= 7)"): "noticed",
    (SOURCE, 14, "constant", "0"): "does not compile",
    (SOURCE, 18, "call", ";"): "noticed",
    # The test has its own copies of the inline functions, in its object and in a static library.
    (HEADER, 2, "arithmetic", "/"): "noticed",
    (HEADER, 3, "constant", "4"): "noticed",
    (HEADER, 4, "constant", "1"): "SURVIVED",
}
ENDLESS = (SOURCE, 25, "arithmetic", "/")


def test_jobs(campaign, changes):
    """Judges six mutants by three jobs, and ends runs. Returns what is wrong."""
    job, results = campaign.jobs[0], {}
    before = {change: campaign.judge(job, change).verdict for change in changes[:6]}
    problem = run(campaign, changes, len(changes), range(6), {}, results)
    failures = [f"three jobs: {problem}"] if problem else []
    if {result.change: result.verdict for result in results.values()} != before:
        failures.append(f"three jobs judge other than one: {results}")
    results.clear()
    problem = run(campaign, changes, 2, range(len(changes)), {}, results)
    if problem or sum(result.verdict in {"noticed", "SURVIVED"} for result in results.values()) != 2:
        failures.append(f"two mutants were to be counted: {results}")
    results.clear()
    problem = run(campaign, changes, 2, range(len(changes)), {}, results, time.monotonic())
    if problem or results:
        failures.append(f"no mutant was to be judged after the end of the time: {results}")
    # A program that prefers the path of the library with which it was linked.
    test, program = campaign.tests[0], job.directory / "bound_program"
    name = campaign.workspace.output_of(test)
    command = campaign.workspace.links[name]
    campaign.workspace.links[name] = [*command, "-Wl,--disable-new-dtags"]
    job.link(name, program)
    campaign.workspace.links[name] = command
    problem = job.check([test])
    if problem:
        failures.append(problem)
    if "loads" not in (job.check([test._replace(command=[str(program)])]) or ""):
        failures.append("a program that cannot load the mutants' libraries is not recognized")
    file = job.directory / SOURCE
    file.write_text(file.read_text().replace("return 7", "return 6"))
    if "another object" not in (job.check([test]) or ""):
        failures.append("an object that differs without a mutant is not recognized")
    return failures


def test_interruption(source, changes):
    """Runs this program on the project, with the first mutant explained, and interrupts it after two
    others. Returns what is wrong."""
    program = source / "test" / "campaigns" / "mutation.py"
    program.parent.mkdir(parents=True)
    shutil.copy(__file__, program)
    (source / "build").mkdir()
    (source / "build" / "old_output").write_text("not to be copied")
    # The fourth mutant does not end, and the two before it count.
    def key(change):
        return change.path, change.line, change.kind, change.text

    seed = next(seed for seed in range(1000000) if key(draw(changes, seed)[3]) == ENDLESS and all(
        EXPECTED.get(key(change)) in {"noticed", "SURVIVED"} for change in draw(changes, seed)[1:3]))
    explained = describe(draw(changes, seed)[0])
    listed = source / "explained.txt"
    listed.write_text(f"# reasons\n\n{without_line(explained)} # not tested\n")
    process = start([sys.executable, "-u", program, "--seed", str(seed), "--explained", listed],
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
    if not re.search(r"^\d of 2 mutants noticed, ", output, re.MULTILINE):
        failures.append(f"an interrupted run printed no summary:\n{output}")
    if "\nmutation: --first 3 continues\n" not in output:
        failures.append(f"an interrupted run does not say where it can be continued:\n{output}")
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
        workspace = Workspace(source, pathlib.Path(folder) / "copy", [
            "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--enable-new-dtags"])
        workspace.prepare()
        campaign = Campaign(workspace, pathlib.Path(folder) / "jobs", 3, 1, minimum_timeout=2.0)
        times = pathlib.Path(folder) / "seconds.json"
        campaign.measure(times)
        if not campaign.tests:
            sys.exit("mutation: the test of the project was not found")
        changes = all_changes(workspace.directory)
        failures = []
        times.write_text(times.read_text().replace("}", ', "known": 1}'))
        campaign.measure(times)
        if "known" not in campaign.seconds:
            failures.append("tests were repeated although nothing has changed")
        os.utime(times, (0, 0))
        campaign.measure(times)
        if "known" in campaign.seconds:
            failures.append("tests were not repeated although their programs are newer")
        for (path, line, kind, text), expected in EXPECTED.items():
            matching = [change for change in changes
                        if (change.path, change.line, change.kind, change.text) == (path, line, kind, text)]
            if not matching:
                failures.append(f"{path}:{line}: no change of kind {kind} to {text}")
                continue
            # Of two places on one line the last: the relation that cannot matter.
            result = campaign.judge(campaign.jobs[0], matching[-1])
            show(line, result)
            if result.verdict != expected:
                failures.append(f"{describe(matching[-1])}: {result.verdict}, expected {expected}")
        if draw(changes, 7) != draw(changes, 7) or draw(changes, 7) == draw(changes, 8):
            failures.append("the seed does not decide the order of the mutants")
        failures += test_jobs(campaign, changes)
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
    parser.add_argument("--seconds", type=float, default=math.inf,
                        help="after this time no other mutant is judged (default: no limit)")
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
    candidates = arguments.only or range(arguments.first, len(drawn))
    end = time.monotonic() + arguments.seconds

    def interrupt(number, _):
        print("\nmutation: interrupted")
        summarize(dict(results), candidates)
        for process in list(running):
            kill(process)
        sys.stdout.flush()
        os._exit(128 + number)  # the threads still judge mutants

    for number in [signal.SIGINT, signal.SIGTERM]:
        signal.signal(number, interrupt)
    directory = arguments.build_dir.resolve()
    workspace = Workspace(ROOT, directory / "copy", CONFIGURATION)
    workspace.prepare()
    campaign = Campaign(workspace, directory / "jobs", arguments.jobs, arguments.seed)
    start = time.monotonic()
    campaign.measure(directory / "seconds.json", arguments.leave_out_failing)
    print(f"mutation: {len(campaign.tests)} tests pass without a mutant in "
          f"{time.monotonic() - start:.0f} s", flush=True)
    problem = run(campaign, drawn, arguments.count, candidates, explained, results, end)
    summarize(results, candidates)
    return f"mutation: {problem}" if problem else None


if __name__ == "__main__":
    sys.exit(main())
