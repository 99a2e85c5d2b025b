// Text helpers of moves and templates: placeholders, indentation, unused names.
//
// A template is CUDA text with `$name` placeholders. A placeholder with a binding becomes the
// user's text; one without is a local of the template and becomes a name that the file does not use
// yet. Templates are indented by two spaces a level; the result has the user's own indentation.
// These functions recognize only identifiers and brackets of C++.
#pragma once

#include "support/text.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::source {

using Bindings = std::map<std::string, std::string>;
using Edits = std::vector<TextEdit>;

bool is_identifier(std::string_view text);
/// `text` without the spaces at both ends.
std::string_view trimmed(std::string_view text);
/// `text` without the spaces and newlines at its end.
std::string without_trailing_space(std::string text);

/// True if only spaces stand before the offset on its line.
bool starts_line(std::string_view text, std::size_t offset);

/// The begin of the first of the pragmas on the lines above a statement, else that of the statement.
std::size_t with_pragmas(std::string_view text, std::size_t statement);

/// `name`, with `_` appended until it is not in `taken`.
std::string fresh_name(std::string name, const std::set<std::string> &taken);

/// `text` with each `$name` replaced by its binding, else by fresh_name(name, taken).
std::string render(std::string_view text, const Bindings &bindings,
                   const std::set<std::string> &taken = {});

/// Lines of `text`, indented in steps of two spaces, moved to `base` with `step` a level.
/// Preprocessor lines are moved too; empty lines stay empty. No trailing newline is added or
/// removed.
std::string indent(std::string_view text, const std::string &base, const std::string &step);

/// Adds `step` before each line of `text` but the first and empty ones.
std::string deepen(std::string_view text, const std::string &step);

/// Removes `indentation` from the start of all lines but the first, where present.
std::string rebase(std::string_view text, const std::string &indentation);

/// Replaces each whole identifier `name` by `replacement`, except after `.` or `->`.
std::string rename(std::string_view text, std::string_view name, std::string_view replacement);

/// `text` in parentheses unless it is one identifier, number, call or member chain already.
std::string parenthesised(const std::string &text);

/// `text`, in parentheses if it has an operator of lower precedence than +.
std::string as_summand(const std::string &text);

/// Rounded-up quotient as text: "(text + 127) / 128".
std::string ceil_div_text(const std::string &text, int divisor);

/// Appends the edits of `more` that are not in `edits`, because launches may share a variable.
void add_edits(Edits &edits, const Edits &more);

} // namespace warpwright::source
