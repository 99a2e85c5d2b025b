// URLs, and the search for the runner's executable.
#include "runner/client/link.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

/// Words of a command; double quotes keep spaces.
std::vector<std::string> split_command(const std::string &text) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false, any = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (c == ' ' && !quoted) {
      if (any)
        words.push_back(std::exchange(word, {}));
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (any)
    words.push_back(word);
  return words;
}

Result<std::string> find_runner() {
  if (const char *chosen = std::getenv("WARPWRIGHT_RUNNER"); chosen && *chosen) {
    if (access(chosen, X_OK) != 0)
      return fail("WARPWRIGHT_RUNNER is " + std::string(chosen) + ", which is no executable file");
    return chosen;
  }
  std::error_code error;
  const fs::path beside =
      fs::read_symlink("/proc/self/exe", error).parent_path() / "warpwright-runner";
  if (access(beside.c_str(), X_OK) != 0)
    return fail("no runner: " + beside.string() + " is not there",
                "Put warpwright-runner beside this program, or set WARPWRIGHT_RUNNER to its path");
  return beside.string();
}

LinkFactory child_factory(std::vector<std::string> command, boost::asio::any_io_executor executor) {
  return [command = std::move(command), executor]() -> Result<Link> {
    auto process = Process::spawn(command);
    if (!process)
      return std::unexpected(process.error());
    const int out = process->release_stdout(), in = process->release_stdin();
    return Link{rpc::make_descriptor_stream(executor, out, in), std::move(*process)};
  };
}

LinkFactory socket_factory(std::string path, boost::asio::any_io_executor executor) {
  return [path = std::move(path), executor]() -> Result<Link> {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
      return fail("the socket path " + path + " is longer than 107 bytes");
    std::memcpy(address.sun_path, path.c_str(), path.size());
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0 ||
        connect(descriptor, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) {
      const std::string reason = std::strerror(errno);
      if (descriptor >= 0)
        ::close(descriptor);
      return fail("cannot reach a runner at " + path + ": " + reason,
                  "Start one: warpwright-runner serve --socket " + path);
    }
    return Link{rpc::make_descriptor_stream(executor, descriptor, descriptor), std::nullopt};
  };
}

} // namespace

Result<LinkFactory> parse_runner_url(const std::string &url,
                                     boost::asio::any_io_executor executor) {
  if (url.empty()) {
    auto runner = find_runner();
    if (!runner)
      return std::unexpected(runner.error());
    return child_factory({*runner, "serve"}, executor);
  }
  if (url.starts_with("stdio:")) {
    auto command = split_command(url.substr(6));
    if (command.empty())
      return fail("the runner URL \"" + url + "\" names no command", "Write stdio:COMMAND ARGS");
    return child_factory(std::move(command), executor);
  }
  if (url.starts_with("unix:") && url.size() > 5)
    return socket_factory(url.substr(5), executor);
  return fail("the runner URL \"" + url + "\" is not understood",
              "Write unix:/path, stdio:COMMAND ARGS, or nothing for a runner of its own");
}

} // namespace warpwright::runner
