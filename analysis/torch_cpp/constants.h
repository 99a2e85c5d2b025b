// Values of expressions without running the program: default arguments, constructor arguments,
// dtypes.
//
// Known are literals, enumerators, constants, arithmetic on them, lists, and parameters whose
// values the caller gives. Other values are Unknown, which is no error here. Thread: the unit's
// thread.
#pragma once

#include "analysis/parsed_unit.h"
#include "support/model/graph.h"

#include <map>
#include <variant>

namespace warpwright::analysis::torch_cpp {

struct Unknown {}; ///< the text does not determine the value
struct Absent {};  ///< an omitted argument
struct None {};    ///< nullopt, nullptr, an undefined tensor
struct Value;
using List = std::vector<Value>;

struct Value {
  std::variant<Unknown, Absent, None, bool, std::int64_t, double, model::Dtype, std::string, List>
      data;

  Value() = default;
  template <class T>
    requires(!std::is_same_v<std::decay_t<T>, Value>)
  Value(T &&value) : data(std::forward<T>(value)) {}

  template <class T>
  const T *as() const {
    return std::get_if<T>(&data);
  }
  bool is_number() const { return as<bool>() || as<std::int64_t>() || as<double>(); }
  /// The number; nullopt for other values.
  std::optional<double> number() const;
  /// The value of an integer or a flag.
  std::optional<std::int64_t> integer() const;
  /// The values of a list of integers. A single integer is a list of one.
  std::optional<model::Shape> integers() const;
};

/// Values of parameters, by declaration.
using Bindings = std::map<const clang::ValueDecl *, Value>;

/// @param known values of parameters that the expression may name
Value constant(const ParsedUnit &unit, const clang::Expr &expression, const Bindings &known = {});

} // namespace warpwright::analysis::torch_cpp
