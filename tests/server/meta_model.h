// Checks messages against the machine-readable specification of the Language Server Protocol
// (metaModel.json).
//
// Types are checked as the specification defines them: structures with what they extend and mix in,
// unions, literals, enumerations, aliases. A property that the specification does not know is a
// violation, and so is a message in the wrong direction. The file is Microsoft's and not part of
// this project: where it is absent, load() has nothing and tests say that the check was skipped.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::tests {

using Json = nlohmann::json;
using Violations = std::vector<std::string>;

class MetaModel {
public:
  /// From $WARPWRIGHT_METAMODEL, else ../shared/lsp/metaModel.json beside the source tree.
  static std::optional<MetaModel> load();
  explicit MetaModel(Json document);

  /// Of messages that the server sends.
  Violations check_request(const std::string &method, const Json &params) const;
  Violations check_notification(const std::string &method, const Json &params) const;
  /// Of the server's answer to a request of the client.
  Violations check_result(const std::string &method, const Json &result) const;
  /// Any value against a type of the specification by its name.
  Violations check_type(const std::string &name, const Json &value) const;

private:
  using Properties = std::map<std::string, Json>;
  void check(const Json &type, const Json &value, const std::string &path, Violations &found) const;
  void check_base(const std::string &name, const Json &value, const std::string &path,
                  Violations &found) const;
  void check_reference(const std::string &name, const Json &value, const std::string &path,
                       Violations &found) const;
  void check_properties(const Properties &properties, const Json &value, const std::string &path,
                        Violations &found) const;
  void check_any_of(const Json &items, const Json &value, const std::string &path,
                    Violations &found) const;
  void check_map(const Json &type, const Json &value, const std::string &path,
                 Violations &found) const;
  void check_tuple(const Json &items, const Json &value, const std::string &path,
                   Violations &found) const;
  void check_enumeration(const Json &enumeration, const Json &value, const std::string &path,
                         Violations &found) const;
  void check_params(const Json &message, const Json &params, Violations &found) const;
  void collect(const Json &type, Properties &properties) const;

  std::map<std::string, Json> requests_, notifications_, structures_, enumerations_, aliases_;
};

} // namespace warpwright::tests
