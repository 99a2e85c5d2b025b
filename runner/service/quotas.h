// How much of a service one owner may have: jobs that wait or run, bytes of their requests, and device time, which comes back at
// its rate. Turns (scheduler.h) share what there is among clients; quotas hold where nobody else asks for it, too.
// Thread: the service's strand.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace warpwright::runner {

/// 0: no limit.
struct QuotaLimits {
  std::size_t jobs = 0, bytes = 0;
  double device_seconds = 0; ///< in an hour
};

class Quotas {
public:
  using Clock = std::chrono::steady_clock;
  explicit Quotas(QuotaLimits limits) : limits_(limits) {}

  /// Why a job of so many bytes is not taken, and what to do; empty: it may be.
  std::string why_not(const std::string &owner, std::size_t bytes, Clock::time_point now) const;
  void begin(const std::string &owner, std::size_t bytes);
  void end(const std::string &owner, std::size_t bytes, Clock::time_point now);
  /// The owner's job had a device for so long, and no longer has it.
  void use_device(const std::string &owner, double seconds, Clock::time_point now);
  /// Owners about whom something is remembered.
  std::size_t owners() const { return accounts_.size(); }

private:
  struct Account {
    std::size_t jobs = 0, bytes = 0;
    double device_seconds = 0; ///< at `since`; less now
    Clock::time_point since{};
  };
  double device_seconds_at(const Account &account, Clock::time_point now) const;

  QuotaLimits limits_;
  std::map<std::string, Account> accounts_;
};

} // namespace warpwright::runner
