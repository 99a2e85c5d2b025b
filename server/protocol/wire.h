// JSON encoding and decoding of protocol structs. Each struct has one list of fields, so that a
// name is written once.
//
// A wire struct has `static void fields(Self &, Visit &&)`, which calls visit(name, member) for
// each member. Empty std::optional members are left out. Decoding throws nlohmann's exceptions for
// JSON of another shape; request dispatch turns them into InvalidParams. Thread: any.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace warpwright::server::protocol {

using Json = nlohmann::json;

namespace detail {
struct AnyVisitor {
  template <class T>
  void operator()(const char *, T &) {}
};
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
} // namespace detail

template <class T>
concept WireStruct = requires(T &value) { T::fields(value, detail::AnyVisitor{}); };

/// Result of requests that answer null.
struct Null {};

template <class T>
Json encode(const T &value) {
  if constexpr (std::is_same_v<T, Null>) {
    return nullptr;
  } else if constexpr (detail::is_optional<T>) {
    return value ? encode(*value) : Json();
  } else if constexpr (detail::is_vector<T>) {
    Json array = Json::array();
    for (const auto &item : value)
      array.push_back(encode(item));
    return array;
  } else if constexpr (WireStruct<T>) {
    Json object = Json::object();
    T::fields(const_cast<T &>(value), [&](const char *name, const auto &member) {
      if constexpr (detail::is_optional<std::remove_cvref_t<decltype(member)>>) {
        if (member)
          object[name] = encode(*member);
      } else {
        object[name] = encode(member);
      }
    });
    return object;
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else {
    return value;
  }
}

/// Decodes JSON. Throws nlohmann::json::exception. An empty array counts as an empty object,
/// because Lua clients send `{}` as `[]`.
template <class T>
T decode(const Json &json) {
  if constexpr (std::is_same_v<T, Json>) {
    return json;
  } else if constexpr (std::is_same_v<T, Null>) {
    return {};
  } else if constexpr (detail::is_optional<T>) {
    return json.is_null() ? T() : T(decode<typename T::value_type>(json));
  } else if constexpr (detail::is_vector<T>) {
    T items;
    for (const Json &item : json.get_ref<const Json::array_t &>())
      items.push_back(decode<typename T::value_type>(item));
    return items;
  } else if constexpr (WireStruct<T>) {
    const Json object = json.is_array() && json.empty() ? Json::object() : json;
    T value;
    T::fields(value, [&](const char *name, auto &member) {
      using Member = std::remove_cvref_t<decltype(member)>;
      if constexpr (detail::is_optional<Member> || std::is_same_v<Member, Json>) {
        const auto found = object.get_ref<const Json::object_t &>().find(name);
        if (found != object.get_ref<const Json::object_t &>().end())
          member = decode<Member>(found->second);
      } else {
        member = decode<Member>(object.at(name));
      }
    });
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(json.get<int>());
  } else {
    return json.get<T>();
  }
}

} // namespace warpwright::server::protocol
