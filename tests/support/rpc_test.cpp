// JSON-RPC connections over real socket pairs: framing as peers split it, errors as peers cause
// them.
#include "support/rpc/connection.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace warpwright;
using rpc::Json;

namespace {

constexpr auto kPatience = std::chrono::seconds(10);

std::string frame(const std::string &body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// One connection on one end of a socket pair; the test holds the other end's descriptor.
struct Fixture {
  boost::asio::io_context io;
  int peer = -1;
  std::shared_ptr<rpc::Connection> connection;
  std::vector<std::string> notifications;
  std::optional<std::string> closed;

  explicit Fixture(std::size_t max_bytes = 1 << 20,
                   rpc::Connection::RequestHandler on_request = {}) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    peer = ends[1];
    rpc::Connection::Handlers handlers;
    handlers.on_request = std::move(on_request);
    handlers.on_notification = [this](const std::string &method, Json) {
      notifications.push_back(method);
    };
    handlers.on_closed = [this](const std::string &reason) { closed = reason; };
    connection = rpc::Connection::make(
        rpc::make_descriptor_stream(io.get_executor(), ends[0], ends[0]), handlers, max_bytes);
    connection->start();
  }
  ~Fixture() {
    hang_up();
    io.restart();
    io.run_for(kPatience);
  }
  void hang_up() {
    if (peer >= 0)
      ::close(std::exchange(peer, -1));
  }
  void write(const std::string &bytes) {
    REQUIRE(::write(peer, bytes.data(), bytes.size()) == ssize_t(bytes.size()));
  }

  void run_until(const std::function<bool()> &done) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    bool is_done = done();
    while (!is_done && std::chrono::steady_clock::now() < deadline) {
      io.restart();
      io.run_one_for(std::chrono::milliseconds(100));
      is_done = done();
    }
    CHECK(is_done);
  }

  /// Runs the loop until the peer's end holds one whole frame, and decodes it.
  Json receive() {
    std::string bytes;
    Json message;
    ::fcntl(peer, F_SETFL, O_NONBLOCK);
    run_until([&] {
      char byte;
      while (::read(peer, &byte, 1) == 1) {
        bytes += byte;
        const auto end = bytes.find("\r\n\r\n");
        if (end == std::string::npos)
          continue;
        if (bytes.size() - end - 4 == std::stoul(bytes.substr(16, end))) {
          message = Json::parse(bytes.substr(end + 4));
          return true;
        }
      }
      return false;
    });
    return message;
  }
};

void echo(const std::string &method, Json params, const rpc::Connection::RequestId &,
          const rpc::Responder &respond) {
  if (method == "throw")
    throw std::runtime_error("third party said no");
  if (method == "decode")
    respond(params.at("missing"));
  if (method == "echo")
    respond(std::move(params));
}

int error_code(const Json &message) { return message.at("error").at("code").get<int>(); }

} // namespace

TEST_CASE("a frame split into single bytes arrives once and whole") {
  Fixture fixture(1 << 20, echo);
  for (char c : frame(R"({"jsonrpc":"2.0","id":7,"method":"echo","params":[1,"é"]})")) {
    fixture.write(std::string(1, c));
    fixture.io.restart();
    fixture.io.poll();
  }
  CHECK(fixture.receive() == Json::parse(R"({"jsonrpc":"2.0","id":7,"result":[1,"é"]})"));
}

