// `serve`: the service on stdio, or on a unix socket and TLS ports with many clients.
#include "runner/fleet/fleet_runner.h"
#include "runner/isolation/control_group.h"
#include "runner/isolation/private_directory.h"
#include "runner/isolation/requirement.h"
#include "runner/metrics/endpoint.h"
#include "runner/metrics/runner_metrics.h"
#include "runner/net/secret_file.h"
#include "runner/net/tls_url.h"
#include "runner/service/commands.h"
#include "runner/service/devices.h"
#include "runner/service/idle_exit.h"
#include "runner/service/scheduler.h"
#include "runner/service/service.h"
#include "runner/service/socket_server.h"
#include "support/log.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <iostream>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

constexpr std::string_view kTls = "tls://";

ServiceLimits limits_of(const ServeCommand &command) {
  ServiceLimits limits;
  limits.max_message_bytes = command.max_message_bytes;
  limits.max_clients = command.max_clients;
  limits.max_jobs_of_client = command.max_jobs;
  limits.max_job_time = std::chrono::milliseconds(command.max_job_time_ms);
  limits.jobs.max_unfinished = command.max_queue;
  limits.jobs.linger = std::chrono::seconds(command.linger_s);
  limits.permissions = command.permissions;
  limits.jobs.of_owner = command.quotas;
  return limits;
}

/// Errors: a token file that others may read, or that cannot be used.
Result<net::TokenList> load_tokens(const ServeCommand &command) {
  TRY(net::check_secret_file(command.token_file, "token file"));
  return net::TokenList::load(command.token_file);
}

/// Errors: options that contradict each other; a token file that cannot be used.
Result<net::TokenList> check_options(const ServeCommand &command) {
  const bool any = !command.certificate.empty() || !command.key.empty() ||
                   !command.token_file.empty() || !command.client_ca.empty();
  if (command.listen.empty())
    return any ? fail("--cert, --key, --token-file and --client-ca are those of --listen",
                      "Add --listen tls://HOST:PORT")
               : Result<net::TokenList>();
  for (const std::string &url : command.listen)
    if (!url.starts_with(kTls))
      return fail("cannot listen on " + url, "Write tls://HOST:PORT: plain TCP is not offered");
  if (command.certificate.empty() || command.key.empty() || command.token_file.empty())
    return fail("--listen needs --cert FILE, --key FILE and --token-file FILE",
                "docs/operate/remote.md has the commands that make them");
  TRY(net::check_secret_file(command.key, "key"));
  return load_tokens(command);
}

/// Checks the isolation layers before any listener is opened, and sets the variable with which
/// workers check their own layers and exit if one is missing.
/// Errors: the layers of this machine do not suffice for its clients.
Result<void> require_isolation(const ServeCommand &command) {
  const bool remote = !command.listen.empty() || !command.fleet.empty();
  const Requirement required = command.allow_weak_isolation ? Requirement::None
                               : remote                     ? Requirement::Remote
                                                            : Requirement::Local;
  setenv(kRequirementVariable, name(required), 1);
  if (!remote)
    return {};
  // The kind with the most requirements; each worker also checks its own kind.
  const auto layers = TRY(layers_here(WorkerKind::Candidate));
  const auto missing = what_is_missing(WorkerKind::Candidate, Requirement::Remote, layers);
  if (!missing.empty() && !command.allow_weak_isolation)
    return fail("clients of other machines are not served: " + missing);
  if (!missing.empty())
    log::warning("weak isolation was allowed", {{"missing", missing}});
  return {};
}

/// Reads the token file again on SIGHUP; a file that cannot be used changes nothing.
class TokenReloader {
public:
  TokenReloader(boost::asio::io_context &loop, const ServeCommand &command, Service &service)
      : signals_(loop, SIGHUP), command_(command), service_(service) {
    wait();
  }

private:
  void wait() {
    signals_.async_wait([this](boost::system::error_code error, int) {
      if (error)
        return;
      if (auto tokens = load_tokens(command_)) {
        std::cerr << "read " << tokens->size() << " tokens again" << std::endl;
        service_.use_tokens(std::move(*tokens));
      } else {
        log::error("the tokens stay as they were", {{"reason", describe(tokens.error())}});
      }
      wait();
    });
  }

