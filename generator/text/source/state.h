// A version of the user's file and the moves that led to it.
#pragma once

#include "analysis/analyze.h"
#include "arch/gpu.h"
#include "support/model/plan.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::source {

/// One legal transformation with its parameters, spelled "vectorize(width=4)".
struct Move {
  std::string name;
  std::map<std::string, std::string> parameters;
  bool operator==(const Move &) const = default;
  auto operator<=>(const Move &) const = default;
};
std::string to_string(const Move &move);
/// The moves as texts.
std::vector<std::string> to_strings(const std::vector<Move> &moves);
/// Errors: a text that is not of the form name(parameter=value,...).
Result<Move> move_from_string(const std::string &text);

/// The proposer of a state and its reasons; all empty for a state of the search itself.
struct Provenance {
  std::string proposer; ///< "builtin", "endpoint"
  /// Text for people: what bounds the kernel, which earlier version was faster and why.
  std::string analysis;
  std::optional<model::Plan> answer; ///< the proposer's whole plan, where no moves lead here
  std::string not_applicable;        ///< why `answer` is not in the file's text; empty: it is
};

/// A version of the user's file, reached from the original by `moves`.
struct State {
  analysis::SourceFile file;
  analysis::ParseSettings settings;
  std::string kernel; ///< name of the kernel to optimise
  std::vector<Move> moves;
  Provenance provenance;
  /// The GPU that decides numbers of blocks; the CPU backend where none is known.
  arch::Gpu gpu = arch::gpu_named("cpu").value();
};

} // namespace warpwright::source
