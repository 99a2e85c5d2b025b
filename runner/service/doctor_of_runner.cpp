// `doctor --runner URL`: the devices of a running service, what it lacks, and what its operator
// switched off, as this client sees it.
#include "runner/connect/connect.h"
#include "runner/service/commands.h"

#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

namespace warpwright::runner {

int run_doctor_of_runner(const std::string &url, bool as_json) {
  const auto client = BlockingClient::connect(url);
  const auto info = client ? (*client)->info() : std::unexpected(client.error());
  if (!info) {
    std::cerr << describe(info.error()) << std::endl;
    return 2;
  }
  nlohmann::json findings = nlohmann::json::array();
  const auto tell = [&](const char *state, const std::string &what, const std::string &detail) {
    findings.push_back({{"what", what}, {"state", state}, {"detail", detail}});
    if (!as_json)
      std::cout << std::left << std::setw(9) << state << what << ": " << detail << "\n";
  };
  for (const model::DeviceInfo &device : info->devices)
    tell("found", device.kind, device.name + (device.host.empty() ? "" : " of " + device.host));
  for (const std::string &note : info->notes)
    tell("missing", "device", note);
  for (const auto &[what, why] : info->off)
    tell("off", what, why);
  if (as_json)
    std::cout << nlohmann::json{{"usable", !info->devices.empty()},
                                {"version", info->version},
                                {"findings", findings}}
                     .dump(1)
              << "\n";
  return info->devices.empty() ? 1 : 0;
}

} // namespace warpwright::runner
