// Headers of HTTP requests against their bodies, case by case.
#include "server/mcp/request_headers.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::mcp;

namespace {

Json modern_params(Json params) {
  params["_meta"] = {{kRevisionKey, kModernRevision}, {kCapabilitiesKey, Json::object()}};
  return params;
}

http::Request request(http::Headers headers) {
  http::Request made;
  made.headers = std::move(headers);
  return made;
}

int code_of(const http::Headers &headers, const std::string &method, const Json &params) {
  const auto error = header_error(request(headers), method, params);
  return error ? error->code : 0;
}

} // namespace

TEST_CASE("only names of this machine are hosts and origins") {
  for (const char *host : {"localhost", "localhost:80", "127.0.0.1:8765", "[::1]:8765"})
    CHECK(is_local_host(host));
  for (const char *host : {"", "evil.example", "127.0.0.1.evil.example:80", "localhost.evil:80",
                           "192.168.0.1", "[::2]:80"})
    CHECK(!is_local_host(host));
  CHECK(is_local_origin(""));
  CHECK(is_local_origin("http://localhost:3000"));
  for (const char *origin : {"null", "https://evil.example", "file://", "http://localhost.evil"})
    CHECK(!is_local_origin(origin));
}

TEST_CASE("header values are decoded as the specification's examples") {
  CHECK(decoded_header("us-west1") == "us-west1");
  CHECK(decoded_header("=?base64?SGVsbG8sIOS4lueVjA==?=") == "Hello, \u4e16\u754c");
  CHECK(decoded_header("=?base64?IHBhZGRlZCA=?=") == " padded ");
  CHECK(decoded_header("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=") == "=?base64?literal?=");
  CHECK(decoded_header("=?base64?=") == "=?base64?=");
  CHECK(decoded_header("=?base64?***?=") == std::nullopt);
}

TEST_CASE("headers of the modern era repeat the body") {
  const Json call = modern_params({{"name", "verify"}});
  const http::Headers right{{"mcp-protocol-version", kModernRevision},
                            {"mcp-method", "tools/call"},
                            {"mcp-name", "verify"}};
  CHECK(code_of(right, "tools/call", call) == 0);
  for (const char *name : {"mcp-protocol-version", "mcp-method", "mcp-name"}) {
    http::Headers wrong = right;
    wrong[name] = "other";
    CHECK(code_of(wrong, "tools/call", call) == kHeaderMismatch);
    wrong.erase(name);
    CHECK(code_of(wrong, "tools/call", call) == kHeaderMismatch);
  }
  http::Headers list = right;
  list["mcp-method"] = "tools/list";
  list.erase("mcp-name");
  CHECK(code_of(list, "tools/list", modern_params(Json::object())) == 0);
}

TEST_CASE("headers of the legacy era need no repetition") {
  for (const char *revision : {"2025-11-25", "2025-06-18", "2025-03-26"})
    CHECK(code_of({{"mcp-protocol-version", revision}}, "tools/list", nullptr) == 0);
  CHECK(code_of({}, "initialize", Json::object()) == 0);
  CHECK(code_of({{"mcp-protocol-version", "1900-01-01"}}, "tools/list", nullptr) ==
        kUnsupportedRevision);
  CHECK(code_of({{"mcp-protocol-version", kModernRevision}}, "tools/list", nullptr) ==
        rpc::kInvalidParams);
}
