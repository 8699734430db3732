// Fetches the manifest of a content that was given as a link: from trackers and neighbours, in
// parts. The content id covers the info part alone; the peer that sends the file may have put
// anything around it. So the whole file is read before it counts as found, and its trackers are
// left out: those of a stranger are neither asked nor passed on.
//
// If the link names a publisher, a manifest in another envelope is not accepted, and other sources
// are asked. Its sender is not banned: an honest peer whose link names no publisher may hold any
// envelope.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/core/mesh/membership.h"
#include "client/core/mesh/trackers.h"
#include "client/core/view/standstill.h"
#include "proto/base/result.h"
#include "proto/content/manifest.h"
#include "proto/messages.h"

namespace firn::core {

class ManifestFetch final : public MeshPart {
 public:
  ManifestFetch(const MeshPart& mesh, const Trackers& trackers)
      : MeshPart(mesh), trackers_(trackers) {}

  // The manifest is known: nothing more is asked for or accepted.
  bool found() const { return life_.has_manifest(); }
  void set_found();

  // Asks a tracker that has the manifest, one at a time, and a neighbour: another one beside it
  // once it is slow. The slower of those that send less than manifest_patience.h asks for makes
  // place for a neighbour that has not been asked.
  void step() override;
  // A part has come from a neighbour. The driver keeps the parts, as they may be large, and nothing
  // shows that they are right before all of them are there.
  void part(Neighbour& n, proto::ManifestPart&& part);
  void neighbour_read(PeerKey peer, const Result<std::string>& file_bytes);
  // A tracker says that it has the manifest: it is asked once, until it says so again.
  void offered_by(std::size_t tracker) { offers_.insert(tracker); }
  void tracker_answered(std::size_t tracker, const Result<std::string>& file_bytes);
  TimeUs next_due() override;

  // As of the last step; null: none has come, or the right one has.
  const ForeignManifest* foreign() const { return foreign_ && !found() ? &*foreign_ : nullptr; }

  void neighbour_left(const Neighbour& n) override;

 private:
  // What a neighbour sends.
  struct Download {
    PeerKey source = kNoPeer;
    TimeUs began = 0, last = 0;
    std::uint64_t bytes = 0, total = 0;
    bool whole = false;  // and being read
  };
  struct Asked {
    TimeUs again = 0;  // it may be asked then
    bool answered = false;
  };

  // A known source has not been asked, or still sends.
  bool others_wait();
  void ask_tracker();
  bool make_place();
  void ask_neighbour(Neighbour& n);
  void take(Neighbour& n, Download& download, proto::ManifestPart&& part);
  static bool fits(const Download& download, const proto::ManifestPart& part);
  // True: it is the one that is wanted, in the right envelope.
  bool take_whole(Result<Manifest> manifest, const std::string& source);
  Neighbour* next_holder();
  bool may_ask(PeerKey peer) const;
  static TimeUs patience(const Download& download);
  void give_up(PeerKey source);
  void punish(const Neighbour& n);

  const Trackers& trackers_;
  std::set<std::size_t> offers_;     // trackers that have it, and have not been asked since
  bool tracker_busy_ = false;        // one has been asked
  std::vector<Download> downloads_;  // those asked first come first
  std::map<PeerKey, Asked> asked_;   // connected neighbours
  std::optional<ForeignManifest> foreign_;
};

}  // namespace firn::core