  boost::asio::signal_set signals_;
  const ServeCommand &command_;
  Service &service_;
};

/// Raises the limit of open files, because every client takes a descriptor.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

struct Listeners {
  std::unique_ptr<SocketServer> socket;
  std::vector<std::unique_ptr<net::TlsListener>> tls;
};

Result<void> open_socket(const ServeCommand &command, boost::asio::io_context &loop,
                         Service &service, Listeners &listeners) {
  listeners.socket = std::make_unique<SocketServer>(
      loop, command.socket, [&service](std::unique_ptr<rpc::Stream> stream) {
        service.add_client(std::move(stream), {Arrival::Kind::Local, "unix socket"});
      },
      [](const std::string &line) { log::warning(line); });
  auto listening = listeners.socket->listen();
  if (listening)
    std::cerr << "listening on " << command.socket << std::endl;
  return listening;
}

Result<void> open_tls(const std::string &url, const ServeCommand &command,
                      boost::asio::io_context &loop, Service &service, Listeners &listeners) {
  const auto address = TRY(net::parse_host_port(url.substr(kTls.size())));
  auto listener = net::listen_tls(
      loop.get_executor(), address.host, address.port,
      {command.certificate, command.key, command.client_ca}, {},
      [&service](std::unique_ptr<rpc::Stream> stream, const std::string &peer,
                 net::AdmissionSlot slot) {
        service.add_client(std::move(stream), {Arrival::Kind::Remote, peer, std::move(slot)});
      },
      [](const std::string &line) { log::warning(line); });
  if (!listener)
    return std::unexpected(listener.error());
  std::cerr << "listening on " << kTls << (*listener)->address() << std::endl;
  listeners.tls.push_back(std::move(*listener));
  return {};
}

Result<void> open_listeners(const ServeCommand &command, boost::asio::io_context &loop,
                            Service &service, Listeners &listeners) {
  if (!command.socket.empty())
    TRY(open_socket(command, loop, service, listeners));
  for (const std::string &url : command.listen)
    TRY(open_tls(url, command, loop, service, listeners));
  return {};
}

void serve_stdio(boost::asio::io_context &loop, Service &service) {
  // The protocol keeps the original stdout; other output to stdout is redirected to stderr.
  const int out = dup(1);
  dup2(2, 1);
  service.add_client(rpc::make_descriptor_stream(loop.get_executor(), dup(0), out),
                     {Arrival::Kind::Child, "stdio"}, [&] { loop.stop(); });
}

/// Errors: the URL is invalid; later failures are reported by `on_failure`.
Result<std::unique_ptr<fleet::FleetRunner>>
join_fleet(const std::string &url, boost::asio::io_context &loop, Service &service,
           std::function<void(const Error &)> on_failure) {
  auto address = TRY(fleet::parse_fleet_url(url));
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail("no socket pair for the fleet");
  service.add_client(rpc::make_descriptor_stream(loop.get_executor(), ends[0], ends[0]),
                     {Arrival::Kind::Fleet, "fleet"});
  return std::make_unique<fleet::FleetRunner>(
      loop.get_executor(), std::move(address),
      rpc::make_descriptor_stream(loop.get_executor(), ends[1], ends[1]), std::move(on_failure));
}

/// State of the --metrics endpoint and of NVML's readings.
struct OperatorView {
  metrics::RunnerMetrics counters;
  std::optional<metrics::ReadingsWatcher> readings;
  std::unique_ptr<http::Server> endpoint;
};

