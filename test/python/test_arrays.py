# SPDX-License-Identifier: MIT
"""Device arrays: creation, metadata, views, elements, errors."""

import gc

import numpy as np
import pytest

import rocarray as roc
from capsules import random_array


def test_device_array_has_the_shape_dtype_and_order_of_its_arguments():
    d = roc.device_array((20, 50))
    assert (d.shape, d.dtype, d.strides, d.ndim, d.size) == ((20, 50), np.float64, (400, 8), 2, 1000)
    assert d.is_c_contiguous() and not d.is_f_contiguous() and len(d) == 20
    f = roc.device_array((20, 50), np.int16, order="F")
    assert f.strides == (2, 40) and f.nbytes == 2000 and f.is_f_contiguous()
    assert roc.device_array(7, "u1").shape == (7,)
    assert roc.device_array((), "u1").shape == ()


def test_device_array_with_strides_has_gaps():
    d = roc.device_array((20, 50), np.float32, strides=(256, 4))
    host = np.arange(1000, dtype=np.float32).reshape(20, 50)
    d.copy_to_device(host)
    assert d.strides == (256, 4)
    assert np.array_equal(d.copy_to_host(), host)


def test_device_array_like_keeps_the_order_of_axes():
    base = np.zeros((4, 5, 6), np.int32)
    for array in (base, base.T, base.transpose(1, 0, 2), base[::2, :, ::-1]):
        d = roc.device_array_like(array)
        assert d.shape == array.shape and d.dtype == array.dtype
        assert np.argsort(d.strides).tolist() == np.argsort(np.abs(array.strides)).tolist()


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "g", "c8", "c16", "G",
                                   "M8[ns]", "S5", "U3", ">f4", "V12", "u1,f8,(2,3)i2"])
def test_round_trip_keeps_the_bytes_of_every_dtype(dtype):
    dtype = np.dtype(dtype)
    host = np.frombuffer(bytes(i % 2 for i in range(24 * dtype.itemsize)), dtype).reshape(4, 6)
    d = roc.to_device(host.T)
    assert d.dtype == dtype
    assert d.copy_to_host().tobytes() == host.T.tobytes()


def test_to_device_accepts_sequences_and_scalars():
    assert roc.to_device([[1, 2], [3, 4]]).copy_to_host().tolist() == [[1, 2], [3, 4]]
    assert roc.to_device(np.float32(2.5)).copy_to_host() == np.float32(2.5)
    record = np.array([(1, 2.5)], "i4,f8")[0]
    assert roc.to_device(record).copy_to_host() == record


def test_to_device_without_copy_only_allocates():
    assert roc.to_device(np.zeros(5, "i2"), copy=False).shape == (5,)


def test_to_device_to_returns_the_destination():
    d = roc.device_array(10, np.float32)
    assert roc.to_device(np.arange(10, dtype=np.float32), to=d) is d
    assert d.copy_to_host()[9] == 9
    with pytest.raises(TypeError, match="use a DeviceArray"):
        roc.to_device(np.zeros(10), to=np.zeros(10))


@pytest.mark.parametrize("key", [
    3, -1, np.int64(2), slice(2, 10, 2), slice(None, None, -1), slice(7, 2, -3), slice(3, 3), slice(-100, 100),
    ..., None, (..., 0), (0, ...), (slice(None), 1), (None, 2, ..., None), (slice(None), slice(None, None, -2)),
    (slice(None), None, slice(1, 2)), (slice(0, 0), slice(None)),
], ids=repr)
def test_index_selects_what_numpy_selects(key):
    host = np.arange(8 * 6 * 3, dtype=np.int32).reshape(8, 6, 3)
    assert np.array_equal(roc.to_device(host)[key].copy_to_host(), host[key])


