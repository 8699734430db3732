#!/usr/bin/python3
"""firn push ships files to hosts over ssh: real sshd in namespaces (ssh_hosts.py), and an --ssh that is a script."""

import json
import os
import shlex
import signal
import subprocess
import time

import fake_ssh
import ssh_hosts
from harness import BUILD, MIB, SwarmTest, main

# In place of a remote: says `answer`, then whatever comes.
ANSWER = """#!/bin/sh
printf '{answer}'
cat >/dev/null
"""
HELLO = r"firn-push 1 x86_64 2.36 0.1.0\n"
START = HELLO + r"firn-push start\n"


class PushTest(SwarmTest):
    address = "127.0.0.1"

    def push(self, *arguments, name="push", **popen):
        return self.firn(name, "push", *arguments, "--listen", f"{self.address}:0", **popen)

    def assert_pushed(self, source, program, copies, timeout=120):
        """It ends with 0, and each of these is the source."""
        self.assertEqual(0, program.wait_exit(timeout), program.story())
        for copy in copies:
            self.assert_same(source, copy)

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def local_ssh(self, before=""):
        return str(fake_ssh.make(self.folder / "ssh", self.folder / "homes", before))

    def home(self, host):
        return self.folder / "homes" / host


class Local(PushTest):
    """Without sshd."""

    def test_a_host_gets_a_file_and_nothing_runs_on(self):
        source = self.file(3 * MIB)
        program = self.push(source, "one:in/here", "--ssh", self.local_ssh())
        self.assert_pushed(source, program, [self.home("one") / "in/here" / source.name])
        self.assertRegex(program.output("stdout"), r"one\S* +ok ")
        self.assertEqual([], running(self.folder))

    def test_the_link_is_in_no_argument_environment_or_output(self):
        source = self.file(30 * MIB)
        program = self.push(source, "one", "--ssh", self.local_ssh(), "--json", "--log", self.folder / "log",
                            "--log-level", "debug", "--up-limit", "2M", "-v")
        program.wait_event("push_host", where=lambda event: event["state"] == "receiving")
        words = []
        for pid in [program.process.pid, *running(self.folder)]:
            for name in ("cmdline", "environ"):
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    words.append(file.read())
        program.stop()
        self.assertGreater(len(words), 2)
        texts = b"".join(words).decode() + program.story() + (self.folder / "log").read_text()
        self.assertNotIn("firn:", texts)

    def test_a_folder_name_is_not_read_by_a_shell(self):
        source = self.file(MIB)
        name = "$(touch evil); 'x' \"y\" `z`"
        program = self.push(source, f"one:{name}", "--ssh", self.local_ssh())
        self.assert_pushed(source, program, [self.home("one") / name / source.name])
        self.assertFalse((self.home("one") / "evil").exists())

    def test_version_two_over_version_one(self):
        first = self.tree({"a": b"a" * 100_000, "b": os.urandom(100_000)})
        ssh = self.local_ssh()
        self.assert_pushed(first, self.push(first, "one", "--ssh", ssh), [self.home("one") / "holiday"])
        (first / "a").write_bytes(b"c" * 120_000)
        program = self.push(first, "one", "--ssh", ssh)
        self.assertEqual(3, program.wait_exit(), program.story())
        self.assertRegex(program.output("stdout"), r"one +failed .*--repair")
        self.assert_pushed(first, self.push(first, "one", "--ssh", ssh, "--repair"), [self.home("one") / "holiday"])
        (first / "a").write_bytes(b"d" * 90_000)
        self.assert_pushed(first, self.push(first, "one", "--ssh", ssh, "--overwrite"), [self.home("one") / "holiday"])

    def test_interrupted_it_ends_the_remote_sides(self):
        source = self.file(30 * MIB)
        hosts = ["one", "two", "three"]
        program = self.push(source, *hosts, "--ssh", self.local_ssh(), "--json", "--up-limit", "1M",
                            "--retry-failed", self.folder / "failed")
        self.all_receive(program, hosts)
        program.process.send_signal(signal.SIGINT)
        self.assertEqual(130, program.wait_exit(20), program.story())
        self.assertEqual([], running(self.folder))
        self.assertEqual(hosts, (self.folder / "failed").read_text().split()[-3:])

    def test_killed_it_leaves_nothing_running(self):
        source = self.file(30 * MIB)
        hosts = ["one", "two"]
        program = self.push(source, *hosts, "--ssh", self.local_ssh(), "--json", "--up-limit", "1M")
        self.all_receive(program, hosts)
        self.assertEqual(2, len(running(self.folder)))
        program.process.kill()
        wait_until(lambda: not running(self.folder))

    def all_receive(self, program, hosts):
        for host in hosts:
            program.wait_event("push_host", where=lambda event, host=host: event["host"] == host
                               and event["state"] == "receiving")

    def test_a_way_through_the_session_where_nobody_can_be_called(self):
        source = self.file(5 * MIB)
        ssh = self.local_ssh(before="unshare --net --map-root-user sh -c '/usr/sbin/ip link set lo up && exec \"$@\"' sh")
        program = self.push(source, "one", "--ssh", ssh)
        self.assert_pushed(source, program, [self.home("one") / source.name])
        self.assertRegex(program.output("stdout"), r"one +ok .*through ssh")

    def test_hostile_answers_cost_their_own_host_alone(self):
        source = self.file(MIB)
        local = self.local_ssh()
        answers = {
            "garbage": "%s" % r"\001\377\377\377\377",
            "endless": "'; yes x | tr -d '\\n'; : '",
            "long-frame": START + r"\001\177\377\377\377",
            "no-json": START + r"\001\0\0\0\3abc",
            "tunnel": START + r"\002\0\0\0\3abc",
            "controls": HELLO + r"firn-push failed \033[2J\033]0;owned\007\302\233x\n",
        }
        for name, answer in answers.items():
            self.script(name, ANSWER.format(answer=answer))
        cases = "".join(f"{name}) exec '{self.folder}/{name}';;\n" for name in answers)
        ssh = self.script("choose", "#!/bin/sh\nfor word; do host=$last; last=$word; done\n"
                          f"case $host in\n{cases}esac\nexec '{local}' \"$@\"\n")
        program = self.push(source, "one", *answers, "--ssh", ssh, "--timeout", "20s")
        self.assertEqual(3, program.wait_exit(60), program.story())
        self.assert_same(source, self.home("one") / source.name)
        lines = program.output("stdout").splitlines()
        self.assertEqual(len(answers), sum("failed" in line for line in lines), lines)
        for text in (program.output("stdout"), program.output("stderr")):
            self.assertFalse({"\x1b", "\x07", "\x9b"} & set(text), text)

    def test_a_host_that_looks_like_an_option_is_refused(self):
        source = self.file(MIB)
        self.assert_refused(self.run_firn("push", source, "--", f"-oProxyCommand=touch {self.folder}/evil"), 2)
        hosts = self.folder / "hosts"
        hosts.write_text(f"-oProxyCommand=touch {self.folder}/evil\n")
        self.assert_refused(self.run_firn("push", source, "--hosts", hosts), 2)
        self.assertFalse((self.folder / "evil").exists())

    def test_receive_by_hand_says_who_starts_it(self):
        self.assert_refused(self.run_firn("receive"), 2, "standard input")


