// Values over time as lines in SVG, with the same as a table.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace firn::web {

struct ChartLine {
  std::string name;            // HTML
  const char* style;           // its class
  std::vector<double> values;  // oldest first; of all lines the same number
};

struct LineChart {
  std::string label;       // of what; text
  std::size_t values_max;  // the chart is as wide as these
  double seconds_between;  // from a value to the next
  double top = 0;          // the least that the chart reaches up to
  std::vector<ChartLine> lines;
  std::function<std::string(double)> worded;   // a value, as HTML
  std::function<std::string(double)> seconds;  // a time
};

std::string line_chart(const LineChart& chart);

}  // namespace firn::web
