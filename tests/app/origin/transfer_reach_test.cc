// Where transfers may go, and what goes along with them: addresses, redirects, credentials,
// proxies.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "client/app/origin/transfers.h"
#include "tests/app/origin/collector.h"
#include "tests/app/origin/faulty_server.h"
#include "tests/app/temp_folder.h"

using namespace firn;
using namespace firn::app;
using namespace firn::tests;

namespace {

// What requests said, for looking at it from the test's thread.
class Heard {
 public:
  void note(const Exchange& exchange) {
    const std::lock_guard lock(mutex_);
    for (const char* name : {"authorization", "x-secret", "host", "x-amz-security-token",
                             "x-amz-content-sha256", "cookie"})
      last_[name] = exchange.header(name);
    last_["path"] = exchange.path();
  }
  std::string operator[](const std::string& name) {
    const std::lock_guard lock(mutex_);
    return last_[name];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> last_;
};

Answer hearing(Heard& heard) {
  return [&heard](Exchange& exchange) {
    heard.note(exchange);
    return serve_file(exchange, "bytes", "\"v1\"");
  };
}

Answer redirecting(const std::string& location, const std::string& status = "302 Found") {
  return [=](Exchange& exchange) {
    return exchange.send("HTTP/1.1 " + status + "\r\nLocation: " + location +
                         "\r\nSet-Cookie: a=b\r\nContent-Length: 4\r\n\r\nthat");
  };
}

Fault fault_of(const std::shared_ptr<Collector>& sink) {
  CAPTURE(sink->message());
  return sink->wait_for_end().fault;
}

TransfersOptions with_environment(std::map<std::string, std::string> variables) {
  TransfersOptions options;
  options.environment = [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
  return options;
}

}  // namespace

TEST_CASE("an origin that is not given by hand is asked only at an address of the Internet") {
  Heard heard;
  FaultyServer server(hearing(heard));
  const auto transfers = started();
  const std::string port = ":" + std::to_string(server.port()) + "/file";
  for (const char* host : {"127.0.0.1",
                           "localhost",
                           "[::ffff:127.0.0.1]",
                           "[::1]",
                           "0.0.0.0",
                           "127.1",
                           "2130706433",
                           "10.0.0.1",
                           "192.168.1.1",
                           "172.16.0.1",
                           "100.64.0.1",
                           "169.254.169.254",
                           "[fe80::1]",
                           "[fd00::1]",
                           "224.0.0.1",
                           "[::ffff:169.254.169.254]",
                           "[::]",
                           "[ff02::1]",
                           "168.63.129.16",
                           "192.0.0.192",
                           "[2002:7f00:1::1]",
                           "[::127.0.0.1]"}) {
    CAPTURE(host);
    const auto sink = fetched(*transfers, request_for("http://" + (host + port), OriginAccess()));
    const bool reads_as_name = host == std::string("127.1") || host == std::string("2130706433");
    CHECK(fault_of(sink) == (reads_as_name ? Fault::kWrongServer : Fault::kNotAllowed));
    CHECK(sink->message().find("only an origin given by hand") != std::string::npos);
  }
  CHECK(server.connections() == 0);
}

TEST_CASE("a name that leads to a private address may lead elsewhere later, an address may not") {
  Heard heard;
  FaultyServer server(hearing(heard));
  const auto transfers = started();
  const std::string port = ":" + std::to_string(server.port()) + "/file";
  for (const auto& [host, fault] : {std::pair("name.localhost", Fault::kWrongServer),
                                    {"localhost", Fault::kNotAllowed},
                                    {"127.0.0.1", Fault::kNotAllowed}}) {
    const std::string asked = host + port;
    CAPTURE(asked);
    const auto sink = fetched(*transfers, request_for("http://" + asked, OriginAccess()));
    CHECK(sink->wait_for_end().fault == fault);
  }
  CHECK(server.connections() == 0);
}

TEST_CASE("a folder whose URL lacks the slash is no file, though the server redirects there") {
  FaultyServer server([](Exchange& exchange) {
    return exchange.path().ends_with('/') ? exchange.send(
                                                "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n"
                                                "\r\nlist")
                                          : redirecting(exchange.path() + "/")(exchange);
  });
  const auto sink = fetched(*started(), request_for(server.url("/photos")));
  CHECK(fault_of(sink) == Fault::kNotAllowed);
  CHECK(sink->message().find("URL of a folder") != std::string::npos);
  CHECK(sink->message().find("/photos/)") != std::string::npos);
  CHECK(server.requests() == 1);
}

TEST_CASE("a connection of an origin given by hand serves no other one") {
  Heard heard;
  FaultyServer server(hearing(heard));
  const auto transfers = started();
  CHECK(fetched(*transfers, request_for(server.url()))->bytes() == "bytes");
  CHECK(fault_of(fetched(*transfers, request_for(server.url(), OriginAccess()))) ==
        Fault::kNotAllowed);
  CHECK(server.requests() == 1);
}

TEST_CASE("redirects of all kinds are followed, with range and state") {
  Heard heard;
  FaultyServer target(hearing(heard));
  const auto transfers = started();
  for (const char* status :
       {"301 Moved", "302 Found", "303 Other", "307 Temporary", "308 Permanent"}) {
    CAPTURE(status);
    FaultyServer server(redirecting(target.url("/there?x=y"), status));
    auto request = request_for(server.url());
    request.range = FileRange{1, 3};
    request.validator = "\"v1\"";
    const auto sink = fetched(*transfers, request);
    CHECK(sink->message() == "");
    CHECK(sink->bytes() == "yte");
    CHECK(heard["path"] == "/there?x=y");
  }
}

TEST_CASE("a redirect without a host goes on at the same one, and a long chain ends") {
  FaultyServer server([](Exchange& exchange) {
    const std::string& path = exchange.path();
    if (path == "/4") return serve_file(exchange, "bytes", "");
    const int next = path == "/file" ? 0 : std::stoi(path.substr(1)) + 1;
    return redirecting("/" + std::to_string(next))(exchange);
  });
  const auto transfers = started();
  CHECK(fetched(*transfers, request_for(server.url()))->bytes() == "bytes");
  CHECK(server.connections() == 1);
  FaultyServer circle(redirecting("/file"));
  const auto sink = fetched(*transfers, request_for(circle.url()));
  CHECK(fault_of(sink) == Fault::kNotAllowed);
  CHECK(sink->message().find("more than 5 times") != std::string::npos);
  CHECK(circle.requests() == 6);
}

TEST_CASE("a redirect leads neither to other schemes, nor from https to http") {
  FaultyServer plain(redirecting("/"));
  const auto transfers = started();
  for (const char* location : {"file:///etc/passwd", "ftp://127.0.0.1/x", "s3://bucket/key",
                               "gopher://127.0.0.1/x", "http://", "http://a b/"}) {
    CAPTURE(location);
    FaultyServer server(redirecting(location));
    CHECK(fault_of(fetched(*transfers, request_for(server.url()))) == Fault::kNotAllowed);
  }
  FaultyServer nowhere([](Exchange& exchange) {
    return exchange.send("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n");
  });
  CHECK(fault_of(fetched(*transfers, request_for(nowhere.url()))) == Fault::kNotAllowed);

  FaultyServer secure(redirecting(plain.url()), Speaks::kHttps);
  const TempFolder folder;
  TransfersOptions options = no_environment();
  options.ca_file = folder.path() + "/trusted.pem";
  std::ofstream(options.ca_file) << secure.certificate();
  const auto sink = fetched(*started(options), request_for(secure.url()));
  CHECK(fault_of(sink) == Fault::kNotAllowed);
  CHECK(sink->message().find("from https to http") != std::string::npos);
  CHECK(plain.connections() == 0);
}

TEST_CASE("a redirect leads to no special address of another kind than its server's") {
  const auto transfers = started();
  FaultyServer target(redirecting("/"));
  const std::string port = ":" + std::to_string(target.port()) + "/";
  for (const char* host : {"0.0.0.0", "169.254.169.254", "10.1.1.1", "[fe80::1]"}) {
    CAPTURE(host);
    FaultyServer server(redirecting("http://" + (host + port)));
    const auto sink = fetched(*transfers, request_for(server.url()));
    CHECK(fault_of(sink) == Fault::kWrongServer);
    CHECK(sink->message().find("redirect must not lead there") != std::string::npos);
    CHECK(sink->message().find("(redirected to http://") != std::string::npos);
  }
  CHECK(target.connections() == 0);
}

TEST_CASE("credentials go to the origin, and not along with a redirect to another port") {
  Heard here, there;
  FaultyServer other(hearing(there));
  FaultyServer origin([&](Exchange& exchange) {
    here.note(exchange);
    if (exchange.path() == "/other") return redirecting(other.url())(exchange);
    if (exchange.path() == "/same") return redirecting("/file")(exchange);
    return serve_file(exchange, "bytes", "");
  });
  const auto transfers = started();
  const TempFolder folder;
  const std::string netrc = folder.path() + "/netrc";
  std::ofstream(netrc) << "machine 127.0.0.1 login net password rc\n";
  OriginAccess access = by_hand();
  access.headers = {"X-Secret: s", "X-Empty:"};
  const auto url = [&](const std::string& path, const std::string& user) {
    return "http://" + user + "127.0.0.1:" + std::to_string(origin.port()) + path;
  };
  const std::string basic = "Basic dXNlcjpwdw==";  // user:pw

  CHECK(fetched(*transfers, request_for(url("/file", "user:pw@"), access))->bytes() == "bytes");
  CHECK(here["authorization"] == basic);
  CHECK(here["x-secret"] == "s");
  CHECK(fetched(*transfers, request_for(url("/same", "user:pw@"), access))->bytes() == "bytes");
  CHECK(here["path"] == "/file");
  CHECK(here["authorization"] == basic);
  CHECK(here["x-secret"] == "s");
  CHECK(here["cookie"] == "");
  CHECK(fetched(*transfers, request_for(url("/other", "user:pw@"), access))->bytes() == "bytes");
  CHECK(here["authorization"] == basic);
  CHECK(there["host"] == "127.0.0.1:" + std::to_string(other.port()));
  CHECK(there["authorization"] == "");
  CHECK(there["x-secret"] == "");
  CHECK(there["cookie"] == "");

  // .netrc knows hosts, not ports.
  access.headers.clear();
  access.netrc = true;
  const auto by_netrc = started(with_environment({{"NETRC", netrc}}));
  CHECK(fetched(*by_netrc, request_for(url("/other", ""), access))->bytes() == "bytes");
  CHECK(here["authorization"] == "Basic bmV0OnJj");  // net:rc
  CHECK(there["authorization"] == "");
}

TEST_CASE("a header of the user's own that signs in goes to no other port either") {
  Heard there;
  FaultyServer other(hearing(there));
  FaultyServer origin(redirecting(other.url()));
  OriginAccess access = by_hand();
  access.headers = {"Authorization: Bearer b"};
  CHECK(fetched(*started(), request_for(origin.url(), access))->bytes() == "bytes");
  CHECK(there["authorization"] == "");
}

TEST_CASE("credentials do not come back when a redirect leads back to the origin") {
  Heard here;
  std::string back;
  FaultyServer other([&](Exchange& exchange) { return redirecting(back)(exchange); });
  FaultyServer origin([&](Exchange& exchange) {
    here.note(exchange);
    return exchange.path() == "/file" ? redirecting(other.url())(exchange)
                                      : serve_file(exchange, "bytes", "");
  });
  back = origin.url("/back");
  OriginAccess access = by_hand();
  access.headers = {"X-Secret: s"};
  CHECK(fetched(*started(), request_for(origin.url(), access))->bytes() == "bytes");
  CHECK(here["path"] == "/back");
  CHECK(here["x-secret"] == "");
}

TEST_CASE("requests for a bucket are signed with the keys, for it alone") {
  Heard here, there;
  FaultyServer other(hearing(there));
  FaultyServer server([&](Exchange& exchange) {
    here.note(exchange);
    if (exchange.path() == "/bucket/away") return redirecting(other.url())(exchange);
    return serve_file(exchange, "bytes", "");
  });
  const auto transfers = started();
  OriginAccess access = by_hand();
  access.endpoint = server.url("");
  access.region = "eu-central-1";
  CHECK(fetched(*transfers, request_for("s3://bucket/a (1).bin", access))->bytes() == "bytes");
  CHECK(here["path"] == "/bucket/a%20%281%29.bin");
  CHECK(here["authorization"] == "");  // a public bucket
  access.aws = AwsKeys{"KEYID", "secret", "session"};
  CHECK(fetched(*transfers, request_for("s3://bucket/key", access))->bytes() == "bytes");
  const std::string signature = here["authorization"];
  CAPTURE(signature);
  CHECK(signature.starts_with("AWS4-HMAC-SHA256 Credential=KEYID/"));
  CHECK(signature.find("/eu-central-1/s3/aws4_request") != std::string::npos);
  CHECK(signature.find("x-amz-security-token") != std::string::npos);
  CHECK(here["x-amz-security-token"] == "session");
  CHECK(here["x-amz-content-sha256"] != "");
  CHECK(fetched(*transfers, request_for("s3://bucket/away", access))->bytes() == "bytes");
  CHECK(there["host"] != "");
  CHECK(there["authorization"] == "");
  CHECK(there["x-amz-security-token"] == "");
}

TEST_CASE("a bucket of another region is a fault that names the region") {
  FaultyServer server([](Exchange& exchange) {
    return exchange.send(
        "HTTP/1.1 301 Moved\r\nx-amz-bucket-region: eu-west-3\r\nContent-Length: 0\r\n\r\n");
  });
  OriginAccess access = by_hand();
  access.endpoint = server.url("");
  const auto sink = fetched(*started(), request_for("s3://bucket/key", access));
  CHECK(fault_of(sink) == Fault::kNotAllowed);
  CHECK(sink->message().find("--region eu-west-3") != std::string::npos);
}

TEST_CASE("a proxy of the environment is used only for origins that may") {
  Heard heard;
  FaultyServer proxy(hearing(heard));
  const auto transfers = started(with_environment({{"http_proxy", proxy.url("")}}));
  OriginAccess access;
  const auto refused = fetched(*transfers, request_for("http://origin.invalid/file", access));
  CHECK(fault_of(refused) == Fault::kNotAllowed);
  CHECK(refused->message().find("proxy") != std::string::npos);
  CHECK(proxy.connections() == 0);
  access.proxies = true;
  CHECK(fetched(*transfers, request_for("http://origin.invalid/file", access))->bytes() == "bytes");
  CHECK(heard["path"] == "http://origin.invalid/file");
}

TEST_CASE("a host that NO_PROXY names is reached without the proxy, and its address is checked") {
  Heard heard;
  FaultyServer proxy(redirecting("/")), server(hearing(heard));
  const auto transfers =
      started(with_environment({{"http_proxy", proxy.url("")}, {"no_proxy", "127.0.0.1"}}));
  OriginAccess access = by_hand();
  access.proxies = true;
  CHECK(fetched(*transfers, request_for(server.url(), access))->bytes() == "bytes");
  access.by_hand = false;
  CHECK(fault_of(fetched(*transfers, request_for(server.url(), access))) == Fault::kNotAllowed);
  CHECK(proxy.connections() == 0);
}

TEST_CASE("a proxy is not used for another host to which an origin redirects") {
  FaultyServer proxy([](Exchange& exchange) {
    if (exchange.path() == "http://origin.invalid/file")
      return redirecting("http://other.invalid/file")(exchange);
    if (exchange.path() == "http://origin.invalid/same")
      return redirecting("http://origin.invalid/there")(exchange);
    return serve_file(exchange, "bytes", "");
  });
  const auto transfers = started(with_environment({{"http_proxy", proxy.url("")}}));
  OriginAccess access = by_hand();
  access.proxies = true;
  CHECK(fetched(*transfers, request_for("http://origin.invalid/same", access))->bytes() == "bytes");
  const int before = proxy.requests();
  const auto sink = fetched(*transfers, request_for("http://origin.invalid/file", access));
  CHECK(fault_of(sink) == Fault::kNotAllowed);
  CHECK(sink->message().find("(redirected to http://other.invalid/file)") != std::string::npos);
  CHECK(sink->message().find("the URL to which the server redirects") != std::string::npos);
  CHECK(proxy.requests() == before + 1);
}

TEST_CASE(
    "a redirect that came through a proxy leads to no special address, whatever the proxy's") {
  Heard heard;
  FaultyServer server(hearing(heard));
  FaultyServer proxy(redirecting(server.url()));
  const auto transfers =
      started(with_environment({{"http_proxy", proxy.url("")}, {"no_proxy", "127.0.0.1"}}));
  OriginAccess access = by_hand();
  access.proxies = true;
  const auto sink = fetched(*transfers, request_for("http://origin.invalid/file", access));
  CHECK(fault_of(sink) == Fault::kWrongServer);
  CHECK(sink->message().find("redirect must not lead there") != std::string::npos);
  CHECK(server.connections() == 0);
}
