"""English and Italian: the words on the screen, and how each language writes numbers.

The texts are gettext catalogues, one file a page, under `assets/texts/<language>/`. A message has
a key ("roofline.title"), and the English catalogue holds the English. They are read as they are:
there is nothing to compile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Formatter

from babel import Locale, UnknownLocaleError
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

TEXTS = Path(__file__).resolve().parent.parent.parent / "assets" / "texts"
LANGUAGES = {"en": "English", "it": "Italiano"}
DEFAULT_LANGUAGE = "en"

# Tests set this: a key that is missing then stops the test instead of showing English.
strict = False


class MissingText(KeyError):
    """A key that no catalogue of the language holds."""


class Words:
    """The words of one language: call it with a key and the values of its placeholders.

    Parameters
    ----------
    code : str
        'en' or 'it'.

    Attributes
    ----------
    code : str
        The language, as in `lang` of HTML and of the URL.
    decimal, group : str
        What separates decimals, and thousands.

    Examples
    --------
    >>> Words("en")("roofline.nav"), Words("it").decimal
    ('Roofline', ',')
    """

    def __init__(self, code: str) -> None:
        self.code = code if code in LANGUAGES else DEFAULT_LANGUAGE
        symbols = Locale(self.code).number_symbols["latn"]
        self.decimal: str = symbols["decimal"]
        self.group: str = symbols["group"]
        self._texts = texts(self.code)

    def __repr__(self) -> str:
        return f"Words({self.code!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words) and other.code == self.code

    def __hash__(self) -> int:
        return hash(self.code)

    def __call__(self, key: str, **values: object) -> str:
        """Return the text of a key with its placeholders filled in.

        Raises
        ------
        MissingText
            In tests only. At run time English is shown, or else the key itself.
        """
        return self._forms(key)[0].format(**values)

    def each(self, key: str, values: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the text of a key once for each row of its placeholders' values.

        Parameters
        ----------
        values : mapping of str to sequence of str
            Columns of equal length; more of them than the text has placeholders do no harm.

        Examples
        --------
        >>> Words("en").each("player.play", {"unused": ["a", "b"]})
        ['Play', 'Play']
        """
        pieces = _pieces(self._forms(key)[0])
        count = len(next(iter(values.values())))
        columns = [values[name] if is_name else [name] * count for name, is_name in pieces]
        return ["".join(row) for row in zip(*columns, strict=True)]

    def placeholders(self, key: str) -> list[str]:
        """Return the names of a text's placeholders, in order, each once.

        Examples
        --------
        >>> Words("en").placeholders("player.slower")
        ['times']
        """
        return list(dict.fromkeys(n for n, is_name in _pieces(self._forms(key)[0]) if is_name))

    def plural(self, key: str, count: float, **values: object) -> str:
        """Return the form of a text that goes with `count`; `{count}` stands for the number.

        Examples
        --------
        >>> Words("en").plural("unit.tokens", 1), Words("en").plural("unit.tokens", 2)
        ('token', 'tokens')
        """
        forms = self._forms(key)
        # English and Italian have the same two forms; a language with others needs its own rule.
        return forms[0 if count == 1 else -1].format(**({"count": count} | values))

    @property
    def separators(self) -> str:
        """The decimal and the thousands separator, as Plotly's `layout.separators` wants them."""
        return self.decimal + self.group

    def _forms(self, key: str) -> tuple[str, ...]:
        found = self._texts.get(key)
        if found is not None:
            return found
        if strict:
            raise MissingText(f"{key} is missing in {self.code}")
        return texts(DEFAULT_LANGUAGE).get(key, (key,))


@cache
def _pieces(text: str) -> list[tuple[str, bool]]:
    """Split a text into its literal pieces and the names of its placeholders.

    Examples
    --------
    >>> _pieces("a {b}!")
    [('a ', False), ('b', True), ('!', False)]
    """
    pieces = []
    for literal, name, _, _ in Formatter().parse(text):
        if literal:
            pieces.append((literal, False))
        if name is not None:
            pieces.append((name, True))
    return pieces


@cache
def texts(code: str) -> dict[str, tuple[str, ...]]:
    """Return all texts of a language by key: one form, or one a plural."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted((TEXTS / code).glob("*.po")):
        for message in messages(path):
            key = message.id if isinstance(message.id, str) else message.id[0]
            if key in found:
                raise ValueError(f"{path.name}: {key} is in two catalogues of {code}")
            found[key] = (
                (message.string,) if isinstance(message.string, str) else tuple(message.string)
            )
    return found


def messages(path: Path) -> list[Message]:
    """Read one .po file, without its header."""
    with path.open("rb") as file:
        return [message for message in read_po(file) if message.id]


@cache
def words(code: str) -> Words:
    """Return the words of a language, or of English when there is no such language."""
    return Words(code)


def language_code(asked: Iterable[str | None]) -> str:
    """Return the first language asked for that there is, in order of preference.

    Parameters
    ----------
    asked : iterable of str or None
        Such as the `lang` of the URL, then the browser's locale.

    Examples
    --------
    >>> language_code([None, "it-CH"]), language_code(["fr", None])
    ('it', 'en')
    """
    for name in asked:
        try:
            code = Locale.parse((name or "").strip().replace("-", "_")).language
        except (ValueError, TypeError, UnknownLocaleError):
            continue
        if code in LANGUAGES:
            return code
    return DEFAULT_LANGUAGE
