// Budget checks in Clang's parser: at each token, and at each template instantiation, which reads
// no tokens. Private to analysis/parse. Both functions do nothing outside a guard. Thread: the
// parsing thread.
#pragma once

#include <clang/AST/ASTConsumer.h>
#include <clang/Lex/Preprocessor.h>

#include <memory>

namespace warpwright::analysis {

/// Once a limit is exceeded, `preprocessor` returns no more text, so the parse ends as at the end
/// of the file.
void watch_tokens(clang::Preprocessor &preprocessor);

/// A consumer that keeps nothing and checks the budget at the start of each instantiation.
std::unique_ptr<clang::ASTConsumer> watch_instantiations();

} // namespace warpwright::analysis
