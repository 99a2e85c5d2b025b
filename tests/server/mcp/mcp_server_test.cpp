// The protocol over lines of JSON, message by message: both eras, errors, cancellation, questions.
#include "server/mcp/stdio_transport.h"

#include "tests/server/mcp/temporary_project.h"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace warpwright;
using namespace warpwright::mcp;

namespace {

constexpr auto kPatience = std::chrono::seconds(30);

constexpr char kScale[] = R"cu(
__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = x[i] * 2.0f;
}
int main() {
  float *x;
  cudaMalloc(&x, 1000 * sizeof(float));
  scale<<<4, 256>>>(x, 1000);
  return cudaDeviceSynchronize();
}
)cu";

/// A server and its client, which writes and reads lines.
struct Session {
  tests::TemporaryProject project;
  boost::asio::io_context io;
  std::unique_ptr<Workbench> bench;
  std::optional<McpServer> server;
  std::optional<StdioTransport> transport;
  int peer = -1;
  std::string buffer;
  bool is_closed = false;

  Session() {
    project.write("k.cu", kScale);
    project.commit();
    auto opened = Workbench::open({.root = project.path(""), .ledger = project.path("ledger.sqlite")},
                                  consent::ApprovalStore(project.path("state/approvals.json")));
    REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : describe(opened.error())));
    bench = std::move(*opened);
    server.emplace(io.get_executor(), *bench);
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    peer = ends[1];
    transport.emplace(*server, rpc::make_descriptor_stream(io.get_executor(), ends[0], ends[0]),
                      [this] { is_closed = true; });
  }
  ~Session() {
    server->stop();
    ::close(peer);
    io.restart();
    io.run_for(std::chrono::milliseconds(100));
    CHECK(is_closed);
  }

  void write(const std::string &line) {
    const std::string bytes = line + "\n";
    REQUIRE(::write(peer, bytes.data(), bytes.size()) == ssize_t(bytes.size()));
  }
  void send(const std::string &method, Json params, Json id) {
    Json message{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
    if (!id.is_null())
      message["id"] = std::move(id);
    write(message.dump());
  }
  /// The next message of the server; null if none comes in this time.
  Json next(std::chrono::milliseconds time = kPatience) {
    const auto deadline = std::chrono::steady_clock::now() + time;
    for (;;) {
      if (const std::size_t end = buffer.find('\n'); end != std::string::npos) {
        const std::string line = buffer.substr(0, end);
        buffer.erase(0, end + 1);
        return Json::parse(line);
      }
      if (std::chrono::steady_clock::now() > deadline)
        return nullptr;
      io.restart();
      io.run_one_for(std::chrono::milliseconds(10));
      char block[4096];
      const ssize_t size = ::recv(peer, block, sizeof block, MSG_DONTWAIT);
      buffer.append(block, size > 0 ? std::size_t(size) : 0);
    }
  }
  Json request(const std::string &method, Json params, Json id = 1) {
    send(method, std::move(params), std::move(id));
    return next();
  }
  Json modern(const std::string &method, Json params = Json::object(), Json id = 1) {
    params["_meta"] = {{kRevisionKey, kModernRevision}, {kCapabilitiesKey, Json::object()}};
    return request(method, std::move(params), std::move(id));
  }
};

} // namespace

TEST_CASE("a modern client discovers the server, and each result says its kind and server") {
  Session session;
  const Json found = session.modern("server/discover", Json::object(), "d");
  CHECK(found["id"] == "d");
  CHECK(found["result"]["resultType"] == "complete");
  CHECK(found["result"]["supportedVersions"] == Json::array({"2026-07-28"}));
  CHECK(found["result"]["_meta"][kServerKey]["name"] == "warpwright");
  CHECK(found["result"]["ttlMs"].get<int>() > 0);
  for (const char *method : {"tools/list", "resources/list", "resources/templates/list"}) {
    const Json list = session.modern(method)["result"];
    CHECK(list["resultType"] == "complete");
    CHECK(list.contains("ttlMs"));
    CHECK((list["cacheScope"] == "public" || list["cacheScope"] == "private"));
  }
}

TEST_CASE("wrong metadata and unknown methods have the protocol's errors") {
  Session session;
  CHECK(session.request("tools/list", Json::object())["error"]["code"] == rpc::kInvalidParams);
  const Json old = session.request(
      "tools/list", {{"_meta", {{kRevisionKey, "1900-01-01"}, {kCapabilitiesKey, Json::object()}}}});
  CHECK(old["error"]["code"] == kUnsupportedRevision);
  CHECK(old["error"]["data"]["requested"] == "1900-01-01");
  CHECK(old["error"]["data"]["supported"][0] == kModernRevision);
  CHECK(session.request("tools/list", {{"_meta", {{kRevisionKey, kModernRevision}}}})["error"]["code"] ==
        rpc::kInvalidParams);
  CHECK(session.modern("ping")["error"]["code"] == rpc::kMethodNotFound);
  CHECK(session.modern("prompts/list")["error"]["code"] == rpc::kMethodNotFound);
  CHECK(session.modern("tools/call", {{"name", "none"}})["error"]["code"] == rpc::kInvalidParams);
  CHECK(session.modern("resources/read", {{"uri", "file:///etc/passwd"}})["error"]["code"] ==
        rpc::kInvalidParams);
  session.write("{broken");
  CHECK(session.next()["error"]["code"] == rpc::kParseError);
  session.write("");
  session.write("[]");
  CHECK(session.next()["error"]["code"] == rpc::kInvalidRequest);
  CHECK(session.modern("server/discover")["result"]["resultType"] == "complete");
}

