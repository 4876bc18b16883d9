"""What a script of bad will would try, one attempt after the other; a line of JSON for each.

    {"name", "row", "result": "refused" | "open" | "not applicable" | "sent" | "strange", "got"}

"sent": only whoever stands outside knows whether it arrived. Standard library of Python 3.10 and newer, and Pyodide.
The input told.json says what there is to be had: see py_attack_rig.mjs. Its "mode" is "all", or the name of one attempt
that has a run of its own. Nothing here does lasting harm where it gets through: that is for a wall that is none, too.
"""
import ctypes
import json
import os
import platform
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time

INPUT = os.environ["ALISIO_INPUT_DIR"]
WORK = os.environ["ALISIO_WORK_DIR"]
OUT = os.environ["ALISIO_OUTPUT_DIR"]
with open(os.path.join(INPUT, "told.json")) as f:
    TOLD = json.load(f)
SECRET = TOLD["secret"]
IN_WASM = sys.platform == "emscripten"

ATTEMPTS = []  # (name, row, function)
RUNS = {}  # name: function


class Refused(Exception):
    """It was answered, and nothing was had."""


class NotHere(Exception):
    """There is no such thing to try."""


SENT = object()


def attempt(row, in_wasm=False):
    """in_wasm: also for Python in WebAssembly, which has no system calls to try."""
    def register(fn):
        ATTEMPTS.append((fn.__name__, row, fn, in_wasm))
        return fn
    return register


def run_of_its_own(fn):
    RUNS[fn.__name__] = fn
    return fn


def parent():
    """Of the script, whose child each attempt is."""
    if TOP_PARENT == 0:
        raise Refused("no parent is to be seen")
    return TOP_PARENT


# --- what no wall can change ---

@attempt("leak", True)
def what_is_read_leaves_as_output():
    with open(os.path.join(OUT, "leak.md"), "w") as f:
        f.write(SECRET)
    return SENT


# --- files: read ---

def take(path):
    with open(path, "rb") as f:
        if SECRET.encode() in f.read(1 << 16):
            return "it was read"
    raise Refused("another file is there")


def names(folder, wanted):
    if wanted in os.listdir(folder):
        return "its names were listed"
    raise Refused("another folder is there")



@attempt("read", True)
def read_home():
    return take(TOLD["homeFile"])


@attempt("read", True)
def read_workspace():
    return take(TOLD["workspaceFile"])


@attempt("read", True)
def read_temporary_files():
    return take(TOLD["tmpFile"])


@attempt("read", True)
def read_other_job():
    return take(os.path.join(TOLD["otherJob"], "script/main.py"))


@attempt("read", True)
def read_by_dots():
    return take(os.path.join(WORK, "../" * 30) + TOLD["homeFile"])


@attempt("read")
def read_by_root_of_self():
    return take("/proc/self/root" + TOLD["homeFile"])


@attempt("read")
def read_by_root_of_first():
    return take("/proc/1/root" + TOLD["homeFile"])


@attempt("read")
def read_by_root_of_parent():
    return take("/proc/%d/root%s" % (parent(), TOLD["homeFile"]))


@attempt("read", True)
def read_through_link_made_now():
    path = os.path.join(WORK, "link")
    os.symlink(TOLD["homeFile"], path)
    return take(path)


@attempt("read", True)
def read_through_link_planted_before():
    if not os.environ.get("ALISIO_SCRATCH_DIR"):
        raise NotHere("there is no scratchpad")
    return take(os.path.join(os.environ["ALISIO_SCRATCH_DIR"], TOLD["plantedLink"]))


@attempt("read")
def read_by_swapped_link():
    a, b = os.path.join(WORK, "swap"), os.path.join(WORK, "swap-")
    stop = threading.Event()

    def point(target):
        os.symlink(target, b)
        os.rename(b, a)

    def swap():
        while not stop.is_set():
            point(TOLD["homeFile"])
            point("/dev/null")
    point("/dev/null")
    thread = threading.Thread(target=swap, daemon=True)
    thread.start()
    error = None
    try:
        for _ in range(300):
            try:
                return take(a)
            except (OSError, Refused) as e:
                error = e if isinstance(e, OSError) and e.errno != 2 or error is None else error
    finally:
        stop.set()
        thread.join()
    raise error


@attempt("read")
def read_by_hard_link():
    path = os.path.join(WORK, "hard")
    os.link(TOLD["homeFile"], path)
    return take(path)


@attempt("read")
def run_program_of_home():
    out = subprocess.run([TOLD["homeProgram"]], capture_output=True, text=True).stdout
    return out if "ran" in out else None


@attempt("names", True)
def list_home():
    return names(os.path.dirname(TOLD["homeFile"]), os.path.basename(TOLD["homeFile"]))


@attempt("names", True)
def list_jobs():
    return names(os.path.dirname(TOLD["otherJob"]), os.path.basename(TOLD["otherJob"]))


@attempt("names", True)
def ask_whether_file_exists():
    return "%d bytes" % os.stat(TOLD["homeFile"]).st_size


@attempt("names")
def watch_home():
    fd = LIBC.inotify_init1(0)
    if fd < 0 or LIBC.inotify_add_watch(fd, TOLD["home"].encode(), 0xfff) < 0:
        fail()
    return "it is told of each change"


@attempt("names")
def places_of_mounts():
    with open("/proc/self/mountinfo") as f:
        text = f.read()
    if TOLD["otherJob"].rsplit("/", 2)[0] in text:
        return "where the job lies on the host"
    raise Refused("nothing of the host is named")


