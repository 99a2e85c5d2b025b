// Implementation of positions. Columns are counted from the start of the line, so a lookup reads
// one line, not the whole text.
#include "server/protocol/position.h"

#include <algorithm>

namespace warpwright::server::protocol {

namespace {

/// Bytes of the UTF-8 sequence that starts with `lead`; 1 for bytes that start no sequence.
std::size_t sequence_bytes(unsigned char lead) {
  if (lead >= 0xF0)
    return 4;
  if (lead >= 0xE0)
    return 3;
  return lead >= 0xC0 ? 2 : 1;
}

/// UTF-16 code units of a sequence of that many UTF-8 bytes.
std::size_t utf16_units(std::size_t bytes) { return bytes == 4 ? 2 : 1; }

} // namespace

PositionMap::PositionMap(std::string_view text, PositionEncoding encoding)
    : text_(text), encoding_(encoding), starts_{0} {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n')))
      starts_.push_back(i + 1);
}

std::size_t PositionMap::offset(Position position) const {
  if (position.line >= starts_.size())
    return text_.size();
  std::size_t at = starts_[position.line];
  std::size_t end = position.line + 1 < starts_.size() ? starts_[position.line + 1] : text_.size();
  while (end > at && (text_[end - 1] == '\n' || text_[end - 1] == '\r'))
    --end;
  if (encoding_ == PositionEncoding::Utf8)
    return std::min(at + position.character, end);
  for (std::size_t units = 0; at < end;) {
    const std::size_t bytes = sequence_bytes(static_cast<unsigned char>(text_[at]));
    units += utf16_units(bytes);
    if (units > position.character)
      break;
    at += bytes;
  }
  return std::min(at, end);
}

Position PositionMap::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const std::size_t line = static_cast<std::size_t>(next - starts_.begin()) - 1;
  std::size_t character = offset - starts_[line];
  if (encoding_ == PositionEncoding::Utf16) {
    character = 0;
    for (std::size_t at = starts_[line]; at < offset;) {
      const std::size_t bytes = sequence_bytes(static_cast<unsigned char>(text_[at]));
      character += utf16_units(bytes);
      at += bytes;
    }
  }
  return {static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(character)};
}

warpwright::Range PositionMap::bytes(Range range) const {
  const auto [begin, end] = std::minmax(offset(range.start), offset(range.end));
  return {begin, end};
}

} // namespace warpwright::server::protocol
