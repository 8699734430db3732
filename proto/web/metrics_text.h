// Figures in Prometheus' text format (version 0.0.4), as /metrics of both programs gives them.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "proto/web/http_message.h"

namespace firn::web {

class MetricsText {
 public:
  static constexpr std::size_t kLabelBytesMax = 128;  // of a label's value, before it is quoted

  // The values may be a stranger's text, whatever it holds.
  using Labels = std::initializer_list<std::pair<const char*, std::string_view>>;

  // The metric that the following samples are of. `type`: counter or gauge.
  void metric(const char* name, const char* type, const char* help);
  template <typename Value>
  void sample(Labels labels, Value value) {
    text_ += name_ + quoted(labels) + fmt::format(" {}\n", value);
  }
  // A metric of one value.
  template <typename Value>
  void add(const char* name, const char* type, const char* help, Value value) {
    metric(name, type, help);
    sample({}, value);
  }

  const std::string& text() const { return text_; }

 private:
  static std::string quoted(Labels labels);

  std::string name_;
  std::string text_;
};

// "process_...": CPU time, memory, descriptors and start of this process.
void add_process(MetricsText& metrics);

// Of the program that names itself so: "firn_tracker_build_info".
void add_build(MetricsText& metrics, const char* name, std::string_view version);

Response metrics_response(const MetricsText& metrics);

}  // namespace firn::web
