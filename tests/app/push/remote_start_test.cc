#include "client/app/push/remote_start.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "client/app/version.h"
#include "tests/app/temp_folder.h"

namespace firn::app {
namespace {

// A firn that answers as the installed one does, and repeats what comes on its standard input.
constexpr const char* kFakeFirn =
    "#!/bin/sh\n"
    "[ \"$1\" = --version ] && echo 'firn 7.8.9 (abcdef)' && exit\n"
    "echo \"$0 $* umask $(umask)\"\n"
    "cat\n";

struct Answer {
  int code = -1;
  std::string out;
  std::string err;
};

// A remote host: a home folder, and a folder with what PATH has before the system's programs.
class Remote {
 public:
  Remote() {
    std::filesystem::create_directory(home);
    std::filesystem::create_directory(programs);
  }

  void add_program(const std::string& name, const std::string& text) const {
    write(programs + "/" + name, text, 0755);
  }

  static void write(const std::string& path, const std::string& text, mode_t mode) {
    std::ofstream(path) << text;
    REQUIRE(::chmod(path.c_str(), mode) == 0);
  }

  // Runs the command as sshd does, by the user's login shell.
  Answer run(const std::string& input, const std::vector<std::string>& shell = {"sh"}) const {
    const std::string base = folder_.path() + "/";
    // A pipe, as from sshd: what is read there cannot be read again. It holds 64 KiB.
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    REQUIRE(::write(ends[1], input.data(), input.size()) == static_cast<ssize_t>(input.size()));
    ::close(ends[1]);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::dup2(ends[0], 0);
      ::dup2(::open((base + "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
      ::dup2(::open((base + "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
      ::setenv("HOME", home.c_str(), 1);
      ::setenv("PATH", (programs + ":" + path_after).c_str(), 1);
      ::umask(022);
      std::vector<char*> words;
      for (const std::string& word : shell) words.push_back(const_cast<char*>(word.c_str()));
      const std::string command = remote_start();
      words.push_back(const_cast<char*>("-c"));
      words.push_back(const_cast<char*>(command.c_str()));
      words.push_back(nullptr);
      ::execvp(words[0], words.data());
      ::_exit(98);
    }
    ::close(ends[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, tests::file_bytes(base + "out"),
            tests::file_bytes(base + "err")};
  }

  // The folder that an earlier push installed, or that this one does.
  std::string installed() const { return home + "/.cache/firn/" + kVersion; }

 private:
  tests::TempFolder folder_;

 public:
  std::string home = folder_.path() + "/home";
  std::string programs = folder_.path() + "/programs";
  std::string path_after = "/usr/bin:/bin";
};

// Runs a command of the system and returns what it prints.
std::string printed(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int byte = std::fgetc(pipe); byte != EOF; byte = std::fgetc(pipe)) {
    text += static_cast<char>(byte);
  }
  REQUIRE(::pclose(pipe) == 0);
  return text;
}

// An archive to install whose program is `text`.
struct Archive {
  explicit Archive(const std::string& text = kFakeFirn) {
    const std::string top = folder.path() + "/firn-1";
    std::filesystem::create_directories(top + "/bin");
    Remote::write(top + "/bin/firn", text, 0755);
    printed("cd " + top + " && sha256sum bin/firn > SHA256SUMS");
    digest = printed("sha256sum < " + top + "/SHA256SUMS").substr(0, 64);
    printed("tar -C " + folder.path() + " -czf " + folder.path() + "/tar firn-1");
    bytes = tests::file_bytes(folder.path() + "/tar");
  }
  std::string order() const {
    return "install " + std::to_string(bytes.size()) + " " + digest + "\n";
  }

  tests::TempFolder folder;
  std::string digest;
  std::string bytes;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The lines of the protocol.
std::vector<std::string> lines_of(const std::string& out) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < out.size();) {
    const std::size_t end = std::min(out.find('\n', from), out.size());
    const std::string line = out.substr(from, end - from);
    if (line.starts_with("firn-push ")) lines.push_back(line.substr(10));
    from = end + 1;
  }
  return lines;
}

TEST_CASE(
    "the remote start says machine, glibc and version of the host's own firn, and starts it") {
  Remote remote;
  remote.add_program("firn", kFakeFirn);
  const Answer answer = remote.run("run\nall that follows\nis firn's\n");
  CAPTURE(answer.out);
  CHECK(answer.code == 0);
  CHECK(answer.err.empty());
  const std::string machine = printed("uname -m | tr -d '\\n'");
  const std::string libc = printed("getconf GNU_LIBC_VERSION | cut -d' ' -f2 | tr -d '\\n'");
  CHECK(answer.out == "\nfirn-push 1 " + machine + " " + libc + " 7.8.9\nfirn-push start\n" +
                          remote.programs +
                          "/firn receive umask 0022\nall that follows\nis firn's\n");
}

TEST_CASE("without firn and glibc the remote start says so and ends with its input") {
  Remote remote;
  remote.add_program("getconf", "#!/bin/sh\nexit 1\n");
  const Answer answer = remote.run("");
  CHECK(answer.code == 0);
  REQUIRE(lines_of(answer.out).size() == 1);
  CHECK(lines_of(answer.out)[0].ends_with(" - -"));
  CHECK(lines_of(remote.run("something else\nrun\n").out).size() == 1);
}

TEST_CASE("an installed firn is in a folder of the user alone and is used again by its digest") {
  Remote remote;
  const Archive archive;
  const Answer first =
      remote.run("cached " + archive.digest + "\n" + archive.order() + archive.bytes);
  CAPTURE(first.out);
  CHECK(first.code == 0);
  REQUIRE(lines_of(first.out).size() == 3);
  CHECK(lines_of(first.out)[1] == "install");
  CHECK(lines_of(first.out)[2] == "start");
  CHECK(first.out.ends_with("start\n" + remote.installed() + "/bin/firn receive umask 0022\n"));
  struct stat about {};
  REQUIRE(::stat(remote.installed().c_str(), &about) == 0);
  CHECK((about.st_mode & 07777) == 0700);
  REQUIRE(::stat((remote.home + "/.cache/firn").c_str(), &about) == 0);
  CHECK((about.st_mode & 07777) == 0700);

  const Answer second = remote.run("cached " + archive.digest + "\nframes");
  CHECK(lines_of(second.out).size() == 2);
  CHECK(second.out.ends_with("umask 0022\nframes"));

  SUBCASE("a byte that has changed") {
    std::ofstream(remote.installed() + "/bin/firn", std::ios::app) << '\n';
  }
  SUBCASE("a sum that has changed") {
    std::ofstream(remote.installed() + "/SHA256SUMS") << '\n';
  }
  SUBCASE("a file that is missing") {
    std::filesystem::remove(remote.installed() + "/bin/firn");
  }
  const Answer third =
      remote.run("cached " + archive.digest + "\n" + archive.order() + archive.bytes);
  CHECK(lines_of(third.out).size() == 3);
  CHECK(third.out.ends_with("umask 0022\n"));
  // Nothing is left of what was replaced.
  CHECK(printed("ls " + remote.home + "/.cache/firn") == std::string(kVersion) + "\n");
}

// Runs an installation that must fail; returns the reason.
std::string refusal(const Remote& remote, const std::string& input) {
  const Answer answer = remote.run(input);
  CAPTURE(answer.out);
  CHECK(answer.code == 1);
  const auto lines = lines_of(answer.out);
  REQUIRE(lines.size() == 2);
  REQUIRE(lines[1].starts_with("failed "));
  std::error_code missing;
  const std::string cache = remote.home + "/.cache/firn";
  CHECK((!std::filesystem::exists(cache, missing) || std::filesystem::is_empty(cache, missing)));
  return lines[1].substr(7);
}

TEST_CASE("the remote start says in one line why firn cannot be installed, and leaves nothing") {
  Remote remote;
  const Archive archive;
  const std::string whole = archive.order() + archive.bytes;
  SUBCASE("cut short") {
    CHECK(has(refusal(remote, whole.substr(0, whole.size() - 40)), "cannot unpack: "));
  }
  SUBCASE("another digest") {
    const std::string size = std::to_string(archive.bytes.size());
    const std::string other(64, '0');
    CHECK(has(refusal(remote, "install " + size + " " + other + "\n" + archive.bytes),
              "arrived damaged"));
  }
  SUBCASE("no archive") {
    CHECK(has(refusal(remote, "install 4 00\nabcd"), "cannot unpack: "));
  }
  SUBCASE("no size") {
    CHECK(has(refusal(remote, "install\n"), "cannot unpack: "));
  }
  SUBCASE("no home") {
    remote.home += "/none";
    CHECK(refusal(remote, whole) == "HOME is no folder: " + remote.home);
  }
  SUBCASE("home is empty") {
    remote.home.clear();
    CHECK(refusal(remote, whole) == "HOME is no folder: ");
  }
  SUBCASE("a file where the cache belongs") {
    std::ofstream(remote.home + "/.cache") << "file";
    CHECK(has(refusal(remote, whole), "cannot install: mkdir: "));
  }
  SUBCASE("no room") {
    remote.add_program(
        "tar", "#!/bin/sh\ncat >/dev/null\necho 'tar: No space left' >&2\necho more >&2\nexit 2\n");
    CHECK(refusal(remote, whole) == "cannot unpack: tar: No space left");
  }
}

TEST_CASE("a home folder that cannot be written is named") {
  Remote remote;
  const Archive archive;
  REQUIRE(::chmod(remote.home.c_str(), 0500) == 0);
  if (::access(remote.home.c_str(), W_OK) == 0) {
    MESSAGE("not run: this user writes where nobody may");
    return;
  }
  CHECK(has(refusal(remote, archive.order() + archive.bytes), remote.home));
  REQUIRE(::chmod(remote.home.c_str(), 0700) == 0);
}

TEST_CASE("an installed firn that does not start is told with what the host says of it") {
  Remote remote;
  const Archive archive("#!/bin/sh\necho 'libc.so.6: version GLIBC_9.9 not found' >&2\nexit 1\n");
  const Answer answer = remote.run(archive.order() + archive.bytes);
  REQUIRE(lines_of(answer.out).size() == 2);
  CHECK(lines_of(answer.out)[1] ==
        "failed " + remote.installed() +
            "/bin/firn does not start: libc.so.6: version GLIBC_9.9 not found");
}

TEST_CASE("home folders with any characters in their names are used as they are") {
  const Archive archive;
  for (const std::string name : {"with space", "$HOME", "it's", "quote\"", "semi;colon", "star*",
                                 "back\\slash", "exc!aim"}) {
    CAPTURE(name);
    Remote remote;
    remote.home += "/" + name;
    std::filesystem::create_directories(remote.home);
    CHECK(remote.run(archive.order() + archive.bytes).out.ends_with("umask 0022\n"));
    CHECK(remote.run("cached " + archive.digest + "\nframes").out.ends_with("umask 0022\nframes"));
  }
}

TEST_CASE("the remote start works whatever the login shell is, and with busybox's programs") {
  const Archive archive;
  for (const std::string name :
       {"bash", "dash", "zsh", "fish", "tcsh", "csh", "mksh", "ksh", "yash", "busybox"}) {
    CAPTURE(name);
    const std::string path = printed("command -v " + name + " || true");
    if (path.empty()) {
      MESSAGE("not run: " << name << " is not installed");
      continue;
    }
    Remote remote;
    std::vector<std::string> shell{path.substr(0, path.size() - 1)};
    if (name == "busybox") {
      // Nothing but busybox and a firn that needs no more.
      printed(path.substr(0, path.size() - 1) + " --install -s " + remote.programs);
      remote.path_after = remote.programs;
      shell.emplace_back("ash");
    }
    const Answer answer =
        remote.run("cached " + archive.digest + "\n" + archive.order() + archive.bytes, shell);
    CAPTURE(answer.out);
    CAPTURE(answer.err);
    CHECK(answer.code == 0);
    CHECK(answer.out.ends_with("start\n" + remote.installed() + "/bin/firn receive umask 0022\n"));
    CHECK(remote.run("cached " + archive.digest + "\nframes", shell)
              .out.ends_with("umask 0022\nframes"));
  }
}

}  // namespace
}  // namespace firn::app
