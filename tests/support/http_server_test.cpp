// The HTTP server over real connections: whole answers, answers in parts, lost peers, limits.
#include "support/http/http_server.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

using namespace warpwright;
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto kPatience = std::chrono::seconds(10);

/// A server whose handler the test sets, and a peer.
struct Fixture {
  asio::io_context io;
  http::Handler handler;
  std::unique_ptr<http::Server> server;
  tcp::socket peer{io};
  std::string received;
  bool is_ended = false;

  explicit Fixture(http::Handler handler, const http::ServerLimits &limits = {.body_bytes = 100})
      : handler(std::move(handler)) {
    auto opened = http::listen(io.get_executor(), "127.0.0.1:0", limits,
                               [this](const http::Request &request, const http::AnswerPtr &answer) {
                                 this->handler(request, answer);
                               });
    REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : describe(opened.error())));
    server = std::move(*opened);
    const std::string address = server->address();
    peer.connect({asio::ip::make_address("127.0.0.1"),
                  static_cast<unsigned short>(std::stoi(address.substr(address.find(':') + 1)))});
    read();
  }

  void read() {
    peer.async_read_some(asio::buffer(block), [this](boost::system::error_code error, std::size_t size) {
      received.append(block.data(), size);
      is_ended = error.failed();
      if (!error)
        read();
    });
  }
  void send(const std::string &text) { asio::write(peer, asio::buffer(text)); }
  bool wait(const std::function<bool()> &done) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      io.restart();
      io.run_one_for(std::chrono::milliseconds(20));
    }
    return done();
  }

  std::array<char, 4096> block{};
};

constexpr char kPost[] = "POST /mcp?x=1 HTTP/1.1\r\nHost: a\r\nMCP-Name: b\r\nContent-Length: 2\r\n\r\nhi";

} // namespace

TEST_CASE("a request has its method, target, fields in lower case and body") {
  http::Request seen;
  Fixture fixture([&](const http::Request &request, const http::AnswerPtr &answer) {
    seen = request;
    answer->send(202, {{"X-Test", "1"}}, "");
  });
  fixture.send(kPost);
  CHECK(fixture.wait([&] { return fixture.received.ends_with("\r\n\r\n"); }));
  CHECK(seen.method == "POST");
  CHECK(seen.target == "/mcp");
  CHECK(seen.header("mcp-name") == "b");
  CHECK(seen.header("none") == "");
  CHECK(seen.body == "hi");
  CHECK(fixture.received.starts_with("HTTP/1.1 202 "));
  CHECK(fixture.received.find("X-Test: 1\r\n") != std::string::npos);
  CHECK(fixture.server->is_loopback());
}

TEST_CASE("an answer in parts is chunked, and the connection serves the next request") {
  http::AnswerPtr open;
  Fixture fixture([&](const http::Request &, const http::AnswerPtr &answer) { open = answer; });
  fixture.send(kPost);
  REQUIRE(fixture.wait([&] { return open != nullptr; }));
  open->begin(200, {{"Content-Type", "text/event-stream"}});
  open->write("data: 1\n\n");
  CHECK(fixture.wait([&] { return fixture.received.find("9\r\ndata: 1\n\n\r\n") != std::string::npos; }));
  CHECK(fixture.received.find("Transfer-Encoding: chunked") != std::string::npos);
  open->write("data: 2\n\n");
  open->end();
  open->write("too late");
  CHECK(fixture.wait([&] { return fixture.received.ends_with("0\r\n\r\n"); }));
  CHECK(fixture.received.find("too late") == std::string::npos);
  open = nullptr;
  fixture.send(kPost);
  CHECK(fixture.wait([&] { return open != nullptr; }));
  open->send(200, {}, "again");
  CHECK(fixture.wait([&] { return fixture.received.ends_with("again"); }));
}

TEST_CASE("a peer that goes is noticed while its request is in work, and later parts go nowhere") {
  http::AnswerPtr open;
  bool is_lost = false;
  Fixture fixture([&](const http::Request &, const http::AnswerPtr &answer) {
    open = answer;
    answer->on_lost([&] { is_lost = true; });
  });
  fixture.send(kPost);
  REQUIRE(fixture.wait([&] { return open != nullptr; }));
  CHECK(!is_lost);
  fixture.peer.close();
  CHECK(fixture.wait([&] { return is_lost; }));
  open->send(200, {}, "nobody");
}

