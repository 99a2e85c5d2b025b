// What a move is made of: a name, the legal choices of its parameters in a state, and the edits it makes.
//
// One file a move in this folder, one line each in registry.cpp. `check` must be cheap (no second parse) and
// must refuse with a reason what it cannot prove; `apply` is called only with parameters that `check` offered.
// Thread: that of the state's unit.
#pragma once

#include "generator/text/source/index_form.h"
#include "generator/text/source/launch_site.h"

namespace warpwright::generator {

using Parameters = std::map<std::string, std::string>;

/// Legal parameter choices; when there are none, `refusal` says why.
struct Choices {
  std::vector<Parameters> choices;
  std::string refusal;
  static Choices none(std::string reason) { return {{}, std::move(reason)}; }
};

using Edits = std::vector<TextEdit>;

struct MoveKind {
  std::string_view name;
  bool is_template; ///< replaces the whole computation: the search tries these first
  Choices (*check)(const KernelSource &);
  Result<Edits> (*apply)(const KernelSource &, const Parameters &);
};

/// Every move, in the order in which they are proposed.
const std::vector<MoveKind> &move_registry();
const MoveKind *find_move_kind(std::string_view name);

/// A parameter that `check` offered, as a number.
int number(const Parameters &parameters, const std::string &name);

/// One choice of a single parameter for each value.
std::vector<Parameters> choices_of(const std::string &name, const std::vector<int> &values);

} // namespace warpwright::generator
