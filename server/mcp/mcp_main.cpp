// `warpwright mcp`: the Model Context Protocol on stdin and stdout, or over HTTP.
#include "server/cli/commands.h"
#include "server/mcp/http_transport.h"
#include "server/mcp/stdio_transport.h"
#include "server/standard_streams.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>

namespace warpwright::cli {
namespace {

/// Time for a client to take the last answers after it has closed its side.
constexpr std::chrono::milliseconds kLastAnswers{500};

int print_failure(const Error &error) {
  std::cerr << "warpwright mcp: " << describe(error) << '\n';
  return kFailed;
}

int serve_stdio(boost::asio::io_context &io, mcp::McpServer &server) {
  const auto streams = server::take_standard_streams();
  if (!streams)
    return print_failure(streams.error());
  bool is_over = false;
  const mcp::StdioTransport transport(
      server, rpc::make_descriptor_stream(io.get_executor(), streams->input, streams->output),
      [&] { is_over = true; });
  while (!is_over)
    io.run_one();
  while (transport.pending_bytes() > 0 && io.run_one_for(kLastAnswers) > 0) {
  }
  server::finish_in_time([&] { server.stop(); }, kOk);
  return kOk;
}

int serve_http(boost::asio::io_context &io, mcp::McpServer &server, const McpOptions &options) {
  const auto token = mcp::http_token(options.token_file);
  if (!token)
    return print_failure(token.error());
  const auto transport =
      mcp::HttpTransport::open(server, io.get_executor(), options.http, *token);
  if (!transport)
    return print_failure(transport.error());
  std::cerr << "warpwright mcp on " << (*transport)->url() << std::endl;
  io.run();
  return kOk;
}

} // namespace

int run_mcp(const McpOptions &options) {
  const auto bench = mcp::Workbench::open({.root = options.root,
                                           .runner = options.runner,
                                           .device = options.device,
                                           .policy = options.policy,
                                           .base = options.base,
                                           .ledger = options.ledger});
  if (!bench)
    return print_failure(bench.error());
  boost::asio::io_context io;
  const auto work = boost::asio::make_work_guard(io);
  mcp::McpServer server(io.get_executor(), **bench);
  return options.http.empty() ? serve_stdio(io, server) : serve_http(io, server, options);
}

} // namespace warpwright::cli
