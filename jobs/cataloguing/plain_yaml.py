"""YAML of people's files, read as what JSON could say: texts, numbers, yes or no, nothing, lists and maps.

One idea: a small file stays small, and whatever is odd in it is a fault in words. So no aliases (which make a million elements
of 300 bytes), no tags and no dates, and what is longer than any number is a text.
"""

from __future__ import annotations

from typing import Any

import yaml

LONGEST = 40
"""Characters of a number."""
TEXT = "tag:yaml.org,2002:str"
TAKEN = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}


class Odd(ValueError):
    """Why a text can't be read, as a sentence without its end."""


def read(text: str) -> Any:
    """What the text says. Raises Odd."""
    try:
        return yaml.load(text, _Plain)  # noqa: S506  (a SafeLoader that takes less)
    except RecursionError as error:
        raise Odd("it is nested too deeply") from error
    except yaml.YAMLError as error:
        raise Odd(" ".join(str(error).split())[:300]) from error


def written(what: Any) -> str:
    """A text that `read` takes, whatever is in it twice."""
    return yaml.dump(what, Dumper=_Whole, sort_keys=False, allow_unicode=True)


# --- private ----------------------------------------------------------------------------------------------------------
class _Plain(yaml.SafeLoader):
    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in pairs if tag in TAKEN]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None:
            raise yaml.composer.ComposerError(None, None, "neither aliases nor tags are taken", event.start_mark)
        return super().compose_node(parent, index)

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        return TEXT if kind is yaml.ScalarNode and len(value) > LONGEST else super().resolve(kind, value, implicit)

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, OverflowError) as error:
            raise yaml.constructor.ConstructorError(None, None, f"this can't be: {node.value[:80]!r}", node.start_mark) from error

    def construct_scalar(self, node: Any) -> Any:
        value = super().construct_scalar(node)
        value.encode()  # raises ValueError for half a character
        if "\0" in value:
            raise ValueError("no database takes this")
        return value


class _Whole(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True
