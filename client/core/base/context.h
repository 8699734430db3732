// What all parts of a swarm core read: which content, with which options, the time, and how far the
// peer has come. The doors (swarm.cc) set the time; a part that is handed it const cannot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/core/base/types.h"
#include "proto/base/ids.h"

namespace firn::core {

struct Context {
  const ContentId content_id;
  const Options options;
  TimeUs now = 0;
  // The publisher whose envelope of the manifest this peer wants or has; none: any.
  std::optional<PublicKey> signer = options.publisher;
  // Certificate by which this peer speaks for the content's authority; empty: it does not.
  std::string certificate = options.certificate;
  // The highest number of an Epoch that a peer of the last version has sent.
  std::uint64_t epoch = 0;
};

// How far a peer has come with its content: without its manifest, filling, finishing its store,
// complete, stopped. A complete peer has what its user wants, which may be a part. A whole one
// has everything.
class Life {
 public:
  explicit Life(TimeUs now) : began_at_(now), progressed_at_(now) {}

  TimeUs began_at() const { return began_at_; }

  // The download has made progress.
  void progress(TimeUs now) { progressed_at_ = now; }
  TimeUs progressed_at() const { return progressed_at_; }

  bool has_manifest() const { return has_manifest_; }
  void found_manifest() { has_manifest_ = true; }

  // All that is wanted is verified, and the store gives the files their final names; also once it
  // has.
  bool finishing() const { return finishing_; }
  void finish() { finishing_ = true; }
  // Something else is wanted than before, or something that was there has been lost.
  void go_on() { finishing_ = complete_ = false; }

  // The store has finished.
  bool complete() const { return complete_; }
  bool whole() const { return complete_ && whole_; }
  TimeUs completed_at() const { return completed_at_; }
  void complete(bool whole, TimeUs now) {
    complete_ = true;
    whole_ = whole;
    completed_at_ = now;
  }

  bool stopped() const { return stopped_; }
  void stop() { stopped_ = true; }

 private:
  const TimeUs began_at_;
  TimeUs progressed_at_;
  TimeUs completed_at_ = 0;
  bool has_manifest_ = false;
  bool finishing_ = false;
  bool complete_ = false;
  bool whole_ = false;
  bool stopped_ = false;
};

}  // namespace firn::core
