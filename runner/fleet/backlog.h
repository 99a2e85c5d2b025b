// Verdicts that nobody has asked for yet: a session's client that has come back gets what was finished
// while it was away, and keeps it unacknowledged until verify() asks for its key. Also remembers, within
// limits, the keys that are over, so that late copies are dropped. Thread: the client's strand.
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

  /// So many stored verdicts are on their way.
  void expect(std::uint32_t count) { expected_ = count; }
  bool is_in() const { return expected_ == 0; }
  /// Counts one verdict in. @return true when it was the last that was expected
  bool arrived() { return expected_ > 0 && --expected_ == 0; }

  /// @return the receipt of one that had to make room
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
