// Peers that are no clients, or clients that misbehave, against the real runner on a TLS port. Each
// is refused with a reason; after each of them a good client still gets its verdict.
#include "tests/runner/remote_fixture.h"

#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using namespace testing;

constexpr const char *kFirst =
    R"({"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"token":"TOKEN","version":1}})";

std::string authenticate_as(const std::string &token) {
  std::string text = kFirst;
  return text.replace(text.find("TOKEN"), 5, token);
}

/// A service, and the proof that it still serves.
struct Scene {
  TemporaryFolder folder;
  RunningService service{folder.path};
  std::string address = service.address();

  void check_still_serves() {
    const auto client = connect_to(url_of(address, folder.path));
    const auto verdict = client->verify(fake_task(), fake_plan("square"), fake_options(), {});
    REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
    CHECK(verdict->outcome == model::Outcome::Verified);
  }
  void check_logged(const std::string &part) {
    CHECK_MESSAGE(eventually([&] { return service.log().find(part) != std::string::npos; }), part,
                  " in ", service.log());
  }
  /// A peer that is authenticated.
  std::unique_ptr<RawTls> admitted() {
    auto peer = std::make_unique<RawTls>(address);
    REQUIRE(peer->is_connected());
    peer->send(authenticate_as(kToken));
    CHECK(peer->read_until("\"protocol\":1").find("result") != std::string::npos);
    return peer;
  }
};

TEST_CASE("before authentication nothing but a right authenticate is taken") {
  Scene scene;
  for (const auto &[body, reason] : {
           std::pair{std::string(R"({"jsonrpc":"2.0","id":1,"method":"info"})"),
                     "not authenticated"},
           std::pair{std::string(R"({"jsonrpc":"2.0","id":1,"method":"verify","params":{}})"),
                     "not authenticated"},
           std::pair{authenticate_as("0123456789abcdef0123456789abcdef"), "wrong token"},
           std::pair{authenticate_as(""), "wrong token"},
           std::pair{std::string(R"({"id":1,"method":"authenticate","params":{"token":7}})"),
                     "needs {token: text, version: integer}"},
           std::pair{std::string(R"({"id":1,"method":"authenticate"})"), "needs {token"},
           std::pair{std::string(R"({"id":1,"method":"authenticate","params":{"token":")") +
                         kToken + R"(","version":99}})",
                     "Install the same release"},
           std::pair{std::string("{\"id\":1,"), "not JSON"},
           std::pair{std::string("{\"id\":1,\"method\":\"\xff\xfe\"}"), "not JSON in UTF-8"},
           std::pair{std::string(3000, '['), "nests deeper than 256"},
           std::pair{std::string("[]"), "not a JSON-RPC object"},
           std::pair{authenticate_as(std::string(5000, 'x')), "over the limit of 4096"},
       }) {
    RawTls peer(scene.address);
    REQUIRE(peer.is_connected());
    peer.send(body);
    const std::string answer = peer.read_all();
    INFO(body.substr(0, 100), " -> ", answer);
    CHECK(answer.find(reason) != std::string::npos);
    CHECK(peer.ended());
  }
  scene.check_logged("wrong token");
  scene.check_still_serves();
}

