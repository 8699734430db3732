// What all contents of a process code with: workers, buffers, the cache of generations, and the
// batch coder where there are devices.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "client/app/backends/batch_coder.h"
#include "client/app/backends/codec_choice.h"
#include "client/app/coding/coded_content.h"
#include "client/app/console/console.h"
#include "client/app/driver/driver_options.h"
#include "client/app/runtime/buffer_pool.h"
#include "client/app/runtime/generation_cache.h"
#include "client/app/runtime/loop_budget.h"
#include "client/app/runtime/worker_pool.h"
#include "proto/base/stage_times.h"

namespace firn::app {

// Main thread.
class CodingEquipment {
 public:
  // `wake` is called by other threads when completions wait. `console` hears of devices that fail.
  // `seed`: of the coding vectors that are drawn for stocks.
  CodingEquipment(const DriverOptions& options, CodecChoice codec, std::uint64_t seed,
                  StageClock& stages, Console& console, const std::function<void()>& wake);

  // For sessions; this outlives them.
  CodingResources lent();
  WorkerPool& workers() { return pool_; }
  void run_completions();
  // Says which backends code: for people where a device does.
  void say(Console& console) const;

 private:
  // In this order: what comes later uses what stands before it.
  BufferPool buffers_;
  LoopBudget loop_budget_;
  GenerationCache cache_;
  WorkerPool pool_;
  const std::uint64_t seed_;
  const CodecChoice codec_;
  std::unique_ptr<BatchCoder> coder_;  // null without a device
};

}  // namespace firn::app
