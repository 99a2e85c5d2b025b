// Log of a process: lines with key-value fields on stderr, as text or as JSON with one object per
// line.
//
// The log is global, like stderr, so constructors need not pass it on. `main` configures it once.
// Other output on stderr (of a compiler, of a driver) stays as it is. Files and rotation are left
// to the service manager. Thread: any; a line is written by one call and never torn by another.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace warpwright::log {

enum class Level { Debug, Info, Warning, Error };
enum class Format { Text, Json };

/// Value of a field. An absent value has no field.
class Value {
public:
  Value(std::string text) : value_(std::move(text)) {}
  Value(std::string_view text) : value_(std::string(text)) {}
  Value(const char *text) : value_(std::string(text)) {}
  template <std::same_as<bool> Flag>
  Value(Flag flag) : value_(flag) {}
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  Value(Number number) : value_(static_cast<std::int64_t>(number)) {}
  Value(double number) : value_(number) {}
  const auto &get() const { return value_; }

private:
  std::variant<std::string, std::int64_t, double, bool> value_;
};
/// Names are snake_case and the same everywhere: job, client, device, host, outcome, seconds.
using Fields = std::vector<std::pair<std::string_view, Value>>;

/// Sets the format and the lowest level. Defaults: text, from Warning on.
void configure(Format format, Level level);
/// "debug", "info", "warning", "error". @return whether the name is known
bool level_from(std::string_view name, Level &level);
bool is_on(Level level);

/// @param message the event without its numbers: "job finished"
void write(Level level, std::string_view message, const Fields &fields = {});
inline void debug(std::string_view message, const Fields &fields = {}) {
  write(Level::Debug, message, fields);
}
inline void info(std::string_view message, const Fields &fields = {}) {
  write(Level::Info, message, fields);
}
inline void warning(std::string_view message, const Fields &fields = {}) {
  write(Level::Warning, message, fields);
}
inline void error(std::string_view message, const Fields &fields = {}) {
  write(Level::Error, message, fields);
}

/// The line that write() writes, without the newline.
std::string format_line(Format format, Level level, std::string_view time, std::string_view message,
                        const Fields &fields);

} // namespace warpwright::log
