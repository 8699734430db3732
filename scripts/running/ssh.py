"""Keys and configurations of an OpenSSH server and its clients that have nothing of the user's: for scripts/bench-push
and tests/e2e."""

import subprocess

SERVER = """
AuthorizedKeysFile {folder}/authorized_keys
HostKey {folder}/host_key
PermitRootLogin prohibit-password
PidFile {folder}/sshd.pid
PrintMotd no
SetEnv PATH={path}
StrictModes no
UsePAM no
"""

CLIENT_HOST = """
Host {name}
  HostName {address}
  User root
"""

CLIENT_ALL = """
Host *
  GlobalKnownHostsFile /dev/null
  IdentitiesOnly yes
  IdentityAgent none
  IdentityFile {folder}/client_key
  PreferredAuthentications publickey
  UserKnownHostsFile {folder}/known_hosts
"""


def make_key(path):
    """A key pair at `path` and `path`.pub."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", path.name, "-f", str(path)], check=True)


def public_key(path):
    """What of `path`.pub a known_hosts file has behind the host's name."""
    return path.with_name(path.name + ".pub").read_text().rsplit(maxsplit=1)[0]
