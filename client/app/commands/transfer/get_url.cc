#include "client/app/commands/transfer/get_url.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <utility>
#include <vector>

#include "client/app/commands/transfer/get_to_stdout.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/commands/transfer/stop_request.h"
#include "client/app/commands/transfer/url_progress.h"
#include "client/app/console/quantities.h"
#include "client/app/origin/origin_download.h"
#include "client/app/reading/file_output.h"
#include "client/app/runtime/event_loop.h"
#include "client/store/posix_files.h"
#include "proto/content/link.h"

namespace firn::app {
namespace {

constexpr std::size_t kUrlChunkBytes = 1 << 20;
// A file that changes all the time never comes whole.
constexpr int kBeginningsMax = 3;
constexpr int kOutputPollMs = 100;
constexpr const char* kManifestSuffix = ".firn";
constexpr const char* kFetchGoesOn = "the same command goes on where it stopped";

std::string place_of_file(const UrlGet& get) {
  return get.dir + (get.dir.ends_with('/') ? "" : "/") + get.source.name;
}

// A file on its way from a URL into a folder.
class UrlFetch {
 public:
  static Result<std::unique_ptr<UrlFetch>> open(const UrlGet& get, Console& console);

  // Until all has come and the file has its name.
  Status fetch();
  // The same; the manifest of what came.
  Result<Manifest> fetch_and_hash(const content::CreateOptions& options);

 private:
  UrlFetch(const UrlGet& get, Console& console, std::unique_ptr<OriginReading> reading,
           std::unique_ptr<OriginDownload> download, std::unique_ptr<UrlProgress> progress)
      : get_(get),
        console_(console),
        progress_(std::move(progress)),
        reading_(std::move(reading)),
        download_(std::move(download)) {}

  template <typename Outcome, typename Work>
  Outcome begin_anew_if_changed(const Work& work);
  Status begin();
  Status fetch_rest();
  Result<std::size_t> fetch_some(std::span<std::uint8_t> out);
  Status fill(std::uint64_t& position, std::uint64_t there, std::span<std::uint8_t> out);
  Status finish();

