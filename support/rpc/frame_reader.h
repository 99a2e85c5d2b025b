// Reader that cuts a byte stream into messages: of LSP's base protocol, a header block with
// Content-Length and then the body, or one message per line.
//
// An oversize body is refused from its header, before it is read; a long line, when it is over the
// limit. So the reader holds at most one header (4 KB), one body within the limit, and the last
// block. Bodies are not interpreted. Thread: one at a time.
#pragma once

#include "support/error.h"

#include <optional>
#include <string>
#include <string_view>

namespace warpwright::rpc {

/// How messages are delimited in a byte stream.
enum class Framing {
  ContentLength, ///< LSP's base protocol
  Lines,         ///< a line per message: the stdio transport of the Model Context Protocol
};

/// A body as it is sent. @param body without line ends if it is sent as a line
std::string framed(std::string body, Framing framing);

class FrameReader {
public:
  explicit FrameReader(std::size_t max_body_bytes, Framing framing = Framing::ContentLength)
      : max_body_bytes_(max_body_bytes), framing_(framing) {}

  /// Applies to bodies of which nothing has been read yet.
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
  Result<std::optional<std::string>> next_line();

  std::size_t max_body_bytes_;
  Framing framing_;
  std::string bytes_;
  std::size_t position_ = 0;              ///< first byte not yet taken
  std::optional<std::size_t> body_bytes_; ///< body size of the message whose header was read
};

} // namespace warpwright::rpc
