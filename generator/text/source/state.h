// Versions of the user's file, and the moves that lead to them.
#pragma once

#include "analysis/analyze.h"
#include "arch/gpu.h"
#include "support/model/plan.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::source {

/// One legal transformation with its parameters, as text "vectorize(width=4)".
struct Move {
  std::string name;
  std::map<std::string, std::string> parameters;
  bool operator==(const Move &) const = default;
  auto operator<=>(const Move &) const = default;
};
std::string to_string(const Move &move);
/// The moves as texts.
std::vector<std::string> to_strings(const std::vector<Move> &moves);
/// The move of a text. Errors: a text that is not of the form name(parameter=value,...).
Result<Move> move_from_string(const std::string &text);

/// The proposer of a state and its reasons; all empty for a state of the search itself.
struct Provenance {
  std::string proposer; ///< "builtin", "endpoint"
  /// Text for people: the kernel's bottleneck, which earlier version was faster and why.
  std::string analysis;
  std::optional<model::Plan> answer; ///< the proposer's whole plan, in place of moves
  std::string not_applicable;        ///< reason why the file's text lacks `answer`; empty if written
};

/// The change of a launch by a move.
struct LaunchChange {
  int grid_factor = 1;                       ///< of the grid's first extent, before all else
  std::array<int, 3> grid_divisors{1, 1, 1}; ///< of the grid's extents, rounded up
  /// New extents of the block; 0: as before. The grid then has as many threads as before along the axis, rounded up.
  std::array<int, 3> block{0, 0, 0};
};

/// A version of the user's file, reached from the original by `moves`.
struct State {
  analysis::SourceFile file;
  analysis::ParseSettings settings;
  std::string kernel; ///< name of the kernel to optimize
  std::vector<Move> moves;
  Provenance provenance;
  /// The GPU that determines numbers of blocks; the CPU backend when no GPU is known.
  arch::Gpu gpu = arch::gpu_named("cpu").value();
  /// Values of the kernel's parameters at the task's sizes; nullopt for other than integers. Empty: there is no task.
  std::vector<std::optional<std::int64_t>> arguments{};
  /// Extents of the grid, then of the block, at the task's sizes. Empty: they are not known.
  std::vector<std::int64_t> extents{};
  /// The task's launch is one of a recorded run, and the host code does not tell it: only moves that state
  /// their LaunchChange may change it.
  bool keeps_launch = false;
  /// The changes of the launch by the moves that have a LaunchChange, in their order.
  std::vector<LaunchChange> launch_changes{};
  /// The file that includes `file`, if it launches the kernel: moves change both. Empty path: there is none.
  analysis::SourceFile includer{};

  /// The text that moves edit: that of `file`, and behind kTextEnd that of `includer` if there is one.
  std::string text() const;
  void set_text(std::string text);
};

/// The name of a kernel without its namespaces and template arguments.
std::string base_name(const std::string &kernel);

/// Stands between the texts of two files; State has no includer if a text contains it.
inline constexpr char kTextEnd = '\0';

/// Parses the state's texts against the built-in declarations. Errors: as analysis::parse_stub().
Result<std::unique_ptr<analysis::ParsedUnit>> parse(const State &state);

} // namespace warpwright::source
