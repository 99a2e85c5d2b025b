// Reader that cuts a byte stream into messages of LSP's base protocol: a header block with
// Content-Length, then the body.
//
// An oversize body is refused from its header, before it is read. So the reader holds at most one
// header (4 KB), one body within the limit, and the last block. Bodies are not interpreted. Thread:
// one at a time.
#pragma once

#include "support/error.h"

#include <optional>
#include <string>
#include <string_view>

namespace warpwright::rpc {

class FrameReader {
public:
  explicit FrameReader(std::size_t max_body_bytes) : max_body_bytes_(max_body_bytes) {}

  /// Applies to bodies whose header has not been read yet.
  void set_max_body_bytes(std::size_t bytes) { max_body_bytes_ = bytes; }
  void append(std::string_view bytes) { bytes_.append(bytes); }
  /// The next whole body; nullopt if it has not arrived yet.
  /// Errors: a malformed header, or a body over the limit. The start of the next message is then
  /// unknown, so the stream is of no more use.
  Result<std::optional<std::string>> next();
  /// Whether the stream may end here.
  bool between_messages() const { return position_ == bytes_.size() && !body_bytes_; }

private:
  Result<bool> read_header();

  std::size_t max_body_bytes_;
  std::string bytes_;
  std::size_t position_ = 0;              ///< first byte not yet taken
  std::optional<std::size_t> body_bytes_; ///< body size of the message whose header was read
};

} // namespace warpwright::rpc
