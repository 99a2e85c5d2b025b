// Implementation of measurements. One thread reads and writes the ledger in the order of the calls.
#include "server/measurements.h"

#include "support/model/json.h"

namespace warpwright::server {

struct Measurements::Store {
  OpenLedger open;
  std::unique_ptr<runner::Ledger> ledger;
  bool failed = false;

  /// The ledger, opened once. Errors: the ledger does not open (first call only); later calls then
  /// return null.
  Result<runner::Ledger *> get() {
    if (ledger)
      return ledger.get();
    if (failed)
      return nullptr;
    auto opened = open();
    if (!opened) {
      failed = true;
      return std::unexpected(opened.error());
    }
    ledger = std::move(*opened);
    return ledger.get();
  }

  Result<runner::KernelHistory> read(const Key &key) {
    const auto opened = get();
    if (!opened)
      return std::unexpected(opened.error());
    return *opened ? (*opened)->of_kernel(key.first, key.second) : runner::KernelHistory();
  }

  Result<void> write(const runner::LedgerEntry &entry) {
    const auto opened = get();
    if (!opened)
      return std::unexpected(opened.error());
    return *opened ? (*opened)->record(entry) : Result<void>();
  }
};

namespace {

bool same_measurement(const runner::LedgerEntry &a, const runner::LedgerEntry &b) {
  return model::hash(a.task) == model::hash(b.task) && model::hash(a.plan) == model::hash(b.plan) &&
         a.verdict.device.name == b.verdict.device.name &&
         a.verdict.device.driver == b.verdict.device.driver;
}

} // namespace

Measurements::Measurements(boost::asio::any_io_executor strand, OpenLedger open, Events events)
    : strand_(std::move(strand)), events_(std::move(events)), store_(std::make_shared<Store>()) {
  store_->open = std::move(open);
}

void Measurements::load(const std::string &file, const std::vector<std::string> &kernels) {
  for (const std::string &kernel : kernels) {
    const Key key{file, kernel};
    if (entries_.contains(key))
      continue;
    entries_[key] = std::make_shared<const Entries>();
    pool_.post([this, key, store = store_, strand = strand_, alive = std::weak_ptr(alive_)] {
      auto read = store->read(key);
      boost::asio::post(strand, [this, key, read = std::move(read), alive]() mutable {
        if (alive.expired())
          return;
        if (!read)
          return report(std::unexpected(read.error()));
        if (read->why && !std::exchange(told_unreadable_, true) && events_.on_unreadable)
          events_.on_unreadable(*read->why, read->unreadable);
        Entries &found = read->entries;
        if (found.empty())
          return;
        for (const auto &known : *entries_[key]) // entries recorded during the read
          if (std::none_of(found.begin(), found.end(),
                           [&](const auto &entry) { return same_measurement(entry, known); }))
            found.insert(found.begin(), known);
        entries_[key] = std::make_shared<const Entries>(std::move(found));
        if (events_.on_loaded)
          events_.on_loaded(key.first);
      });
    });
  }
}

void Measurements::record(runner::LedgerEntry entry) {
  Entries list{entry};
  for (const auto &known : *of(entry.file, entry.kernel))
    if (!same_measurement(known, entry))
      list.push_back(known);
  entries_[{entry.file, entry.kernel}] = std::make_shared<const Entries>(std::move(list));
  pool_.post([this, entry = std::move(entry), store = store_, strand = strand_,
              alive = std::weak_ptr(alive_)] {
    if (auto written = store->write(entry); !written)
      boost::asio::post(strand, [this, written, alive] {
        if (!alive.expired())
          report(written);
      });
  });
}

EntriesPtr Measurements::of(const std::string &file, const std::string &kernel) const {
  static const EntriesPtr kNone = std::make_shared<const Entries>();
  const auto found = entries_.find({file, kernel});
  return found == entries_.end() ? kNone : found->second;
}

void Measurements::report(Result<void> result) {
  if (!std::exchange(reported_, true) && events_.on_error)
    events_.on_error(result.error());
}

} // namespace warpwright::server
