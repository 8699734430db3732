#include "client/app/driver/coding_equipment.h"

#include <algorithm>
#include <utility>

#include "client/store/open_files.h"
#include "codec/kernels.h"
#include "cuda_kernels/runtime/cache_file.h"
#include "proto/transport/descriptors.h"

namespace firn::app {
namespace {

std::uint64_t loop_budget_of(const codec::Kernels& kernels) {
  const bool vectors = &kernels != codec::find_kernels("scalar");
  return vectors ? LoopBudget::kPerSecondVector : LoopBudget::kPerSecond;
}

// What connections and commands need of the descriptors is left to them.
void bound_open_files() {
  using namespace proto::transport;
  const std::size_t descriptors = open_files_within(descriptor_limit());
  store::OpenFiles::of_process().set_files_max(
      std::max<std::size_t>(descriptors / store::OpenFiles::kDescriptorsOfFile, 1));
}

}  // namespace

CodingEquipment::CodingEquipment(const DriverOptions& options, CodecChoice codec,
                                 std::uint64_t seed, StageClock& stages, Console& console,
                                 const std::function<void()>& wake)
    : buffers_(MemoryShares(options).idle_buffers),
      loop_budget_(loop_budget_of(codec::kernels())),
      cache_(MemoryShares(options).cache),
      pool_({.threads = options.threads, .stages = &stages}, wake),
      seed_(seed),
      codec_(std::move(codec)) {
  bound_open_files();
  if (codec_.devices.empty()) return;
  coder_ = make_coder(
      codec_,
      {options.codec, options.threads, options.memory_bytes, seed, &stages,
       cuda::default_cache_folder()},
      buffers_,
      [&console](const std::string& device, const std::string& why) {
        console.warning("GPU " + device + ": " + why + "; the coding goes on without it");
      },
      wake);
}

CodingResources CodingEquipment::lent() {
  return {pool_, buffers_, cache_, codec::kernels(), loop_budget_, coder_.get(), seed_};
}

void CodingEquipment::run_completions() {
  pool_.run_completions();
  if (coder_) coder_->run_completions();
}

void CodingEquipment::say(Console& console) const {
  if (codec_.devices.empty()) {
    console.debug("codec: " + codec_.text);
  } else {
    console.info("codec: " + codec_.text);
  }
}

}  // namespace firn::app
