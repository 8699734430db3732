// All contents of a daemon: what its methods do. Joins the store, which remembers them, and the
// peer driver, which runs their sessions.
//
// Main thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/app/daemon/daemon_content.h"
#include "client/app/daemon/rpc.h"
#include "client/app/daemon/watched_folder.h"

namespace firn::app {

// What is kept of a content that is to be added. Errors: as read_source().
using ReadContent = std::function<Result<KeptContent>(const AddRequest&)>;

class ContentList final : public DaemonMethods {
 public:
  static constexpr std::size_t kContentsMax = 10'000;

  // Takes what the store remembers; turn() starts it. Errors: as ContentsStore::load(). `driver`,
  // `store` and `console` outlive the result; the driver, which asks it, does not run any more
  // then.
  static Result<std::unique_ptr<ContentList>> restore(DaemonHost host, const QueueLimits& queue,
                                                      ReadContent read);

  std::size_t size() const { return contents_.size(); }
  // DaemonContent::opens(), of this content.
  bool opens(const ContentId& id) const;

  // Once the driver has run: keeps what has been counted.
  void finish();

  // For PeerDriver::on_turn().
  core::TimeUs turn();

  Result<Json> add(const AddRequest& request) override;
  Result<Json> list() override;
  Result<Json> show(const std::string& which) override;
  Result<Json> peers(const std::string& which) override;
  Result<Json> files(const std::string& which, const content::FileChoice& choice) override;
  Result<Json> pause(const std::string& which) override;
  Result<Json> resume(const std::string& which, bool afresh) override;
  Result<Json> remove(const std::string& which, bool delete_data) override;
  Result<Json> limit(const std::string& which, const LimitChange& change) override;
  Result<Json> prioritize(const std::string& which, const std::string& priority) override;
  Result<Json> queue(const std::string& which, const std::string& to) override;
  Result<Json> status() override;
  Result<Json> move(const std::string& which, const std::string& folder,
                    const std::string& as) override;
  Result<Json> watch(const std::string& folder, const std::string& output) override;
  Result<Json> watches() override;
  Result<Json> unwatch(const std::string& folder) override;
  // Those of TransferLimits.
  void limits_changed();
  // Folders that the configuration names, besides those that are kept.
  void watch_configured(std::vector<WatchedFolder> folders);
  std::string_view manifest_of(const std::string& which) override;
  Result<Json> page() override;
  // What page() asks, while it is open for commands.
  void offer_page(std::function<Result<Json>()> page) { page_ = std::move(page); }
  Result<Json> play(const std::string& which) override;
  Result<std::string> stream_url(const std::string& which, const std::string& number,
                                 const std::string& host) override;
  struct Streams {
    std::function<Result<Json>(const ContentId&)> tell;
    std::function<Result<std::string>(const ContentId&, const std::string& number,
                                      const std::string& host)>
        url;
  };
  // What these two ask, likewise.
  void offer_streams(Streams streams) { streams_ = std::move(streams); }
  // Ends the daemon, once it has answered and every session has left.
  Result<Json> stop() override;

 private:
  ContentList(DaemonHost host, const QueueLimits& queue, ReadContent read);
  void arrange();
  core::TimeUs turn_contents(core::TimeUs now);
  core::TimeUs look(core::TimeUs now);
  Status place(DaemonContent& content, const std::string& to);
  void watch_all();
  Result<DaemonContent*> find(const std::string& which);
  // Those of all contents together, as they are now.
  void apply_limits(core::TimeUs now);
  Json limits_now() const;
  template <typename Change>
  Result<Json> change(const std::string& which, Change change);

  const DaemonHost host_;
  const QueueLimits queue_;
  const ReadContent read_;
  std::function<Result<Json>()> page_;
  Streams streams_;
  std::vector<std::unique_ptr<DaemonContent>> contents_;  // as they were added
  std::vector<DaemonContent*> active_;                    // those whose turn() may be due
  bool changed_ = true;                                   // which want to be active, or their order
  std::int64_t added_last_ = 0;  // when a content was, in seconds since 1970
  core::TimeUs looked_at_ = 0;
  core::TimeUs recorded_at_ = 0;  // when what contents have counted was last begun to be kept
  std::size_t recorded_ = 0;      // contents of which it is kept since
  core::TimeUs limits_at_ = 0;    // when the schedule is looked at again
  LimitValues applied_;           // the limits that the driver has
  std::vector<WatchedFolder> kept_folders_, configured_folders_;
  FolderWatch watch_;  // of both
};

}  // namespace firn::app
