// Replacement of python_parser.cpp for builds without tree-sitter's Python grammar.
#include "analysis/python/python_file.h"

namespace warpwright::analysis {

Result<PythonFile> parse_python(const std::string &) {
  return fail("this build of warpwright does not read Python",
              "Run scripts/install-deps.sh, then build again");
}

} // namespace warpwright::analysis
