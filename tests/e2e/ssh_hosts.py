"""Hosts with a real OpenSSH server each, for tests of what goes over ssh. Needs root.

    class Pushes(SwarmTest):
        def setUp(self):
            super().setUp()
            self.hosts = ssh_hosts.start(self, 3)

        def test_...(self):
            subprocess.run([*self.hosts.ssh, "host1", "firn --version"])
            self.firn("push", "push", path, "host1:data", "host2", "--ssh", shlex.join(self.hosts.ssh),
                      "--listen", f"{self.hosts.address}:0")
            self.hosts["host1"].home / "data"     # what the host calls ~/data

A host has namespaces of its own for network, processes, mounts and its name, so that it can be cut off, frozen or
killed whole. All hosts and the test are on one bridge. The bridge is in a network namespace that the
test enters: start the hosts before other programs. On a host root is logged in; ~ is `home`; PATH is `bin`,
where `firn` is, then /usr/bin and /bin. `home/.bashrc` is read before each command of ssh.

Everything ends with the test: processes, mounts and interfaces go with their namespaces.
"""

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess

from harness import BUILD
from running.ssh import CLIENT_ALL, CLIENT_HOST, SERVER, make_key, public_key

PROGRAMS = {"/usr/sbin/sshd": "openssh-server", "ssh": "openssh-client", "ssh-keygen": "openssh-client",
            "ip": "iproute2", "tc": "iproute2", "unshare": "util-linux", "nsenter": "util-linux"}
ADDRESS = "10.99.0.254"  # of the test
HOME = pathlib.Path("/root")  # on a host
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)

# The first process of a host. It outlives sshd, so that a host without sshd refuses connections.
BOOT = """
hostname "$1"
mount -t tmpfs none /run
mkdir -m 755 /run/sshd
mount --bind "$2/home" /root
cd /
echo booted
until ip link set eth0 up 2>/dev/null; do sleep 0.02; done
ip link set lo up
ip address add "$3/16" dev eth0
/usr/sbin/sshd -D -e -f "$2/sshd_config" || true
tail -f /dev/null
"""


def start(test, count):
    """The hosts host1 to host`count` of a SwarmTest, for its time. Skips the test where there can be none."""
    reason = missing()
    if reason:
        test.skipTest(reason)
    hosts = SshHosts(test.folder / "hosts", test.programs)
    test.addCleanup(hosts.close)
    for number in range(1, count + 1):
        hosts.add(f"host{number}")
    for host in hosts:
        host.wait_ready()
    return hosts


