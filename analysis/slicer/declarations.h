// What a slice may be made of: the user's files and the declarations at namespace scope in them.
//
// An item is the text of one declaration (or of several that share a statement: `const int A = 1, B
// = 2;`). Only the user's own files are read: the toolkit's and the standard library's headers stay
// includes, or are dropped. Thread: that of the unit.
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
  std::set<std::string> names;     ///< what it declares
  std::set<std::string> operands;  ///< of an operator overload: names of the types it takes
  std::vector<std::string> scopes; ///< "namespace a {", "extern \"C\" {": outermost first
  bool is_host_only = false;       ///< no device code can use it
  bool is_function = false;
  bool is_using = false;       ///< using directive; `names` holds the namespace
  std::vector<TextEdit> edits; ///< annotations and initialisers to insert, offsets into the file
  std::vector<const clang::Decl *> declarations;
};

struct Inventory {
  std::vector<std::unique_ptr<SourceText>> files; ///< [0] is the main file
  std::vector<Item> items;                      ///< by file, then by offset; ranges do not overlap
  std::set<std::string> missing_headers;        ///< quoted includes that were not found
  std::vector<std::string> command_line_macros; ///< "#define TILE 16" of -D flags
};

/// Everything in the unit's user files that a slice may need.
Inventory take_inventory(const ParsedUnit &unit);

/// Whether NVRTC can include it: the toolkit's own device headers.
bool is_device_header(std::string_view include);

} // namespace warpwright::analysis::slicer
