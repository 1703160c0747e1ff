"""The site: `pip install ".[docs]" && sphinx-build -W -b html docs build/site`."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "extensions"))

import stator  # noqa: E402

project = "stator"
author = "the stator developers"
copyright = "2026, the stator developers"
version = release = stator.__version__

extensions = [
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "reference",
    "top_pages",
    "plots",
]
exclude_patterns = ["extensions", "gallery/*.ipynb"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = True
smartquotes = False  # texts have code outside of quotes

# Pages link to headings of each other, and use tables of GitHub's Markdown.
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
# Files of the repository that are not pages are shown where they are kept.
myst_url_schemes = {"http": None, "https": None}

# Each example of the gallery is run once, in the build, and shows the pictures that it draws.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"[\\/]\d\d_\w+\.py",
    "ignore_pattern": r"__init__\.py|command\.py|[\\/]plugin[\\/]",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "abort_on_example_error": True,
    "copyfile_regex": r"",
}

html_theme = "furo"
html_title = "stator"
html_static_path = ["style"]
html_css_files = ["plots.css", "tables.css"]
copybutton_exclude = ".linenos, .gp, .go"