  const UrlGet& get_;
  Console& console_;
  const std::unique_ptr<UrlProgress> progress_;
  const std::unique_ptr<OriginReading> reading_;  // calls progress_
  const std::unique_ptr<OriginDownload> download_;
};

Result<std::unique_ptr<UrlFetch>> UrlFetch::open(const UrlGet& get, Console& console) {
  Info info;
  info.name = get.source.name;
  const std::string as = get.as_given ? get.source.name : "";
  if (Status fine = content::check_top_name(info, {get.dir, as}); !fine.ok()) return fine.error();
  auto progress = std::make_unique<UrlProgress>(get.source, true, console);
  auto reading = reading_of(get.source, get.origins, get.reading, *progress, console);
  if (!reading.ok()) return reading.error();
  auto files = store::open_posix_files(get.dir, true);
  if (!files.ok()) return files.error();
  auto download =
      OriginDownload::open(*std::move(files), get.source.url, get.source.name, get.overwrite);
  if (!download.ok()) return download.error();
  return std::unique_ptr<UrlFetch>(
      new UrlFetch(get, console, *std::move(reading), *std::move(download), std::move(progress)));
}

// Begins where an earlier run or try stopped, if the file is still the same there.
Status UrlFetch::begin() {
  const std::uint64_t there = download_->bytes();
  if (there > 0 && download_->state().can_go_on()) {
    const Status begun = reading_->begin(there, download_->state());
    if (begun.ok()) {
      console_.info(get_.source.name + ": going on behind " + format_bytes(there) + " of " +
                    format_bytes(*download_->state().bytes));
      progress_->begin(download_->state().bytes, there);
      return download_->go_on();
    }
    if (!reading_->changed()) return begun;
    console_.warning("the file has changed on the server since the first " + format_bytes(there) +
                     " of it came: " + get_.source.name + " begins anew");
  }
  if (const Status begun = reading_->begin(0, {}); !begun.ok()) return begun;
  progress_->begin(reading_->state().bytes, 0);
  return download_->begin(reading_->state());
}

// What was fetched of a file that changes meanwhile is of no use.
template <typename Outcome, typename Work>
Outcome UrlFetch::begin_anew_if_changed(const Work& work) {
  for (int beginnings = 1;; ++beginnings) {
    const Status begun = begin();
    Outcome outcome = begun.ok() ? work() : Outcome(begun.error());
    if (outcome.ok() || !reading_->changed() || beginnings == kBeginningsMax) return outcome;
  }
}

// The next bytes, which are in the file then.
Result<std::size_t> UrlFetch::fetch_some(std::span<std::uint8_t> out) {
  const auto count = reading_->read(out);
  if (!count.ok() || *count == 0) return count;
  if (const Status kept = download_->append(out.first(*count)); !kept.ok()) return kept.error();
  progress_->came(*count);
  return count;
}

Status UrlFetch::fetch_rest() {
  std::vector<std::uint8_t> buffer(kUrlChunkBytes);
  for (;;) {
    const auto count = fetch_some(buffer);
    if (!count.ok()) return count.error();
    if (*count == 0) return finish();
  }
}

Status UrlFetch::finish() {
  if (const Status finished = download_->finish(); !finished.ok()) return finished;
  progress_->complete(place_of_file(get_));
  return Done{};
}

Status UrlFetch::fetch() {
  return begin_anew_if_changed<Status>([this] { return fetch_rest(); });
}

// Fills `out` with the bytes from `position` on: from the file below `there`, else from the server.
Status UrlFetch::fill(std::uint64_t& position, std::uint64_t there, std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const auto from_file = static_cast<std::size_t>(
        std::min<std::uint64_t>(out.size(), there - std::min(position, there)));
    const auto count =
        from_file > 0 ? download_->read_at(position, out.first(from_file)) : fetch_some(out);
    if (!count.ok()) return count.error();
    if (*count == 0)
      return Error{ErrorCode::kCorrupt, "fetch " + get_.source.url.shown(),
                   "it ended before its last byte"};
    position += *count;
    out = out.subspan(*count);
  }
  return Done{};
}

Result<Manifest> UrlFetch::fetch_and_hash(const content::CreateOptions& options) {
  return begin_anew_if_changed<Result<Manifest>>([&]() -> Result<Manifest> {
    if (!reading_->state().bytes) {
      // How a content is cut depends on its size.
      if (const Status fetched = fetch_rest(); !fetched.ok()) return fetched.error();
      return content::create_manifest(place_of_file(get_), options);
    }
    const std::uint64_t there = download_->bytes();
    std::uint64_t position = 0;
    content::CreateOptions of_url = options;
    of_url.progress = {};  // as bytes come
    auto manifest = content::create_manifest_of(
        entry_of(get_.source, *reading_),
        [&](std::span<std::uint8_t> out) { return fill(position, there, out); }, of_url);
    if (!manifest.ok()) return manifest;
    if (const Status end = read_end(*reading_, get_.source); !end.ok()) return end.error();
    if (const Status finished = finish(); !finished.ok()) return finished.error();
    return manifest;
  });
}

ExitCode run_on_complete(const UrlGet& get, Console& console) {
  if (get.on_complete.empty()) return ExitCode::kOk;
  EventLoop loop;
  int status = 0;
  loop.on_turn([] {});
  const Status started =
      loop.run_shell(get.on_complete, {{"FIRN_DIR", get.dir}, {"FIRN_NAME", get.source.name}},
                     [&](int ended_with) {
                       status = ended_with;
                       loop.stop();
                     });
  if (started.ok()) loop.run();
  if (started.ok() && status == 0) return ExitCode::kOk;
  if (!started.ok())
    console.error(started.error());
  else
    console.error("on_complete", "'" + get.on_complete + "' ended with " + std::to_string(status));
  return ExitCode::kOnComplete;
}

// All of it. A pipe that polls as writable takes PIPE_BUF bytes at once, so that a signal is
// noticed though nobody reads.
Status write_out(int output, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    if (StopRequest::requested())
      return Error{ErrorCode::kCancelled, "write to standard output", "stopped"};
    pollfd polled{output, POLLOUT, 0};
    const int ready = ::poll(&polled, 1, kOutputPollMs);
    if (ready < 0 && errno != EINTR) return output_error(errno);
    if (ready <= 0) continue;
    const ssize_t taken =
        ::write(output, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (taken >= 0)
      bytes = bytes.subspan(static_cast<std::size_t>(taken));
    else if (errno != EINTR && errno != EAGAIN)
      return output_error(errno);
  }
  return Done{};
}

Status write_url_out(const UrlGet& get, UniqueFd output, Console& console) {
  UrlProgress progress(get.source, false, console);
  auto reading = reading_of(get.source, get.origins, get.reading, progress, console);
  if (!reading.ok()) return reading.error();
  if (const Status begun = (*reading)->begin(0, {}); !begun.ok()) return begun;
  progress.begin((*reading)->state().bytes, 0);
  std::vector<std::uint8_t> buffer(kUrlChunkBytes);
  for (;;) {
    const auto count = (*reading)->read(buffer);
    if (!count.ok()) return count.error();
    if (*count == 0) break;
    if (const Status written = write_out(output.get(), std::span(buffer).first(*count));
        !written.ok())
      return written;
    progress.came(*count);
  }
  // Some file systems say only now that the disk is full.
  if (::close(output.release()) != 0 && errno != EINTR) return output_error(errno);
  progress.complete("on standard output");
  return Done{};
}

}  // namespace

ExitCode get_url(const UrlGet& get, Console& console) {
  const StopRequest stop;
  {
    const auto fetch = UrlFetch::open(get, console);
    if (!fetch.ok()) return fail(console, fetch.error());
    if (const Status fetched = (*fetch)->fetch(); !fetched.ok())
      return fail_or_stop(console, fetched.error(), kFetchGoesOn);
  }
  if (const std::string& name = get.source.name;
      name.ends_with(kManifestSuffix) || name.ends_with(kLinkFileSuffix))
    console.info("to download what it names: firn get " + place_of_file(get));
  return run_on_complete(get, console);
}

ExitCode get_url_to_stdout(const UrlGet& get, Console& console) {
  const StopRequest stop;
  const Status written = write_url_out(get, take_stdout(), console);
  if (written.ok()) return run_on_complete(get, console);
  // The reader of the pipe knows best why it went.
  if (written.error().code == ErrorCode::kUnreachable && written.error().operation == kWritingOut)
    return ExitCode::kPipeClosed;
  return fail_or_stop(console, written.error(), "the same command begins anew");
}

ExitCode get_url_and_share(const UrlGet& get, ShareArguments share, Console& console) {
  ExitCode ran = ExitCode::kOk;
  share.paths = {place_of_file(get)};
  share.if_stopped = kFetchGoesOn;
  share.maker = [&](const std::string&, const content::CreateOptions& options) -> Result<Manifest> {
    const auto fetch = UrlFetch::open(get, console);
    if (!fetch.ok()) return fetch.error();
    auto manifest = (*fetch)->fetch_and_hash(options);
    if (manifest.ok()) ran = run_on_complete(get, console);
    return manifest;
  };
  const ExitCode shared = run_share(share, console);
  return shared == ExitCode::kOk ? ran : shared;
}

}  // namespace firn::app
