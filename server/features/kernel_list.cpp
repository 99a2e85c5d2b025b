// Kernels of a file as items of a list: state, text and verified variants.
#include "server/features/features.h"

#include "server/measured_text.h"
#include "support/model/json.h"

namespace warpwright::server::features {

namespace {

constexpr std::size_t kMaxVariants = 12;

const char *state_name(KernelState state) {
  switch (state) {
  case KernelState::NotMeasured:
    return "notMeasured";
  case KernelState::MissingFacts:
    return "missingFacts";
  case KernelState::Queued:
    return "queued";
  case KernelState::Measuring:
    return "measuring";
  case KernelState::Faster:
    return "faster";
  case KernelState::Checked:
    return "checked";
  case KernelState::NothingFaster:
  case KernelState::Outrun: // a detail in the item's text
    return "nothingFaster";
  case KernelState::Applied:
    return "applied";
  case KernelState::Stale:
    return "stale";
  }
  return "notMeasured";
}

protocol::VariantItem variant_item(const runner::LedgerEntry &entry) {
  const model::Verdict &verdict = entry.verdict;
  protocol::VariantItem item{model::hash(entry.plan), apply_title(entry), {},
                             verdict.device.name,     verdict.date,       {}};
  for (const std::string &move : entry.plan.moves)
    item.moves.push_back(move_text(move));
  if (!entry.proposed.by.empty()) {
    item.proposed_by = entry.proposed.by;
    item.analysis = entry.proposed.analysis;
  }
  if (is_faster(verdict))
    item.speedup = protocol::SpeedupItem{verdict.speedup->ratio, verdict.speedup->low,
                                         verdict.speedup->high, verdict.speedup->device};
  return item;
}

} // namespace

std::vector<protocol::KernelItem> kernel_items(const Context &context) {
  std::vector<protocol::KernelItem> items;
  for (const analysis::Kernel &kernel : context.snapshot.facts.kernels) {
    const KernelStatus status = context.status(kernel);
    const auto &module = kernel.task.task.module;
    protocol::KernelItem item{context.snapshot.uri,
                              kernel.name,
                              module ? module->language : "cuda",
                              state_name(status.state),
                              state_line(context, kernel).text,
                              context.snapshot.positions.range(kernel.name_range),
                              {}};
    for (const runner::LedgerEntry *entry : status.offered)
      if (item.variants.size() < (module ? 1 : kMaxVariants)) // see code_actions.cpp
        item.variants.push_back(variant_item(*entry));
    items.push_back(std::move(item));
  }
  return items;
}

} // namespace warpwright::server::features
