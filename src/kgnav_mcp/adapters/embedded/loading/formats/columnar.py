"""Columnar files: Parquet and Feather (Arrow IPC). Columns have types, and rows are read in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import binary
from kgnav_mcp.adapters.embedded.loading.formats.tables import typed_format
from kgnav_mcp.adapters.embedded.loading.typed_tables import ARRAY, TypedTable
from kgnav_mcp.errors import LoadError

_BATCH = 20_000
"""Rows in memory at a time."""


def _module(name: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    """A module of the extra."""
    return import_module(name)


def _parquet(path: Path, _: Sequence[str]) -> list[tuple[str, TypedTable]]:
    pa, pq = _module("pyarrow"), _module("pyarrow.parquet")

    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise _not_readable(path, "Parquet", error) from error

    def read() -> Iterator[Sequence[object]]:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    return [(path.name, _arrow_table(schema, read))]


def _feather(path: Path, _: Sequence[str]) -> list[tuple[str, TypedTable]]:
    pa, ipc = _module("pyarrow"), _module("pyarrow.ipc")

    def read() -> Iterator[Sequence[object]]:
        with pa.memory_map(str(path)) as file:
            reader = ipc.open_file(file)
            for number in range(reader.num_record_batches):
                for part in reader.get_batch(number).to_struct_array().to_pylist():
                    yield list(part.values())

    try:
        with pa.memory_map(str(path)) as file:
            schema = ipc.open_file(file).schema
    except (pa.ArrowException, OSError) as error:
        raise _not_readable(path, "Feather", error) from error
    return [(path.name, _arrow_table(schema, read))]


def _arrow_table(schema: Any, read: Callable[[], Iterator[Sequence[object]]]) -> TypedTable:  # noqa: ANN401 - as above
    types = {place: _arrow_datatype(kind) for place, kind in enumerate(schema.types)}
    return TypedTable(tuple(schema.names), read, {place: kind for place, kind in types.items() if kind is not None})


def _arrow_datatype(kind: Any) -> str | None:  # noqa: ANN401 - as above
    types = _module("pyarrow.types")
    tests: tuple[tuple[Callable[[Any], bool], str], ...] = (
        (types.is_boolean, "boolean"),
        (types.is_integer, "integer"),
        (types.is_floating, "float"),
        (types.is_decimal, "float"),
        (types.is_date, "date"),
        (lambda each: types.is_timestamp(each) and each.tz is None, "localdatetime"),
        (types.is_timestamp, "datetime"),
        (types.is_time, "localtime"),
        (types.is_nested, "json"),
    )
    if types.is_dictionary(kind):
        return _arrow_datatype(kind.value_type)
    if types.is_list(kind) or types.is_large_list(kind):
        return f"{_arrow_datatype(kind.value_type) or ''}{ARRAY}"
    return next((datatype for test, datatype in tests if test(kind)), None)


def _not_readable(path: Path, kind: str, error: Exception) -> LoadError:
    return LoadError(
        f"{path.name} looks like a {kind} file that cannot be read: {str(error).strip()}",
        next_step="Write the file again.",
    )


PARQUET = typed_format(
    "parquet", "Parquet", (".parquet",), binary(rb"PAR1[\x00-\x08\x0e-\x1f]"), open_tables=_parquet, extra="columns"
)
FEATHER = typed_format(
    "feather",
    "Feather (Arrow)",
    (".feather", ".arrow"),
    binary(rb"ARROW1\x00\x00"),
    open_tables=_feather,
    extra="columns",
)
