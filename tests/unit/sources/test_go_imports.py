"""Which files a Go package is built of."""

from __future__ import annotations

from pathlib import Path

from debugger.sources.project_files import imported_go_files

_FILES = {
    "rules/rules_test.go": 'package rules\n\nimport (\n\t"testing"\n\n\t"shop/prices"\n)\n',
    "prices/prices.go": (
        'package prices\n\nimport sums "shop/internal/sums"\n\nvar x = "shop/other"\n'
    ),
    "prices/prices_test.go": 'package prices\n\nimport "shop/other"\n',
    "internal/sums/sums.go": "package sums\n",
    "other/other.go": "package other\n",
    "vendor/far/far.go": "package far\n",
}


def _names(folder: Path, module: str) -> set[str]:
    (folder / "go.mod").write_text(module)
    for name, text in _FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    found = imported_go_files(folder / "rules", folder)
    return {str(one.relative_to(folder)) for one in found}


def test_a_package_has_its_own_tests_and_what_it_imports(tmp_path: Path) -> None:
    assert _names(tmp_path, "module shop\n\ngo 1.21\n") == {
        *("rules/rules_test.go", "prices/prices.go", "internal/sums/sums.go")
    }


def test_a_module_with_replaced_ones_is_searched_as_a_whole(tmp_path: Path) -> None:
    found = _names(tmp_path, "module shop\n\nreplace far => ../far\n")
    assert found >= {"rules/rules_test.go", "other/other.go", "prices/prices_test.go"}
