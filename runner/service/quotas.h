// Quotas of one owner on a service: jobs that wait or run, bytes of their requests, and device
// time, which is restored at a constant rate. The scheduler's turns (scheduler.h) share devices
// among clients; quotas also apply when no other client waits.
// Thread: the service's strand.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace warpwright::runner {

/// Limits for each owner; 0: no limit.
struct QuotaLimits {
  std::size_t jobs = 0, bytes = 0;
  double device_seconds = 0; ///< per hour
};

class Quotas {
public:
  using Clock = std::chrono::steady_clock;
  explicit Quotas(QuotaLimits limits) : limits_(limits) {}

  /// Why a job with a request of this size is refused, and what to do; empty: it is accepted.
  std::string why_not(const std::string &owner, std::size_t bytes, Clock::time_point now) const;
  void begin(const std::string &owner, std::size_t bytes);
  void end(const std::string &owner, std::size_t bytes, Clock::time_point now);
  /// Counts device time of the owner's job after it released the device.
  void use_device(const std::string &owner, double seconds, Clock::time_point now);
  /// Number of owners with an account.
  std::size_t owners() const { return accounts_.size(); }

private:
  struct Account {
    std::size_t jobs = 0, bytes = 0;
    double device_seconds = 0; ///< as of `since`; decreases with time
    Clock::time_point since{};
  };
  double device_seconds_at(const Account &account, Clock::time_point now) const;

  QuotaLimits limits_;
  std::map<std::string, Account> accounts_;
};

} // namespace warpwright::runner