def test_random_views_equal_those_of_numpy(random):
    for _ in range(200):
        host = random_array(random, np.int32)
        d = roc.to_device(host)
        for _ in range(3):
            if d.ndim and random.random() < 0.5:
                key = tuple(slice(*sorted(random.integers(-9, 9, 2).tolist()), int(random.choice([1, 2, 3])))
                            for _ in range(d.ndim))
                d, host = d[key], host[key]
            else:
                axes = random.permutation(d.ndim).tolist()
                d, host = d.transpose(*axes) if axes else d.transpose(), host.transpose(axes)
        assert d.shape == host.shape
        assert np.array_equal(d.copy_to_host(), host)


def test_index_of_every_axis_returns_the_element():
    d = roc.to_device(np.arange(6, dtype=np.int16).reshape(2, 3))
    assert d[1, 2] == 5 and isinstance(d[1, 2], np.int16)
    assert roc.to_device(np.float32(3))[()] == 3
    assert d[1, 2, ...].shape == ()


def test_item_assignment_writes_regions_and_elements():
    host = np.zeros((6, 8), np.float32)
    d = roc.to_device(host)
    part = np.arange(6, dtype=np.float32).reshape(3, 2)
    for array in (host, d):
        array[1:6:2, ::-4] = part
        array[0] = 7
        array[5, 5] = np.float32(2.5)
        array[2, 2:4] = [1.0, 2.0] if array is host else np.float32([1, 2])
    assert np.array_equal(d.copy_to_host(), host)


@pytest.mark.parametrize("dtype, value", [
    ("S5", b"abc"), ("S20", b"abc"), ("S20", "abc"), ("S20", np.bytes_(b"abc")), ("U30", "d\u00e9"), ("V20", b"x" * 20),
    ("i8,(3,4)i2", (1, 5)), ("M8[s]", "2000-01-01"), ("c16", 1 + 2j), ("G", 3),
], ids=repr)
def test_item_assignment_converts_a_value_as_numpy_does(dtype, value):
    host = np.zeros((4, 3), dtype)
    d = roc.to_device(host)
    for array in (host, d):
        array[1, 2] = value       # one element
        array[2:, ::2] = value    # a region
    assert np.array_equal(d.copy_to_host(), host)


def test_fill_writes_elements_of_every_size_on_a_stream():
    host = np.zeros((50, 60), "i8,S20")
    d, stream = roc.to_device(host), roc.stream()
    d[::-2, 1::3].fill((7, b"text"), stream)
    host[::-2, 1::3] = (7, b"text")
    stream.synchronize()
    assert np.array_equal(d.copy_to_host(), host)
    with pytest.raises(ValueError, match="the value has 2 elements"):
        d.fill([(1, b"a"), (2, b"b")])


def test_item_assignment_converts_sequences_but_no_arrays():
    d = roc.device_array(4, np.float32)
    d[:2] = [1, 2]
    d[2:] = (3.5, 4)
    assert d.copy_to_host().tolist() == [1, 2, 3.5, 4]
    with pytest.raises(ValueError, match="element types of source and destination differ"):
        d[:] = np.zeros(4)
    octets = roc.device_array(3, "u1")
    octets[:] = b"abc"            # a buffer of three elements
    assert octets.copy_to_host().tobytes() == b"abc"
    with pytest.raises(ValueError):
        d[0] = "no number"


def test_fields_whose_strides_are_no_multiples_of_their_size_can_be_filled():
    host = np.zeros(9, "u1,f8")
    d = roc.to_device(host)
    d["f1"] = 2.5
    d["f1"][::2].fill(-1)
    host["f1"], host["f1"][::2] = 2.5, -1
    assert d.copy_to_host().tobytes() == host.tobytes()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype, element, axes", [
    ("(2,3)i2", "i2", (2, 3)), (np.dtype((np.dtype(("S20", (2, 3))), (4,))), "S20", (4, 2, 3)), ("(2,0)f4", "f4", (2, 0))])
def test_axes_of_a_subarray_dtype_become_axes_of_the_array(dtype, element, axes, order):
    for array in (roc.device_array((4, 5), dtype, order=order), roc.pinned_array((4, 5), dtype, order)):
        assert (array.shape, array.dtype) == ((4, 5) + axes, np.dtype(element))
    host = np.zeros((4, 5), dtype, order)
    if host.dtype.itemsize == 0:  # NumPy 2.5 makes these arrays of elements without bytes
        return
    assert host.size == 0 or array.strides == host.strides
    d = roc.device_array((4, 5), dtype, order=order)
    d.copy_to_device(host)
    assert np.array_equal(d.copy_to_host(), host)


