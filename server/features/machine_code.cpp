#include "server/features/machine_code.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

namespace warpwright::server::features {
namespace {

struct Instruction {
  std::string kernel;
  std::uint64_t address = 0;
  std::string text;
};

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::string trimmed(const std::string &text) {
  const std::size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// Instructions of a disassembly: `.text.scale:` begins a kernel, `/*0090*/  LDG.E R0, [R2] ;` is one of them.
std::vector<Instruction> instructions_of(const std::string &sass) {
  constexpr std::string_view kText = ".text.";
  std::vector<Instruction> instructions;
  std::string kernel;
  for (const std::string &raw : lines_of(sass)) {
    const std::string line = trimmed(raw);
    if (line.starts_with(kText) && line.ends_with(':'))
      kernel = line.substr(kText.size(), line.size() - kText.size() - 1);
    unsigned long long address = 0;
    int length = 0;
    if (kernel.empty() || std::sscanf(line.c_str(), "/*%llx*/%n", &address, &length) != 1 || length == 0)
      continue;
    const std::string text = trimmed(line.substr(static_cast<std::size_t>(length)));
    if (!text.empty() && !text.starts_with("/*"))
      instructions.push_back({kernel, address, trimmed(text.substr(0, text.find("/*")))});
  }
  return instructions;
}

std::string address_text(std::uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "%04llx", static_cast<unsigned long long>(address));
  return text;
}

/// The row that holds an instruction; null: none does.
const CodeRow *row_of(const std::vector<CodeRow> &rows, const Instruction &instruction) {
  const CodeRow *found = nullptr;
  for (const CodeRow &row : rows)
    if (row.kernel == instruction.kernel && row.address <= instruction.address)
      found = &row;
  return found;
}

} // namespace

MachineCode machine_code_from_json(const nlohmann::json &listing) {
  MachineCode code{listing.value("source", ""), listing.value("ptx", ""), listing.value("sass", ""),
                   "", listing.value("nvrtc", ""), {}};
  if (const auto missing = listing.find("sass_missing"); missing != listing.end())
    code.sass_missing = missing->value("message", "");
  for (const auto &kernel : listing.value("kernels", nlohmann::json::array()))
    for (const auto &row : kernel.at("rows"))
      code.rows.push_back({kernel.value("name", ""), row.at(0).get<std::uint64_t>(),
                           row.at(1).get<std::size_t>(), row.at(2).get<std::size_t>()});
  return code;
}

std::string interleaved(const MachineCode &code) {
  std::map<std::size_t, std::set<std::size_t>> ptx_lines; // by line of the source
  for (const CodeRow &row : code.rows)
    ptx_lines[row.source_line].insert(row.ptx_line);
  std::map<std::size_t, std::vector<std::string>> instructions;
  for (const Instruction &one : instructions_of(code.sass))
    if (const CodeRow *row = row_of(code.rows, one))
      instructions[row->source_line].push_back(address_text(one.address) + "  " + one.text);
  const std::vector<std::string> ptx = lines_of(code.ptx);
  std::ostringstream out;
  std::size_t number = 0;
  for (const std::string &line : lines_of(code.source)) {
    char prefix[24];
    std::snprintf(prefix, sizeof prefix, "%4zu | ", ++number);
    out << prefix << line << "\n";
    for (const std::size_t at : ptx_lines[number])
      if (at >= 1 && at <= ptx.size() && !trimmed(ptx[at - 1]).empty())
        out << "     |     ptx " << at << "  " << trimmed(ptx[at - 1]) << "\n";
    for (const std::string &instruction : instructions[number])
      out << "     |     sass " << instruction << "\n";
  }
  return out.str();
}

} // namespace warpwright::server::features
