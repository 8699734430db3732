#include "client/app/push/host_push.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/app/console/json_members.h"
#include "client/app/console/quantities.h"
#include "client/app/push/ssh_faults.h"

namespace firn::app {
namespace {

using core::TimeUs;

constexpr std::size_t kNoiseMax = 64 << 10;  // what a login shell may say first
constexpr std::size_t kLineMax = 4096;
constexpr std::size_t kTextMax = 500;  // of what is shown
constexpr int kOwnCodeOfSsh = 255;     // ssh's own exit code
constexpr std::string_view kAnswer = "firn-push ";
// A remote ends its download by itself; after this time it does not answer.
constexpr TimeUs kTimeoutSlack = 5 * core::kSecond;

std::string next_word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t end = std::min(text.find(' ', begin), text.size());
  std::string word(text.substr(begin, end - begin));
  text.remove_prefix(end);
  return word;
}

std::uint64_t count_of(const Json& json, const char* name) {
  constexpr double kMax = 1ull << 53;
  return static_cast<std::uint64_t>(std::clamp(number_of(json, name), 0.0, kMax));
}

bool is_ip(const std::string& text) {
  in6_addr address;  // room for both
  if (text.find('\0') != std::string::npos) return false;
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

}  // namespace

HostPush::HostPush(const PushPlan& plan, PushHost host) : plan_(plan) {
  row_.host = std::move(host.host);
  row_.dir = std::move(host.dir);
}

// --- the life of its ssh ---

void HostPush::started(TimeUs now) {
  row_.state = HostState::kConnecting;
  running_ = true;
  began_at_ = progressed_at_ = now;
}

void HostPush::not_started(const std::string& why) {
  row_.state = HostState::kFailed;
  row_.reason = why;
}

void HostPush::ended(int code, int signal, TimeUs now) {
  running_ = false;
  row_.code = signal != 0 ? 128 + signal : code;
  row_.last = lines_.last();
  if (done()) return;
  const bool refused = !other_version_.empty() && !peer_ && signal == 0 && code != kOwnCodeOfSsh;
  give_up(refused ? other_firn_fault(other_version_, plan_.version)
                  : fault_of({row_.host, lines_.lines(), code, signal, speech_ != Speech::kNoise}),
          now);
}

void HostPush::end(TimeUs now) {
  if (!running_ || end_by_ != core::kNever) return;
  end_by_ = now + kEndTime;
  if (speech_ == Speech::kFrames) return send({{"end", true}});
  steps_.push_back(EndSsh{});
}

void HostPush::give_up(std::string reason, TimeUs now) {
  if (done()) return;
  show(now);
  row_.state = HostState::kFailed;
  row_.reason = std::move(reason);
  row_.reason.resize(std::min(row_.reason.size(), kTextMax));
  row_.rate = 0;
  row_.last = lines_.last();
}

void HostPush::break_off(std::string reason, TimeUs now) {
  give_up(std::move(reason), now);
  broken_off_ = true;
  end_by_ = std::min(end_by_, now + kEndTime);
  if (running_) steps_.push_back(EndSsh{});
}

void HostPush::no_firn_speaks(TimeUs now) {
  break_off("what answers there is not firn, or another version of it", now);
}

TimeUs HostPush::patience_ends() const {
  if (done() || !running_) return core::kNever;
  if (logs_in()) return progressed_at_ + plan_.login_time;
  if (plan_.timeout == core::kNever) return core::kNever;
  return progressed_at_ + plan_.timeout + kTimeoutSlack;
}

void HostPush::wake(TimeUs now) {
  if (now >= end_by_) {
    end_by_ = core::kNever;
    if (running_) steps_.push_back(EndSsh{true});
  }
  if (now >= patience_ends()) {
    const bool login = logs_in();
    const std::string waited = format_duration(login ? plan_.login_time : plan_.timeout);
    const char* const what = row_.state == HostState::kConnecting ? "no login"
                             : login                              ? "firn did not start there"
                                                                  : "nothing came";
    const std::string why = row_.reason.empty() ? "" : ": " + row_.reason;
    return break_off(fmt::format("{} within {}{}", what, waited, login ? "" : why), now);
  }
  if (!row_.way.empty() || done()) endpoint_.reset();
  if (endpoint_) connect(now);
}

// Others may send to it all the while: then it needs no connection of ours.
void HostPush::connect(TimeUs now) {
  if (!called_ && now >= ready_at_ + kCallAfter) {
    called_ = true;
    if (!endpoint_->ip.empty()) steps_.push_back(CallPeer{*endpoint_});
  }
  if (tunnel_ || now < progressed_at_ + kTunnelAfter) return;
  tunnel_ = true;
  send({{"tunnel", true}});
  steps_.push_back(OpenTunnel{endpoint_->id});
}

TimeUs HostPush::next_wake() const {
  TimeUs way = core::kNever;
  if (endpoint_ && !called_) {
    way = ready_at_ + kCallAfter;
  } else if (endpoint_ && !tunnel_) {
    way = progressed_at_ + kTunnelAfter;
  }
  return std::min({patience_ends(), end_by_, way});
}

void HostPush::show(TimeUs now) {
  if (begun() && !done()) row_.seconds = 1e-6 * static_cast<double>(now - began_at_);
}

std::vector<PushStep> HostPush::take_steps() {
  return std::exchange(steps_, {});
}

// --- what it says before firn runs there ---

void HostPush::output(std::string_view bytes, TimeUs now) {
  while (speech_ != Speech::kFrames && !bytes.empty()) {
    if (broken_off_) return;
    if (speech_ == Speech::kNoise && (noise_bytes_ += 1) > kNoiseMax)
      return break_off("something else than a shell answers there: no answer of firn's in 64 KiB",
                       now);
    const char c = bytes.front();
    bytes.remove_prefix(1);
    if (c != '\n') {
      if (line_.size() < kLineMax) line_ += c;
      continue;
    }
    line(std::exchange(line_, {}), now);
  }
  if (bytes.empty() || broken_off_) return;
  reader_.feed(bytes);
  while (!broken_off_) {
    auto next = reader_.next();
    if (!next.ok()) return no_firn_speaks(now);
    if (!*next) return;
    frame(*std::move(*next), now);
  }
}

void HostPush::line(std::string_view text, TimeUs now) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (!text.starts_with(kAnswer)) return;
  text.remove_prefix(kAnswer.size());
  const std::string word = next_word(text);
  if (speech_ == Speech::kNoise) {
    if (word == "1") answered(text, now);
    return;
  }
  if (word == "install") return install(now);
  if (word == "start") return begin_frames(now);
  if (word == "failed") {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    break_off(text.empty() ? "it could not start firn" : std::string(text), now);
  }
}

