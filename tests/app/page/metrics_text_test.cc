#include "client/app/page/metrics_text.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "client/app/session/standstill_words.h"

using namespace firn;
using namespace firn::app;

namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

MetricsFacts facts_with_content(const std::string& name) {
  MetricsFacts facts = no_facts();
  facts.contents.push_back({"abcdefgh", name, "downloading", "lacking", 0.5, 1000, 3, {}});
  facts.contents.back().counts.from_peers = 300;
  facts.contents.back().counts.from_origins = 200;
  return facts;
}

}  // namespace

TEST_CASE("every reason and every state has a value while it holds nowhere") {
  const std::string text = metrics_of(no_facts()).text();
  for (const char* const state : {"downloading", "seeding", "failed", "queued", "waiting"})
    CHECK(has_line(text, std::string("firn_contents{state=\"") + state + "\"} 0"));
  for (const char* const reason :
       {"store_paused", "store_behind", "limited", "finishing", "decoding", "nobody", "no_manifest",
        "no_state", "lacking", "silent"})
    CHECK(has_line(text, std::string("firn_waiting_contents{reason=\"") + reason + "\"} 0"));
  for (const char* const reason : {"not_heard", "no_credit", "rate_limit", "others_first"})
    CHECK(has_line(text, std::string("firn_unserved_peers{reason=\"") + reason + "\"} 0"));
}

TEST_CASE("a content has its figures, and its name once") {
  const std::string text = metrics_of(facts_with_content("holiday")).text();
  CHECK(has_line(text, "firn_content_info{content=\"abcdefgh\",name=\"holiday\"} 1"));
  CHECK(has_line(text, "firn_content_state{content=\"abcdefgh\",state=\"downloading\"} 1"));
  CHECK(has_line(text, "firn_content_waiting{content=\"abcdefgh\",reason=\"lacking\"} 1"));
  CHECK(has_line(text, "firn_content_complete_ratio{content=\"abcdefgh\"} 0.5"));
  CHECK(has_line(text,
                 "firn_content_verified_bytes_total{content=\"abcdefgh\",source=\"peers\"} 300"));
  CHECK(has_line(text,
                 "firn_content_verified_bytes_total{content=\"abcdefgh\",source=\"origins\"} 200"));
  CHECK(text.find("holiday") == text.rfind("holiday"));
}

TEST_CASE("a content's name makes no line of its own") {
  const std::string plain = metrics_of(facts_with_content("x")).text();
  const std::string hostile = metrics_of(facts_with_content("x\"} 1\nfirn_peers 99\n")).text();
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  CHECK(lines(hostile) == lines(plain));
  CHECK_FALSE(has_line(hostile, "firn_peers 99"));
}

TEST_CASE("every value follows the type of its metric, and counters alone end in _total") {
  std::istringstream lines(metrics_of(facts_with_content("x")).text());
  std::string line, name, type;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string mark, kind;
    words >> mark >> kind;
    if (kind == "TYPE") {
      words >> name >> type;
      CHECK(name.ends_with("_total") == (type == "counter"));
    } else if (mark != "#") {
      CHECK(mark.substr(0, mark.find('{')) == name);
    }
  }
}
