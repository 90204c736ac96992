"""Foreign and primary keys over several columns."""

from collections.abc import Sequence
from typing import Any

from django.core import checks
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db import DEFAULT_DB_ALIAS, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Columns, Reference, Statement, Table


class CompositeForeignKey(models.BaseConstraint):
    """A foreign key over several fields, to fields that are unique together.

    `on_delete` is SQL: "CASCADE", "SET NULL (entry_id)"; by default the database
    refuses to delete a referenced row.
    """

    def __init__(
        self,
        *,
        name: str,
        fields: Sequence[str],
        to: str,
        to_fields: Sequence[str],
        on_delete: str = "",
        violation_error_code: str | None = None,
        violation_error_message: str | None = None,
    ) -> None:
        if len(fields) != len(to_fields):
            raise ValueError("fields and to_fields must have the same length.")
        super().__init__(
            name=name,
            violation_error_code=violation_error_code,
            violation_error_message=violation_error_message,
        )
        self.fields = tuple(fields)
        self.to = to
        self.to_fields = tuple(to_fields)
        self.on_delete = on_delete

    def constraint_sql(  # type: ignore[override]
        self, model: type[models.Model], schema_editor: BaseDatabaseSchemaEditor
    ) -> str:
        """Add nothing to CREATE TABLE: the referenced table may not exist yet."""
        return self.create_sql(model, schema_editor)

    def create_sql(  # type: ignore[override]
        self, model: type[models.Model], schema_editor: BaseDatabaseSchemaEditor
    ) -> str:
        """Defer the constraint to the end of the migration."""
        table = model._meta.db_table
        quote_name = schema_editor.quote_name
        columns = [_field(model, name).column for name in self.fields]
        schema_editor.deferred_sql.append(
            Statement(
                "ALTER TABLE %(table)s ADD CONSTRAINT %(name)s "
                "FOREIGN KEY (%(columns)s) REFERENCES %(target)s%(on_delete)s",
                table=Table(table, quote_name),
                name=quote_name(self.name),
                columns=Columns(table, columns, quote_name),
                target=_Target(self, model, schema_editor),
                on_delete=f" ON DELETE {self.on_delete}" if self.on_delete else "",
            )
        )
        return ""

    def remove_sql(  # type: ignore[override]
        self, model: type[models.Model], schema_editor: BaseDatabaseSchemaEditor
    ) -> Statement:
        # `sql_delete_fk` sets the constraint IMMEDIATE, which PostgreSQL refuses unless
        # it is deferrable.
        return schema_editor._delete_constraint_sql(  # type: ignore[attr-defined, no-any-return]  # noqa: SLF001
            schema_editor.sql_delete_constraint, model, self.name
        )

    def target_model(self, model: type[models.Model]) -> type[models.Model]:
        if self.to == "self":
            return model
        return model._meta.apps.get_model(self.to)

    def validate(
        self,
        model: type[models.Model],
        instance: models.Model,
        exclude: Any = None,
        using: str = DEFAULT_DB_ALIAS,
    ) -> None:
        fields = [_field(model, name) for name in self.fields]
        if any(field.generated for field in fields):
            return
        if exclude and not set(self.fields).isdisjoint(exclude):
            return
        values = [getattr(instance, field.attname) for field in fields]
        if None in values:
            return
        key = dict(zip(self.to_fields, values, strict=True))
        target = self.target_model(model)._base_manager.using(using)  # noqa: SLF001
        if not target.filter(**key).exists():
            raise ValidationError(
                self.get_violation_error_message(), code=self.violation_error_code
            )

    def _check(
        self, model: type[models.Model], connection: BaseDatabaseWrapper
    ) -> list[checks.CheckMessage]:
        errors: list[checks.CheckMessage] = list(
            model._check_local_fields(  # type: ignore[attr-defined]  # noqa: SLF001
                self.fields, "constraints"
            )
        )
        try:
            target = self.target_model(model)
            columns = {target._meta.get_field(name) for name in self.to_fields}
        except (LookupError, FieldDoesNotExist) as error:
            return [
                *errors,
                checks.Error(f"{self.name}: {error}", obj=model, id="core.E001"),
            ]
        unique = [
            {target._meta.get_field(name) for name in constraint.fields}
            for constraint in target._meta.constraints
            if isinstance(constraint, TablePrimaryKey)
            or (
                isinstance(constraint, models.UniqueConstraint)
                and constraint.fields
                and constraint.condition is None
            )
        ]
        if columns not in [*unique, {target._meta.pk}]:
            errors.append(
                checks.Error(
                    f"{self.name}: no unique constraint of {target._meta.label} "
                    f"covers exactly {', '.join(self.to_fields)}.",
                    obj=model,
                    id="core.E002",
                )
            )
        return errors

    def deconstruct(self) -> tuple[str, tuple[()], dict[str, Any]]:
        path, _, kwargs = super().deconstruct()
        kwargs |= {"fields": self.fields, "to": self.to, "to_fields": self.to_fields}
        if self.on_delete:
            kwargs["on_delete"] = self.on_delete
        return path, (), kwargs

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CompositeForeignKey):
            return self.deconstruct() == other.deconstruct()
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, self.fields, self.to, self.to_fields, self.on_delete))

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: name={self.name!r} fields={self.fields!r} "
            f"to={self.to!r} to_fields={self.to_fields!r}>"
        )


