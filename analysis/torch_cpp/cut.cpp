#include "analysis/torch_cpp/cut.h"

#include "support/words.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <array>
#include <set>

namespace warpwright::analysis::torch_cpp {
namespace {

using llvm::dyn_cast;

/// PyTorch's operators with the tag data_dependent_output or dynamic_output_shape, by their C++ names.
constexpr std::array<std::string_view, 17> kDataOperators = {"_local_scalar_dense",
                                                             "_unique",
                                                             "_unique2",
                                                             "allclose",
                                                             "argwhere",
                                                             "bincount",
                                                             "combinations",
                                                             "equal",
                                                             "is_nonzero",
                                                             "item",
                                                             "masked_select",
                                                             "nonzero",
                                                             "nonzero_numpy",
                                                             "unique",
                                                             "unique_consecutive",
                                                             "unique_dim",
                                                             "unique_dim_consecutive"};
/// Fewer operators than these gain nothing from a plan.
constexpr int kFewestOperators = 2;

bool is_torch(const clang::FunctionDecl &function) {
  const std::string name = function.getQualifiedNameAsString();
  return name.starts_with("at::") || name.starts_with("torch::") || name.starts_with("c10::");
}

bool writes_in_place(std::string_view name) {
  return name.size() > 1 && name.ends_with('_') && !name.ends_with("__");
}

const clang::ValueDecl *variable_of(const clang::Expr *expression) {
  const auto *reference =
      expression ? dyn_cast<clang::DeclRefExpr>(expression->IgnoreParenImpCasts()) : nullptr;
  return reference ? reference->getDecl() : nullptr;
}

/// Name of the function that a cut makes.
std::string cut_name(const clang::FunctionDecl &function) {
  return function.getNameAsString() + "_before";
}

/// Facts about a run of statements: what they call, read and write.
class Survey : public clang::RecursiveASTVisitor<Survey> {
public:
  bool VisitCallExpr(clang::CallExpr *call) {
    const clang::FunctionDecl *callee = call->getDirectCallee();
    if (!callee)
      return true;
    const auto *method = dyn_cast<clang::CXXMemberCallExpr>(call);
    const std::string name = callee->getDeclName().isIdentifier() ? callee->getNameAsString() : "";
    if (is_torch(*callee)) {
      const bool has_one_argument =
          std::ranges::count_if(call->arguments(), [](const clang::Expr *argument) {
            return !llvm::isa<clang::CXXDefaultArgExpr>(argument);
          }) == 1;
      if (std::ranges::find(kDataOperators, name) != kDataOperators.end() ||
          (name == "where" && !method && has_one_argument))
        data_operator = data_operator.empty() ? name : data_operator;
      operators += gives_tensors(callee->getReturnType());
    }
    const clang::Expr *first = method                   ? method->getImplicitObjectArgument()
                               : call->getNumArgs() > 0 ? call->getArg(0)
                                                        : nullptr;
    const auto *as_operator = dyn_cast<clang::CXXOperatorCallExpr>(call);
    if (writes_in_place(name) || (as_operator && as_operator->isAssignmentOp()))
      add(written, variable_of(first));
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator *one) {
    if (one->isAssignmentOp())
      add(written, variable_of(one->getLHS()));
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator *one) {
    if (one->isIncrementDecrementOp() || one->getOpcode() == clang::UO_AddrOf)
      add(written, variable_of(one->getSubExpr()));
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    add(read, reference->getDecl());
    return true;
  }
  bool VisitReturnStmt(clang::ReturnStmt *) { return leaves = true; }
  bool VisitGotoStmt(clang::GotoStmt *) { return leaves = true; }
  bool VisitLabelStmt(clang::LabelStmt *) { return leaves = true; }
  bool VisitLambdaExpr(clang::LambdaExpr *) { return has_lambda = true; }

  std::string data_operator; ///< the first one met
  int operators = 0;
  bool leaves = false, has_lambda = false;
  std::set<const clang::ValueDecl *> written, read;

private:
  static void add(std::set<const clang::ValueDecl *> &set, const clang::ValueDecl *variable) {
    if (variable)
      set.insert(variable);
  }
};

class Cutting {
public:
  Cutting(const ParsedUnit &unit, const clang::FunctionDecl &function)
      : unit_(unit), function_(function) {}

