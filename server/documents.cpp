// Implementation of open documents. Incremental changes apply in the given order, each to the
// result of the previous one.
#include "server/documents.h"

#include "server/protocol/uri.h"

namespace warpwright::server {

std::string apply_change(std::string text, const protocol::ContentChange &change,
                         protocol::PositionEncoding encoding) {
  if (!change.range)
    return change.text;
  const Range bytes = protocol::PositionMap(text, encoding).bytes(*change.range);
  return text.replace(bytes.begin, bytes.size(), change.text);
}

const Document &Documents::open(protocol::TextDocumentItem item) {
  Document &document = documents_[item.uri];
  std::string path = protocol::path_of(item.uri);
  if (item.language_id == "python" && !path.ends_with(".py"))
    path += ".py"; // scripts and new files: analyses decide by the name
  document = {item.uri, std::move(path), item.version,
              std::make_shared<const std::string>(std::move(item.text))};
  return document;
}

const Document *Documents::change(const protocol::DidChangeParams &params) {
  const auto found = documents_.find(params.text_document.uri);
  if (found == documents_.end())
    return nullptr;
  std::string text = *found->second.text;
  for (const auto &change : params.content_changes)
    text = apply_change(std::move(text), change, encoding_);
  found->second.text = std::make_shared<const std::string>(std::move(text));
  found->second.version = params.text_document.version;
  return &found->second;
}

const Document *Documents::find(const std::string &uri) const {
  const auto found = documents_.find(uri);
  return found == documents_.end() ? nullptr : &found->second;
}

} // namespace warpwright::server
