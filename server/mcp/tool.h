// Tools of the Model Context Protocol: what a call gets, what it returns, and the table of all
// tools.
//
// A tool is one file: its definition with the JSON schemas of its arguments and its result, and a
// function that blocks. Thread: calls run on a pool, several at a time.
#pragma once

#include "support/error.h"

#include <expected>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace warpwright::mcp {

using Json = nlohmann::json;

class Workbench;

struct ToolResult {
  Json structured;       ///< fits the tool's output schema
  std::string summary;   ///< for people and models
  std::vector<Json> links; ///< resource links of the result's verdicts
};

/// A question to the user, for clients that repeat the call with the answer (MCP's multi round-trip
/// requests).
struct InputRequired {
  Json requests;     ///< by name
  std::string state; ///< comes back unchanged
};

/// Why a call gave no result.
using Refusal = std::variant<Error, InputRequired>;
template <class T>
using Outcome = std::expected<T, Refusal>;

/// Ways to ask the user about one call.
struct UserQuestions {
  enum class Way {
    None,    ///< the client cannot ask
    Request, ///< by a request of the server (revisions before 2026-07-28)
    Retry,   ///< by InputRequired
  };
  Way way = Way::None;
  /// Way::Request: sends `elicitation/create` and waits. Errors: the client's, or the call's end.
  std::function<Result<Json>(const Json &params)> ask;
  Json responses = nullptr; ///< Way::Retry: answers by name; null: none yet
  std::string state;        ///< Way::Retry: as the client returned it
};

struct ToolCall {
  std::string tool;
  Json arguments;
  std::stop_token stop;
  /// Shows how far the call is. @param total empty: unknown
  std::function<void(double progress, std::optional<double> total, const std::string &message)>
      on_progress;
  UserQuestions user;

  /// The text argument of this name; empty: absent.
  std::string text(const char *name) const { return arguments.value(name, std::string()); }
  bool has(const char *name) const { return arguments.contains(name); }
};

struct Tool {
  std::string name, title, description;
  Json input, output; ///< JSON schemas
  bool is_repeatable = false; ///< the same call again gives the same result
  Outcome<ToolResult> (*run)(Workbench &, const ToolCall &) = nullptr;
};

/// All tools, in the order of tools/list.
const std::vector<Tool> &all_tools();
/// A tool as tools/list has it.
Json definition(const Tool &tool);

// One function a file.
Tool analyze_tool();
Tool suggest_tool();
Tool optimize_tool();
Tool job_tool();
Tool verify_tool();
Tool measure_tool();
Tool profile_tool();
Tool explain_tool();
Tool diff_tool();

} // namespace warpwright::mcp