TEST_CASE("a legacy client begins with initialize, and gets results of its revision") {
  Session session;
  const Json begun = session.request(
      "initialize", {{"protocolVersion", "2025-06-18"}, {"capabilities", Json::object()}});
  CHECK(begun["result"]["protocolVersion"] == "2025-06-18");
  CHECK(begun["result"]["serverInfo"]["name"] == "warpwright");
  session.send("notifications/initialized", Json::object(), nullptr);
  CHECK(session.request("ping", Json::object())["result"] == Json::object());
  const Json list = session.request("tools/list", Json::object())["result"];
  CHECK(!list.contains("resultType"));
  CHECK(!list.contains("ttlMs"));
  CHECK(list["tools"].size() == all_tools().size());
  CHECK(session.request("resources/read", {{"uri", "warpwright://verdict/x"}})["error"]["code"] == -32002);
  Session other;
  CHECK(other.request("initialize", {{"protocolVersion", "2099-01-01"}})["result"]["protocolVersion"] ==
        "2025-11-25");
}

TEST_CASE("every result of a tool fits the schema that it announces") {
  Session session;
  for (const auto &[name, arguments] :
       {std::pair<std::string, Json>{"analyze", {{"file", "k.cu"}}},
        {"suggest", {{"file", "k.cu"}, {"kernel", "scale"}}},
        {"explain", {{"file", "k.cu"}, {"kernel", "scale"}}},
        {"explain", {{"rule", "bank-conflict"}}}}) {
    const Json result =
        session.modern("tools/call", {{"name", name}, {"arguments", arguments}})["result"];
    REQUIRE_MESSAGE(result["isError"] == false, result.dump());
    const auto tool = std::ranges::find(all_tools(), name, &Tool::name);
    const auto fits = model::DocumentSchema(tool->output, name, "").check(result["structuredContent"]);
    CHECK_MESSAGE(fits.has_value(), (fits ? "" : fits.error().message));
    CHECK(Json::parse(result["content"][1]["text"].get<std::string>()) == result["structuredContent"]);
  }
}

TEST_CASE("a call whose arguments do not fit is refused with the member, as a result") {
  Session session;
  const Json result = session.modern("tools/call", {{"name", "measure"},
                                                    {"arguments",
                                                     {{"file", "k.cu"}, {"kernel", "scale"},
                                                      {"runner", "unix:/tmp/x"}}}})["result"];
  CHECK(result["isError"] == true);
  CHECK(result["content"][0]["text"].get<std::string>().find("runner") != std::string::npos);
}

TEST_CASE("a cancelled call gets no answer, and its question to the user is forgotten") {
  Session session;
  session.request("initialize", {{"protocolVersion", "2025-11-25"},
                                 {"capabilities", {{"elicitation", Json::object()}}}});
  session.send("tools/call",
               {{"name", "measure"}, {"arguments", {{"file", "k.cu"}, {"kernel", "scale"}}}}, 7);
  const Json question = session.next();
  CHECK(question["method"] == "elicitation/create");
  session.send("notifications/cancelled", {{"requestId", 7}}, nullptr);
  session.send("notifications/cancelled", {{"requestId", 99}}, nullptr);
  CHECK(session.request("ping", Json::object(), 8)["id"] == 8);
  session.write(Json{{"jsonrpc", "2.0"},
                     {"id", question["id"]},
                     {"result", {{"action", "accept"}, {"content", {{"decision", "Trust"}}}}}}
                    .dump());
  CHECK(session.next(std::chrono::milliseconds(300)) == nullptr);
  CHECK(!std::filesystem::exists(session.project.path("state/approvals.json")));
}

TEST_CASE("a subscription is acknowledged with nothing, and stays open until it is cancelled") {
  Session session;
  const Json first = session.modern("subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}}, 5);
  CHECK(first["method"] == "notifications/subscriptions/acknowledged");
  CHECK(first["params"]["_meta"][kSubscriptionKey] == 5);
  CHECK(first["params"]["notifications"] == Json::object());
  session.send("notifications/cancelled", {{"requestId", 5}}, nullptr);
  CHECK(session.modern("server/discover", Json::object(), 6)["id"] == 6);
}

TEST_CASE("two requests with one id are told apart") {
  Session session;
  session.modern("subscriptions/listen", Json::object(), 5);
  CHECK(session.modern("server/discover", Json::object(), 5)["error"]["code"] == rpc::kInvalidRequest);
}
