#include "client/app/stream/stream_handler.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/app/reading/open_content.h"
#include "tests/web/http_client.h"

using namespace firn;
using namespace firn::app;
using firn::test::HttpClient;
using firn::tests::kOpenGeneration;
using firn::tests::OpenContent;

namespace {

constexpr std::size_t kFilm = 5 * kOpenGeneration + 100;

// A film, and what a stranger made up, behind the door for players.
class Streams {
 public:
  Streams()
      : content({kFilm, 300, 200, 100}, tests::kOpenBlockBytes,
                {"film.mkv", "page.html", "x.svg", "\"; a=b \u00fc\u202e.bin"}) {
    contents.add(content.manifest.id, content.reading);
    auto opened = web::HttpServer::open({.listen = {{}, "localhost", 0}, .niceness = 0});
    REQUIRE(opened.ok());
    http = *std::move(opened);
    handler = std::make_unique<StreamHandler>(*http, contents);
    REQUIRE(http->run(*handler).ok());
    address = {http->url(), content.manifest.id, contents.token(content.manifest.id)};
  }
  ~Streams() { http.reset(); }

  void arrive() {
    for (std::uint32_t g = 0; g < content.generations(); ++g) content.arrive(g);
  }
  std::uint16_t port() const { return http->listening().port; }
  // What stands behind the server in a URL.
  std::string path(const std::string& url) const { return url.substr(address.server.size() - 1); }
  std::string film() const { return path(address.file("film.mkv")); }

  struct Answer {
    std::string head;
    std::string body;
    bool has(const std::string& line) const {
      return head.find("\r\n" + line + "\r\n") != std::string::npos;
    }
    int status() const { return std::stoi(head.substr(9)); }
  };
  Answer ask(const std::string& target, const std::string& headers = "",
             const std::string& method = "GET") const {
    HttpClient client(port());
    client.ask(method, target, headers);
    Answer answer{client.head(), ""};
    const std::size_t at = answer.head.find("content-length: ");
    REQUIRE(at != std::string::npos);
    if (method == "GET") answer.body = client.body(std::stoul(answer.head.substr(at + 16)));
    return answer;
  }
  std::size_t film_offset() const {
    for (const FileEntry& file : content.manifest.info.files)
      if (file.path == "film.mkv") return file.offset;
    return 0;
  }
  const std::string& bytes() const { return content.files[0]; }  // of the film

  OpenContent content;
  ReadingList contents;
  std::unique_ptr<web::HttpServer> http;
  std::unique_ptr<StreamHandler> handler;
  StreamAddress address;
};

std::string without_token(const std::string& path) {
  return path.substr(0, path.find('?'));
}

}  // namespace

TEST_CASE("a file is streamed whole, in ranges and from its end") {
  Streams streams;
  streams.arrive();
  const Streams::Answer whole = streams.ask(streams.film());
  CHECK(whole.status() == 200);
  CHECK(whole.has("content-type: video/x-matroska"));
  CHECK(whole.has("accept-ranges: bytes"));
  CHECK(whole.has("cache-control: no-store"));
  CHECK(whole.head.find("content-disposition") == std::string::npos);
  CHECK(whole.body == streams.bytes());

  const Streams::Answer part = streams.ask(streams.film(), "Range: bytes=8000-8999\r\n");
  CHECK(part.status() == 206);
  CHECK(part.has("content-range: bytes 8000-8999/" + std::to_string(kFilm)));
  CHECK(part.body == streams.bytes().substr(8000, 1000));

  const Streams::Answer end = streams.ask(streams.film(), "Range: bytes=-50\r\n");
  CHECK(end.status() == 206);
  CHECK(end.body == streams.bytes().substr(kFilm - 50));

  const Streams::Answer several = streams.ask(streams.film(), "Range: bytes=0-1,5-6\r\n");
  CHECK(several.status() == 200);
  CHECK(several.body == streams.bytes());
}

