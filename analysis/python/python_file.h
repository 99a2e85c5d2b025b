// A Python source as its outline: what its top level holds, classes with their methods, comments.
//
// Broken code is normal input: what the parser recovered is there, the rest is missing. Nothing is imported or run, so names that only
// running would bind are not known. Ranges are bytes of the text; lines count from 1. Thread: values, any.
#pragma once

#include "support/error.h"
#include "support/text.h"

#include <set>
#include <string>
#include <vector>

namespace warpwright::analysis {

struct PythonParameter {
  std::string name;
  bool has_default = false;
  bool is_variadic = false; ///< *args, **keywords
};

struct PythonFunction {
  std::string name;
  Range range; ///< decorators included
  Range name_range;
  std::vector<PythonParameter> parameters;
};

struct PythonClass {
  std::string name;
  std::vector<std::string> bases; ///< as written: "nn.Module"
  Range range;                    ///< decorators included
  Range name_range;
  std::size_t line = 0;
  std::vector<PythonFunction> methods;

  const PythonFunction *find_method(const std::string &wanted) const;
};

/// One statement of the top level.
struct PythonStatement {
  Range range;
  std::set<std::string> binds;    ///< names that it defines, imports or assigns
  std::set<std::string> uses;     ///< identifiers that it reads, attributes of objects left out
  bool only_runs_as_main = false; ///< if __name__ == "__main__"
  std::string code;               ///< without comments and empty lines
};

/// `from ..layers import Norm, Gate`, or one module of `import a, b.c`.
struct PythonImport {
  int level = 0;                  ///< dots in front: folders up, 1 is the file's own
  std::string module;             ///< "layers", "pkg.layers"; empty: `from . import layers`
  std::vector<std::string> names; ///< that are imported from it, and may be modules themselves
};

struct PythonComment {
  Range range;
  std::size_t line = 0;
};

struct PythonFile {
  std::vector<PythonStatement> statements; ///< in the order of the text, like the rest
  std::vector<PythonClass> classes;        ///< of the top level
  std::vector<PythonFunction> functions;   ///< of the top level
  std::vector<PythonComment> comments;
  std::vector<PythonImport> imports; ///< wherever they stand
  bool has_errors = false;           ///< the parser had to skip something

  const PythonFunction *find_function(const std::string &name) const;
};

/// Errors: only a program that was built without Python's grammar.
Result<PythonFile> parse_python(const std::string &text);

/// The text of a top-level definition and of all that it needs of the file, in the file's order: definitions by name, and statements
/// that may have effects (framework flags). Two texts are equal when only comments, empty lines or other definitions differ.
/// @param roots names that the file binds
std::string needed_source(const PythonFile &file, std::set<std::string> roots);

} // namespace warpwright::analysis
