// The one error type of the project, and the result type that carries it.
//
// A fallible call returns Result<T>. Its error names what was attempted, on what, and what the reader can
// do about it, because the same text ends in an editor's message, a terminal and a log.
// Thread: values, any.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace warpwright {

struct Error {
  std::string message; ///< what failed, and on what: "cannot open task.json: no such file"
  std::string remedy;  ///< what to do about it; empty when there is nothing to add
};

template <class T>
using Result = std::expected<T, Error>;

/// `return fail("what failed", "what to do");` in a function that returns a Result.
inline std::unexpected<Error> fail(std::string message, std::string remedy = {}) {
  return std::unexpected(Error{std::move(message), std::move(remedy)});
}

/// The message and its remedy as one sentence for people.
inline std::string describe(const Error &error) {
  return error.remedy.empty() ? error.message : error.message + ". " + error.remedy;
}

} // namespace warpwright

/// The value of a Result, or of any std::expected; the error leaves the function that this stands in: `auto text = TRY(read(file));`.
/// A statement or an initializer of its own, so that no half-evaluated expression is left.
#define TRY(...)                                                                                   \
  __extension__({                                                                                  \
    auto &&tried = (__VA_ARGS__);                                                                  \
    if (!tried)                                                                                    \
      return std::unexpected(std::forward<decltype(tried)>(tried).error());                        \
    *std::forward<decltype(tried)>(tried);                                                         \
  })
