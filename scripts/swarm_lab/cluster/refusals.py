"""What a scenario asks for that tasks cannot give, said before anything is submitted."""

from swarm_lab import scenario, slow_link


class CannotPlace(Exception):
    """The text names what cannot be done, and where it can."""


HERE = "run it on this machine (without --on)"


def check(one, client, on, links):
    """Raises CannotPlace with every reason."""
    found = list(_reasons(one, client, on, links))
    if found:
        raise CannotPlace(f"{one.name} cannot run on {on}: {'; '.join(found)}; {HERE}")


def _reasons(one, client, on, links):
    if client.partition(":")[0] != "firn":
        yield f"the client {client} needs files on every host, which tasks do not make (firn does not)"
    if one.path() != slow_link.Path():
        yield "`delay_ms`, `loss` and `offload` are for links between hosts of one machine"
    if one.seed.origin:
        yield "`origin` has a web server beside the clients, which tasks do not start"
    if one.film:
        yield "`[film]` has players beside the clients, which tasks do not start"
    if links == "namespaces":
        if on != "slurm":
            yield "`--links namespaces` needs tasks that are root on their hosts, which pods are not"
        return
    if not all(group.reachable for group in one.peers):
        yield ("`reachable = false` needs a host whose connections can be refused from outside "
               "(`--links namespaces`)")
    if one.congestion != scenario.Scenario.congestion:
        yield (f"`congestion = \"{one.congestion}\"` is the hosts' own matter, which a task does "
               "not change (`--links namespaces`)")
