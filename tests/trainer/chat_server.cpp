#include "tests/trainer/chat_server.h"

#include "support/process.h"

#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <doctest/doctest.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

namespace warpwright::trainer::testing {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using nlohmann::json;

std::string chunk(const std::string &piece) {
  std::ostringstream text;
  text << std::hex << piece.size() << "\r\n" << piece << "\r\n";
  return text.str();
}

} // namespace

struct ChatServer::Impl {
  asio::io_context loop;
  asio::ssl::context context{asio::ssl::context::tls_server};
  tcp::acceptor acceptor{loop, {asio::ip::address_v4::loopback(), 0}};
  Answer reply;
  mutable std::mutex mutex;
  std::vector<SeenRequest> seen;
  std::atomic<bool> over{false};
  std::thread thread;

  void serve() {
    while (!over) {
      error_code error;
      tcp::socket socket = acceptor.accept(error);
      if (error || over)
        return;
      try {
        answer(asio::ssl::stream<tcp::socket>(std::move(socket), context));
      } catch (const std::exception &) {
        // A client that refuses our certificate or hangs up: the test looks at the client.
      }
    }
  }

  void answer(asio::ssl::stream<tcp::socket> stream) {
    stream.handshake(asio::ssl::stream_base::server);
    beast::flat_buffer buffer;
    http::request<http::string_body> request;
    http::read(stream, buffer, request);
    const SeenRequest given{std::string(request.target()),
                            std::string(request[http::field::authorization]),
                            std::string(request[http::field::accept]), request.body()};
    {
      const std::lock_guard lock(mutex);
      seen.push_back(given);
    }
    send(stream, reply(given));
  }

  static void send(asio::ssl::stream<tcp::socket> &stream, const Reply &reply) {
    const auto write = [&](const std::string &text) { asio::write(stream, asio::buffer(text)); };
    if (!reply.garbage) {
      std::string head = "HTTP/1.1 " + std::to_string(reply.status) +
                         " Some Reason\r\nContent-Type: " + reply.type +
                         "\r\nTransfer-Encoding: chunked\r\n";
      for (const auto &[name, value] : reply.headers)
        head += name + ": " + value + "\r\n";
      write(head + "\r\n");
    }
    for (const std::string &piece : reply.pieces)
      write(reply.garbage ? piece : chunk(piece));
    if (reply.end == Reply::End::Whole && !reply.garbage)
      write("0\r\n\r\n");
    error_code ignored;
    if (reply.end == Reply::End::Hang) {
      char byte;
      stream.read_some(asio::buffer(&byte, 1), ignored); // until the client goes
    } else if (reply.end == Reply::End::Whole) {
      stream.shutdown(ignored);
    }
  }
};

Reply whole_answer(const std::string &text, int prompt_tokens, int answer_tokens) {
  return {
      .pieces = {json{
          {"choices",
           {{{"message", {{"role", "assistant"}, {"content", text}}}, {"finish_reason", "stop"}}}},
          {"usage", {{"prompt_tokens", prompt_tokens}, {"completion_tokens", answer_tokens}}}}
                     .dump()}};
}

Reply streamed_answer(const std::vector<std::string> &texts, const std::string &finish) {
  Reply reply{.type = "text/event-stream"};
  const auto event = [&](const json &document) {
    reply.pieces.push_back("data: " + document.dump() + "\n\n");
  };
  for (const std::string &text : texts)
    event({{"choices", {{{"delta", {{"content", text}}}, {"finish_reason", nullptr}}}},
           {"error", nullptr}});
  event({{"choices", {{{"delta", json::object()}, {"finish_reason", finish}}}}});
  event({{"choices", json::array()}, {"usage", {{"prompt_tokens", 11}, {"completion_tokens", 7}}}});
  reply.pieces.push_back("data: [DONE]\n\n");
  return reply;
}

Reply error_answer(int status, const std::string &message,
                   std::vector<std::pair<std::string, std::string>> headers) {
  return {.status = status,
          .headers = std::move(headers),
          .pieces = {json{{"error", {{"message", message}}}}.dump()}};
}

ChatServer::ChatServer(std::vector<Reply> script)
    : ChatServer(
          [script = std::move(script), number = std::size_t{0}](const SeenRequest &) mutable {
            return script[std::min(number++, script.size() - 1)];
          }) {}

ChatServer::ChatServer(Answer answer) : impl_(std::make_unique<Impl>()) {
  const std::string pem = folder_.path / "server.pem", key = folder_.path / "server.key";
  const auto made =
      run_captured({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", pem, "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"},
                   "", std::chrono::seconds(30));
  REQUIRE_MESSAGE((made && made->status.code == 0), (made ? made->errors : made.error().message));
  impl_->context.use_certificate_chain_file(pem);
  impl_->context.use_private_key_file(key, asio::ssl::context::pem);
  impl_->reply = std::move(answer);
  impl_->thread = std::thread([impl = impl_.get()] { impl->serve(); });
}

ChatServer::~ChatServer() {
  impl_->over = true;
  // A connection of our own ends the accept that blocks.
  error_code ignored;
  tcp::socket socket(impl_->loop);
  socket.connect(impl_->acceptor.local_endpoint(), ignored);
  socket.close(ignored);
  impl_->thread.join();
}

std::string ChatServer::url() const {
  return "https://localhost:" + std::to_string(impl_->acceptor.local_endpoint().port()) + "/v1";
}

std::vector<SeenRequest> ChatServer::seen() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->seen;
}

} // namespace warpwright::trainer::testing
