// The tokens of a text, from Clang's raw lexer: no preprocessing, no file, no failure.
//
// Comments, preprocessor directives and `#if 0` blocks are left out, so that what looks like a
// kernel there is not taken for one. Thread: values, any.
#pragma once

#include "support/text.h"

#include <clang/Basic/TokenKinds.h>
#include <optional>
#include <string_view>
#include <vector>

namespace warpwright::analysis {

struct ScanToken {
  clang::tok::TokenKind kind; ///< keywords come as raw_identifier
  Range range;
  bool after_directive = false; ///< a directive stands between the token before and this one
};

std::vector<ScanToken> scan_tokens(std::string_view text);

/// Index of the bracket that closes `open`; nullopt when the text ends before. Counts (), [] and {}
/// alike.
std::optional<std::size_t> closing_bracket(const std::vector<ScanToken> &tokens, std::size_t open);
/// Index of the bracket that opens what `close` ends.
std::optional<std::size_t> opening_bracket(const std::vector<ScanToken> &tokens, std::size_t close);

/// Byte ranges between the top-level commas of tokens [begin, end); empty when there are no tokens.
std::vector<Range> split_at_commas(const std::vector<ScanToken> &tokens, std::size_t begin,
                                   std::size_t end);

} // namespace warpwright::analysis
