#include "server/mcp/mcp_server.h"

#include "server/mcp/resources.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <future>

namespace warpwright::mcp {
namespace {

/// Calls at a time. Most of a call's time is spent waiting for a runner.
constexpr unsigned kThreads = 8;
/// Clients may keep what does not change for an hour.
constexpr int kConstantMs = 3'600'000;

std::unexpected<rpc::RpcError> refuse(int code, const std::string &message) {
  return std::unexpected(rpc::RpcError{code, message, nullptr});
}

/// A result as its era wants it.
Json finished(Json result, bool modern) {
  if (!modern) {
    result.erase("ttlMs");
    result.erase("cacheScope");
    return result;
  }
  if (!result.contains("resultType"))
    result["resultType"] = "complete";
  result["_meta"][kServerKey] = server_info();
  return result;
}

Json cacheable(Json result, int time_ms, const char *scope) {
  result["ttlMs"] = time_ms;
  result["cacheScope"] = scope;
  return result;
}

std::string text_member(const Json &params, const char *name) {
  const auto found = params.is_object() ? params.find(name) : params.end();
  return params.is_object() && found != params.end() && found->is_string()
             ? found->get<std::string>()
             : std::string();
}

Json text_block(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

std::string one_line(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The sentence, the structured content as text for clients without it, and links.
Json success(const ToolResult &result) {
  Json content = Json::array({text_block(result.summary), text_block(one_line(result.structured))});
  for (const Json &link : result.links)
    content.push_back(link);
  return {{"content", std::move(content)}, {"structuredContent", result.structured}, {"isError", false}};
}

Json failure(const std::string &text) {
  return {{"content", Json::array({text_block(text)})}, {"isError", true}};
}

Json refused(const Refusal &refusal) {
  if (const Error *error = std::get_if<Error>(&refusal))
    return failure(describe(*error));
  const InputRequired &needed = std::get<InputRequired>(refusal);
  return {{"resultType", "input_required"},
          {"inputRequests", needed.requests},
          {"requestState", needed.state}};
}

/// Sends progress in rising order, as the protocol wants it.
std::function<void(double, std::optional<double>, const std::string &)>
progress_of(const boost::asio::any_io_executor &strand, const ExchangePtr &exchange, Json token) {
  if (!token.is_string() && !token.is_number_integer())
    return [](double, std::optional<double>, const std::string &) {};
  const auto last = std::make_shared<double>(-1);
  return [=](double progress, std::optional<double> total, const std::string &message) {
    boost::asio::post(strand, [=] {
      if (exchange->stop.stop_requested() || progress <= *last)
        return;
      *last = progress;
      Json params{{"progressToken", token}, {"progress", progress}, {"message", message}};
      if (total)
        params["total"] = *total;
      exchange->notify("notifications/progress", std::move(params));
    });
  };
}

/// Asks the client and waits, on a thread of a call.
Result<Json> ask(const boost::asio::any_io_executor &strand, const ExchangePtr &exchange,
                 const Json &params) {
  const auto answer = std::make_shared<std::promise<rpc::Outcome>>();
  auto arrived = answer->get_future();
  boost::asio::post(strand, [=] {
    exchange->request("elicitation/create", params,
                      [answer](rpc::Outcome outcome) { answer->set_value(std::move(outcome)); });
  });
  while (arrived.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready &&
         !exchange->stop.stop_requested()) {
  }
  if (exchange->stop.stop_requested()) // an answer that comes later counts for nothing
    return fail("the call was cancelled before the user answered");
  const rpc::Outcome outcome = arrived.get();
  if (!outcome)
    return fail("the client could not ask the user: " + outcome.error().message,
                "Ask the user to run: warpwright trust");
  return *outcome;
}

UserQuestions questions_of(const boost::asio::any_io_executor &strand, const Json &params,
                           const Json &capabilities, bool modern, const ExchangePtr &exchange) {
  UserQuestions user;
  if (!can_elicit(capabilities) || (!modern && !exchange->request))
    return user;
  user.way = modern ? UserQuestions::Way::Retry : UserQuestions::Way::Request;
  user.ask = [=](const Json &question) { return ask(strand, exchange, question); };
  user.responses = params.value("inputResponses", Json());
  user.state = text_member(params, "requestState");
  return user;
}

} // namespace

McpServer::McpServer(boost::asio::any_io_executor strand, Workbench &bench)
    : strand_(std::move(strand)), bench_(bench), pool_(kThreads) {
  for (const Tool &tool : all_tools())
    inputs_.emplace(tool.name,
                    std::make_unique<model::DocumentSchema>(
                        tool.input, "call of " + tool.name, "See the input schema in tools/list"));
}

void McpServer::stop() {
  ending_.request_stop();
  bench_.searches.stop();
  pool_.join();
}

void McpServer::handle(const std::string &method, const Json &params, LegacySession &session,
                       const ExchangePtr &exchange) {
  const bool modern = is_modern(params);
  const auto answer = [&](rpc::Outcome outcome) {
    exchange->respond(outcome ? rpc::Outcome(finished(std::move(*outcome), modern)) : outcome);
  };
  if (modern)
    if (const auto error = metadata_error(params))
      return answer(std::unexpected(*error));
  if (!modern && method == "initialize")
    return answer(initialize(params, session));
  if (!modern && method == "ping")
    return answer(Json::object());
  if (!modern && !session.is_initialized)
    return answer(refuse(rpc::kInvalidParams, "_meta must have " + std::string(kRevisionKey) +
                                                  ", or initialize must come first"));
  if (modern && method == "server/discover")
    return answer(discover());
  if (modern && method == "subscriptions/listen")
    return subscribe(exchange);
  if (method == "tools/list") {
    Json tools = Json::array();
    for (const Tool &tool : all_tools())
      tools.push_back(definition(tool));
    return answer(cacheable({{"tools", std::move(tools)}}, kConstantMs, "public"));
  }
  if (method == "resources/list")
    return answer(cacheable({{"resources", resource_list(bench_.verdicts)}}, 0, "private"));
  if (method == "resources/templates/list")
    return answer(
        cacheable({{"resourceTemplates", resource_templates()}}, kConstantMs, "public"));
  if (method == "resources/read")
    return read(params, modern, exchange);
  if (method != "tools/call")
    return answer(refuse(rpc::kMethodNotFound, "there is no method " + method));
  const Json capabilities =
      modern ? meta_of(params)[kCapabilitiesKey] : session.capabilities;
  if (const rpc::Outcome begun = call(params, capabilities, modern, exchange); !begun)
    answer(begun);
}

rpc::Outcome McpServer::initialize(const Json &params, LegacySession &session) const {
  const std::string requested = text_member(params, "protocolVersion");
  if (requested.empty())
    return refuse(rpc::kInvalidParams, "initialize needs protocolVersion");
  session.is_initialized = true;
  session.capabilities = params.value("capabilities", Json::object());
  return Json{{"protocolVersion", is_legacy_revision(requested) ? requested : kLegacyRevisions[0]},
              {"capabilities", {{"tools", Json::object()}, {"resources", Json::object()}}},
              {"serverInfo", server_info()},
              {"instructions", instructions()}};
}

rpc::Outcome McpServer::discover() const {
  return cacheable({{"supportedVersions", Json::array({kModernRevision})},
                    {"capabilities", {{"tools", Json::object()}, {"resources", Json::object()}}},
                    {"instructions", instructions()}},
                   kConstantMs, "public");
}

void McpServer::read(const Json &params, bool modern, const ExchangePtr &exchange) {
  pool_.post([this, uri = text_member(params, "uri"), modern, exchange] {
    constexpr int kResourceNotFound = -32002; // before 2026-07-28
    const auto contents = read_resource(bench_.verdicts, uri);
    rpc::Outcome outcome = std::unexpected(rpc::RpcError{});
    if (contents)
      outcome = finished(cacheable({{"contents", *contents}}, kConstantMs, "private"), modern);
    else
      outcome = std::unexpected(rpc::RpcError{modern ? int(rpc::kInvalidParams) : kResourceNotFound,
                                              describe(contents.error()),
                                              {{"uri", uri}}});
    answer_later(exchange, std::move(outcome));
  });
}

/// Answers from another thread, unless the request was cancelled.
void McpServer::answer_later(const ExchangePtr &exchange, rpc::Outcome outcome) {
  boost::asio::post(strand_, [exchange, outcome = std::move(outcome)]() mutable {
    if (!exchange->stop.stop_requested())
      exchange->respond(std::move(outcome));
  });
}

/// Opens a stream of notifications. This server has none to send, so nothing follows.
void McpServer::subscribe(const ExchangePtr &exchange) const {
  exchange->notify("notifications/subscriptions/acknowledged",
                   {{"_meta", {{kSubscriptionKey, exchange->id}}},
                    {"notifications", Json::object()}});
}

rpc::Outcome McpServer::call(const Json &params, const Json &capabilities, bool modern,
                             const ExchangePtr &exchange) {
  const std::string name = text_member(params, "name");
  const auto tool = std::ranges::find(all_tools(), name, &Tool::name);
  if (tool == all_tools().end())
    return refuse(rpc::kInvalidParams, "there is no tool " + name);
  ToolCall call{
      .tool = name,
      .arguments = params.value("arguments", Json::object()),
      .stop = exchange->stop.get_token(),
      .on_progress = progress_of(strand_, exchange, meta_of(params).value("progressToken", Json())),
      .user = questions_of(strand_, params, capabilities, modern, exchange)};
  pool_.post([this, tool = &*tool, call = std::move(call), modern, exchange] {
    const std::stop_callback end(ending_.get_token(), [&] { exchange->stop.request_stop(); });
    answer_later(exchange, answer_of(*tool, call, modern));
  });
  return Json();
}

/// Runs a call on the pool.
Json McpServer::answer_of(const Tool &tool, const ToolCall &call, bool modern) {
  try {
    if (const auto valid = inputs_.at(tool.name)->check(call.arguments); !valid)
      return finished(failure(describe(valid.error())), modern);
    const Outcome<ToolResult> outcome = tool.run(bench_, call);
    return finished(outcome ? success(*outcome) : refused(outcome.error()), modern);
  } catch (const std::exception &error) {
    return finished(failure(tool.name + " failed: " + error.what() + ". Please report it"), modern);
  }
}

} // namespace warpwright::mcp
