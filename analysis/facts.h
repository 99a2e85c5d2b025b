// Facts of one source file: kernels, launches, accesses and diagnostics. Plain data without Clang
// types.
//
// Broken user code is normal input: a fact that cannot be determined is absent, and `pass` tells
// how much was parsed. Lines and columns count from 1 and are meant for people; ranges are byte
// offsets into the file's text. Thread: any (plain values); a published FileFacts is immutable
// (shared_ptr<const FileFacts>).
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
  Coalesced, ///< neighboring threads access neighboring elements
  Broadcast, ///< one address for the whole warp
  Strided,   ///< a constant stride of more than one element; see `stride`
  Irregular, ///< depends on data, or not affine in threadIdx
};

/// index = constant + sum of coefficient * symbol. Symbols: "threadIdx.x", "blockIdx.x",
/// "blockDim.x*blockIdx.x", loop variables and sizes by name; products of unknowns are one symbol,
/// spelled "row*N".
struct AffineIndex {
  bool affine = false;
  std::string text; ///< as written, white space normalized
  std::int64_t constant = 0;
  std::map<std::string, std::int64_t> coefficients;
  /// Symbolic factor of threadIdx.x when it is not a number: "N" in threadIdx.x * N.
  std::string symbolic_stride;
};

struct Access {
  std::string buffer; ///< the parameter or variable that is the base
  MemorySpace space = MemorySpace::Global;
  AccessPattern pattern = AccessPattern::Irregular;
  bool is_write = false;
  bool is_atomic = false;
  AffineIndex index;
  std::optional<std::int64_t> stride; ///< in elements; absent unless it is a number
  std::string element_type;
  int element_bytes = 0;
  int bank_conflict_ways = 1; ///< shared memory: number of requests per warp access; 1: no conflict
  int loop_depth = 0;
  Range range;
  std::size_t line = 0, column = 0;
};

struct Parameter {
  std::string name;
  std::string type;         ///< as written
  std::string element_type; ///< canonical and unqualified pointee type; else the type itself
  bool is_pointer = false;
  bool is_const = false; ///< whether the pointee (or the value, if it is no pointer) is const
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

/// A launch `k<<<grid, block, shared, stream>>>(arguments)`.
struct Launch {
  std::string kernel;
  std::string enclosing_function;
  std::string grid, block, shared, stream; ///< as written; empty when omitted
  std::vector<std::string> arguments;      ///< as written
  std::vector<std::string> template_arguments;
  Range range;                                 ///< the whole call, without the semicolon
  Range grid_range, block_range, shared_range; ///< ranges of the expressions; empty when omitted
  std::size_t line = 0, column = 0;
};

/// A fact that task inference could not find, as a question to the user.
struct MissingFact {
  std::string name;     ///< "n", "x.extent", "launch"
  std::string question; ///< "How many elements does x hold?"
  bool operator==(const MissingFact &) const = default;
};

/// Elements of a buffer before a recorded launch.
struct CapturedValues {
  /// Quantiles: in no order; Sorted, Permutation: see model::Distribution
  model::Distribution::Kind kind = model::Distribution::Kind::Quantiles;
  std::vector<double> quantiles; ///< the values: as many as a model::Distribution has, ascending
};

/// A launch of the kernel as a run of the program had it.
struct CapturedLaunch {
  std::string source; ///< for people: "the run of ./main 4096 on 2026-11-26"
  std::string symbol; ///< mangled name of the kernel or its instance
  double mean_ns = 0; ///< GPU time of one of its runs; 0: none was timed
  std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::int64_t shared_bytes = 0;                     ///< dynamic shared memory of a block
  std::map<std::string, std::int64_t> integers;      ///< by parameter or field; 0 for a null pointer
  std::map<std::string, double> numbers;             ///< by parameter or field
  std::map<std::string, std::int64_t> extents_bytes; ///< by pointer
  /// By pointer; for each type that its elements could have.
  std::map<std::string, std::map<model::Dtype, CapturedValues>> values;
};

struct InferredTask {
  bool inferred = false; ///< `task` is complete and may be handed to a runner
  model::Task task;
  std::vector<MissingFact> missing;
  std::vector<std::string> assumptions; ///< "x holds n elements, from the guard i < n on line 12"
  std::string comment; ///< for a C++ function over tensors: the structured comment to complete
  std::optional<CapturedLaunch> captured; ///< of a recorded run, also where the task needs more than it says
};

/// The `forward` method of a torch::nn::Module in C++, with the member values of the task's object.
struct CppForward {
  Range range;       ///< the definition of forward
  Range name_range;  ///< the name "forward" in the definition
  Range declaration; ///< the declaration in the class if the definition is elsewhere; else empty
  std::vector<std::pair<std::string, std::string>> numbers; ///< members and their values: "slope_", "0.1"
  /// Constructor parameters and their values; empty: the class has no constructor.
  std::vector<std::pair<std::string, std::string>> made_with;
  std::size_t constructor_body = 0; ///< offset behind the opening brace; 0: in another file
  std::size_t class_end = 0;        ///< offset of the class's closing brace
  std::string obstacle;             ///< why forward cannot be replaced; empty: it can be
};

/// A C++ function over tensors that is the first part of another one (analysis/torch_cpp/cut.h):
/// its places in the source of its task. The kernel's own places are those of the whole function in
/// the file.
struct CppCut {
  Range range, name_range, body_range;
};

/// The GPU time of a kernel in a recorded run of the program.
struct CapturedTime {
  std::string source;     ///< "the run of ./main 4096 on 2026-11-26"
  std::uint64_t runs = 0; ///< launches, also as parts of graphs
  double total_ns = 0;
  double share = 0; ///< of the run's GPU time
  /// GPU time of one run of the launch that the task stands for. The kernel's other launches may be of other sizes.
  std::optional<double> launch_ns;
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
  /// Floating-point operations per byte of global memory, counted statically. Loops with an unknown
  /// trip count count once.
  std::optional<double> arithmetic_intensity;
  std::optional<std::string>
      pattern;          ///< recognized computation: "matmul", "transpose", "row_reduction", ...
  Range range;          ///< the whole definition, attributes and template head included
  Range name_range;     ///< the name in the definition
  Range body_range;     ///< the body with its braces
  std::size_t line = 0; ///< line of the name
  std::vector<std::size_t> launches; ///< indices into FileFacts::launches
  InferredTask task;
  std::string slice; ///< self-contained device source; empty when `slice_error` says why
  std::string slice_error;
  /// Torch modules: the applied variant. Python: the text between its marks; C++: "Warpwright's
  /// variant HASH of NAME."; empty: unchanged user code.
  std::string applied_variant;
  std::optional<CppForward> forward; ///< torch modules in C++ only
  std::optional<CppCut> cut;         ///< a part of a C++ function only
  std::optional<CapturedTime> captured;
};

struct QuickFix {
  std::string title;
  std::vector<TextEdit> edits;
};

enum class Severity { Error, Warning, Information, Hint };

struct Diagnostic {
  std::string rule; ///< "uncoalesced-access", ...; "syntax" for the parser's own reports
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