TEST_CASE("a complete answer is not lost when the peer goes afterwards") {
  bool is_lost = false;
  Fixture fixture([&](const http::Request &, const http::AnswerPtr &answer) {
    answer->on_lost([&] { is_lost = true; });
    answer->send(200, {}, "done");
  });
  fixture.send(kPost);
  CHECK(fixture.wait([&] { return fixture.received.ends_with("done"); }));
  fixture.peer.close();
  fixture.io.restart();
  fixture.io.run_for(std::chrono::milliseconds(50));
  CHECK(!is_lost);
}

TEST_CASE("a dropped answer ends the connection, and a large body is refused before it is read") {
  Fixture dropping([](const http::Request &, const http::AnswerPtr &) {});
  dropping.send(kPost);
  CHECK(dropping.wait([&] { return dropping.is_ended; }));
  CHECK(dropping.received.empty());
  bool was_called = false;
  Fixture large([&](const http::Request &, const http::AnswerPtr &) { was_called = true; });
  large.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n");
  CHECK(large.wait([&] { return large.is_ended; }));
  CHECK(large.received.starts_with("HTTP/1.1 413 "));
  CHECK(!was_called);
}

TEST_CASE("an address that cannot be used is refused with what to write") {
  asio::io_context io;
  for (const char *where : {"8080", "nowhere.invalid:80", "127.0.0.1:http"}) {
    const auto server = http::listen(io.get_executor(), where, {}, {});
    REQUIRE(!server.has_value());
    CHECK(server.error().remedy.find("HOST:PORT") != std::string::npos);
  }
}

TEST_CASE("a handshake makes a WebSocket: messages both ways, and a close") {
  Fixture fixture({});
  http::WebSocketPtr socket; // its stream must end before the fixture's loop
  bool is_closed = false;
  fixture.handler = [&](const http::Request &, const http::AnswerPtr &answer) {
    socket = answer->upgrade({.on_message = [&](std::string text) { socket->send("echo " + text); },
                              .on_closed = [&] { is_closed = true; }});
    if (!socket)
      answer->send(426, {}, "no handshake");
  };
  fixture.send("GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
  REQUIRE(fixture.wait([&] { return fixture.received.ends_with("\r\n\r\n"); }));
  CHECK(fixture.received.starts_with("HTTP/1.1 101 "));
  CHECK(fixture.received.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != std::string::npos); // RFC 6455, 1.3
  fixture.send({'\x81', '\x82', 0, 0, 0, 0, 'h', 'i'}); // a text of two bytes, masked with zeros
  CHECK(fixture.wait([&] { return fixture.received.ends_with("\x81\x07" "echo hi"); }));
  fixture.send({'\x89', '\x80', 0, 0, 0, 0}); // a ping
  CHECK(fixture.wait([&] { return fixture.received.ends_with(std::string("\x8a\0", 2)); }));
  CHECK(!is_closed);
  socket->send("last");
  socket->close(1013, "full");
  CHECK(fixture.wait([&] { return fixture.received.ends_with("\x88\x06\x03\xf5" "full"); }));
  CHECK(fixture.received.find("\x81\x04last") != std::string::npos);
  fixture.peer.close();
  CHECK(fixture.wait([&] { return is_closed; }));
  socket->send("nobody");
}

TEST_CASE("a request that is no handshake is still to be answered, and a long message ends a WebSocket") {
  Fixture fixture({});
  http::WebSocketPtr socket; // its stream must end before the fixture's loop
  std::string got;
  bool is_closed = false;
  fixture.handler = [&](const http::Request &, const http::AnswerPtr &answer) {
    socket = answer->upgrade({.on_message = [&](std::string text) { got = text; }, .on_closed = [&] { is_closed = true; }});
    if (!socket)
      answer->send(426, {}, "no handshake");
  };
  fixture.send(kPost);
  CHECK(fixture.wait([&] { return fixture.received.ends_with("no handshake"); }));
  CHECK(fixture.received.starts_with("HTTP/1.1 426 "));
  fixture.send("GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
  REQUIRE(fixture.wait([&] { return socket != nullptr; }));
  std::string frame{'\x81', '\xfe', 0, '\x65', 0, 0, 0, 0}; // 101 bytes, and 100 are allowed
  fixture.send(frame + std::string(101, 'x'));
  CHECK(fixture.wait([&] { return fixture.is_ended; })); // the server hangs up, and waits for its peer
  fixture.peer.close();
  CHECK(fixture.wait([&] { return is_closed; }));
  CHECK(got.empty());
}
