"""Which folder may include which, and what may be called where."""

import re
from typing import NamedTuple

from house.tree import CPP, Finding, code_only

# The part of proto that all parts name, and that of the programs' edges, which touch files, signals and terminals.
PROTO = {"proto", "proto/base", "proto/content"}
EDGE = PROTO | {"proto/program", "proto/transport"}

# The rooms of the swarm core, the lowest first: each includes those named here, and itself. Files of client/core
# itself (the doors, the wiring) may include all of them.
CORE_ROOMS = {
    "base": set(),
    "rows": {"base"},
    "neighbour": {"base", "rows"},
    "view": {"base", "rows", "neighbour"},
    "mesh": {"base", "neighbour", "view"},
    "manifest": {"base", "neighbour", "view", "mesh"},
    "trust": {"base", "rows", "neighbour", "mesh"},
    "receive": {"base", "rows", "neighbour", "mesh", "trust"},
    "send/choice": {"base", "rows", "neighbour"},
    "send/source": {"base", "rows", "neighbour", "mesh", "send/choice"},
    "send": {"base", "rows", "neighbour", "mesh", "trust", "receive", "send/choice", "send/source"},
}
CORE = {"client/core", *(f"client/core/{room}" for room in CORE_ROOMS)}
# Their headers are answers, known to all below; they are filled in from all parts.
READS_ALL_PARTS = {f"client/core/view/{name}.cc" for name in ("report", "standstill", "swarm_view")}

# Which parts of the tree a part may include. A part is the longest folder here that holds the file.
MAY_INCLUDE = {
    "codec": {"codec"},
    "docs/examples": {"codec"},
    "cuda_kernels": {"cuda_kernels", "codec"},
    "cuda_kernels/papers": {"cuda_kernels/papers", "cuda_kernels", "codec"},
    "proto/base": {"proto/base"},
    "proto/content": PROTO,
    "proto": PROTO,
    "proto/program": {"proto/program", "proto/base", "proto/content"},
    "proto/transport": EDGE,
    "proto/database": {"proto/database", "proto/base"},
    "proto/web": {"proto/web", *EDGE},
    "client/content": {"client/content", *PROTO},
    "client/checks": {"client/checks", "codec", *PROTO},
    "client/privacy": {"client/privacy", "client/checks", "codec", *PROTO},
    "client/store": {"client/store", "client/content", "client/checks", "codec", *PROTO},
    "client/core": {*CORE, "codec", *PROTO},
    **{f"client/core/{room}": {f"client/core/{room}", *(f"client/core/{below}" for below in others), "codec", *PROTO}
       for room, others in CORE_ROOMS.items()},
    "client/medium": {"client/medium", "codec", *PROTO},
    "client/app": {
        "client/app", *CORE, "client/store", "client/content", "client/checks", "client/privacy",
        "client/medium",
        "codec", "cuda_kernels", "proto/database", "proto/web", *EDGE,
    },
    "tracker": {"tracker", "proto/database", *PROTO},
    "tracker/redis": {"tracker/redis", "tracker", "proto/transport", *PROTO},
    "tracker/app": {"tracker/app", "tracker/redis", "tracker", "proto/web", *EDGE},
    "tests": {
        "tests", "codec", "cuda_kernels", "cuda_kernels/papers", "client/content", "client/checks",
        "client/privacy", "client/store", *CORE, "client/medium", "client/app", "tracker",
        "tracker/app", "tracker/redis", "proto/database", "proto/web", *EDGE,
    },
}

# The tracker's edge: these files speak to the network; the rest of the folder decides and keeps.
TRACKER_EDGE = re.compile(r"tracker/(main|server|app)[^/]*$")
# TLS with Redis, by hiredis.
REDIS_TLS = r"|^tracker/redis/tls\.cc$"

# The deciding parts do no I/O, have no clock, no chance and no threads of their own: they are fed
# time and randomness, so that a simulation with a seed replays them exactly.
DECIDES = re.compile(
    r"client/core/|tracker/(announce|fair_shares|manifest_shelf|rate_limit|registry_memory|swarm)[^/]*$"
    r"|^tracker/redis/(commands|conversation|letters|records|redis_address)[^/]*$")


class Ban(NamedTuple):
    where: object  # regex on the path: where it is banned
    but: object  # regex on the path: where it is allowed all the same, or None
    what: object  # regex on a line of code, comments and strings removed
    why: str


def ban(where, what, why, but=None):
    return Ban(re.compile(where), re.compile(but) if but else None, re.compile(what), why)


PRODUCT = r"^(codec|cuda_kernels|proto|client|tracker)/"

