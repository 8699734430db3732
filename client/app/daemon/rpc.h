// The daemon's JSON-RPC 2.0 (docs/rpc.md): a line in, a line out. Parses and checks what a line
// asks, calls what does it, and words the answer. No I/O; it never throws, whatever the line is.
//
// Main thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/app/console/events.h"
#include "client/app/daemon/limit_values.h"
#include "client/content/file_choice.h"
#include "proto/base/result.h"

namespace firn::app {

struct AddRequest {
  std::string source;  // a link, or the absolute path of a manifest file
  std::string folder;  // absolute; empty: the daemon's folder for downloads
  bool serve = false;  // the content stands in `folder` already
  std::string seeding = "forever";
  std::string link = {};  // of the manifest's content, for a private one's secret; may be empty
  LimitChange limits = {};
  std::string priority = "normal";
  bool trust = false;      // what stands there was just read: its sizes and times are enough
  std::string as = {};     // as content::ContentPlace's
  bool overwrite = false;  // of a download, as store::OpenOptions has them
  bool repair = false;
  bool paused = false;                    // it waits for resume()
  content::FileChoice files = {};         // of a download; empty: all
  std::vector<std::string> origins = {};  // URLs, by hand; they may hold passwords
  bool no_origin = false;
};

// What the methods do. `which` is a content id, the beginning of one, or a content's name.
class DaemonMethods {
 public:
  virtual ~DaemonMethods() = default;
  virtual Result<Json> add(const AddRequest& request) = 0;
  virtual Result<Json> list() = 0;
  virtual Result<Json> show(const std::string& which) = 0;
  virtual Result<Json> peers(const std::string& which) = 0;
  // Its files; with a choice that is not empty after that is made.
  virtual Result<Json> files(const std::string& which, const content::FileChoice& choice) = 0;
  virtual Result<Json> pause(const std::string& which) = 0;
  virtual Result<Json> resume(const std::string& which, bool afresh) = 0;
  virtual Result<Json> remove(const std::string& which, bool delete_data) = 0;
  // An empty `which`: of the daemon.
  virtual Result<Json> limit(const std::string& which, const LimitChange& change) = 0;
  // high, normal or low
  virtual Result<Json> prioritize(const std::string& which, const std::string& priority) = 0;
  // Moves it among those of its priority: first, up, down or last.
  virtual Result<Json> queue(const std::string& which, const std::string& to) = 0;
  virtual Result<Json> status() = 0;
  // To an absolute path, with another name there unless `as` is empty.
  virtual Result<Json> move(const std::string& which, const std::string& folder,
                            const std::string& as) = 0;
  // Both absolute; an empty output is the daemon's folder for downloads. A folder that is watched
  // already gets the new output.
  virtual Result<Json> watch(const std::string& folder, const std::string& output) = 0;
  virtual Result<Json> watches() = 0;
  virtual Result<Json> unwatch(const std::string& folder) = 0;
  // For the page, not for JSON-RPC: the bytes of its manifest file; empty: not known. Valid until
  // the next call.
  virtual std::string_view manifest_of(const std::string&) { return {}; }
  // Opens the door for players if it is not open.
  virtual Result<Json> play(const std::string& which) = 0;
  // For the page, not for JSON-RPC: where a browser that named `host` (with port) finds the file of
  // that number in Info::files, from 1, or, if `number` is empty, the playlist.
  virtual Result<std::string> stream_url(const std::string& which, const std::string& number,
                                         const std::string& host) = 0;
  // Opens the page if it is not open.
  virtual Result<Json> page() = 0;
  virtual Result<Json> stop() = 0;
};

// JSON-RPC 2.0, section 5.1.
enum class RpcError : int {
  kParse = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kFailed = -32000,  // `data.code` is the name of the ErrorCode
};

// The answer to a line, without a line end; empty: none is due, as the request has no id.
std::string answer_rpc(std::string_view line, DaemonMethods& methods);
// An answer to what could not be read as a request, with the id null.
std::string refuse_rpc(RpcError code, const std::string& why);

}  // namespace firn::app
