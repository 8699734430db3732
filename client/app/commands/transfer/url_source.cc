#include "client/app/commands/transfer/url_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/app/commands/transfer/stop_request.h"
#include "client/app/commands/transfer/url_progress.h"
#include "client/app/origin/origin_answer.h"
#include "client/content/top_name.h"
#include "proto/base/plain_text.h"

namespace firn::app {
namespace {

// create has no --timeout.
constexpr std::chrono::minutes kCreatePatience{5};
constexpr std::size_t kCountedBytes = 256 << 10;

Error more_bytes(const UrlSource& source) {
  return {ErrorCode::kCorrupt, "fetch " + source.url.shown(),
          "the server sends more bytes than before: the file changed while it was read"};
}

// Reads it all, and lets it go.
Result<std::uint64_t> counted_bytes(OriginReading& reading) {
  std::vector<std::uint8_t> buffer(kCountedBytes);
  for (std::uint64_t bytes = 0;;) {
    const auto count = reading.read(buffer);
    if (!count.ok()) return count.error();
    if (*count == 0) return bytes;
    bytes += *count;
  }
}

}  // namespace

bool is_url(const std::string& text) {
  const std::string begin = lower_case(text.substr(0, 8));
  return begin.starts_with("https://") || begin.starts_with("http://") ||
         begin.starts_with("s3://");
}

Result<UrlSource> read_url(const std::string& text, const std::string& as) {
  auto url = parse_origin(text);
  if (!url.ok()) return url.error();
  if (url->is_folder())
    return Error{ErrorCode::kBadInput, "fetch " + url->shown(), folder_advice(*url)};
  UrlSource source{*std::move(url), as};
  if (!as.empty()) return source;
  auto name = source.url.name();
  if (!name.ok()) return name.error();
  source.name = *std::move(name);
  return source;
}

OriginOptions with_origin(OriginOptions options, const UrlSource& source, Console& console) {
  if (source.url.may_hold_secrets()) {
    console.warning("the link and the manifest do not name " + source.url.shown() +
                    " as an origin: it holds a password or a query, which may be a token or "
                    "signature, and everybody who has them would see it; if the query holds no "
                    "secret, name the URL with --origin");
  } else {
    options.urls.insert(options.urls.begin(), source.url.text());
  }
  return options;
}

Result<std::unique_ptr<OriginReading>> reading_of(const UrlSource& source,
                                                  const OriginOptions& options,
                                                  OriginReadingOptions reading,
                                                  UrlProgress& progress, Console& console) {
  OriginOptions of_source = options;
  of_source.urls = {source.url.text()};
  of_source.none = false;
  OriginPlan plan;
  if (const Status planned = plan_origins(of_source, plan); !planned.ok()) return planned.error();
  plan.given.by_hand = true;
  auto transfers = Transfers::start();
  if (!transfers.ok()) return transfers.error();
  reading.cancelled = StopRequest::poll();
  reading.waits = [&progress] { progress.tick(); };
  reading.tell = [&console](const std::string& message) { console.warning(message); };
  return std::make_unique<OriginReading>(*std::move(transfers), source.url,
                                         std::make_shared<OriginAccess>(std::move(plan.given)),
                                         std::move(reading));
}

FileEntry entry_of(const UrlSource& source, const OriginReading& reading) {
  FileEntry file;
  file.path = source.name;
  file.bytes = reading.state().bytes.value_or(0);
  file.modified_ns = reading.state().modified_ns();
  return file;
}

Status read_end(OriginReading& reading, const UrlSource& source) {
  std::uint8_t byte = 0;
  const auto count = reading.read({&byte, 1});
  if (!count.ok()) return count.error();
  return *count == 0 ? Status(Done{}) : more_bytes(source);
}

Result<Manifest> create_manifest_of_url(const UrlSource& source, const OriginOptions& options,
                                        const content::CreateOptions& create, Console& console) {
  OriginReadingOptions reading_options;
  reading_options.timeout = kCreatePatience;
  UrlProgress progress(source, false, console);
  auto opened = reading_of(source, options, std::move(reading_options), progress, console);
  if (!opened.ok()) return opened.error();
  OriginReading& reading = **opened;
  if (const Status begun = reading.begin(0, {}); !begun.ok()) return begun.error();
  FileEntry file = entry_of(source, reading);
  if (!reading.state().bytes) {
    console.info("the server does not say how large " + source.name +
                 " is, so it is read twice: how a content is cut depends on its size");
    const auto bytes = counted_bytes(reading);
    if (!bytes.ok()) return bytes.error();
    file.bytes = *bytes;
    if (const Status begun = reading.begin(0, {}); !begun.ok()) return begun.error();
  }
  progress.begin(file.bytes, 0);
  const auto read_next = [&](std::span<std::uint8_t> out) -> Status {
    while (!out.empty()) {
      const auto count = reading.read(out);
      if (!count.ok()) return count.error();
      if (*count == 0)
        return Error{
            ErrorCode::kCorrupt, "fetch " + source.url.shown(),
            "the server sends fewer bytes than before: the file changed while it was read"};
      progress.came(*count);
      out = out.subspan(*count);
    }
    return Done{};
  };
  content::CreateOptions of_url = create;
  of_url.progress = {};  // as bytes come
  auto manifest = content::create_manifest_of(std::move(file), read_next, of_url);
  if (!manifest.ok()) return manifest;
  if (const Status end = read_end(reading, source); !end.ok()) return end.error();
  return manifest;
}

}  // namespace firn::app
