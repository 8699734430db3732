#include "client/app/stream/stream_handler.h"

#include <algorithm>
#include <utility>

#include "client/app/stream/media_type.h"
#include "client/app/stream/playlist.h"
#include "proto/base/percent.h"
#include "proto/base/plain_text.h"
#include "proto/web/byte_range.h"
#include "proto/web/door.h"
#include "proto/web/token.h"

namespace firn::app {
namespace {

using web::ByteRange;
using web::plain_response;
using web::Request;
using web::Response;

constexpr const char* kSandbox = "sandbox; default-src 'none'";

class FileBody final : public web::BodySource {
 public:
  FileBody(std::unique_ptr<ReadableFile> file, std::uint64_t offset)
      : file_(std::move(file)), offset_(offset) {}

  Result<std::size_t> read(std::span<std::uint8_t> out) override {
    auto got = file_->read(offset_, out);
    if (got.ok()) offset_ += *got;
    return got;
  }

 private:
  const std::unique_ptr<ReadableFile> file_;
  std::uint64_t offset_;
};

Response failure(const Error& error) {
  const int status = error.code == ErrorCode::kNotFound    ? 404
                     : error.code == ErrorCode::kCancelled ? 503
                                                           : 500;
  return plain_response(status, escaped(error.message()));
}

// For ever the same: a content's id names its bytes.
std::string etag_of(const FileEntry& file) {
  return "\"" + file.digest.text() + "\"";
}

// RFC 6266; a stranger's name, whose bytes are encoded.
std::string to_be_saved_as(std::string_view path) {
  return "attachment; filename*=UTF-8''" + percent_encode(path.substr(path.rfind('/') + 1));
}

std::string not_chosen(const ContentId& content, const std::string& path) {
  return escaped(path) +
         " is not one of the files that are fetched. To have it fetched: firn files " +
         content.text() + " --file GLOB, with a pattern that fits its name";
}

}  // namespace

StreamHandler::StreamHandler(web::HttpServer& server, const ReadingList& contents)
    : server_(server), contents_(contents), access_(web::fresh_token(), server.listening()) {}

void StreamHandler::request(web::ExchangeId id, Request request) {
  Response response = answer(id, request);
  response.headers.emplace_back("content-security-policy", kSandbox);
  server_.reply(id, std::move(response));
}

Response StreamHandler::answer(web::ExchangeId id, const Request& request) {
  if (!access_.meant_for_us(request))
    return plain_response(403, "the Host or Origin is not this server's");
  if (request.method != web::Method::kGet) return plain_response(405, "streams are read");
  const auto path = parse_stream_path(request.path);
  if (!path) return plain_response(404, "there is nothing here");
  const std::string* const given = web::find_field(request.query, "token");
  if (given == nullptr) return plain_response(401, "the token of the content is needed");
  const std::string token = contents_.token(path->content);
  const auto reading = contents_.find(path->content);
  const auto manifest = reading ? reading->manifest() : nullptr;
  if (token.empty() || manifest == nullptr)
    return plain_response(404, "the content is not open here: unknown, paused or not begun");
  if (!web::same_secret(*given, token)) {
    Response response = plain_response(401, "the token is another content's, or an old one");
    response.delay = web::Door::kWrongTokenDelay;
    return response;
  }
  if (path->number > 0 || !path->file.empty())
    return file(id, request, *path, *reading, manifest->info);
  Response response;
  response.content_type = "application/vnd.apple.mpegurl; charset=utf-8";
  const auto files =
      played_files(manifest->info, [&](std::size_t i) { return reading->chosen(i); });
  // At the name by which the player has found us.
  const StreamAddress at{"http://" + request.host + "/", path->content, token};
  response.body = playlist_text(entries_of(manifest->info, files, at));
  return response;
}

Response StreamHandler::file(web::ExchangeId id, const Request& request, const StreamPath& path,
                             ContentReading& reading, const Info& info) {
  const auto entry = std::ranges::find_if(info.files, [&](const FileEntry& one) {
    const auto number = static_cast<std::size_t>(&one - info.files.data()) + 1;
    return one.kind == FileEntry::Kind::kFile &&
           (path.number > 0 ? number == path.number : shown_path(info, one) == path.file);
  });
  if (entry == info.files.end()) return plain_response(404, "the content has no such file");
  const auto index = static_cast<std::size_t>(entry - info.files.begin());
  const std::string& name = shown_path(info, *entry);
  if (!reading.chosen(index)) return plain_response(404, not_chosen(path.content, name));

  const std::string etag = etag_of(*entry);
  // RFC 9110, 14.2: Range is for GET alone.
  const bool ranged = !request.head_only && web::range_holds(request.if_range, etag);
  const ByteRange range = web::byte_range(ranged ? request.range : "", entry->bytes);
  Response response;
  if (range.kind == ByteRange::Kind::kUnsatisfiable) {
    response = plain_response(416, "the file has " + std::to_string(entry->bytes) + " bytes");
  } else {
    const MediaType type = media_type(name);
    response.content_type = type.name;
    response.source_bytes = range.bytes;
    if (type.kind == MediaType::Kind::kOther)
      response.headers.emplace_back("content-disposition", to_be_saved_as(name));
    if (!request.head_only && range.bytes > 0) {
      auto opened =
          reading.open(index, [this, id] { server_.post([this, id] { server_.resume(id); }); });
      if (!opened.ok()) return failure(opened.error());
      response.source = std::make_shared<FileBody>(*std::move(opened), range.first);
    }
  }
  if (range.kind != ByteRange::Kind::kWhole)
    response.headers.emplace_back("content-range", web::content_range(range, entry->bytes));
  if (range.kind == ByteRange::Kind::kPart) response.status = 206;
  response.headers.emplace_back("accept-ranges", "bytes");
  response.headers.emplace_back("etag", etag);
  return response;
}

}  // namespace firn::app
