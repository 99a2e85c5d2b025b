#include "runner/service/quotas.h"

#include <algorithm>
#include <cmath>

namespace warpwright::runner {
namespace {

constexpr double kHour_s = 3600;

} // namespace

double Quotas::device_seconds_at(const Account &account, Clock::time_point now) const {
  const double passed = std::chrono::duration<double>(now - account.since).count();
  return std::max(0.0, account.device_seconds - passed * limits_.device_seconds / kHour_s);
}

std::string Quotas::why_not(const std::string &owner, std::size_t bytes,
                            Clock::time_point now) const {
  const auto found = accounts_.find(owner);
  const Account account = found == accounts_.end() ? Account{} : found->second;
  if (limits_.jobs && account.jobs >= limits_.jobs)
    return owner + " has " + std::to_string(account.jobs) +
           " jobs here, which is its quota. Wait for one of them";
  if (limits_.bytes && account.bytes + bytes > limits_.bytes)
    return "with this job, those of " + owner + " would hold " +
           std::to_string(account.bytes + bytes) + " bytes; its quota is " +
           std::to_string(limits_.bytes) + ". Wait for one of them";
  const double used = limits_.device_seconds > 0 ? device_seconds_at(account, now) : 0;
  if (limits_.device_seconds > 0 && used >= limits_.device_seconds)
    return owner + " used its " + std::to_string(std::lround(limits_.device_seconds)) +
           " device seconds an hour. Try again in " +
           std::to_string(std::lround(std::ceil((used - limits_.device_seconds) * kHour_s /
                                                limits_.device_seconds)) +
                          1) +
           " s";
  return "";
}

void Quotas::begin(const std::string &owner, std::size_t bytes) {
  Account &account = accounts_[owner];
  ++account.jobs;
  account.bytes += bytes;
}

void Quotas::end(const std::string &owner, std::size_t bytes, Clock::time_point now) {
  const auto found = accounts_.find(owner);
  if (found == accounts_.end())
    return;
  Account &account = found->second;
  --account.jobs;
  account.bytes -= bytes;
  if (account.jobs == 0 && device_seconds_at(account, now) == 0)
    accounts_.erase(found);
}

void Quotas::use_device(const std::string &owner, double seconds, Clock::time_point now) {
  if (limits_.device_seconds <= 0)
    return;
  Account &account = accounts_[owner];
  account.device_seconds = device_seconds_at(account, now) + seconds;
  account.since = now;
}

} // namespace warpwright::runner