def test_subarray_dtypes_need_all_strides_and_give_no_views():
    assert roc.device_array(4, "(3,)i2", strides=(16, 4)).shape == (4, 3)
    with pytest.raises(ValueError, match="the array has 2 axes, but 1 strides were given"):
        roc.device_array(4, "(3,)i2", strides=(6,))
    with pytest.raises(ValueError, match=r"the elements of a view cannot be arrays.*use view\('<i2'\) and reshape"):
        roc.device_array(12, "i2").view("(2,3)i2")
    with pytest.raises(ValueError, match="axes"):
        roc.device_array((1,) * 32, "(3,)i2")


def test_fields_of_records_are_views():
    host = np.zeros(9, [("a", "u1"), ("x", "f8"), ("v", "i2", (2, 2))])
    d = roc.to_device(host)
    host["x"], host["v"] = np.arange(9), 5
    d["x"] = np.arange(9.0)
    d["v"].copy_to_device(np.full((9, 2, 2), 5, "i2"))
    assert np.array_equal(d.copy_to_host(), host)
    assert np.array_equal(d["x"][::-2].copy_to_host(), host["x"][::-2])
    with pytest.raises(IndexError, match="no field 'y'"):
        d["y"]


def test_strides_and_extents_that_are_not_possible_are_errors():
    with pytest.raises(ValueError, match=f"its stride is {1 << 62} elements of 8 bytes"):
        roc.device_array((0, 1 << 62))
    assert roc.device_array((0, 1 << 59)).strides == (1 << 62, 8)
    with pytest.raises(ValueError, match="an extent is negative: -2; use 0 or more, or -1 for the one"):
        roc.device_array(4).reshape(-2)
    with pytest.raises(ValueError, match="an extent is negative: -1; use 0 or more$"):
        roc.device_array(-1)


def test_more_axes_than_the_largest_rank_are_errors():
    d = roc.device_array((1,) * 32, [("v", "i2", (2, 2)), ("x", "i2")])
    assert d["x"].ndim == 32 and d["x"].is_c_contiguous()
    message = "at most 32 axes, but {} were given"
    with pytest.raises(ValueError, match=message.format(34)):
        d["v"]
    assert roc.device_array((1,) * 30, [("v", "i2", (2, 2))])["v"].is_c_contiguous()
    with pytest.raises(ValueError, match=message.format(33)):
        d[None]
    try:
        host = np.zeros((1,) * 33)
    except ValueError:
        return  # NumPy 1 has at most 32 axes
    with pytest.raises(ValueError, match=message.format(33)):
        roc.to_device(host)


@pytest.mark.parametrize("order", ["C", "F"])
def test_random_reshapes_equal_those_of_numpy(random, order):
    views = copies = 0
    for _ in range(300):
        host = random_array(random, np.int32)
        d = roc.to_device(host.copy(order="K"))
        if host.ndim and random.random() < 0.5:
            d, host = d[::-1], host[::-1]
        factors, size = [], host.size
        for prime in (2, 3, 5, 7, 11, 13):
            while size % prime == 0:
                factors.append(prime)
                size //= prime
        cuts = np.sort(random.integers(0, len(factors) + 1, int(random.integers(0, 4))))
        shape = [int(np.prod(part)) for part in np.split(random.permutation(factors + [size]), cuts)]
        expected = host.reshape(shape, order=order)
        if random.random() < 0.5:
            shape[int(random.integers(len(shape)))] = -1
        try:
            reshaped = d.reshape(*shape, order=order)
            views += 1
        except ValueError as problem:
            assert "needs a copy; use reshape_copy" in str(problem)
            reshaped = d.reshape_copy(tuple(shape), order=order)
            copies += 1
        assert reshaped.shape == expected.shape
        assert np.array_equal(reshaped.copy_to_host(), expected)
    assert views > 50 and copies > 10


