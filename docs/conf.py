"""Settings of Sphinx: pages in MyST, notebooks with their stored outputs, reference tables from the code."""

import sys
from pathlib import Path

import kech

sys.path.insert(0, str(Path(__file__).parent / "_code"))

project, author, version = "kech", "The kech authors", kech.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "reference"]
exclude_patterns = ["_code", "pictures/*.py"]
smartquotes = False  # -- is an option, not a dash

myst_heading_anchors = 3
nb_execution_mode = "off"  # tests run the notebooks: tests/test_site.py

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
add_module_names = False

html_theme = "pydata_sphinx_theme"
html_title = "kech"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_show_sourcelink = False
html_sidebars = {"index": []}
html_theme_options = {
    "navbar_start": ["navbar-logo"],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "logo": {"text": "kech"},
}
copyright = "The kech authors, Apache-2.0"
