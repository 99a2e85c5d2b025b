// TLS streams on one event loop: lives of streams, listeners and connectors that end at bad moments.
// What peers see of the real programs is bad_peers_test.cpp's; here the sanitizers look.
#include "runner/net/tls.h"
#include "tests/runner/remote_fixture.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace warpwright::runner::net {
namespace {

using testing::make_certificate;
using testing::TemporaryFolder;

struct Fixture {
  explicit Fixture(ListenerOptions options = {}) {
    make_certificate(folder.path, {});
    const std::string pem = folder.path / "server.pem";
    auto opened = listen_tls(
        loop.get_executor(), "127.0.0.1", "0", {pem, folder.path / "server.key", ""}, options,
        [this](std::unique_ptr<rpc::Stream> stream, const std::string &, AdmissionSlot slot) {
          slots.push_back(std::move(slot));
          serve(std::move(stream));
        },
        [this](const std::string &line) { log += line + "\n"; });
    REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : describe(opened.error())));
    listener = std::move(*opened);
    const std::string address = listener->address();
    target = {.host = "127.0.0.1", .port = address.substr(address.rfind(':') + 1), .ca = pem};
  }
  ~Fixture() {
    listener.reset();
    for (const auto &connection : served)
      connection->close();
    loop.restart();
    loop.run_for(std::chrono::seconds(20));
    CHECK(loop.stopped()); // nothing is left pending
  }

  /// An echo for as long as the client stays.
  void serve(std::unique_ptr<rpc::Stream> stream) {
    rpc::Connection::Handlers handlers;
    handlers.on_request = [](const std::string &, const rpc::Json &params, const rpc::Json &,
                             const rpc::Responder &respond) { respond(params); };
    handlers.on_closed = [this](const std::string &reason) { ends.push_back(reason); };
    served.push_back(rpc::Connection::make(std::move(stream), std::move(handlers)));
    served.back()->start();
  }

  void connect(std::function<void(std::shared_ptr<rpc::Connection>)> connected) {
    connect_tls(loop.get_executor(), target, [this, connected](auto stream) {
      if (!stream)
        failures.push_back(stream.error().error.message);
      else
        connected(rpc::Connection::make(std::move(*stream), {}));
    });
  }
  void run_until(const std::function<bool()> &done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      loop.restart();
      loop.run_one_for(std::chrono::milliseconds(20));
    }
    CHECK(done());
  }

  boost::asio::io_context loop;
  TemporaryFolder folder;
  TlsTarget target;
  std::unique_ptr<TlsListener> listener;
  std::vector<std::shared_ptr<rpc::Connection>> served;
  std::vector<AdmissionSlot> slots;
  std::vector<std::string> ends, failures;
  std::string log;
};

/// Leaves this process without a free descriptor, until it goes.
struct NoDescriptors {
  rlimit before{};
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before);
    const int next = dup(0);
    close(next);
    const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before); }
};

TEST_CASE("a listener without descriptors says so once, does not spin, and accepts again") {
  Fixture fixture;
  const int peer =
      testing::connect_tcp("127.0.0.1:" + fixture.target.port); // in the kernel's queue
  REQUIRE(peer >= 0);
  const auto said = [&](const std::string &part) {
    std::size_t count = 0;
    for (auto at = fixture.log.find(part); at != std::string::npos;
         at = fixture.log.find(part, at + 1))
      ++count;
    return count;
  };
  std::size_t handlers = 0;
  {
    const NoDescriptors none;
    fixture.loop.restart();
    handlers = fixture.loop.run_for(std::chrono::milliseconds(700)); // five tries, with their pauses
  }
  CHECK(said("cannot accept connections") == 1);
  CHECK(handlers < 20);
  fixture.run_until([&] { return said("accepted again") == 1; });
  close(peer);
  std::optional<std::string> echoed;
  fixture.connect([&](const std::shared_ptr<rpc::Connection> &client) {
    client->start();
    client->request("echo", "still here", [&, client](const rpc::Outcome &outcome) {
      echoed = outcome ? outcome->get<std::string>() : "";
      client->close();
    });
  });
  fixture.run_until([&] { return echoed.has_value(); });
  CHECK(echoed == "still here");
}

