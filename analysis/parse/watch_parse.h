// Where Clang's parser looks at the budget of the analysis it works for: at tokens, and at instantiations of templates,
// which read none. Private to analysis/parse. Both do nothing outside a guard. Thread: that of the parse.
#pragma once

#include <clang/AST/ASTConsumer.h>
#include <clang/Lex/Preprocessor.h>

#include <memory>

namespace warpwright::analysis {

/// From a limit of the budget on, `preprocessor` gives no more text, so that the parse ends as at the end of the file.
void watch_tokens(clang::Preprocessor &preprocessor);

/// A consumer that keeps nothing and looks at the budget whenever an instantiation begins.
std::unique_ptr<clang::ASTConsumer> watch_instantiations();

} // namespace warpwright::analysis