  std::optional<Cut> run() {
    const auto *body = dyn_cast<clang::CompoundStmt>(function_.getBody());
    if (!body || find_function(unit_, cut_name(function_)) || !find_place(*body) ||
        !find_crossing())
      return std::nullopt;
    auto text = written();
    return text ? std::optional(Cut{cut_name(function_), data_operator_, std::move(*text)})
                : std::nullopt;
  }

private:
  /// Divides the body before its first statement with an operator that no trace can follow.
  bool find_place(const clang::CompoundStmt &body) {
    for (clang::Stmt *statement : body.body()) {
      Survey alone;
      alone.TraverseStmt(statement);
      if (first_ || !alone.data_operator.empty()) {
        if (!first_)
          data_operator_ = alone.data_operator;
        first_ = first_ ? first_ : statement;
        after_.TraverseStmt(statement);
        continue;
      }
      before_.TraverseStmt(statement);
      if (const auto *declaration = dyn_cast<clang::DeclStmt>(statement))
        for (const clang::Decl *one : declaration->decls())
          add_declared(*one, *declaration);
    }
    const auto is_parameter_written = [&](const clang::ParmVarDecl *one) {
      return before_.written.contains(one);
    };
    return first_ && before_.operators >= kFewestOperators && !before_.leaves &&
           !before_.has_lambda && !declares_others_ &&
           std::ranges::none_of(function_.parameters(), is_parameter_written);
  }

  void add_declared(const clang::Decl &declaration, const clang::DeclStmt &statement) {
    const auto *variable = dyn_cast<clang::VarDecl>(&declaration);
    declares_others_ = declares_others_ || !variable || !is_value(*variable);
    if (const auto *parts = dyn_cast<clang::DecompositionDecl>(&declaration))
      for (const clang::BindingDecl *part : parts->bindings())
        declared_[part] = &statement;
    else if (variable)
      declared_[variable] = &statement;
  }

  /// False for objects that may matter by being there, as torch::NoGradGuard.
  static bool is_value(const clang::VarDecl &variable) {
    constexpr std::array<std::string_view, 7> kValues = {
        "ArrayRef", "Device", "Scalar", "TensorOptions", "basic_string", "optional", "vector"};
    const clang::QualType type = variable.getType().getNonReferenceType();
    const clang::CXXRecordDecl *record = type->getAsCXXRecordDecl();
    return !variable.isInvalidDecl() && !variable.isStaticLocal() &&
           (type->isArithmeticType() || type->isEnumeralType() || is_tensor(type) ||
            gives_tensors(type) ||
            (record &&
             std::ranges::find(kValues, std::string_view(record->getName())) != kValues.end()));
  }

  /// Finds the tensors that the other statements read, and the numbers whose declarations are repeated for them.
  bool find_crossing() {
    std::vector<const clang::ValueDecl *> open(after_.read.begin(), after_.read.end());
    std::set<const clang::ValueDecl *> seen;
    while (!open.empty()) {
      const clang::ValueDecl *variable = open.back();
      open.pop_back();
      const auto found = declared_.find(variable);
      if (found == declared_.end() || !seen.insert(variable).second)
        continue;
      if (is_tensor(variable->getType())) {
        tensors_.push_back(variable);
        continue;
      }
      Survey initial;
      initial.TraverseStmt(const_cast<clang::DeclStmt *>(found->second));
      if (!found->second->isSingleDecl() || before_.written.contains(variable) ||
          initial.operators > 0)
        return false; // lists of tensors, and numbers that are counted up
      repeated_.push_back(found->second);
      open.insert(open.end(), initial.read.begin(), initial.read.end());
    }
    std::ranges::sort(tensors_, {}, [](const clang::ValueDecl *one) {
      return one->getLocation().getRawEncoding();
    });
    std::ranges::sort(repeated_, {}, [](const clang::DeclStmt *one) {
      return one->getBeginLoc().getRawEncoding();
    });
    // A tensor of the part may share memory with a parameter, and one that kernels gave does not.
    const auto is_written = [&](const clang::ValueDecl *one) {
      return after_.written.contains(one);
    };
    return !tensors_.empty() && std::ranges::none_of(tensors_, is_written) &&
           std::ranges::none_of(function_.parameters(), is_written);
  }

