// What expressions of a torch function are worth while its body is followed at fixed shapes.
//
// Shapes, numbers, flags and lists are known; tensors are nodes of the graph under construction. What is not known says why, and is no
// error before something needs it. Thread: values, one.
#pragma once

#include "support/model/graph.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace clang {
class CXXRecordDecl;
}

namespace warpwright::generator::torch_cpp {

/// A tensor of the function: which node it stands for, through views and writes in place. A view knows its base and the way from the
/// base's value to its own and back; a write goes to the base, and other views are read anew from there.
struct Tracked {
  std::string node;
  std::shared_ptr<Tracked> base = {}; ///< null: it owns its memory
  std::function<std::string(const std::string &base)> forward = {};
  /// (value of base, new value of this) -> new value of base; empty: it cannot be written through
  std::function<std::string(const std::string &base, const std::string &now)> backward = {};
  std::size_t version = 0;

  Tracked &root() { return base ? base->root() : *this; }
  /// The node that it stands for now.
  const std::string &read();
  /// False: it is a view that cannot be written through.
  bool write(const std::string &value);
};
using Tensor = std::shared_ptr<Tracked>;

struct Absent {}; ///< an argument that is not given
struct None {};   ///< nullopt, nullptr, an undefined tensor
struct Unknown {
  std::string why;      ///< "'item' reads a tensor's values"
  std::size_t line = 0; ///< where; 0: not known
};
/// A part of an index: start:stop:step.
struct Slice {
  std::optional<std::int64_t> start, stop;
  std::int64_t step = 1;
};
struct Value;
using List = std::vector<Value>;
/// Members of an object: options of a call by name, or of a struct of the file.
using Fields = std::map<std::string, Value>;
struct Object;
/// Of a class that derives from torch::nn::Module. Copies of its holder are the same object.
using Module = std::shared_ptr<Object>;

struct Value {
  std::variant<Absent, None, Unknown, Tensor, bool, std::int64_t, double, model::Dtype, std::string,
               Slice, List, Fields, Module>
      data;

  Value() = default;
  template <class T>
    requires(!std::is_same_v<std::decay_t<T>, Value>)
  Value(T &&value) : data(std::forward<T>(value)) {}

  template <class T>
  const T *as() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  T *as() {
    return std::get_if<T>(&data);
  }
  bool is_given() const { return !as<Absent>() && !as<None>(); }
  bool is_number() const { return as<bool>() || as<std::int64_t>() || as<double>(); }
  /// nullopt: no number.
  std::optional<double> number() const;
  /// Of a whole number or a flag.
  std::optional<std::int64_t> integer() const;
  /// Of a list of whole numbers; a single one is a list of one.
  std::optional<model::Shape> integers() const;
};

struct Object {
  std::string type;                             ///< with namespaces: "torch::nn::LinearImpl"
  const clang::CXXRecordDecl *class_ = nullptr; ///< null: it is of the library
  Fields members;                               ///< of one of the library its options, too
  List children;                                ///< of Sequential and ModuleList, in order
  struct Registered {
    std::string name;
    Value value; ///< a Module, or a Tensor
    bool is_buffer = false;
  };
  std::vector<Registered> registered;
};

} // namespace warpwright::generator::torch_cpp
