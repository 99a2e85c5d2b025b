// Python outline from tree-sitter's tree. Each version is parsed from scratch, which takes about a
// millisecond per thousand lines.
#include "analysis/python/python_file.h"

#include "analysis/python/token_count.h"

#include <algorithm>
#include <memory>
#include <ranges>
#include <tree_sitter/api.h>

extern "C" const TSLanguage *tree_sitter_python(void);

namespace warpwright::analysis {
namespace {

struct FreeParser {
  void operator()(TSParser *parser) const { ts_parser_delete(parser); }
};
struct FreeTree {
  void operator()(TSTree *tree) const { ts_tree_delete(tree); }
};

std::string_view type_of(TSNode node) { return ts_node_type(node); }

Range range_of(TSNode node) { return {ts_node_start_byte(node), ts_node_end_byte(node)}; }

std::size_t line_of(TSNode node) { return ts_node_start_point(node).row + 1; }

TSNode field(TSNode node, std::string_view name) {
  return ts_node_child_by_field_name(node, name.data(), static_cast<std::uint32_t>(name.size()));
}

std::vector<TSNode> named_children(TSNode node) {
  std::vector<TSNode> children;
  TSTreeCursor cursor =
      ts_tree_cursor_new(node); // access by index would search from the first child each time
  if (ts_tree_cursor_goto_first_child(&cursor))
    do {
      if (const TSNode child = ts_tree_cursor_current_node(&cursor); ts_node_is_named(child))
        children.push_back(child);
    } while (ts_tree_cursor_goto_next_sibling(&cursor));
  ts_tree_cursor_delete(&cursor);
  return children;
}

/// Nesting limit: the walks below are recursive, and nobody writes deeper code.
constexpr int kDeepest = 400;
/// tree-sitter 0.20 corrupts memory if a node has 65,536 children. Unparsable text becomes one such
/// node.
constexpr std::size_t kMostTokens = 60'000;

class Reader {
public:
  explicit Reader(const std::string &text) : text_(text) {}

  PythonFile read(TSNode module) {
    file_.has_errors = ts_node_has_error(module);
    collect_comments_and_imports(module);
    read_statements(module);
    return std::move(file_);
  }

private:
  std::string text_of(TSNode node) const {
    const Range range = range_of(node);
    return text_.substr(range.begin, range.size());
  }

  void collect_comments_and_imports(TSNode node, int depth = 0) {
    const std::string_view type = type_of(node);
    if (type == "comment") {
      file_.comments.push_back({range_of(node), line_of(node)});
      return;
    }
    if (type == "import_statement")
      for (const TSNode child : named_children(node))
        file_.imports.push_back({0, imported_name(child), {}});
    if (type == "import_from_statement")
      add_import_from(node);
    if (depth < kDeepest)
      for (const TSNode child : named_children(node))
        collect_comments_and_imports(child, depth + 1);
  }

  /// The imported name without the `as` alias.
  std::string imported_name(TSNode node) const {
    return text_of(type_of(node) == "aliased_import" ? field(node, "name") : node);
  }

  void add_import_from(TSNode node) {
    const TSNode from = field(node, "module_name");
    PythonImport made;
    made.module = ts_node_is_null(from) ? "" : text_of(from);
    const std::size_t dots = std::min(made.module.find_first_not_of("."), made.module.size());
    made.level = static_cast<int>(dots);
    made.module.erase(0, dots);
    for (const TSNode child : named_children(node))
      if (!ts_node_eq(child, from) && type_of(child) != "wildcard_import" &&
          type_of(child) != "comment")
        made.names.push_back(imported_name(child));
    file_.imports.push_back(std::move(made));
  }

  /// Text that the parser could not place is in ERROR nodes, which may contain whole statements.
  void read_statements(TSNode parent, int depth = 0) {
    for (const TSNode node : named_children(parent)) {
      const std::string_view type = type_of(node);
      if (type == "comment" || is_docstring(node, type))
        continue;
      if (type == "ERROR" && depth < kDeepest)
        read_statements(node, depth + 1);
      else
        read_statement(node, type);
    }
  }

