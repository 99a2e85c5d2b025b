#include "trainer/endpoint/host_code.h"
#include "support/text.h"

#include <array>
#include <cctype>
#include <string_view>

namespace warpwright::trainer {
namespace {

struct Sign {
  std::string_view text;
  bool whole_word;
  std::string_view why;
};

constexpr Sign kSigns[] = {
    {"<<<", false, "it launches a kernel with <<< >>>; launches belong into the plan's steps"},
    {"__host__", true, "it declares a __host__ function"},
    {"main", true, "it has a main function"},
    {"torch", true, "it uses torch"},
    {"at::", false, "it uses ATen"},
    {"c10::", false, "it uses c10"},
    {"PYBIND11_MODULE", true, "it binds functions for Python"},
    {"TORCH_LIBRARY", true, "it registers operators"},
    {"load_inline", true, "it is Python that compiles an extension"},
    {"import", true, "it is Python"},
    {"def", true, "it is Python"},
    {"std::thread", false, "it starts threads"},
    {"std::vector", false, "it uses containers of the host"},
    {"std::cout", false, "it prints from the host"},
    {"dlopen", true, "it loads libraries"},
    {"system", true, "it calls system()"},
    {"cublas", false, "it calls cuBLAS; a library step of the plan may do that"},
    {"cudnn", false, "it calls cuDNN; a library step of the plan may do that"},
};

/// Names of the CUDA runtime, beginning with `cuda`, that device code may call.
constexpr std::string_view kDeviceCalls[] = {"cudaGridDependencySynchronize",
                                             "cudaTriggerProgrammaticLaunchCompletion"};

/// True if a sign stands at word boundaries: `float::x` does not match `at::`; `torch::Tensor` matches `torch`.
bool stands(const std::string &code, std::size_t at, const Sign &sign) {
  const std::size_t end = at + sign.text.size();
  return !(is_word(sign.text.front()) && at > 0 && is_word(code[at - 1])) &&
         !(sign.whole_word && end < code.size() && is_word(code[end]));
}

std::size_t line_of(const std::string &text, std::size_t at) {
  std::size_t line = 1;
  for (std::size_t i = 0; i < at; ++i)
    line += text[i] == '\n';
  return line;
}

/// Finds a call of the CUDA runtime, such as cudaMalloc(...).
std::optional<std::pair<std::size_t, std::string>> runtime_call(const std::string &code) {
  for (std::size_t at = code.find("cuda"); at != std::string::npos;
       at = code.find("cuda", at + 4)) {
    if ((at > 0 && is_word(code[at - 1])) || at + 4 >= code.size() ||
        !std::isupper(static_cast<unsigned char>(code[at + 4])))
      continue;
    std::size_t end = at;
    while (end < code.size() && is_word(code[end]))
      ++end;
    const std::string name = code.substr(at, end - at);
    bool device = false;
    for (const std::string_view known : kDeviceCalls)
      device = device || name == known;
    while (end < code.size() && code[end] == ' ')
      ++end;
    if (!device && end < code.size() && code[end] == '(')
      return std::pair{at, name};
  }
  return std::nullopt;
}

} // namespace

std::string without_comments(const std::string &source) {
  std::string code = source;
  enum class In { Code, Line, Block, Text, Character } state = In::Code;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = source[i], next = i + 1 < source.size() ? source[i + 1] : '\0';
    const bool ends_block = state == In::Block && c == '*' && next == '/';
    switch (state) {
    case In::Code:
      state = c == '/' && next == '/'                            ? In::Line
              : c == '/' && next == '*'                          ? In::Block
              : c == '"'                                         ? In::Text
              : c == '\'' && (i == 0 || !is_word(source[i - 1])) ? In::Character
                                                                 : In::Code;
      if (state == In::Line || state == In::Block) {
        code[i] = code[i + 1] = ' ';
        ++i;
      }
      break;
    case In::Line:
      if (c == '\n')
        state = In::Code;
      else
        code[i] = ' ';
      break;
    case In::Block:
      if (c != '\n')
        code[i] = ' ';
      if (ends_block) {
        code[i + 1] = ' ';
        ++i;
        state = In::Code;
      }
      break;
    case In::Text:
    case In::Character:
      if (c == '\\' && next) {
        code[i] = code[i + 1] = ' ';
        ++i;
      } else if (c == (state == In::Text ? '"' : '\'') || c == '\n') {
        state = In::Code;
      } else {
        code[i] = ' ';
      }
      break;
    }
  }
  return code;
}

std::optional<std::string> host_code_in(const std::string &source) {
  const std::string code = without_comments(source);
  std::size_t first = std::string::npos;
  std::string why;
  for (const Sign &sign : kSigns)
    for (std::size_t at = code.find(sign.text); at != std::string::npos && at < first;
         at = code.find(sign.text, at + 1))
      if (stands(code, at, sign)) {
        first = at;
        why = sign.why;
      }
  if (const auto call = runtime_call(code); call && call->first < first) {
    first = call->first;
    why = "it calls " + call->second + ", which is the host's";
  }
  if (first == std::string::npos)
    return std::nullopt;
  return why + " (line " + std::to_string(line_of(code, first)) + ")";
}

std::optional<std::string> host_code_in(const model::Plan &plan) {
  for (const model::Step &step : plan.steps)
    if (std::holds_alternative<model::ModuleStep>(step))
      return "the plan calls a module, which is host code; only launches, fills and library steps "
             "are a candidate's";
  return std::nullopt;
}

} // namespace warpwright::trainer
