// Routes from URLs.
#include "runner/client/link.h"
#include "runner/net/tls_url.h"
#include "runner/shell/runner_files.h"
#include "runner/shell/shell_link.h"

#include <cerrno>
#include <cstring>
#include <deque>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

constexpr std::string_view kLocal = "local:", kWorkers = "?workers=";

/// Splits a command into words; double quotes keep spaces.
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

/// @param rest the part of a "local:" URL after the scheme
std::vector<std::string> local_command(const std::string &runner, const std::string &rest) {
  std::vector<std::string> command = {runner, "serve"};
  const auto option = rest.find(kWorkers);
  if (const std::string python = rest.substr(0, option); !python.empty())
    command.insert(command.end(), {"--python", python});
  if (option != std::string::npos)
    command.insert(command.end(), {"--workers-per-gpu", rest.substr(option + kWorkers.size())});
  return command;
}

std::unexpected<net::LinkFailure> lost(Error error) {
  return std::unexpected(net::LinkFailure{std::move(error), false});
}

/// Limit of restarts, so that a child that keeps ending is not started for ever.
class StartLimit {
public:
  /// Counts a start. Errors: too many starts in the time window.
  Result<void> count() {
    const auto now = Clock::now();
    while (!starts_.empty() && now - starts_.front() > kStartWindow)
      starts_.pop_front();
    // The first start is not a restart.
    if (starts_.size() > kMaxStarts)
      return fail("the runner ended " + std::to_string(starts_.size()) + " times within a minute",
                  "See what it wrote to stderr, and run `warpwright-runner doctor`");
    starts_.push_back(now);
    return {};
  }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMaxStarts = 3;
  static constexpr std::chrono::seconds kStartWindow{60};
  std::deque<Clock::time_point> starts_;
};

Route child_route(std::vector<std::string> command, boost::asio::any_io_executor executor) {
  Route route;
  route.open = [command = std::move(command), executor,
                starts = StartLimit()](const Route::Opened &opened) mutable {
    if (auto counted = starts.count(); !counted)
      return opened(lost(counted.error()));
    auto process = Process::spawn(command);
    if (!process)
      return opened(lost(process.error()));
    const int out = process->release_stdout(), in = process->release_stdin();
    opened(Link{rpc::make_descriptor_stream(executor, out, in), std::move(*process)});
  };
  return route;
}

std::expected<Link, net::LinkFailure> connect_socket(const std::string &path,
                                                     boost::asio::any_io_executor executor) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return std::unexpected(
        net::LinkFailure{{"the socket path " + path + " is longer than 107 bytes", ""}, true});
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0 ||
      connect(descriptor, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) {
    const std::string reason = std::strerror(errno);
    if (descriptor >= 0)
      ::close(descriptor);
    return lost({"cannot reach a runner at " + path + ": " + reason,
                 "Start one: warpwright-runner serve --socket " + path});
  }
  return Link{rpc::make_descriptor_stream(executor, descriptor, descriptor), std::nullopt};
}

Route socket_route(std::string path, boost::asio::any_io_executor executor) {
  Route route;
  route.open = [path = std::move(path), executor](const Route::Opened &opened) {
    opened(connect_socket(path, executor));
  };
  route.resumes = true;
  return route;
}

Result<Route> tls_route(const std::string &url, boost::asio::any_io_executor executor) {
  auto remote = TRY(net::parse_tls_url(url));
  Route route;
  route.open = [target = remote.target, executor](const Route::Opened &opened) {
    net::connect_tls(executor, target, [opened](auto stream) {
      if (!stream)
        return opened(std::unexpected(stream.error()));
      opened(Link{std::move(*stream), std::nullopt});
    });
  };
  route.resumes = true;
  route.retry = remote.retry;
  route.token = remote.token;
  return route;
}

/// The service there outlives the link (`warpwright-runner connect`), so jobs are resumed.
Result<Route> shell_route(const std::string &url, boost::asio::any_io_executor executor) {
  auto target = TRY(parse_shell_url(url, isatty(STDERR_FILENO)));
  Route route;
  route.resumes = true;
  route.retry = target.retry;
  route.open = [target = std::move(target), executor](const Route::Opened &opened) {
    open_shell_link(executor, target, [opened](auto stream) {
      if (!stream)
        return opened(std::unexpected(stream.error()));
      opened(Link{std::move(*stream), std::nullopt});
    });
  };
  return route;
}

Result<Route> route_of(const std::string &url, boost::asio::any_io_executor executor) {
  if (url.empty()) {
    auto runner = TRY(find_runner());
    return child_route({runner, "serve"}, executor);
  }
  if (url.starts_with(kLocal)) {
    auto runner = TRY(find_runner());
    return child_route(local_command(runner, url.substr(kLocal.size())), executor);
  }
  if (url.starts_with("stdio:")) {
    auto command = split_command(url.substr(6));
    if (command.empty())
      return fail("the runner URL \"" + url + "\" names no command", "Write stdio:COMMAND ARGS");
    return child_route(std::move(command), executor);
  }
  if (url.starts_with("unix:") && url.size() > 5)
    return socket_route(url.substr(5), executor);
  if (url.starts_with("tls://"))
    return tls_route(url, executor);
  if (is_shell_url(url))
    return shell_route(url, executor);
  return fail(
      "the runner URL \"" + net::without_secrets(url) + "\" is not understood",
      "Write ssh://HOST, slurm://PARTITION, docker://IMAGE, kubectl://POD, tls://HOST:PORT, "
      "unix:/path, stdio:COMMAND ARGS, or nothing to start a runner. Plain TCP is not offered");
}

bool any_of(const std::string &text, std::initializer_list<const char *> parts) {
  for (const char *part : parts)
    if (text.find(part) != std::string::npos)
      return true;
  return false;
}

} // namespace

Result<Route> parse_runner_url(const std::string &url, boost::asio::any_io_executor executor) {
  auto route = route_of(url, executor);
  if (route) // a user's name is a secret only where it is a token
    route->url = is_shell_url(url) ? url.substr(0, url.find('?')) : net::without_secrets(url);
  return route;
}

Error explain_refusal(const std::string &reason, const std::string &url) {
  if (any_of(reason, {"wrong token"}))
    return {"the runner at " + url + " does not know this token",
            "Copy the runner's token file to this machine, and name it with ?token-file=FILE or "
            "WARPWRIGHT_RUNNER_TOKEN_FILE"};
  if (any_of(reason, {"certificate required"}))
    return {"the runner at " + url + " wants a client certificate",
            "Add ?cert=FILE&key=FILE, signed by the authority that the runner's --client-ca names"};
  if (any_of(reason, {"unknown ca", "bad certificate", "certificate unknown", "certificate expired",
                      "certificate revoked", "unsupported certificate"}))
    return {"the runner at " + url + " refuses this client certificate: " + reason,
            "It must be valid, and signed by the authority that the runner's --client-ca names"};
  return {"the runner at " + url + " refused: " + reason, ""};
}

} // namespace warpwright::runner
