// A walk over type and value together.
#include "tests/server/meta_model.h"

#include <cstdlib>
#include <fstream>

namespace warpwright::tests {

namespace {

std::map<std::string, Json> by(const char *key, const Json &list) {
  std::map<std::string, Json> result;
  for (const Json &item : list)
    result[item.at(key)] = item;
  return result;
}

/// Beyond the specification; the server says which (server/protocol/extensions.h).
bool is_own(const std::string &method) { return method.starts_with("warpwright/"); }

std::string excerpt(const Json &value) { return value.dump().substr(0, 80); }

} // namespace

std::optional<MetaModel> MetaModel::load() {
  const char *chosen = std::getenv("WARPWRIGHT_METAMODEL");
  std::ifstream file(chosen ? chosen : WARPWRIGHT_SOURCE_DIR "/../shared/lsp/metaModel.json");
  if (!file)
    return std::nullopt;
  return MetaModel(Json::parse(file));
}

MetaModel::MetaModel(Json document)
    : requests_(by("method", document.at("requests"))),
      notifications_(by("method", document.at("notifications"))),
      structures_(by("name", document.at("structures"))),
      enumerations_(by("name", document.at("enumerations"))),
      aliases_(by("name", document.at("typeAliases"))) {}

Violations MetaModel::check_request(const std::string &method, const Json &params) const {
  Violations found;
  const auto request = requests_.find(method);
  if (request == requests_.end())
    return {method + ": no such request"};
  if (request->second.at("messageDirection") == "clientToServer")
    found.push_back(method + ": a server does not send this");
  check_params(request->second, params, found);
  return found;
}

Violations MetaModel::check_notification(const std::string &method, const Json &params) const {
  Violations found;
  if (is_own(method))
    return found;
  const auto notification = notifications_.find(method);
  if (notification == notifications_.end())
    return {method + ": no such notification"};
  if (notification->second.at("messageDirection") == "clientToServer")
    found.push_back(method + ": a server does not send this");
  check_params(notification->second, params, found);
  if (method == "$/progress" && found.empty()) {
    const std::string kind = params.at("value").value("kind", "");
    const std::string type = kind == "begin"    ? "WorkDoneProgressBegin"
                             : kind == "report" ? "WorkDoneProgressReport"
                                                : "WorkDoneProgressEnd";
    check_reference(type, params.at("value"), method + ".value", found);
  }
  return found;
}

Violations MetaModel::check_result(const std::string &method, const Json &result) const {
  Violations found;
  if (is_own(method))
    return found;
  const auto request = requests_.find(method);
  if (request == requests_.end())
    return {method + ": no such request"};
  check(request->second.at("result"), result, method + " result", found);
  return found;
}

Violations MetaModel::check_type(const std::string &name, const Json &value) const {
  Violations found;
  check_reference(name, value, name, found);
  return found;
}

void MetaModel::check_params(const Json &message, const Json &params, Violations &found) const {
  const std::string method = message.at("method");
  if (const auto type = message.find("params"); type != message.end())
    check(*type, params, method, found);
  else if (!params.is_null())
    found.push_back(method + ": takes no parameters, got " + excerpt(params));
}

void MetaModel::check(const Json &type, const Json &value, const std::string &path,
                      Violations &found) const {
  const std::string kind = type.at("kind");
  if (kind == "base")
    check_base(type.at("name"), value, path, found);
  else if (kind == "reference")
    check_reference(type.at("name"), value, path, found);
  else if (kind == "or")
    check_any_of(type.at("items"), value, path, found);
  else if (kind == "map")
    check_map(type, value, path, found);
  else if (kind == "tuple")
    check_tuple(type.at("items"), value, path, found);
  else if (kind == "stringLiteral") {
    if (value != type.at("value"))
      found.push_back(path + ": must be " + type.at("value").dump() + ", is " + excerpt(value));
  } else if (kind == "array") {
    if (!value.is_array())
      found.push_back(path + ": must be an array, is " + excerpt(value));
    for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
      check(type.at("element"), value[i], path + "[" + std::to_string(i) + "]", found);
  } else if (kind == "and" || kind == "literal") {
    Properties properties;
    collect(type, properties);
    check_properties(properties, value, path, found);
  } else {
    found.push_back(path + ": the model has an unknown kind of type: " + kind);
  }
}

void MetaModel::check_base(const std::string &name, const Json &value, const std::string &path,
                           Violations &found) const {
  constexpr std::int64_t kLimit = std::int64_t(1) << 31;
  const auto in_range = [&](std::int64_t low) {
    return value.is_number_integer() && value.get<std::int64_t>() >= low &&
           value.get<std::int64_t>() < kLimit;
  };
  bool fits = false;
  if (name == "integer")
    fits = in_range(-kLimit);
  else if (name == "uinteger")
    fits = in_range(0);
  else if (name == "decimal")
    fits = value.is_number();
  else if (name == "boolean")
    fits = value.is_boolean();
  else if (name == "null")
    fits = value.is_null();
  else if (name == "URI" || name == "DocumentUri")
    fits = value.is_string() && value.get<std::string>().find(':') != std::string::npos;
  else if (name == "string" || name == "RegExp")
    fits = value.is_string();
  if (!fits)
    found.push_back(path + ": must be " + name + ", is " + excerpt(value));
}

void MetaModel::check_reference(const std::string &name, const Json &value, const std::string &path,
                                Violations &found) const {
  if (name == "LSPAny" || name == "LSPArray" || name == "LSPObject")
    return;
  if (const auto structure = structures_.find(name); structure != structures_.end()) {
    Properties properties;
    collect({{"kind", "reference"}, {"name", name}}, properties);
    check_properties(properties, value, path, found);
  } else if (const auto enumeration = enumerations_.find(name);
             enumeration != enumerations_.end()) {
    check_enumeration(enumeration->second, value, path, found);
  } else if (const auto alias = aliases_.find(name); alias != aliases_.end()) {
    check(alias->second.at("type"), value, path, found);
  } else {
    found.push_back(path + ": the model has no type " + name);
  }
}

/// Properties of a structure, a literal or an intersection; own ones override inherited ones.
void MetaModel::collect(const Json &type, Properties &properties) const {
  const std::string kind = type.at("kind");
  const auto add = [&](const Json &list) {
    for (const Json &property : list)
      properties[property.at("name")] = property;
  };
  if (kind == "and") {
    for (const Json &item : type.at("items"))
      collect(item, properties);
  } else if (kind == "literal") {
    add(type.at("value").at("properties"));
  } else if (kind == "reference") {
    const Json &structure = structures_.at(type.at("name"));
    for (const char *inherited : {"extends", "mixins"})
      for (const Json &parent : structure.value(inherited, Json::array()))
        collect(parent, properties);
    add(structure.at("properties"));
  }
}

void MetaModel::check_properties(const Properties &properties, const Json &value,
                                 const std::string &path, Violations &found) const {
  if (!value.is_object()) {
    found.push_back(path + ": must be an object, is " + excerpt(value));
    return;
  }
  for (const auto &[name, property] : properties)
    if (const auto member = value.find(name); member != value.end())
      check(property.at("type"), *member, path + "." + name, found);
    else if (!property.value("optional", false))
      found.push_back(path + ": lacks " + name);
  for (const auto &[name, member] : value.items())
    if (!properties.contains(name))
      found.push_back(path + ": has an unknown property " + name);
}

void MetaModel::check_any_of(const Json &items, const Json &value, const std::string &path,
                             Violations &found) const {
  Violations closest;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Violations violations;
    check(items[i], value, path, violations);
    if (violations.empty())
      return;
    // The alternative that got deepest into the value says best what is wrong.
    if (i == 0 || violations.front().size() > closest.front().size())
      closest = violations;
  }
  found.push_back(path + ": no alternative fits " + excerpt(value));
  found.insert(found.end(), closest.begin(), closest.end());
}

