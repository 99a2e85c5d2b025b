#include "analysis/python/module_spec.h"

#include "analysis/python/spec_text.h"

#include <algorithm>
#include <map>

namespace warpwright::analysis {
namespace {

constexpr std::string_view kMark = "warpwright:";

struct Argument {
  std::string name; ///< empty: passed by position
  std::string value;
};

enum class Kind { Float, Integer, Bool };

const std::map<std::string, Kind> kDtypes = {{"float16", Kind::Float}, {"bfloat16", Kind::Float},
                                             {"float32", Kind::Float}, {"float64", Kind::Float},
                                             {"int8", Kind::Integer},  {"uint8", Kind::Integer},
                                             {"int16", Kind::Integer}, {"int32", Kind::Integer},
                                             {"int64", Kind::Integer}, {"bool", Kind::Bool}};

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return c == '_' || std::isalpha(static_cast<unsigned char>(c));
  };
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [&](char c) {
    return is_letter(c) || std::isdigit(static_cast<unsigned char>(c));
  });
}

/// The trimmed text of a comment without `#`.
std::string text_of(const PythonComment &comment, const std::string &text) {
  const std::string whole = text.substr(comment.range.begin, comment.range.size());
  return trimmed(std::string_view(whole).substr(whole.find_first_not_of('#') == std::string::npos
                                                    ? whole.size()
                                                    : whole.find_first_not_of('#')));
}

bool stands_alone(const PythonComment &comment, const std::string &text) {
  const std::size_t start = text.rfind('\n', comment.range.begin);
  return trimmed(std::string_view(text).substr(start == std::string::npos ? 0 : start,
                                               comment.range.begin -
                                                   (start == std::string::npos ? 0 : start)))
      .empty();
}

std::vector<Argument> arguments_of(std::string_view text) {
  std::vector<Argument> arguments;
  for (const std::string &piece : split_outside(text, ',')) {
    const std::size_t at = find_assignment(piece);
    const std::string name =
        at == std::string::npos ? "" : trimmed(std::string_view(piece).substr(0, at));
    if (is_identifier(name))
      arguments.push_back({name, trimmed(std::string_view(piece).substr(at + 1))});
    else
      arguments.push_back({"", piece});
  }
  return arguments;
}

Result<std::string> values_of(const std::string &dtype, Kind kind, const std::string &shape,
                              const std::string &values) {
  const std::string size = "(" + shape + (shape.empty() ? ")" : ",)");
  const std::string typed = ", dtype=torch." + dtype + ")";
  if (values == "zeros")
    return "torch.zeros(" + size + typed;
  if (values.starts_with("integers ")) {
    const std::string span = trimmed(std::string_view(values).substr(9));
    const std::size_t dots = span.find("..");
    if (dots == std::string::npos || dots == 0 || dots + 2 == span.size())
      return fail("'" + values + "' is no range", "Write integers LOW..HIGH; HIGH is not reached");
    return "torch.randint(" + span.substr(0, dots) + ", " + span.substr(dots + 2) + ", " + size +
           (kind == Kind::Integer ? typed : ").to(torch." + dtype + ")");
  }
  if (kind == Kind::Bool && values.empty())
    return "(torch.rand(" + size + ") < 0.5)";
  if (kind == Kind::Integer)
    return fail("the values of " + dtype + "[" + shape + "] are not known",
                "Say their range: " + dtype + "[" + shape + "] integers 0..10");
  const std::string cast = dtype == "float32" ? "" : ".to(torch." + dtype + ")";
  if (values.empty() || values == "normal")
    return "torch.randn(" + size + ")" + cast;
  if (values == "uniform")
    return "torch.rand(" + size + ")" + cast;
  if (values == "positive")
    return "(torch.rand(" + size + ") + 0.5)" + cast;
  return fail("'" + values + "' is no distribution",
              "Write normal, uniform, positive, zeros or integers LOW..HIGH");
}

