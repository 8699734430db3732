// Somebody who watches a film while it comes: a model player. It starts at one second of contiguous
// film, drains it at its rate, and stalls when there is none, until there is a second again.
#pragma once

#include <cstdint>
#include <vector>

#include "client/content/reading_window.h"
#include "client/core/base/types.h"
#include "proto/content/manifest.h"
#include "tests/sim/lab/run.h"

namespace firn::sim {

class Viewer {
 public:
  // The content is one file, the film.
  Viewer(const Info& info, const LabFilm& film, TimeUs now);

  // The generation is verified.
  void arrived(std::uint32_t g, TimeUs now);
  void seek(TimeUs now);
  // What it reads now.
  core::Urgent urgent() const;
  // As of now.
  LabViewing result(TimeUs now);

 private:
  void advance(TimeUs now);
  void play_on(TimeUs now);
  void take(TimeUs now);
  double contiguous() const;  // where what has come without a gap ends, bytes

  LabFilm film_;
  double generation_bytes_, end_;
  std::vector<bool> there_;
  double position_;  // of the player, bytes
  content::ReadingWindow window_;
  TimeUs waits_since_;  // since joining, a seek, or a stall
  TimeUs now_;
  bool playing_ = false, sought_ = false;
  LabViewing seen_;
};

}  // namespace firn::sim
