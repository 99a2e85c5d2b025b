// Conversion between byte offsets in UTF-8 and the protocol's lines and columns.
//
// The protocol ends lines at LF, CR LF and a lone CR. Columns count UTF-16 code units unless the
// client offered UTF-8. Positions outside the text are clamped, as the specification requires: a
// column past the end of its line means the end of that line, and a line past the last one means
// the end of the text. Thread: values, any.
#pragma once

#include "server/protocol/types.h"
#include "support/text.h"

#include <memory>
#include <string_view>

namespace warpwright::server::protocol {

enum class PositionEncoding { Utf16, Utf8 };

class PositionMap {
public:
  /// `text` must outlive the map.
  PositionMap(std::string_view text, PositionEncoding encoding);

  PositionEncoding encoding() const { return encoding_; }
  std::size_t offset(Position position) const;
  Position position(std::size_t offset) const;
  Range range(warpwright::Range bytes) const {
    return {position(bytes.begin), position(bytes.end)};
  }
  /// A range whose end lies before its start is swapped, so the result is always a range of the
  /// text.
  warpwright::Range bytes(Range range) const;

private:
  std::string_view text_;
  PositionEncoding encoding_;
  std::vector<std::size_t> starts_;
};

} // namespace warpwright::server::protocol
