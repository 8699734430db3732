"""A Slurm of this machine alone, for one test: a controller and a few nodes, each with a daemon of its
own, in namespaces for network and processes that this test makes. Nothing of it can be reached from
outside, and it ends with the test, whatever happens.
"""

import getpass
import os
import pathlib
import shutil
import socket
import subprocess
import sys

from running.programs import Failed, Program
from swarm_lab import hosts

INSIDE = "FIRN_TEST_INSIDE_NAMESPACES"
PROGRAMS = {"slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client",
            "srun": "slurm-client", "scontrol": "slurm-client", "unshare": "util-linux",
            "ip": "iproute2"}
CONTROLLER_PORT, FIRST_NODE_PORT = 6817, 6818  # Slurm's own: all ports are free in there
CPUS = 3  # of each node, whatever the machine has

CONFIGURATION = """
ClusterName=firn
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/%n.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SchedulerType=sched/builtin
ReturnToService=2
InactiveLimit=0
KillWait=2
"""


class Unavailable(Exception):
    """Slurm cannot run here; the text says why."""


def path():
    """Daemons are in folders that a user's PATH often lacks."""
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def check():
    """Raises Unavailable if something is missing, or the machine does not allow the namespaces."""
    for program, package in PROGRAMS.items():
        if shutil.which(program, path=path()) is None:
            raise Unavailable(f"`{program}` is missing (package {package}; scripts/setup --all)")
    tried = subprocess.run([*_unshare(), "ip", "link", "set", "lo", "up"], capture_output=True,
                           text=True, check=False)
    if tried.returncode != 0:
        raise Unavailable(f"no namespaces here: {tried.stderr.strip()}")


def _unshare():
    own = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    return ["unshare", *own, "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]


def enter():
    """Goes on in the namespaces: runs this program there again, with the same arguments. Returns in a
    process whose parent is the namespace's first process, which buries the dead that daemons leave:
    Slurm takes a job for running as long as a process of it is to be seen."""
    if INSIDE not in os.environ:
        os.execvpe("unshare", [*_unshare(), sys.executable, *sys.argv],
                   dict(os.environ, PATH=path(), **{INSIDE: "1"}))
    child = os.fork()
    if child == 0:
        return
    while True:
        pid, status = os.wait()
        if pid == child:
            sys.exit(min(os.waitstatus_to_exitcode(status) & 0xFF, 255))


class Slurm:
    """Made inside of the namespaces. `environment` is for Slurm's commands."""

    def __init__(self, folder, nodes):
        self.folder = pathlib.Path(folder)
        self.names = [f"node{number}" for number in range(1, nodes + 1)]
        # With the files of tasks: also one that is killed leaves nothing outside of the folder.
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"),
                                TMPDIR=str(self.folder))
        self._daemons = []

    def __enter__(self):
        # getaddrinfo() finds not even 127.0.0.1 where that is the only address.
        for words in ("link set lo up", "address add 10.99.0.1/32 dev lo"):
            subprocess.run(["ip", *words.split()], check=True)
        if os.geteuid() == 0:  # races with namespaces name theirs by processes, which are ours alone
            os.makedirs(hosts.NETNS, exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "none", hosts.NETNS], check=True)
        self._configure()
        try:
            controller = self._start("slurmctld", "-D")
            controller.wait_line("Running as primary controller", stream="stderr")
            for name in self.names:
                self._start("slurmd", "-D", "-N", name).wait_line("slurmd started", stream="stderr")
        except Failed as problem:
            self.__exit__()
            raise Unavailable(f"Slurm does not start here: {problem}") from None
        return self

    def __exit__(self, *_):
        for daemon in reversed(self._daemons):
            daemon.stop()

    def _configure(self):
        text = CONFIGURATION.format(folder=self.folder, user=getpass.getuser(),
                                    controller_port=CONTROLLER_PORT)
        for number, name in enumerate(self.names):
            (self.folder / name).mkdir()
            text += (f"NodeName={name} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 "
                     f"Port={FIRST_NODE_PORT + number} CPUs={CPUS}\n")
        text += f"PartitionName=all Nodes={','.join(self.names)} Default=YES MaxTime=INFINITE\n"
        (self.folder / "state").mkdir()
        (self.folder / "slurm.conf").write_text(text, encoding="ascii")

    def _start(self, name, *options):
        daemon = Program(name, [name, *options], env=self.environment)
        self._daemons.append(daemon)
        return daemon

    def queue(self):
        """The jobs that are not over, a line each."""
        return subprocess.run(["squeue", "--noheader"], env=self.environment, check=True,
                              capture_output=True, text=True).stdout.splitlines()
