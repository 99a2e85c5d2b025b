#include "runner/service/operator_code.h"
#include "support/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace warpwright::runner {
namespace {

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// A letter and digits: "a12", a value of the program.
bool is_numbered(std::string_view name, std::string_view letters) {
  return name.size() > 1 && letters.contains(name[0]) &&
         std::ranges::all_of(name.substr(1),
                             [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
}

/// The part before the first dot, which is removed from `chain` with the dot.
std::string_view take_part(std::string_view &chain) {
  const std::size_t dot = std::min(chain.find('.'), chain.size());
  const std::string_view part = chain.substr(0, dot);
  chain.remove_prefix(std::min(dot + 1, chain.size()));
  return part;
}

/// Returns true for operators without side effects: they change no argument, file or generator.
bool is_functional(std::string_view name, std::string_view overload) {
  return !name.empty() && !overload.empty() && !overload.contains('.') && !name.ends_with('_') &&
         !name.starts_with("__") && !overload.starts_with('_') && !overload.contains("out") &&
         std::ranges::none_of(
             std::array{"file", "print", "resize", "set", "record_stream", "seed", "pin_memory"},
             [&](const char *part) { return name.contains(part); });
}

/// Names behind "torch.".
bool is_torch_name(std::string_view chain) {
  if (chain.starts_with("ops.")) {
    chain.remove_prefix(4);
    const std::string_view library = take_part(chain), name = take_part(chain);
    return is_any_of(library, {"aten", "prims"}) && is_functional(name, chain);
  }
  return is_any_of(chain, {"nn.Module",
                           "nn.functional.scaled_dot_product_attention",
                           "arange",
                           "flip",
                           "rand",
                           "randn",
                           "randint",
                           "bool",
                           "uint8",
                           "int8",
                           "int16",
                           "int32",
                           "int64",
                           "float16",
                           "bfloat16",
                           "float32",
                           "float64",
                           "complex64",
                           "complex128",
                           "strided",
                           "contiguous_format",
                           "preserve_format",
                           "channels_last",
                           "channels_last_3d"});
}

/// Names with dots between them; a leading dot belongs to a method of the expression before it.
bool is_known_chain(std::string_view chain, bool is_keyword_argument) {
  const std::string_view methods[] = {"to",  "reshape",   "permute", "contiguous",
                                      "abs", "clamp_min", "dtype",   "device"};
  const std::string_view whole = chain, first = take_part(chain);
  if (first.empty()) // behind super() stands __init__
    return std::ranges::find(methods, chain) != std::end(methods) || chain == "__init__";
  if (first == "torch")
    return chain.empty() || is_torch_name(chain);
  if (first == "self")
    return chain.empty() || is_numbered(chain, "n");
  if (is_numbered(first, "abn"))
    return chain.empty() || std::ranges::find(methods, chain) != std::end(methods);
  return whole == first &&
         (is_keyword_argument ||
          is_any_of(whole,
                    {"class", "def", "return", "import", "Model", "forward", "get_inputs",
                     "get_init_inputs", "__init__", "super", "float", "True", "False", "None"}));
}

/// The tokens of a file, of which only the kind matters that may stand anywhere in operator code.
class Tokens {
public:
  explicit Tokens(std::string_view text) : text_(text) {}

  bool are_known() {
    skip_docstring();
    while (!text_.empty())
      if (!take_one())
        return false;
    return true;
  }

private:
  void skip_docstring() {
    constexpr std::string_view kQuotes = "\"\"\"";
    if (!text_.starts_with(kQuotes))
      return;
    const std::size_t end = text_.find(kQuotes, kQuotes.size());
    if (end != text_.npos && !text_.substr(0, end).contains('\\'))
      text_.remove_prefix(end + kQuotes.size());
  }

  bool take_one() {
    const char c = text_.front();
    if (std::isdigit(static_cast<unsigned char>(c)))
      return take_while([](char d) { return is_word(d) || d == '.'; }),
             true; // also 1e-05, in two parts
    if (is_word(c) || (c == '.' && text_.size() > 1 && is_word(text_[1])))
      return take_chain();
    if (c == '"')
      return take_string();
    text_.remove_prefix(1);
    depth_ += std::string_view("([").contains(c) - std::string_view(")]").contains(c);
    begins_line_ = c == '\n' || (begins_line_ && c == ' ');
    return std::string_view("()[],:<>*+- \n").contains(c);
  }

  /// With the equals sign behind it: a line assigns to one name, or a call names an argument. A name with a dot is
  /// never assigned to, but for the module's sizes.
  bool take_chain() {
    const bool begins_line = std::exchange(begins_line_, false);
    const std::string_view chain = take_while([](char d) { return is_word(d) || d == '.'; });
    if (chain == "import")
      return text_.starts_with(" torch\n");
    const std::size_t next = std::min(text_.find_first_not_of(' '), text_.size());
    const bool is_assigned = text_.substr(next).starts_with('=');
    if (is_assigned)
      text_.remove_prefix(next + 1);
    const bool is_argument = is_assigned && depth_ > 0;
    if (is_assigned && !is_argument && !begins_line)
      return false;
    return is_known_chain(chain, is_argument) &&
           !(is_assigned && chain.contains('.') && !chain.starts_with("self."));
  }

  bool take_string() {
    text_.remove_prefix(1);
    const auto is_plain = [](char d) { return is_word(d) || d == '-'; };
    take_while(is_plain);
    const bool ends = text_.starts_with('"');
    text_.remove_prefix(ends ? 1 : 0);
    return ends;
  }

  std::string_view take_while(const auto &belongs) {
    const std::size_t size =
        static_cast<std::size_t>(std::ranges::find_if_not(text_, belongs) - text_.begin());
    const std::string_view taken = text_.substr(0, size);
    text_.remove_prefix(size);
    return taken;
  }

  std::string_view text_;
  int depth_ = 0; ///< of brackets
  bool begins_line_ = true;
};

} // namespace

bool only_calls_operators(const model::TorchModule &module) {
  return module.language == "python" && module.model == "Model" && module.files.empty() &&
         module.path.empty() && Tokens(module.source).are_known() &&
         Tokens(module.inputs).are_known() && Tokens(module.init_inputs).are_known();
}

} // namespace warpwright::runner
