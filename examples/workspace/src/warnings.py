"""Decides who is warned, and when."""
from tides import height, low_waters

SAFETY_MARGIN = 0.3  # metres under the keel


def clearance(draught, hours, depth_at_datum):
    return depth_at_datum + height(hours) - draught


def warnings_for(boat, start, end):
    # NOTE: a boat without a berth depth is skipped, see docs/decisions.md
    if boat.get("depth") is None:
        return []
    found = []
    for t in low_waters(start, end):
        room = clearance(boat["draught"], t, boat["depth"])
        if room < SAFETY_MARGIN:
            found.append({"boat": boat["id"], "at": t, "clearance": round(room, 2)})
    return found
