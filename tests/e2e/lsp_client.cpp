// The scripted editor.
#include "tests/e2e/lsp_client.h"

#include <algorithm>
#include <chrono>
#include <doctest/doctest.h>

namespace warpwright::tests {

namespace protocol = server::protocol;

namespace {

constexpr std::chrono::seconds kPatience{60};

protocol::PositionMap map_of(const std::string &text) {
  return {text, protocol::PositionEncoding::Utf16};
}

} // namespace

LspClient::LspClient(boost::asio::io_context &io) : io_(io) {}

LspClient::~LspClient() {
  if (connection_)
    connection_->close();
  io_.restart();
  io_.poll();
}

void LspClient::connect(std::unique_ptr<rpc::Stream> stream) {
  connection_ = rpc::Connection::make(
      std::move(stream),
      {.on_request = [this](const std::string &method, const Json &params, const Json &,
                            const rpc::Responder &respond) { on_request(method, params, respond); },
       .on_notification =
           [this](const std::string &method, const Json &params) {
             received_.push_back({method, params});
             if (meta_model_)
               note(meta_model_->check_notification(method, params));
           },
       .on_closed = [this](const std::string &reason) { closed_ = reason; }});
  connection_->start();
}

void LspClient::start(const std::vector<std::string> &command, const ProcessOptions &options) {
  auto process = Process::spawn(command, options);
  REQUIRE_MESSAGE(process.has_value(), (process ? "" : describe(process.error())));
  process_.emplace(std::move(*process));
  const int input = process_->release_stdin(), output = process_->release_stdout();
  connect(rpc::make_descriptor_stream(io_.get_executor(), output, input));
}

Json LspClient::capabilities() {
  return Json::parse(R"({
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": true},
    "experimental": {"warpwright": {"questions": true}},
    "workspace": {"applyEdit": true, "configuration": true,
                  "workspaceEdit": {"documentChanges": true},
                  "codeLens": {"refreshSupport": true}, "inlayHint": {"refreshSupport": true},
                  "didChangeWatchedFiles": {"dynamicRegistration": true}},
    "textDocument": {
      "hover": {"contentFormat": ["markdown", "plaintext"]},
      "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor.rewrite"]}},
                     "resolveSupport": {"properties": ["edit"]}, "isPreferredSupport": true}}})");
}

Json LspClient::initialize(Json capabilities, Json extra) {
  Json params{{"processId", nullptr},
              {"rootUri", nullptr},
              {"capabilities", std::move(capabilities)},
              {"initializationOptions", {{"trusted", true}}}};
  params.update(extra);
  const rpc::Outcome outcome = request("initialize", params);
  REQUIRE_MESSAGE(outcome.has_value(), (outcome ? "" : outcome.error().message));
  notify("initialized", Json::object());
  return *outcome;
}

int LspClient::shutdown_and_exit() {
  const rpc::Outcome outcome = request("shutdown", nullptr);
  CHECK(outcome.has_value());
  notify("exit", nullptr);
  return wait_for_exit();
}

int LspClient::wait_for_exit() {
  std::optional<ExitStatus> status;
  CHECK(wait([&] { return (status = process_->poll()).has_value(); }));
  return status ? (status->signal ? -status->signal : status->code) : -1000;
}

std::int64_t LspClient::send_request(const std::string &method, Json params) {
  const auto id = std::make_shared<std::int64_t>(0);
  *id = connection_->request(method, std::move(params), [this, id, method](rpc::Outcome outcome) {
    if (meta_model_ && outcome)
      note(meta_model_->check_result(method, *outcome));
    outcomes_.insert_or_assign(*id, std::move(outcome));
  });
  return *id;
}

const rpc::Outcome *LspClient::outcome(std::int64_t id) const {
  const auto found = outcomes_.find(id);
  return found == outcomes_.end() ? nullptr : &found->second;
}

rpc::Outcome LspClient::request(const std::string &method, Json params) {
  const std::int64_t id = send_request(method, std::move(params));
  REQUIRE_MESSAGE(wait([&] { return outcome(id) != nullptr; }), "no answer to " << method);
  return *outcome(id);
}

