// Texts of combining; see combine.h.
#include "generator/text/source/combine.h"

namespace warpwright::generator {
namespace {

std::string literal(const std::string &type, const std::string &floating,
                    const std::string &integer) {
  if (type == "float")
    return floating + "f";
  return type == "double" ? floating : integer;
}

} // namespace

std::string combine_text(Combine combine, const std::string &type, const std::string &a,
                         const std::string &b) {
  switch (combine) {
  case Combine::Sum:
    return a + " + " + b;
  case Combine::Product:
    return a + " * " + b;
  case Combine::Maximum:
    return (type == "float" ? "fmaxf(" : type == "double" ? "fmax(" : "max(") + a + ", " + b + ")";
  case Combine::Minimum:
    return (type == "float" ? "fminf(" : type == "double" ? "fmin(" : "min(") + a + ", " + b + ")";
  }
  return {};
}

std::string identity_text(Combine combine, const std::string &type) {
  const bool single = type == "float";
  switch (combine) {
  case Combine::Sum:
    return literal(type, "0.0", "0");
  case Combine::Product:
    return literal(type, "1.0", "1");
  case Combine::Maximum:
    return single             ? "-3.402823466e+38f"
           : type == "double" ? "-1.7976931348623157e+308"
                              : "-2147483647 - 1";
  case Combine::Minimum:
    return single             ? "3.402823466e+38f"
           : type == "double" ? "1.7976931348623157e+308"
                              : "2147483647";
  }
  return {};
}

} // namespace warpwright::generator
