// A LogFile as a sink of spdlog's. Both programs include it; nothing in proto does, which does not
// know spdlog.
#pragma once

#include <spdlog/common.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include <memory>
#include <mutex>
#include <utility>

#include "proto/program/log_file.h"

namespace firn {

// Throws spdlog_ex where a line cannot be written: the logger's error handler is told.
class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit LogSink(LogFile file) : file_(std::move(file)) { set_pattern(kLogLinePattern); }

  Status reopen() {
    const std::lock_guard lock(mutex_);
    return file_.reopen();
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const Status written = file_.write({line.data(), line.size()});
    if (!written.ok()) throw spdlog::spdlog_ex(written.error().message());
  }
  void flush_() override {}

  LogFile file_;
};

}  // namespace firn