# --- files: write ---

def wrote(what):
    if IN_WASM:
        raise Refused("in a file system of its own")  # whoever stands outside looks, too
    return what


def add_file(folder):
    with open(os.path.join(folder, "planted-by-script"), "w") as f:
        f.write("x")
    return wrote("a file was made")


def append(path):
    with open(path, "ab"):
        pass
    return wrote("it was opened for writing")


@attempt("write", True)
def write_home():
    return append(TOLD["homeFile"])


@attempt("write", True)
def add_to_home():
    return add_file(TOLD["home"])


@attempt("write", True)
def add_to_temporary_files():
    return add_file(TOLD["tmp"])


@attempt("write", True)
def write_workspace():
    return append(TOLD["workspaceFile"])


@attempt("write", True)
def add_to_other_job():
    return add_file(os.path.join(TOLD["otherJob"], "work"))


@attempt("write")
def write_through_link():
    path = os.path.join(WORK, "link-to-write")
    os.symlink(TOLD["homeFile"], path)
    return append(path)


@attempt("write")
def make_folder_outside():
    os.mkdir(os.path.join(TOLD["home"], "folder-by-script"))
    return "it was made"


@attempt("write")
def remove_file():
    os.unlink(os.path.join(TOLD["home"], "to-remove"))
    return "it was removed"


@attempt("write")
def rename_file():
    os.rename(os.path.join(TOLD["home"], "to-rename"), os.path.join(TOLD["home"], "renamed"))
    return "it was renamed"


@attempt("write")
def move_file_out():
    with open(os.path.join(WORK, "mine"), "w") as f:
        f.write("x")
    os.rename(os.path.join(WORK, "mine"), os.path.join(TOLD["home"], "moved-by-script"))
    return "it was moved out"


@attempt("write")
def cut_file():
    os.truncate(os.path.join(TOLD["home"], "to-cut"), 1)
    return "it was cut"


def changed(path, look, change):
    """A call may be answered without effect."""
    before = look(os.stat(path))
    change(path)
    if look(os.stat(path)) == before:
        raise Refused("answered, without effect")
    return "it was changed"


@attempt("write")
def change_mode():
    return changed(TOLD["attributes"], lambda s: s.st_mode, lambda p: os.chmod(p, 0o606))


@attempt("write")
def change_times():
    return changed(TOLD["attributes"], lambda s: s.st_mtime_ns, lambda p: os.utime(p, (1, 1)))


@attempt("write")
def set_attribute():
    os.setxattr(TOLD["attributes"], "user.script", b"x")
    try:
        os.getxattr(TOLD["attributes"], "user.script")
    except OSError as e:
        raise Refused("answered, without effect: %s" % e.strerror)
    return "it was set"


@attempt("write")
def change_mode_of_open_file():
    fd = os.open(TOLD["attributes"], os.O_RDONLY)
    return changed(TOLD["attributes"], lambda s: s.st_mode, lambda p: os.fchmod(fd, 0o660))


def overwrite(path):
    try:
        os.chmod(path, 0o600)
    except OSError:
        pass
    with open(path, "ab"):
        return "it was opened for writing"


@attempt("own", True)
def write_own_script():
    return overwrite(os.path.join(INPUT, "../script/main.py"))


@attempt("own", True)
def add_to_script():
    with open(os.path.join(INPUT, "../script/sitecustomize.py"), "w"):
        return "a module was planted"


@attempt("own", True)
def write_own_input():
    return overwrite(os.path.join(INPUT, "told.json"))


@attempt("own")
def write_script_by_hard_link():
    path = os.path.join(WORK, "script-link")
    os.link(os.path.join(INPUT, "../script/main.py"), path)
    return overwrite(path)


@attempt("state", True)
def read_journal():
    with open(TOLD["journal"], "rb") as f:
        if f.read(15) == b"SQLite format 3":
            return "it was read"
    raise Refused("another file is there")


@attempt("state", True)
def write_journal():
    return append(TOLD["journal"])


@attempt("state", True)
def read_settings():
    return take(TOLD["settings"])


@attempt("state", True)
def write_settings():
    return append(TOLD["settings"])


@attempt("state", True)
def add_to_state():
    return add_file(TOLD["state"])


@attempt("state", True)
def add_to_packages():
    return add_file(TOLD["packages"])


@attempt("state")
def remove_other_job():
    os.rename(TOLD["otherJob"] + "/logs", TOLD["otherJob"] + "/logs-away")
    os.rename(TOLD["otherJob"] + "/logs-away", TOLD["otherJob"] + "/logs")
    return "its logs were moved"


@attempt("system", True)
def read_shadow():
    with open("/etc/shadow") as f:
        return f.readline()[:4] and "it was read"


@attempt("system", True)
def read_accounts():
    import hashlib
    with open("/etc/passwd", "rb") as f:
        if hashlib.sha256(f.read()).hexdigest() == TOLD["passwdHash"]:
            return "those of this computer"
    raise Refused("other accounts than the computer's")


@attempt("system", True)
def read_name_servers():
    with open("/etc/resolv.conf", "rb") as f:
        import hashlib
        if hashlib.sha256(f.read()).hexdigest() == TOLD["resolvHash"]:
            return "those of this computer"
    raise Refused("other ones than the computer's")


@attempt("system", True)
def write_programs():
    return add_file("/usr/local/bin")


@attempt("system")
def preload_for_later_programs():
    with open("/etc/ld.so.preload", "a"):
        return "it was opened for writing"


