// Slicer of kernels and host declarations: closure over names, then the chosen text in source order.
//
// The closure uses identifiers instead of resolved references. It takes every overload and every
// specialization of a name, works in dependent code and in code that does not parse, and at worst
// takes unneeded declarations. Conditional directives around a chosen declaration are kept, with
// the branches that this parse did not take. Thread: the unit's thread.
#pragma once

#include "analysis/analyze.h"
#include "analysis/slicer/declarations.h"

#include <map>
#include <optional>
#include <set>

namespace warpwright::analysis::slicer {

using DirectiveKind = Directive::Kind;

/// A piece of a file in text order: a directive, or an item by index.
struct Piece {
  const Directive *directive = nullptr;
  std::size_t item = 0;
  std::size_t offset() const { return directive ? directive->range.begin : position; }
  std::size_t position = 0;
};

class Slicer {
public:
  enum class Side { Device, Host };

  /// @param variant_scope namespace in which the declaration's applied variant keeps its kernels; it is
  ///   no dependency of the user's code; nullopt: none
  Slicer(const ParsedUnit &unit, Side side,
         std::optional<std::string> variant_scope = std::nullopt);
  Result<std::string> run(const clang::NamedDecl &kernel);

private:
  using ItemPlaces = std::set<std::pair<std::string, std::size_t>>; ///< path and offset
  /// For a name that a text declares: the first file that does.
  using FilesOfNames = std::map<std::string, std::string>;

  // slice_linked.cpp

  void add_files_of_names(FilesOfNames &files) const;
  /// The text of a linked unit with other names for its statics that another file's declarations would meet.
  std::string with_own_names(const std::string &text, const FilesOfNames &declared) const;
  ItemPlaces chosen_places() const;
  /// Names of device functions that chosen text declares and the unit does not define.
  std::set<std::string> undefined() const;
  /// The text of device functions that other units of the program define, which its build links to this one.
  Result<std::string> linked();

  // slice.cpp

  /// Leaves out other kernels of the kernel's name, because a launch by name must find exactly one.
  void leave_out_overloads(const clang::NamedDecl &kernel);
  /// Types of template arguments: launches name them, and the template's own text may not.
  void need_arguments(const clang::FunctionDecl &kernel);
  void need(llvm::ArrayRef<clang::TemplateArgument> arguments);
  void need(clang::QualType type);
  std::vector<Piece> pieces_of(std::size_t file) const;
  /// The item's text without what its edits remove.
  std::vector<Range> kept_ranges(const Item &item) const;
  void choose(std::size_t index);
  bool is_needed(const Item &item) const;
  void close();

  // slice_checks.cpp

  Result<void> check(const clang::NamedDecl &kernel);
  std::string place(const Item &item, std::size_t offset) const;
  Result<void> check_std(const std::string &what, const Item &item);
  /// Fails if chosen device functions use host functions or host variables.
  Result<void> check_host_names(const std::string &what) const;

  // slice_text.cpp

  std::string preamble() const;
  bool includes(std::string_view header) const;
  /// Returns true if the chosen text uses names of a toolkit header. Unused headers cost time: cub takes
  /// a second to compile.
  bool uses_header(std::string_view header) const;
  std::string emit_file(std::size_t file);
  /// Emits pieces up to the directive that ends the enclosing branch; `position` then refers to it.
  std::string emit_pieces(std::size_t file, std::size_t &position);
  std::string emit_conditional(std::size_t file, std::size_t &position);
  /// Returns true for the #ifndef NAME that #define NAME follows.
  bool is_include_guard(std::size_t file, const Directive &directive) const;
  /// The text of a branch next to a chosen declaration. This parse skipped it, but another compiler
  /// may take it.
  std::string branch_not_taken(std::size_t file, Range range);
  std::string emit_directive(std::size_t file, const Directive &directive);
  std::string emit_item(const Item &item) const;
  /// Returns true if the namespace of a using directive has declarations in the slice.
  bool is_used_namespace(const std::string &name) const;

  const ParsedUnit &unit_;
  const Side side_;
  const std::optional<std::string> variant_scope_;
  Inventory inventory_;
  std::vector<bool> chosen_;
  std::vector<std::vector<Piece>> pieces_;
  std::set<std::string> needed_, macros_, std_names_;
  bool is_linked_ = false;             ///< its text follows that of another unit
  ItemPlaces others_;                  ///< items that the text of other units has
  std::set<std::string> linked_names_; ///< names that other units' text declares
};

} // namespace warpwright::analysis::slicer