TEST_CASE("a file is also found by its number") {
  Streams streams;
  streams.arrive();
  const std::vector<FileEntry>& files = streams.content.manifest.info.files;
  const std::string start = "/file/" + streams.address.content.text() + "/";
  const std::string token = "?token=" + streams.address.token;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].path != "film.mkv") continue;
    const Streams::Answer answer = streams.ask(start + std::to_string(i + 1) + token);
    CHECK(answer.status() == 200);
    CHECK(answer.has("content-type: video/x-matroska"));
    CHECK(answer.body == streams.bytes());
  }
  CHECK(streams.ask(start + std::to_string(files.size() + 1) + token).status() == 404);
  CHECK(streams.ask(start + "1").status() == 401);
}

TEST_CASE("a range behind the end of a file is answered with the file's size") {
  Streams streams;
  const Streams::Answer answer =
      streams.ask(streams.film(), "Range: bytes=" + std::to_string(kFilm) + "-\r\n");
  CHECK(answer.status() == 416);
  CHECK(answer.has("content-range: bytes */" + std::to_string(kFilm)));
}

TEST_CASE("a range counts if If-Range names the file's tag") {
  Streams streams;
  streams.arrive();
  const Streams::Answer head = streams.ask(streams.film(), "", "HEAD");
  const std::size_t at = head.head.find("etag: ") + 6;
  const std::string etag = head.head.substr(at, head.head.find('\r', at) - at);
  const std::string range = "Range: bytes=0-9\r\nIf-Range: ";
  CHECK(streams.ask(streams.film(), range + etag + "\r\n").status() == 206);
  CHECK(streams.ask(streams.film(), range + "\"other\"\r\n").status() == 200);
}

TEST_CASE("HEAD says how long a file is before any of it has come, and makes nothing urgent") {
  Streams streams;
  const Streams::Answer answer = streams.ask(streams.film(), "Range: bytes=0-9\r\n", "HEAD");
  CHECK(answer.status() == 200);
  CHECK(answer.has("content-length: " + std::to_string(kFilm)));
  CHECK(streams.content.changes == 0);
}

TEST_CASE("readers get what comes as it comes, each its own part") {
  Streams streams;
  const std::size_t offset = streams.film_offset();  // in generation 0
  const std::size_t third = 3 * kOpenGeneration - offset;
  HttpClient first(streams.port()), second(streams.port());
  first.ask("GET", streams.film());
  second.ask("GET", streams.film(), "Range: bytes=" + std::to_string(third) + "-\r\n");
  const std::string& bytes = streams.bytes();
  (void)first.head();
  (void)second.head();
  streams.content.arrive(3);
  CHECK(second.body(kOpenGeneration) == bytes.substr(third, kOpenGeneration));
  streams.content.arrive(0);
  CHECK(first.body(kOpenGeneration - offset) == bytes.substr(0, kOpenGeneration - offset));
  for (std::uint32_t g = streams.content.generations(); g-- > 1;)
    if (g != 3) streams.content.arrive(g);
  const std::size_t left = kFilm - (kOpenGeneration - offset);
  CHECK(first.body(left) == bytes.substr(kFilm - left));
}

TEST_CASE("a stream ends with its content, and so does its token") {
  Streams streams;
  HttpClient reader(streams.port());
  reader.ask("GET", streams.film());
  (void)reader.head();
  streams.contents.remove(streams.content.manifest.id, *streams.content.reading);
  streams.content.reading->end();
  CHECK(reader.body(1) == "");
  CHECK(streams.ask(streams.film()).status() == 404);

  // Again, as after a pause: another token.
  OpenContent again({10});
  streams.contents.add(streams.content.manifest.id, again.reading);
  CHECK(streams.ask(streams.film()).status() == 401);
}

