// The error type of the project, and the result type that carries it.
//
// A fallible call returns Result<T>. The error names the attempted action, its object and a remedy,
// because the same text appears in editor messages, terminals and logs. Thread: values, any.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace warpwright {

struct Error {
  std::string message; ///< failed action and its object: "cannot open task.json: no such file"
  std::string remedy;  ///< advice for the reader; empty if there is none
};

template <class T>
using Result = std::expected<T, Error>;

/// `return fail("what failed", "what to do");` in a function that returns a Result.
inline std::unexpected<Error> fail(std::string message, std::string remedy = {}) {
  return std::unexpected(Error{std::move(message), std::move(remedy)});
}

/// The message and the remedy as one text for people.
inline std::string describe(const Error &error) {
  return error.remedy.empty() ? error.message : error.message + ". " + error.remedy;
}

} // namespace warpwright

/// Value of a Result or of any std::expected: `auto text = TRY(read(file));`. On an error, the
/// enclosing function returns the error. Use TRY as a statement, an initializer or a sole argument,
/// so that no half-evaluated expression is left.
#define TRY(...)                                                                                   \
  __extension__({                                                                                  \
    auto &&tried = (__VA_ARGS__);                                                                  \
    if (!tried)                                                                                    \
      return std::unexpected(std::forward<decltype(tried)>(tried).error());                        \
    *std::forward<decltype(tried)>(tried);                                                         \
  })