def test_ravel_squeeze_transpose_view_and_split():
    host = np.arange(24, dtype=np.float32).reshape(2, 1, 12)
    d = roc.to_device(host)
    assert np.array_equal(d.ravel().copy_to_host(), host.ravel())
    assert np.array_equal(d.T.ravel(order="F").copy_to_host(), host.T.ravel(order="F"))
    assert np.array_equal(d.ravel_copy(order="F").copy_to_host(), host.ravel(order="F"))
    assert d.squeeze().shape == (2, 12) and d.T.shape == (12, 1, 2)
    assert np.array_equal(d.transpose(2, 0, 1).copy_to_host(), host.transpose(2, 0, 1))
    assert np.array_equal(d.view(np.uint32).copy_to_host(), host.view(np.uint32))
    assert np.array_equal(d.view(np.uint8).copy_to_host(), host.view(np.uint8))
    assert np.array_equal(d.view(np.complex64).copy_to_host(), host.view(np.complex64))
    parts = d.ravel().split(10)
    assert [p.size for p in parts] == [10, 10, 4] and parts[2].copy_to_host()[3] == 23


def test_views_keep_the_memory_alive():
    view = roc.to_device(np.arange(1000.0))[10:20].reshape(2, 5)
    gc.collect()
    others = [roc.to_device(np.zeros(1000)) for _ in range(8)]
    assert np.array_equal(view.copy_to_host(), np.arange(10.0, 20).reshape(2, 5)) and others


def test_empty_arrays_work_everywhere():
    d = roc.device_array((0, 5), np.float32)
    assert d.size == 0 and d.copy_to_host().shape == (0, 5) and d.T.shape == (5, 0)
    d.fill(1)
    d.zero()
    d.copy_to_device(np.zeros((0, 5), np.float32))
    assert d.reshape(5, 0).shape == (5, 0) and d[:, 2:4].shape == (0, 2) and d.split(3) == []
    assert roc.to_device(np.zeros((3, 0))).ravel().shape == (0,)


def test_fill_and_zero_write_the_region():
    d = roc.to_device(np.zeros((4, 6), np.int16))
    expected = np.zeros((4, 6), np.int16)
    for array in (d[::2, 1:5], expected[::2, 1:5]):
        array.fill(7)
    assert np.array_equal(d.copy_to_host(), expected)
    d[:, ::3].zero()
    expected[:, ::3] = 0
    assert np.array_equal(d.copy_to_host(), expected)
    with pytest.raises(ValueError, match="has 2 elements"):
        d.fill([1, 2])


def test_numpy_gets_a_copy():
    d = roc.to_device(np.arange(5))
    assert np.array_equal(np.asarray(d), np.arange(5)) and np.asarray(d, "f4").dtype == np.float32
    np.asarray(d)[:] = 0
    assert d[4] == 4
    with pytest.raises(ValueError, match="without a copy"):
        d.__array__(copy=False)


def test_close_frees_the_memory_of_all_views():
    d = roc.to_device(np.arange(10.0))
    view = d[2:4]
    d.close()
    d.close()
    for use in (d.copy_to_host, view.copy_to_host, d.zero, lambda: view.fill(1), lambda: d[3], d.__dlpack__,
                lambda: d.copy_to_device(np.zeros(10)), lambda: d.record_stream(roc.stream())):
        with pytest.raises(ValueError, match="freed by close"):
            use()
    assert d.shape == (10,)


def test_repr_names_shape_dtype_and_device():
    assert repr(roc.device_array((2, 3), "i4")) == "<rocarray.DeviceArray: shape (2, 3), dtype int32, device 0>"