TEST_CASE("a content's token opens that content alone") {
  Streams streams;
  OpenContent other({kOpenGeneration}, tests::kOpenBlockBytes, {"other.mkv"});
  streams.contents.add(other.manifest.id, other.reading);
  StreamAddress stolen = streams.address;
  stolen.content = other.manifest.id;
  CHECK(streams.ask(streams.path(stolen.playlist())).status() == 401);
  CHECK(streams.ask(streams.path(stolen.file("other.mkv"))).status() == 401);
  CHECK(streams.ask(without_token(streams.film())).status() == 401);
  CHECK(streams.ask(without_token(streams.film()) + "?token=").status() == 401);
  stolen.token = streams.contents.token(other.manifest.id);
  CHECK(streams.ask(streams.path(stolen.playlist())).status() == 200);
}

TEST_CASE("requests that are not meant for this server are refused with the right token") {
  Streams streams;
  CHECK(streams.ask(streams.film(), "Host: stranger.example\r\n").status() == 403);
  CHECK(streams.ask(streams.film(), "Origin: http://127.0.0.1:1\r\n").status() == 403);
  CHECK(streams.ask(streams.film(), "", "DELETE").status() == 405);
}

TEST_CASE("what is not there is said") {
  Streams streams;
  CHECK(streams.ask("/").status() == 404);
  CHECK(streams.ask(streams.path(streams.address.file("film.mk"))).status() == 404);
  StreamAddress unknown = streams.address;
  unknown.content = ContentId();
  CHECK(streams.ask(streams.path(unknown.playlist())).status() == 404);
}

TEST_CASE("a file that is not chosen is not streamed, and the answer says how to choose it") {
  Streams streams;
  std::vector<bool> chosen(4, true);
  for (std::size_t i = 0; i < 4; ++i)
    if (streams.content.manifest.info.files[i].path == "film.mkv") chosen[i] = false;
  streams.content.reading->choose(chosen);
  const Streams::Answer answer = streams.ask(streams.film());
  CHECK(answer.status() == 404);
  CHECK(answer.body.find("firn files " + streams.address.content.text() + " --file") !=
        std::string::npos);
  CHECK(streams.ask(streams.path(streams.address.playlist())).body.find("film.mkv") ==
        std::string::npos);
}

TEST_CASE("a stranger's page or picture with scripts is to be saved, and has no origin") {
  Streams streams;
  streams.arrive();
  for (const char* name : {"page.html", "x.svg"}) {
    const Streams::Answer answer = streams.ask(streams.path(streams.address.file(name)));
    CAPTURE(name);
    CHECK(answer.status() == 200);
    CHECK(answer.has("content-type: application/octet-stream"));
    CHECK(answer.has(std::string("content-disposition: attachment; filename*=UTF-8''") + name));
    CHECK(answer.has("x-content-type-options: nosniff"));
    CHECK(answer.has("content-security-policy: sandbox; default-src 'none'"));
    CHECK(answer.head.find("access-control") == std::string::npos);
  }
}

TEST_CASE("a stranger's name breaks no header") {
  Streams streams;
  streams.arrive();
  const Streams::Answer answer =
      streams.ask(streams.path(streams.address.file("\"; a=b \u00fc\u202e.bin")));
  CHECK(answer.status() == 200);
  CHECK(answer.has(
      "content-disposition: attachment; filename*=UTF-8''%22%3B%20a%3Db%20%C3%BC%E2%80%AE.bin"));
  CHECK(answer.body == streams.content.files[3]);
}

TEST_CASE("a playlist leads to what it lists, by the name that found it") {
  Streams streams;
  streams.arrive();
  const std::string host = "localhost:" + std::to_string(streams.port());
  const Streams::Answer answer =
      streams.ask(streams.path(streams.address.playlist()), "Host: " + host + "\r\n");
  CHECK(answer.status() == 200);
  CHECK(answer.has("content-security-policy: sandbox; default-src 'none'"));
  CHECK(answer.body == "#EXTM3U\n#EXTINF:-1,film.mkv\nhttp://" + host + streams.film() + "\n");
}
