// Input of a slice: the user's files and the namespace-scope declarations in them.
//
// An item is the text of one declaration, or of several in one statement (`const int A = 1, B =
// 2;`). Only the user's own files are read. Headers of the toolkit and the standard library stay
// includes or are dropped. Thread: the unit's thread.
#pragma once

#include "analysis/parsed_unit.h"
#include "analysis/slicer/source_text.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace warpwright::analysis::slicer {

struct Item {
  std::size_t file = 0;
  Range range;
  std::set<std::string> names;     ///< declared names
  std::set<std::string> operands;  ///< for an operator overload: names of its parameter types
  std::vector<std::string> scopes; ///< outermost first: "namespace a {", "extern \"C\" {"
  bool is_host_only = false;       ///< device code cannot use it
  bool is_function = false;
  bool is_using = false;       ///< a using directive; `names` holds the namespace
  std::vector<TextEdit> edits; ///< inserted annotations and initializers; offsets into the file
  std::vector<const clang::Decl *> declarations;
};

struct Inventory {
  std::vector<std::unique_ptr<SourceText>> files; ///< [0] is the file that is compiled
  std::vector<Item> items;                      ///< by file, then by offset; ranges do not overlap
  std::set<std::string> missing_headers;        ///< quoted includes that were not found
  std::vector<std::string> command_line_macros; ///< from -D flags: "#define TILE 16"
};

/// Everything in the unit's user files that a slice may need.
Inventory take_inventory(const ParsedUnit &unit);

/// Whether NVRTC can include a header: one of the toolkit's own device headers.
bool is_device_header(std::string_view include);

} // namespace warpwright::analysis::slicer
