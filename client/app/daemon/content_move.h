// Moves what the disk holds of a content to another folder, so that a kill at any moment loses
// nothing and leaves nothing half:
//
//   stage   each file is linked, or copied, to NEW/.firn/move-ID/, and is durable there
//   place   each gets its own name in NEW, and replaces nothing; durable
//   clear   what now stands in NEW is deleted from the old folder
//
// The caller records each step before it begins (docs/formats.md, "The daemon's contents"), and
// begins a step that was cut short again. Before clear() the old folder is whole, and undo() takes
// back what the other two have done.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/app/daemon/kept_content.h"
#include "client/content/top_name.h"
#include "client/store/files.h"
#include "proto/base/result.h"
#include "proto/content/manifest.h"

namespace firn::app {

// Blocks; any thread, one at a time. No session may use the content.
class ContentMove {
 public:
  // Between the content's two places, of which the one `from` is left; the new folder is made if it
  // is missing. Errors: as errno says, kExists (another process downloads the content), kCorrupt
  // (its manifest).
  static Result<std::unique_ptr<ContentMove>> open(const KeptContent& content,
                                                   const content::ContentPlace& from,
                                                   const content::ContentPlace& to);
  // `from` may be null: there is nothing. `from_as`, `to_as`: as ContentPlace's. `begun`: as
  // KeptContent's.
  ContentMove(std::shared_ptr<store::Files> from, std::shared_ptr<store::Files> to,
              const ContentId& id, std::optional<Info> info, const std::string& from_as,
              const std::string& to_as, bool complete, bool begun);

  // Goes on for a while; true: all is staged. kNotFound: the files of a content that was complete
  // are not in its folder.
  Result<bool> stage();
  Status place();
  // A file that was changed since, or is not the content's, stays. After a failure the rest is
  // still deleted.
  Status clear();
  // `placed_some`: place() had begun. After a failure the rest is still taken back.
  Status undo(bool placed_some);

 private:
  struct Item {
    std::string from;  // below the old folder
    std::string to;    // below the new one
    store::FileStat stat;
    std::string target;        // of a link
    std::uint32_t mode = 0;    // of a folder, to make it with
    std::int64_t time_ns = 0;  // of a folder
  };

  Result<std::vector<Item>> collect() const;
  Status collect_entry(std::uint32_t file, std::vector<Item>& items) const;
  Status collect_work(const std::string& folder, std::vector<Item>& items) const;
  Status collect_media(std::vector<Item>& items) const;
  Result<bool> same(store::Files& files, const std::string& path, const Item& item) const;
  Status try_names();
  Status remove_tried_names();
  Result<std::uint64_t> stage_item(const Item& item);
  Result<std::uint64_t> copy_slice(const Item& item);
  Status take_top_folder();
  Status place_item(const Item& item);
  Status make_parents(const std::string& path);
  Status make_stage();
  Status keep_name();
  Status remove_stage();
  std::string staged(const Item& item) const { return stage_ + "/" + item.to; }
  std::string tried_names() const { return stage_ + ".names"; }
  // The stage while undo() removes it.
  std::string undone() const { return stage_ + ".undone"; }

  const std::shared_ptr<store::Files> from_, to_;
  const ContentId id_;
  const std::optional<Info> info_;
  const std::string from_as_, to_as_;
  const bool complete_, begun_;
  const std::string work_, stage_;
  std::optional<std::vector<Item>> items_;  // while it stages
  std::size_t next_ = 0;                    // of items_
  std::uint64_t copied_ = 0;                // of the next item
};

}  // namespace firn::app
