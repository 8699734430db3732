"""What the tasks of one run are told (a JSON file), and the program that they run: this package and
what it needs as one zip file, so that nothing else of the repository has to be on the hosts."""

import dataclasses
import io
import json
import pathlib
import zipfile

SCRIPTS = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = "swarm.pyz"
_MAIN = "import sys\nfrom swarm_lab.cluster import task\nsys.exit(task.main(sys.argv[1]))\n"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # so that the same sources are the same file


@dataclasses.dataclass
class Plan:
    on: str                   # slurm, kubernetes
    token: str                # of the meeting
    scenario: dict            # its tables, as in its file, with `name`
    client: str
    build: str                # where the programs are unless the client's settings say; a build
                              # folder, or `installed`
    content_seed: int
    start_within_s: float     # all tasks are there by then, or the run fails
    record: str | None        # the file for the record; None: the task's output
    meet_file: str | None     # where the conductor's address is written
    meet_host: str | None     # or its name, which `meet_port` then goes with
    meet_port: int = 0
    network: str | None = None  # the address in it is a task's
    commit: str | None = None
    links: str = "clients"    # what limits them; or `namespaces`: the kernel (overlay.py)

    def text(self):
        return json.dumps(dataclasses.asdict(self), indent=1) + "\n"


def read(path):
    return Plan(**json.loads(pathlib.Path(path).read_text(encoding="utf-8")))


def program():
    """The bytes of PROGRAM."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "__main__.py", _MAIN)
        _add(archive, "running/__init__.py", "")  # a zip file needs what a folder does without
        for folder in ("running", "swarm_lab"):
            for path in sorted((SCRIPTS / folder).rglob("*.py")):
                _add(archive, str(path.relative_to(SCRIPTS)), path.read_text(encoding="utf-8"))
    return out.getvalue()


def _add(archive, name, text):
    info = zipfile.ZipInfo(name, _LONG_AGO)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, text)


def tasks(scenario):
    """How many a run has: the tracker's, the seed's, and one for each peer."""
    return 2 + scenario.peer_count
