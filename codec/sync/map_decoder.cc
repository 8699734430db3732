#include "codec/sync/map_decoder.h"

#include <cassert>

#include "codec/sync/lattice_decoder.h"

namespace firn::codec::sync {
namespace {

std::unique_ptr<FrameDecoder> make_decoder(std::shared_ptr<const FrameModel> model,
                                           const DecoderOptions& options) {
  switch (options.precision) {
    case Precision::kSingle:
      return std::make_unique<LatticeDecoder<float, float>>(model, options.form, options.storage);
    case Precision::kMixed:
      return std::make_unique<LatticeDecoder<float, double>>(model, options.form, options.storage);
    case Precision::kDouble:
      break;
  }
  return std::make_unique<LatticeDecoder<double, double>>(model, options.form, options.storage);
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
