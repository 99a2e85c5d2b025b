#include "runner/service/code_shelves.h"
#include "runner/verify/compile_cache.h"

namespace warpwright::runner {
namespace {

using nlohmann::json;

/// Shelf name. The owner's length comes first, so that one owner's name cannot match another's
/// shelf.
std::string shelf_of(const Binding &binding) {
  const std::string owner = std::to_string(binding.owner.size()) + ":" + binding.owner;
  return binding.code_hash.empty() ? "owner " + owner : "code " + owner + binding.code_hash;
}
constexpr const char *kJudge = "judge";

std::string entry(const std::string &shelf, const std::string &key) {
  return "code\n" + shelf + "\n" + key;
}

} // namespace

json CodeShelves::find(const std::optional<Binding> &binding, const std::string &key) const {
  std::vector<std::string> shelves = {kJudge};
  if (binding)
    shelves.push_back(shelf_of({binding->owner, ""}));
  if (binding && !binding->code_hash.empty())
    shelves.push_back(shelf_of(*binding));
  for (const std::string &shelf : shelves)
    if (const auto text = store_.read(entry(shelf, key)))
      return json::parse(*text, nullptr, false);
  return nullptr;
}

void CodeShelves::keep(const std::optional<Binding> &binding, const std::string &key,
                       const json &code) const {
  if (binding && compiled_code_from_json(code))
    store_.write(entry(shelf_of(*binding), key), code.dump());
}

void CodeShelves::keep_of_judge(const std::string &key, const json &code) const {
  if (compiled_code_from_json(code))
    store_.write(entry(kJudge, key), code.dump());
}

} // namespace warpwright::runner