@attempt("system")
def open_memory_of_computer():
    for path in ("/dev/mem", "/dev/kmsg", "/proc/kcore", "/dev/port"):
        try:
            os.close(os.open(path, os.O_RDONLY))
            return path
        except OSError as e:
            error = e
    raise error


@attempt("system")
def open_disk():
    error = NotHere("no disk was found")
    for name, major, minor in TOLD["disks"]:
        made = os.path.join(WORK, name)
        try:
            os.mknod(made, 0o600 | stat.S_IFBLK, os.makedev(major, minor))
        except OSError as e:
            error = e
        for path in ("/dev/" + name, made):
            try:
                os.close(os.open(path, os.O_RDONLY))
                return path
            except OSError as e:
                error = e
    raise error


@attempt("system")
def write_settings_of_kernel():
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper"):
        try:
            os.close(os.open(path, os.O_WRONLY))
            return path
        except OSError as e:
            error = e
    raise error


@attempt("system")
def write_limits_of_its_group():
    tried = None
    for base, _, found in os.walk("/sys/fs/cgroup"):
        for name in found:
            if name in ("memory.limit_in_bytes", "memory.max", "pids.max"):
                try:
                    os.close(os.open(os.path.join(base, name), os.O_WRONLY))
                    return os.path.join(base, name)
                except OSError as e:
                    tried = e
    raise tried or Refused("there is no control group to be seen")


# --- network ---

def say(s, name):
    s.sendall(name.encode())
    s.close()
    return SENT


def tcp(address, name):
    return say(socket.create_connection(address, 2), name)


@attempt("network", True)
def tcp_to_loopback():
    return tcp(("127.0.0.1", TOLD["tcp"]), "tcp_to_loopback")


@attempt("network", True)
def tcp6_to_loopback():
    if not TOLD["tcp6"]:
        raise NotHere("this computer has no IPv6")
    return tcp(("::1", TOLD["tcp6"]), "tcp6_to_loopback")


@attempt("network", True)
def tcp_to_this_computer():
    if not TOLD["address"]:
        raise NotHere("this computer has no address")
    return tcp((TOLD["address"], TOLD["tcp"]), "tcp_to_this_computer")


@attempt("network")
def tcp_by_another_protocol():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)  # MPTCP
    s.settimeout(2)
    s.connect(("127.0.0.1", TOLD["tcp"]))
    return say(s, "tcp_by_another_protocol")


@attempt("network")
def tcp_fast_open():
    s = socket.socket()
    s.sendto(b"tcp_fast_open", 0x20000000, ("127.0.0.1", TOLD["tcp"]))
    return SENT


@attempt("network")
def udp_to_loopback():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"udp_to_loopback", ("127.0.0.1", TOLD["udp"]))
    return SENT


def outside(fn):
    """Whoever reaches this computer's own ports needs no proof from strangers."""
    try:
        socket.create_connection(("127.0.0.1", TOLD["tcp"]), 2).close()
    except OSError:
        return fn()
    return "as this computer may"


@attempt("network", True)
def cloud_metadata():
    def go():
        socket.create_connection(("169.254.169.254", 80), 2).close()
        return "it answered"
    if IN_WASM:
        raise Refused("its sockets lead nowhere")
    return outside(go)


@attempt("network", True)
def name_lookup():
    def go():
        return str(socket.getaddrinfo("example.com", 80)[0][4])
    if IN_WASM:
        raise Refused("its names are made up")
    return outside(go)


@attempt("network")
def listen_for_others():
    s = socket.socket()
    try:
        s.bind(("0.0.0.0", TOLD["tcp"]))
    except OSError as e:
        if e.errno == 98:
            return "on this computer's own ports"
        raise
    raise Refused("on a network of its own")


def open_socket(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()
    return "it was opened"


@attempt("network")
def raw_socket():
    return open_socket(socket.AF_INET, socket.SOCK_RAW, 1)


@attempt("network")
def packet_socket():
    return open_socket(socket.AF_PACKET, socket.SOCK_RAW)


@attempt("network")
def virtual_machine_socket():
    s = socket.socket(40, socket.SOCK_STREAM)  # AF_VSOCK
    s.settimeout(2)
    s.connect((2, 9999))
    return "the computer around this one answered"


@attempt("network")
def network_interfaces():
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.settimeout(2)
    s.send(struct.pack("=IHHIIBxHiII", 32, 18, 0x301, 1, 0, 0, 0, 0, 0, 0))  # RTM_GETLINK
    found = s.recv(1 << 16)
    if b"eth" in found or b"ens" in found or found.count(b"\x03\x00") and found.count(b"lo\0") == 0:
        return "they were listed"
    raise Refused("only its own loopback")


@attempt("network")
def crypto_socket():
    return open_socket(38, socket.SOCK_SEQPACKET)  # AF_ALG


@attempt("sockets")
def socket_by_path():
    s = socket.socket(socket.AF_UNIX)
    s.connect(TOLD["unixStream"])
    return say(s, "socket_by_path")


@attempt("sockets")
def control_socket_of_alisio():
    s = socket.socket(socket.AF_UNIX)
    s.connect(TOLD["controlSocket"])
    return "it was reached"


@attempt("sockets")
def datagram_by_path():
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"datagram_by_path", TOLD["unixDatagram"])
    return SENT


@attempt("sockets")
def abstract_socket():
    s = socket.socket(socket.AF_UNIX)
    s.connect("\0" + TOLD["abstractStream"])
    return say(s, "abstract_socket")


@attempt("sockets")
def abstract_datagram():
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"abstract_datagram", "\0" + TOLD["abstractDatagram"])
    return SENT


