// C++ text of combinations; see combine.h.
#include "generator/text/source/combine.h"

#include <set>

namespace warpwright::source {
namespace {

/// The text that matches the type; types other than float and double count as integers.
std::string by_type(const std::string &type, const char *single, const char *twice,
                    const char *integer) {
  return type == "float" ? single : type == "double" ? twice : integer;
}

} // namespace

std::optional<Combine> combine_of_function(const std::string &name) {
  if (name == "fmaxf" || name == "fmax" || name == "max")
    return Combine::Maximum;
  if (name == "fminf" || name == "fmin" || name == "min")
    return Combine::Minimum;
  return std::nullopt;
}

std::string combine_text(Combine combine, const std::string &type, const std::string &a,
                         const std::string &b) {
  switch (combine) {
  case Combine::Sum:
    return a + " + " + b;
  case Combine::Product:
    return a + " * " + b;
  case Combine::And:
    return a + " & " + b;
  case Combine::Or:
    return a + " | " + b;
  case Combine::Xor:
    return a + " ^ " + b;
  case Combine::Maximum:
  case Combine::Minimum:
    break;
  }
  const std::string function = combine == Combine::Maximum ? by_type(type, "fmaxf", "fmax", "max")
                                                           : by_type(type, "fminf", "fmin", "min");
  return function + "(" + a + ", " + b + ")";
}

std::string identity_text(Combine combine, const std::string &type) {
  switch (combine) {
  case Combine::Sum:
    return by_type(type, "0.0f", "0.0", "0");
  case Combine::Product:
    return by_type(type, "1.0f", "1.0", "1");
  case Combine::Maximum:
    return by_type(type, "-3.402823466e+38f", "-1.7976931348623157e+308", "-2147483647 - 1");
  case Combine::Minimum:
    return by_type(type, "3.402823466e+38f", "1.7976931348623157e+308", "2147483647");
  case Combine::And:
    return "-1";
  case Combine::Or:
  case Combine::Xor:
    return "0";
  }
  return {};
}

bool is_shuffled(const std::string &type) {
  static const std::set<std::string> kTypes{"float", "double", "int", "unsigned int"};
  return kTypes.contains(type);
}

} // namespace warpwright::source
