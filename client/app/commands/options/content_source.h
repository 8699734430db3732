// What a command is told about a content: a link or a manifest file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/app/console/console.h"
#include "client/content/top_name.h"
#include "client/core/base/types.h"
#include "client/privacy/private_keys.h"
#include "proto/base/result.h"
#include "proto/content/link.h"
#include "proto/content/manifest.h"

namespace firn::app {

struct ContentSource {
  ContentId content_id;
  std::optional<Manifest> manifest;
  bool manifest_kept = false;  // an earlier run left it; not named by the user
  bool from_file = false;      // that the user named
  std::vector<Address> trackers;
  std::vector<Address> peers;
  std::optional<PublicKey> publisher;        // the key that the link demands of the publisher
  std::optional<ContentSecret> secret = {};  // of a private content
  std::vector<std::string> origins = {};     // that the link, or the manifest file, names

  // For SessionPlan::keys.
  std::shared_ptr<const privacy::PrivateKeys> keys() const;
};

// Reads a manifest file. Errors: kBadInput (it breaks a rule, is damaged, or is no file: that is
// bad input, not a failed verification), kNotFound and others as errno says.
Result<Manifest> read_manifest_file(const std::string& path);

// A warning where a content's manifest or data is looked for.
inline constexpr const char* kNobodyKnown =
    "no tracker and no peer is known: waiting for peers to connect to us";

// LINK (also with spaces around it, or without "firn:" where no such file stands), X.link with one
// link, or X.firn.
// Errors: kBadInput (also a link of another program), and as read_manifest_file().
Result<ContentSource> read_source(const std::string& text);

// The same, without the network where the work folder below `dir` keeps the link's manifest.
Result<ContentSource> read_source(const std::string& text, const std::string& dir);

// All of them. The link of a content and its manifest file are one source: a private content's link
// holds the secret, and the file needs nobody who has the manifest. Errors: as read_source(), and
// kBadInput (a content is named twice otherwise).
Result<std::vector<ContentSource>> read_sources(const std::vector<std::string>& texts,
                                                const std::string& dir);

// For commands that fetch or serve: a private content needs its secret. Errors: kBadInput.
Status require_secret(const ContentSource& source);

// The manifest that an earlier run kept in the work folder below `dir`, if it is there and right.
std::optional<Manifest> kept_manifest(const std::string& dir, const ContentId& content);

// content::find_content, and says so where that is in another folder.
content::ContentPlace found_content(const Info& info, const content::ContentPlace& named,
                                    Console& console);

// PATH with a last component that names the file or folder: "." and ".." become what they stand
// for. Errors: as errno says.
Result<std::string> named_path(const std::string& path);

// The folder in which PATH's last component stands.
std::string folder_of(const std::string& path);
// The place of the content that PATH is, by whatever name.
content::ContentPlace place_of(const std::string& path);

}  // namespace firn::app
