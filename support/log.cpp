// Implementation of log lines.
// Text: `2026-01-31T12:00:00.123Z warning worker lost device=cuda:0 reason="signal 9"`.
// JSON: {"time","level","message", fields...}. Fields must not use one of these three names.
#include "support/log.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace warpwright::log {
namespace {

std::atomic<Format> chosen_format{Format::Text};
std::atomic<Level> lowest_level{Level::Warning};

constexpr std::string_view kNames[] = {"debug", "info", "warning", "error"};

nlohmann::json json_of(const Value &value) {
  return std::visit([](const auto &held) { return nlohmann::json(held); }, value.get());
}

std::string dump(const nlohmann::json &document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A value as text, quoted if its end would be unclear.
std::string text_of(const Value &value) {
  const auto *text = std::get_if<std::string>(&value.get());
  const bool plain =
      text && !text->empty() && text->find_first_of(" \"=\\\n\r\t") == std::string::npos;
  return plain ? *text : dump(json_of(value));
}

std::string now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  const std::time_t seconds = ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32], whole[40];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(whole, sizeof whole, "%s.%03dZ", text, static_cast<int>(ms % 1000));
  return whole;
}

} // namespace

void configure(Format format, Level level) {
  chosen_format = format;
  lowest_level = level;
}

bool level_from(std::string_view name, Level &level) {
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) {
      level = static_cast<Level>(i);
      return true;
    }
  return false;
}

bool is_on(Level level) { return level >= lowest_level.load(); }

std::string format_line(Format format, Level level, std::string_view time, std::string_view message,
                        const Fields &fields) {
  const std::string_view level_name = kNames[static_cast<std::size_t>(level)];
  if (format == Format::Json) {
    nlohmann::ordered_json line = {{"time", time}, {"level", level_name}, {"message", message}};
    for (const auto &[key, value] : fields)
      line[std::string(key)] = json_of(value);
    return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  std::string line = std::string(time) + " " + std::string(level_name) + " ";
  for (const char c : message) // one event is one line
    line += c == '\n' || c == '\r' ? ' ' : c;
  for (const auto &[key, value] : fields)
    line += " " + std::string(key) + "=" + text_of(value);
  return line;
}

void write(Level level, std::string_view message, const Fields &fields) {
  if (!is_on(level))
    return;
  const std::string line = format_line(chosen_format, level, now(), message, fields) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t count = ::write(2, rest.data(), rest.size());
    if (count < 0 && errno != EINTR)
      return; // stderr has no reader
    rest.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
}

} // namespace warpwright::log
