# SPDX-License-Identifier: MIT
"""DLPack producers with any contents, valid and invalid, and a reader of capsules."""

import ctypes

import numpy as np

READ_ONLY, IS_COPIED, PADDED = 1, 2, 4


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


_new = ctypes.pythonapi.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_get = ctypes.pythonapi.PyCapsule_GetPointer
_get.restype = ctypes.c_void_p
_get.argtypes = [ctypes.py_object, ctypes.c_char_p]
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype = ctypes.c_char_p
_name.argtypes = [ctypes.py_object]


class Producer:
    """Exports a NumPy array by DLPack. Keywords replace members of the tensor."""

    def __init__(self, array, version=(1, 1), flags=0, **members):
        self.array = array
        self.deleted = 0
        self.arguments = None
        self._deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._delete)
        count = max(array.ndim, 1)
        self._shape = (ctypes.c_int64 * count)(*members.pop("shape", array.shape))
        strides = members.pop("strides", [s // array.itemsize for s in array.strides])
        self._strides = None if strides is None else (ctypes.c_int64 * count)(*strides)
        code = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}.get(array.dtype.kind, 0)
        tensor = Tensor(array.ctypes.data, 1, 0, array.ndim, code, 8 * array.itemsize, 1)
        tensor.shape = ctypes.cast(self._shape, ctypes.POINTER(ctypes.c_int64))
        if self._strides is not None:
            tensor.strides = ctypes.cast(self._strides, ctypes.POINTER(ctypes.c_int64))
        for name, value in members.items():
            setattr(tensor, name, value)
        deleter = ctypes.cast(self._deleter, ctypes.c_void_p)
        self._versioned = ManagedVersioned(*version, None, deleter, flags, tensor)
        self._plain = Managed(tensor, None, deleter)

    def _delete(self, _):
        self.deleted += 1

    def __dlpack__(self, *, stream=None, max_version=None):
        self.arguments = {"stream": stream, "max_version": max_version}
        return _new(ctypes.addressof(self._versioned), b"dltensor_versioned", None)

    def __dlpack_device__(self):
        tensor = self._versioned.tensor
        return (tensor.device_type, tensor.device_id)


class OldProducer(Producer):
    """Exports as before DLPack 1: without max_version."""

    def __dlpack__(self, stream=None):
        self.arguments = {"stream": stream}
        return _new(ctypes.addressof(self._plain), b"dltensor", None)


def name_of(capsule):
    return _name(capsule).decode()


def tensor_of(capsule):
    """Returns the tensor in a capsule that has not been consumed."""
    structure = ManagedVersioned if name_of(capsule) == "dltensor_versioned" else Managed
    return structure.from_address(_get(capsule, _name(capsule))).tensor


def flags_of(capsule):
    assert name_of(capsule) == "dltensor_versioned"
    return ManagedVersioned.from_address(_get(capsule, _name(capsule))).flags


def random_array(random, dtype=np.float32, rank=None):
    """Returns an array with a random shape and layout, filled with distinct values."""
    rank = int(random.integers(0, 5)) if rank is None else rank
    shape = random.integers(1, 7, size=rank)
    array = np.arange(int(np.prod(shape * 2 + 1)), dtype=dtype).reshape(shape * 2 + 1)
    key = []
    for extent in shape:
        step = int(random.choice([-2, -1, 1, 2]))
        key.append(slice(None, None, step) if random.random() < 0.5 else slice(0, int(extent)))
    return array[(*key, ...)].transpose(random.permutation(rank))
