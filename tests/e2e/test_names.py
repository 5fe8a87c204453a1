"""Names of a graph are found as people write them, as `kgnav-bench names` asks for them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kgnav_bench import names, variants
from kgnav_bench.runs import Run
from kgnav_mcp.adapters.embedded.loading import load

NAMES = ("Solar flares", "Solar flare spectra", "Neutron stars", "Planetary nebula", "Galaxies", "Galaxy clusters")

VARIANTS = (
    ("Solar flare", "Solar flare", "Solar flares", "Solra flare", "Solar flae"),
    ("Galaxies", "Galaxy", "Galaxies", "Galaxdes", "Galaxiies"),
    ("The Matrix", "The Matrix", "The matrices", "The Mtarix", "The Matriix"),
    ("Los Angeles", "Los Angele", "Los Angeles", "Los Agneles", "Los Ageles"),
    ("Gaussian process", "Gaussian process", "Gaussian processes", "Gausian process", "Gaussian procses"),
    ("Children of Men", "Children of man", "Children of Men", "Cildren of Men", "Childeen of Men"),
    ("Kiss Me, Kate", "Kiss Me, Kate", "Kiss Me, Kates", "Kiss Me, Kae", "Kiss Me, Kaate"),
    ("St. Louis Cardinals", "St. Louis Cardinal", "St. Louis Cardinals", "St. Louuis Cardinals", "St. Louis Carinals"),
    ("Wolves", "Wolve", "Wolves", "Woolves", "Wolvse"),
    ("Mass", "Mass", "Masses", "Masss", "Maass"),
    ("Crisis", "Crisis", "crises", "Csisis", "Crissi"),
    ("Amélie", "Amélie", "Amélies", "Améie", "Aémlie"),
)
"""Names, each with its singular, its plural, and two typos of the seed 7."""


@pytest.mark.extended
def test_every_name_is_first_in_either_number_and_with_a_typo(tmp_path: Path) -> None:
    (tmp_path / "sky.tsv").write_text("".join(f"{name}\tis\tPhenomenon\n" for name in NAMES), encoding="utf-8")
    load([tmp_path / "sky.tsv"], tmp_path / "sky.kg")
    with Run(tmp_path / "names.jsonl", {}) as record:
        report = names.run(record, tmp_path / "sky.kg", None, 1, 5)
    assert report.count("PASS: ") == 4
    assert "| the name | 7 | 7 of 7 (100 %) | 7 of 7 (100 %) | 0 |" in report
    assert "| its plural | 2 | 2 of 2 (100 %) |" in report
    assert "not first" not in report


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("Solar flare", "Solar flares"),
        ("Galaxy", "Galaxies"),
        ("Planetary nebula", "Planetary nebulae"),
        ("Mass", "Masses"),
        ("Fourier analysis", "Fourier analyses"),
    ],
)
def test_a_name_is_written_in_either_number(one: str, many: str) -> None:
    assert (variants.plural(one), variants.singular(many)) == (many, one)
    assert (variants.plural(many), variants.singular(one)) == (many, one)


def test_a_typo_is_one_slip_inside_a_word_and_the_same_for_a_seed() -> None:
    written = [variants.typo("Solar flares", random.Random(seed)) for seed in range(20)]  # noqa: S311 - no secret
    assert "Solar flares" not in written
    assert written == [variants.typo("Solar flares", random.Random(seed)) for seed in range(20)]  # noqa: S311
    assert variants.typo("Sun", random.Random(1)) == "Sun"  # noqa: S311


def test_the_variants_of_a_seed_never_change_so_that_figures_of_different_versions_compare() -> None:
    chance = random.Random(7)  # noqa: S311 - no secret
    written = [
        (name, variants.singular(name), variants.plural(name), variants.typo(name, chance), variants.typo(name, chance))
        for name, *_ in VARIANTS
    ]
    assert written == list(VARIANTS)
