#include "client/medium/plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "client/medium/label_code.h"
#include "client/medium/loss_model.h"
#include "client/medium/mark.h"
#include "proto/base/limits.h"

namespace firn::medium {
namespace {

constexpr unsigned kParityMax = 160;
// A frame loss above this is never the shortest medium.
constexpr double kFrameLossMax = 0.05;
// The manifest stands in three runs: two are left wherever a piece of this share is missing.
constexpr double kMissingMax = 0.45;
// Labels are read by one code for all channels, whose drift may not run away.
constexpr double kDriftMax = 0.02;

Shape shape_for(const PlanRequest& request, std::uint32_t payload_bytes) {
  if (request.shape) return *request.shape;
  const std::uint64_t blocks = (request.content_bytes + payload_bytes - 1) / payload_bytes;
  const auto n =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(blocks, 1, kPlannedGenerationSize));
  return {n, payload_bytes, request.content_bytes};
}

std::uint32_t estimated_manifest_bytes(const Shape& shape) {
  return 300 + 32 * shape.generation_count();
}

std::uint64_t word_bits(const InnerShape& inner, std::size_t bytes) {
  const auto symbol_bits = static_cast<std::size_t>(std::countr_zero(inner.alphabet));
  return (8 * bytes + symbol_bits - 1) / symbol_bits * inner.codeword_bits;
}

std::uint64_t medium_bits(const Label& label) {
  const std::uint64_t groups = label.group_count();
  const std::uint64_t labels = (groups + label.groups_per_label - 1) / label.groups_per_label + 3;
  return label.place_count * word_bits(label.inner, label.word_bytes) + groups * kMarkBits +
         labels * (word_bits(kLabelInner, kLabelWordBytes) + 3 * kMarkBits);
}

// How many generations of a content have how many blocks: a file's last one is shorter, and so is
// what stands before a file that begins a generation.
using GenerationSizes = std::map<std::uint32_t, std::uint64_t>;

GenerationSizes sizes_of(const Shape& shape) {
  GenerationSizes sizes;
  for (std::uint32_t g = 0; g < shape.generation_count(); ++g) ++sizes[shape.blocks_in(g)];
  return sizes;
}

// The chance that some code of some generation is lost.
double content_loss(const GenerationSizes& sizes, std::uint32_t slices, std::uint32_t rows,
                    double loss) {
  double sum = 0;
  for (const auto& [n, count] : sizes)
    sum += static_cast<double>(count) * slices * generation_loss(n, n + rows, loss);
  return sum;
}

// Rows of a generation beyond what a missing piece takes, so that all generations together are lost
// with at most `loss_max`. Nothing if no reasonable number does.
std::optional<std::uint32_t> spare_rows(const GenerationSizes& sizes, std::uint32_t slices,
                                        double loss, double loss_max) {
  const std::uint32_t n = sizes.empty() ? 1 : sizes.rbegin()->first;
  for (std::uint32_t rows = 1; rows <= n + 64; ++rows)
    if (content_loss(sizes, slices, rows, loss) <= loss_max) return rows;
  return std::nullopt;
}

void count_places(Plan& plan) {
  Label& label = plan.label;
  std::uint64_t places = 0;
  for (const std::uint32_t rows : content_rows(plan.shape, label.spare))
    places += std::uint64_t{rows} * label.slices();
  for (const std::uint32_t rows : label.manifest_shape().rows_of()) places += rows;
  label.place_count = places;
  plan.bits = medium_bits(label);
}

std::optional<Plan> plan_with(const PlanRequest& request, const InnerShape& inner,
                              unsigned parity) {
  const auto loss = frame_loss(inner, equivalent_rate(request.rates), parity);
  if (!loss || *loss > kFrameLossMax) return std::nullopt;
  Plan plan;
  plan.frame_loss = *loss;
  plan.label.inner = inner;
  plan.label.planned = request.rates;
  plan.label.data_bytes = static_cast<std::uint8_t>(plan.label.word_bytes - parity);
  plan.shape = shape_for(request, plan.label.payload_bytes());
  plan.label.block_bytes = plan.shape.block_bytes;
  plan.label.manifest_bytes =
      request.manifest_bytes != 0 ? request.manifest_bytes : estimated_manifest_bytes(plan.shape);
  const std::uint32_t slices = plan.label.slices();
  const GenerationSizes sizes = sizes_of(plan.shape);
  const auto rows = spare_rows(sizes, slices, *loss, request.loss_max);
  if (!rows) return std::nullopt;
  const std::uint64_t codes = std::uint64_t{plan.shape.generation_count()} * slices;
  // Of a whole group that is lost, each of few codes loses several rows.
  const std::uint32_t per_group = plan.label.frames_per_group;
  const auto bunch = static_cast<std::uint32_t>(
      codes == 0 || codes >= per_group ? 1 : (per_group + codes - 1) / codes);
  plan.label.spare.rows = *rows + bunch - 1;
  plan.label.spare.permille =
      static_cast<std::uint32_t>(std::ceil(1000 * request.missing / (1 - request.missing) * 1.02));
  plan.content_loss = content_loss(sizes, slices, *rows, *loss);
  count_places(plan);
  return plan;
}

}  // namespace

Result<Plan> make_plan(const PlanRequest& request) {
  const Error error{ErrorCode::kBadInput, "plan a medium", ""};
  const auto refuse = [&](const std::string& why) {
    Error said = error;
    said.detail = why;
    return said;
  };
  if (request.content_bytes == 0) return refuse("the content has no bytes");
  if (request.missing < 0 || request.missing > kMissingMax)
    return refuse("more than 45 % of a medium may not be missing");
  if (std::abs(request.rates.insertion - request.rates.deletion) > kDriftMax)
    return refuse("rates of insertions and deletions may differ by 0.02 at most");
  std::optional<Plan> best;
  for (const InnerShape& inner : measured_shapes()) {
    for (unsigned parity = 4; parity <= kParityMax; parity += 2) {
      auto plan = plan_with(request, inner, parity);
      if (plan && (!best || plan->bits < best->bits)) best = std::move(plan);
    }
  }
  if (!best)
    return refuse("no code that was measured does this; a medium that loses less is needed");
  if (best->shape.generation_count() > limits::kGenerationCountMax ||
      best->label.place_count > 0xffffffff)
    return refuse("the content is too large for one medium; divide it");
  return *std::move(best);
}

}  // namespace firn::medium