  std::optional<std::string> written() const {
    const std::string text(unit_.text());
    const auto whole = unit_.range_of(function_.getSourceRange()),
               body = unit_.range_of(function_.getBody()->getSourceRange()),
               name = unit_.range_of(clang::SourceRange(function_.getLocation())),
               first = unit_.range_of(first_->getSourceRange());
    if (!whole || !body || !name || !first)
      return std::nullopt; // produced by a macro
    const std::string parameters = text.substr(name->end, body->begin - name->end);
    if (parameters.find_last_not_of(" \n") != parameters.rfind(')'))
      return std::nullopt; // a trailing return type or specifier
    const std::size_t cut = with_comments(text, text.rfind('\n', first->begin) + 1),
                      start = with_comments(text, text.rfind('\n', whole->begin) + 1);
    if (cut <= body->begin || cut > first->begin)
      return std::nullopt; // two statements in one line
    const auto name_of = [](const clang::ValueDecl *one) { return one->getNameAsString(); };
    const std::string names = joined(tensors_, ", ", name_of),
                      types = joined(tensors_, ", ", [](auto) { return "at::Tensor"; }),
                      arguments = joined(function_.parameters(), ", ", name_of);
    std::string repeated;
    for (const clang::DeclStmt *one : repeated_)
      repeated += "  " + std::string(unit_.text_of(one->getSourceRange())) + "\n";
    const bool is_one = tensors_.size() == 1;
    const std::string before = cut_name(function_);
    const std::string call = before + "(" + arguments + ");\n";
    const std::string part = spec_lines(text.substr(start, whole->begin - start)) + "static " +
                             (is_one ? types : "std::tuple<" + types + ">") + " " + before +
                             parameters + text.substr(body->begin, cut - body->begin) +
                             "  return " + (is_one ? names : "{" + names + "}") + ";\n}\n\n";
    const std::string rest = "{\n  at::Tensor " + names +
                             (is_one ? " = " + call : ";\n  std::tie(" + names + ") = " + call) +
                             repeated;
    return text.substr(0, start) + part + text.substr(start, body->begin - start) + rest +
           text.substr(cut);
  }

  /// Start of the lines of comment directly above the line that starts at `at`.
  static std::size_t with_comments(const std::string &text, std::size_t at) {
    while (at > 1) {
      const std::size_t above = text.rfind('\n', at - 2) + 1; // 0 for the first line
      const std::string_view line = std::string_view(text).substr(above, at - above);
      if (const std::size_t word = line.find_first_not_of(" \t");
          word == line.npos || !line.substr(word).starts_with("//"))
        break;
      at = above;
    }
    return at;
  }

  /// The lines of a comment that describe a call.
  static std::string spec_lines(const std::string &comment) {
    const std::size_t first = comment.find("warpwright:");
    return first == std::string::npos ? "" : comment.substr(comment.rfind('\n', first) + 1);
  }

  const ParsedUnit &unit_;
  const clang::FunctionDecl &function_;
  std::string data_operator_;
  clang::Stmt *first_ = nullptr; ///< the statement with the operator
  Survey before_, after_;
  std::map<const clang::ValueDecl *, const clang::DeclStmt *> declared_; ///< before the cut
  std::vector<const clang::ValueDecl *> tensors_;
  std::vector<const clang::DeclStmt *> repeated_;
  bool declares_others_ = false; ///< before the cut
};

} // namespace

bool is_cut(const clang::FunctionDecl &function) {
  Survey survey;
  survey.TraverseStmt(function.getBody());
  return !survey.data_operator.empty() &&
         std::ranges::any_of(survey.read, [&](const clang::ValueDecl *one) {
           return llvm::isa<clang::FunctionDecl>(one) && one->getDeclName().isIdentifier() &&
                  one->getName() == cut_name(function);
         });
}

std::optional<Cut> cut_of(const ParsedUnit &unit, const clang::FunctionDecl &function) {
  return Cutting(unit, function).run();
}

} // namespace warpwright::analysis::torch_cpp
