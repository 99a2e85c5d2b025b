// Facts that inference must accept: the structured comment above a kernel, and the file of
// `--spec`.
//
//   // warpwright: n = 1<<24, check n = 1000 | 12345
//   // warpwright: x: in float[n] normal, idx: in int[n] integers 0..m, out: out float[n]
//   // warpwright: alpha: float = 2.5, launch grid((n + 255) / 256) block(256) shared(0), tolerance 1e-4
//
// Commas or line ends separate the items. After a comma at its end, a line continues in the next
// comment line.
//   NAME = EXPRESSION                     a size; with a point or exponent in it, a floating-point scalar
//   check NAME = INT [NAME = INT ...] | ...     further bindings of the sizes, `|` between them
//   NAME: [in|out|inout] [TYPE][EXTENT, EXTENT, ...] [normal | uniform | positive | zeros | integers LOW..HIGH]
//   NAME: TYPE = NUMBER                   a floating-point scalar
//   launch [KERNEL] grid(E, E, E) block(E, E, E) shared(E)
//   fill NAME = BYTE                      the buffer is set to BYTE before the launch
//   tolerance ABSOLUTE [RELATIVE]
// A `--spec` file has the same items without `//` and `warpwright:`; `#` starts a comment in it.
// Thread: any (plain values).
#pragma once

#include "analysis/parsed_unit.h"
#include "support/model/task.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::analysis {

struct BufferSpec {
  std::optional<model::Direction> direction;
  std::optional<model::Dtype> dtype;
  std::optional<symbolic::Expression> extent;             ///< number of elements
  std::optional<std::vector<symbolic::Expression>> shape; ///< as written: one extent per dimension
  std::optional<model::Distribution> distribution;
};

struct LaunchSpec {
  std::string kernel; ///< empty: the kernel below the comment
  std::array<symbolic::Expression, 3> grid{1, 1, 1}, block{1, 1, 1};
  symbolic::Expression shared_bytes;
};

struct Spec {
  symbolic::Sizes sizes;
  std::vector<symbolic::Sizes> check_sizes;
  std::map<std::string, BufferSpec> buffers;
  std::map<std::string, double> scalars;
  std::map<std::string, int> fills;
  std::optional<LaunchSpec> launch;
  std::optional<model::Tolerance> tolerance;
  /// Gives what neither this spec nor the host code does. Not part of a comment.
  std::optional<CapturedLaunch> captured;
};

/// Parses the file form. Errors: "line 3, column 12: expected ..., found ...".
Result<Spec> parse_spec(const std::string &text);

/// The comment form, from the comment lines above a kernel, a function or a class; empty if there
/// are none.
struct CommentSpec {
  Spec spec;
  std::optional<Diagnostic> error; ///< has the rule "task-spec"
};
CommentSpec spec_above(const ParsedUnit &unit, const clang::NamedDecl &kernel);

/// A dtype as spelled in comments: the common C name such as "float" or "int", else a name such as
/// "int64".
std::string type_name(model::Dtype dtype);

/// Overrides the facts of `spec` with those of `later`.
void merge(Spec &spec, const Spec &later);

/// The errors of the specs above the file's kernels, as diagnostics with the rule "task-spec".
std::vector<Diagnostic> spec_diagnostics(const ParsedUnit &unit);

} // namespace warpwright::analysis
