// Reader of compute-sanitizer's text. A finding is a line "========= HEADLINE" and the indented
// lines that follow it.
#include "runner/deep/sanitizer_report.h"

#include <map>
#include <regex>
#include <sstream>

namespace warpwright::runner::deep {
namespace {

constexpr std::string_view kPrefix = "=========";
/// Name of the plan's source in a launch if no #line directive names a file.
constexpr std::string_view kPlanSource = "kernel.cu";
constexpr std::size_t kLongestFunction = 100;

std::int64_t count(const std::string &digits) {
  std::string plain;
  for (const char c : digits)
    if (c != ',')
      plain += c;
  return std::strtoll(plain.c_str(), nullptr, 10);
}

std::string shortened(const std::string &function) {
  return function.size() <= kLongestFunction ? function
                                             : function.substr(0, kLongestFunction) + "...";
}

std::string place(const std::string &file, const std::string &line, const std::string &function) {
  if (file.empty())
    return shortened(function);
  return (file.ends_with(kPlanSource) ? "line " + line + " of the plan's source"
                                      : file + ":" + line) +
         " in " + shortened(function);
}

/// Parses a place, "saxpy(float *)+0x90 in saxpy.cu:12", or before release 12.0 "0x90 in
/// saxpy.cu:12:saxpy(float *)".
std::string read_place(const std::string &text) {
  static const std::regex now(R"(^(.+?)\+0x[0-9a-f]+(?: in (.+):(\d+))?$)"),
      before(R"(^0x[0-9a-f]+ in (?:(.+?):(\d+):)?(.+)$)");
  std::smatch match;
  if (std::regex_match(text, match, before))
    return place(match[1], match[2], match[3]);
  if (std::regex_match(text, match, now))
    return place(match[2], match[3], match[1]);
  return text;
}

class Reader {
public:
  SanitizerReport read(const std::string &output) {
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with('\r'))
        line.pop_back();
      if (line.starts_with("launch: "))
        read_launch(line.substr(8));
      else if (line.starts_with(kPrefix))
        read_tool(line.substr(kPrefix.size()));
    }
    return std::move(report_);
  }

private:
  void read_launch(const std::string &text) {
    std::istringstream words(text);
    std::string what, name, address, bytes;
    words >> what;
    if (what == "at")
      std::getline(words >> std::ws, sizes_);
    else if (what == "failed:")
      std::getline(words >> std::ws, report_.launch_failure);
    else if (what == "buffer" && words >> name >> address >> bytes)
      buffers_[address] = name + " (" + bytes + " bytes)";
  }

  void read_tool(const std::string &rest) {
    const std::size_t indent = std::min(rest.find_first_not_of(' '), rest.size());
    const std::string text = rest.substr(indent);
    if (text.empty() || read_summary(text)) {
      in_first_ = false;
      return;
    }
    if (indent > 1 ||
        text.starts_with("and ")) { // some releases do not indent the second access of a race
      if (in_first_)
        read_detail(text);
      return;
    }
    in_first_ = false;
    read_headline(text);
  }

  bool read_summary(const std::string &text) {
    static const std::regex errors(R"(^ERROR SUMMARY: ([\d,]+) errors?.*)"),
        races(
            R"(^RACECHECK SUMMARY: ([\d,]+) hazards? displayed \(([\d,]+) errors?, ([\d,]+) warnings?\).*)");
    std::smatch match;
    if (std::regex_match(text, match, races)) {
      report_.errors = count(match[2]);
      report_.warnings = count(match[3]);
    } else if (std::regex_match(text, match, errors)) {
      report_.errors = count(match[1]);
    } else {
      return text.find(" SUMMARY: ") != std::string::npos;
    }
    report_.complete = true;
    return true;
  }

  void read_headline(const std::string &text) {
    static const std::regex race(
        R"(^(Error|Warning|ERROR|WARNING|WARN): (Race reported between \w+ access) at(?: (.+))?$)");
    static const std::regex trouble(
        R"(^(Error: |Internal Sanitizer Error|Warning: |Unable to ).*)");
    std::smatch match;
    if (text == "COMPUTE-SANITIZER" || text.starts_with("Target application returned"))
      return;
    const bool is_race = std::regex_match(text, match, race);
    if (!is_race && std::regex_match(text, trouble)) {
      if (report_.trouble.empty())
        report_.trouble = text;
      return;
    }
    const bool is_error = !is_race || match[1].str()[0] == 'E';
    if (!report_.first.empty() && (first_is_error_ || !is_error))
      return;
    // "Program hit CUDA_ERROR_..." is a consequence of an earlier finding.
    if (!report_.first.empty() && text.starts_with("Program hit"))
      return;
    first_is_error_ = is_error;
    in_first_ = true;
    if (is_race)
      report_.first = match[2].str() + (match[3].matched ? " at " + read_place(match[3]) : " at");
    else
      report_.first = text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
    if (!sizes_.empty())
      report_.first = "at " + sizes_ + ": " + report_.first;
  }

  void read_detail(const std::string &text) {
    static const std::regex side(R"(^and (\w+) access at(?: (.+?))?( \[[\d,]+ hazards?\])?$)"),
        nearest(
            R"(^and is (.+?)(?:the nearest allocation at (0x[0-9a-f]+) of size ([\d,]+) bytes)$)");
    std::smatch match;
    if (text.starts_with("Saved host backtrace") || text.starts_with("Host Frame")) {
      in_first_ = false;
    } else if (std::regex_match(text, match, side)) {
      report_.first += " and " + match[1].str() + " access at" +
                       (match[2].matched ? " " + read_place(match[2]) : "") + match[3].str();
    } else if (std::regex_match(text, match, nearest)) {
      const auto known = buffers_.find(match[2]);
      report_.first +=
          ", " + match[1].str() +
          (known != buffers_.end() ? known->second
                                   : "the nearest allocation (" + match[3].str() + " bytes)");
    } else if (text.starts_with("at ")) {
      report_.first += " at " + read_place(text.substr(3));
    } else if (text.starts_with("by thread")) {
      report_.first += ", " + text;
    } else if (text.find("is out of bounds") != std::string::npos) {
      report_.first += ": out of bounds";
    } else if (text.find("is misaligned") != std::string::npos) {
      report_.first += ": a misaligned address";
    } else if (report_.first.ends_with(" at")) { // a race whose place has its own line
      report_.first += " " + read_place(text);
    }
  }

  SanitizerReport report_;
  std::map<std::string, std::string> buffers_; ///< by the allocation's address
  std::string sizes_;
  bool in_first_ = false, first_is_error_ = false;
};

} // namespace

SanitizerReport read_sanitizer_report(const std::string &output) { return Reader().read(output); }

} // namespace warpwright::runner::deep
