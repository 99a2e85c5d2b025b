// Handlers of the editor's feature requests: decode, call the feature, answer.
#include "server/lsp/lsp_server.h"

namespace warpwright::server {

void LspServer::hover(protocol::TextDocumentPositionParams params,
                      Reply<std::optional<protocol::Hover>> reply) {
  with_report(params, [=, this](const std::optional<regions::ModelReport> &report) {
    with_facts(params.text_document.uri, reply, [=](const features::Context &context) {
      return context.settings.hover ? features::hover(context, params.position, report)
                                    : std::nullopt;
    });
  });
}

void LspServer::with_report(const protocol::TextDocumentPositionParams &params,
                            std::function<void(std::optional<regions::ModelReport>)> callback) {
  const bool is_wanted = settings_.hover && environment_.model_report;
  if (!is_wanted || !documents_.find(params.text_document.uri))
    return callback({});
  scheduler_.with_snapshot(params.text_document.uri, [=, this](const SnapshotPtr &snapshot) {
    const Snapshot::Hit hit =
        snapshot ? snapshot->hit(snapshot->positions.offset(params.position)) : Snapshot::Hit();
    if (!hit.on_name || !snapshot->facts.path.ends_with(".py"))
      return callback({});
    pool_.post([=, this, name = hit.kernel->name, read = environment_.model_report] {
      auto report = read(name, snapshot->facts.path);
      boost::asio::post(strand_, [=] { callback(report); });
    });
  });
}

void LspServer::code_lens(protocol::TextDocumentParams params,
                          Reply<std::vector<protocol::CodeLens>> reply) {
  with_facts(params.text_document.uri, reply, [](const features::Context &context) {
    return context.settings.code_lens ? features::code_lenses(context)
                                      : std::vector<protocol::CodeLens>();
  });
}

void LspServer::resolve_code_lens(protocol::CodeLens lens, Reply<protocol::CodeLens> reply) {
  const auto data = protocol::decode<protocol::LensData>(lens.data.value_or(Json::object()));
  with_facts(
      data.uri, reply,
      [lens](const features::Context &context) -> std::expected<protocol::CodeLens, rpc::RpcError> {
        if (auto resolved = features::resolve_code_lens(context, lens))
          return *resolved;
        else
          return refuse(rpc::kContentModified, describe(resolved.error()));
      });
}

void LspServer::code_action(protocol::CodeActionParams params, Reply<Json> reply) {
  with_facts(params.text_document.uri, reply, [params](const features::Context &context) {
    Json result = Json::array();
    for (const protocol::CodeAction &action : features::code_actions(context, params)) {
      if (context.client.code_action_literals)
        result.push_back(protocol::encode(action));
      else if (action.command)
        result.push_back(protocol::encode(*action.command));
    }
    return result;
  });
}

void LspServer::resolve_code_action(Json action, Reply<Json> reply) {
  if (!action.contains("data"))
    return reply(std::move(action));
  const std::string command = action.at("data").at("command").get<std::string>();
  const auto reference =
      protocol::decode<protocol::KernelReference>(action.at("data").at("reference"));
  make_edit(command, reference, [action, reply](auto edit) mutable {
    if (!edit)
      return reply(std::unexpected(edit.error()));
    action["edit"] = protocol::encode(*edit);
    reply(std::move(action));
  });
}

void LspServer::diagnostic(protocol::TextDocumentParams params,
                           Reply<protocol::DiagnosticReport> reply) {
  const std::string uri = params.text_document.uri;
  if (!documents_.find(uri))
    return reply(refuse(rpc::kInvalidParams, "the document " + uri + " is not open"));
  scheduler_.with_snapshot(uri, [=, this](const SnapshotPtr &snapshot) {
    if (!snapshot)
      return reply(refuse(rpc::kContentModified, "the document " + uri + " was closed"));
    reply(protocol::DiagnosticReport{.items = diagnostics_of(snapshot)});
  });
}

void LspServer::inlay_hint(protocol::InlayHintParams params,
                           Reply<std::vector<protocol::InlayHint>> reply) {
  with_facts(params.text_document.uri, reply, [params](const features::Context &context) {
    return context.settings.inlay_hints ? features::inlay_hints(context, params.range)
                                        : std::vector<protocol::InlayHint>();
  });
}

} // namespace warpwright::server
