"""The tests of alisio_runtime, with this interpreter; --all: also with every other Python 3.10 to 3.14 that is found."""

import glob
import os
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def interpreters():
    """Real paths of other interpreters, one for each version."""
    found = []
    for pattern in ("~/.pyenv/versions/3.1[0-4]*/bin/python3", "~/.local/share/uv/python/*/bin/python3"):
        found += sorted(glob.glob(os.path.expanduser(pattern)))
    # Last: a name in PATH may be a slow script that stands for one of those.
    found += [shutil.which(f"python3.{minor}") for minor in range(10, 15) if not any(f"/3.{minor}." in path for path in found)]
    versions = {sys.version_info[:2]: sys.executable}
    for path in found:
        if not path:
            continue
        try:
            asked = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, timeout=20)
            version = tuple(map(int, asked.stdout.split()))
        except (OSError, ValueError, subprocess.TimeoutExpired):
            continue
        if asked.returncode == 0 and (3, 10) <= version <= (3, 14):
            versions.setdefault(version, path)
    del versions[sys.version_info[:2]]
    return versions


def here():
    sys.path.insert(0, HERE)
    sys.dont_write_bytecode = True
    suite = unittest.TestSuite()
    for name in ("test_package", "test_charts", "test_svg", "test_files", "test_random"):
        suite.addTests(unittest.defaultTestLoader.loadTestsFromName(name))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    print(f"Python {sys.version.split()[0]}: {result.testsRun} tests, {len(result.skipped)} skipped")
    for case, reason in result.skipped:
        print(f"  skipped: {case}: {reason}")
    return result.wasSuccessful()


if __name__ == "__main__":
    good = here()
    if "--all" in sys.argv:
        others = interpreters()
        for version, path in sorted(others.items()):
            sys.stdout.flush()
            good = subprocess.run([path, os.path.join(HERE, "run.py")]).returncode == 0 and good
        missing = [f"3.{minor}" for minor in range(10, 15) if (3, minor) not in others and (3, minor) != sys.version_info[:2]]
        if missing:
            print(f"not found here: Python {', '.join(missing)}")
    sys.exit(not good)
