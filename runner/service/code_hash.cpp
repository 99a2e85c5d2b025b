#include "runner/service/code_hash.h"
#include "runner/service/operator_code.h"
#include "support/hash.h"
#include "support/model/json.h"

namespace warpwright::runner {
namespace {

/// The text with one mark for each number.
std::string without_numbers(const std::string &text) {
  std::string result;
  for (const char c : text)
    if (c < '0' || c > '9')
      result += c;
    else if (!result.ends_with('#'))
      result += '#';
  return result;
}

} // namespace

std::string code_hash(const model::Task &task) {
  if (!task.module)
    return "";
  if (only_calls_operators(*task.module))
    return "operators";
  model::TorchModule module = *task.module;
  module.inputs = without_numbers(module.inputs);
  module.init_inputs = without_numbers(module.init_inputs);
  return sha256_hex(model::to_json(module).dump());
}

} // namespace warpwright::runner
