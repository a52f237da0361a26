"""How Sphinx builds the documentation: ``make docs``."""

from __future__ import annotations

import os
import warnings

import wavemmf

project = "wavemmf"
copyright = "the wavemmf authors"
version = release = wavemmf.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/**/*.py", "gallery/**/*.ipynb"]
templates_path = ["_templates"]

autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # numpydoc sections say what the parameters are, in words
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # words of a type such as "shape" are no references
napoleon_use_ivar = True
napoleon_custom_sections = [("Shapes", "notes_style")]

# Every example runs, also those whose name does not begin with "plot".
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "plot_gallery": os.environ.get("WAVEMMF_GALLERY", "True"),
    "min_reported_time": 5,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
}

html_theme = "furo"
html_title = f"wavemmf {version}"
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# torch_geometric compiles helpers with the deprecated torch.jit when it is imported.
warnings.filterwarnings("ignore", message=".*torch\\.jit.*", category=DeprecationWarning)
