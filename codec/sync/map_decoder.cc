#include "codec/sync/map_decoder.h"

#include <cassert>

#include "codec/sync/lattice_decoder.h"
#include "codec/sync/superposed_decoder.h"

namespace firn::codec::sync {
namespace {

using Model = std::shared_ptr<const FrameModel>;

std::unique_ptr<FrameDecoder> make_superposed(const Model& model, const DecoderOptions& options) {
  const LatticeKernels& kernels = options.kernels != nullptr ? *options.kernels : lattice_kernels();
  std::shared_ptr<const BridgeBand> bridge;
  if (options.bridge_exclusion > 0) {
    bridge = std::make_shared<const BridgeBand>(model->code.codeword_bits(), model->code.length(),
                                                model->channel, model->limits.frame,
                                                options.bridge_exclusion);
  }
  if (options.precision == Precision::kDouble) {
    return std::make_unique<SuperposedDecoder<double>>(model, kernels, bridge);
  }
  return std::make_unique<SuperposedDecoder<float>>(model, kernels, bridge);
}

std::unique_ptr<FrameDecoder> make_decoder(const Model& model, const DecoderOptions& options) {
  if (options.form == Form::kSuperposed) return make_superposed(model, options);
  const auto [form, storage] = std::pair(options.form, options.storage);
  switch (options.precision) {
    case Precision::kSingle:
      return std::make_unique<LatticeDecoder<float, float>>(model, form, storage);
    case Precision::kMixed:
      return std::make_unique<LatticeDecoder<float, double>>(model, form, storage);
    case Precision::kDouble:
      break;
  }
  return std::make_unique<LatticeDecoder<double, double>>(model, form, storage);
}

}  // namespace

MapDecoder::MapDecoder(TvbCode code, const Channel& channel, const StateLimits& limits,
                       const DecoderOptions& options)
    : options_(options) {
  assert(channel.valid() && limits.valid());
  decoder_ = make_decoder(
      std::make_shared<const FrameModel>(FrameModel{std::move(code), channel, limits}), options);
}

MapDecoder::MapDecoder(const MapDecoder& other)
    : decoder_(other.decoder_->copy()), options_(other.options_) {}
MapDecoder::MapDecoder(MapDecoder&&) noexcept = default;
MapDecoder& MapDecoder::operator=(MapDecoder other) noexcept {
  decoder_.swap(other.decoder_);
  in_double_.swap(other.in_double_);
  options_ = other.options_;
  return *this;
}
MapDecoder::~MapDecoder() = default;

const TvbCode& MapDecoder::code() const {
  return decoder_->model()->code;
}
const Channel& MapDecoder::channel() const {
  return decoder_->model()->channel;
}
const StateLimits& MapDecoder::limits() const {
  return decoder_->model()->limits;
}

void MapDecoder::decode(const FrameProblem& problem, FrameSolution& solution) {
  solution.redone = false;
  decoder_->decode(problem, solution);
  if (solution.status != FrameStatus::kMassLost || options_.precision == Precision::kDouble) return;
  if (in_double_ == nullptr) {
    DecoderOptions options = options_;
    options.precision = Precision::kDouble;
    in_double_ = make_decoder(decoder_->model(), options);
  }
  in_double_->decode(problem, solution);
  solution.redone = true;
}

}  // namespace firn::codec::sync
