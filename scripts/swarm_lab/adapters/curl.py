"""curl, which takes the content from the origin alone: what a download costs without peers. It goes on where a
connection ended, and once it has everything a process that does nothing stands for it until the race is over."""

import subprocess

from swarm_lab.adapters.base import Adapter, BadClient, Node

DOWNLOAD = """\
until curl --silent --show-error --fail --create-dirs --continue-at - --output "$0" "$1"; do sleep 0.2; done
echo complete
exec sleep infinity
"""


class CurlNode(Node):
    def on_line(self, now, _):
        self.saw(now, 1.0)
        self.completed = now


class Curl(Adapter):
    programs = {"curl": "curl"}

    def version(self):
        said = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True)
        return " ".join(said.stdout.split()[:2])

    def use_origin(self, folder, content, tracker_host, url):
        self.url, self.name_of_file = url, content.name

    def start_tracker(self, host, folder):
        return host.start("tracker", ["sleep", "infinity"], folder)  # it has no use for one

    def start_seed(self, host, folder, content, tracker_host, leave_when_safe=False):
        raise BadClient("curl needs an origin: a scenario whose [seed] has `origin = true`")

    def start_peer(self, host, folder, upload_limit_bytes):
        node = CurlNode(host, None)
        node.process = host.start(host.name, ["sh", "-c", DOWNLOAD, folder / host.name / self.name_of_file, self.url],
                                  folder, on_line=node.on_line)
        return node
