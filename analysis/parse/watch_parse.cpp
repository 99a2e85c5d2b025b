// Clang's hooks for tokens and instantiations; see watch_parse.h. Thread: the parsing thread.
#include "analysis/parse/watch_parse.h"

#include "support/budget.h"

#include <clang/Lex/Lexer.h>
#include <clang/Sema/Sema.h>
#include <clang/Sema/SemaConsumer.h>
#include <clang/Sema/TemplateInstCallback.h>

namespace warpwright::analysis {
namespace {

class WatchInstantiations : public clang::TemplateInstantiationCallback {
public:
  void initialize(const clang::Sema &) override {}
  void finalize(const clang::Sema &) override {}
  void atTemplateBegin(const clang::Sema &,
                       const clang::Sema::CodeSynthesisContext &) override {
    if (current_budget)
      current_budget->ends_parse(); // throws if the parser continues after the end of the text
  }
  void atTemplateEnd(const clang::Sema &, const clang::Sema::CodeSynthesisContext &) override {}
};

class Consumer : public clang::SemaConsumer {
public:
  void InitializeSema(clang::Sema &sema) override {
    if (current_budget)
      sema.TemplateInstCallbacks.push_back(std::make_unique<WatchInstantiations>());
  }
};

} // namespace

void watch_tokens(clang::Preprocessor &preprocessor) {
  if (!current_budget)
    return;
  preprocessor.setTokenWatcher([&preprocessor](const clang::Token &) {
    if (current_budget && current_budget->ends_parse())
      if (auto *lexer = static_cast<clang::Lexer *>(preprocessor.getCurrentFileLexer()))
        lexer->seek(static_cast<unsigned>(lexer->getBuffer().size()), /*IsAtStartOfLine=*/false);
  });
}

std::unique_ptr<clang::ASTConsumer> watch_instantiations() { return std::make_unique<Consumer>(); }

} // namespace warpwright::analysis
