"""All datasets by name. A new dataset needs a module and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from kgnav_bench.datasets.colota import COLOTA
from kgnav_bench.datasets.cwq import CWQ
from kgnav_bench.datasets.dataset import Dataset
from kgnav_bench.datasets.grailqa import GRAILQA
from kgnav_bench.datasets.grbench import GRBENCH
from kgnav_bench.datasets.metaqa_files import METAQA
from kgnav_bench.datasets.qald import QALD9, QALD9_PLUS, QALD10
from kgnav_bench.datasets.simpleqa import SIMPLEQA
from kgnav_bench.datasets.simplequestions import SIMPLEQUESTIONS, SIMPLEQUESTIONS_WIKIDATA
from kgnav_bench.datasets.wd50k import WD50K
from kgnav_bench.datasets.webqsp import WEBQSP

DATASETS: Mapping[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        SIMPLEQA,
        SIMPLEQUESTIONS,
        SIMPLEQUESTIONS_WIKIDATA,
        WEBQSP,
        CWQ,
        GRAILQA,
        QALD9,
        QALD9_PLUS,
        QALD10,
        COLOTA,
        GRBENCH,
        METAQA,
        WD50K,
    )
}