void LspClient::on_request(const std::string &method, const Json &params,
                           const rpc::Responder &respond) {
  received_.push_back({method, params});
  if (meta_model_)
    note(meta_model_->check_request(method, params));
  if (method == "workspace/configuration") {
    Json answers = Json::array();
    for (const Json &item : params.at("items")) {
      const auto scoped = scoped_configuration.find(item.value("scopeUri", ""));
      answers.push_back(scoped == scoped_configuration.end() ? configuration : scoped->second);
    }
    respond(std::move(answers));
  } else if (method == "window/showDocument") {
    respond(Json{{"success", true}});
  } else if (method == "workspace/applyEdit") {
    if (accept_edits)
      apply(params.at("edit"));
    respond(Json{{"applied", accept_edits}});
  } else if (method == "window/showMessageRequest") {
    const Json &actions = params.at("actions");
    const bool offered = std::ranges::any_of(
        actions, [&](const Json &action) { return action.at("title") == answer; });
    respond(offered ? Json{{"title", answer}} : Json());
  } else {
    respond(Json());
  }
}

void LspClient::open(const std::string &uri, const std::string &text, std::int64_t version) {
  documents_[uri] = {text, version};
  notify("textDocument/didOpen", {{"textDocument",
                                   {{"uri", uri},
                                    {"languageId", uri.ends_with(".py") ? "python" : "cuda"},
                                    {"version", version},
                                    {"text", text}}}});
}

void LspClient::edit(const std::string &uri, const std::string &what,
                     const std::string &replacement) {
  OpenDocument &document = documents_.at(uri);
  const Json range = range_of(uri, what);
  document.text.replace(document.text.find(what), what.size(), replacement);
  notify("textDocument/didChange",
         {{"textDocument", {{"uri", uri}, {"version", ++document.version}}},
          {"contentChanges", {{{"range", range}, {"text", replacement}}}}});
}

void LspClient::apply(const Json &workspace_edit) {
  for (const Json &change : workspace_edit.at("documentChanges")) {
    const std::string uri = change.at("textDocument").at("uri");
    OpenDocument &document = documents_.at(uri);
    REQUIRE(change.at("textDocument").at("version") == document.version);
    std::vector<TextEdit> edits;
    for (const Json &edit : change.at("edits"))
      edits.push_back(
          {map_of(document.text).bytes(protocol::decode<protocol::Range>(edit.at("range"))),
           edit.at("newText").get<std::string>()});
    const auto edited = apply_edits(document.text, edits);
    REQUIRE_MESSAGE(edited.has_value(), (edited ? "" : edited.error().message));
    document.text = *edited;
    notify("textDocument/didChange",
           {{"textDocument", {{"uri", uri}, {"version", ++document.version}}},
            {"contentChanges", {{{"text", document.text}}}}});
  }
}

Json LspClient::position_params(const std::string &uri, const std::string &what,
                                std::size_t skip) const {
  const std::string &text = documents_.at(uri).text;
  const std::size_t offset = text.find(what);
  REQUIRE_MESSAGE(offset != std::string::npos, what << " is not in the text");
  return {{"textDocument", {{"uri", uri}}},
          {"position", protocol::encode(map_of(text).position(offset + skip))}};
}

Json LspClient::range_of(const std::string &uri, const std::string &what) const {
  const std::string &text = documents_.at(uri).text;
  const std::size_t offset = text.find(what);
  REQUIRE_MESSAGE(offset != std::string::npos, what << " is not in the text");
  return protocol::encode(map_of(text).range({offset, offset + what.size()}));
}

Json LspClient::wait_for_diagnostics(const std::string &uri, std::int64_t version) {
  Json found;
  const bool arrived = wait([&] {
    for (const Received &message : received_)
      if (message.method == "textDocument/publishDiagnostics" && message.params.at("uri") == uri &&
          message.params.value("version", Json()) == version)
        found = message.params.at("diagnostics");
    return !found.is_null();
  });
  CHECK_MESSAGE(arrived, "no diagnostics of version " << version);
  return found;
}

bool LspClient::wait(const std::function<bool()> &done) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    io_.restart();
    io_.run_one_for(std::chrono::milliseconds(20));
  }
  return true;
}

std::size_t LspClient::count(const std::string &method) const {
  return static_cast<std::size_t>(
      std::count_if(received_.begin(), received_.end(),
                    [&](const Received &message) { return message.method == method; }));
}

} // namespace warpwright::tests
