#include "client/app/daemon/transfer_limits.h"

namespace firn::app {

Result<TransferLimits> TransferLimits::restore(ContentsStore& store, ConfiguredLimits configured) {
  const auto kept = store.limits();
  if (!kept.ok()) return kept.error();
  return TransferLimits(store, std::move(configured), *kept);
}

Status TransferLimits::change(const LimitChange& change) {
  const LimitValues changed = change.applied_to(kept_);
  if (changed == kept_) return Done{};
  if (const Status kept = store_->keep_limits(changed); !kept.ok()) return kept;
  kept_ = changed;
  return Done{};
}

LimitValues TransferLimits::whole_at(std::time_t time) const {
  LimitValues limits = whole();
  if (const ScheduleRule* const rule = configured_.schedule.at(time)) {
    limits.up = rule->up.value_or(limits.up);
    limits.down = rule->down.value_or(limits.down);
  }
  return limits;
}

LimitValues TransferLimits::of_content(const LimitValues& own) const {
  const LimitValues all = whole();
  return own.or_else(
      {configured_.content_up, configured_.content_down, all.seed_ratio, all.seed_seconds});
}

}  // namespace firn::app
