"""What the comparisons with Python share: files of the corpus, and the binary, with a state folder of its own for each file."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

binary, corpus = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
part = sys.argv[3] if len(sys.argv) > 3 else ""


def files(*endings):
    found = []
    for folder, _, names in os.walk(corpus):
        found += [os.path.join(folder, name) for name in names if name.lower().endswith(endings)]
    return sorted(path for path in found if part in path)


def name(path):
    return os.path.relpath(path, corpus)


def decode(raw, encoding):
    """Text without a byte order mark. windows-1252 as on the web: its five free bytes are control characters."""
    if encoding == "windows-1252":
        return "".join(bytes([b]).decode("cp1252") if b not in (0x81, 0x8d, 0x8f, 0x90, 0x9d) else chr(b) for b in raw)
    return raw.decode(encoding).removeprefix("\ufeff")


class Home:
    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="alisio-corpus-")
        self.env = {"PATH": os.environ["PATH"], "HOME": self.dir, "ALISIO_STATE_HOME": self.dir + "/state",
                    "ALISIO_CONFIG_HOME": self.dir + "/config"}
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir, ignore_errors=True)

    def run(self, *args):
        r = subprocess.run([binary, *args], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, capture_output=True)
        return r.returncode, r.stdout

    def inspect(self, path):
        """The structured description, or None where the file is refused."""
        status, out = self.run("data", "inspect", path, "--json")
        return json.loads(out)["structured"] if status == 0 else None

    def export(self, path, table):
        """Rows of a table by the rules of RFC 4180, as --exact prints them; without the header."""
        status, out = self.run("data", "query", path, 'SELECT * FROM "%s"' % table.replace('"', '""'), "--format", "csv", "--exact")
        if status != 0:
            raise SystemExit("%s: SELECT * failed" % name(path))
        return read_exact(out.decode())[1:]


def read_exact(text):
    """Cells as --exact prints them: comma, LF, quotes where needed. A cell is (text, quoted)."""
    rows, row, at = [], [], 0
    while at < len(text):
        if text[at] == '"':
            cell, at = "", at + 1
            while True:
                close = text.index('"', at)
                cell, at = cell + text[at:close], close + 1
                if text[at] != '"':
                    break
                cell, at = cell + '"', at + 1
            row.append((cell, True))
        else:
            stop = min(i for i in (text.find(",", at), text.index("\n", at)) if i >= 0)
            row.append((text[at:stop], False))
            at = stop
        if text[at] == "\n":
            rows.append(row)
            row = []
        at += 1
    return rows


def each(work, paths):
    """Pairs of a path and what work makes of it, in order, as they come."""
    with ThreadPoolExecutor(int(os.environ.get("ALISIO_JOBS", os.cpu_count()))) as pool:
        yield from zip(paths, pool.map(work, paths))
