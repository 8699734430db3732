// Chooses how a content is put on a medium: code, parity and spare rows, so that the chance of
// losing the content is at most what was asked for and the medium is shortest.
#pragma once

#include <cstdint>
#include <optional>

#include "client/medium/label.h"
#include "proto/base/result.h"
#include "proto/content/shape.h"

namespace firn::medium {

struct PlanRequest {
  Rates rates;
  double loss_max = 1e-9;  // of the content
  double missing = 0;      // share of the medium that may be missing in one piece
  std::uint64_t content_bytes = 0;
  std::uint32_t manifest_bytes = 0;  // 0: estimated
  std::optional<Shape> shape;        // of a manifest that is there; else chosen
};

struct Plan {
  Label label;  // all but the content's id
  Shape shape;
  double frame_loss = 0;    // share of the frames that the model loses
  double content_loss = 0;  // chance of losing the content
  std::uint64_t bits = 0;   // of the medium

  double bits_per_content_bit() const {
    return static_cast<double>(bits) / (8.0 * static_cast<double>(shape.content_bytes));
  }
};

// Source blocks in a generation, where the plan chooses: many, as what a generation needs in spare
// rows grows more slowly than itself.
inline constexpr std::uint32_t kPlannedGenerationSize = 1024;

// Errors: kBadInput (no code in the table does that; too large a content).
Result<Plan> make_plan(const PlanRequest& request);

}  // namespace firn::medium
