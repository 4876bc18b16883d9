"""Numbers as text. The page formats with the browser's Intl; this is the same for what is written without one: data
tables, labels for screen readers, static charts. `resolve` turns fmt into Intl.NumberFormat options, which both follow."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from ._check import nearest

_STYLES = ("number", "integer", "percent", "compact", "currency:USD")
_OPTIONS = (
    "style currency currencyDisplay currencySign unit unitDisplay notation compactDisplay signDisplay useGrouping "
    "minimumIntegerDigits minimumFractionDigits maximumFractionDigits minimumSignificantDigits maximumSignificantDigits "
    "roundingMode roundingPriority roundingIncrement trailingZeroDisplay numberingSystem localeMatcher"
).split()
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "KRW": "₩", "BRL": "R$", "CNY": "CN¥"}
_COMPACT = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))
# Decimal mark and group mark by language; what is not named writes 1,234.5.
_COMMA_DOT = {"es", "de", "it", "pt", "nl", "id", "tr", "da", "el", "ro", "hr", "sl", "ca", "gl", "eu", "vi", "is"}
_COMMA_SPACE = {"fr", "ru", "uk", "pl", "cs", "sk", "sv", "nb", "no", "nn", "fi", "hu", "bg", "et", "lt", "lv"}
_DOT_COMMA = {"es-MX", "es-US", "es-419", "es-GT", "es-HN", "es-NI", "es-PA", "es-PE", "es-SV", "es-DO", "es-PR"}


def resolve(fmt: object, values: Iterable[float | None], where: str) -> dict[str, object]:
    """fmt as Intl.NumberFormat options; ValueError that lists the right ones.

    >>> resolve("currency:eur", [12.5], "charts.bar")
    {'style': 'currency', 'currency': 'EUR'}
    >>> resolve("usd", [1], "charts.bar")
    Traceback (most recent call last):
    ...
    ValueError: charts.bar: fmt='usd' is no format; use "currency:USD" for money
    """
    sizes = [abs(v) for v in values if v is not None]
    largest = max(sizes, default=0)
    if fmt is None and 0 < largest < 0.05:
        return {"maximumSignificantDigits": 3}
    if fmt is None or fmt == "number":
        return {"maximumFractionDigits": 2}
    if fmt == "integer":
        return {"maximumFractionDigits": 0}
    if fmt == "percent":
        return {"style": "percent", "maximumFractionDigits": 1}
    if fmt == "compact":
        return {"notation": "compact", "maximumFractionDigits": 1}
    if isinstance(fmt, str):
        found = re.fullmatch(r"currency:([A-Za-z]{3})", fmt.strip())
        if not found:
            raise ValueError(f"{where}: fmt={fmt!r} is no format; {_advice(fmt)}")
        options: dict[str, object] = {"style": "currency", "currency": found[1].upper()}
        if largest >= 1000 or (sizes and all(size.is_integer() for size in sizes)):
            options.update(minimumFractionDigits=0, maximumFractionDigits=0)
        return options
    if isinstance(fmt, Mapping):
        return _checked(fmt, where)
    raise ValueError(f"{where}: fmt is text or a dict of Intl.NumberFormat options, not {type(fmt).__name__}; {_advice('')}")


def _advice(fmt: str) -> str:
    word = fmt.strip().lower()
    money = {"$": "USD", "dollar": "USD", "dollars": "USD", "€": "EUR", "euro": "EUR", "euros": "EUR", "money": "USD"}
    if re.fullmatch(r"[a-z]{3}", word) and word != "int" and word != "pct":
        return f'use "currency:{word.upper()}" for money'
    if word in money or word.startswith("currency"):
        return f'use "currency:{money.get(word, "USD")}" (any ISO code of three letters) for money'
    if "%" in word or word in ("pct", "percentage", "ratio"):
        return 'use "percent" for fractions: 0.25 is shown as 25%'
    if word in ("int", "d", ",", "{:,}", ",d", "{:,.0f}", "0"):
        return 'use "integer" for whole numbers with thousands marks'
    return "use one of " + ", ".join(f'"{s}"' for s in _STYLES) + ", or a dict of Intl.NumberFormat options"


def _checked(fmt: Mapping[object, object], where: str) -> dict[str, object]:
    options: dict[str, object] = {}
    for key, value in fmt.items():
        if key not in _OPTIONS:
            raise ValueError(
                f"{where}: fmt has {key!r}, which Intl.NumberFormat does not know{nearest(str(key), _OPTIONS)} "
                'For example fmt={"style": "unit", "unit": "kilometer", "maximumFractionDigits": 1}'
            )
        if not isinstance(value, (str, int, bool)):
            raise ValueError(f"{where}: fmt[{key!r}] is text, a whole number or a boolean, not {type(value).__name__}")
        options[str(key)] = value
    if options.get("style") == "currency" and "currency" not in options:
        raise ValueError(f'{where}: fmt has the style "currency" and no currency; add "currency": "USD"')
    if options.get("style") == "unit" and "unit" not in options:
        raise ValueError(f'{where}: fmt has the style "unit" and no unit; add "unit": "kilometer"')
    return options


def tag(locale: object, where: str) -> str | None:
    """A language tag, or None for the viewer's own; ValueError for what is none.

    >>> tag("es_CO", "charts.bar")
    'es-CO'
    """
    if locale is None:
        return None
    if not isinstance(locale, str) or not re.fullmatch(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*", locale):
        raise ValueError(f'{where}: locale is a language tag such as "en-US" or "es-CO", not {locale!r}')
    return locale.replace("_", "-")


def marks(locale: str | None) -> tuple[str, str]:
    """Decimal mark and group mark."""
    language = (locale or "en").split("-")[0].lower()
    if locale in _DOT_COMMA:
        return ".", ","
    if locale == "de-CH":
        return ".", "\u2019"
    if language in _COMMA_DOT:
        return ",", "."
    if language in _COMMA_SPACE:
        return ",", "\u202f" if language == "fr" else "\u00a0"
    return ".", ","


def number(value: float, least: int, most: int, locale: str | None = None, grouping: bool = True) -> str:
    """With least to most digits after the mark, halves away from zero, as Intl rounds."""
    from decimal import ROUND_HALF_UP, Decimal

    decimal, group = marks(locale)
    try:
        rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-most), rounding=ROUND_HALF_UP)
    except ArithmeticError:  # more digits than a decimal context holds
        rounded = Decimal(repr(value)).to_integral_value()
    whole, _, rest = format(abs(rounded), "f").partition(".")
    rest = rest[:least] + rest[least:].rstrip("0")
    if grouping:
        whole = f"{int(whole):,}".replace(",", group)
    return ("-" if rounded < 0 else "") + whole + (decimal + rest if rest else "")


def column(values: Iterable[float | int | None]) -> list[str]:
    """The numbers of a column alike: with thousands marks when one is large, and as many digits as the longest needs.

    >>> column([1204.5, 87, None, 15320]), column([2024, 2025])
    (['1,204.5', '87.0', '', '15,320.0'], ['2024', '2025'])
    """
    given = list(values)
    exact = [repr(value + 0.0) for value in given if isinstance(value, float) and math.isfinite(value)]
    digits = max((len(text.partition(".")[2]) for text in exact if "e" not in text and not text.endswith(".0")), default=0)
    grouping = any(value is not None and math.isfinite(value) and abs(value) >= 10_000 for value in given)
    found = []
    for value in given:
        if value is None:
            found.append("")
        elif isinstance(value, int):
            found.append((f"{value:,}" if grouping else str(value)) + ("." + "0" * digits if 0 < digits <= 4 else ""))
        elif not math.isfinite(value):
            found.append("—")
        elif "e" in repr(value) or digits > 4:  # measured, not counted: as exact as it is
            found.append(repr(value))
        else:
            found.append(number(value, digits, digits, None, grouping))
    return found


class Format:
    """Writes numbers as Intl.NumberFormat with the same options would, as far as a page without it needs.

    >>> Format({"style": "percent", "maximumFractionDigits": 1})(0.1234)
    '12.3%'
    >>> Format({"notation": "compact", "maximumFractionDigits": 1})(1_234_567)
    '1.2M'
    >>> Format({"maximumFractionDigits": 2}, "es-CO", "kg")(1234.5)
    '1.234,5\\xa0kg'
    """

    def __init__(self, options: Mapping[str, object], locale: str | None = None, unit: str | None = None) -> None:
        self.options = options
        self.locale = locale
        self.unit = unit

    def __call__(self, value: float | None) -> str:
        if value is None or not math.isfinite(value):
            return "—"
        text = self._number(value)
        return text + ("" if self.unit == "%" else "\u00a0") + self.unit if self.unit else text

    def _digits(self, least: int, most: int) -> tuple[int, int]:
        low, high = self.options.get("minimumFractionDigits"), self.options.get("maximumFractionDigits")
        least = low if isinstance(low, int) else min(least, high) if isinstance(high, int) else least
        most = high if isinstance(high, int) else max(most, least)
        return min(least, 20), min(max(most, least), 20)

    def _number(self, value: float) -> str:
        options = self.options
        style = options.get("style")
        grouping = options.get("useGrouping") not in (False, "false", "never")
        suffix = ""
        if style == "percent":
            value *= 100
            least, most = self._digits(0, 0)
        elif style == "currency":
            usual = 0 if options.get("currency") in ("JPY", "KRW", "CLP", "VND", "ISK") else 2
            least, most = self._digits(usual, usual)
        else:
            least, most = self._digits(0, 3)
        if options.get("notation") == "compact":
            least, most = self._digits(0, 1 if abs(value) < 100 else 0)
            for i, (size, letter) in enumerate(_COMPACT):
                if abs(value) >= size * 0.9995:
                    value, suffix = value / size, letter
                    break
        significant = options.get("maximumSignificantDigits")
        if isinstance(significant, int) and value:
            least, most = 0, max(0, min(20, significant - 1 - math.floor(math.log10(abs(value)))))
        text = number(value, least, most, self.locale, grouping) + suffix
        if style == "percent":
            return text + ("%" if marks(self.locale)[0] == "." else "\u00a0%")
        if style == "currency":
            return self._money(text, str(options.get("currency")))
        return text

    def _money(self, text: str, code: str) -> str:
        symbol = _SYMBOLS.get(code, code)
        if marks(self.locale)[0] == ",":
            return f"{text}\u00a0{symbol}"
        sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
        return sign + symbol + ("" if len(symbol) < 3 or symbol == "CN¥" else "\u00a0") + text
