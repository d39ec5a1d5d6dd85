#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a wheel from the directory of an installed package, with the standard library alone.

make_wheel.py DIRECTORY OUTPUT VERSION PLATFORM LICENSE: DIRECTORY contains rocarray/ with the extension and
the shared library. The wheel is for the interpreter that runs this script and for this machine's
architecture. Its local version label is the platform, because each platform has its own library. Prints
the path of the wheel.
"""

import base64
import hashlib
import pathlib
import sys
import sysconfig
import zipfile

METADATA = """\
Metadata-Version: 2.1
Name: rocarray
Version: {version}
Summary: Arrays in GPU memory, and copies between any two arrays at link speed
License: MIT
Requires-Python: =={python}.*
Requires-Dist: numpy >= 1.22
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: make_wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""


def main(directory, output, version, platform, license_file):
    root = pathlib.Path(directory)
    version = f"{version}+{platform}"
    interpreter = f"cp{sys.version_info.major}{sys.version_info.minor}"
    architecture = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"{interpreter}-{interpreter}-{architecture}"
    information = f"rocarray-{version}.dist-info"
    files = {path.relative_to(root).as_posix(): path.read_bytes()
             for path in sorted(root.rglob("*")) if path.is_file()}
    if not any(name.startswith("rocarray/_rocarray.") and name.endswith(".so") for name in files):
        sys.exit(f"make_wheel.py: {root} has no extension module; install the component python_wheel there")
    files[f"{information}/LICENSE"] = pathlib.Path(license_file).read_bytes()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    files[f"{information}/METADATA"] = METADATA.format(version=version, python=python).encode()
    files[f"{information}/WHEEL"] = WHEEL.format(tag=tag).encode()
    record = f"{information}/RECORD"
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files[record] = ("".join(lines) + f"{record},,\n").encode()

    wheel = pathlib.Path(output) / f"rocarray-{version}-{tag}.whl"
    wheel.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # with a fixed time, so that equal builds give equal wheels
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith(".so") or ".so." in name else 0o644) << 16
            archive.writestr(entry, content)
    print(wheel)


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