@pytest.mark.parametrize("make, kind, message", [
    (lambda d: roc.device_array(-1), ValueError, "an extent is negative: -1; use 0 or more"),
    (lambda d: roc.device_array((1 << 40, 1 << 40)), ValueError, "array size overflows: shape"),
    (lambda d: roc.device_array(1 << 45), MemoryError, "cannot allocate 256 TiB"),
    (lambda d: roc.device_array(3, order="K"), ValueError, "the order is not valid: 'K'; use 'C' or 'F'"),
    (lambda d: roc.device_array(3, object), TypeError, "arrays of Python objects cannot be copied"),
    (lambda d: roc.device_array(3, "no type"), TypeError, "no type"),
    (lambda d: roc.device_array(3, "S0"), TypeError, "elements of 0 bytes"),
    (lambda d: roc.device_array((1,) * 33), ValueError, "at most 32 axes, but 33 were given"),
    (lambda d: roc.device_array(3.5), TypeError, "the shape is of type float"),
    (lambda d: roc.device_array((3, "x")), TypeError, "an extent is of type str; use an integer"),
    (lambda d: roc.device_array(3, "f4", strides=(4, 4)), ValueError, "has 1 axes, but 2 strides"),
    (lambda d: roc.device_array(3, "f4", strides=(6,)), ValueError, r"no multiples of the element's 4 bytes: \(6,\)"),
    (lambda d: roc.device_array(3, "f4", strides=(-4,)), ValueError, "array strides are negative or map two"),
    (lambda d: roc.device_array((3, 3), "f4", strides=(4, 4)), ValueError, "map two indices to one element"),
    (lambda d: d[10], IndexError, "index 10 is out of bounds for axis 0 with size 10"),
    (lambda d: d[:, -21], IndexError, "index -21 is out of bounds for axis 1 with size 20"),
    (lambda d: d[0, 0, 0], IndexError, "too many indices: the array has 2 axes, but 3 were indexed"),
    (lambda d: d[..., ...], IndexError, "more than one ellipsis"),
    (lambda d: d[[1, 2]], TypeError, "an index is of type list; use integers, slices"),
    (lambda d: d[True], TypeError, "an index is of type bool"),
    (lambda d: d[::0], ValueError, "slice step cannot be zero"),
    (lambda d: d.reshape(3, 5), ValueError, r"cannot reshape array of shape \(10, 20\) to \(3, 5\)"),
    (lambda d: d.reshape(-1, -1), ValueError, "at most one of them -1"),
    (lambda d: d.reshape(-2), ValueError, "an extent is negative: -2"),
    (lambda d: d.T.ravel(), ValueError, "needs a copy; use reshape_copy"),
    (lambda d: d.transpose(0, 0), ValueError, "no permutation"),
    (lambda d: d.transpose(0), ValueError, "no permutation"),
    (lambda d: d.split(0), ValueError, "the section is 0; use 1 or more"),
    (lambda d: d.view("f8")[0, 0] if d[:, ::2].view("f8") else None, ValueError, "contiguous last axis"),
    (lambda d: d.copy_to_host(np.zeros((10, 20), "i4")), ValueError, "element types .* differ: float32, int32"),
    (lambda d: d.copy_to_host(np.zeros((10, 20), ">f4")), ValueError, "float32, >f4; use arrays of the same type"),
    (lambda d: d.copy_to_host(np.zeros((10, 19), "f4")), ValueError, r"incompatible shape"),
    (lambda d: d.copy_to_host(roc.device_array((10, 20), "f4")), ValueError, "is in device memory"),
    (lambda d: roc.copy(d, d), ValueError, "source and destination overlap"),
    (lambda d: roc.copy(d[1:], d[:-1]), ValueError, "source and destination overlap"),
    (lambda d: d.copy_to_device(d.T), ValueError, "incompatible shape"),
    (lambda d: d.copy_to_device(np.zeros((10, 20), object)), TypeError, "Python objects"),
    (lambda d: d.copy_to_device(np.ma.zeros((10, 20), "f4")), TypeError, "has a mask"),
    (lambda d: len(roc.device_array(())), TypeError, "no length"),
    (lambda d: d[2**70], IndexError, "an index has more than 64 bits"),
    (lambda d: d[-10**5000], IndexError, "an index has more than 64 bits"),
    (lambda d: roc.device_array(2**70), ValueError, "the extent has more than 64 bits"),
    (lambda d: roc.device_array((1, 2**70)), ValueError, "an extent has more than 64 bits"),
    (lambda d: roc.device_array(3, strides=(2**70,)), ValueError, "a stride has more than 64 bits"),
    (lambda d: d.reshape(2**70), ValueError, "extent has more than 64 bits"),
    (lambda d: d.transpose(2**70, 0), ValueError, "an axis has more than 64 bits"),
    (lambda d: d["a\ud800"], IndexError, r"have no field 'a\\ud800': dtype"),
    (lambda d: d.__setitem__("a\ud800", 1), IndexError, r"have no field 'a\\ud800': dtype"),
    (lambda d: d[np.array([1, 2])], TypeError, "an index is of type numpy.ndarray; use integers, slices"),
    (lambda d: d.__array__(copy="a"), TypeError, "copy is of type str; use True, False or None"),
    (lambda d: d.__dlpack__(copy="a"), TypeError, "copy is of type str; use True, False or None"),
    (lambda d: d.__dlpack__(stream="x"), TypeError, "the stream of __dlpack__ is of type str; use an integer"),
    (lambda d: d.__dlpack__(stream=1.5), TypeError, "the stream of __dlpack__ is of type float"),
    (lambda d: d.__dlpack__(stream=2**70), ValueError, "the stream of __dlpack__ has more than 64 bits"),
    (lambda d: d.__dlpack__(stream=-2), ValueError, "the stream -2 is not allowed"),
    (lambda d: d.__dlpack__(max_version=()), ValueError, r"max_version is not valid: \(\); use a tuple of two"),
    (lambda d: d.__dlpack__(max_version=(1, 2**40)), ValueError, "max_version is not valid"),
    (lambda d: d.__dlpack__(dl_device=(12,)), ValueError, r"dl_device is not valid: \(12,\)"),
    (lambda d: d.__dlpack__(dl_device=(12, "0")), ValueError, "dl_device is not valid"),
    (lambda d: d.__dlpack__(dl_device=12), ValueError, "dl_device is not valid: 12"),
])
def test_misuse_is_an_error_with_the_values(make, kind, message):
    host = np.arange(200, dtype=np.float32).reshape(10, 20)
    d = roc.to_device(host)
    with pytest.raises(kind, match=message):
        make(d)
    assert np.array_equal(d.copy_to_host(), host)


