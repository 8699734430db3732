"""Races on the hosts of a cluster: every host of the scenario is a task of one Slurm job or a pod of
one Kubernetes Job, all of them running this package's `task`.

    plan.py        what the tasks of one run are told, and the program that they run
    refusals.py    what a scenario asks for that tasks cannot give
    task.py        a task: the first conducts the race, the others are its hosts
    meeting.py     the first task's door, at which all others call; JSON lines over TCP
    clock.py       how far two tasks' clocks are apart
    addresses.py   which of its addresses a task uses
    task_host.py   a host of the race as the task that is it sees it
    overlay.py     such a host in network namespaces, with tunnels to all others
    members.py     the same host as the conductor sees it
    results.py     the record of a run, on its way to the command that asked for it
    slurm.py       the batch script; submitting it
    kubernetes.py  the manifest; creating it
    run.py         `scripts/swarm run --on`
"""
