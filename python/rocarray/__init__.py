# SPDX-License-Identifier: MIT
"""Arrays in GPU memory, and copies between any two arrays at link speed.

    import rocarray as roc
    d = roc.to_device(ary)          # a DeviceArray with a copy of a numpy.ndarray
    d.copy_to_host(ary)             # complete on return
    roc.copy(x, y)                  # any two arrays: NumPy, PyTorch, CuPy, numba, bytes

A call without a stream is complete on return. A call with a stream is enqueued there, and the arrays
stay alive until its work has finished.
"""

import atexit as _atexit
import os as _os

from . import _rocarray
from ._rocarray import (
    DeviceArray,
    Event,
    Registration,
    Stream,
    SynchronizeGuard,
    copy,
    default_stream,
    deregister,
    device_array,
    device_array_like,
    device_count,
    event,
    external_stream,
    get_device,
    managed_array,
    per_thread_default_stream,
    pinned_array,
    platform,
    register,
    set_device,
    stream,
    synchronize,
    to_device,
)
from ._version import __version__

__all__ = [
    "DeviceArray",
    "Event",
    "Registration",
    "Stream",
    "SynchronizeGuard",
    "copy",
    "default_stream",
    "deregister",
    "device_array",
    "device_array_like",
    "device_count",
    "event",
    "external_stream",
    "get_device",
    "managed_array",
    "per_thread_default_stream",
    "pinned_array",
    "platform",
    "register",
    "set_device",
    "stream",
    "synchronize",
    "to_device",
]

# The interpreter destroys arrays when it ends: pending copies must not use them any more.
_atexit.register(_rocarray._wait_for_pending_work)
# The library cannot be used in a child process of a program that has used it.
_os.register_at_fork(after_in_child=_rocarray._disable_after_fork)