  void read_statement(TSNode node, std::string_view type) {
    PythonStatement statement;
    statement.range = range_of(node);
    statement.code = code_of(statement.range);
    const TSNode definition = type == "decorated_definition" ? field(node, "definition") : node;
    const std::string_view kind = ts_node_is_null(definition) ? "" : type_of(definition);
    if (kind == "class_definition")
      add_class(definition, statement.range);
    if (kind == "function_definition")
      add_function(definition, statement.range, file_.functions);
    if (kind == "class_definition" || kind == "function_definition")
      statement.binds.insert(text_of(field(definition, "name")));
    else if (kind == "if_statement")
      statement.only_runs_as_main = is_main_check(definition);
    collect_bindings(node, kind, statement.binds);
    collect_uses(node, statement.uses);
    file_.statements.push_back(std::move(statement));
  }

  static bool is_docstring(TSNode node, std::string_view type) {
    return type == "expression_statement" && ts_node_named_child_count(node) == 1 &&
           type_of(ts_node_named_child(node, 0)) == "string";
  }

  bool is_main_check(TSNode node) const {
    const TSNode condition = field(node, "condition");
    const std::string text = ts_node_is_null(condition) ? "" : text_of(condition);
    return text.find("__name__") != std::string::npos && text.find("__main__") != std::string::npos;
  }

  /// Collects names bound by imports, assignments and definitions, also inside branches.
  void collect_bindings(TSNode node, std::string_view type, std::set<std::string> &binds,
                        int depth = 0) const {
    if (type == "class_definition" || type == "function_definition" || depth > kDeepest)
      return;
    if (type == "import_statement" || type == "import_from_statement") {
      add_imported(node, binds);
      return;
    }
    if (type == "assignment" || type == "augmented_assignment") {
      add_targets(field(node, "left"), binds);
      return;
    }
    for (const TSNode child : named_children(node)) {
      const std::string_view kind = type_of(child);
      if (kind == "class_definition" || kind == "function_definition")
        binds.insert(text_of(field(child, "name")));
      else
        collect_bindings(child, kind, binds, depth + 1);
    }
  }

  void add_imported(TSNode node, std::set<std::string> &binds) const {
    const TSNode from = field(node, "module_name");
    for (const TSNode child : named_children(node)) {
      if (!ts_node_is_null(from) && ts_node_eq(child, from))
        continue;
      if (type_of(child) == "aliased_import")
        binds.insert(text_of(field(child, "alias")));
      else if (type_of(child) == "wildcard_import")
        binds.clear(); // may bind any name; with no binds, the statement is always needed
      else
        binds.insert(text_of(child).substr(0, text_of(child).find('.')));
    }
  }

  /// An attribute target (`torch.backends.x = True`) binds no name of the file, so the statement
  /// counts as one with effects.
  void add_targets(TSNode target, std::set<std::string> &binds) const {
    if (ts_node_is_null(target))
      return;
    if (type_of(target) == "identifier")
      binds.insert(text_of(target));
    else if (type_of(target) == "pattern_list" || type_of(target) == "tuple_pattern" ||
             type_of(target) == "list_pattern")
      for (const TSNode child : named_children(target))
        add_targets(child, binds);
  }

  void collect_uses(TSNode node, std::set<std::string> &uses, int depth = 0) const {
    if (depth > kDeepest)
      return;
    if (type_of(node) == "identifier") {
      uses.insert(text_of(node));
      return;
    }
    const bool is_attribute = type_of(node) == "attribute";
    const bool is_keyword = type_of(node) == "keyword_argument";
    const TSNode skipped = is_attribute ? field(node, "attribute") : field(node, "name");
    for (const TSNode child : named_children(node))
      if (!((is_attribute || is_keyword) && ts_node_eq(child, skipped)))
        collect_uses(child, uses, depth + 1);
  }