TEST_CASE("large messages cross in both directions, and a close is a clean end") {
  Fixture fixture;
  const std::string large(3 << 20, 'x');
  std::shared_ptr<rpc::Connection> client;
  std::optional<rpc::Outcome> answer;
  fixture.connect([&](std::shared_ptr<rpc::Connection> connection) {
    client = std::move(connection);
    client->start();
    client->request("echo", {large}, [&](rpc::Outcome outcome) { answer = std::move(outcome); });
  });
  fixture.run_until([&] { return answer.has_value(); });
  REQUIRE(answer->has_value());
  CHECK((**answer)[0] == large);
  client->close();
  fixture.run_until([&] { return !fixture.ends.empty(); });
  CHECK(fixture.ends.front() == "");
}

TEST_CASE("streams end at bad moments: while they write, unread, aborted, undone") {
  Fixture fixture;
  int connected = 0;
  for (int i = 0; i < 40; ++i)
    fixture.connect([&, i](const std::shared_ptr<rpc::Connection> &client) {
      ++connected;
      if (i % 4 != 3)
        client->start();
      client->request("echo", {std::string(1 << 18, 'y')}, [](const rpc::Outcome &) {});
      if (i % 4 == 0)
        client->close();
      else if (i % 4 == 1)
        client->abort("enough");
      else if (i % 4 == 2)
        boost::asio::post(fixture.loop, [client] { client->abort("later"); });
    });
  fixture.run_until([&] { return connected == 40; });
  fixture.run_until([&] { return fixture.ends.size() == fixture.served.size(); });
  CHECK(fixture.failures.empty());
}

TEST_CASE("a service that aborts its clients, and a listener that goes, leave nothing pending") {
  Fixture fixture;
  std::vector<std::shared_ptr<rpc::Connection>> clients;
  for (int i = 0; i < 10; ++i)
    fixture.connect([&](std::shared_ptr<rpc::Connection> connection) {
      connection->start();
      clients.push_back(std::move(connection));
    });
  fixture.run_until([&] { return clients.size() == 10; });
  fixture.run_until([&] { return fixture.served.size() == 10; });
  for (const auto &connection : fixture.served)
    connection->abort("the house closes");
  fixture.listener.reset();
  fixture.run_until([&] {
    return std::none_of(clients.begin(), clients.end(), [](const auto &c) { return c->is_open(); });
  });
  fixture.connect([](const auto &) { FAIL("nobody listens"); });
  fixture.run_until([&] { return !fixture.failures.empty(); });
}

TEST_CASE("peers beyond the unproved ones wait, and come in when a place is free") {
  Fixture fixture({.max_unproved = 2});
  int connected = 0;
  std::vector<std::shared_ptr<rpc::Connection>> clients;
  for (int i = 0; i < 5; ++i)
    fixture.connect([&](std::shared_ptr<rpc::Connection> connection) {
      ++connected;
      connection->start();
      clients.push_back(std::move(connection));
    });
  fixture.run_until([&] { return fixture.slots.size() == 2; });
  fixture.loop.run_for(std::chrono::milliseconds(50));
  CHECK(fixture.slots.size() == 2);
  fixture.run_until([&] {
    if (!fixture.slots.empty() && connected < 5)
      fixture.slots.erase(fixture.slots.begin());
    return connected == 5;
  });
  for (const auto &client : clients)
    client->close();
}

TEST_CASE("a peer that says nothing is let go, and one that leaves amid the handshake too") {
  Fixture fixture({.handshake_limit = std::chrono::milliseconds(50)});
  const int silent = testing::connect_tcp(fixture.listener->address());
  close(testing::connect_tcp(fixture.listener->address()));
  fixture.run_until(
      [&] { return fixture.log.find("no TLS handshake in time") != std::string::npos; });
  char byte;
  CHECK(recv(silent, &byte, 1, 0) <= 0);
  close(silent);
}

} // namespace
} // namespace warpwright::runner::net
