"""YAML that somebody else wrote, read with bounds: aliases that explode, endless nesting and double keys are faults."""

from typing import Any

import yaml

from bot.errors import BadInputError

_MAX_DEPTH = 60
#: a catalog of 10,000 configs has about 400,000
_MOST_NODES = 2_000_000


def parse_yaml(
    text: str,
    *,
    loader: type[yaml.SafeLoader] = yaml.SafeLoader,
    unique_keys: bool = True,
    most_nodes: int = _MOST_NODES,
) -> Any:
    """The document of a text. `most_nodes`: when every alias is written out. Raises BadInputError, with the line."""
    try:
        # a loader whose folder and size are bounded below; it constructs plain values only
        reader = loader(text)
        try:
            node = reader.get_single_node()
            if node is None:
                return None
            _Measure(unique_keys, most_nodes).size(node, 0)
            return reader.construct_document(node)
        finally:
            reader.dispose()
    except yaml.YAMLError as error:
        raise BadInputError(f"no YAML: {error}") from error
    except RecursionError as error:
        raise BadInputError("nested too deeply") from error
    except (ValueError, TypeError) as error:
        raise BadInputError(f"a value cannot be read: {error}") from error


class _Measure:
    """Counts nodes as if all aliases were written out, without writing them out."""

    def __init__(self, unique_keys: bool, most: int) -> None:
        self._unique_keys = unique_keys
        self._most = most
        self._sizes: dict[int, int | None] = {}

    def size(self, node: yaml.Node, depth: int) -> int:
        if depth > _MAX_DEPTH:
            raise BadInputError(f"line {node.start_mark.line + 1}: nested too deeply")
        known = self._sizes.get(id(node), 0)
        if known is None:
            raise BadInputError(f"line {node.start_mark.line + 1}: an alias holds itself")
        if known:
            return known
        self._sizes[id(node)] = None
        total = 1 + sum(self.size(child, depth + 1) for child in self._children(node))
        if total > self._most:
            raise BadInputError(f"line {node.start_mark.line + 1}: aliases make it too large")
        self._sizes[id(node)] = total
        return total

    def _children(self, node: yaml.Node) -> list[yaml.Node]:
        if isinstance(node, yaml.MappingNode):
            if self._unique_keys:
                _no_double_keys(node)
            return [part for pair in node.value for part in pair]
        return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _no_double_keys(node: yaml.MappingNode) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
            continue
        if key.value in seen:
            raise BadInputError(f"line {key.start_mark.line + 1}: {key.value!r} is there twice")
        seen.add(key.value)
