// What the fleet's messages say, as JSON. Every document from the broker is checked before use: whoever
// may write to the virtual host may write anything.
//
//   job      {task, plan, options, sent}                   message id: the job's key; reply to: the client's queue
//   reply    {verdict} or {error {message, remedy}}        message id: the job's key
//   progress {job, stage, activity} or {who, runner}       not stored
//   control  {cancel: key, reply_to, sent} or {who: number, reply_to}    to all runners that are there
//
// `sent` is the client's clock in microseconds: a job is cancelled by what was sent after it.
//
// Thread: any.
#pragma once

#include "runner/client/client.h"

#include <nlohmann/json.hpp>
#include <variant>

namespace warpwright::runner::fleet {

using nlohmann::json;

/// nullopt: no JSON object.
std::optional<json> parse_object(const std::string &body);
/// Text for a message; bytes that are no UTF-8 are replaced.
std::string dump(const json &document);

std::string encode_reply(const Result<model::Verdict> &verdict);
/// Errors: what the runner reported; a reply that is malformed.
Result<model::Verdict> decode_reply(const std::string &body);

/// @param info what the service's `info` answered
Result<RunnerInfo> decode_info(const json &info);

} // namespace warpwright::runner::fleet
