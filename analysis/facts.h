// What analysis knows of one source file: kernels, launches, accesses, diagnostics. Plain data, no
// Clang types.
//
// Broken user code is normal input: a fact that could not be had is absent, and `pass` says how
// much was parsed. Lines count from 1, columns from 1, both for people; ranges are byte offsets
// into the file's text. Thread: values, any; a published FileFacts is immutable (shared_ptr<const
// FileFacts>).
#pragma once

#include "support/model/graph.h"
#include "support/model/task.h"
#include "support/text.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::analysis {

enum class Pass {
  Scan, ///< tokens only: names and places of kernels and launches
  Stub, ///< parsed against the built-in CUDA declarations, no toolkit needed
  Full, ///< parsed against the user's real headers
};

enum class MemorySpace { Global, Shared, Local, Constant };

/// How the 32 threads of a warp touch memory in one execution of the access.
enum class AccessPattern {
  Coalesced, ///< neighbouring threads, neighbouring elements
  Broadcast, ///< one address for the whole warp
  Strided,   ///< a constant stride of more than one element; `stride` says which
  Irregular, ///< depends on data, or not affine in threadIdx
};

/// index = constant + sum of coefficient * symbol. Symbols: "threadIdx.x", "blockIdx.x",
/// "blockDim.x*blockIdx.x", loop variables and sizes by name; products of unknowns are one symbol,
/// spelled "row*N".
struct AffineIndex {
  bool affine = false;
  std::string text; ///< as written, whitespace normalised
  std::int64_t constant = 0;
  std::map<std::string, std::int64_t> coefficients;
  /// Symbolic factor of threadIdx.x when it is not a number: "N" in threadIdx.x * N.
  std::string symbolic_stride;
};

struct Access {
  std::string buffer; ///< parameter or variable that is the base
  MemorySpace space = MemorySpace::Global;
  AccessPattern pattern = AccessPattern::Irregular;
  bool is_write = false;
  bool is_atomic = false;
  AffineIndex index;
  std::optional<std::int64_t> stride; ///< in elements, where it is a number
  std::string element_type;
  int element_bytes = 0;
  int bank_conflict_ways = 1; ///< shared memory: requests a warp's access is split into; 1 is none
  int loop_depth = 0;
  Range range;
  std::size_t line = 0, column = 0;
};

struct Parameter {
  std::string name;
  std::string type;         ///< as written
  std::string element_type; ///< of a pointer, canonical and unqualified; else the type itself
  bool is_pointer = false;
  bool is_const = false; ///< the pointee, or the value
  bool is_restrict = false;
  bool is_read = false, is_written = false; ///< pointers: by this kernel or functions it calls
  Range range;
};

struct SharedArray {
  std::string name;
  std::string element_type;
  std::optional<std::int64_t> extent; ///< elements; absent when dynamic
  bool is_dynamic = false;            ///< extern __shared__
  Range range;
  std::size_t line = 0;
};

struct Barrier {
  std::string kind;          ///< "__syncthreads", "__syncwarp", "grid.sync", ...
  bool is_divergent = false; ///< under control flow that depends on threadIdx
  Range range;
  std::size_t line = 0;
};

/// A `k<<<grid, block, shared, stream>>>(arguments)` or an equivalent cudaLaunchKernel.
struct Launch {
  std::string kernel;
  std::string enclosing_function;
  std::string grid, block, shared, stream; ///< as written; empty when omitted
  std::vector<std::string> arguments;      ///< as written
  std::vector<std::string> template_arguments;
  Range range;                                 ///< the whole call, without the semicolon
  Range grid_range, block_range, shared_range; ///< of the expressions; empty when omitted
  std::size_t line = 0, column = 0;
};

/// One thing that task inference could not find out, as the question to the user.
struct MissingFact {
  std::string name;     ///< "n", "x.extent", "launch"
  std::string question; ///< "How many elements does x hold?"
  bool operator==(const MissingFact &) const = default;
};

struct InferredTask {
  bool inferred = false; ///< `task` is complete and may be handed to a runner
  model::Task task;
  std::vector<MissingFact> missing;
  std::vector<std::string> assumptions; ///< "x holds n elements, from the guard i < n on line 12"
  std::string comment; ///< of a C++ function over tensors: the structured comment to complete
};

/// Where the `forward` of a torch::nn::Module in C++ is written, and what its object holds as it was made for the task.
struct CppForward {
  Range range;       ///< its definition
  Range name_range;  ///< of "forward" in it
  Range declaration; ///< in the class, where the definition is not; else empty
  std::vector<std::pair<std::string, std::string>> numbers; ///< members and their values: "slope_", "0.1"
  /// Likewise parameters of the constructor; empty: it has none.
  std::vector<std::pair<std::string, std::string>> made_with;
  std::size_t constructor_body = 0; ///< behind its brace; 0: the file does not hold it
  std::size_t class_end = 0;        ///< before the class's closing brace
  std::string obstacle;             ///< why no other text can stand for forward; empty: it can
};

struct Kernel {
  std::string name;           ///< unqualified
  std::string qualified_name; ///< with namespaces
  bool is_template = false;
  std::vector<Parameter> parameters;
  std::vector<SharedArray> shared_arrays;
  std::vector<Barrier> barriers;
  std::vector<Access> accesses;
  bool uses_warp_operations = false;
  bool uses_atomics = false;
  bool has_divergence = false; ///< a branch that depends on threadIdx other than a bounds check
  /// Floating-point operations a byte of global memory, statically counted at unit trip counts of
  /// unknown loops.
  std::optional<double> arithmetic_intensity;
  std::optional<std::string>
      pattern;          ///< recognised computation: "matmul", "transpose", "row_reduction", ...
  Range range;          ///< the whole definition, attributes and template head included
  Range name_range;     ///< of the name in the definition
  Range body_range;     ///< with braces
  std::size_t line = 0; ///< of the name
  std::vector<std::size_t> launches; ///< indices into FileFacts::launches
  InferredTask task;
  std::string slice; ///< self-contained device source; empty when `slice_error` says why
  std::string slice_error;
  /// Of torch modules: the variant that the text holds for it, between its marks; empty: it is as its user wrote it.
  std::string applied_variant;
  std::optional<CppForward> forward; ///< of torch modules in C++
};

struct QuickFix {
  std::string title;
  std::vector<TextEdit> edits;
};

enum class Severity { Error, Warning, Information, Hint };

struct Diagnostic {
  std::string rule; ///< "uncoalesced-access", ... ; "syntax" for what the parser itself reports
  Severity severity = Severity::Warning;
  std::string message;
  Range range;
  std::size_t line = 0, column = 0;
  std::vector<QuickFix> fixes;
};

struct FileFacts {
  std::string path;
  Pass pass = Pass::Scan;
  std::vector<Kernel> kernels; ///< in the order of the text
  std::vector<Launch> launches;
  std::vector<Diagnostic> diagnostics;
};

} // namespace warpwright::analysis
