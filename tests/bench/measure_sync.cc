// What scripts/medium measures of the synchronisation decoder for the paper's figures, as JSON:
//
//   measure_sync times SECONDS n,q,N,p...   frames by every form on one core, in turn, for about
//                                           SECONDS a shape and three rounds at least; medians
//   measure_sync storage n,q,N,p...         states, and bytes of metrics in double precision
//   measure_sync reach STATES p...          the longest frames that need at most STATES states
//
// P_i = P_d = p, P_s = 0, excluded 1e-10. `storage` and `reach` count states by endpoint_limits, as
// the paper's limits are of the frame's end; `times` decodes with rigorous_limits.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codec/bench/measure.h"
#include "codec/kernels.h"
#include "codec/sync/codebooks.h"
#include "codec/sync/map_decoder.h"

namespace {

using namespace firn::codec::sync;
using Json = nlohmann::ordered_json;

constexpr double kExcluded = 1e-10;
constexpr int kRoundsMin = 3;
// Forms that take longer, or more memory, than this are left out of a shape. Individual lattices
// take some ten times as long a node as the others.
constexpr double kNodesMax = 3e9;
constexpr double kIndividualNodesMax = 1.5e8;
constexpr double kGammaBytesMax = 3e9;
// The paper's local storage keeps gamma of four indices, one for each stream (IV-B).
constexpr double kStreams = 4;

struct Shape {
  unsigned n, q, length;
  double p;

