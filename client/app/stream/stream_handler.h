// Answers the requests of players: files of contents that may still be on their way, and playlists
// (stream_address.h says where).
//
//   request -> meant for us? -> the content's token? -> chosen? -> ReadableFile, read as the
//   connection takes it
//
// A stranger's file must not act as a page of this program, whatever its name is: only media,
// raster images and plain text get their own type, all else is to be saved; and each answer has a
// sandbox for its origin.
#pragma once

#include "client/app/reading/reading_list.h"
#include "client/app/stream/stream_address.h"
#include "proto/web/access.h"
#include "proto/web/http_server.h"

namespace firn::app {

// The server's thread, which reads from the disk, a part of a file at a time.
class StreamHandler final : public web::HttpHandler {
 public:
  // Both outlive this object.
  StreamHandler(web::HttpServer& server, const ReadingList& contents);

  std::size_t body_bytes_max(const web::Request&) override { return 0; }
  void request(web::ExchangeId id, web::Request request) override;
  void over(web::ExchangeId) override {}
  void tick() override {}

 private:
  web::Response answer(web::ExchangeId id, const web::Request& request);
  web::Response file(web::ExchangeId id, const web::Request& request, const StreamPath& path,
                     ContentReading& reading, const Info& info);

  web::HttpServer& server_;
  const ReadingList& contents_;
  const web::Access access_;  // no token opens it: each content has its own
};

}  // namespace firn::app
