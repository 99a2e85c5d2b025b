// URLs, tokens and the first message, without sockets; and the keepalive on a socket pair.
#include "runner/net/keepalive.h"
#include "runner/net/secret_file.h"
#include "runner/net/tls_url.h"
#include "runner/net/token.h"
#include "support/hash.h"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace warpwright::runner::net {
namespace {

TEST_CASE("hosts and ports are told apart, IPv6 in brackets") {
  CHECK(parse_host_port("gpu.example.org:4433")->host == "gpu.example.org");
  CHECK(parse_host_port("[::1]:4433")->host == "::1");
  CHECK(parse_host_port("[::1]:4433")->port == "4433");
  for (const char *text :
       {"", ":1", "host", "host:", "host:x", "host:65536", "::1:4433", "host:-1"}) {
    CAPTURE(text);
    CHECK(!parse_host_port(text).has_value());
  }
}

TEST_CASE("a URL gives its parts, decoded, and never its token when it is shown") {
  const auto url = parse_tls_url(
      "tls://a%40b%2Fc0123456789@h:1?ca=/x%20y.pem&server-name=z&retry-s=7&cert=/c&key=/k");
  REQUIRE(url.has_value());
  CHECK(url->token == "a@b/c0123456789");
  CHECK(url->target.ca == "/x y.pem");
  CHECK(url->target.server_name == "z");
  CHECK(url->target.certificate == "/c");
  CHECK(url->retry == std::chrono::seconds(7));
  CHECK(without_secrets("tls://secret@h:1?ca=a@b") == "tls://h:1?ca=a@b");
  CHECK(without_secrets("tls://h:1?ca=a@b") == "tls://h:1?ca=a@b");
  CHECK(without_secrets("amqps://user:secret@h/x") == "amqps://h/x");
  CHECK(without_secrets("unix:/a@b") == "unix:/a@b");
  for (const char *bad :
       {"tls://t@h:1?ca", "tls://t@h:1?x=1", "tls://t@h:1?ca=%zz", "tls://t@h:1?ca=%2",
        "tls://t@h:1?cert=/c", "tls://t@h:1?retry-s=-1", "tls://t@h"}) {
    CAPTURE(bad);
    CHECK(!parse_tls_url(bad).has_value());
  }
}

TEST_CASE("a token file names its owners, and weak ones are refused") {
  const auto tokens =
      TokenList::parse("# comment\n\nalice 0123456789abcdef\nfedcba9876543210\n", "file");
  REQUIRE(tokens.has_value());
  CHECK(tokens->size() == 2);
  CHECK(tokens->owner_of("0123456789abcdef") == "alice");
  CHECK(tokens->owner_of("fedcba9876543210").starts_with("token "));
  for (const char *wrong : {"", "alice", "0123456789abcdeF", "0123456789abcdef "})
    CHECK(tokens->owner_of(wrong) == "");
  CHECK(TokenList::parse("short\n", "file").error().message.find("shorter than 16") !=
        std::string::npos);
  CHECK(TokenList::parse("# nothing\n", "file").error().remedy.find("openssl rand") !=
        std::string::npos);
  CHECK(!TokenList::load("/nonexistent").has_value());
}

TEST_CASE("a file with secrets is refused while others can read it") {
  char name[] = "/tmp/warpwright-test-XXXXXX";
  const int descriptor = mkstemp(name);
  const std::string path = name;
  for (const auto &[mode, is_closed] :
       {std::pair{0600, true}, std::pair{0400, true}, std::pair{0604, false}, std::pair{0602, false},
        std::pair{0620, false}, std::pair{0640, geteuid() == 0}}) {
    REQUIRE(fchmod(descriptor, static_cast<mode_t>(mode)) == 0);
    CAPTURE(mode);
    const auto checked = check_secret_file(path, "key");
    CHECK(checked.has_value() == is_closed);
    if (!checked)
      CHECK(checked.error().remedy == "Close it: chmod 600 " + path);
  }
  if (geteuid() == 0) { // a user's own file has no group that the system chose
    REQUIRE(fchown(descriptor, 65534, 65534) == 0);
    REQUIRE(fchmod(descriptor, 0640) == 0);
    CHECK(!check_secret_file(path, "key").has_value());
  }
  close(descriptor);
  unlink(name);
  CHECK(!check_secret_file(path, "key").has_value());
}

TEST_CASE("a token that was shown is known by its hash, and gone with its line") {
  const auto before = TokenList::parse("alice 0123456789abcdef\nbob fedcba9876543210\n", "file");
  const auto after = TokenList::parse("alice 00112233445566778899\n", "file");
  const std::string hash = sha256_hex("0123456789abcdef");
  CHECK(before->owner_of_hash(hash) == "alice");
  CHECK(after->owner_of_hash(hash) == "");
  CHECK(after->owner_of_hash("") == "");
  CHECK(after->has_owner("alice"));
  CHECK(!after->has_owner("bob"));
}

TEST_CASE("only a right first message authenticates") {
  const auto tokens = TokenList::parse("alice 0123456789abcdef", "file");
  const auto good = authentication("0123456789abcdef");
  CHECK(check_authentication(*tokens, "authenticate", good).value() == "alice");
  CHECK(!check_authentication(*tokens, "info", good).has_value());
  CHECK(!check_authentication(*tokens, "authenticate", authentication("x")).has_value());
  CHECK(!check_authentication({}, "authenticate", good).has_value());
  for (const char *bad : {"null", "[]", "{}", R"({"token":"0123456789abcdef"})",
                          R"({"token":"0123456789abcdef","version":"1"})",
                          R"({"token":"0123456789abcdef","version":2})",
                          R"({"token":["0123456789abcdef"],"version":1})"}) {
    CAPTURE(bad);
    CHECK(!check_authentication(*tokens, "authenticate", nlohmann::json::parse(bad)).has_value());
  }
}

/// Two connections over a socket pair, one of which is watched.
struct Pair {
  boost::asio::io_context loop;
  int peer = -1;
  std::shared_ptr<rpc::Connection> connection;
  std::optional<std::string> closed;

