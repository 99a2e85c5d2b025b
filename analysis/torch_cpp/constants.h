// Values of expressions that are known without running the program: default arguments, a constructor's arguments, dtypes.
//
// Literals, enumerators, constants, arithmetic on them, lists, and parameters whose values the caller gives. Everything else is Unknown; it
// is no error here. Thread: the unit's.
#pragma once

#include "analysis/parsed_unit.h"
#include "support/model/graph.h"

#include <map>
#include <variant>

namespace warpwright::analysis::torch_cpp {

struct Unknown {}; ///< the text does not tell it
struct Absent {};  ///< an argument that is not given
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
  /// nullopt: no number.
  std::optional<double> number() const;
  /// The value of a whole number or a flag.
  std::optional<std::int64_t> integer() const;
  /// The values of a list of whole numbers; a single one is a list of one.
  std::optional<model::Shape> integers() const;
};

/// Values of parameters by declaration.
using Bindings = std::map<const clang::ValueDecl *, Value>;

/// @param known parameters that the expression may name
Value constant(const ParsedUnit &unit, const clang::Expr &expression, const Bindings &known = {});

} // namespace warpwright::analysis::torch_cpp
