// Dispatch and cancellation of requests.
#include "server/binder.h"

namespace warpwright::server {

void Binder::dispatch_request(const std::string &method, const Json &params, const Json &id,
                              const rpc::Responder &respond) {
  const auto handler = requests_.find(method);
  if (handler == requests_.end())
    return respond(refuse(rpc::kMethodNotFound, "this server has no method '" + method + "'"));
  // An answer removes the request from the list. So does the answer that a dropped responder gives.
  const rpc::Responder tracked(
      [respond, id, list = std::weak_ptr(in_flight_)](rpc::Outcome outcome) {
        if (const auto requests = list.lock())
          requests->erase(id);
        respond(std::move(outcome));
      });
  std::stop_source stop;
  in_flight_->insert_or_assign(id, InFlight{respond, stop});
  try {
    handler->second(params, tracked, stop.get_token());
  } catch (const Json::exception &error) {
    tracked(refuse(rpc::kInvalidParams, method + ": " + error.what()));
  }
}

Result<void> Binder::dispatch_notification(const std::string &method, const Json &params) {
  try {
    if (method == "$/cancelRequest")
      cancel(protocol::decode<protocol::CancelParams>(params).id);
    else if (const auto handler = notifications_.find(method); handler != notifications_.end())
      handler->second(params);
    return {};
  } catch (const Json::exception &error) {
    return fail("the parameters of " + method + " do not decode: " + error.what());
  }
}

void Binder::cancel(const Json &id) {
  const auto found = in_flight_->find(id);
  if (found == in_flight_->end())
    return;
  const InFlight request = std::move(found->second);
  in_flight_->erase(found);
  request.respond(refuse(rpc::kRequestCancelled, "cancelled by the client"));
  std::stop_source stop = request.stop;
  stop.request_stop();
}

void Binder::stop_all() {
  for (auto &[id, request] : *in_flight_)
    request.stop.request_stop();
}

} // namespace warpwright::server