def test_arrays_stand_for_shapes_and_axes():
    assert roc.device_array(np.array([2, 3])).shape == (2, 3)
    assert roc.device_array(np.array(4)).shape == (4,) and roc.pinned_array(np.array([2, 3])).shape == (2, 3)
    d = roc.device_array((2, 3), strides=np.array([32, 8]))
    assert d.strides == (32, 8)
    assert roc.device_array(6).reshape(np.array([2, 3])).shape == (2, 3)
    assert roc.device_array(6).reshape(np.array(2), 3).shape == (2, 3)
    assert d.transpose(np.array([1, 0])).shape == (3, 2)
    assert d[np.array(1)].shape == (3,)


def test_bytes_match_records_of_the_same_size():
    records = np.array([(1, 2.5), (3, 4.5)], "i4,f8")
    octets = np.zeros(2, "V12")
    roc.copy(roc.to_device(records), octets)
    assert octets.tobytes() == records.tobytes()
    result = np.zeros(2, "i4,f8")
    roc.copy(roc.to_device(octets), result)
    assert np.array_equal(result, records)
    for other in (np.zeros(2, "V13"), np.zeros(2, "S12"), np.zeros(2, "f8,i4")):
        with pytest.raises(ValueError, match="element types of source and destination differ"):
            roc.copy(roc.to_device(records), other)


def test_item_assignment_converts_arrays_of_rank_0_only():
    d = roc.to_device(np.zeros(4, np.float32))
    d[1:3] = np.array(2)
    assert d.copy_to_host().tolist() == [0, 2, 2, 0]
    with pytest.raises(ValueError, match="element types of source and destination differ"):
        d[1:3] = np.array([1, 2])
