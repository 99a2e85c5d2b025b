// Tokens of a text from Clang's raw lexer, without preprocessing, file access or failure.
//
// Comments, preprocessor directives and `#if 0` blocks are left out, so text in them is never taken
// for a kernel. Thread: any (plain values).
#pragma once

#include "support/text.h"

#include <clang/Basic/TokenKinds.h>
#include <optional>
#include <string_view>
#include <vector>

namespace warpwright::analysis {

struct ScanToken {
  clang::tok::TokenKind kind; ///< keywords have the kind raw_identifier
  Range range;
  bool after_directive = false; ///< a directive stands before this token
};

std::vector<ScanToken> scan_tokens(std::string_view text);

/// Index of the bracket that closes `open`; nullopt if the text ends before. Counts (), [] and {}
/// alike.
std::optional<std::size_t> closing_bracket(const std::vector<ScanToken> &tokens, std::size_t open);
/// Index of the bracket that matches the closing bracket `close`.
std::optional<std::size_t> opening_bracket(const std::vector<ScanToken> &tokens, std::size_t close);

/// Byte ranges between the top-level commas of tokens [begin, end); empty when there are no tokens.
std::vector<Range> split_at_commas(const std::vector<ScanToken> &tokens, std::size_t begin,
                                   std::size_t end);

} // namespace warpwright::analysis
