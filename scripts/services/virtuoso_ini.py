"""Virtuoso's configuration for one instance, and the stored state of such an instance."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .instance import HOST, Instance


@dataclass(frozen=True)
class VirtuosoInstance(Instance):
    """`sql_port` is the administrator's port. `secured`: whether the password has been set on the store."""

    sql_port: int
    password: str
    secured: bool = False


_TEXT = """\
[Database]
DatabaseFile = {home}/database/virtuoso.db
ErrorLogFile = {home}/database/virtuoso.log
LockFile = {home}/database/virtuoso.lck
TransactionFile = {home}/database/virtuoso.trx
xa_persistent_file = {home}/database/virtuoso.pxa
ErrorLogLevel = 7
FileExtend = 200

[TempDatabase]
DatabaseFile = {home}/database/temporary.db
TransactionFile = {home}/database/temporary.trx
MaxCheckpointRemap = 2000

[Parameters]
ServerPort = {host}:{sql_port}
DisableUnixSocket = 1
DirsAllowed = {home}/incoming
NumberOfBuffers = 60000
MaxDirtyBuffers = 45000
MaxCheckpointRemap = 2000
CheckpointInterval = 60
SchedulerInterval = 10

[HTTPServer]
ServerPort = {host}:{port}
ServerThreads = 20
KeepAliveTimeout = 10
MaxKeepAlives = 10

[SPARQL]
ResultSetMaxRows = 10000
MaxQueryCostEstimationTime = 400
MaxQueryExecutionTime = 60
"""
"""The SPARQL limits are those of the package's own configuration, so that tests meet the same limits as users.

60,000 buffers of 8 kB hold some ten million triples in 500 MB.
"""


def configuration(home: Path, instance: VirtuosoInstance) -> str:
    """The text of the instance's virtuoso.ini, with all files under `home` and both ports on loopback only."""
    return _TEXT.format(home=home, host=HOST, port=instance.port, sql_port=instance.sql_port)
