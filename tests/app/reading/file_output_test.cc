#include "client/app/reading/file_output.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>

#include "tests/app/reading/open_content.h"

namespace firn::app {
namespace {

using tests::kOpenGeneration;
using tests::OpenContent;

struct Pipe {
  Pipe() {
    std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    from = UniqueFd(ends[0]);
    to = UniqueFd(ends[1]);
  }
  // Until there are so many, or it is closed.
  std::string read(std::size_t bytes) {
    std::string found(bytes, '\0');
    std::size_t size = 0;
    while (size < bytes) {
      const ssize_t got = ::read(from.get(), found.data() + size, bytes - size);
      if (got <= 0) break;
      size += static_cast<std::size_t>(got);
    }
    found.resize(size);
    return found;
  }
  UniqueFd from, to;
};

// The result of an output, once it has ended.
struct Ended {
  std::function<void()> callback() {
    return [this] {
      ended = true;
      ended.notify_all();
    };
  }
  Status of(const FileOutput& output) {
    ended.wait(false);
    return output.result().value();
  }
  std::atomic<bool> ended = false;
};

TEST_CASE("bytes come out in order as soon as they are there, and then the end") {
  OpenContent content({100, 60 * kOpenGeneration});
  Pipe pipe;
  Ended ended;
  const FileOutput output(content.reading, 1, std::move(pipe.to), ended.callback());
  for (std::uint32_t g = content.generations() / 2; g > 0; --g) content.arrive(g);
  content.arrive(0);
  const std::string& bytes = content.files[1];
  CHECK(pipe.read(bytes.size() / 3) == bytes.substr(0, bytes.size() / 3));
  CHECK_FALSE(output.result());
  for (std::uint32_t g = content.generations() - 1; g > content.generations() / 2; --g)
    content.arrive(g);
  CHECK(pipe.read(bytes.size() + 1) == bytes.substr(bytes.size() / 3));
  CHECK(ended.of(output).ok());
}

TEST_CASE("an empty file is written at once") {
  OpenContent content({0, 100});
  Pipe pipe;
  Ended ended;
  const FileOutput output(content.reading, 0, std::move(pipe.to), ended.callback());
  CHECK(pipe.read(1).empty());
  CHECK(ended.of(output).ok());
}

TEST_CASE("a pipe whose reader goes ends the output, also while nothing comes") {
  OpenContent content({60 * kOpenGeneration});
  for (const bool comes : {false, true}) {
    CAPTURE(comes);
    Pipe pipe;
    Ended ended;
    const FileOutput output(content.reading, 0, std::move(pipe.to), ended.callback());
    if (comes)
      for (std::uint32_t g = 0; g < content.generations(); ++g) content.arrive(g);
    pipe.from = UniqueFd();
    CHECK(ended.of(output).error().code == ErrorCode::kUnreachable);
  }
}

TEST_CASE("a full pipe does not keep an output from stopping") {
  OpenContent content({60 * kOpenGeneration});
  for (std::uint32_t g = 0; g < content.generations(); ++g) content.arrive(g);
  Pipe pipe;
  Ended ended;
  {
    const FileOutput output(content.reading, 0, std::move(pipe.to), ended.callback());
    CHECK(pipe.read(10) == content.files[0].substr(0, 10));
    CHECK_FALSE(output.result());
  }
  CHECK(ended.ended);
}

TEST_CASE("a content that ends before all of its file came is an error") {
  OpenContent content({60 * kOpenGeneration});
  Pipe pipe;
  Ended ended;
  const FileOutput output(content.reading, 0, std::move(pipe.to), ended.callback());
  content.arrive(0);
  content.reading->end();
  CHECK(ended.of(output).error().code == ErrorCode::kCancelled);
}

TEST_CASE("a full disk behind the output is an error that says so") {
  OpenContent content({100});
  content.arrive(0);
  UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (full.get() < 0) {
    MESSAGE("skipped: there is no /dev/full");
    return;
  }
  Ended ended;
  const FileOutput output(content.reading, 0, std::move(full), ended.callback());
  CHECK(ended.of(output).error().code == ErrorCode::kDiskFull);
}

}  // namespace
}  // namespace firn::app