Result<void> open_metrics(const std::string &where, boost::asio::io_context &loop,
                          const std::vector<FoundDevice> &devices, OperatorView &view) {
  if (where.empty())
    return {};
  for (const FoundDevice &device : devices)
    view.counters.add_device(device.name);
  auto endpoint = metrics::open_endpoint(
      loop.get_executor(), where, [&view] { return view.counters.text(); },
      [](const std::string &line) { log::warning(line); });
  if (!endpoint)
    return std::unexpected(endpoint.error());
  view.endpoint = std::move(*endpoint);
  std::cerr << "metrics on http://" << view.endpoint->address() << "/metrics" << std::endl;
  return {};
}

/// Reads the GPUs' state for metrics and tells workers about other processes on their GPUs.
void watch_gpus(boost::asio::io_context &loop, std::vector<FoundDevice> &devices,
                bool measures_beside_others, OperatorView &view) {
  std::vector<metrics::GpuReading> gpus;
  const auto neighbours = std::make_shared<Neighbours>();
  for (FoundDevice &device : devices) {
    if (device.info.kind != "cuda")
      continue;
    gpus.push_back({.device = device.name, .name = device.info.name, .identifier = device.info.identifier});
    device.worker.neighbours = neighbours;
    device.worker.measures_beside_others = measures_beside_others;
  }
  if (!gpus.empty())
    view.readings.emplace(loop.get_executor(),
                          std::vector<std::string>{executable_path(), "readings"}, std::move(gpus),
                          [&view, neighbours](const auto &readings) {
                            view.counters.set_readings(readings);
                            neighbours->note(readings);
                          });
}

int complain(const Error &error) {
  std::cerr << describe(error) << std::endl;
  return 2;
}

} // namespace

int run_serve(const ServeCommand &command) {
  log::configure(command.log_as_json ? log::Format::Json : log::Format::Text, command.log_level);
  auto tokens = check_options(command);
  if (!tokens)
    return complain(tokens.error());
  raise_descriptor_limit();
  boost::asio::io_context loop;
  PrivateDirectory::remove_leftovers();
  ControlGroup::remove_leftovers();
  delegate_control_group();
  FoundDevices found = find_devices();
  if (auto required = require_isolation(command); !required)
    return complain(required.error());
  const auto gpus = static_cast<std::size_t>(std::ranges::count(
      found.devices, "cuda", [](const FoundDevice &device) { return device.info.kind; }));
  OperatorView view; // outlives the objects that report to it
  if (auto opened = open_metrics(command.metrics, loop, found.devices, view); !opened)
    return complain(opened.error());
  watch_gpus(loop, found.devices, command.allow_busy_gpu, view);
  share_gpus(found, command.workers_per_gpu);
  auto compile_ahead = make_compile_ahead(loop.get_executor(), gpus, found.shelves);
  Scheduler devices(loop.get_executor(), std::move(found), std::move(compile_ahead),
                    &view.counters);
  Service service(loop.get_executor(), devices, limits_of(command), std::move(*tokens));
  service.watch(view.counters);
  boost::asio::signal_set signals(loop, SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code error, int) {
    if (!error)
      loop.stop();
  });
  std::optional<TokenReloader> reloader;
  if (!command.listen.empty())
    reloader.emplace(loop, command, service);
  std::optional<IdleExit> idle_exit;
  if (command.idle_exit_s > 0)
    idle_exit.emplace(loop.get_executor(), service, std::chrono::seconds(command.idle_exit_s),
                      [&loop] { loop.stop(); });
  Listeners listeners;
  if (command.socket.empty() && command.listen.empty() && command.fleet.empty())
    serve_stdio(loop, service);
  else if (auto opened = open_listeners(command, loop, service, listeners); !opened)
    return complain(opened.error());
  int exit_code = 0;
  std::unique_ptr<fleet::FleetRunner> member;
  if (!command.fleet.empty()) {
    auto joined = join_fleet(command.fleet, loop, service, [&](const Error &error) {
      exit_code = complain(error);
      loop.stop();
    });
    if (!joined)
      return complain(joined.error());
    member = std::move(*joined);
  }
  loop.run();
  member.reset();
  devices.stop();
  ControlGroup::remove_leftovers(); // left by workers' supervisors that were killed
  return exit_code;
}

} // namespace warpwright::runner
