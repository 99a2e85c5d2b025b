// Interface of a move: its name, and its offer in a state, which consists of the legal choices of
// parameters and the edits of each choice.
//
// Each move is one file in this folder and one line in registry.cpp. An offer must be cheap (no
// second parse) and must refuse with a reason every kernel that it cannot prove to be legal.
#pragma once

#include "generator/text/source/launch_site.h"

namespace warpwright::moves {

using Parameters = std::map<std::string, std::string>;

struct Offer {
  std::vector<Parameters> choices;
  /// Edits for one of `choices`. Errors: code that cannot be edited, such as macros.
  std::function<Result<source::Edits>(const Parameters &)> edits;
  /// The change of the launches by one of `choices`. Empty: the launches stay, or only their text tells the change.
  std::function<source::LaunchChange(const Parameters &)> launch_change{};
};

struct MoveKind {
  std::string_view name;
  bool is_template; ///< replaces the whole computation; the search tries templates first
  std::string_view effect; ///< for people: "a tree in shared memory becomes warp shuffles"
  std::string_view rule;   ///< the rule whose findings the move may remove; empty: none
  /// The offer for a kernel; the source must outlive it. Errors: the reason why the move is illegal.
  Result<Offer> (*offer)(const source::KernelSource &);
};

/// Every move, in the order in which they are proposed.
const std::vector<MoveKind> &move_registry();
/// The move of this name; null when there is none.
const MoveKind *find_move_kind(std::string_view name);

/// The offer of a match with these choices.
/// @param edits (match, choice) -> the edits of a choice
/// Errors: the error of `match`.
template <class Match, class Edit>
Result<Offer> offer_of(const Result<Match> &match, std::vector<Parameters> choices, Edit edits) {
  if (!match)
    return std::unexpected(match.error());
  return Offer{std::move(choices),
               [match = *match, edits](const Parameters &choice) { return edits(match, choice); }};
}

/// The value of a choice's parameter as a number.
int number(const Parameters &parameters, const std::string &name);

/// One choice of a single parameter for each value.
std::vector<Parameters> choices_of(const std::string &name, const std::vector<int> &values);
/// One choice of several parameters for each row of values.
std::vector<Parameters> choice_table(const std::vector<std::string> &names,
                                     const std::vector<std::vector<int>> &rows);

} // namespace warpwright::moves
