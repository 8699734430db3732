#include "client/app/console/content_words.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace firn;
using namespace firn::app;

namespace {

std::string word(const NamedWords& words, const std::string& name) {
  const auto found =
      std::ranges::find_if(words, [&](const auto& one) { return name == one.first; });
  REQUIRE(found != words.end());
  return found->second;
}

}  // namespace

TEST_CASE("a percentage is not 100 before all is there") {
  CHECK(percent_words(0.99999) == "99.9%");
  CHECK(percent_words(1) == "100%");
}

TEST_CASE("what is not known of a content is a dash, and what is not to be said is nothing") {
  const Json content = {{"state", "searching"}, {"share", nullptr},    {"eta_seconds", nullptr},
                        {"bytes", nullptr},     {"up_limit", nullptr}, {"priority", "normal"}};
  CHECK(share_words(content) == "-");
  CHECK(eta_words(content) == "-");
  CHECK(size_words(content) == "-");
  CHECK(state_words(content) == "searching");
  for (const char* name : {"Sent", "Limits", "Seeds until", "Not saved yet", "Finished"})
    CHECK(word(setting_words(content), name) == "");
  for (const auto& [name, text] : trouble_words(content)) CHECK(text == "");
}

TEST_CASE("a content says its place in line, its limits and its goals") {
  const Json content = {{"state", "queued"}, {"queue_position", 2},  {"priority", "high"},
                        {"bytes", 0},        {"up_limit", 1024},     {"saved", false},
                        {"seed_ratio", 1.5}, {"seed_time", 3600},    {"failure", "no <room>"},
                        {"uploaded", 2048},  {"down_limit", nullptr}};
  CHECK(state_words(content) == "queued, 2. in line, high priority");
  CHECK(size_words(content) == "0 B");
  const NamedWords words = setting_words(content);
  CHECK(word(words, "Limits") == "up 1.0 KiB/s, down none");
  CHECK(word(words, "Seeds until").starts_with("ratio 1.5 or "));
  CHECK(word(words, "Sent") == "2.0 KiB");
  CHECK(word(words, "Not saved yet") != "");
  CHECK(word(trouble_words(content), "Failure") == "no <room>");
}

TEST_CASE("a content says what each of its origins has brought, and why one is not asked") {
  CHECK(app::arrival_words(Json{{"from_origins", Json::array()}, {"bytes_from_peers", 0}}).empty());
  CHECK(word(app::arrival_words(Json{{"bytes_from_peers", 1024}}), "From peers") == "1.0 KiB");
  const Json content = {
      {"from_origins", {{{"url", "https://a/"}, {"bytes", 2048}, {"trouble", "it answers 403"}}}},
      {"bytes_from_origins", 2048},
      {"bytes_from_peers", 1024},
      {"bytes_redundant", 0},
      {"bytes_refused", 512}};
  const NamedWords words = app::arrival_words(content);
  CHECK(word(words, "From origin") == "2.0 KiB, https://a/ (it answers 403)");
  CHECK(word(words, "From peers") == "1.0 KiB");
  CHECK(word(words, "Refused") == "512 B");
  CHECK(words.size() == 3);  // nothing was redundant
  CHECK(origin_words(content) == "2.0 KiB from origins");
}
