// Settings of the session and of single documents.
//
// The editor's settings hold for the session. A client that answers workspace/configuration may
// have other values for a document's folder, so the settings of each open document are requested
// with its scopeUri.
#include "server/lsp/lsp_server.h"

#include "server/settings.h"

namespace warpwright::server {

void LspServer::change_configuration(Json params) {
  if (params.is_object() && params.contains("settings") && params["settings"].is_object())
    use_settings(params["settings"].value("warpwright", Json()));
  request_settings();
}

void LspServer::request_settings() {
  client_.request_configuration({}, [this](const Json &section) { use_settings(section); });
  for (const auto &[uri, document] : documents_.all())
    request_settings_of(uri);
}

void LspServer::request_settings_of(const std::string &uri) {
  client_.request_configuration(uri, [this, uri](const Json &section) {
    if (!documents_.find(uri))
      return;
    const Settings before = settings_of(uri);
    Settings settings = settings_;
    update_settings(settings, section); // problems are reported for the session's settings
    settings.trusted = settings_.trusted;
    document_settings_[uri] = std::move(settings);
    if (settings_of(uri) != before)
      show_again(uri);
  });
}

void LspServer::use_settings(const Json &json) {
  const Settings before = settings_;
  for (const std::string &problem : update_settings(settings_, json))
    client_.show_message(protocol::MessageType::Warning, "Warpwright: " + problem);
  if (settings_ == before)
    return;
  document_settings_.clear(); // they are requested again with the session's settings
  if (settings_.runner != before.runner)
    follow_runner_setting();
  for (const auto &[uri, document] : documents_.all())
    show_again(uri);
}

void LspServer::show_again(const std::string &uri) {
  if (const SnapshotPtr snapshot = scheduler_.latest(uri))
    publish(snapshot);
  client_.refresh();
}

const Settings &LspServer::settings_of(const std::string &uri) const {
  const auto found = document_settings_.find(uri);
  return found == document_settings_.end() ? settings_ : found->second;
}

SnapshotPtr LspServer::visible(const SnapshotPtr &snapshot) const {
  const Settings &settings = settings_of(snapshot->uri);
  const std::string language = language_of(snapshot->facts.path);
  const bool is_wanted = language == "python" ? settings.python_modules
                         : language == "cpp"  ? settings.cpp
                                              : settings.cuda;
  if (is_wanted)
    return snapshot;
  AnalysisResult nothing;
  nothing.facts.path = snapshot->facts.path;
  return std::make_shared<const Snapshot>(snapshot->uri, snapshot->version, snapshot->text,
                                          std::move(nothing), documents_.encoding());
}

Settings LspServer::settings_for(const Snapshot &snapshot) const {
  Settings settings = settings_of(snapshot.uri);
  const Settings defaults;
  if (settings.trusted == false)
    return settings; // the project's settings are ignored
  if (settings.runner.empty())
    settings.runner = snapshot.project.runner;
  const std::string &python = settings.python.empty() ? snapshot.project.python : settings.python;
  if (settings.runner.empty() && !python.empty())
    settings.runner = runner::local_url(python);
  if (settings.policy.empty())
    settings.policy = snapshot.project.policy;
  settings.learn = settings.learn && snapshot.project.learn;
  if (settings.budget == defaults.budget && snapshot.project.budget)
    settings.budget = *snapshot.project.budget;
  return settings;
}

} // namespace warpwright::server