class TablePrimaryKey(models.BaseConstraint):
    """The table's primary key (member_id, id), so that members can be distributed.

    Django's `pk` stays `id`: its foreign keys and its admin know no composite keys.
    """

    def __init__(
        self,
        *,
        name: str,
        fields: Sequence[str],
        violation_error_code: str | None = None,
        violation_error_message: str | None = None,
    ) -> None:
        super().__init__(
            name=name,
            violation_error_code=violation_error_code,
            violation_error_message=violation_error_message,
        )
        self.fields = tuple(fields)

    def constraint_sql(  # type: ignore[override]
        self, model: type[models.Model], schema_editor: BaseDatabaseSchemaEditor
    ) -> str:
        """Add nothing to CREATE TABLE, which has Django's primary key at first."""
        return self.create_sql(model, schema_editor)

    def create_sql(  # type: ignore[override]
        self, model: type[models.Model], schema_editor: BaseDatabaseSchemaEditor
    ) -> str:
        columns = [_field(model, name).column for name in self.fields]
        schema_editor.deferred_sql.insert(
            0, self._replace_key(model, schema_editor, columns)
        )
        return ""

    def remove_sql(  # type: ignore[override]
        self, model: type[models.Model], schema_editor: BaseDatabaseSchemaEditor
    ) -> Statement:
        return self._replace_key(model, schema_editor, [str(model._meta.pk.column)])

    def _replace_key(
        self,
        model: type[models.Model],
        schema_editor: BaseDatabaseSchemaEditor,
        columns: list[str],
    ) -> Statement:
        table, quote_name = model._meta.db_table, schema_editor.quote_name
        return Statement(
            "ALTER TABLE %(table)s DROP CONSTRAINT %(name)s, "
            "ADD CONSTRAINT %(name)s PRIMARY KEY (%(columns)s)",
            table=Table(table, quote_name),
            name=quote_name(self.name),
            columns=Columns(table, columns, quote_name),
        )

    def validate(
        self,
        model: type[models.Model],
        instance: models.Model,
        exclude: Any = None,
        using: str = DEFAULT_DB_ALIAS,
    ) -> None:
        """Check nothing: `id` is unique by itself."""

    def deconstruct(self) -> tuple[str, tuple[()], dict[str, Any]]:
        path, _, kwargs = super().deconstruct()
        return path, (), kwargs | {"fields": self.fields}

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TablePrimaryKey):
            return self.deconstruct() == other.deconstruct()
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, self.fields))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: name={self.name!r} fields={self.fields!r}>"


class _Target(Reference):
    """The referenced table, looked up at execution."""

    def __init__(
        self,
        constraint: CompositeForeignKey,
        model: type[models.Model],
        schema_editor: BaseDatabaseSchemaEditor,
    ) -> None:
        self.constraint = constraint
        self.model = model
        self.quote_name = schema_editor.quote_name

    def references_table(self, table: str) -> bool:
        try:
            return self.constraint.target_model(self.model)._meta.db_table == table
        except LookupError:
            return False

    def __str__(self) -> str:
        target = self.constraint.target_model(self.model)
        columns = (_field(target, name).column for name in self.constraint.to_fields)
        table = self.quote_name(target._meta.db_table)
        return f"{table} ({', '.join(map(self.quote_name, columns))})"


def _field(model: type[models.Model], name: str) -> Any:
    """Return `Any`: `get_field` is typed for reverse relations too."""
    return model._meta.get_field(name)
