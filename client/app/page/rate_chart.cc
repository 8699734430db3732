#include "client/app/page/rate_chart.h"

#include "client/app/console/quantities.h"
#include "proto/web/line_chart.h"

namespace firn::app {

std::string rate_chart(const RateHistory::Samples& samples, const std::string& label) {
  web::LineChart chart;
  chart.label = label;
  chart.values_max = RateHistory::kSamplesMax;
  chart.seconds_between = RateHistory::kSecondsBetween;
  chart.top = 1024;
  chart.worded = format_rate;
  chart.seconds = format_seconds;
  chart.lines = {{"Down", "down", {}}, {"Up", "up", {}}};
  for (const RateHistory::Sample& sample : samples) {
    chart.lines[0].values.push_back(sample.down);
    chart.lines[1].values.push_back(sample.up);
  }
  return web::line_chart(chart);
}

}  // namespace firn::app
