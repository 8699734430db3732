#include "client/app/push/ssh_faults.h"

#include <doctest/doctest.h>

namespace firn::app {
namespace {

// Standard error and exit code of OpenSSH 9.2 as real logins gave them.
std::string before_answer(std::vector<std::string> lines, int code = 255) {
  return fault_of({"node1", std::move(lines), code, 0, false});
}

std::string after_answer(std::vector<std::string> lines, int code = 255) {
  return fault_of({"node1", std::move(lines), code, 0, true});
}

bool holds(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE(text);
  return found;
}

TEST_CASE("each failure of a login has its reason, with ssh's line where that says more") {
  CHECK(before_answer({"ssh: Could not resolve hostname no-such-host.invalid: Name or service not "
                       "known\r"}) ==
        "its name is not known (ssh: Could not resolve hostname no-such-host.invalid: Name or "
        "service not known)");
  CHECK(holds(before_answer({"ssh: connect to host 127.0.0.77 port 4023: Connection refused\r"}),
              "refused: does sshd listen"));
  CHECK(holds(before_answer({"ssh: connect to host 127.0.0.77 port 4031: Connection timed out\r"}),
              "no answer"));
  CHECK(holds(before_answer({"Connection timed out during banner exchange\r",
                             "Connection to 127.0.0.77 port 4030 timed out\r"}),
              "no answer"));
  CHECK(holds(before_answer({"ssh: connect to host 192.0.2.77 port 4022: No route to host\r"}),
              "no way there"));
  CHECK(
      holds(before_answer({"root@127.0.0.77: Permission denied "
                           "(publickey,keyboard-interactive).\r"}),
            "permission denied: is the key in the agent (ssh-add -l), is the user right (--user)"));
  CHECK(holds(before_answer({"Received disconnect from 127.0.0.77 port 4022:2: Too many "
                             "authentication failures\r",
                             "Disconnected from 127.0.0.77 port 4022\r"}),
              "IdentitiesOnly"));
  CHECK(holds(before_answer({"Unable to negotiate with 127.0.0.77 port 4022: no matching host key "
                             "type found. Their offer: ssh-ed25519\r"}),
              "no algorithm"));
  CHECK(holds(before_answer({"kex_exchange_identification: Connection closed by remote host\r",
                             "Connection closed by 127.0.0.77 port 4024\r"}),
              "MaxStartups"));
  CHECK(before_answer({"command-line: line 0: Bad configuration option: foo\r"}) ==
        "command-line: line 0: Bad configuration option: foo");
  CHECK(before_answer({}) == "ssh ended without a reason: run it by hand");
}

TEST_CASE("a key that is not known and one that has changed are told apart") {
  const std::string unknown = "its key is not known here";
  CHECK(holds(before_answer({"Host key verification failed.\r"}), unknown));
  CHECK(holds(before_answer({"No ED25519 host key is known for [127.0.0.77]:4022 and you have "
                             "requested strict checking.\r",
                             "Host key verification failed.\r"}),
              unknown));
  CHECK(holds(
      before_answer({"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\r",
                     "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r",
                     "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\r",
                     "IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!\r",
                     "Host key for [127.0.0.77]:4022 has changed and you have requested strict "
                     "checking.\r",
                     "Host key verification failed.\r"}),
      "not the one that this machine knows"));
}

TEST_CASE("the failure of a jump host is told, not what it did to the connection through it") {
  CHECK(holds(before_answer({"ssh: Could not resolve hostname nojump.invalid: Name or service not "
                             "known\r",
                             "kex_exchange_identification: Connection closed by remote host\r",
                             "Connection closed by UNKNOWN port 65535\r"}),
              "nojump.invalid"));
  CHECK(holds(before_answer({"stranger@127.0.0.77: Permission denied "
                             "(publickey,keyboard-interactive).\r",
                             "kex_exchange_identification: Connection closed by remote host\r",
                             "Connection closed by UNKNOWN port 65535\r"}),
              "stranger@127.0.0.77"));
}

TEST_CASE("a connection that is lost half-way is told from a program that was killed") {
  CHECK(after_answer({"Timeout, server 127.0.0.77 not responding.\r"}) ==
        "connection lost: it does not answer any more");
  CHECK(after_answer({"Connection to 127.0.0.77 closed by remote host.\r"}) ==
        "connection lost: its sshd closed it");
  CHECK(holds(after_answer({"client_loop: send disconnect: Broken pipe\r"}), "connection lost ("));
  CHECK(holds(after_answer({}), "killed: a signal"));
  CHECK(holds(after_answer({}, 137), "killed there by signal 9"));
  CHECK(holds(fault_of({"node1", {}, 0, 9, true}), "killed here by signal 9"));
}

TEST_CASE("a host that has answered cannot pretend that its key changed") {
  CHECK(after_answer({"REMOTE HOST IDENTIFICATION HAS CHANGED"}).starts_with("killed"));
}

TEST_CASE("no firn, an old one, and a shell that does not run it have reasons of their own") {
  CHECK(after_answer({"sh: 1: exec: firn: not found"}, 127) == no_firn_fault());
  CHECK(
      holds(after_answer({"firn: unknown command 'receive'", "`firn help` lists the commands."}, 2),
            "too old for push"));
  CHECK(holds(before_answer({"Could not chdir to home directory /nonexistent: No such file or "
                             "directory",
                             "This account is currently not available."},
                            1),
              "(This account is currently not available.)"));
  CHECK(holds(before_answer({"sudo: ssh: command not found"}, 127), "(sudo: ssh: command"));
  CHECK(holds(no_ssh_fault("ssh", "no such file or directory"), "cannot start 'ssh' here"));
  CHECK(holds(other_firn_fault("1.0", "2.0"), "1.0 there and 2.0 here"));
}

TEST_CASE("what has no reason of ours is told in the last line that says something") {
  CHECK(after_answer({"firn: write /data/a: No space left on device", "", "** note"}, 4) ==
        "firn: write /data/a: No space left on device");
  CHECK(holds(after_answer({"Warning: Permanently added 'a' (ED25519) to the list of known "
                            "hosts.\r"},
                           3),
              "exit code 3"));
}

}  // namespace
}  // namespace firn::app
