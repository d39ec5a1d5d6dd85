# SPDX-License-Identifier: MIT
"""The package: its names, stubs and documentation."""

import ast
import inspect
import pathlib
import re

import pytest

import rocarray as roc
from rocarray import _rocarray

stubs = ast.parse((pathlib.Path(_rocarray.__file__).parent / "_rocarray.pyi").read_text())


def parameters_of(arguments):
    """Returns name, kind and default of each parameter of a function's ast.arguments, without self."""
    positional = [(item, "positional") for item in arguments.posonlyargs] + [(item, "any") for item in arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    result = [(item.arg, kind, default) for (item, kind), default in zip(positional, defaults)]
    # pybind11 has one name for all parameters of this kind.
    result += [("*", "*", None)] if arguments.vararg else []
    result += [(item.arg, "keyword", default) for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    return [item for item in result if item[0] != "self"]


def parameters_of_docstring(text):
    """Returns the parameters in the first line of a docstring of pybind11."""
    return parameters_of(ast.parse(f"def {text.splitlines()[0]}: ...").body[0].args)


def is_same_default(actual, stub):
    if actual is None or stub is None:
        return actual is stub
    return ast.unparse(stub) in ("...", ast.unparse(actual))


def have_same_parameters(actual, stub, is_overload):
    """Compares two results of parameters_of. One overload of several may lack a default."""
    return [item[:2] for item in actual] == [item[:2] for item in stub] and all(
        is_same_default(left, right) or (is_overload and right is None)
        for (_, _, left), (_, _, right) in zip(actual, stub))


def members_of_stub(body):
    """Returns the definitions of each name, several for an overloaded function."""
    result = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            result.setdefault(node.name, []).append(node)
    return result


def public(names):
    return {name for name in names if not name.startswith("_") or name in protocols}


protocols = {"__array__", "__dlpack__", "__dlpack_device__", "__cuda_array_interface__", "__len__", "__getitem__",
             "__setitem__", "__enter__", "__exit__"}


def test_stubs_have_exactly_the_names_and_parameters_of_the_module():
    described = members_of_stub(stubs.body)
    names = {name for name in vars(_rocarray) if not name.startswith("_")}
    assert {name for name in described if not name.startswith("_")} | {"platform"} == names == set(roc.__all__)
    checked = 0
    for name, nodes in described.items():
        if isinstance(nodes[0], ast.ClassDef):
            if name.startswith("_"):
                continue  # a protocol
            actual = getattr(roc, name)
            members = members_of_stub(nodes[0].body)
            assert public(members) == public(vars(actual)), name
            pairs = [(getattr(actual, member), members[member]) for member in public(members)]
        else:
            pairs = [(getattr(_rocarray, name), nodes)]
        for value, definitions in pairs:
            stub = definitions[0].name
            if inspect.isdatadescriptor(value):
                assert any(getattr(item, "id", "") == "property" for item in definitions[0].decorator_list), stub
                continue
            expected = parameters_of_docstring(value.__doc__)
            is_overload = len(definitions) > 1
            given = [parameters_of(node.args) for node in definitions]
            assert all(have_same_parameters(expected, item, is_overload) for item in given), stub
            assert any(have_same_parameters(expected, item, False) for item in given), stub
            checked += 1
    assert checked > 45


def test_classes_without_a_constructor_have_none_in_the_stubs():
    classes = [node for node in stubs.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    assert {node.name for node in classes} == {name for name in roc.__all__ if inspect.isclass(getattr(roc, name))}
    for node in classes:
        # NoReturn has no values: a type checker refuses every call.
        (constructor,) = members_of_stub(node.body)["__init__"]
        assert ast.unparse(constructor.args).endswith(": NoReturn"), node.name
        with pytest.raises(TypeError, match="No constructor defined"):
            getattr(roc, node.name)()


def test_private_functions_that_the_package_uses_have_stubs():
    used = set(re.findall(r"_rocarray\.(_\w+)", pathlib.Path(roc.__file__).read_text()))
    assert used == {"_wait_for_pending_work", "_disable_after_fork"}
    assert used <= set(members_of_stub(stubs.body))


def test_every_public_name_is_documented():
    for name in roc.__all__:
        value = getattr(roc, name)
        if name == "platform":
            continue
        assert value.__doc__, name
        members = public(vars(value)) if inspect.isclass(value) else []
        for member in members:
            text = getattr(value, member).__doc__ or ""
            # The first line of a function is its signature.
            is_function = not inspect.isdatadescriptor(getattr(value, member))
            assert len(text.split("\n\n", 1)[-1]) > 15 and text.count("\n\n") >= is_function, f"{name}.{member}"


def test_docstrings_and_errors_name_types_of_python():
    for name in roc.__all__:
        value = getattr(roc, name)
        for member in [value, *(vars(value).values() if inspect.isclass(value) else ())]:
            text = getattr(member, "__doc__", None) or ""
            assert "::" not in text and not re.search(r"(: |-> )handle\b", text), text
    with pytest.raises(TypeError) as caught:
        roc.stream().wait(3)
    assert "::" not in str(caught.value) and "rocarray._rocarray.Event" in str(caught.value)


def test_package_is_typed_and_has_a_version():
    assert (pathlib.Path(roc.__file__).parent / "py.typed").exists()
    assert re.fullmatch(r"\d+\.\d+\.\d+", roc.__version__)
    assert roc.platform in ("amd", "nvidia", "host")
