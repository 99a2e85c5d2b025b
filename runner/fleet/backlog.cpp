#include "runner/fleet/backlog.h"

namespace warpwright::runner::fleet {
namespace {

constexpr std::size_t kMaxStored = 10'000;

} // namespace

std::optional<Receipt> Backlog::keep(const std::string &key, Stored stored) {
  std::optional<Receipt> dropped;
  if (const auto copy = stored_.find(key); copy != stored_.end()) {
    dropped = copy->second.receipt; // the older of two copies; one suffices
    copy->second = std::move(stored);
    return dropped;
  }
  if (stored_.size() >= kMaxStored) {
    dropped = stored_.begin()->second.receipt;
    stored_.erase(stored_.begin());
  }
  stored_.emplace(key, std::move(stored));
  return dropped;
}

std::optional<Backlog::Stored> Backlog::claim(const std::string &key) {
  auto entry = stored_.extract(key);
  if (!entry)
    return std::nullopt;
  return std::move(entry.mapped());
}

} // namespace warpwright::runner::fleet
