"""What scripts do every day, under the filter of a guest: prints "fine", or what does not work."""
import asyncio
import concurrent.futures
import ctypes
import mmap
import multiprocessing
import os
import pathlib
import platform
import resource
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import tempfile
import threading
import uuid

# Without namespaces there are no sockets, so nothing that waits for others at one.
ALONE = bool(os.environ.get("ALONE"))


def square(x):
    return x * x


def threads():
    got = []
    all_of_them = [threading.Thread(target=got.append, args=(i,)) for i in range(8)]
    for t in all_of_them:
        t.start()
    for t in all_of_them:
        t.join()
    assert len(got) == 8


def programs():
    done = subprocess.run(["/bin/sh", "-c", "echo hi"], capture_output=True, text=True, start_new_session=True)
    assert done.stdout == "hi\n"


def processes():
    for how in ("fork", "spawn"):
        with multiprocessing.get_context(how).Pool(2) as pool:
            assert pool.map(square, [1, 2, 3]) == [1, 4, 9], how
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        assert list(pool.map(square, [4])) == [16]


def waiting():
    async def main():
        p = await asyncio.create_subprocess_exec("/bin/echo", "x", stdout=asyncio.subprocess.PIPE)
        assert (await p.communicate())[0] == b"x\n"
        assert await asyncio.to_thread(square, 4) == 16

    asyncio.run(main())


def databases():
    db = sqlite3.connect("a.db")
    db.execute("pragma journal_mode = wal")
    db.execute("create table t(a)")
    db.execute("insert into t values(1)")
    db.commit()
    assert db.execute("select a from t").fetchone() == (1,)
    db.close()


def files():
    here = pathlib.Path(tempfile.mkdtemp())
    first = here / "a"
    first.write_text("x")
    os.chmod(first, 0o600)
    shutil.copy2(first, here / "b")
    os.rename(here / "b", here / "c")
    os.symlink("a", here / "link")
    shutil.make_archive(str(here) + "-all", "zip", here)
    os.truncate(first, 0)
    shutil.rmtree(here)


def the_rest():
    a, b = socket.socketpair()
    a.sendall(b"x")
    assert b.recv(1) == b"x"
    ssl.create_default_context()
    memory = mmap.mmap(-1, 4096)
    memory[0] = 1
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(square)
    assert callback(3) == 9
    signal.setitimer(signal.ITIMER_REAL, 0)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    os.nice(1)
    uuid.uuid1()
    platform.platform()
    os.sched_getaffinity(0)
    os.isatty(0)


def no_network():
    for family in (socket.AF_INET, socket.AF_UNIX):
        try:
            socket.socket(family).close()
        except PermissionError:
            assert ALONE
        else:
            assert not ALONE
    try:
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
    except OSError:
        return
    raise AssertionError("netlink")


if __name__ == "__main__":
    for what in (threads, programs, processes, waiting, databases, files, the_rest, no_network):
        try:
            what()
        except BaseException as e:
            raise SystemExit(f"{what.__name__}: {type(e).__name__}: {e}")
    print("fine")
