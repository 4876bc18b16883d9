"""tidewatch check BOATS.csv: prints tomorrow's warnings."""
import csv
import sys

from warnings import warnings_for


def main(argv):
    if len(argv) != 2:
        print("usage: tidewatch check BOATS.csv", file=sys.stderr)
        return 2
    with open(argv[1], encoding="utf-8", newline="") as f:
        boats = list(csv.DictReader(f))
    for boat in boats:
        for warning in warnings_for(boat, 0, 24):
            print(warning)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
