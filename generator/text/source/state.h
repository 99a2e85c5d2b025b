// A version of the user's file and the moves that led to it. Thread: values.
#pragma once

#include "analysis/analyze.h"
#include "arch/gpu.h"
#include "support/model/plan.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::generator {

/// One legal transformation with its parameters, spelled "vectorize(width=4)".
struct Move {
  std::string name;
  std::map<std::string, std::string> parameters;
  bool operator==(const Move &) const = default;
  auto operator<=>(const Move &) const = default;
};
std::string to_string(const Move &move);
Result<Move> move_from_string(const std::string &text);

/// Who proposed a state, and what it said; all empty of the search's own.
struct Provenance {
  std::string proposer; ///< "builtin", "endpoint"
  std::string
      analysis; ///< for people: what bounds the kernel, which earlier version was faster and why
  std::optional<model::Plan> answer; ///< a whole plan that it wrote, where no moves lead here
  std::string not_applicable;        ///< why `answer` is not in the file's text; empty: it is
};

/// A version of the user's file, reached from the original by `moves`.
struct State {
  analysis::SourceFile file;
  analysis::ParseSettings settings;
  std::string kernel; ///< name of the kernel that is optimised
  std::vector<Move> moves;
  Provenance provenance;
  /// That moves choose numbers of blocks for; the CPU backend's where none is known.
  arch::Gpu gpu = arch::gpu_named("cpu").value();
};

} // namespace warpwright::generator
