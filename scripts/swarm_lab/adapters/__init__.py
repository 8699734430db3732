"""Clients by name. A client is written NAME or NAME:key=value,key=value with its settings."""

import shutil

from swarm_lab.adapters.base import BadClient


def _classes():
    from swarm_lab.adapters.aria2 import Aria2
    from swarm_lab.adapters.curl import Curl
    from swarm_lab.adapters.firn import Firn
    from swarm_lab.adapters.libtorrent import Libtorrent
    from swarm_lab.adapters.transmission import Transmission
    from swarm_lab.adapters.webtorrent import Webtorrent
    return {"firn": Firn, "aria2": Aria2, "curl": Curl, "libtorrent": Libtorrent, "transmission": Transmission,
            "webtorrent": Webtorrent}


def names():
    return sorted(_classes())


def describe():
    """Lines for people: each client and its settings."""
    for name, kind in sorted(_classes().items()):
        settings = ", ".join(f"{key}={value}" for key, value in kind.settings.items())
        yield f"{name:13} {settings}"


def make(text, **defaults):
    """The adapter that `text` names; raises BadClient with what is wrong or missing. `defaults`:
    settings that `text` may still say otherwise."""
    name, _, rest = text.partition(":")
    kinds = _classes()
    if name not in kinds:
        raise BadClient(f"no client `{name}`; there are {', '.join(sorted(kinds))}")
    kind = kinds[name]
    settings = kind.settings | defaults
    for pair in filter(None, rest.split(",")):
        key, _, value = pair.partition("=")
        if key not in settings:
            raise BadClient(f"{name} has no setting `{key}`; it has {', '.join(settings)}")
        settings[key] = value
    for program, package in kind.programs.items():
        if shutil.which(program) is None:
            raise BadClient(f"{name} needs `{program}`, which is missing; scripts/setup --all "
                            f"installs it (package {package})")
    adapter = kind(text, settings)
    adapter.check()
    return adapter
