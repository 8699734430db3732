// What a neighbour is to be told of this peer: which generations have changed since its last State,
// up to which block its blocks have arrived, and when the next State is due.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/core/base/types.h"
#include "client/core/neighbour/agenda.h"
#include "client/core/rows/generation_set.h"
#include "proto/messages.h"

namespace firn::core {

// Reports on what others pass on. Half: home +9 %, as States cost; double: +5 % with polluters, who
// are found late [096].
inline constexpr TimeUs kReportInterval = 1 * kSecond;

// Generations that all neighbours are to be told of again, in the order of their last change. Each
// neighbour remembers up to which change it has been told, so a change costs the same however many
// neighbours there are: the work for each is done when its State is made.
class ChangeLog {
 public:
  void add(std::uint32_t g) {
    const auto known = number_of_.find(g);
    if (unread_ && known != number_of_.end() && known->second == last_) return;
    drop(g);
    changes_.emplace_hint(changes_.end(), ++last_, g);
    number_of_[g] = last_;
    unread_ = true;
  }
  // Nobody is to be told of it any more.
  void drop(std::uint32_t g) {
    const auto known = number_of_.find(g);
    if (known == number_of_.end()) return;
    changes_.erase(known->second);
    number_of_.erase(known);
  }
  // The number of the last change, up to which a neighbour knows all.
  std::uint64_t mark() {
    unread_ = false;
    return last_;
  }
  // Something has changed since this number.
  bool any_since(std::uint64_t number) const {
    return !changes_.empty() && changes_.rbegin()->first > number;
  }
  // f(generation) for each that has.
  template <typename F>
  void each_since(std::uint64_t number, F&& f) const {
    for (auto it = changes_.upper_bound(number); it != changes_.end(); ++it) f(it->second);
  }

  // --- neighbours that have nothing else to be told ---
  // They are to be looked at with the next change.
  void rests(PeerKey peer) { resting_.push_back(peer); }
  void neighbour_left(PeerKey peer) { std::erase(resting_, peer); }
  std::vector<PeerKey> take_resting() { return std::exchange(resting_, {}); }

 private:
  std::map<std::uint64_t, std::uint32_t> changes_;  // by number
  std::unordered_map<std::uint32_t, std::uint64_t> number_of_;
  std::uint64_t last_ = 0;
  bool unread_ = false;  // nobody knows of the last change
  std::vector<PeerKey> resting_;
};

class Untold {
 public:
  // Where it is noted when the next State to this neighbour is due, from the first State on.
  // `log`: of what all are told of; both must outlive it.
  void note_in(Agenda& agenda, ChangeLog& log, PeerKey peer) {
    agenda_ = &agenda;
    log_ = &log;
    peer_ = peer;
  }

  // The first State: everything this peer holds. Lists ascend.
  void begin(std::vector<std::uint32_t> complete, std::vector<std::uint32_t> unwanted,
             std::vector<std::uint32_t> withdrawn, std::vector<std::uint32_t> changed);
  // The neighbour lacks the manifest: no State is sent before begin().
  void suspend();
  // The first State has been made.
  bool begun() const { return begun_; }

  // The neighbour is to be told of generation g: its rank and quota have changed.
  void report(std::uint32_t g);
  // This peer holds g in whole.
  void report_complete(std::uint32_t g);
  // As report_complete, soon: no neighbour need send more of g.
  void report_verified(std::uint32_t g);
  // This peer held g in whole and cannot serve it any more, nor wants it.
  void report_withdrawn(std::uint32_t g);
  // This peer does not want these any more, which it does not hold in whole; soon. Of others that
  // wait to be told so, only those that are still `settled` (Holdings).
  void report_unwanted(const std::vector<std::uint32_t>& generations, const GenerationSet& settled);
  // This peer does not hold g in whole any more; soon.
  void report_lost(std::uint32_t g);
  // To be told with the rank of g: a vector orthogonal to all that this peer holds of it.
  void attach_null_vector(std::uint32_t g, const std::vector<std::uint8_t>& z);
  // Which blocks this peer takes has changed; soon.
  void report_terms();
  // Blocks up to this number have arrived from the neighbour.
  void arrived(std::uint32_t sequence);
  bool pending() const {
    return terms_ || !changed_.empty() || (log_ && log_->any_since(told_to_)) ||
           !complete_.empty() || !unwanted_.empty() || !withdrawn_.empty() ||
           acknowledged_ != arrived_;
  }

  // Verified generations, or ones lost for good, are among it.
  bool complete_pending() const { return !complete_.empty() || !withdrawn_.empty(); }

  // --- for the State that is being made ---
  std::uint32_t take_acknowledgement() { return acknowledged_ = arrived_; }
  // How many connections this peer has; 0 where the neighbour knows.
  std::uint32_t take_connections(std::uint32_t connections);
  // As runs of generations, at most `spans_max`.
  using Spans = std::vector<proto::Span>;
  Spans take_complete(std::size_t spans_max) { return take_spans(complete_, spans_max); }
  Spans take_unwanted(std::size_t spans_max) { return take_spans(unwanted_, spans_max); }
  Spans take_withdrawn(std::size_t spans_max) { return take_spans(withdrawn_, spans_max); }
  // The lowest changed generations, at most `count_max`, of the log's as well.
  std::vector<std::uint32_t> take_changed(std::size_t count_max);
  // Empty where none is attached.
  std::vector<std::uint8_t> take_null_vector(std::uint32_t g);
  // Whether a report (kReportInterval) goes with it.
  bool report_due(TimeUs now);
  // The State has been made.
  void told(TimeUs now);
  // The log is about to take a change: whoever had nothing to be told has from now on.
  void stir();
  bool resting() const { return resting_; }

  TimeUs last_state() const { return last_state_; }
  // Something in it should be told soon.
  bool urgent() const { return urgent_; }
  // When the next State is due, as worked out last; 0: it is to be worked out.
  TimeUs due() const { return due_; }
  void set_due(TimeUs due) {
    due_ = due;
    if (agenda_) agenda_->note(due, peer_);
  }
  // The next State may be due at another time than was worked out.
  void touch() {
    if (due_ == 0) return;
    due_ = 0;
    if (agenda_) agenda_->touch(peer_);
  }

 private:
  // The generations as runs, at most `spans_max` of them; those told are taken out.
  static Spans take_spans(std::vector<std::uint32_t>& generations, std::size_t spans_max);
  void note(std::uint32_t g);

  TimeUs due_ = 0;
  Agenda* agenda_ = nullptr;
  ChangeLog* log_ = nullptr;
  PeerKey peer_ = kNoPeer;
  bool resting_ = false;       // ChangeLog::rests
  std::uint64_t told_to_ = 0;  // number of the last change in the log that is known here
  std::uint32_t arrived_ = 0;
  std::uint32_t acknowledged_ = 0;
  bool begun_ = false;
  bool urgent_ = false;
  bool terms_ = false;
  TimeUs reported_ = 0;
  std::uint32_t connections_told_ = 0;
  TimeUs last_state_ = -kSecond;
  std::vector<std::uint32_t> changed_;  // ascending
  std::vector<std::uint32_t> complete_;
  std::vector<std::uint32_t> unwanted_;
  std::vector<std::uint32_t> withdrawn_;
  std::map<std::uint32_t, std::vector<std::uint8_t>> null_vectors_;  // to attach once
};

}  // namespace firn::core
