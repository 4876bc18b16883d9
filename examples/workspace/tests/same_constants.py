"""The browser's constants are the server's."""
import re

from tides import CONSTITUENTS

text = open("web/heights.js", encoding="utf-8").read()
for name, (amplitude, speed, phase) in CONSTITUENTS.items():
    row = re.search(rf'\["{name}", ([\d.]+), ([\d.]+), ([\d.]+)\]', text)
    assert row and tuple(map(float, row.groups())) == (amplitude, speed, phase), name
