// Where this process's time went (proto/base/stage_times.h), for events and for people.
#pragma once

#include <string>
#include <vector>

#include "client/app/backends/batch_coder.h"
#include "client/app/coding/serving_counts.h"
#include "client/app/console/events.h"
#include "proto/base/stage_profile.h"
#include "proto/base/stage_times.h"
#include "proto/base/thread_times.h"

namespace firn::app {

// {"core": seconds, ...} by stage over all threads of the clock, and the CPU time that
// the kernel counts for the whole process: "cpu_user", "cpu_system".
Json stages_json(const StageTimes& times);

// What went over the batch coder: {"backend": name, "decoded_by_devices": generations, ...}; with
// no coder {"backend": "CPU"}.
Json codec_json(BatchCoder* coder);

// What it took to serve a content: {"encoded": blocks, ...}.
Json serving_json(const ServingCounts::Figures& served);

// Where processor time went, and what threads waited for: an event, and lines for people, one for
// each stage that took any. `entered`: how often each stage was entered meanwhile.
Json profile_event(const StageProfile::Spent& spent, const std::vector<ThreadWatch::Spent>& threads,
                   const StageCounts& entered);
std::vector<std::string> profile_lines(const StageProfile::Spent& spent,
                                       const std::vector<ThreadWatch::Spent>& threads);

// One line: the stages with their seconds, largest first; those without any are left out.
std::string stages_line(const StageTimes& times);

}  // namespace firn::app
