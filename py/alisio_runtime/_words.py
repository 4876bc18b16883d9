"""The few words that charts bring along, by language. Another language is one more table."""

from __future__ import annotations

_EN = {
    "area": "Area chart",
    "bar": "Bar chart",
    "category": "Category",
    "data": "Data table",
    "donut": "Donut chart",
    "hbar": "Bar chart",
    "line": "Line chart",
    "more": "and {} more",
    "none": "No data",
    "other": "Other",
    "pie": "Pie chart",
    "rows": "The first {} of {} points",
    "scatter": "Scatter plot",
    "share": "Share",
    "total": "Total",
    "value": "Value",
}
_ES = {
    "area": "Gráfico de áreas",
    "bar": "Gráfico de barras",
    "category": "Categoría",
    "data": "Tabla de datos",
    "donut": "Gráfico de anillo",
    "hbar": "Gráfico de barras",
    "line": "Gráfico de líneas",
    "more": "y {} más",
    "none": "Sin datos",
    "other": "Otros",
    "pie": "Gráfico circular",
    "rows": "Los primeros {} de {} puntos",
    "scatter": "Gráfico de dispersión",
    "share": "Parte",
    "total": "Total",
    "value": "Valor",
}
_TABLES = {"en": _EN, "es": _ES}


def words(locale: str | None) -> dict[str, str]:
    """The table for a language tag; English where there is none."""
    return _TABLES.get((locale or "en").split("-")[0].lower(), _EN)
