// Handlers of the editor's feature requests: decode, call the feature, answer.
#include "server/lsp/lsp_server.h"

namespace warpwright::server {

void LspServer::hover(protocol::TextDocumentPositionParams params,
                      Reply<std::optional<protocol::Hover>> reply) {
  with_facts(params.text_document.uri, reply, [params](const features::Context &context) {
    return context.settings.hover ? features::hover(context, params.position) : std::nullopt;
  });
}

void LspServer::code_lens(protocol::TextDocumentParams params,
                          Reply<std::vector<protocol::CodeLens>> reply) {
  with_facts(params.text_document.uri, reply, features::code_lenses);
}

void LspServer::resolve_code_lens(protocol::CodeLens lens, Reply<protocol::CodeLens> reply) {
  const auto reference =
      protocol::decode<protocol::KernelReference>(lens.data.value_or(Json::object()));
  with_facts(
      reference.uri, reply,
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

void LspServer::inlay_hint(protocol::InlayHintParams params,
                           Reply<std::vector<protocol::InlayHint>> reply) {
  with_facts(params.text_document.uri, reply, [params](const features::Context &context) {
    return context.settings.inlay_hints ? features::inlay_hints(context, params.range)
                                        : std::vector<protocol::InlayHint>();
  });
}

} // namespace warpwright::server
