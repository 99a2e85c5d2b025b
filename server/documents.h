// Open documents: text and version from the client's notifications.
//
// The texts are immutable and shared: work off the strand keeps the version that it started with.
// Thread: the strand.
#pragma once

#include "server/protocol/position.h"
#include "support/error.h"

#include <map>

namespace warpwright::server {

struct Document {
  std::string uri;
  std::string path; ///< with ".py" appended if only the client's language id says Python
  std::int64_t version = 0;
  std::shared_ptr<const std::string> text;
};

/// One incremental change applied to a text. Thread: any.
std::string apply_change(std::string text, const protocol::ContentChange &change,
                         protocol::PositionEncoding encoding);

class Documents {
public:
  void set_encoding(protocol::PositionEncoding encoding) { encoding_ = encoding; }
  protocol::PositionEncoding encoding() const { return encoding_; }

  const Document &open(protocol::TextDocumentItem item);
  /// Null for a document that is not open: the change is dropped.
  const Document *change(const protocol::DidChangeParams &params);
  void close(const std::string &uri) { documents_.erase(uri); }
  /// Null when it is not open. Valid until the next change of the set.
  const Document *find(const std::string &uri) const;
  const std::map<std::string, Document> &all() const { return documents_; }

private:
  std::map<std::string, Document> documents_;
  protocol::PositionEncoding encoding_ = protocol::PositionEncoding::Utf16;
};

} // namespace warpwright::server
