// Cache of recently used states by their text; see open_states.h.
#include "generator/text/states/open_states.h"

#include "analysis/guard/guard.h"

#include <algorithm>

namespace warpwright::states {
namespace {

constexpr std::size_t kKept = 4; // the original source, and the latest states of the search

} // namespace

Result<std::shared_ptr<const source::KernelSource>> OpenStates::open(const source::State &state) {
  const std::string text = state.text();
  const auto known = std::ranges::find_if(open_, [&](const Open &open) {
    return open.text == text && open.kernel == state.kernel &&
           open.flags == state.settings.flags && open.arguments == state.arguments;
  });
  if (known != open_.end()) {
    std::rotate(open_.begin(), known, known + 1);
    return open_.front().source;
  }
  auto source = analysis::guarded(analysis::kCommandLimits,
                                  [state] { return source::KernelSource::open(state); });
  if (!source)
    return std::unexpected(source.error());
  if (open_.size() == kKept)
    open_.pop_back();
  open_.push_front({state.kernel, text, state.settings.flags, state.arguments,
                    std::make_shared<const source::KernelSource>(std::move(*source))});
  return open_.front().source;
}

Result<std::vector<source::Move>> OpenStates::legal(const source::State &state) {
  auto source = open(state);
  if (!source)
    return std::unexpected(source.error());
  return without_repeats(
      TRY(analysis::guarded(analysis::kCommandLimits,
                            [source = *source]() -> Result<std::vector<source::Move>> { return legal_moves(*source); })),
      state);
}

Result<source::State> OpenStates::apply(const source::State &state, const source::Move &move) {
  auto source = open(state);
  if (!source)
    return std::unexpected(source.error());
  return analysis::guarded(analysis::kCommandLimits, [source = *source, state, move] {
    return apply_move(*source, state, move);
  });
}

} // namespace warpwright::states
