// A client that can be killed: chaos_client URL FOLDER NAME WINDOW submits NAME-0, NAME-1, ... without end, WINDOW at a time, each
// under its name as key, until FOLDER/stop exists; then it waits for what is under way and ends with 0.
// FOLDER/NAME.sent has a line for each job before it is submitted, FOLDER/NAME.verdicts a line "KEY OUTCOME MESSAGE" for each
// answer. Started again, it first submits what was sent and not answered.
#define DOCTEST_CONFIG_IMPLEMENT // tasks.h checks with it
#include "tests/runner/chaos_jobs.h"

#include "runner/connect/connect.h"

#include <boost/asio/io_context.hpp>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <unistd.h>

namespace {

using namespace warpwright;
namespace fs = std::filesystem;

/// One write a line, so that a kill leaves whole lines.
class Log {
public:
  explicit Log(const fs::path &path)
      : descriptor_(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {}
  ~Log() { close(descriptor_); }
  void append(const std::string &line) {
    if (write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      std::exit(3);
  }

private:
  int descriptor_;
};

class ChaosClient {
public:
  ChaosClient(runner::Client &client, const fs::path &folder, const std::string &name)
      : client_(client), stop_(folder / "stop"), name_(name), sent_(folder / (name + ".sent")),
        verdicts_(folder / (name + ".verdicts")) {
    std::set<std::string> answered;
    std::string line;
    for (std::ifstream file(folder / (name + ".verdicts")); std::getline(file, line);)
      answered.insert(line.substr(0, line.find(' ')));
    for (std::ifstream file(folder / (name + ".sent")); std::getline(file, line); ++next_)
      if (!answered.contains(key_of(next_)))
        again_.push_back(next_);
  }

  /// @return whether anything is under way
  bool submit(std::size_t window) {
    while (under_way_ < window && (!again_.empty() || !fs::exists(stop_))) {
      int number = next_;
      if (!again_.empty()) {
        number = again_.front();
        again_.pop_front();
      } else {
        sent_.append(std::to_string(next_++) + "\n");
      }
      ++under_way_;
      client_.verify(runner::testing::chaos_task(), runner::testing::chaos_plan(number),
                     runner::testing::chaos_options(number, key_of(number)), {},
                     [this, number](const Result<model::Verdict> &verdict) {
                       --under_way_;
                       std::string text = verdict ? std::string(model::name(verdict->outcome)) +
                                                        " " + verdict->message
                                                  : "error " + describe(verdict.error());
                       std::ranges::replace(text, '\n', ' ');
                       verdicts_.append(key_of(number) + " " + text + "\n");
                     });
    }
    return under_way_ > 0;
  }

private:
  std::string key_of(int number) const { return name_ + "-" + std::to_string(number); }

  runner::Client &client_;
  const fs::path stop_;
  const std::string name_;
  Log sent_, verdicts_;
  int next_ = 0;
  std::deque<int> again_;
  std::size_t under_way_ = 0;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    std::cerr << "chaos_client URL FOLDER NAME WINDOW" << std::endl;
    return 2;
  }
  doctest::Context checks;
  checks.setAsDefaultForAssertsOutOfTestCases();
  boost::asio::io_context loop;
  auto client = runner::connect(argv[1], loop.get_executor());
  if (!client) {
    std::cerr << describe(client.error()) << std::endl;
    return 2;
  }
  ChaosClient chaos(**client, argv[2], argv[3]);
  while (chaos.submit(std::stoul(argv[4]))) {
    loop.restart();
    loop.run_one();
  }
  return 0;
}
