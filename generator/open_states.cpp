#include "generator/open_states.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

constexpr std::size_t kKept = 4; ///< the source as it is, and the end of the walk

} // namespace

Result<const KernelSource *> OpenStates::open(const State &state) {
  const auto known = std::ranges::find_if(open_, [&](const Open &open) {
    return open.text == state.file.text && open.kernel == state.kernel &&
           open.flags == state.settings.flags;
  });
  if (known != open_.end()) {
    std::rotate(open_.begin(), known, known + 1);
    return open_.front().source.get();
  }
  auto source = KernelSource::open(state);
  if (!source)
    return std::unexpected(source.error());
  if (open_.size() == kKept)
    open_.pop_back();
  open_.push_front({state.kernel, state.file.text, state.settings.flags,
                    std::make_unique<KernelSource>(std::move(*source))});
  return open_.front().source.get();
}

Result<std::vector<Move>> OpenStates::legal(const State &state) {
  auto source = open(state);
  if (!source)
    return std::unexpected(source.error());
  return legal_moves(**source);
}

Result<State> OpenStates::apply(const State &state, const Move &move) {
  auto source = open(state);
  return source ? apply_move(**source, state, move)
                : Result<State>(std::unexpected(source.error()));
}

} // namespace warpwright::generator
