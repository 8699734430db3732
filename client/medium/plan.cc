#include "client/medium/plan.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "client/medium/label_code.h"
#include "client/medium/loss_model.h"
#include "client/medium/mark.h"
#include "proto/base/limits.h"

namespace firn::medium {
namespace {

constexpr unsigned kParityMax = 160;
// A frame loss above this is never the shortest medium.
constexpr double kFrameLossMax = 0.05;

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

// Rows of a generation beyond what a missing piece takes, so that all generations together are lost
// with at most `loss_max`. Nothing if no reasonable number does.
std::optional<std::uint32_t> spare_rows(const Shape& shape, std::uint32_t slices, double loss,
                                        double loss_max) {
  const double codes = static_cast<double>(shape.generation_count()) * slices;
  const std::uint32_t n = std::max(1u, shape.generation_count() == 0 ? 1u : shape.blocks_in(0));
  for (std::uint32_t rows = 1; rows <= n + 64; ++rows)
    if (codes * generation_loss(n, n + rows, loss) <= loss_max) return rows;
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
  const auto rows = spare_rows(plan.shape, slices, *loss, request.loss_max);
  if (!rows) return std::nullopt;
  const std::uint64_t codes = std::uint64_t{plan.shape.generation_count()} * slices;
  // Of a whole group that is lost, each of few codes loses several rows.
  const std::uint32_t per_group = plan.label.frames_per_group;
  const auto bunch = static_cast<std::uint32_t>(
      codes == 0 || codes >= per_group ? 1 : (per_group + codes - 1) / codes);
  plan.label.spare.rows = *rows + bunch - 1;
  plan.label.spare.permille =
      static_cast<std::uint32_t>(std::ceil(1000 * request.missing / (1 - request.missing) * 1.02));
  plan.content_loss =
      static_cast<double>(codes) *
      generation_loss(plan.shape.blocks_in(0), plan.shape.blocks_in(0) + *rows, *loss);
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
  if (request.missing < 0 || request.missing > 0.9) return refuse("more than 90 % may not miss");
  std::optional<Plan> best;
  for (const InnerShape& inner : measured_shapes()) {
    if (request.inner && *request.inner != inner) continue;
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

void set_manifest_bytes(Plan& plan, std::uint32_t manifest_bytes) {
  plan.label.manifest_bytes = manifest_bytes;
  count_places(plan);
}

}  // namespace firn::medium
