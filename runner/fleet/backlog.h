// Verdicts without a caller. The client of a named session gets the verdicts that finished while it
// was away and keeps each unacknowledged until verify() asks for its key. The backlog also
// remembers a limited number of finished keys, so that late copies are dropped. Thread: the
// client's strand.
#pragma once

#include "runner/fleet/line.h"
#include "runner/fleet/recent.h"

#include <map>

namespace warpwright::runner::fleet {

class Backlog {
public:
  struct Stored {
    std::string body;
    Receipt receipt;
  };

  /// Sets the number of stored verdicts that will arrive.
  void expect(std::uint32_t count) { expected_ = count; }
  bool is_in() const { return expected_ == 0; }
  /// Counts one arrived verdict. @return true for the last expected one
  bool arrived() { return expected_ > 0 && --expected_ == 0; }

  /// Keeps a verdict. @return the receipt of a verdict that was dropped: a copy, or another one when full
  std::optional<Receipt> keep(const std::string &key, Stored stored);
  std::optional<Stored> claim(const std::string &key);

  void finished(const std::string &key) { finished_.put(key, true, sizeof(bool)); }
  bool is_finished(const std::string &key) const { return finished_.find(key) != nullptr; }

private:
  std::uint32_t expected_ = 0;
  std::map<std::string, Stored> stored_;
  Recent<bool> finished_{8u << 20};
};

} // namespace warpwright::runner::fleet
