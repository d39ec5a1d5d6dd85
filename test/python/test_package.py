# SPDX-License-Identifier: MIT
"""The package: its names, stubs and documentation."""

import ast
import inspect
import pathlib
import re

import rocarray as roc
from rocarray import _rocarray

stubs = ast.parse((pathlib.Path(_rocarray.__file__).parent / "_rocarray.pyi").read_text())


def parameters_of(text):
    """Returns the names of the parameters in the first line of a docstring of pybind11."""
    inside = re.match(r"\w+\((.*)\) -> ", text).group(1)
    inside = re.sub(r"\[[^\]]*\]", "", inside)
    names = [part.split(":")[0].split("=")[0].strip() for part in inside.split(",") if part.strip()]
    return [name for name in names if name not in ("self", "*")]


def parameters_of_stub(node):
    given = node.args
    names = [item.arg for item in given.posonlyargs + given.args]
    names += ["*" + given.vararg.arg] if given.vararg else []
    return [name for name in names + [item.arg for item in given.kwonlyargs] if name != "self"]


def members_of_stub(body):
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def public(names):
    return {name for name in names if not name.startswith("_") or name in protocols}


protocols = {"__array__", "__dlpack__", "__dlpack_device__", "__cuda_array_interface__", "__len__", "__getitem__",
             "__setitem__"}


def test_stubs_have_exactly_the_names_and_parameters_of_the_module():
    described = members_of_stub(stubs.body)
    names = {name for name in vars(_rocarray) if not name.startswith("_")}
    assert {name for name in described if not name.startswith("_")} | {"platform"} == names == set(roc.__all__)
    checked = 0
    for name, node in described.items():
        if name.startswith("_"):
            continue
        actual = getattr(roc, name)
        if isinstance(node, ast.FunctionDef):
            pairs = [(actual, node)]
        else:
            members = members_of_stub(node.body)
            assert public(members) == public(vars(actual)), name
            pairs = [(getattr(actual, member), members[member]) for member in public(members)]
        for value, stub in pairs:
            if inspect.isdatadescriptor(value):
                assert any(getattr(item, "id", "") == "property" for item in stub.decorator_list), stub.name
            elif "*args" not in value.__doc__:
                assert parameters_of(value.__doc__) == parameters_of_stub(stub), stub.name
                checked += 1
    assert checked > 30


def test_every_public_name_is_documented():
    for name in roc.__all__:
        value = getattr(roc, name)
        if name == "platform":
            continue
        assert value.__doc__, name
        members = public(vars(value)) - protocols if inspect.isclass(value) else []
        for member in members:
            text = getattr(value, member).__doc__ or ""
            # The first line of a function is its signature.
            assert len(text.split("\n\n", 1)[-1]) > 15, f"{name}.{member}"


def test_package_is_typed_and_has_a_version():
    assert (pathlib.Path(roc.__file__).parent / "py.typed").exists()
    assert re.fullmatch(r"\d+\.\d+\.\d+", roc.__version__)
    assert roc.platform in ("amd", "nvidia", "host")
