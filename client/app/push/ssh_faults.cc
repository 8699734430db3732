#include "client/app/push/ssh_faults.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>

namespace firn::app {
namespace {

constexpr int kSshFailed = 255;  // ssh's own code; also where a signal ended the remote program
constexpr int kNotFound = 127;   // a shell's: no such program

struct KnownLine {
  std::string_view part;    // of a line of OpenSSH
  std::string_view reason;  // and what to do
  bool with_line = false;   // the line itself says more
};

// Before the remote answered. The first that fits any line counts: after a jump host's failure ssh
// adds what that did to the connection through it.
constexpr std::array kLoginLines = {
    KnownLine{
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "its key is not the one that this machine knows: was it installed anew? Run ssh to it "
        "by hand, which says more"},
    KnownLine{"Host key verification failed",
              "its key is not known here: connect once by hand with ssh and compare the key"},
    KnownLine{"Could not resolve hostname", "its name is not known", true},
    KnownLine{": Connection refused", "refused: does sshd listen there, on that port?", true},
    KnownLine{"Connection timed out", "no answer: is it on, and does a firewall stand between?",
              true},
    KnownLine{"No route to host", "no way there: is it on?", true},
    KnownLine{"Network is unreachable", "no way there from this machine", true},
    KnownLine{"Too many authentication failures",
              "permission denied: the agent offers too many keys; name one with --ssh 'ssh -i KEY "
              "-o IdentitiesOnly=yes'"},
    KnownLine{
        "Permission denied (",
        "permission denied: is the key in the agent (ssh-add -l), is the user right (--user)?",
        true},
    KnownLine{"Unable to negotiate with", "it and this ssh share no algorithm", true},
    KnownLine{"kex_exchange_identification",
              "the connection was closed before the login: if many log in at once, sshd's "
              "MaxStartups allows too few, there or on the jump host (--parallel)"},
};

// Once the remote has answered: how the connection ended. The remote could write the lines above
// itself.
constexpr std::array kSessionLines = {
    KnownLine{"not responding", "connection lost: it does not answer any more"},
    KnownLine{"closed by remote host", "connection lost: its sshd closed it"},
    KnownLine{"client_loop: ", "connection lost", true},
    KnownLine{"Connection reset by", "connection lost", true},
    KnownLine{"Read from remote host", "connection lost", true},
};

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && std::string_view(" \t\r\n").find(line.back()) != std::string_view::npos)
    line.remove_suffix(1);
  return line;
}

// Lines that ssh writes although nothing is wrong.
bool says_nothing(std::string_view line) {
  return line.empty() || line.starts_with("Warning: Permanently added") ||
         line.starts_with("** ") || line.starts_with("@@@");
}

// Empty: there is none.
std::string_view last_line(const SshEnd& end) {
  for (auto line = end.lines.rbegin(); line != end.lines.rend(); ++line)
    if (!says_nothing(trimmed(*line))) return trimmed(*line);
  return {};
}

template <typename Table>
std::optional<std::string> known_reason(const SshEnd& end, const Table& table) {
  for (const KnownLine& known : table)
    for (const std::string& line : end.lines)
      if (line.find(known.part) != std::string::npos)
        return known.with_line ? fmt::format("{} ({})", known.reason, trimmed(line))
                               : std::string(known.reason);
  return std::nullopt;
}

bool has_line(const SshEnd& end, std::string_view one, std::string_view other) {
  for (const std::string& line : end.lines)
    if (line.find(one) != std::string::npos && line.find(other) != std::string::npos) return true;
  return false;
}

std::string with_last_line(std::string_view reason, const SshEnd& end) {
  const std::string_view line = last_line(end);
  return line.empty() ? std::string(reason) : fmt::format("{} ({})", reason, line);
}

// ssh failed itself, or the program there was killed.
std::string failed_ssh(const SshEnd& end) {
  const auto reason =
      end.answered ? known_reason(end, kSessionLines) : known_reason(end, kLoginLines);
  if (reason) return *reason;
  // What stands there is firn's own then.
  if (end.answered)
    return "killed: a signal ended firn there, or ssh here; was memory short there?";
  const std::string_view line = last_line(end);
  return line.empty() ? "ssh ended without a reason: run it by hand" : std::string(line);
}

}  // namespace

std::string fault_of(const SshEnd& end) {
  if (end.signal != 0)
    return fmt::format("ssh was killed here by signal {} ({})", end.signal, strsignal(end.signal));
  if (end.code == kSshFailed) return failed_ssh(end);
  if (has_line(end, "firn: unknown command", "receive"))
    return "the firn there is too old for push: update it, or push --install";
  if (end.code == kNotFound && has_line(end, "firn", "not found")) return no_firn_fault();
  if (!end.answered && end.code == kNotFound)
    return with_last_line("a program is missing, here (--ssh) or there", end);
  if (!end.answered)
    return with_last_line("the login there did not run what push sent: has it a POSIX shell?", end);
  if (end.code > 128)
    return fmt::format("killed there by signal {} ({})", end.code - 128, strsignal(end.code - 128));
  if (const std::string_view line = last_line(end); !line.empty()) return std::string(line);
  return fmt::format("firn ended there before it had everything, with exit code {}", end.code);
}

std::string no_ssh_fault(std::string_view program, std::string_view why) {
  return fmt::format(
      "cannot start '{}' here ({}): install OpenSSH's client, or name another with --ssh", program,
      why);
}

std::string no_firn_fault() {
  return "there is no firn: install it there, or push --install";
}

std::string other_firn_fault(std::string_view theirs, std::string_view ours) {
  return fmt::format("firn is {} there and {} here: update one, or push --install", theirs, ours);
}

}  // namespace firn::app