class Sshd(PushTest):
    """With sshd: each host in namespaces of its own."""

    def hosts_of(self, count):
        hosts = ssh_hosts.start(self, count)
        self.address = hosts.address
        self.ssh = ["--ssh", shlex.join(map(str, hosts.ssh))]
        return hosts

    def test_three_hosts_get_it_and_pass_it_on(self):
        hosts = self.hosts_of(3)
        source = self.file(24 * MIB)
        program = self.push(source, "host[1-2]", "host3:other", "-o", "in", *self.ssh, "--json", "--up-limit", "4M")
        self.assert_pushed(source, program, [hosts["host1"].home / "in" / source.name, hosts["host2"].home / "in" / source.name,
                                             hosts["host3"].home / "other" / source.name])
        end = program.wait_event("push_end")
        self.assertEqual(3, end["complete"], end)
        # Whoever only receives sends a few percent of that.
        sent = [json.loads(subprocess.run(["ip", "-json", "-stats", "link", "show", host.cable], capture_output=True, text=True,
                                          check=True).stdout)[0]["stats64"]["rx"]["bytes"] for host in hosts]
        self.assertGreater(sum(sent), 12 * MIB, sent)
        for host in hosts:
            self.assertEqual([], host.pids("firn"))

    def test_the_session_carries_it_where_neither_side_can_call(self):
        hosts = self.hosts_of(2)
        hosts["host1"].allow_only_ssh()
        source = self.file(8 * MIB)
        program = self.push(source, "host1", "host2", *self.ssh)
        self.assert_pushed(source, program, [host.home / source.name for host in hosts])
        self.assertRegex(program.output("stdout"), r"host1 +ok .*through ssh")
        self.assertRegex(program.output("stdout"), r"host2 +ok .*(it called|called it)")

    def test_the_pusher_calls_hosts_that_cannot_call(self):
        hosts = self.hosts_of(1)
        source = self.file(8 * MIB)
        program = self.firn("push", "push", source, "host1", *self.ssh, "--listen", "127.0.0.1:0")
        self.assert_pushed(source, program, [hosts["host1"].home / source.name])


def running(folder):
    """Ids of processes of hosts in `folder`, of this build."""
    found = []
    program = str((BUILD / "client" / "firn").resolve())
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.readlink(f"/proc/{name}/exe") == program:
                with open(f"/proc/{name}/environ", "rb") as file:
                    home = next((word for word in file.read().split(b"\0") if word.startswith(b"HOME=")), b"")
                if str(folder / "homes").encode() in home:
                    found.append(int(name))
        except OSError:
            pass
    return found


def wait_until(holds, timeout=20):
    deadline = time.monotonic() + timeout
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError("it does not come to hold")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
