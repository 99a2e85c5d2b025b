// Reader of client capabilities, and the capabilities of this server.
#include "server/protocol/lifecycle.h"

#include <algorithm>

namespace warpwright::server::protocol {

namespace {

/// Value at a path of member names; null if a member is missing.
Json member(const Json &json, const char *pointer) {
  const Json::json_pointer path(pointer);
  return json.is_object() && json.contains(path) ? json.at(path) : Json();
}

bool flag(const Json &json, const char *pointer) {
  const Json value = member(json, pointer);
  return value.is_boolean() && value.get<bool>();
}

bool lists(const Json &json, const char *pointer, const char *wanted) {
  const Json value = member(json, pointer);
  return value.is_array() && std::find(value.begin(), value.end(), Json(wanted)) != value.end();
}

} // namespace

ClientCapabilities read_capabilities(const Json &json) {
  ClientCapabilities client;
  client.work_done_progress = flag(json, "/window/workDoneProgress");
  client.code_lens_refresh = flag(json, "/workspace/codeLens/refreshSupport");
  client.inlay_hint_refresh = flag(json, "/workspace/inlayHint/refreshSupport");
  client.configuration = flag(json, "/workspace/configuration");
  client.document_changes = flag(json, "/workspace/workspaceEdit/documentChanges");
  client.apply_edit = flag(json, "/workspace/applyEdit");
  client.watches_files = flag(json, "/workspace/didChangeWatchedFiles/dynamicRegistration");
  client.code_action_literals =
      member(json, "/textDocument/codeAction/codeActionLiteralSupport").is_object();
  client.lazy_code_action_edits =
      lists(json, "/textDocument/codeAction/resolveSupport/properties", "edit");
  client.disabled_code_actions = flag(json, "/textDocument/codeAction/disabledSupport");
  client.change_annotations =
      client.document_changes &&
      member(json, "/workspace/workspaceEdit/changeAnnotationSupport").is_object();
  client.related_information = flag(json, "/textDocument/publishDiagnostics/relatedInformation");
  client.pull_diagnostics = member(json, "/textDocument/diagnostic").is_object() &&
                            flag(json, "/workspace/diagnostics/refreshSupport");
  client.show_document = flag(json, "/window/showDocument/support");
  client.text_document_content = member(json, "/workspace/textDocumentContent").is_object();
  client.lists_kernels = flag(json, "/experimental/warpwright/changed");
  client.questions = flag(json, "/experimental/warpwright/questions");
  client.hover_markdown = member(json, "/textDocument/hover/contentFormat").is_null() ||
                          lists(json, "/textDocument/hover/contentFormat", "markdown");
  if (lists(json, "/general/positionEncodings", "utf-8"))
    client.encoding = PositionEncoding::Utf8;
  return client;
}

Json watch_registration() {
  Json watchers = Json::array();
  for (const char *pattern : {"**/.warpwright.toml", "**/compile_commands.json", "**/*.py"})
    watchers.push_back({{"globPattern", pattern}});
  return {{"registrations",
           {{{"id", "warpwright.files"},
             {"method", "workspace/didChangeWatchedFiles"},
             {"registerOptions", {{"watchers", std::move(watchers)}}}}}}};
}

Json initialize_result(const ClientCapabilities &client, const std::string &version) {
  Json result = {
      {"capabilities",
       {{"positionEncoding", client.encoding == PositionEncoding::Utf8 ? "utf-8" : "utf-16"},
        {"textDocumentSync",
         {{"openClose", true}, {"change", 2}, {"save", {{"includeText", false}}}}},
        {"hoverProvider", true},
        {"codeLensProvider", {{"resolveProvider", true}}},
        {"codeActionProvider",
         {{"codeActionKinds", {kQuickFixKind, kRewriteKind, kFixAllKind}},
          {"resolveProvider", true}}},
        {"inlayHintProvider", true},
        {"executeCommandProvider",
         {{"commands",
           {kOptimizeCommand, kCancelCommand, kApplyCommand, kReviewCommand, kDetailsCommand,
            kProfileCommand, kInsertFactsCommand, kTrustCommand}},
          {"workDoneProgress", true}}},
        {"workspace",
         {{"textDocumentContent", {{"schemes", Json::array({kPageScheme})}}}}}}},
      {"serverInfo", {{"name", "warpwright"}, {"version", version}}},
  };
  if (client.pull_diagnostics) // other clients get them published, and would show them twice
    result["capabilities"]["diagnosticProvider"] = {{"identifier", "warpwright"},
                                                    {"interFileDependencies", false},
                                                    {"workspaceDiagnostics", false}};
  return result;
}

} // namespace warpwright::server::protocol
