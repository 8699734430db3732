// Which kernel multiplies fastest: measured on the device at hand, in the spirit of the launch
// parameters that Briffa's MAP decoder (2014) finds on the device while it runs, and remembered.
//
// tune() times every kernel the device has on each class of shapes (tuning.h; a fraction of a
// second in all). The answers serve for the rest of the tuner's life and, through a file in the
// user's cache folder, for later processes. Without tune(), choices come from the device's
// properties.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/choice/product_choice.h"
#include "cuda_kernels/choice/tuning.h"
#include "cuda_kernels/runtime/device.h"
#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

enum class TuningSource {
  kRemembered,  // this tuner already had it
  kFile,
  kMeasured,
  kOff,  // FIRN_GPU_TUNING=off
};

// Any thread.
class Tuner {
 public:
  // Makes choice() know this device. Takes up to about 700 MB of device memory while it measures;
  // with less, or after an error, choices stay as they were. cache_folder: where the file is kept,
  // made if it is missing; empty: no file. A file that cannot be written is no error. Two calls at
  // once wait for each other.
  Status tune(const Device& device, const std::string& cache_folder,
              TuningSource* source = nullptr);
  // What tune() found out for devices of this model, else default_choice().
  ProductChoice choice(const Device& device, const Shape& shape) const;

 private:
  std::mutex tuning_;                      // held while a device is tuned
  mutable std::mutex known_;               // guards tunings_
  std::map<std::string, Tuning> tunings_;  // by tuning_file_name(): devices of one model share it
};

// The process's tuner: launch_product() follows it.
Status tune(const Device& device, const std::string& cache_folder);
ProductChoice product_choice(const Device& device, const Shape& shape);

}  // namespace firn::cuda
