# SPDX-License-Identifier: MIT
# Settings of Sphinx. scripts/docs sets the two environment variables and runs sphinx-build.

import collections
import copy
import fnmatch
import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from sphinx.util import logging

xml_directory = Path(os.environ["ROCARRAY_DOCS_XML"])  # written by Doxygen

project = "rocarray"
release = os.environ["ROCARRAY_DOCS_VERSION"]
version = release
copyright = "the authors of rocarray"  # noqa: A001, the name that Sphinx reads

extensions = ["breathe", "myst_parser"]
root_doc = "index"
exclude_patterns = ["Doxyfile"]
highlight_language = "cpp"

html_theme = "furo"
html_title = f"rocarray {release}"
html_static_path = ["_static"]
html_css_files = ["rocarray.css"]
html_js_files = [("theme.js", {"priority": 900})]  # after furo's script
html_copy_source = False
html_show_sphinx = False

myst_heading_anchors = 3  # links to headings are the ones that GitHub has
myst_enable_extensions = ["deflist"]

breathe_projects = {"rocarray": str(xml_directory)}
breathe_default_project = "rocarray"
breathe_default_members = ("members",)
breathe_order_parameters_first = True

# Attributes that precede declarations; Sphinx does not know them.
cpp_id_attributes = ["ROCARRAY_API", "ROCARRAY_HOST_DEVICE"]

# A page of the reference lists names or globs, one per line, in a block ```{api}. Each name becomes
# the directive of Breathe for its kind. Breathe has no directive for all overloads of a function, so
# each function name becomes a group of Doxygen's that holds its overloads.

logger = logging.getLogger(__name__)
directives = {
    "class": "doxygenclass",
    "struct": "doxygenstruct",
    "enum": "doxygenenum",
    "typedef": "doxygentypedef",
    "variable": "doxygenvariable",
    "define": "doxygendefine",
    "function": "doxygengroup",
}
public_namespaces = ("roc", "roc::access")
base_classes = ("roc::memory_resource",)  # programs derive from them: protected members are shown


def xml_file(compound):
    """Returns the path of the XML file of an entry of Doxygen's index."""
    return xml_directory / (compound.get("refid") + ".xml")


def read_public_names(index):
    """Returns {qualified name: kind} of the public declarations, and {qualified name of a function:
    [XML of an overload, ...]}. Removes initializers from the XML files of the namespaces. Names of
    the C interface begin with roc_ and are in no namespace."""
    kinds = {}
    overloads = collections.defaultdict(list)
    for compound in index.iter("compound"):
        kind, name = compound.get("kind"), compound.findtext("name")
        if kind in ("class", "struct") and re.fullmatch(r"roc::(misuse::)?\w+|roc_\w+", name):
            kinds[name] = kind
        elif kind == "namespace" and name in public_namespaces:
            tree = ElementTree.parse(xml_file(compound))
            for member in tree.getroot().iter("memberdef"):
                qualified = f"{name}::{member.findtext('name')}"
                if member.findtext("definition", "").startswith("roc::"):
                    continue  # a deduction guide
                kinds[qualified] = member.get("kind")
                if member.get("kind") == "function":
                    member.find("name").text = qualified
                    overloads[qualified].append(member)
                for initializer in member.findall("initializer"):
                    member.remove(initializer)  # Sphinx cannot parse lambdas
            tree.write(xml_file(compound))
        elif kind == "file":
            for member in ElementTree.parse(xml_file(compound)).getroot().iter("memberdef"):
                if member.get("kind") == "define" and member.findtext("briefdescription/para"):
                    kinds[member.findtext("name")] = "define"
                elif name == "c.h" and member.findtext("name").startswith("roc_"):
                    # A struct is also a typedef, which has no members.
                    kinds.setdefault(member.findtext("name"), member.get("kind"))
                    if member.get("kind") == "function":
                        overloads[member.findtext("name")].append(member)
    return kinds, overloads


