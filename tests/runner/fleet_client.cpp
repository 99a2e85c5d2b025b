// A client of a fleet that can be killed: fleet_client URL JOBS LOG submits the jobs job-0 ... job-JOBS-1,
// each under its name as key, and appends a line "KEY OUTCOME" to LOG for each that is reported. Started
// again it submits those that LOG does not have. Ends with 0 when all are reported.
#define DOCTEST_CONFIG_IMPLEMENT // tasks.h checks with it
#include "runner/connect/connect.h"
#include "tests/runner/fleet_jobs.h"

#include <boost/asio/io_context.hpp>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <set>
#include <unistd.h>

namespace {

using namespace warpwright;

std::set<std::string> reported_keys(const std::string &log) {
  std::set<std::string> keys;
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);)
    keys.insert(line.substr(0, line.find(' ')));
  return keys;
}

/// One write a line, so that a kill leaves whole lines.
class Log {
public:
  explicit Log(const std::string &path)
      : descriptor_(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {}
  ~Log() { close(descriptor_); }
  bool append(const std::string &line) {
    return write(descriptor_, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  }

private:
  int descriptor_;
};

int run(const std::string &url, int jobs, const std::string &path) {
  boost::asio::io_context loop;
  auto client = runner::connect(url, loop.get_executor());
  if (!client) {
    std::cerr << describe(client.error()) << std::endl;
    return 2;
  }
  const std::set<std::string> done = reported_keys(path);
  Log log(path);
  int waiting = 0, code = 0;
  for (int i = 0; i < jobs; ++i) {
    const std::string key = "job-" + std::to_string(i);
    if (done.contains(key))
      continue;
    ++waiting;
    runner::VerifyOptions options = runner::testing::on_cpu();
    options.job = key;
    (*client)->verify(runner::testing::small_task(), runner::testing::numbered_plan(i), options, {},
                      [&, key](const Result<model::Verdict> &verdict) {
                        const std::string outcome = verdict
                                                        ? std::string(model::name(verdict->outcome))
                                                        : "error " + describe(verdict.error());
                        if (!log.append(key + " " + outcome + "\n"))
                          code = 3;
                        if (--waiting == 0)
                          loop.stop();
                      });
  }
  if (waiting > 0)
    loop.run();
  return code;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::cerr << "fleet_client URL JOBS LOG" << std::endl;
    return 2;
  }
  doctest::Context checks;
  checks.setAsDefaultForAssertsOutOfTestCases();
  return run(argv[1], std::stoi(argv[2]), argv[3]);
}
