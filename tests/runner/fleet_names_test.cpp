// URLs, device types and what is remembered: the fleet's parts that need no broker.
#include "runner/fleet/address.h"
#include "runner/fleet/backlog.h"
#include "runner/fleet/messages.h"
#include "runner/fleet/names.h"
#include "runner/fleet/recent.h"

#include <doctest/doctest.h>
#include <fstream>
#include <unistd.h>

namespace warpwright::runner::fleet {
namespace {

TEST_CASE("a fleet URL says who, where and how") {
  const auto address =
      parse_fleet_url("amqps://us%40er:p%3Aw@gpu.example:5999/lab%2Fone?ca=/c/a.pem"
                      "&cert=/c/x.pem&key=/c/x.key&session=run-7&patience=90");
  REQUIRE_MESSAGE(address.has_value(), (address ? "" : describe(address.error())));
  CHECK(address->tls);
  CHECK(address->user == "us@er");
  CHECK(address->password == "p:w");
  CHECK(address->place() == "gpu.example:5999");
  CHECK(address->vhost == "lab/one");
  CHECK(address->ca_path == "/c/a.pem");
  CHECK(address->cert_path == "/c/x.pem");
  CHECK(address->key_path == "/c/x.key");
  CHECK(address->session == "run-7");
  CHECK(address->patience == std::chrono::seconds(90));
  CHECK(parse_fleet_url("amqps://a:b@[::1]/")->host == "::1");
  CHECK(parse_fleet_url("amqps://a:b@host")->port == 5671);
  CHECK(parse_fleet_url("amqps://a:b@host")->vhost == "/");
  CHECK(parse_fleet_url("amqp://a:b@127.0.0.1")->port == 5672);
}

TEST_CASE("a password can come from a file") {
  char path[] = "/tmp/warpwright-password-XXXXXX";
  const int descriptor = mkstemp(path);
  REQUIRE(descriptor >= 0);
  close(descriptor);
  std::ofstream(path) << "from the file\n";
  const std::string url = "amqps://a@host/x?password_file=" + std::string(path);
  CHECK(parse_fleet_url(url)->password == "from the file");
  unlink(path);
  const auto gone = parse_fleet_url(url);
  REQUIRE(!gone.has_value());
  CHECK(gone.error().message == "cannot read a password from " + std::string(path));
}

TEST_CASE("a fleet URL with a mistake is refused, and its password is not repeated") {
  for (const auto &[url, part] :
       {std::pair("amqps://host/x", "no user"), std::pair("amqps://a:geheim@/x", "no host"),
        std::pair("amqps://a:geheim@host:99999/x", "port"),
        std::pair("amqps://a:geheim%4@host/x", "hexadecimal"),
        std::pair("amqps://a:geheim@host/x?session=a b", "session"),
        std::pair("amqps://a:geheim@host/x?cert=/y", "cert and key"),
        std::pair("amqps://a:geheim@host/x?patience=soon", "patience"),
        std::pair("amqp://a:geheim@10.0.0.1/x", "readable")}) {
    const auto address = parse_fleet_url(url);
    REQUIRE(!address.has_value());
    const std::string said = describe(address.error());
    INFO(said);
    CHECK(said.find(part) != std::string::npos);
    CHECK(said.find("geheim") == std::string::npos);
  }
}

TEST_CASE("a GPU's type is its model, however it is built in") {
  for (const auto &[name, type] :
       {std::pair("NVIDIA H200", "h200"), std::pair("H200", "h200"),
        std::pair("NVIDIA A100-SXM4-80GB", "a100"), std::pair("NVIDIA H100 80GB HBM3", "h100"),
        std::pair("NVIDIA H100 PCIe", "h100"), std::pair("Tesla V100-SXM2-16GB", "v100"),
        std::pair("NVIDIA GeForce RTX 4090", "rtx-4090"),
        std::pair("NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"), std::pair("CPU", "cpu"),
        std::pair("NVIDIA", "")})
    CHECK(device_type(name) == type);
  model::DeviceInfo cpu;
  cpu.kind = "cpu";
  cpu.name = "AMD EPYC 7763";
  CHECK(device_type(cpu) == "cpu");
}

TEST_CASE("only a replies queue has a progress queue") {
  CHECK(progress_queue_of(replies_queue("x")) == progress_queue("x"));
  CHECK(progress_queue_of(jobs_queue("any")).empty());
}

TEST_CASE("what is remembered stays within its bytes, the newest longest") {
  Recent<int> recent(100);
  recent.put("a", 1, 49);
  recent.put("b", 2, 49);
  CHECK(recent.find("a"));
  recent.put("c", 3, 49);
  CHECK(!recent.find("a"));
  CHECK(*recent.find("b") == 2);
  CHECK(*recent.find("c") == 3);
}

TEST_CASE("stored verdicts are kept once and claimed once") {
  Backlog backlog;
  backlog.expect(2);
  CHECK(!backlog.keep("k", {"first", {1, 1}}));
  CHECK(!backlog.arrived());
  const auto copy = backlog.keep("k", {"second", {1, 2}});
  REQUIRE(copy.has_value());
  CHECK(copy->tag == 1);
  CHECK(backlog.arrived());
  CHECK(backlog.is_in());
  CHECK(backlog.claim("k")->body == "second");
  CHECK(!backlog.claim("k"));
}

TEST_CASE("an answer that is no verdict is an error that says so") {
  for (const char *body : {"", "[]", "{}", "{\"verdict\":3}", "{\"error\":{}}", "{\"error\":7}"})
    CHECK(!decode_reply(body).has_value());
  const auto error = decode_reply(encode_reply(fail("what", "do")));
  REQUIRE(!error.has_value());
  CHECK(error.error().message == "what");
  CHECK(error.error().remedy == "do");
}

} // namespace
} // namespace warpwright::runner::fleet
