#include "runner/metrics/endpoint.h"

namespace warpwright::runner::metrics {

Result<std::unique_ptr<http::Server>> open_endpoint(boost::asio::any_io_executor executor,
                                                    const std::string &where,
                                                    std::function<std::string()> text,
                                                    std::function<void(const std::string &)> log) {
  const auto answer = [text = std::move(text)](const http::Request &request,
                                               const http::AnswerPtr &answer) {
    if (request.method != "GET" && request.method != "HEAD")
      answer->send(405, {}, "only GET\n");
    else if (request.target == "/healthz")
      answer->send(200, {}, "ok\n");
    else if (request.target == "/metrics")
      answer->send(200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, text());
    else
      answer->send(404, {}, "/metrics and /healthz are all there is\n");
  };
  return http::listen(std::move(executor), where, {}, answer, std::move(log));
}

} // namespace warpwright::runner::metrics