/// The expression for an argument: a tensor if the value is a dtype with a shape, else the value
/// itself.
Result<std::string> expression_of(const Argument &argument) {
  const std::string &value = argument.value;
  if (value.empty() || value.find('?') != std::string::npos)
    return fail("the value of " + (argument.name.empty() ? "an input" : argument.name) +
                    " is not filled in",
                "Replace the question marks, as in x=float32[16, 128]");
  const std::size_t bracket = value.find('[');
  const std::string dtype =
      bracket == std::string::npos ? value : trimmed(std::string_view(value).substr(0, bracket));
  const auto known = kDtypes.find(dtype);
  if (known == kDtypes.end())
    return value;
  const std::size_t close = bracket == std::string::npos ? bracket : value.rfind(']');
  if (close == std::string::npos)
    return fail("'" + value + "' has no shape",
                "Write it as " + dtype + "[16, 128]; [] for a scalar tensor");
  return values_of(dtype, known->second,
                   trimmed(std::string_view(value).substr(bracket + 1, close - bracket - 1)),
                   trimmed(std::string_view(value).substr(close + 1)));
}

/// Parameters of a method without self.
std::vector<PythonParameter> parameters_of(const PythonClass &module, const std::string &method) {
  const PythonFunction *function = module.find_method(method);
  if (!function || function->parameters.empty())
    return {};
  return {function->parameters.begin() + 1, function->parameters.end()};
}

bool takes_any(const std::vector<PythonParameter> &parameters) {
  return std::ranges::any_of(parameters, &PythonParameter::is_variadic);
}

/// Arguments in the order of forward's parameters, because inputs are passed by position.
Result<std::vector<Argument>> in_order(const PythonClass &module, std::vector<Argument> given) {
  const std::vector<PythonParameter> parameters = parameters_of(module, "forward");
  if (parameters.empty() || takes_any(parameters))
    return given;
  for (const Argument &argument : given)
    if (!argument.name.empty() &&
        std::ranges::find(parameters, argument.name, &PythonParameter::name) == parameters.end())
      return fail(module.name + ".forward has no parameter " + argument.name,
                  "Name its parameters, or leave the names away");
  std::vector<Argument> ordered;
  std::size_t used = 0;
  for (std::size_t i = 0; i < parameters.size() && used < given.size(); ++i) {
    const PythonParameter &parameter = parameters[i];
    auto found = std::ranges::find(given, parameter.name, &Argument::name);
    if (found == given.end() && i < given.size() && given[i].name.empty())
      found = given.begin() + static_cast<std::ptrdiff_t>(i);
    if (found == given.end())
      return fail("the input " + parameter.name + " of " + module.name + ".forward has no value",
                  "Inputs are given by position: add " + parameter.name + "=...");
    ordered.push_back(*found);
    ++used;
  }
  for (std::size_t i = ordered.size(); i < parameters.size(); ++i)
    if (!parameters[i].has_default)
      return fail("the input " + parameters[i].name + " of " + module.name +
                      ".forward has no value",
                  "Add " + parameters[i].name + "=float32[...] to the comment's inputs");
  if (used < given.size())
    return fail(module.name + ".forward takes " + std::to_string(parameters.size()) + " inputs");
  return ordered;
}

Result<std::string> inputs_text(const PythonClass &module, std::string_view item) {
  auto ordered = in_order(module, arguments_of(item));
  if (!ordered)
    return std::unexpected(ordered.error());
  std::string text;
  for (const Argument &argument : *ordered) {
    auto value = expression_of(argument);
    if (!value)
      return value;
    text += (text.empty() ? "" : ", ") + *value;
  }
  return "[" + text + "]";
}

