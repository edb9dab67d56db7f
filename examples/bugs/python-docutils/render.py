"""Renders a page of a manual as docutils understands it, and says what it could not resolve."""

import sys

from docutils.core import publish_string


def main(name):
    with open(name, encoding="utf-8") as page:
        tree = publish_string(
            page.read(),
            source_path=name,
            writer="pseudoxml",
            settings_overrides={"output_encoding": "unicode", "report_level": 5},
        )
    broken = [line.strip() for line in tree.splitlines() if "<problematic" in line]
    print(f"{name}: {len(tree.splitlines())} lines, {len(broken)} broken references")
    return 1 if broken else 0


sys.exit(main(sys.argv[1]))