def add_group(index, name, members):
    """Adds a group named `name` with these functions to Doxygen's XML."""
    refid = "group__" + re.sub(r"\W", lambda match: f"_{ord(match.group()):x}", name)
    root = ElementTree.Element("doxygen")
    group = ElementTree.SubElement(root, "compounddef", id=refid, kind="group")
    ElementTree.SubElement(group, "compoundname").text = name
    ElementTree.SubElement(group, "sectiondef", kind="func").extend(members)
    ElementTree.ElementTree(root).write(xml_directory / f"{refid}.xml")
    entry = ElementTree.SubElement(index, "compound", refid=refid, kind="group")
    ElementTree.SubElement(entry, "name").text = name


def remove_deleted_overloads(root):
    """Removes the overloads that are deleted for incorrect use: the page of errors lists the reasons."""
    for section in list(root.iter("sectiondef")):
        for member in section.findall("memberdef"):
            if any("incorrect_use" in "".join(parameter.itertext())
                   for parameter in member.findall("templateparamlist/param/type")):
                section.remove(member)
    for compound in root.iter("compounddef"):
        for section in compound.findall("sectiondef"):
            if section.find("memberdef") is None:
                compound.remove(section)


def adapt_members():
    """Removes deleted overloads, and makes an entry of each exception of "@throws a, b", as Breathe
    needs it."""
    for path in xml_directory.glob("*roc*.xml"):
        tree = ElementTree.parse(path)
        remove_deleted_overloads(tree.getroot())
        for parameters in tree.getroot().iter("parameterlist"):
            if parameters.get("kind") != "exception":
                continue
            for position, item in reversed(list(enumerate(parameters))):
                names = item.find("parameternamelist")
                for name in reversed(names.findall("parametername")[1:]):
                    names.remove(name)
                    single = copy.deepcopy(item)
                    single.find("parameternamelist")[:] = [name]
                    parameters.insert(position + 1, single)
        tree.write(path)


def prepare_xml():
    """Changes Doxygen's XML for Breathe; returns {qualified name: kind} of the public declarations."""
    adapt_members()
    tree = ElementTree.parse(xml_directory / "index.xml")
    kinds, overloads = read_public_names(tree.getroot())
    for name, members in overloads.items():
        add_group(tree.getroot(), name, members)
    tree.write(xml_directory / "index.xml")
    return kinds


kinds = prepare_xml()
listed_names = set()


def expand_api_blocks(app, document, source):
    """Replaces the ```{api} blocks of a page by directives of Breathe."""

    def names_of(pattern):
        """Returns the public names that match, and marks them as listed. Warns if there is none."""
        names = fnmatch.filter(kinds, pattern)
        if not names:
            logger.warning("%s lists %s, which no public header declares", document, pattern)
        listed_names.update(names)
        return names

    def directive(name):
        """Returns the block with Breathe's directive for a name."""
        options = ":content-only:\n" if kinds[name] == "function" else ""
        if name in base_classes:
            options = ":members:\n:protected-members:\n"
        return f"```{{{directives[kinds[name]]}}} {name}\n{options}```"

    def expand(block):
        """Returns the directives for the match of an {api} block."""
        names = [name for pattern in block.group(1).split() for name in names_of(pattern)]
        return "\n\n".join(directive(name) for name in names)

    # The reasons of compile errors are in a definition list.
    listed_names.update(f"roc::{name}" for name in re.findall(r"`(misuse::\w+)`", source[0]))
    source[0] = re.sub(r"^```\{api\}\n(.*?)^```$", expand, source[0], flags=re.S | re.M)


def check_all_names_listed(app, env):
    """Warns of public names, except macros, that no page of the reference lists."""
    for name in sorted(set(kinds) - listed_names):
        if kinds[name] == "define":
            continue
        logger.warning("no page of docs/reference lists %s", name)


def setup(app):
    app.connect("source-read", expand_api_blocks)
    app.connect("env-updated", check_all_names_listed)
