"""A statement that is built by SQLAlchemy once and run by the driver ever after.

Compiling, caching keys and building results cost SQLAlchemy more than SQLite needs to write a row. Statements that run
for every tool call are therefore compiled once for each dialect; what is left is the driver's own cost and some
microseconds (benchmarks/journal_overhead.py measures it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Select, bindparam, insert
from sqlalchemy.exc import DBAPIError

from surefoot.errors import MisuseError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Dialect, Table
    from sqlalchemy.sql.base import Executable
    from sqlalchemy.types import TypeEngine

Row = tuple[Any, ...]
_Process = Callable[[Any], Any]


class _Form(NamedTuple):
    """The statement as one dialect's driver takes it."""

    sql: str
    names: tuple[str, ...]
    positional: bool
    constants: Mapping[str, Any]
    binds: tuple[tuple[str, _Process], ...]
    results: tuple[tuple[int, _Process], ...]

    def parameters(self, values: Mapping[str, Any]) -> Any:
        if self.constants:
            values = {**self.constants, **values}
        if self.binds:
            values = {**values, **{name: process(values[name]) for name, process in self.binds}}
        if self.positional:
            return tuple([values[name] for name in self.names])
        return {name: values[name] for name in self.names}

    def clean(self, found: Sequence[Any]) -> Row:
        """A row of the driver, its values as the columns' types give them."""
        if not self.results:
            return tuple(found)
        values = list(found)
        for place, process in self.results:
            values[place] = process(values[place])
        return tuple(values)


class Prepared:
    """A Core statement, compiled once per dialect.

    Values are given by the names of its `bindparam`s. Lists that expand (`IN`) cannot be prepared. Results are plain
    tuples, their values as the columns' types give them.
    """

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._forms: dict[str, _Form] = {}

    @classmethod
    def insert(cls, table: Table, *columns: str) -> Prepared:
        """An insert of these columns (all of them, when none is named), each value under its column's name."""
        names = columns or tuple(column.name for column in table.columns)
        return cls(insert(table).values({name: bindparam(name) for name in names}))

    def run(self, tx: Connection, /, **values: Any) -> int:
        """Execute it; the number of rows it touched."""
        cursor, _ = self._execute(tx, values)
        count: int = cursor.rowcount
        cursor.close()
        return count

    def many(self, tx: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Execute it once for each of `rows`."""
        for row in rows:
            self._execute(tx, row)[0].close()

    def row(self, tx: Connection, /, **values: Any) -> Row | None:
        """The first row, or None."""
        cursor, form = self._execute(tx, values)
        found = cursor.fetchone()
        cursor.close()
        return None if found is None else form.clean(found)

    def rows(self, tx: Connection, /, **values: Any) -> list[Row]:
        """All rows."""
        cursor, form = self._execute(tx, values)
        found = cursor.fetchall()
        cursor.close()
        return [form.clean(one) for one in found] if form.results else found

    def _execute(self, tx: Connection, values: Mapping[str, Any]) -> tuple[Any, _Form]:
        """The driver's cursor (PEP 249), executed. Its errors come out as SQLAlchemy's, as from any other statement."""
        form = self._forms.get(tx.dialect.name) or self._form(tx.dialect)
        parameters = form.parameters(values)
        cursor = tx.connection.cursor()
        try:
            cursor.execute(form.sql, parameters)
        except Exception as error:
            cursor.close()
            raise _wrapped(error, tx.dialect, form.sql, parameters) from error
        return cursor, form

    def _form(self, dialect: Dialect) -> _Form:
        form = self._forms.get(dialect.name)
        if form is None:
            form = self._forms[dialect.name] = _compile(self._statement, dialect)
        return form


def _compile(statement: Executable, dialect: Dialect) -> _Form:
    compiled: Any = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
    if compiled.post_compile_params or compiled.literal_execute_params:
        raise MisuseError(
            f"A prepared statement cannot hold an expanding list: {compiled}.",
            "Execute it through SQLAlchemy, or compare single values.",
        )
    names = tuple(compiled.positiontup) if compiled.positional else tuple(compiled.params)
    required = {bind.key for bind in compiled.bind_names if bind.required}
    constants = {name: value for name, value in compiled.params.items() if name not in required}
    return _Form(
        str(compiled),
        names,
        bool(compiled.positional),
        constants,
        tuple(_bind_processes(compiled, dialect)),
        tuple(_result_processes(statement, dialect)),
    )


def _wrapped(error: Exception, dialect: Dialect, sql: str, parameters: Any) -> BaseException:
    base = dialect.loaded_dbapi.Error
    if not isinstance(error, base):
        return error
    return DBAPIError.instance(sql, parameters, error, base, hide_parameters=True, dialect=dialect)


def _bind_processes(compiled: Any, dialect: Dialect) -> Iterable[tuple[str, _Process]]:
    for bind, name in compiled.bind_names.items():
        process = _implementation(bind.type, dialect).bind_processor(dialect)
        if process is not None:
            yield name, process


def _result_processes(statement: Executable, dialect: Dialect) -> Iterable[tuple[int, _Process]]:
    if not isinstance(statement, Select):
        return
    for place, column in enumerate(statement.selected_columns):
        process = _implementation(column.type, dialect).result_processor(dialect, None)
        if process is not None:
            yield place, process


def _implementation(type_: TypeEngine[Any], dialect: Dialect) -> TypeEngine[Any]:
    return type_.dialect_impl(dialect)