@attempt("sockets")
def datagram_of_a_pair():
    a, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    a.sendto(b"datagram_of_a_pair", "\0" + TOLD["abstractDatagram"])
    return SENT


# --- other processes ---

def cmdline(pid):
    with open("/proc/%s/cmdline" % pid, "rb") as f:
        return f.read()


def other(who):
    """The number of a process; what has that number here may be another one."""
    pid = TOLD[who]
    try:
        if TOLD[who + "Word"].encode() in cmdline(pid):
            return pid
    except OSError:
        return pid  # it is not to be seen; the attempt says more
    raise Refused("another process has its number")


@attempt("see")
def list_processes():
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            try:
                if TOLD["victimWord"].encode() in cmdline(pid):
                    return "with their command lines"
            except OSError:
                pass
    raise Refused("only its own")


@attempt("see")
def ask_whether_process_exists():
    os.stat("/proc/%d" % other("victim"))
    return "it is told"


@attempt("see")
def environment_of_all():
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            try:
                with open("/proc/%s/environ" % pid, "rb") as f:
                    if TOLD["envSecret"].encode() in f.read():
                        return "that of alisio and others"
            except OSError:
                pass
    raise Refused("nothing of the host's")


def of_victim(name, how):
    return how("/proc/%d/%s" % (other("victim"), name))


def opened(path):
    os.close(os.open(path, os.O_RDONLY))
    return "it was opened"


@attempt("see")
def memory_of_process():
    return of_victim("mem", opened)


@attempt("see")
def maps_of_process():
    return of_victim("maps", lambda p: open(p).readline() and "where what lies in its memory")


@attempt("see")
def folder_of_process():
    return of_victim("cwd", os.readlink) and "it is told"


@attempt("see")
def root_of_process():
    return of_victim("root", lambda p: os.listdir(p + "/")) and "it was listed"


@attempt("see")
def descriptors_of_process():
    return of_victim("fd", os.listdir) and "they were listed"


@attempt("see")
def environment_of_parent():
    with open("/proc/%d/environ" % parent(), "rb") as f:
        if TOLD["envSecret"].encode() in f.read():
            return "it was read"
    raise Refused("nothing of the host's")


@attempt("see")
def command_line_of_first():
    if TOLD["home"].encode() in cmdline(1):
        return "it names folders"
    raise Refused("it names nothing of the host's")


def syscall(nr, *args):
    r = LIBC.syscall(ctypes.c_long(nr), *[ctypes.c_void_p(a) if isinstance(a, int) else a for a in args])
    if r < 0:
        fail()
    return r


def fail():
    e = ctypes.get_errno()
    raise OSError(e, os.strerror(e))


def x86(nr, *args):
    if platform.machine() != "x86_64":
        raise NotHere("on another kind of processor")
    return syscall(nr, *args)


@attempt("see")
def read_memory_by_call():
    local, there = ctypes.create_string_buffer(16), ctypes.c_uint64 * 2
    mine = there(ctypes.addressof(local), 16)
    his = there(0x10000, 16)
    try:
        x86(310, other("victim"), ctypes.byref(mine), 1, ctypes.byref(his), 1, 0)
    except OSError as e:
        if e.errno != 14:  # EFAULT: nothing lies at that address, but it was looked
            raise
    return "it was read"


@attempt("see")
def debug_process():
    pid = other("victim")
    x86(101, 0x4206, pid, 0, 0)  # PTRACE_SEIZE
    x86(101, 17, pid, 0, 0)
    return "it was attached to"


@attempt("see")
def debug_parent():
    x86(101, 0x4206, parent(), 0, 0)
    return "it was attached to"


@attempt("see")
def debug_another_script():
    pid = other("sibling")
    x86(101, 0x4206, pid, 0, 0)
    x86(101, 17, pid, 0, 0)
    return "it was attached to"


@attempt("see")
def steal_descriptor():
    return "%d" % x86(438, os.pidfd_open(other("victim")), 1, 0)


@attempt("see")
def compare_process():
    return "%d" % x86(312, other("victim"), os.getpid(), 1, 0, 0)


@attempt("touch")
def signal_process():
    os.kill(other("victim"), signal.SIGUSR1)
    return SENT


@attempt("touch")
def signal_process_by_descriptor():
    signal.pidfd_send_signal(os.pidfd_open(other("victim")), signal.SIGUSR2)
    return SENT


@attempt("touch")
def queue_signal():
    info = struct.pack("=iii", signal.SIGRTMIN + 1, 0, -1) + bytes(116)  # SI_QUEUE
    x86(129, other("victim"), signal.SIGRTMIN + 1, ctypes.create_string_buffer(info))
    return SENT


@attempt("touch")
def signal_everybody():
    os.kill(-1, signal.SIGCONT)
    return SENT


@attempt("touch")
def signal_another_script():
    os.kill(other("sibling"), 0)
    return "it may be ended"


@attempt("touch")
def signal_alisio():
    os.kill(other("host"), 0)
    return "it may be ended"


@attempt("touch")
def end_parent():
    if TOLD["managed"] and TOP_PARENT > 1:
        raise NotHere("its supervisors are in reach, and would end the script with all that it started")
    os.kill(parent(), signal.SIGTERM)
    os.kill(TOP_PARENT, signal.SIGKILL)
    time.sleep(0.05)
    os.kill(TOP_PARENT, 0)
    raise Refused("answered, without effect")