void HostPush::answered(std::string_view words, TimeUs now) {
  speech_ = Speech::kOrders;
  row_.state = HostState::kStarting;
  progressed_at_ = now;
  const std::string machine = next_word(words), glibc = next_word(words);
  const std::string version = next_word(words);
  const bool other = version != "-" && version != plan_.version;
  if (other && !plan_.program) other_version_ = version;
  if (version == plan_.version || !other_version_.empty()) return write("run\n");
  if (!plan_.program) return break_off(no_firn_fault(), now);
  if (const std::string fault = plan_.program->fault(machine, glibc); !fault.empty())
    return break_off(fault, now);
  write("cached " + plan_.program->digest + "\n");
}

void HostPush::install(TimeUs now) {
  if (!plan_.program) return no_firn_speaks(now);
  progressed_at_ = now;
  write(fmt::format("install {} {}\n", plan_.program->archive->size(), plan_.program->digest));
  steps_.push_back(WriteInput{plan_.program->archive});
}

void HostPush::begin_frames(TimeUs now) {
  speech_ = Speech::kFrames;
  row_.state = HostState::kReceiving;
  progressed_at_ = now;
  PushOrder order = plan_.order;
  order.dir = row_.dir;
  write(push_frame(PushFrameKind::kControl, order_text(order)));
}

// --- what firn says there ---

void HostPush::frame(PushFrame frame, TimeUs now) {
  if (frame.kind != PushFrameKind::kControl) {
    if (!tunnel_) return no_firn_speaks(now);
    return steps_.push_back(GiveTunnel{std::move(frame)});
  }
  const Json said = Json::parse(frame.payload, nullptr, false);
  if (!said.is_object()) return no_firn_speaks(now);
  if (said.contains("ready")) return ready(said, now);
  if (const auto found = said.find("progress"); found != said.end() && found->is_object())
    return progress(*found, now);
  if (said.contains("complete")) complete(now);
}

void HostPush::ready(const Json& said, TimeUs now) {
  const auto peer = PeerId::from_text(text_of(said, "peer"));
  const double port = number_of(said, "ready");
  if (peer_ || !peer || port < 1 || port > 0xffff || port != std::floor(port))
    return no_firn_speaks(now);
  peer_ = peer;
  ready_at_ = progressed_at_ = now;
  port_ = fmt::format(":{}", static_cast<int>(port));
  const std::string ip = text_of(said, "address");
  endpoint_ = {*peer, is_ip(ip) ? ip : "", static_cast<std::uint16_t>(port)};
  steps_.push_back(TellOthers{*endpoint_});
}

void HostPush::progress(const Json& said, TimeUs now) {
  if (done()) return;
  const std::uint64_t total = count_of(said, "total");
  const std::uint64_t done = std::min(count_of(said, "done"), total);
  if (done > row_.done || total != row_.total || said.contains("checks")) progressed_at_ = now;
  row_.done = done;
  row_.total = total;
  row_.rate = std::clamp(number_of(said, "rate"), 0.0, 1e15);
  row_.reason = text_of(said, "reason").substr(0, kTextMax);
}

void HostPush::complete(TimeUs now) {
  if (done() || !peer_) return;
  show(now);
  row_.state = HostState::kComplete;
  row_.done = row_.total;
  row_.rate = 0;
  row_.reason.clear();
}

// A side that was called has the port that it listens at, one that called has some other.
void HostPush::connected(std::string_view endpoint, std::string_view tunnel) {
  row_.way = endpoint == tunnel          ? "through ssh"
             : endpoint.ends_with(port_) ? "called it"
                                         : "it called";
}

// --- what it is told ---

void HostPush::tell_peers(const std::vector<std::string>& peers) {
  if (speech_ == Speech::kFrames && running_ && !peers.empty()) send({{"peers", peers}});
}

void HostPush::send_tunnel(PushFrameKind kind, std::string_view bytes) {
  if (running_) write(push_frame(kind, bytes));
}

void HostPush::write(std::string bytes) {
  steps_.push_back(WriteInput{std::make_shared<const std::string>(std::move(bytes))});
}

void HostPush::send(const Json& message) {
  write(push_frame(PushFrameKind::kControl, message.dump()));
}

}  // namespace firn::app
