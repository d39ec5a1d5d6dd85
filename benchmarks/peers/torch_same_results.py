#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the results of PyTorch as it is with those under rocarray-run.

Usage: torch_same_results.py RUN [--tests DIRECTORY] [--steps N]
RUN is the path of rocarray-run. Trains a model on batches of 12 MiB of a data loader with two worker
processes, from pageable and from pinned memory, and prints checksums of the batches as the device has them,
of the losses, and of the parameters as the host gets them back. Both runs must print the same.

With --tests, PyTorch's own tests of copies are run as well, and must have the same outcomes. DIRECTORY is
`test` of PyTorch's sources, of the installed version (git clone --depth 1 --branch v2.11.0); its packages
expecttest and hypothesis and pytest are needed. The tests are those of TEST_FILES whose names match TEST_NAMES,
as pytest selects them:

  cd DIRECTORY && rocarray-run python3 -m pytest test_torch.py test_cuda.py -k "copy or pinned or ..."

Exit status: 1 if a result differs, or if no copy was served; 77 if there is no torch or no device.
"""

import argparse
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TEST_FILES = ["test_torch.py", "test_cuda.py", "test_cuda_multigpu.py", "test_dataloader.py", "test_indexing.py",
              "test_numpy_interop.py", "test_view_ops.py"]
# The second line has names of files, of which all tests are run.
TEST_NAMES = ("((copy or pinned or pin_memory or to_device or to_cpu or non_blocking or serialization or storage)"
              " and not copysign and not deepcopy) or test_indexing or test_numpy_interop or test_view_ops")
BATCH = 64
SHAPE = (3, 128, 128)


def checksum(tensor):
    """Returns a digest of the bytes of a tensor in host memory."""
    return hashlib.sha256(tensor.contiguous().numpy().tobytes()).hexdigest()[:16]


def train(pinned, steps):
    """Trains a model and prints its checksums."""
    import torch
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.matmul.allow_tf32 = False
    images = torch.rand((4 * BATCH, *SHAPE))
    labels = torch.randint(10, (4 * BATCH,))
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(images, labels), BATCH, shuffle=True, num_workers=2, pin_memory=pinned,
        generator=torch.Generator().manual_seed(1))
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 5, stride=4), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Linear(16 * 31 * 31, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    step = 0
    while step < steps:
        for batch, label in loader:
            on_device = batch.to("cuda", non_blocking=pinned)
            loss = torch.nn.functional.cross_entropy(model(on_device), label.to("cuda", non_blocking=pinned))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            # Rows of the batch, which are not contiguous, and all of it.
            back = on_device.cpu()
            cut = torch.empty_like(batch[:, :, :, 1::2])
            cut.copy_(on_device[:, :, :, 1::2])
            print(f"pinned: {pinned}, step {step}: loss {loss.item().hex()}, batch {checksum(back)}, "
                  f"cut {checksum(cut)}, {'equal' if torch.equal(back, batch) else 'DIFFERENT'}", flush=True)
            step += 1
            if step == steps:
                break
    for name, parameter in model.state_dict().items():
        print(f"pinned: {pinned}, {name}: {checksum(parameter.cpu())}")


def run(command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"{command}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
    return result


def compare_training(rocarray_run, steps):
    """Returns whether both runs print the same, and copies were served."""
    environment = {**os.environ, "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    command = [sys.executable, __file__, "-", "--train", "--steps", str(steps)]
    plain = run(command, env=environment)
    served = run([rocarray_run, "--summary", *command], env=environment)
    print(served.stdout, end="")
    print(served.stderr, end="", file=sys.stderr)
    is_served = re.search(r" copies +[0-9].*  served$", served.stderr, re.MULTILINE) is not None
    is_equal = plain.stdout == served.stdout and "DIFFERENT" not in served.stdout
    print(f"training: {len(served.stdout.splitlines())} lines, {'the same' if is_equal else 'DIFFERENT'}"
          f"{'' if is_served else '; NO COPY WAS SERVED'}")
    if not is_equal:
        print(f"without rocarray-run:\n{plain.stdout}")
    return is_equal and is_served


def outcomes(prefix, directory):
    """Runs PyTorch's tests and returns {name: outcome}."""
    with tempfile.TemporaryDirectory() as scratch:
        report = os.path.join(scratch, "report.xml")
        subprocess.run([*prefix, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TEST_FILES, "-k",
                        TEST_NAMES, f"--junitxml={report}"], cwd=directory, stdout=sys.stderr, check=False)
        if not os.path.exists(report):
            sys.exit("pytest did not run: see above")
        result = {}
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
            result[f"{case.get('classname')}.{case.get('name')}"] = kinds[0] if kinds else "passed"
        return result


def compare_tests(rocarray_run, directory):
    """Returns whether PyTorch's tests of copies have the same outcomes in both runs."""
    plain = outcomes([], directory)
    served = outcomes([rocarray_run], directory)
    different = [name for name in sorted(plain.keys() | served.keys()) if plain.get(name) != served.get(name)]
    for name in different:
        print(f"{name}: {plain.get(name)} without rocarray-run, {served.get(name)} with it")
    counts = {kind: list(served.values()).count(kind) for kind in ("passed", "failure", "error", "skipped")}
    print("tests of PyTorch: " + ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
          + f"; {len(different)} differ")
    return bool(served) and not different


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("--tests", metavar="DIRECTORY")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--train", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train:
        for pinned in (False, True):
            train(pinned, arguments.steps)
        return
    if not importlib.util.find_spec("torch"):
        sys.exit(77)
    import torch
    if not torch.cuda.is_available():
        sys.exit(77)
    results = [compare_training(arguments.run, arguments.steps)]
    if arguments.tests:
        results.append(compare_tests(arguments.run, arguments.tests))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
