// Requests and notifications to the editor.
#include "server/editor_client.h"

namespace warpwright::server {

using protocol::Json;

/// State of one progress display. Reports are dropped until the client has created the token; then
/// "begin" is sent.
struct Progress::State {
  std::weak_ptr<rpc::Connection> connection;
  Json token;
  std::string title;
  std::function<void()> on_cancel;
  bool is_begun = false, is_ended = false;

  void send(const protocol::WorkDoneProgress &value) {
    if (const auto open = connection.lock())
      open->notify("$/progress", protocol::encode(protocol::ProgressParams{token, value}));
  }
  void begin() {
    if (is_ended || std::exchange(is_begun, true))
      return;
    send({.kind = "begin", .title = title, .cancellable = true, .percentage = 0});
  }
};

Progress::~Progress() { end(""); }

void Progress::report(const std::string &message, std::uint32_t percentage) {
  if (state_->is_begun && !state_->is_ended)
    state_->send(
        {.kind = "report", .cancellable = true, .message = message, .percentage = percentage});
}

void Progress::end(const std::string &message) {
  if (std::exchange(state_->is_ended, true) || !state_->is_begun)
    return;
  state_->send({.kind = "end", .message = message.empty() ? std::nullopt : std::optional(message)});
}

void EditorClient::disconnect() { connection_.reset(); }

void EditorClient::publish(const protocol::PublishDiagnosticsParams &params) {
  if (connection_)
    connection_->notify("textDocument/publishDiagnostics", protocol::encode(params));
}

void EditorClient::show_message(protocol::MessageType type, const std::string &message) {
  if (connection_)
    connection_->notify("window/showMessage",
                        protocol::encode(protocol::ShowMessageParams{type, message}));
}

void EditorClient::ask(const std::string &message, const std::vector<std::string> &answers,
                       std::function<void(std::optional<std::string>)> done) {
  if (!connection_)
    return done(std::nullopt);
  protocol::ShowMessageRequestParams params{protocol::MessageType::Warning, message, {}};
  for (const std::string &answer : answers)
    params.actions.push_back({answer});
  connection_->request("window/showMessageRequest", protocol::encode(params),
                       [done = std::move(done)](const rpc::Outcome &outcome) {
                         const bool chosen = outcome && outcome->is_object() &&
                                             outcome->value("title", Json()).is_string();
                         done(chosen ? std::optional(outcome->at("title").get<std::string>())
                                     : std::nullopt);
                       });
}

void EditorClient::log(const std::string &message) {
  if (connection_)
    connection_->notify("window/logMessage", protocol::encode(protocol::ShowMessageParams{
                                                 protocol::MessageType::Log, message}));
}

void EditorClient::refresh() {
  if (capabilities.lists_kernels && connection_)
    connection_->notify("warpwright/changed", Json::object());
  if (capabilities.code_lens_refresh)
    refresh("workspace/codeLens/refresh", lens_refresh_);
  if (capabilities.inlay_hint_refresh)
    refresh("workspace/inlayHint/refresh", hint_refresh_);
}

void EditorClient::refresh(const char *method, std::shared_ptr<Refresh> state) {
  if (std::exchange(state->is_out, true)) {
    state->again = true;
    return;
  }
  if (!connection_)
    return;
  connection_->request(method, nullptr, [this, method, state](const rpc::Outcome &) {
    state->is_out = false; // also after an error: the client was asked
    if (std::exchange(state->again, false))
      refresh(method, state);
  });
}

void EditorClient::watch_files() {
  if (!capabilities.watches_files || !connection_)
    return;
  connection_->request("client/registerCapability", protocol::watch_registration(),
                       [this](const rpc::Outcome &outcome) {
                         if (!outcome)
                           log("changes of .warpwright.toml and compile_commands.json are seen at "
                               "the next edit only: " +
                               outcome.error().message);
                       });
}

void EditorClient::refresh_diagnostics() {
  refresh("workspace/diagnostic/refresh", diagnostic_refresh_);
}

void EditorClient::request_configuration(const std::string &scope_uri,
                                         std::function<void(const Json &)> callback) {
  if (!capabilities.configuration || !connection_)
    return;
  Json item{{"section", "warpwright"}};
  if (!scope_uri.empty())
    item["scopeUri"] = scope_uri;
  connection_->request("workspace/configuration", {{"items", Json::array({std::move(item)})}},
                       [callback](const rpc::Outcome &outcome) {
                         if (outcome && outcome->is_array() && !outcome->empty())
                           callback(outcome->front());
                       });
}

void EditorClient::apply_edit(const protocol::ApplyEditParams &params,
                              std::function<void(Result<void>)> callback) {
  if (!capabilities.apply_edit || !connection_)
    return callback(fail("this editor cannot apply edits on its own", "use the code action"));
  connection_->request(
      "workspace/applyEdit", protocol::encode(params), [callback](const rpc::Outcome &outcome) {
        if (!outcome)
          return callback(fail(outcome.error().message));
        if (outcome->is_object() && outcome->value("applied", false))
          return callback({});
        callback(fail("the editor did not apply the edit", "the file may have changed; try again"));
      });
}

void EditorClient::show_document(const std::string &uri,
                                 std::function<void(Result<void>)> callback) {
  if (!capabilities.show_document || !connection_)
    return callback(fail("this editor cannot open a page on request",
                         "Hover over the kernel, or run: warpwright optimize FILE --html PAGE"));
  connection_->request("window/showDocument", protocol::encode(protocol::ShowDocumentParams{uri}),
                       [callback](const rpc::Outcome &outcome) {
                         if (!outcome)
                           return callback(fail(outcome.error().message));
                         if (outcome->is_object() && outcome->value("success", false))
                           return callback({});
                         callback(fail("the editor did not open the page"));
                       });
}

std::shared_ptr<Progress> EditorClient::begin_progress(const std::string &title,
                                                       std::optional<Json> token,
                                                       std::function<void()> on_cancel) {
  auto state = std::make_shared<Progress::State>();
  state->connection = connection_;
  state->title = title;
  state->on_cancel = std::move(on_cancel);
  const bool is_created_by_client = token.has_value();
  state->token = token ? *token : Json("warpwright-" + std::to_string(next_token_++));
  std::erase_if(progress_, [](const auto &known) { return known.second.expired(); });
  progress_[state->token] = state;
  if (is_created_by_client)
    state->begin();
  else if (capabilities.work_done_progress && connection_)
    connection_->request("window/workDoneProgress/create", {{"token", state->token}},
                         [state](const rpc::Outcome &outcome) {
                           if (outcome)
                             state->begin();
                         });
  return std::shared_ptr<Progress>(new Progress(state));
}

void EditorClient::cancel_progress(const Json &token) {
  const auto found = progress_.find(token);
  if (found == progress_.end())
    return;
  if (const auto state = found->second.lock(); state && !state->is_ended && state->on_cancel)
    state->on_cancel();
}

} // namespace warpwright::server