/// The constructor's arguments, all by position or all by name; a runner accepts these two forms.
Result<std::string> init_text(const PythonClass &module, std::string item) {
  if (item.starts_with('(') && item.ends_with(')') &&
      is_balanced(std::string_view(item).substr(1, item.size() - 2)))
    item = item.substr(1, item.size() - 2);
  const std::vector<Argument> arguments = arguments_of(item);
  const bool named =
      std::ranges::any_of(arguments, [](const Argument &a) { return !a.name.empty(); });
  const std::vector<PythonParameter> parameters = parameters_of(module, "__init__");
  std::string text;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].value.find('?') != std::string::npos || arguments[i].value.empty())
      return fail("the argument " + arguments[i].name + " of the constructor is not filled in",
                  "Replace the question mark");
    std::string name = arguments[i].name;
    if (named && name.empty()) {
      if (i >= parameters.size() || parameters[i].is_variadic)
        return fail("the constructor's argument " + std::to_string(i + 1) + " has no name here",
                    "Name all arguments, or none");
      name = parameters[i].name;
    }
    text += (text.empty() ? "" : ", ") + (named ? name + "=" : "") + arguments[i].value;
  }
  return named ? "dict(" + text + ")" : "[" + text + "]";
}

Result<void> check_constructor(const PythonClass &module) {
  for (const PythonParameter &parameter : parameters_of(module, "__init__"))
    if (!parameter.has_default && !parameter.is_variadic)
      return fail("the argument " + parameter.name + " of " + module.name +
                      "'s constructor has no value",
                  "Add `init " + parameter.name + "=...` to the comment");
  return {};
}

std::string blanks(const PythonClass &module, const std::string &method, const std::string &value) {
  std::string text;
  for (const PythonParameter &parameter : parameters_of(module, method))
    if (!parameter.has_default && !parameter.is_variadic)
      text += (text.empty() ? "" : ", ") + parameter.name + "=" + value;
  return text;
}

} // namespace

std::optional<std::string> spec_above(const PythonFile &file, const std::string &text,
                                      std::size_t line, Range &range) {
  std::vector<const PythonComment *> above;
  for (auto comment = file.comments.rbegin(); comment != file.comments.rend(); ++comment)
    if (comment->line + 1 + above.size() == line && stands_alone(*comment, text))
      above.insert(above.begin(), &*comment);
  std::string joined;
  bool continues = false;
  for (const PythonComment *comment : above) {
    std::string words = text_of(*comment, text);
    const bool marked = words.starts_with(kMark);
    if (marked)
      words = trimmed(std::string_view(words).substr(kMark.size()));
    if (!marked && !continues)
      continue;
    if (joined.empty())
      range.begin = comment->range.begin;
    range.end = comment->range.end;
    joined += (joined.empty() ? "" : continues ? " " : ";") + words;
    continues = words.ends_with(',') || !is_balanced(words);
  }
  return joined.empty() ? std::nullopt : std::optional(joined);
}

Result<ModuleSpec> read_module_spec(const std::string &comment, const PythonClass &module,
                                    ModuleSpec spec) {
  if (!is_balanced(comment))
    return fail("a bracket or quote of the comment is not closed");
  for (const std::string &item : split_outside(comment, ';')) {
    const std::string word = item.substr(0, item.find_first_of(" \t("));
    const std::string rest = trimmed(std::string_view(item).substr(word.size()));
    Result<std::string> text = rest;
    if (word == "inputs")
      spec.inputs = (text = inputs_text(module, rest)) ? *text : "";
    else if (word == "init")
      spec.init_inputs = (text = init_text(module, rest)) ? *text : "";
    else if (const auto mode = model::module_mode_from_name(word); mode && rest.empty())
      spec.mode = *mode;
    else
      return fail("'" + item + "' is not understood",
                  "Write inputs NAME=VALUE, ...; init VALUE, ...; eval, train or made");
    if (!text)
      return std::unexpected(text.error());
  }
  if (spec.inputs.empty())
    return fail("the comment gives no inputs of " + module.name, "Write inputs x=float32[16, 128]");
  if (spec.init_inputs.empty()) {
    if (auto constructed = check_constructor(module); !constructed)
      return std::unexpected(constructed.error());
    spec.init_inputs = "[]";
  }
  return spec;
}

std::string suggested_module_spec(const PythonClass &module) {
  std::string inputs = blanks(module, "forward", "float32[?]");
  if (inputs.empty())
    inputs = "float32[?]";
  const std::string init = blanks(module, "__init__", "?");
  return "# warpwright: inputs " + inputs + (init.empty() ? "" : "; init " + init) + "\n";
}

} // namespace warpwright::analysis