  void add_class(TSNode node, Range range) {
    PythonClass made;
    const TSNode name = field(node, "name");
    made.name = text_of(name);
    made.range = range;
    made.name_range = range_of(name);
    made.line = line_of(name);
    if (const TSNode bases = field(node, "superclasses"); !ts_node_is_null(bases))
      for (const TSNode base : named_children(bases))
        if (type_of(base) != "keyword_argument" && type_of(base) != "comment")
          made.bases.push_back(text_of(base));
    if (const TSNode body = field(node, "body"); !ts_node_is_null(body))
      read_methods(body, made);
    file_.classes.push_back(std::move(made));
  }

  void read_methods(TSNode body, PythonClass &made, int depth = 0) const {
    for (const TSNode child : named_children(body)) {
      if (type_of(child) == "ERROR" && depth < kDeepest)
        read_methods(child, made, depth + 1);
      const TSNode definition =
          type_of(child) == "decorated_definition" ? field(child, "definition") : child;
      if (!ts_node_is_null(definition) && type_of(definition) == "function_definition")
        add_function(definition, range_of(child), made.methods);
    }
  }

  void add_function(TSNode node, Range range, std::vector<PythonFunction> &functions) const {
    PythonFunction made;
    const TSNode name = field(node, "name");
    made.name = text_of(name);
    made.range = range;
    made.name_range = range_of(name);
    if (const TSNode parameters = field(node, "parameters"); !ts_node_is_null(parameters))
      for (const TSNode parameter : named_children(parameters))
        add_parameter(parameter, made.parameters);
    functions.push_back(std::move(made));
  }

  void add_parameter(TSNode node, std::vector<PythonParameter> &parameters) const {
    const std::string_view type = type_of(node);
    if (type == "identifier") {
      parameters.push_back({text_of(node)});
    } else if (type == "default_parameter" || type == "typed_default_parameter") {
      parameters.push_back({.name = text_of(field(node, "name")), .has_default = true});
    } else if (type == "typed_parameter") {
      const TSNode inner = ts_node_named_child(node, 0);
      if (type_of(inner) == "identifier")
        parameters.push_back({text_of(inner)});
      else
        add_parameter(inner, parameters);
    } else if (type == "list_splat_pattern" || type == "dictionary_splat_pattern") {
      const std::string text = text_of(node);
      parameters.push_back({.name = text.substr(text.find_first_not_of('*')), .is_variadic = true});
    }
  }

  std::string code_of(Range range) const {
    std::string code;
    std::size_t at = range.begin;
    auto first = std::ranges::lower_bound(
        file_.comments, at, {}, [](const PythonComment &comment) { return comment.range.begin; });
    for (const PythonComment &comment : std::ranges::subrange(first, file_.comments.end())) {
      if (comment.range.end > range.end)
        break;
      code += text_.substr(at, comment.range.begin - at);
      at = comment.range.end;
    }
    code += text_.substr(at, range.end - at);
    return without_empty_lines(code);
  }

  static std::string without_empty_lines(const std::string &code) {
    std::string result;
    for (std::size_t begin = 0; begin < code.size();) {
      const std::size_t end = std::min(code.find('\n', begin), code.size());
      const std::string line = code.substr(begin, end - begin);
      if (const std::size_t last = line.find_last_not_of(" \t\r"); last != std::string::npos)
        result += (result.empty() ? "" : "\n") + line.substr(0, last + 1);
      begin = end + 1;
    }
    return result;
  }

  const std::string &text_;
  PythonFile file_;
};

} // namespace

Result<PythonFile> parse_python(const std::string &text) {
  if (count_python_tokens(text) > kMostTokens)
    return fail("the file is too large to be read: more than " + std::to_string(kMostTokens) +
                " tokens");
  const std::unique_ptr<TSParser, FreeParser> parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), tree_sitter_python()))
    return fail("the grammar of Python does not fit this tree-sitter",
                "Build with the versions that scripts/install-deps.sh installs");
  const std::unique_ptr<TSTree, FreeTree> tree(ts_parser_parse_string(
      parser.get(), nullptr, text.data(), static_cast<std::uint32_t>(text.size())));
  if (!tree)
    return fail("the parser gave up on the text");
  return Reader(text).read(ts_tree_root_node(tree.get()));
}

} // namespace warpwright::analysis