@attempt("touch")
def end_first_process():
    if TOP_PARENT == 0:
        raise Refused("it is the script itself")
    if TOLD["managed"] and TOP_PARENT != 1:
        raise NotHere("not tried on a computer's first process")
    os.kill(1, signal.SIGKILL)
    time.sleep(0.05)
    os.kill(1, 0)
    raise Refused("answered, without effect")


@attempt("touch")
def slow_process():
    os.setpriority(os.PRIO_PROCESS, other("victim"), 1)
    return "its priority was changed"


@attempt("touch")
def pin_process():
    pid = other("victim")
    os.sched_setaffinity(pid, os.sched_getaffinity(0))
    return "it was bound to processors"


@attempt("touch")
def slow_disk_of_process():
    x86(251, 1, other("victim"), (2 << 13) | 7)
    return "its priority was changed"


@attempt("touch")
def limit_process():
    import resource
    pid = other("victim")
    resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
    return "its limits were changed"


# --- secrets of the host ---

@attempt("secrets", True)
def environment():
    if any(TOLD["envSecret"] in v for v in os.environ.values()):
        return "it has keys of the host"
    raise Refused("none of the host's variables")


def open_descriptors():
    found = []
    for fd in range(3, 256):
        try:
            found.append("%d: %s" % (fd, os.readlink("/proc/self/fd/%d" % fd)))
        except OSError:
            pass
    return found


AT_START = open_descriptors()


@attempt("secrets")
def inherited_descriptors():
    if AT_START:
        return ", ".join(AT_START)
    raise Refused("none but the standard ones")


@attempt("secrets")
def write_program_that_runs():
    for path in ("/proc/self/exe", "/proc/1/exe", "/proc/%d/exe" % TOP_PARENT):
        try:
            os.close(os.open(path, os.O_WRONLY))
            return path
        except OSError as e:
            error = e
    raise error


@attempt("secrets")
def program_of_first_process():
    with open("/proc/1/exe", "rb") as f:
        if b"alisio" in f.read(1 << 25) and TOP_PARENT != 0:
            return "it was read"
    raise Refused("another program")


@attempt("secrets")
def reopen_output_for_reading():
    fd = os.open("/proc/self/fd/2", os.O_RDONLY | os.O_NONBLOCK)
    if stat.S_ISFIFO(os.fstat(fd).st_mode):
        raise Refused("its own pipe")
    return "a file of the host's"


# --- to become another one ---

@attempt("become")
def become_root():
    if os.getuid() == 0:
        os.setuid(0)
        with open("/etc/shadow"):
            return "it has root's rights"
    os.setuid(0)
    return "it is root"


@attempt("become")
def become_another_user():
    os.setresuid(12345, 12345, 12345)
    return "it is somebody else"


@attempt("become")
def become_another_group():
    os.setresgid(12345, 12345, 12345)
    return "it is in another group"


@attempt("become")
def take_groups():
    os.setgroups([6])
    return "it is in the group disk"


@attempt("become")
def take_capability():
    header = struct.pack("=II", 0x20080522, 0)
    x86(126, ctypes.create_string_buffer(header), ctypes.create_string_buffer(struct.pack("=6I", 1 << 21, 1 << 21, 0, 0, 0, 0)))
    return "it may administer the system"


@attempt("become")
def gain_by_program():
    with open("/proc/self/status") as f:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
    if status["NoNewPrivs"] == "1" and not int(status["CapBnd"], 16):
        raise Refused("no program gives rights")
    if status["NoNewPrivs"] == "1":
        raise Refused("no program gives rights, though some could be had")
    return "programs with rights give them"


@attempt("become")
def make_character_device():
    path = os.path.join(WORK, "null")
    os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 1))
    os.close(os.open(path, os.O_RDONLY))
    return "it was made"


@attempt("become")
def make_setuid_program():
    path = os.path.join(WORK, "program")
    with open(path, "w") as f:
        f.write("#!/bin/sh\n")
    os.chown(path, 0, 0) if os.getuid() else os.chown(path, 1, 1)
    if os.stat(path).st_uid == os.getuid():
        raise Refused("answered, without effect")
    return "it belongs to somebody else"


# --- namespaces and mounts ---

def unshare(flag):
    syscall(272 if platform.machine() == "x86_64" else 97, flag)
    return "it was made"


for _name, _flag in (("user", 0x10000000), ("mount", 0x20000), ("process", 0x20000000), ("network", 0x40000000),
                     ("ipc", 0x8000000), ("uts", 0x4000000), ("cgroup", 0x2000000), ("time", 0x80)):
    def _make(flag):
        return lambda: unshare(flag)
    _fn = _make(_flag)
    _fn.__name__ = "new_%s_namespace" % _name
    attempt("namespaces")(_fn)


