# SPDX-License-Identifier: MIT
"""Shared by the tests of the Python package: a device is needed, and random numbers have a seed."""

import ctypes
import os

import numpy as np
import pytest

import rocarray as roc


def pytest_sessionstart(session):
    if roc.device_count() == 0:
        pytest.exit("no device", returncode=77)


def pytest_sessionfinish():
    if "GIL_CHECK_LIBRARY" not in os.environ:
        return
    count = ctypes.CDLL(None).gil_check_count()
    print(f"\ngil_check: {count} calls were checked")
    if count == 0:
        pytest.exit("the GIL was checked in no call", returncode=1)


@pytest.fixture
def random():
    seed = int(os.environ.get("ROCARRAY_TEST_SEED", "1"))
    print("ROCARRAY_TEST_SEED", seed)
    return np.random.default_rng(seed)


@pytest.fixture
def is_deferred():
    """True if work runs only after a call that waits for it."""
    return os.environ.get("ROCARRAY_HOST_MODE") == "deferred"