  Pair() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    peer = ends[1];
    rpc::Connection::Handlers handlers;
    handlers.on_closed = [this](const std::string &reason) { closed = reason; };
    connection = rpc::Connection::make(
        rpc::make_descriptor_stream(loop.get_executor(), ends[0], ends[0]), handlers);
    connection->start();
  }
  ~Pair() {
    if (peer >= 0)
      close(peer);
    loop.restart();
    loop.run();
  }
  void run_until(const std::function<bool()> &done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      loop.restart();
      loop.run_one_for(std::chrono::milliseconds(20));
    }
    CHECK(done());
  }
};

constexpr KeepaliveTimes kShort{std::chrono::milliseconds(20), std::chrono::milliseconds(200)};

TEST_CASE("a peer that stays silent is pinged and then given up") {
  Pair pair;
  const Keepalive keepalive(pair.loop.get_executor(), pair.connection, kShort);
  pair.run_until([&] { return pair.closed.has_value(); });
  CHECK(pair.closed->find("nothing was heard") != std::string::npos);
  char text[256] = "";
  CHECK(read(pair.peer, text, sizeof text - 1) > 0);
  CHECK(std::string(text).find("\"ping\"") != std::string::npos);
}

TEST_CASE("a peer that answers anything at all is kept") {
  Pair pair;
  auto other = rpc::Connection::make(
      rpc::make_descriptor_stream(pair.loop.get_executor(), pair.peer, pair.peer), {});
  pair.peer = -1;
  other->start(); // it knows no method, ping neither
  const Keepalive keepalive(pair.loop.get_executor(), pair.connection, kShort);
  const auto until = std::chrono::steady_clock::now() + 3 * kShort.drop_after;
  pair.run_until([&] { return std::chrono::steady_clock::now() > until; });
  CHECK(!pair.closed);
  other->close();
}

} // namespace
} // namespace warpwright::runner::net