def missing():
    """Why no hosts can be made here; None: they can."""
    if os.geteuid() != 0:
        return "hosts with sshd need root"
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            return f"`{program}` is missing (package {package}; scripts/setup --checks)"
    tried = _try("unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "ip", "link", "set", "lo", "up")
    return None if tried.returncode == 0 else f"no namespaces here: {tried.stderr.strip()}"


class SshHosts:
    """`ssh` is the command that finds the hosts by name; `address` is the test's own, which they can call."""

    def __init__(self, folder, programs):
        self.folder = folder
        self.programs = programs
        self.address = ADDRESS
        self.ssh = ["ssh", "-F", str(folder / "ssh_config")]
        self._hosts = {}
        folder.mkdir(parents=True)
        make_key(folder / "client_key")
        (folder / "ssh_config").write_text("")
        self._outside = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        # Of this thread: programs that it starts inherit it.
        _checked(_libc.unshare(_CLONE_NEWNET), "unshare")
        for words in ("link set lo up", "link add name bridge type bridge",
                      f"address add {ADDRESS}/16 dev bridge", "link set bridge up"):
            _run("ip", *words.split())

    def add(self, name):
        """One more host; wait_ready() before it is used."""
        host = SshHost(self, name, len(self._hosts) + 1)
        self._hosts[name] = host
        self._write()
        return host

    def __getitem__(self, name):
        return self._hosts[name]

    def __iter__(self):
        return iter(self._hosts.values())

    def _write(self):
        texts = [CLIENT_HOST.format(name=host.name, address=host.address) for host in self]
        (self.folder / "ssh_config").write_text("".join(texts) + CLIENT_ALL.format(folder=self.folder))
        self.write_known_hosts()

    def write_known_hosts(self):
        lines = [f"{host.address} {host.known_key}\n" for host in self if host.known_key]
        (self.folder / "known_hosts").write_text("".join(lines))

    def close(self):
        for host in self:
            host.end()
        _checked(_libc.setns(self._outside, _CLONE_NEWNET), "setns")
        os.close(self._outside)


class SshHost:
    """One host. `home` is its ~, `bin` the first folder of its PATH."""

    def __init__(self, hosts, name, number):
        self.hosts = hosts
        self.name = name
        self.address = f"10.99.{number // 250}.{number % 250 + 1}"
        self.cable = f"h{number}"  # the bridge's end
        self.folder = hosts.folder / name
        self.home = self.folder / "home"
        self.bin = self.folder / "bin"
        self.home.mkdir(parents=True, mode=0o700)
        self.bin.mkdir()
        self.install()
        make_key(self.folder / "host_key")
        (self.folder / "sshd_config").write_text(SERVER.format(folder=self.folder, path=f"{self.bin}:/usr/bin:/bin"))
        self.permit()
        self.known_key = public_key(self.folder / "host_key")
        self._boot()

    def _boot(self):
        self.machine = self.hosts.programs.start(
            self.name, ["unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc",
                        "--propagation", "private", "sh", "-ec", BOOT, "sh", self.name, self.folder, self.address])
        self.machine.wait_line("booted")
        _run("ip", "link", "add", self.cable, "type", "veth", "peer", "name", "eth0",
             "netns", str(self.machine.process.pid))
        _run("ip", "link", "set", self.cable, "master", "bridge", "up")

    def wait_ready(self):
        self.machine.wait_line("Server listening", stream="stderr")

    def command(self, *words):
        """`words`, to be run on this host as root, not through ssh: for what a test prepares or looks at."""
        return ["nsenter", "--target", str(self._first()), "--all", "--wd=/root", *map(str, words)]

    def run(self, *words):
        """Runs them there; their standard output."""
        return _run(*self.command(*words))

    # --- what is there ---

    def install(self, program=BUILD / "client" / "firn"):
        """`program` is the host's `firn`: a path, the text of a script, or None: there is none."""
        firn = self.bin / "firn"
        firn.unlink(missing_ok=True)
        if isinstance(program, str):
            firn.write_text(program)
            firn.chmod(0o755)
        elif program is not None:
            firn.symlink_to(program)

    def mount_small(self, folder, size):
        """A file system of `size` bytes at `folder` of the home."""
        (self.home / folder).mkdir(parents=True, exist_ok=True)
        self.run("mount", "-t", "tmpfs", "-o", f"size={size}", "none", f"{HOME}/{folder}")

    def inside(self, path):
        """The host's path as one of this test's, for what is mounted there: a home is `home` else."""
        return pathlib.Path(f"/proc/{self._first()}/root") / str(path).lstrip("/")

    # --- who may come ---

    def refuse(self):
        """Ends the listening sshd: connections are refused; sessions go on."""
        os.kill(self._outer(int((self.folder / "sshd.pid").read_text())), signal.SIGKILL)

    def deny(self):
        """The client's key is not accepted."""
        (self.folder / "authorized_keys").write_text("")

    def permit(self):
        shutil.copy(self.hosts.folder / "client_key.pub", self.folder / "authorized_keys")

    def forget_key(self):
        """The client does not know the host's key."""
        self._know(None)

    def change_key(self):
        """The client knows another key of this host."""
        make_key(self.folder / "former_key")
        self._know(public_key(self.folder / "former_key"))

    def _know(self, key):
        self.known_key = key
        self.hosts.write_known_hosts()

    # --- what breaks ---

    def pids(self, name=None):
        """Processes of this host, as the test sees them: all, or those of programs called `name`."""
        space = os.readlink(f"/proc/{self.machine.process.pid}/ns/pid_for_children")
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and os.readlink(entry / "ns" / "pid") == space and (
                        name is None or pathlib.Path(os.readlink(entry / "exe")).name == name):
                    found.append(int(entry.name))
        return sorted(found)

    def kill(self, name):
        """As kill -9, of the processes of a program: `firn`, or `sshd` with its sessions. Their number."""
        return self._signal(signal.SIGKILL, name)

    def kill_sessions(self):
        """Ends the children of sshd that serve a session; the listening one stays."""
        listening = self._outer(int((self.folder / "sshd.pid").read_text()))
        for pid in self.pids("sshd"):
            if pid != listening:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def freeze(self, name=None):
        """Stops a program, or all that runs there; TCP of a frozen host still acknowledges."""
        return self._signal(signal.SIGSTOP, name)

    def thaw(self, name=None):
        return self._signal(signal.SIGCONT, name)

    def cut(self):
        """Pulls the cable: packets in both directions are lost."""
        _run("ip", "link", "set", self.cable, "down")

    def join(self):
        _run("ip", "link", "set", self.cable, "up")

    def allow_only_ssh(self):
        """Neither this host nor others can make connections, but for those to its sshd. New ones stay
        unanswered, its own have no route."""
        self.run("sh", "-ec", "ip route flush table main; ip route add 10.99.0.0/16 dev eth0 table 22; "
                              "ip rule add ipproto tcp sport 22 lookup 22")

    def limit(self, mbit):
        """The rate at which this host receives, and at which it sends."""
        for prefix, device in ((self.command(), "eth0"), ([], self.cable)):
            _run(*prefix, "tc", "qdisc", "replace", "dev", device, "root", "tbf", "rate", f"{mbit}mbit",
                 "burst", "15000", "limit", "150000")

    def end(self):
        """Ends all that runs there, at once, and takes its interface away."""
        self.machine.kill()

    def _signal(self, number, name):
        pids = self.pids(name)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return len(pids)

    def _first(self):
        return self._outer(1)

    def _outer(self, inner):
        """The process that the host knows as `inner`."""
        for pid in self.pids():
            with contextlib.suppress(OSError):
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
                numbers = next(line for line in status.splitlines() if line.startswith("NSpid:"))
                if int(numbers.split()[-1]) == inner:
                    return pid
        raise ProcessLookupError(f"{self.name} has no process {inner}")


def _checked(result, what):
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def _try(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _run(*command):
    done = _try(*command)
    if done.returncode != 0:
        raise RuntimeError(f"`{' '.join(map(str, command))}`: {done.stderr.strip() or done.returncode}")
    return done.stdout
