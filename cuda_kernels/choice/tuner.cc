#include "cuda_kernels/choice/tuner.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "cuda_kernels/choice/tuning_measure.h"
#include "cuda_kernels/runtime/cache_file.h"

namespace firn::cuda {
namespace {

Tuner& tuner_of_process() {
  static Tuner tuner;
  return tuner;
}

}  // namespace

ProductChoice Tuner::choice(const Device& device, const Shape& shape) const {
  {
    const std::lock_guard lock(known_);
    const auto found = tunings_.find(tuning_file_name(device));
    if (found != tunings_.end()) return found->second[tuning_class(shape)];
  }
  return default_choice(device, shape);
}

Status Tuner::tune(const Device& device, const std::string& cache_folder, TuningSource* source) {
  TuningSource ignored;
  TuningSource& from = source != nullptr ? *source : ignored;
  const char* wish = std::getenv("FIRN_GPU_TUNING");
  from = TuningSource::kOff;
  if (wish != nullptr && std::string_view(wish) == "off") return {};

  const std::lock_guard once(tuning_);
  const std::string file_name = tuning_file_name(device);
  {
    const std::lock_guard lock(known_);
    from = TuningSource::kRemembered;
    if (tunings_.contains(file_name)) return {};
  }
  const std::filesystem::path path = std::filesystem::path(cache_folder) / file_name;
  Tuning tuning;
  from = TuningSource::kFile;
  if (cache_folder.empty() || !parse_tuning(read_cache_file(path), device, tuning)) {
    from = TuningSource::kMeasured;
    if (Status s = measure_tuning(device, tuning); !s.ok()) return s;
    if (!cache_folder.empty()) write_cache_file(path, tuning_text(device, tuning));
  }
  const std::lock_guard lock(known_);
  tunings_.emplace(file_name, tuning);
  return {};
}

Status tune(const Device& device, const std::string& cache_folder) {
  return tuner_of_process().tune(device, cache_folder);
}

ProductChoice product_choice(const Device& device, const Shape& shape) {
  return tuner_of_process().choice(device, shape);
}

}  // namespace firn::cuda
