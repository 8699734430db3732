// All contents of a daemon: what its methods do. Joins the store, which remembers them, and the
// peer driver, which runs their sessions.
//
// Main thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/app/daemon/daemon_content.h"
#include "client/app/daemon/rpc.h"

namespace firn::app {

// What is kept of a content that is to be added. Errors: as read_source().
using ReadContent = std::function<Result<KeptContent>(const AddRequest&)>;

class ContentList final : public DaemonMethods {
 public:
  static constexpr std::size_t kContentsMax = 10'000;

  // Takes what the store remembers; turn() starts it. Errors: as ContentsStore::load(). `driver`,
  // `store` and `console` outlive the result.
  static Result<std::unique_ptr<ContentList>> restore(DaemonHost host, ReadContent read);

  std::size_t size() const { return contents_.size(); }

  // For PeerDriver::on_turn().
  core::TimeUs turn();

  Result<Json> add(const AddRequest& request) override;
  Result<Json> list() override;
  Result<Json> show(const std::string& which) override;
  Result<Json> peers(const std::string& which) override;
  Result<Json> pause(const std::string& which) override;
  Result<Json> resume(const std::string& which) override;
  Result<Json> remove(const std::string& which, bool delete_data) override;
  // Ends the daemon, once it has answered and every session has left.
  Result<Json> stop() override;

 private:
  ContentList(DaemonHost host, ReadContent read) : host_(std::move(host)), read_(std::move(read)) {}
  Result<DaemonContent*> find(const std::string& which);
  template <typename Change>
  Result<Json> change(const std::string& which, Change change);

  const DaemonHost host_;
  const ReadContent read_;
  std::vector<std::unique_ptr<DaemonContent>> contents_;  // as they were added
};

}  // namespace firn::app
