"""Races of real BitTorrent and Firn clients on hosts made of network namespaces, or of a cluster.

    scenario.py    what a scenario file says
    hosts.py       namespaces on a bridge, with limits on their links
    processes.py   programs inside of them, and what they cost
    firewall.py    a host that accepts no connections
    adapters/      how each client is started, watched and stopped
    content.py     the file that is moved, and its digest
    cluster/       the same on the hosts of a cluster, as tasks of Slurm or pods of Kubernetes
    race.py        one run: when each host starts, leaves and crashes
    viewing.py     viewers of a film, each with the model player of player.py before its client
    collect.py     what is counted during a run, and the record made of it
    trust.py       what hostile peers did, and what honest ones made of it
    bound.py       how fast the run could have been
    figures.py     the figures of a record; its summary, which docs/results keeps
    summarise.py   summaries of what `run` wrote
    report.py      tables and plots of many races
    commands.py    the command line
"""