BANS = [
    ban(r"", r"\b(uv_\w+|SSL_\w+)|#include <(uv|openssl/ssl)\.h>",
        "sockets and TLS sessions belong to proto/transport and the programs' edges",
        but=r"^(proto/transport/|client/app/|tests/transport/|tests/app/origin/faulty_server|tests/tracker_load/bare_main)|" + TRACKER_EDGE.pattern + REDIS_TLS),
    ban(r"", r"\blws_\w+|#include <libwebsockets\.h>", "HTTP belongs to proto/web", but=r"^proto/web/"),
    ban(r"", r"\bcurl_\w+\(|#include <curl/", "libcurl belongs to client/app/origin", but=r"^client/app/origin/transfers?\."),
    ban(r"", r"\bredis[A-Z]\w*\(|#include <hiredis/", "hiredis belongs to tracker/redis",
        but=r"^tracker/redis/(connection|tls)\.cc$"),
    ban(DECIDES.pattern,
        r"\b(system_clock|steady_clock|high_resolution_clock)::now\b"
        r"|(?<![\w.>])(clock_gettime|gettimeofday|time|clock)\s*\(\s*(\)|NULL|nullptr|0\s*\)|&|CLOCK_)",
        "the core is told the time"),
    ban(DECIDES.pattern, r"\b(rand|srand|random_device|getrandom|RAND_bytes)\b",
        "the core draws from the generator it is given"),
    ban(DECIDES.pattern,
        r"#include <(thread|mutex|shared_mutex|condition_variable|future|fstream|filesystem|iostream"
        r"|cstdio|unistd\.h|fcntl\.h|sys/(socket|stat|types|mman)\.h|netinet/.*|netdb\.h|pthread\.h"
        r"|sqlite3\.h|uv\.h|openssl/.*)>"
        r"|\bstd::(thread|jthread|async|mutex|ifstream|ofstream|fstream)\b|\bpthread_\w+"
        r"|(?<![\w.>])::(open|read|write|close|socket|connect|send|recv|stat|unlink)\s*\(|\bfopen\s*\(",
        "the core does no I/O and has no threads"),
    ban(r"^(codec|proto|cuda_kernels)/",
        r"\b(printf|fprintf|puts|perror)\s*\(|\bstd::(cout|cerr|clog)\b"
        r"|\b(exit|_exit|quick_exit|abort)\s*\(",
        "a library neither prints nor exits", but=r"^proto/base/result\.h$"),
    ban(PRODUCT + r"|^tests/.*\.(cc|h)$", r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(",
        "sleeping is not synchronisation"),
    ban(PRODUCT, r"\bstd::(thread\s*[({]|jthread|async)|\bpthread_create\b",
        "threads are made where one that cannot be had is an error: start_thread, try_thread",
        but=r"^(proto/base/start_thread\.cc|codec/try_thread\.h)$"),
    ban(r"\.(h|cuh)$", r"^\s*using namespace\b", "a header opens no namespace for its readers"),
    ban(PRODUCT, r"#include <(bits/.*)>", "a header of the compiler's own"),
    ban(PRODUCT + r"|^tests/", r"(?<![\w:.>])s?rand\s*\(", "unseeded chance; see codec/random.h", but=DECIDES.pattern),
]


def part_of(path):
    if TRACKER_EDGE.match(path):
        return "tracker/app"
    parts = [p for p in MAY_INCLUDE if path.startswith(p + "/")]
    return max(parts, key=len) if parts else None


def check_arrows(tree):
    """Includes follow the arrows of docs/hacking.md, and name files from the root (tests may name
    helpers in their own folder)."""
    for path in tree.of_kind(CPP):
        part = part_of(path)
        if part is None:
            yield Finding(path, 1, "stands in no folder that scripts/tidy.py knows")
            continue
        for number, line in enumerate(code_only(tree.text(path)).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            if not match:
                continue
            target = match.group(1)
            generated = target.endswith(".pb.h")
            if part == "tests" and ((tree.root / path).parent / target).is_file():
                continue  # a test's helper, beside it
            if not generated and not (tree.root / target).is_file():
                yield Finding(path, number, f'"{target}" is no file named from the root')
                continue
            if path in READS_ALL_PARTS and target == "client/core/parts.h":
                continue
            if part_of(target) not in MAY_INCLUDE[part]:
                yield Finding(path, number, f"{part} must not include {target}")
            elif generated and part not in ("proto", "tests"):
                yield Finding(path, number, "messages are parsed in proto/ alone: see messages.h")


def check_calls(tree):
    """Calls that a folder must not make."""
    for path in tree.of_kind(CPP):
        bans = [b for b in BANS
                if b.where.search(path) and not (b.but and b.but.search(path))]
        for number, line in enumerate(code_only(tree.text(path)).splitlines(), 1):
            for b in bans:
                match = b.what.search(line)
                if match:
                    yield Finding(path, number, f"`{match.group().strip()}`: {b.why}")
