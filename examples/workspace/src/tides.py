"""Tide heights by the harmonic method, in metres above chart datum."""
from math import cos, radians

# amplitude in metres, speed in degrees per hour, phase in degrees
CONSTITUENTS = {
    "M2": (1.12, 28.984104, 61.0),
    "S2": (0.41, 30.0, 93.5),
    "N2": (0.23, 28.43973, 42.1),
    "K1": (0.11, 15.041069, 12.7),
}


def height(hours, mean_level=2.4):
    """Height at a time given in hours since the epoch of the constants."""
    total = mean_level
    for amplitude, speed, phase in CONSTITUENTS.values():
        total += amplitude * cos(radians(speed * hours - phase))
    return total


def low_waters(start, end, step=0.1):
    """Times of local minima between start and end, both in hours."""
    times = []
    t = start + step
    while t < end - step:
        here = height(t)
        if height(t - step) > here <= height(t + step):
            times.append(t)
        t += step
    return times
