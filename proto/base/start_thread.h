// The one place that makes threads. Where one cannot be had (a container's limit of tasks, no
// memory for its stack), that is an error of what needs it, and never the end of the process.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "proto/base/result.h"

namespace firn {

// `purpose` is for people: "the page". Errors: kBusy.
Result<std::thread> start_thread(const std::string& purpose, std::function<void()> run);

}  // namespace firn