  Channel channel() const { return {p, p, 0}; }
};

struct Timed {
  const char* name;
  DecoderOptions options;
  double nodes = 0, bytes = 0;  // of lattices, and of gamma
  std::vector<double> seconds = {};
  std::size_t redone = 0;  // in double precision
  bool slow() const { return options.form == Form::kIndividual; }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Json described(const Shape& shape, const StateLimits& limits) {
  return {{"n", shape.n},
          {"q", shape.q},
          {"N", shape.length},
          {"p", shape.p},
          {"M_tau", limits.frame.size()},
          {"M_n", limits.codeword.size()},
          {"m_n_low", limits.codeword.low}};
}

// Of the paper's gamma: N q M_tau (n M_n - m_n^- (m_n^- - 1) / 2) (Table II).
double corridor_nodes(const Shape& shape, const StateLimits& limits) {
  const double low = limits.codeword.low;
  return 1.0 * shape.length * shape.q * limits.frame.size() *
         (1.0 * shape.n * limits.codeword.size() - low * (low - 1) / 2);
}

double gamma_numbers(const Shape& shape, const StateLimits& limits) {
  return 1.0 * shape.q * limits.frame.size() * limits.codeword.size();  // of one index
}

std::vector<Timed> forms_for(const Shape& shape, const StateLimits& limits) {
  const double batch = corridor_nodes(shape, limits), gamma = 4 * gamma_numbers(shape, limits);
  DecoderOptions options;
  std::vector<Timed> forms;
  options.precision = Precision::kMixed;
  options.form = Form::kIndividual;
  options.storage = Storage::kLocal;
  // A lattice for each m as well, with half of the columns on average.
  forms.push_back({"individual", options, batch * limits.codeword.size() / 2, gamma});
  options.form = Form::kBatch;
  forms.push_back({"batch_local", options, 2 * batch, gamma});
  options.storage = Storage::kGlobal;
  forms.push_back({"batch", options, batch, gamma * shape.length});
  options = {};
  forms.push_back({"superposed", options});
  options.bridge_exclusion = kExcluded;
  forms.push_back({"bridge", options});
  std::erase_if(forms, [](const Timed& form) {
    return form.nodes > (form.slow() ? kIndividualNodesMax : kNodesMax) ||
           form.bytes > kGammaBytesMax;
  });
  return forms;
}

Json times(const Shape& shape, double seconds) {
  auto code = TvbCode::make(
      shape.n, shape.q, shape.length,
      random_books(shape.n, shape.q, std::min<std::size_t>(shape.length, kBookCount), 777));
  if (!code) {
    std::fprintf(stderr, "measure_sync: no code with n=%u q=%u N=%u\n", shape.n, shape.q,
                 shape.length);
    std::exit(2);
  }
  const StateLimits limits = rigorous_limits(shape.n, shape.length, shape.channel(), kExcluded);
  std::vector<Timed> forms = forms_for(shape, limits);
  std::vector<MapDecoder> decoders;
  for (const Timed& form : forms)
    decoders.emplace_back(*code, shape.channel(), limits, form.options);
  firn::codec::CoefficientStream random(5, shape.q);
  FrameSolution solution;
  const auto now = [] {
    return firn::codec::bench::seconds_now(firn::codec::bench::Clock::kThread);
  };
  double taken = 0;  // by forms that are decoded in every round
  for (int round = 0; round < kRoundsMin || taken < seconds; ++round) {
    std::vector<Symbol> symbols(code->length());
    for (Symbol& symbol : symbols) symbol = random.below(shape.q);
    const Bits received = transmit(code->encode(symbols), shape.channel(), random);
    FrameProblem problem;
    problem.received = received;
    for (std::size_t i = 0; i < forms.size(); ++i) {
      if (forms[i].slow() && round >= kRoundsMin) continue;
      // The second time: a bridge's bands are known then, as they are after some hundred frames.
      if (forms[i].options.bridge_exclusion > 0) decoders[i].decode(problem, solution);
      const double start = now();
      decoders[i].decode(problem, solution);
      const double each = now() - start;
      taken += forms[i].slow() ? 0 : each;
      if (solution.status != FrameStatus::kDecoded) continue;
      forms[i].seconds.push_back(each);
      forms[i].redone += solution.redone ? 1 : 0;
    }
  }
  Json row = described(shape, limits);
  row["corridor_nodes"] = corridor_nodes(shape, limits);
  for (const Timed& form : forms) {
    if (form.seconds.empty()) continue;
    row["ms"][form.name] = median(form.seconds) * 1e3;
    if (form.redone > 0) row["redone"][form.name] = form.redone;
  }
  row["rounds"] = forms.back().seconds.size();
  return row;
}

Json storage(const Shape& shape) {
  const StateLimits limits = endpoint_limits(shape.n, shape.length, shape.channel(), kExcluded);
  Json row = described(shape, limits);
  const double gamma = 8 * gamma_numbers(shape, limits);
  const double rows = 8.0 * 2 * (shape.length + 1) * limits.frame.size();  // alpha and beta
  row["global_bytes"] = gamma * shape.length + rows;
  row["local_bytes"] = gamma * kStreams + rows;
  return row;
}

// Frames in steps of 100 bits: the states grow with the frame, and so does the time to count them.
Json reach(int states, double p) {
  std::size_t fits = 0, fails = 1;
  const auto needs = [&](std::size_t steps) {
    return DriftLaw(steps * 100, {p, p, 0}).range(kExcluded).size();
  };
  while (needs(fails) <= states) {
    fits = fails;
    fails *= 2;
  }
  while (fails - fits > 1) {
    const std::size_t middle = (fits + fails) / 2;
    (needs(middle) <= states ? fits : fails) = middle;
  }
  return {{"p", p}, {"states", states}, {"bits", fits * 100}};
}

[[noreturn]] void usage() {
  std::fprintf(stderr,
               "usage: measure_sync times SECONDS n,q,N,p... | storage n,q,N,p... | "
               "reach STATES p...\n");
  std::exit(2);
}

Shape shape_of(const std::string& text) {
  Shape shape{};
  if (std::sscanf(text.c_str(), "%u,%u,%u,%lf", &shape.n, &shape.q, &shape.length, &shape.p) != 4 ||
      shape.length == 0 || !shape.channel().valid())
    usage();
  return shape;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 2) usage();
  const std::string& what = arguments[0];
  Json result = Json::array();
  if (what == "storage") {
    for (std::size_t i = 1; i < arguments.size(); ++i)
      result.push_back(storage(shape_of(arguments[i])));
  } else if (what == "times" || what == "reach") {
    const double number = std::atof(arguments[1].c_str());
    for (std::size_t i = 2; i < arguments.size(); ++i)
      result.push_back(what == "times"
                           ? times(shape_of(arguments[i]), number)
                           : reach(static_cast<int>(number), std::atof(arguments[i].c_str())));
  } else {
    usage();
  }
  std::printf(
      "%s\n",
      Json{{"cpu_kernels", firn::codec::lattice_kernels().name}, {"rows", result}}.dump().c_str());
}