TEST_CASE(
    "headers that cannot be read are refused with a reason, before and after authentication") {
  Scene scene;
  for (const bool is_admitted : {false, true})
    for (const auto &[bytes, reason] :
         {std::pair{std::string("Content-Length: 1073741824\r\n\r\n{"),
                    "message of 1073741824 bytes"},
          std::pair{std::string("Content-Length: -5\r\n\r\n"), "holds no number"},
          std::pair{std::string("Content-Length: 99999999999999999999\r\n\r\n"), "holds no number"},
          std::pair{std::string("Content-Length: 4\r\nContent-Length: 5\r\n\r\n{}  "),
                    "two different Content-Length"},
          std::pair{std::string("Content-Type: json\r\n\r\n{}"), "no Content-Length"},
          std::pair{std::string("X: ") + std::string(100'000, 'x'), "header is longer"}}) {
      auto peer = is_admitted ? scene.admitted() : std::make_unique<RawTls>(scene.address);
      peer->write(bytes);
      const std::string answer = peer->read_all();
      INFO(bytes.substr(0, 60), " -> ", answer);
      CHECK(answer.find(reason) != std::string::npos);
      CHECK(peer->ended());
    }
  scene.check_still_serves();
}

TEST_CASE("an authenticated client is answered for each bad message, and may go on") {
  Scene scene;
  const auto peer = scene.admitted();
  for (const auto &[body, reason] : {
           std::pair{std::string("{"), "not JSON"},
           std::pair{std::string("\"\xff\""), "not JSON in UTF-8"},
           std::pair{std::string(100'000, '['), "nests deeper"},
           std::pair{std::string(R"({"id":{},"method":"info"})"), "method must be a string"},
           std::pair{std::string(R"({"id":2,"method":"verify"})"), "verify needs"},
           std::pair{std::string(R"({"id":3,"method":"verify","params":{"task":1,"plan":2}})"),
                     "does not fit its schema"},
           std::pair{std::string(R"({"id":4,"method":"shutdown"})"), "does not know the method"},
           std::pair{std::string(R"({"id":5,"method":"authenticate","params":{}})"),
                     "does not know the method"},
           std::pair{std::string(R"({"id":6,"method":"ping"})"), "\"id\":6"},
       }) {
    peer->send(body);
    const std::string answer = peer->read_until(reason);
    INFO(body.substr(0, 100), " -> ", answer);
    CHECK(answer.find(reason) != std::string::npos);
  }
  scene.check_still_serves();
}

TEST_CASE("a message that is cut short, and a client that goes amid a job, leave nothing behind") {
  Scene scene;
  {
    const auto peer = scene.admitted();
    peer->write("Content-Length: 1000\r\n\r\n{\"id\":1");
  }
  scene.check_logged("client lost");
  {
    const auto peer = scene.admitted();
    nlohmann::json request = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "verify"}};
    request["params"] = {{"task", model::to_json(fake_task())},
                         {"plan", model::to_json(fake_plan("hang"))},
                         {"options", model::to_json(fake_options(600'000))}};
    peer->send(request.dump()); // no key: it ends with its client
    CHECK(peer->read_until("verifying").find("stage") != std::string::npos);
  }
  scene.check_still_serves();
}

TEST_CASE("what is not TLS 1.3 is refused") {
  Scene scene;
  const int plain = connect_tcp(scene.address);
  const std::string hello = "GET / HTTP/1.1\r\n\r\n";
  REQUIRE(send(plain, hello.data(), hello.size(), MSG_NOSIGNAL) == ssize_t(hello.size()));
  char byte;
  while (recv(plain, &byte, 1, 0) > 0)
    ; // an alert may come; then the end
  close(plain);
  scene.check_logged("no TLS 1.3 handshake");
  const RawTls old(scene.address, TLS1_2_VERSION);
  CHECK(!old.is_connected());
  scene.check_logged("unsupported protocol");
  scene.check_still_serves();
}

TEST_CASE("peers that stay silent are dropped, before and after the handshake") {
  Scene scene;
  const int silent = connect_tcp(scene.address);
  RawTls half_open(scene.address);
  REQUIRE(half_open.is_connected());
  half_open.write("Content-Length: 50\r\n\r\n{");
  char byte;
  CHECK(recv(silent, &byte, 1, 0) <= 0);
  close(silent);
  half_open.read_all();
  CHECK(half_open.ended());
  scene.check_logged("no TLS handshake in time");
  scene.check_logged("it did not authenticate in time");
  scene.check_still_serves();
}

TEST_CASE("more silent peers than may be unproved keep nobody out for long") {
  Scene scene;
  std::vector<int> silent;
  for (int i = 0; i < 200; ++i)
    silent.push_back(connect_tcp(scene.address));
  scene.check_still_serves();
  for (const int descriptor : silent)
    close(descriptor);
}

} // namespace
} // namespace warpwright::runner
