#include "proto/web/live_update.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "proto/web/line_chart.h"

using namespace firn;
using Json = nlohmann::ordered_json;

TEST_CASE("a live page is sent what has changed, once it takes it") {
  std::map<std::string, std::string> sent;
  const auto update = [&](const char* facts, bool taken) {
    web::LiveUpdate one(sent);
    one.regions({{"facts", facts}, {"peers", "none"}});
    if (taken) one.commit();
    const std::string text = one.text();
    return text.starts_with("data: ") ? Json::parse(text.substr(6)) : Json();
  };
  CHECK(update("1", false)["regions"].size() == 2);
  CHECK(update("1", true)["regions"].size() == 2);
  CHECK(update("1", true).is_null());
  CHECK(update("2", true)["regions"] == Json{{"facts", "2"}});
}

TEST_CASE("an event says what failed") {
  std::map<std::string, std::string> sent;
  web::LiveUpdate one(sent);
  one.fail("gone\n");
  CHECK(one.text() == "data: {\"failure\":\"gone\\n\"}\n\n");
}

TEST_CASE("a chart shows its lines, and the same values as a table") {
  web::LineChart chart;
  chart.label = "<b>";
  chart.values_max = 3;
  chart.seconds_between = 2;
  chart.top = 1;
  chart.lines = {{"Down", "down", {4, 2}}};
  chart.worded = [](double value) { return std::to_string(static_cast<int>(value)) + " B"; };
  chart.seconds = [](double value) { return std::to_string(static_cast<int>(value)) + "s"; };
  const std::string shown = web::line_chart(chart);
  CHECK(shown.find("aria-label=\"&lt;b&gt;: Down 2 B\"") != std::string::npos);
  CHECK(shown.find("points=\"300,14.0 600,55.0 \"") != std::string::npos);
  CHECK(shown.find("<td class=\"n\">0s</td><td class=\"n\">2 B</td>") != std::string::npos);
  CHECK(shown.find("<td class=\"n\">2s</td><td class=\"n\">4 B</td>") != std::string::npos);
  chart.lines[0].values.clear();
  CHECK(web::line_chart(chart).find("Down 0 B") != std::string::npos);
}
