#include "trainer/ranker/kernel_facts.h"

#include "support/files.h"
#include "support/hash.h"
#include "trainer/environment/env_line.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

constexpr int kFormatVersion = 1;
constexpr const char *kFormat = "warpwright_kernel_facts";

Result<KernelFacts> parsed(std::istream &input) {
  KernelFacts facts;
  std::string text;
  for (int number = 1; std::getline(input, text); ++number) {
    try {
      const Json line = Json::parse(text);
      if (number == 1 && line.at(kFormat) != kFormatVersion)
        return fail("it has format " + line.at(kFormat).dump());
      if (number == 1)
        line.at("templates").get_to(facts.templates);
      else
        facts.kernels[line.at("source")] = line.at("kernel").get<KernelNumbers>();
    } catch (const Json::exception &error) {
      return fail("line " + std::to_string(number) + ": " + error.what());
    }
  }
  return facts;
}

} // namespace

Result<KernelFacts> ask_kernel_facts(const RecordBook &book, EnvLine &env) {
  KernelFacts facts;
  const Json kinds = TRY(env.call("kinds", Json::object()));
  for (const Json &kind : kinds.at("kinds"))
    if (kind.at("is_template"))
      facts.templates.insert(kind.at("name"));
  for (const auto &[id, task] : book.tasks()) {
    if (task.language == kTorchLanguage)
      continue;
    const std::string source = task.definition.at("reference").at("source");
    const std::string hash = sha256_hex(source);
    if (facts.kernels.contains(hash))
      continue;
    auto answer = env.call("facts", {{"task", task.definition}});
    if (!answer)
      return fail("no facts of " + id + ": " + answer.error().message, answer.error().remedy);
    facts.kernels[hash] = answer->at("kernel").get<KernelNumbers>();
  }
  return facts;
}

Result<KernelFacts> read_kernel_facts(const std::string &path) {
  std::ifstream input(path);
  if (!input)
    return fail("cannot read " + path, "Make it: warpwright-train ranker --kernel-facts " + path);
  auto facts = parsed(input);
  if (!facts)
    return fail(path + " holds no facts of kernels: " + facts.error().message,
                "Make it again: warpwright-train ranker --kernel-facts " + path);
  return facts;
}

Result<void> write_kernel_facts(const KernelFacts &facts, const std::string &path) {
  std::string text = Json{{kFormat, kFormatVersion}, {"templates", facts.templates}}.dump() + "\n";
  for (const auto &[source, numbers] : facts.kernels)
    text += Json{{"source", source}, {"kernel", numbers}}.dump() + "\n";
  return write_atomically(path, text);
}

} // namespace warpwright::trainer
