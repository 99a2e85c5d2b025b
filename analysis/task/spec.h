// The structured comment above a kernel, and the file that `--spec` names: what inference must take
// as given.
//
//   // warpwright: n = 1<<24, check n = 1000 | 12345
//   // warpwright: x: in float[n] normal, idx: in int[n] integers 0..m, out: out float[n]
//   // warpwright: alpha: float = 2.5, launch grid((n + 255) / 256) block(256) shared(0), tolerance 1e-4
//
// Items are separated by commas or line ends; a line that ends in a comma goes on in the next comment line.
//   NAME = EXPRESSION                     a size; with a point or exponent in it, a floating-point scalar
//   check NAME = INT [NAME = INT ...] | ...     further bindings of the sizes, `|` between them
//   NAME: [in|out|inout] [TYPE][EXTENT, EXTENT, ...] [normal | uniform | positive | zeros | integers LOW..HIGH]
//   NAME: TYPE = NUMBER                   a floating-point scalar
//   launch [KERNEL] grid(E, E, E) block(E, E, E) shared(E)
//   fill NAME = BYTE                      the buffer is set to BYTE before the launch
//   tolerance ABSOLUTE [RELATIVE]
// In a file the `//` and the `warpwright:` are left out; `#` starts a comment. Thread: values, any.
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
  std::optional<symbolic::Expression> extent;             ///< elements
  std::optional<std::vector<symbolic::Expression>> shape; ///< as written: one extent a dimension
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
};

/// The file form. Errors: "line 3, column 12: expected ..., found ...".
Result<Spec> parse_spec(const std::string &text);

/// The comment form, read from the comment lines above a kernel, a function or a class; empty without one.
struct CommentSpec {
  Spec spec;
  std::optional<Diagnostic> error; ///< rule "task-spec"
};
CommentSpec spec_above(const ParsedUnit &unit, const clang::NamedDecl &kernel);

/// A dtype as comments spell it: C's name where there is one that all know, "float", "int", else "int64".
std::string type_name(model::Dtype dtype);

/// What `later` says replaces what `spec` says.
void merge(Spec &spec, const Spec &later);

/// The errors of the specs above the file's kernels, as diagnostics with rule "task-spec".
std::vector<Diagnostic> spec_diagnostics(const ParsedUnit &unit);

} // namespace warpwright::analysis