void MetaModel::check_map(const Json &type, const Json &value, const std::string &path,
                          Violations &found) const {
  if (!value.is_object()) {
    found.push_back(path + ": must be a map, is " + excerpt(value));
    return;
  }
  for (const auto &[key, member] : value.items()) {
    check(type.at("key"), key, path + " key", found);
    check(type.at("value"), member, path + "[" + key + "]", found);
  }
}

void MetaModel::check_tuple(const Json &items, const Json &value, const std::string &path,
                            Violations &found) const {
  if (!value.is_array() || value.size() != items.size()) {
    found.push_back(path + ": must be a tuple of " + std::to_string(items.size()) + ", is " +
                    excerpt(value));
    return;
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    check(items[i], value[i], path + "[" + std::to_string(i) + "]", found);
}

void MetaModel::check_enumeration(const Json &enumeration, const Json &value,
                                  const std::string &path, Violations &found) const {
  check_base(enumeration.at("type").at("name"), value, path, found);
  if (enumeration.value("supportsCustomValues", false))
    return;
  for (const Json &known : enumeration.at("values"))
    if (known.at("value") == value)
      return;
  found.push_back(path + ": " + excerpt(value) + " is no value of " +
                  enumeration.at("name").get<std::string>());
}

} // namespace warpwright::tests
