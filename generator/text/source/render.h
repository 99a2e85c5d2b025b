// Text helpers of moves and templates: placeholders, indentation, names that clash with nothing.
//
// A template is CUDA text with `$name` where something of the user's goes. What the map does not bind is a
// local of the template and becomes a fresh name. Indentation is written as two spaces and comes out as the
// user's own. It leaves out any knowledge of C++ beyond identifiers and braces.
// Thread: values, any.
#pragma once

#include "support/text.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::generator {

using Bindings = std::map<std::string, std::string>;

/// `text` with each `$name` replaced: by its binding, else by `name` itself, with `_` added while it is in `taken`.
std::string render(std::string_view text, const Bindings &bindings,
                   const std::set<std::string> &taken = {});

/// Lines of `text`, whose indentation counts in steps of two spaces, moved to `base` with `step` a level.
/// Preprocessor lines are moved too; empty lines stay empty. No trailing newline is added or removed.
std::string indent(std::string_view text, const std::string &base, const std::string &step);

/// Adds `step` before each line of `text` but the first and empty ones.
std::string deepen(std::string_view text, const std::string &step);

/// Takes `indentation` away from the start of all lines but the first, as far as they have it.
std::string rebase(std::string_view text, const std::string &indentation);

/// Replaces each whole identifier `name` by `replacement`; identifiers behind `.` or `->` stay.
std::string rename(std::string_view text, std::string_view name, std::string_view replacement);

/// `text` in parentheses unless it is one identifier, number, call or member chain already.
std::string parenthesised(const std::string &text);

/// `text` in parentheses where an operator in it binds less tightly than +.
std::string as_summand(const std::string &text);

} // namespace warpwright::generator
