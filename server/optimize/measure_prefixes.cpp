#include "server/optimize/measure_prefixes.h"

#include <algorithm>
#include <span>

namespace warpwright::server {
namespace {

bool was_tried(const std::vector<search::Variant> &tried, std::span<const source::Move> moves) {
  return std::ranges::any_of(tried, [&](const search::Variant &variant) {
    return std::ranges::equal(variant.state.moves, moves);
  });
}

/// The original after these moves. Errors: a move that is not legal there, or a state without a plan.
Result<search::Variant> variant_of(source::State state, const model::Task &task,
                                   std::span<const source::Move> moves) {
  for (const source::Move &move : moves)
    state = TRY(states::apply_move(state, move));
  model::Plan plan = TRY(states::render_plan(state, task));
  return search::Variant{std::move(state), std::move(plan), {}};
}

} // namespace

void measure_prefixes(const source::State &original, const model::Task &task,
                      const std::vector<search::Variant> &tried, const search::TextSearchEvents &events,
                      std::chrono::steady_clock::time_point deadline, std::stop_token stop) {
  const search::Variant *best = search::best_variant(tried);
  if (!best || !best->verdict.speedup || best->state.provenance.answer)
    return;
  const std::span<const source::Move> moves = best->state.moves;
  for (std::size_t count = 1; count < moves.size(); ++count) {
    if (stop.stop_requested() || std::chrono::steady_clock::now() >= deadline)
      return;
    const auto prefix = moves.first(count);
    if (was_tried(tried, prefix))
      continue;
    auto variant = variant_of(original, task, prefix);
    if (!variant)
      continue; // the next prefix then holds the contributions of both moves
    variant->verdict = events.evaluate(task, variant->plan, stop);
    if (!stop.stop_requested())
      events.on_variant(*variant, tried.size());
  }
}

} // namespace warpwright::server
