#include "client/app/page/rate_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/app/console/quantities.h"
#include "proto/web/markup.h"

namespace firn::app {
namespace {

constexpr double kWidth = 600, kHeight = 96, kTop = 14;

std::string line(const RateHistory::Samples& samples, double RateHistory::Sample::*rate, double top,
                 const char* style) {
  std::string points;
  const std::size_t missing = RateHistory::kSamplesMax - samples.size();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double x = kWidth * static_cast<double>(missing + i) / (RateHistory::kSamplesMax - 1);
    const double y = kTop + (kHeight - kTop) * (1 - samples[i].*rate / top);
    fmt::format_to(std::back_inserter(points), "{:.0f},{:.1f} ", x, y);
  }
  return fmt::format("<polyline class=\"{}\" points=\"{}\"/>", style, points);
}

std::string table(const RateHistory::Samples& samples) {
  std::string rows;
  constexpr std::size_t kRows = 30;
  constexpr std::size_t kEach = RateHistory::kSamplesMax / kRows;
  for (std::size_t ago = 0; ago < samples.size(); ago += kEach) {
    const RateHistory::Sample& sample = samples[samples.size() - 1 - ago];
    fmt::format_to(std::back_inserter(rows),
                   "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                   format_seconds(static_cast<double>(ago) * RateHistory::kSecondsBetween),
                   format_rate(sample.down), format_rate(sample.up));
  }
  return "<table><thead><tr><th scope=\"col\" class=\"n\">Ago</th><th scope=\"col\" "
         "class=\"n\">Down</th><th scope=\"col\" class=\"n\">Up</th></tr></thead><tbody>" +
         rows + "</tbody></table>";
}

}  // namespace

std::string rate_chart(const RateHistory::Samples& samples, const std::string& label) {
  double top = 1024;
  for (const auto& sample : samples) top = std::max({top, sample.down, sample.up});
  const RateHistory::Sample now = samples.empty() ? RateHistory::Sample{} : samples.back();
  return fmt::format(
      "<figure class=\"rates\"><figcaption><span class=\"down\">Down {}</span> <span "
      "class=\"up\">Up "
      "{}</span> <span>over {}</span></figcaption><svg viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}: down {}, up {}\"><line class=\"axis\" x1=\"0\" x2=\"{}\" y1=\"{}\" "
      "y2=\"{}\"/>"
      "<line class=\"axis\" x1=\"0\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/><text x=\"2\" "
      "y=\"10\">{}</text>"
      "{}{}</svg><details id=\"rates-table\"><summary>Rates as a "
      "table</summary>{}</details></figure>",
      format_rate(now.down), format_rate(now.up),
      format_seconds(RateHistory::kSamplesMax * RateHistory::kSecondsBetween), kWidth, kHeight,
      web::html(label), format_rate(now.down), format_rate(now.up), kWidth, kTop, kTop, kWidth,
      kHeight - 0.5, kHeight - 0.5, format_rate(top),
      line(samples, &RateHistory::Sample::down, top, "down"),
      line(samples, &RateHistory::Sample::up, top, "up"), table(samples));
}

}  // namespace firn::app
