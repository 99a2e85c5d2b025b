// Translation of librabbitmq's status codes and the broker's refusals into sentences with a remedy,
// and into final or temporary faults. Only amqp.cpp uses it. Thread: any.
#pragma once

#include "runner/fleet/amqp.h"

#include <amqp.h>

namespace warpwright::runner::fleet {

/// @param attempt "cannot connect to the broker at HOST:PORT"
LineResult<void> check_status(int code, const std::string &attempt, const std::string &place);
LineResult<void> check_reply(const amqp_rpc_reply_t &reply, const std::string &attempt,
                             const std::string &place);
/// An error when `method` closes the channel or connection, or ends a consumer.
LineResult<void> check_close(const amqp_method_t &method, const std::string &attempt);
/// Sets the trusted authorities (the address's or the system's) and the client's certificate.
LineResult<void> set_certificates(amqp_socket_t *socket, const BrokerAddress &address);

} // namespace warpwright::runner::fleet
