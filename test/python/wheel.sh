#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# wheel.sh CMAKE BUILD-DIRECTORY PYTHON DIRECTORY: makes the wheel, installs it in a virtual environment by pip
# without an index, and copies with it from a directory that has no other package. Prints its size and the
# time of the import.
set -euo pipefail
cmake=$1
build=$2
python=$3
out=$4
source "$(dirname "$0")/../support/empty_directory.sh"
empty_directory "$out"
rm -rf "$build/python/dist"
"$cmake" --build "$build" --target python_wheel >"$out/build.log" 2>&1 || { cat "$out/build.log"; exit 1; }
wheel=$(ls "$build"/python/dist/rocarray-*.whl)
echo "$(basename "$wheel"): $(stat -c %s "$wheel") bytes"
if ! "$python" -m venv --system-site-packages "$out/venv" >"$out/venv.log" 2>&1; then
  echo "venv is missing: apt-get install python3-venv"
  exit 77
fi
if ! "$python" -c 'import numpy' 2>"$out/numpy.log"; then
  echo "NumPy is missing: apt-get install python3-numpy"
  exit 77
fi
# If the interpreter is that of a virtual environment, --system-site-packages leaves out its packages.
"$python" -c 'import os, numpy; print(os.path.dirname(os.path.dirname(numpy.__file__)))' \
  >"$("$out/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/numpy.pth"
"$out/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$wheel"
# Other packages of the system may lack something.
"$out/venv/bin/pip" check >"$out/check.log" || true
if grep rocarray "$out/check.log"; then exit 1; fi
cd "$out"
unset PYTHONPATH
"$out/venv/bin/python" - "$out" <<'PYTHON'
import sys
import time

import numpy

begin = time.perf_counter()
import rocarray as roc

print(f"import: {1000 * (time.perf_counter() - begin):.1f} ms, after NumPy")
assert roc.__file__.startswith(sys.argv[1]), roc.__file__
with open("/proc/self/maps") as maps:
    # The path is the last of six fields, and may have spaces.
    libraries = {line.split(maxsplit=5)[-1].rstrip("\n") for line in maps if "librocarray" in line}
assert len(libraries) == 1 and libraries.pop().startswith(sys.argv[1])
if roc.device_count() == 0:
    sys.exit(77)
assert (roc.to_device(numpy.arange(1000.0)).copy_to_host() == numpy.arange(1000.0)).all()
PYTHON
