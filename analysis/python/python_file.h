// Outline of a Python source: top-level statements, classes with their methods, imports, comments.
//
// Broken code is normal input: the outline holds the parts that the parser recovered. Nothing is
// imported or run, so names that are bound only at run time are unknown. Ranges are bytes of the
// text; lines count from 1. Thread: any (plain values).
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

/// One top-level statement.
struct PythonStatement {
  Range range;
  std::set<std::string> binds;    ///< names that the statement defines, imports or assigns
  std::set<std::string> uses;     ///< identifiers that the statement reads, without attribute names
  bool only_runs_as_main = false; ///< if __name__ == "__main__"
  std::string code;               ///< without comments and empty lines
};

/// `from ..layers import Norm, Gate`, or one module of `import a, b.c`.
struct PythonImport {
  int level = 0;                  ///< leading dots: folders up; 1 is the file's own folder
  std::string module;             ///< "layers", "pkg.layers"; empty: `from . import layers`
  std::vector<std::string> names; ///< imported names, which may be modules
};

struct PythonComment {
  Range range;
  std::size_t line = 0;
};

struct PythonFile {
  std::vector<PythonStatement> statements; ///< in text order, like the other members
  std::vector<PythonClass> classes;        ///< top-level classes
  std::vector<PythonFunction> functions;   ///< top-level functions
  std::vector<PythonComment> comments;
  std::vector<PythonImport> imports; ///< imports at any depth
  bool has_errors = false;           ///< the parser had to skip something

  const PythonFunction *find_function(const std::string &name) const;
};

/// Errors: the text has too many tokens, or the program was built without a usable Python grammar.
Result<PythonFile> parse_python(const std::string &text);

/// The text of a top-level definition and of its dependencies in the file, in file order:
/// definitions by name, and statements that may have effects (framework flags). Comments, empty
/// lines and other definitions do not change the result.
/// @param roots names that the file binds
std::string needed_source(const PythonFile &file, std::set<std::string> roots);

} // namespace warpwright::analysis
