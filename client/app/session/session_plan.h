// What a command wants done with one content.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/app/origin/origin_plan.h"
#include "client/content/file_choice.h"
#include "client/content/top_name.h"
#include "client/core/base/types.h"
#include "client/privacy/private_keys.h"
#include "proto/base/ids.h"
#include "proto/content/manifest.h"

namespace firn::app {

struct SessionPlan {
  enum class Mode {
    kDownload,      // into `dir`, then seed as core.seeding says
    kServe,         // what stands in `dir`
    kManifestOnly,  // find the manifest, then end
  };
  Mode mode = Mode::kDownload;
  ContentId content_id;
  std::shared_ptr<const privacy::PrivateKeys> keys;  // of a private content; null: of others
  std::optional<Manifest> manifest;                  // absent until a peer or tracker has sent it
  std::string dir;
  std::string as;    // its top name there (content/top_name.h); empty: the manifest's
  std::string mark;  // store::OpenOptions::mark
  content::FileChoice files;
  OriginPlan origins;
  bool to_stdout = false;  // one file is for standard output: more may not be chosen
  bool overwrite = false;
  bool repair = false;
  bool trust = false;  // serve without checking bytes ahead of need
  // Of what is served: this process has hashed all of it since then (Unix time); 0: it has not.
  std::int64_t hashed_since_ns = 0;
  bool offer_manifest = false;          // to trackers that lack it
  std::string on_complete;              // shell command; empty: none
  core::TimeUs timeout = core::kNever;  // a download without progress ends after it
  // What core.certificate is to be, once the manifest is known; null: nothing.
  std::function<std::string(const Manifest&)> certificate_for;
  core::Options core;  // the driver sets `self`, `seed`, `listen_port`, memory and budgets

  bool serves() const { return mode == Mode::kServe; }
  // What trackers know the content by.
  const ContentId& id_for_trackers() const { return keys ? keys->rendezvous() : content_id; }
  // For people, and where `dir` has it: the top name as far as it is known.
  std::string name() const {
    if (manifest) return content::top_name(manifest->info, as);
    return as.empty() ? content_id.short_text() : as;
  }
};

}  // namespace firn::app
