// Frames and JSON-RPC: any bytes, in any blocks. However a stream is cut into blocks, it must mean
// the same, and a connection must end when its stream does.
#include "tests/runner/fuzz/fuzz_target.h"
#include "tests/runner/fuzz/memory_stream.h"

namespace warpwright::fuzz {
namespace {

struct Heard {
  std::string output, log;
  bool operator==(const Heard &) const = default;
};

/// Everything that a connection made of the bytes.
Heard listen(const std::string &bytes, std::size_t block_bytes, bool strict) {
  Heard heard;
  bool closed = false;
  rpc::Connection::Handlers handlers;
  handlers.on_request = [&](const std::string &method, const rpc::Json &params, const rpc::Json &id,
                            const rpc::Responder &respond) {
    heard.log += "request " + method + id.dump() + "\n";
    if (method == "echo")
      respond(params);
    if (method == "decode")
      respond(params.at("missing"));
  };
  handlers.on_notification = [&](const std::string &method, const rpc::Json &) {
    heard.log += "notification " + method + "\n";
  };
  handlers.on_closed = [&](const std::string &reason) {
    heard.log += "closed " + reason + "\n";
    closed = true;
  };
  const auto connection = rpc::Connection::make(
      std::make_unique<MemoryStream>(bytes, block_bytes, heard.output), handlers, 1 << 16);
  connection->set_limits({.message_bytes = 1 << 16, .unsent_bytes = 1 << 20, .strict = strict});
  connection->request("question", nullptr, [&](const rpc::Outcome &outcome) {
    heard.log +=
        outcome
            ? "answer " + outcome->dump(-1, ' ', false, rpc::Json::error_handler_t::replace) + "\n"
            : "error\n";
  });
  connection->start();
  run_loop();
  require(closed, "a connection ends with its stream");
  require(heard.log.find("answer ") != std::string::npos ||
              heard.log.find("error\n") != std::string::npos,
          "a request is answered exactly once");
  return heard;
}

} // namespace
} // namespace warpwright::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace warpwright::fuzz;
  if (size < 2)
    return 0;
  const bool strict = data[0] & 1;
  // Small blocks for small inputs, so that large ones do not take for ever.
  const std::size_t block_bytes = 1 + data[1] % 64 + size / 64;
  const std::string bytes(reinterpret_cast<const char *>(data) + 2, size - 2);
  require(listen(bytes, block_bytes, strict) == listen(bytes, 1 << 16, strict),
          "a stream means the same in any blocks");
  return 0;
}
