// Implementation of the frame reader. Headers and lines are searched from their start with each new
// block. Bodies are complete once enough bytes have arrived.
#include "support/rpc/frame_reader.h"

#include <algorithm>
#include <charconv>
#include <strings.h>

namespace warpwright::rpc {
namespace {

constexpr std::size_t kMaxHeaderBytes = 4 * 1024;
/// Largest number of a peer's bytes that an error quotes.
constexpr std::size_t kQuotedBytes = 40;

bool has_name(std::string_view line, std::string_view name) {
  return line.size() >= name.size() && ::strncasecmp(line.data(), name.data(), name.size()) == 0;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Result<std::size_t> to_length(std::string_view text) {
  std::size_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || text.empty() || rest != text.data() + text.size())
    return fail("the Content-Length header holds no number: '" +
                std::string(text.substr(0, kQuotedBytes)) + "'");
  return value;
}

/// The value of Content-Length in a header block, lines separated by CR LF. Two different values
/// are refused, because readers that choose different ones would disagree about all later messages.
Result<std::size_t> content_length(std::string_view header) {
  constexpr std::string_view kName = "Content-Length:";
  std::optional<std::size_t> length;
  while (!header.empty()) {
    const auto end = header.find("\r\n");
    const std::string_view line = header.substr(0, end);
    header.remove_prefix(end == std::string_view::npos ? header.size() : end + 2);
    if (!has_name(line, kName))
      continue;
    const auto value = to_length(trimmed(line.substr(kName.size())));
    if (!value)
      return value;
    if (length && *length != *value)
      return fail("a message header has two different Content-Length");
    length = *value;
  }
  if (!length)
    return fail("a message header has no Content-Length");
  return *length;
}

} // namespace

Result<bool> FrameReader::read_header() {
  const std::string_view rest = std::string_view(bytes_).substr(position_);
  const auto end = rest.substr(0, kMaxHeaderBytes).find("\r\n\r\n");
  if (end == std::string_view::npos) {
    if (rest.size() >= kMaxHeaderBytes)
      return fail("a message header is longer than " + std::to_string(kMaxHeaderBytes) + " bytes");
    return false;
  }
  const auto length = TRY(content_length(rest.substr(0, end)));
  if (length > max_body_bytes_)
    return fail("a message of " + std::to_string(length) + " bytes is over the limit of " +
                std::to_string(max_body_bytes_));
  body_bytes_ = length;
  position_ += end + 4;
  return true;
}

std::string framed(std::string body, Framing framing) {
  if (framing == Framing::Lines)
    return std::move(body += '\n');
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// The next line that is not empty, without its end.
Result<std::optional<std::string>> FrameReader::next_line() {
  for (;;) {
    const std::size_t end = bytes_.find('\n', position_);
    const std::size_t length = std::min(end, bytes_.size()) - position_;
    if (length > max_body_bytes_)
      return fail("a message is over the limit of " + std::to_string(max_body_bytes_) + " bytes");
    if (end == std::string::npos) {
      bytes_.erase(0, std::exchange(position_, 0));
      return std::nullopt;
    }
    std::string line = bytes_.substr(position_, length);
    position_ = end + 1;
    if (line.ends_with('\r'))
      line.pop_back();
    if (!line.empty())
      return line;
  }
}

Result<std::optional<std::string>> FrameReader::next() {
  if (framing_ == Framing::Lines)
    return next_line();
  if (!body_bytes_)
    (void)TRY(read_header());
  if (!body_bytes_ || bytes_.size() - position_ < *body_bytes_) {
    bytes_.erase(0, std::exchange(position_, 0));
    return std::nullopt;
  }
  std::string body = bytes_.substr(position_, *body_bytes_);
  position_ += *body_bytes_;
  body_bytes_.reset();
  return body;
}

} // namespace warpwright::rpc
