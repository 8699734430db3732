// firn-tracker as a process: its first line, its exit codes, and what a kill leaves.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "proto/base/unique_fd.h"
#include "proto/messages.h"
#include "tests/tracker/tracker_fixture.h"
#include "tests/transport/recorder.h"

extern char** environ;

namespace firn::tracker::test {
namespace {

using proto::transport::ConnectionId;
using proto::transport::test::Node;

// A child process with its output; killed at the end if it still runs.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), FIRN_TRACKER);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    int out[2];
    int err[2];
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(err, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    ::setenv("FIRN_TRACKER_CONFIG", "", 1);  // none of this machine's
    REQUIRE(::posix_spawn(&pid_, FIRN_TRACKER, &actions, nullptr, argv.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  ~Program() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
    ::close(out_);
    ::close(err_);
  }
  Program(const Program&) = delete;

  // The next line of standard output, without its end.
  std::string line() {
    std::string text;
    for (char c = 0; ::read(out_, &c, 1) == 1 && c != '\n';) text += c;
    return text;
  }
  std::string errors() {
    std::string text;
    for (char c = 0; ::read(err_, &c, 1) == 1;) text += c;
    return text;
  }
  void signal(int number) { ::kill(pid_, number); }
  // Its exit code, or minus the signal that ended it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
  int out_ = -1;
  int err_ = -1;
};

Address listening(Program& program) {
  const std::string line = program.line();
  constexpr std::string_view kStart = "listening on ";
  REQUIRE(line.starts_with(kStart));
  const Address address = parse_address(std::string_view(line).substr(kStart.size())).value();
  CHECK(address.id.has_value());
  CHECK(address.port != 0);
  return address;
}

proto::TrackerReply ask(Node& node, ConnectionId connection, const proto::TrackerRequest& request) {
  const std::size_t before = node.recorder.connection(connection).frames.size();
  node.transport->send(connection, proto::serialize(request));
  REQUIRE(node.recorder.wait_frames(connection, before + 1));
  return proto::parse_tracker_reply(node.recorder.connection(connection).frames[before]).value();
}

proto::AnnounceReply announce(Node& node, ConnectionId connection, const ContentId& content) {
  const proto::Announce request{.content_id = content, .listen_port = 4000};
  return std::get<proto::AnnounceReply>(ask(node, connection, request));
}

TEST_CASE("without a port it listens on 4711") {
  const TemporaryFolder folder;
  // A loopback address of this process's own, as others may use the port on 127.0.0.1.
  const pid_t own = ::getpid();
  const std::string host = "127." + std::to_string(1 + (own >> 16) % 254) + "." +
                           std::to_string((own >> 8) & 255) + "." +
                           std::to_string(1 + (own & 255) % 254);
  Program program({"--listen", host, "--data", folder.path / "data"});
  const Address address = listening(program);
  CHECK(address.host == host);
  CHECK(address.port == kDefaultPort);
  program.signal(SIGTERM);
  CHECK(program.wait() == 0);
}

TEST_CASE("it says where it listens, keeps its identity for itself, and stops when told to") {
  const TemporaryFolder folder;
  const std::string data = folder.path / "deep" / "data";
  std::optional<PeerId> id;
  for (const int number : {SIGINT, SIGTERM}) {
    Program program({"--listen", "127.0.0.1:0", "--data", data});
    const Address address = listening(program);
    CHECK(address.host == "127.0.0.1");
    CHECK(std::filesystem::status(data).permissions() == std::filesystem::perms::owner_all);
    if (id) CHECK(address.id == id);
    id = address.id;
    program.signal(number);
    CHECK(program.wait() == 0);
  }
}

TEST_CASE("a service manager hears that it listens, and that it stops") {
  const TemporaryFolder folder;
  const std::string name = folder.path / "notify";
  const UniqueFd manager(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  REQUIRE(name.copy(address.sun_path, sizeof(address.sun_path) - 1) == name.size());
  REQUIRE(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  const timeval patience{.tv_sec = 60, .tv_usec = 0};
  REQUIRE(::setsockopt(manager.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0);
  const auto heard = [&manager] {
    char text[100];
    const auto bytes = ::recv(manager.get(), text, sizeof(text), 0);
    return bytes < 0 ? std::string() : std::string(text, static_cast<std::size_t>(bytes));
  };
  ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  Program program({"--listen", "127.0.0.1:0", "--data", folder.path / "data"});
  ::unsetenv("NOTIFY_SOCKET");
  CHECK(heard() == "READY=1");
  listening(program);
  program.signal(SIGTERM);
  CHECK(heard() == "STOPPING=1");
  CHECK(program.wait() == 0);
}

// With so many I/O threads before and after.
void check_kill(const std::string& threads, const std::string& threads_then) {
  CAPTURE(threads);
  CAPTURE(threads_then);
  const TemporaryFolder folder;
  const std::string data = folder.path;
  const Manifest whole = manifest(100);
  Node seed;
  Address address;
  {
    Program program(
        {"--listen", "127.0.0.1:0", "--data", data, "--interval", "2", "--io-threads", threads});
    address = listening(program);
    const ConnectionId connection = seed.transport->connect(address);
    REQUIRE(seed.recorder.wait_open(connection));
    CHECK(announce(seed, connection, whole.id).interval_seconds == 2);
    // A manifest is on disk when the reply comes, and what was announced before with it.
    const proto::TrackerManifestPut put{whole.id, whole.file_bytes.size(), 0, whole.file_bytes};
    const auto reply = ask(seed, connection, put);
    REQUIRE(std::holds_alternative<proto::TrackerManifestPutReply>(reply));
    program.signal(SIGKILL);
    CHECK(program.wait() == -SIGKILL);
  }
  Program program({"--listen", "127.0.0.1:" + std::to_string(address.port), "--data", data,
                   "--io-threads", threads_then});
  CHECK(listening(program) == address);
  Node peer;
  const ConnectionId connection = peer.transport->connect(address);
  REQUIRE(peer.recorder.wait_open(connection));
  const auto found = announce(peer, connection, whole.id);
  CHECK(found.peers == std::vector{proto::PeerEndpoint{seed.identity.id(), "127.0.0.1", 4000}});
  CHECK(found.has_manifest);
  const auto part = ask(peer, connection, proto::TrackerManifestGet{whole.id, 0});
  REQUIRE(std::holds_alternative<proto::ManifestPart>(part));
  CHECK(std::get<proto::ManifestPart>(part).data == whole.file_bytes);
}

TEST_CASE("killed and started again it still knows the swarm and its manifest") {
  check_kill("1", "1");
  check_kill("3", "2");
  check_kill("2", "1");
}

TEST_CASE("a port in use is exit code 3 and names the port") {
  const TemporaryFolder folder;
  Node other;
  const std::string port = std::to_string(other.listen().port);
  Program program({"--listen", "127.0.0.1:" + port, "--data", folder.path});
  CHECK(program.errors().find("port " + port) != std::string::npos);
  CHECK(program.wait() == 3);
}

TEST_CASE("a data folder that cannot be used is exit code 4 and says why") {
  const TemporaryFolder folder;
  const std::string in_the_way = folder.path / "file";
  std::ofstream(in_the_way) << "x";
  SUBCASE("a file stands in its place") {
    Program program({"--listen", "127.0.0.1:0", "--data", in_the_way});
    CHECK(program.errors().find(in_the_way) != std::string::npos);
    CHECK(program.wait() == 4);
  }
  SUBCASE("the database is damaged") {
    std::ofstream(folder.path / "tracker.sqlite") << std::string(5000, 'z');
    Program program({"--listen", "127.0.0.1:0", "--data", folder.path});
    CHECK(program.errors().find("move the file away") != std::string::npos);
    CHECK(program.wait() == 4);
  }
  SUBCASE("another tracker has it") {
    Program first({"--listen", "127.0.0.1:0", "--data", folder.path});
    listening(first);
    Program second({"--listen", "127.0.0.1:0", "--data", folder.path});
    CHECK(second.errors().find("another tracker") != std::string::npos);
    CHECK(second.wait() == 4);
  }
}

TEST_CASE("wrong usage is exit code 2; --help is not") {
  const TemporaryFolder folder;
  const std::string data = folder.path;
  using Arguments = std::vector<std::string>;
  for (const Arguments& arguments :
       {Arguments{}, Arguments{"--data", data, "--listen", "nonsense"},
        Arguments{"--data", data, "--interval", "0"}, Arguments{"--data", data, "--unknown"},
        Arguments{"--data", data, "--io-threads", "0"}, Arguments{"--data", data, "--rates", "0"},
        Arguments{"--data", data, "--connections", "200001"}}) {
    Program program(arguments);
    CHECK(program.errors() != "");
    CHECK(program.wait() == 2);
  }
  Program help({"--help"});
  CHECK(help.line() != "");
  CHECK(help.wait() == 0);
}

// With a line for each id, a comment, and an empty line.
template <typename Id>
void write_list(const std::filesystem::path& path, const std::vector<Id>& ids) {
  std::ofstream file(path);
  file << "# what is served\n\n";
  for (const Id& id : ids) file << "  " << id.text() << "\t# as firn prints it\r\n";
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Whether the log says so, soon or at least before a patience that no test is to need.
bool wait_for_line(const std::string& log, const std::string& words) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (text_of(log).find(words) == std::string::npos) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

bool served(Node& node, ConnectionId connection, const ContentId& id) {
  const auto reply = ask(node, connection, proto::Announce{.content_id = id, .listen_port = 4000});
  if (const auto* error = std::get_if<proto::TrackerError>(&reply))
    CHECK(error->code == proto::TrackerErrorCode::kNotAllowed);
  return std::holds_alternative<proto::AnnounceReply>(reply);
}

TEST_CASE("it keeps no more peers than it is told, of a content and in all") {
  const TemporaryFolder folder;
  for (const std::string bound : {"--peers", "--peers-of-content"}) {
    CAPTURE(bound);
    Program program({"--listen", "127.0.0.1:0", "--data", folder.path / bound, bound, "3"});
    const Address address = listening(program);
    for (std::uint32_t number = 1; number <= 5; ++number) {
      Node node;
      const ConnectionId connection = node.transport->connect(address);
      REQUIRE(node.recorder.wait_open(connection));
      const proto::Announce request{.content_id = content(1), .listen_port = 4000};
      const auto reply = ask(node, connection, request);
      if (number > 3 && bound == "--peers") {  // all of one network: nobody has to give way
        REQUIRE(std::holds_alternative<proto::TrackerError>(reply));
        CHECK(std::get<proto::TrackerError>(reply).code == proto::TrackerErrorCode::kSlowDown);
      } else {
        REQUIRE(std::holds_alternative<proto::AnnounceReply>(reply));
        const auto& known = std::get<proto::AnnounceReply>(reply);
        CHECK(known.complete_count + known.incomplete_count == std::min(number, 3u));
      }
    }
    program.signal(SIGTERM);
    CHECK(program.wait() == 0);
  }
}

TEST_CASE("a list of contents closes the tracker to others, and is read again on SIGHUP") {
  std::signal(SIGHUP, SIG_DFL);  // where the tests run under nohup, it is ignored and stays so
  const TemporaryFolder folder;
  const std::string list = folder.path / "contents", log = folder.path / "log.txt";
  write_list(list, std::vector{content(1)});
  Program program(
      {"--listen", "127.0.0.1:0", "--data", folder.path / "data", "--closed", list, "--log", log});
  const Address address = listening(program);
  Node peer;
  const ConnectionId connection = peer.transport->connect(address);
  REQUIRE(peer.recorder.wait_open(connection));
  CHECK(served(peer, connection, content(1)));
  CHECK_FALSE(served(peer, connection, content(2)));
  write_list(list, std::vector{content(1), content(2)});
  program.signal(SIGHUP);
  REQUIRE(wait_for_line(log, "SIGHUP: 2 contents listed"));
  CHECK(served(peer, connection, content(2)));
  // What was wrong with a list leaves things as they are.
  std::ofstream(list) << "no id\n";
  program.signal(SIGHUP);
  REQUIRE(wait_for_line(log, "line 1 is no content id"));
  CHECK(served(peer, connection, content(2)));
  program.signal(SIGTERM);
  CHECK(program.wait() == 0);
}

TEST_CASE("bounds in a list of publishers are read at the start, and again on SIGHUP") {
  std::signal(SIGHUP, SIG_DFL);
  const TemporaryFolder folder;
  const std::string list = folder.path / "publishers", log = folder.path / "log.txt";
  const std::string key = content(7).text();  // any key
  std::ofstream(list) << key << "  contents=3 peers=9 # a comment\n";
  Program program({"--listen", "127.0.0.1:0", "--data", folder.path / "data", "--publishers", list,
                   "--publisher-manifest-kib", "5", "--log", log});
  listening(program);
  for (const char* wrong : {"contents=x", "contents=", "peers", "peers=-1", "bytes=4", "=3",
                            "contents=99999999999999"}) {
    std::ofstream(log, std::ios::trunc);
    std::ofstream(list) << "# its line\n" << key << " " << wrong << "\n";
    program.signal(SIGHUP);
    CHECK(wait_for_line(log, "line 2 has '" + std::string(wrong) + "' behind the key"));
  }
  std::ofstream(list) << key << " peers=4\tcontents=0\n";
  program.signal(SIGHUP);
  CHECK(wait_for_line(log, "SIGHUP: 1 publishers listed"));
  program.signal(SIGTERM);
  CHECK(program.wait() == 0);
}

TEST_CASE("lists that cannot be read, or say more than may be served, are refused at the start") {
  const TemporaryFolder folder;
  const std::string data = folder.path / "data", list = folder.path / "list";
  write_list(list, std::vector{content(1), content(2)});
  const auto exit_of = [&](std::vector<std::string> options, const std::string& word) {
    options.insert(options.begin(), {"--listen", "127.0.0.1:0", "--data", data});
    Program program(options);
    CHECK(program.errors().find(word) != std::string::npos);
    return program.wait();
  };
  CHECK(exit_of({"--closed", list, "--contents", "1"}, "--contents lets 1") == 2);
  CHECK(exit_of({"--publishers", folder.path / "missing"}, "missing") == 4);
  std::ofstream(list) << content(7).text() << "\n\nnonsense\n";
  CHECK(exit_of({"--publishers", list}, "line 3") == 2);
}

TEST_CASE("the log goes where it is told") {
  const TemporaryFolder folder;
  const std::string log = folder.path / "log.txt";
  Program program({"--listen", "127.0.0.1:0", "--data", folder.path / "data", "--log", log, "-v"});
  listening(program);
  program.signal(SIGTERM);
  CHECK(program.errors() == "");
  CHECK(program.wait() == 0);
  std::ifstream file(log);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  CHECK(text.find("listening on") != std::string::npos);
  CHECK(text.find("stopping") != std::string::npos);
}

}  // namespace
}  // namespace firn::tracker::test
