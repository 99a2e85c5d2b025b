// Messages of a fleet, as JSON. Every document from the broker is checked before use, because any
// user of the virtual host can write arbitrary messages.
//
//   job      {task, plan, options, sent}
//            message id: the job's key; reply to: the client's queue
//   reply    {verdict} or {error {message, remedy}}
//            message id: the job's key
//   progress {job, stage, activity} or {who, runner}
//            not stored
//   control  {cancel: key, reply_to, sent} or {who: number, reply_to}
//            to all connected runners
//
// `sent` is the client's clock in microseconds. A cancellation applies only to jobs sent before it.
//
// Thread: any.
#pragma once

#include "runner/client/client.h"

#include <nlohmann/json.hpp>
#include <variant>

namespace warpwright::runner::fleet {

using nlohmann::json;

/// nullopt: not a JSON object.
std::optional<json> parse_object(const std::string &body);
/// JSON text for a message; bytes that are not UTF-8 are replaced.
std::string dump(const json &document);

std::string encode_reply(const Result<model::Verdict> &verdict);
/// Errors: the error that the runner reported; a malformed reply.
Result<model::Verdict> decode_reply(const std::string &body);

/// @param info the service's answer to `info`
Result<RunnerInfo> decode_info(const json &info);

} // namespace warpwright::runner::fleet
