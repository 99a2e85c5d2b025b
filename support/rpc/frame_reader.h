// Cuts a byte stream into messages: LSP's base protocol, a header block with Content-Length and then
// the body.
//
// It holds no more than one header (4 KB) and one body within the limit: an oversize body is refused
// from its header, before it is read. It does not know what a body means. Thread: one at a time.
#pragma once

#include "support/error.h"

#include <optional>
#include <string>
#include <string_view>

namespace warpwright::rpc {

class FrameReader {
public:
  explicit FrameReader(std::size_t max_body_bytes) : max_body_bytes_(max_body_bytes) {}

  /// Holds for bodies whose header has not been read yet.
  void set_max_body_bytes(std::size_t bytes) { max_body_bytes_ = bytes; }
  void append(std::string_view bytes) { bytes_.append(bytes); }
  /// The next whole body; nothing when it has not arrived yet.
  /// Errors: a header that cannot be read, or a body over the limit; where the next message starts is
  /// then unknown, so that the stream is of no more use.
  Result<std::optional<std::string>> next();
  /// Whether the stream may end here.
  bool between_messages() const { return position_ == bytes_.size() && !body_bytes_; }

private:
  Result<bool> read_header();

  std::size_t max_body_bytes_;
  std::string bytes_;
  std::size_t position_ = 0;              ///< of the first byte not yet taken
  std::optional<std::size_t> body_bytes_; ///< of the message whose header was read
};

} // namespace warpwright::rpc