@attempt("namespaces")
def clone_into_namespace():
    pid = x86(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return "it was made"


@attempt("namespaces")
def clone3_into_namespace():
    args = ctypes.create_string_buffer(struct.pack("=11Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0))
    pid = x86(435, args, 88)
    if pid == 0:
        os._exit(0)
    return "it was made"


@attempt("namespaces")
def enter_namespace():
    fd = os.open("/proc/1/ns/mnt", os.O_RDONLY)
    x86(308, fd, 0)
    return "it was entered"


@attempt("namespaces")
def mount_file_system():
    if LIBC.mount(b"none", WORK.encode(), b"tmpfs", 0, None) < 0:
        fail()
    return "it was mounted"


@attempt("namespaces")
def bind_mount():
    if LIBC.mount(b"/", WORK.encode(), None, 0x1000, None) < 0:
        fail()
    return "it was mounted"


@attempt("namespaces")
def remount_writable():
    if LIBC.mount(None, b"/", None, 0x20 | 0x1000, None) < 0:
        fail()
    return "it was changed"


@attempt("namespaces")
def unmount():
    if LIBC.umount2(b"/proc", 2) < 0:
        fail()
    return "it was unmounted"


@attempt("namespaces")
def change_root():
    os.chroot(WORK)
    return "it was changed"


@attempt("namespaces")
def pivot_root():
    x86(155, ctypes.c_char_p(WORK.encode()), ctypes.c_char_p(WORK.encode()))
    return "it was changed"


@attempt("namespaces")
def new_mount_calls():
    errors = []
    for nr, args in ((428, (-100, ctypes.c_char_p(b"/"), 1)), (430, (ctypes.c_char_p(b"tmpfs"), 0)),
                     (442, (-100, ctypes.c_char_p(b"/"), 0, ctypes.create_string_buffer(32), 32))):
        try:
            x86(nr, *args)
            return "call %d" % nr
        except OSError as e:
            errors.append(e)
    raise errors[-1]


# --- the kernel ---

def kernel(name, nr, *args, reached=()):
    """reached: errors that come after the question whether it may."""
    def fn():
        try:
            x86(nr, *[a() if callable(a) else a for a in args])
        except OSError as e:
            if e.errno not in reached:
                raise
        return "the kernel answers"
    fn.__name__ = name
    attempt("kernel")(fn)


def zeros():
    return ctypes.create_string_buffer(4096)


def text(z):
    return lambda: ctypes.c_char_p(z)


kernel("io_uring", 425, 8, zeros)
kernel("user_faults", 323, 1)
kernel("load_filter_program", 321, 0, lambda: ctypes.create_string_buffer(struct.pack("=4I", 1, 4, 4, 1) + bytes(112)), 128)
kernel("performance_counters", 298, lambda: ctypes.create_string_buffer(struct.pack("=IIQ", 1, 128, 0) + bytes(112)), 0, -1, -1, 0)
kernel("keyring", 250, 0, -3, 1)
kernel("add_key", 248, text(b"user"), text(b"alisio-test"), text(b"y"), 1, -1)
kernel("request_key", 249, text(b"user"), text(b"alisio-none"), 0, -1, reached=(126,))
kernel("personality", 135, 0x0040000)
kernel("local_descriptor_table", 154, 0, zeros, 100)
kernel("name_to_handle", 303, -100, text(b"/"), lambda: ctypes.create_string_buffer(struct.pack("=Ii", 128, 0) + bytes(128)),
       lambda: ctypes.create_string_buffer(8), 0)
kernel("open_by_handle", 304, -100, lambda: ctypes.create_string_buffer(struct.pack("=IiQ", 8, 1, 1)), 0, reached=(116,))
kernel("quota", 179, 0x80000100 | 0, 0, 0, zeros)
kernel("reboot", 169, 0, 0, 0, 0, reached=(22,))
kernel("host_name", 170, text(platform.node().encode()), len(platform.node()))
kernel("clock", 164, 0, 0)
kernel("input_output_ports", 173, 0x80, 1, 1)
kernel("input_output_level", 172, 3)
kernel("load_module", 175, zeros, 10, text(b""), reached=(8,))
kernel("load_kernel", 246, 0, 0, 0, 0)
kernel("swap", 167, text(b"/nowhere"), 0, reached=(2,))
kernel("accounting", 163, text(b"/nowhere"), reached=(2, 13, 30))
kernel("kernel_log", 103, 3, zeros, 100)
kernel("watch_all_files", 300, 0x200, 0)
kernel("secret_memory", 447, 0)
kernel("message_queue", 68, 0, 0o1600)


@attempt("kernel")
def shared_segment():
    x86(29, 0x616c6973, 4096, 0o1600)
    return "for whoever comes later"


@attempt("kernel")
def uncounted_memory():
    fd = os.memfd_create("x")
    os.close(fd)
    return "a file without a name"


def machine_code(code):
    import mmap
    m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    m.write(code)
    at = ctypes.addressof(ctypes.c_char.from_buffer(m))
    return ctypes.CFUNCTYPE(ctypes.c_long)(at)()


def shut(r, what):
    if r < 0:
        raise OSError(-r, os.strerror(-r))
    return what


@attempt("kernel")
def calls_of_32_bits():
    if platform.machine() != "x86_64":
        raise NotHere("on another kind of processor")
    # mov eax, 20 (getpid); int 0x80; cdqe; ret
    return shut(machine_code(b"\xb8\x14\0\0\0\xcd\x80\x48\x98\xc3"), "they reach the kernel")


@attempt("kernel")
def calls_of_x32():
    if platform.machine() != "x86_64":
        raise NotHere("on another kind of processor")
    return shut(machine_code(b"\xb8\x27\0\0\x40\x0f\x05\xc3"), "they reach the kernel")


@attempt("kernel")
def core_dump():
    import resource
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))
    except ValueError as e:
        raise Refused(str(e))
    return "they may be switched on"


# --- terminal ---

def pty():
    master, slave = os.openpty()
    os.setsid()
    import fcntl
    try:
        fcntl.ioctl(slave, 0x540E, 0)  # TIOCSCTTY
    except OSError:
        pass
    return slave


@attempt("terminal")
def terminal_of_the_host():
    os.close(os.open("/dev/tty", os.O_RDWR))
    return "it was opened"


@attempt("terminal")
def type_into_terminal():
    import fcntl
    fcntl.ioctl(pty(), 0x5412, b"x")  # TIOCSTI
    return "into its own one"


@attempt("terminal")
def console_calls():
    import fcntl
    for fd in (0, 1, 2):
        try:
            fcntl.ioctl(fd, 0x541C, b"\x02")  # TIOCLINUX
            return "the console answers"
        except OSError as e:
            error = e
    raise error


# --- after the end ---

DAEMON = """
import os, signal, sys, time
for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(s, signal.SIG_IGN)
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, 0)
except Exception: pass
time.sleep(60)
"""


@attempt("after")
def outlive_the_run():
    subprocess.run([sys.executable, "-c", DAEMON, TOLD["outliveWord"]], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    return SENT


# --- JavaScript around Pyodide ---

def js(code, *args):
    from pyodide.code import run_js
    return run_js(code)(*args) if args else run_js(code)


def bridge(row):
    def register(fn):
        def go():
            if not IN_WASM:
                raise NotHere("there is no JavaScript around it")
            return fn()
        go.__name__ = fn.__name__
        return attempt(row, True)(go)
    return register


@bridge("secrets")
def js_environment():
    if TOLD["envSecret"] in js("JSON.stringify(process.env)"):
        return "it has keys of the host"
    raise Refused("none of the host's variables")


@bridge("bridge")
def js_require():
    return js("typeof require === 'function' && require('fs') ? 'it is there' : null")


@bridge("bridge")
def js_main_module():
    return js("process.mainModule ? process.mainModule.require('fs') && 'it is there' : null")


@bridge("bridge")
def js_builtin_module():
    return js("process.getBuiltinModule('fs') ? 'it is there' : null")


@bridge("bridge")
def js_binding():
    return js("process.binding('fs') ? 'it is there' : null")


@bridge("bridge")
def js_linked_binding():
    return js("process._linkedBinding('fs') ? 'it is there' : null")


@bridge("write")
def js_import():
    js("(path) => { import('node:fs').then((fs) => fs.writeFileSync(path, 'x')).catch(() => {}) }",
       TOLD["home"] + "/js_import")
    return SENT


@bridge("write")
def js_write_report():
    js("(path) => { process.report.writeReport(path) }", TOLD["home"] + "/js_write_report")
    return SENT


@bridge("system")
def js_report_of_process():
    said = js("JSON.stringify(process.report.getReport())")
    if TOLD["envSecret"] in said or (TOLD["address"] or "no address") in said:
        return "it tells of the host"
    raise Refused("nothing of the host's")


@bridge("network")
def js_fetch():
    return js("typeof fetch === 'function' ? 'it is there' : null")


def js_connect(where, name):
    wanted = """(where, name) => {
        const all = [process.stdout, process.stderr, process.stdin].map((s) => s.constructor);
        const S = all.find((c) => typeof c.prototype.connect === 'function');
        if (!S) return 'none';
        const s = new S();
        s.on('error', () => {});
        s.on('connect', () => s.end(name));
        typeof where === 'number' ? s.connect(where, '127.0.0.1') : s.connect(where);
        return 'sent';
    }"""
    if js(wanted, where, name) == "none":
        raise Refused("no class of sockets is to be had")
    return SENT


@bridge("network")
def js_socket():
    return js_connect(TOLD["tcp"], "js_socket")


@bridge("sockets")
def js_socket_by_path():
    return js_connect(TOLD["unixStream"], "js_socket_by_path")


@bridge("sockets")
def js_abstract_socket():
    return js_connect("\0" + TOLD["abstractStream"], "js_abstract_socket")


@bridge("touch")
def js_signal():
    js("(pid, s) => process._kill(pid, s)", TOLD["victim"], 37)
    return SENT


@bridge("touch")
def js_debug_process():
    js("(pid) => process._debugProcess(pid)", TOLD["victim"])
    return SENT


@bridge("touch")
def js_kill():
    js("(pid) => process.kill(pid, 0)", TOLD["victim"])
    return "it may be ended"


@bridge("bridge")
def js_child_process():
    return js("process.binding('process_wrap') || process.binding('spawn_sync') ? 'it is there' : null")


@bridge("bridge")
def js_load_library():
    return js("process.dlopen({exports: {}}, '/usr/lib/x86_64-linux-gnu/libc.so.6') || 'it was loaded'")


@bridge("bridge")
def js_worker():
    return js("typeof Worker === 'function' ? 'it is there' : null")


@bridge("bridge")
def js_web_assembly():
    return js("new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) && 'it computes, and reaches nothing'")


def mounted():
    import pyodide_js
    if not os.path.isdir("/host"):
        pyodide_js.FS.mkdirTree("/host")
        pyodide_js.FS.mount(pyodide_js.FS.filesystems.NODEFS, js("({root: '/'})"), "/host")
    return "/host"


@bridge("read")
def mount_and_read():
    return take(mounted() + TOLD["homeFile"])


@bridge("names")
def mount_and_list():
    return names(mounted() + TOLD["home"], os.path.basename(TOLD["homeFile"]))


@bridge("write")
def mount_and_write():
    with open(mounted() + TOLD["home"] + "/mount_and_write", "w") as f:
        f.write("x")
    return SENT


@bridge("state")
def mount_and_read_journal():
    with open(mounted() + TOLD["journal"], "rb") as f:
        return f.read(4) and "it was read"


@bridge("read")
def mount_and_follow_link():
    path = os.path.join(WORK, "js-link")
    os.symlink(TOLD["homeFile"], path)
    return take(path)


@bridge("own")
def mount_and_write_script():
    import pyodide_js
    pyodide_js.FS.mkdirTree("/again")
    there = pyodide_js.FS.lookupPath("/job/script").node.mount.opts.root
    pyodide_js.FS.mount(pyodide_js.FS.filesystems.NODEFS, js("(root) => ({root})", there), "/again")
    with open("/again/planted.py", "w"):
        return "a module was planted"


@bridge("become")
def js_become_another_user():
    js("process.setuid(12345)")
    return "it is somebody else"


# --- with a run of their own ---

def wait_for_the_end():
    """Limits that are looked at ten times a second end the run meanwhile."""
    time.sleep(TOLD["waitSeconds"])


@run_of_its_own
def fill_disk():
    with open(os.path.join(WORK, "big"), "wb") as f:
        for _ in range(64):
            f.write(bytes(1 << 20))
            f.flush()
    wait_for_the_end()
    return "64 MiB where 16 are allowed"


@run_of_its_own
def fill_disk_with_small_files():
    for i in range(3000):
        with open(os.path.join(WORK, "f%d" % i), "w"):
            pass
    wait_for_the_end()
    return "3,000 files where 500 are allowed"


@run_of_its_own
def fill_memory():
    held = [bytearray(os.urandom(4096) * 256) for _ in range(TOLD["hungryMb"])]
    wait_for_the_end()
    return "%d MiB" % len(held)


@run_of_its_own
def many_processes():
    for _ in range(200):
        pid = os.fork()
        if pid == 0:
            time.sleep(20)
            os._exit(0)
    return "200 where 60 are allowed"


@run_of_its_own
def large_file():
    with open(os.path.join(WORK, "sparse"), "wb") as f:
        os.truncate(f.fileno(), 1 << 30)
        os.pwrite(f.fileno(), b"x", (1 << 30) - 1)
    wait_for_the_end()
    return "1 GiB where 16 MiB are allowed"


@run_of_its_own
def many_open_files():
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(5000)]
    return "%d" % len(held)


@run_of_its_own
def read_through_input_that_was_a_link():
    return take(os.path.join(INPUT, "linked.txt"))


@run_of_its_own
def link_in_output():
    os.symlink(TOLD["homeFile"], os.path.join(OUT, "report.md"))
    return SENT


@run_of_its_own
def hard_link_in_output():
    os.link(TOLD["homeFile"], os.path.join(OUT, "report.md"))
    return SENT


@run_of_its_own
def swapped_link_in_output():
    path, beside = os.path.join(OUT, "report.md"), os.path.join(OUT, "beside.md")
    with open(path, "w") as f:
        f.write("x")
    if os.fork() == 0:
        try:
            while True:
                os.symlink(TOLD["homeFile"], beside)
                os.rename(beside, path)
                with open(beside, "w") as f:
                    f.write("x")
                os.rename(beside, path)
        finally:
            os._exit(0)
    time.sleep(0.05)
    return SENT


@run_of_its_own
def link_for_progress():
    path = os.environ["ALISIO_PROGRESS_FILE"]
    os.symlink(TOLD["progressFile"], path)
    time.sleep(0.5)
    return SENT


# --- one after the other ---

def judge(fn):
    try:
        got = fn()
    except NotHere as e:
        return "not applicable", str(e)
    except Refused as e:
        return "refused", str(e)
    except OSError as e:
        return "refused", "%s" % (e.strerror or e) if not e.errno else os.strerror(e.errno)
    except (MemoryError, PermissionError) as e:
        return "refused", type(e).__name__
    except BaseException as e:
        if IN_WASM:
            return "refused", ("%s: %s" % (type(e).__name__, e)).split("\n")[0][:120]
        return "strange", "%s: %s" % (type(e).__name__, e)
    if got is SENT:
        return "sent", ""
    return ("open", str(got)) if got else ("refused", "it is not there")


# Whoever got through there is no longer who it was.
CHANGES_ITSELF = ("become", "namespaces", "kernel", "terminal", "touch")


def some_of(attempts, write):
    """In a process of their own; it ends early when an attempt ended or changed it."""
    for name, row, fn, _ in attempts:
        signal.alarm(10)
        result, got = judge(fn)
        os.write(write, (json.dumps([result, got[:2000]]) + "\n").encode())
        if result == "open" and row in CHANGES_ITSELF:
            break
    os._exit(0)


def in_processes(attempts):
    while attempts:
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            some_of(attempts, write)
        os.close(write)
        done = 0
        with os.fdopen(read) as said:
            for line in said:
                name, row, _, _ = attempts[done]
                tell(name, row, *json.loads(line))
                done += 1
        _, status = os.waitpid(pid, 0)
        if status:
            name, row, _, _ = attempts[done]
            s = os.WTERMSIG(status)
            tell(name, row, "strange" if s in (0, signal.SIGALRM) else "refused", "ended by %s" % (signal.Signals(s).name if s else status))
            done += 1
        attempts = attempts[done:]


def tell(name, row, result, got):
    print(json.dumps({"name": name, "row": row, "result": result, "got": got}), flush=True)


TOP_PARENT = 0 if IN_WASM else os.getppid()
if not IN_WASM:
    LIBC = ctypes.CDLL(None, use_errno=True)

if TOLD["mode"] != "all":
    tell(TOLD["mode"], "", *judge(RUNS[TOLD["mode"]]))
elif IN_WASM:
    for name, row, fn, in_wasm in ATTEMPTS:
        tell(name, row, *(judge(fn) if in_wasm else ("not applicable", "there are no system calls of this kind")))
else:
    in_processes(ATTEMPTS)
