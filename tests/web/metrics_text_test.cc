#include "proto/web/metrics_text.h"

#include <doctest/doctest.h>

#include "proto/base/plain_text.h"

using namespace firn;
using namespace firn::web;

namespace {

std::string text_with_label(std::string_view value) {
  MetricsText metrics;
  metrics.metric("firn_thing", "gauge", "A thing.");
  metrics.sample({{"name", value}}, 1);
  return metrics.text();
}

std::string label_of(std::string_view value) {
  const std::string text = text_with_label(value);
  const std::string begin =
      "# HELP firn_thing A thing.\n# TYPE firn_thing gauge\nfirn_thing{name=\"";
  const std::string end = "\"} 1\n";
  REQUIRE(text.starts_with(begin));
  REQUIRE(text.ends_with(end));
  return text.substr(begin.size(), text.size() - begin.size() - end.size());
}

}  // namespace

TEST_CASE("a metric has its help and type, then its values") {
  MetricsText metrics;
  metrics.add("firn_bytes_total", "counter", "Bytes.", std::uint64_t{18446744073709551615U});
  metrics.metric("firn_ratio", "gauge", "Part.");
  metrics.sample({{"a", "1"}, {"b", "2"}}, 0.25);
  CHECK(metrics.text() ==
        "# HELP firn_bytes_total Bytes.\n# TYPE firn_bytes_total counter\n"
        "firn_bytes_total 18446744073709551615\n"
        "# HELP firn_ratio Part.\n# TYPE firn_ratio gauge\nfirn_ratio{a=\"1\",b=\"2\"} 0.25\n");
}

TEST_CASE("a stranger's name ends neither its label nor its line") {
  CHECK(label_of("a\"} 1\nfirn_false 7") == "a\\\"} 1\\\\nfirn_false 7");
  CHECK(label_of("back\\slash") == "back\\\\slash");
  CHECK(label_of(std::string("nul\0esc\x1b", 8)) == "nul\\\\x00esc\\\\x1b");
  CHECK(label_of("\xe2\x80\xae") == "\\\\u202e");
}

TEST_CASE("a name that is not UTF-8 comes as UTF-8: Prometheus would refuse the whole answer") {
  for (const char* const name : {"\xff\xfe", "cut \xc3", "\xed\xa0\x80"})
    CHECK(is_plain_text(label_of(name)));
}

TEST_CASE("a long name is cut between two characters") {
  std::string name;
  for (int i = 0; i < 500; ++i) name += "\xc3\xa9";
  const std::string label = label_of(name);
  CHECK(label.size() == MetricsText::kLabelBytesMax);
  CHECK(is_plain_text(label));
}

TEST_CASE("what a process uses is told of this one") {
  MetricsText metrics;
  add_process(metrics);
  const std::string& text = metrics.text();
  for (const char* const name :
       {"process_cpu_seconds_total ", "process_resident_memory_bytes ", "process_open_fds ",
        "process_max_fds ", "process_start_time_seconds "})
    CHECK(text.find(std::string("\n") + name) != std::string::npos);
}
