"""FORMATS.md: what each format states of itself, as its declaration has it.

`python -m service.connectors.files > service/connectors/FORMATS.md`"""

from __future__ import annotations

from service.connectors.declared import table
from service.connectors.files import declared

HEAD = """# Transcript files

What each format states of itself, in the order in which they are asked whether they know a file; `voicegraph formats` lists
it, too. Made from the declarations by `python -m service.connectors.files`, and a test holds the two equal. Behind the
connector times are seconds from one start, whatever the file writes; a label is evidence of who speaks, never more.

"""


def page() -> str:
    return f"{HEAD}{table(declared())}\n"


if __name__ == "__main__":
    print(page(), end="")
