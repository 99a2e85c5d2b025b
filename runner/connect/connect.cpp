// Selection of the client class by the URL's scheme.
#include "runner/connect/connect.h"
#include "runner/client/rpc_client.h"
#include "runner/fleet/client.h"

namespace warpwright::runner {
namespace {

Result<std::shared_ptr<Client>> connect_rpc(const std::string &url,
                                            boost::asio::any_io_executor executor) {
  auto route = TRY(parse_runner_url(url, executor));
  return std::make_shared<RpcClient>(std::move(route), executor);
}

struct Scheme {
  std::string_view prefix;
  Result<std::shared_ptr<Client>> (*connect)(const std::string &url,
                                             boost::asio::any_io_executor executor);
};

/// The first prefix that matches is used.
constexpr Scheme kSchemes[] = {
    {"amqps://", fleet::connect},
    {"amqp://", fleet::connect},
    {"", connect_rpc}, // child process, stdio:, unix:, tls://
};

} // namespace

Result<std::shared_ptr<Client>> connect(const std::string &url,
                                        boost::asio::any_io_executor executor) {
  for (const Scheme &scheme : kSchemes)
    if (url.starts_with(scheme.prefix))
      return scheme.connect(url, executor);
  return fail("the runner URL \"" + url + "\" is not understood");
}

} // namespace warpwright::runner