TEST_CASE("several frames in one write arrive in order, other headers and cases are accepted") {
  Fixture fixture;
  const std::string second = R"({"method":"b"})";
  fixture.write(frame(R"({"method":"a"})") + "content-length:" + std::to_string(second.size()) +
                "\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n" + second +
                frame(R"({"method":"c"})"));
  fixture.run_until([&] { return fixture.notifications.size() == 3; });
  CHECK(fixture.notifications == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("malformed JSON is answered and the next frame is read") {
  Fixture fixture;
  fixture.write(frame("{\"method\":"));
  const Json answer = fixture.receive();
  CHECK(error_code(answer) == rpc::kParseError);
  CHECK(answer.at("id").is_null());
  fixture.write(frame(R"({"method":"after"})"));
  fixture.run_until([&] { return !fixture.notifications.empty(); });
}

TEST_CASE("JSON that is no JSON-RPC message is an invalid request") {
  Fixture fixture;
  for (const char *body :
       {"[1,2]", "42", "{}", R"({"method":3,"id":1})", R"({"method":"a","id":{"x":1}})"}) {
    CAPTURE(body);
    fixture.write(frame(body));
    CHECK(error_code(fixture.receive()) == rpc::kInvalidRequest);
  }
}

TEST_CASE("a document nested without end is refused, not walked") {
  Fixture fixture;
  fixture.write(frame(std::string(100'000, '[')));
  CHECK(error_code(fixture.receive()) == rpc::kParseError);
}

TEST_CASE("an oversize message ends the connection before its body is read") {
  Fixture fixture(64);
  fixture.write("Content-Length: 65\r\n\r\n");
  fixture.run_until([&] { return fixture.closed.has_value(); });
  CHECK(fixture.closed->find("over the limit of 64") != std::string::npos);
}

TEST_CASE("a peer is told why its stream is refused before the connection ends") {
  for (const std::string header :
       {"Content-Length: 1073741824\r\n\r\n", "Content-Length: many\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", "GET / HTTP/1.1\r\n\r\n"}) {
    CAPTURE(header);
    Fixture fixture;
    fixture.write(header);
    const Json answer = fixture.receive();
    CHECK(error_code(answer) == rpc::kInvalidRequest);
    fixture.run_until([&] { return fixture.closed.has_value(); });
    CHECK(answer.at("error").at("message") == *fixture.closed);
  }
}

TEST_CASE("a peer's complaint about our messages is why the connection closed") {
  Fixture fixture;
  fixture.write(
      frame(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too big"}})"));
  fixture.hang_up();
  fixture.run_until([&] { return fixture.closed.has_value(); });
  CHECK(*fixture.closed == "the peer refused: too big");
}

TEST_CASE("a strict connection ends at the first malformed message") {
  for (const std::string body : {"{", "[]", "{}", "\"\xff\""}) {
    Fixture fixture;
    fixture.connection->set_limits({.strict = true});
    fixture.write(frame(body) + frame(R"({"method":"after"})"));
    CHECK(fixture.receive().contains("error"));
    fixture.run_until([&] { return fixture.closed.has_value(); });
    CHECK(fixture.notifications.empty());
  }
}

TEST_CASE("a peer that does not read is left when too much waits for it") {
  Fixture fixture;
  fixture.connection->set_limits({.unsent_bytes = 1 << 20});
  for (int i = 0; i < 100 && fixture.connection->is_open() && !fixture.closed; ++i) {
    fixture.connection->notify("large", {{"text", std::string(1 << 16, 'x')}});
    fixture.io.restart();
    fixture.io.poll();
  }
  fixture.run_until([&] { return fixture.closed.has_value(); });
  CHECK(fixture.closed->find("the peer does not read") != std::string::npos);
  CHECK_FALSE(fixture.connection->is_open());
}

TEST_CASE("an aborted connection gives its reason, and its requests end") {
  Fixture fixture;
  bool answered = false;
  fixture.connection->request("slow", nullptr, [&](const rpc::Outcome &) { answered = true; });
  fixture.connection->abort("nothing was heard");
  fixture.run_until([&] { return fixture.closed.has_value(); });
  CHECK(*fixture.closed == "nothing was heard");
  CHECK(answered);
}

TEST_CASE("a broken header ends the connection with its reason") {
  for (const std::string header :
       {"Content-Length: many\r\n\r\n", "Content-Length: -1\r\n\r\n", "Content-Type: x\r\n\r\n",
        "Content-Length: 12abc\r\n\r\n", "Content-Length: 99999999999999999999999\r\n\r\n"}) {
    CAPTURE(header);
    Fixture fixture;
    fixture.write(header);
    fixture.run_until([&] { return fixture.closed.has_value(); });
    CHECK(fixture.closed->find("Content-Length") != std::string::npos);
  }
  Fixture fixture;
  fixture.write(std::string(5000, 'x'));
  fixture.run_until([&] { return fixture.closed.has_value(); });
  CHECK(fixture.closed->find("header is longer") != std::string::npos);
}

TEST_CASE("an unknown method, a handler that throws and a dropped request are all answered") {
  Fixture bare;
  bare.write(frame(R"({"id":"a","method":"nope"})"));
  const Json answer = bare.receive();
  CHECK(error_code(answer) == rpc::kMethodNotFound);
  CHECK(answer.at("id") == "a");

  Fixture fixture(1 << 20, echo);
  fixture.write(frame(R"({"id":1,"method":"throw"})"));
  const Json thrown = fixture.receive();
  CHECK(error_code(thrown) == rpc::kInternalError);
  CHECK(thrown.at("error").at("message").get<std::string>().find("third party said no") !=
        std::string::npos);
  fixture.write(frame(R"({"id":2,"method":"decode","params":{}})"));
  CHECK(error_code(fixture.receive()) == rpc::kInvalidParams);
  fixture.write(frame(R"({"id":3,"method":"drop"})"));
  CHECK(error_code(fixture.receive()) == rpc::kInternalError);
}

TEST_CASE("a peer that hangs up ends pending requests with an error") {
  Fixture fixture;
  std::optional<rpc::Outcome> outcome;
  fixture.connection->request("slow", Json::object(),
                              [&](rpc::Outcome reply) { outcome = std::move(reply); });
  CHECK(fixture.receive().at("method") == "slow");
  fixture.hang_up();
  fixture.run_until([&] { return fixture.closed.has_value(); });
  CHECK(*fixture.closed == "");
  REQUIRE(outcome.has_value());
  CHECK_FALSE(outcome->has_value());
}

TEST_CASE("a stream that ends inside a message is no clean end") {
  Fixture fixture;
  fixture.write("Content-Length: 10\r\n\r\n{");
  fixture.hang_up();
  fixture.run_until([&] { return fixture.closed.has_value(); });
  CHECK(fixture.closed->find("inside a message") != std::string::npos);
}

TEST_CASE("replies, errors and cancellation reach the one who asked") {
  Fixture fixture;
  std::vector<std::string> seen;
  const auto record = [&](rpc::Outcome reply) {
    seen.push_back(reply ? reply->dump() : reply.error().message);
  };
  const auto first = fixture.connection->request("one", nullptr, record);
  CHECK_FALSE(fixture.receive().contains("params"));
  const auto second = fixture.connection->request("two", Json::array(), record);
  CHECK(fixture.receive().at("id") == second);
  fixture.connection->cancel(first);
  CHECK(fixture.receive() ==
        Json::parse(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}})"));
  fixture.write(frame(R"({"id":2,"result":true})") + frame(R"({"id":99,"result":0})") +
                frame(R"({"id":1,"error":{"code":-32800,"message":"cancelled"}})"));
  fixture.run_until([&] { return seen.size() == 2; });
  CHECK(seen == std::vector<std::string>{"true", "cancelled"});
}

TEST_CASE("what was sent before close still arrives, and closing twice is harmless") {
  Fixture fixture;
  const std::string large(1 << 19, 'x');
  fixture.connection->notify("large", {{"text", large}});
  CHECK(fixture.connection->pending_bytes() > large.size());
  fixture.connection->close();
  fixture.connection->close();
  CHECK(fixture.receive().at("params").at("text").get<std::string>().size() == large.size());
  CHECK(fixture.closed == "");
}

TEST_CASE("invalid UTF-8 is replaced, not thrown over") {
  Fixture fixture;
  fixture.connection->notify("log", {{"text", "\xff"}});
  CHECK(fixture.receive().at("params").at("text") == "\xef\xbf\xbd");
}

TEST_CASE("lines are messages: split, joined, empty, ended by CR LF, and too long ones are refused") {
  rpc::FrameReader lines(10, rpc::Framing::Lines);
  lines.append("ab");
  CHECK(!lines.next()->has_value());
  CHECK(!lines.between_messages());
  lines.append("c\n\n\r\nd\r\ne");
  CHECK(*lines.next() == "abc");
  CHECK(*lines.next() == "d");
  CHECK(!lines.next()->has_value());
  lines.append("\n");
  CHECK(*lines.next() == "e");
  CHECK(lines.between_messages());
  lines.append("0123456789\n0123456789a");
  CHECK(*lines.next() == "0123456789");
  CHECK(!lines.next().has_value());
  CHECK(rpc::framed("{}", rpc::Framing::Lines) == "{}\n");
}

TEST_CASE("a dropped request gets no answer, unlike one whose responder is lost") {
  Fixture fixture(1 << 20, [](const std::string &method, Json, const rpc::Connection::RequestId &,
                               const rpc::Responder &respond) {
    if (method == "drop")
      respond.drop();
  });
  fixture.write(frame(R"({"jsonrpc":"2.0","id":1,"method":"drop"})") +
                frame(R"({"jsonrpc":"2.0","id":2,"method":"lose"})"));
  const Json answer = fixture.receive();
  CHECK(answer.at("id") == 2);
  CHECK(error_code(answer) == rpc::kInternalError);
}
