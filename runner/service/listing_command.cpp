// `listing PLAN`, an internal subcommand: compiles a plan as the GPU's worker does, with line
// tables, and disassembles the machine code where NVIDIA's nvdisasm is installed. It runs nothing,
// so it needs no GPU.
//
// The source is shown without `#line` directives, so that its own lines are those of the tables.
// Line tables do not change the machine code.
#include "plan/program.h"
#include "runner/cuda/compiler.h"
#include "runner/deep/line_table.h"
#include "runner/deep/tools.h"
#include "runner/isolation/private_directory.h"
#include "runner/service/commands.h"
#include "runner/service/json_file.h"
#include "support/files.h"
#include "support/process.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>

namespace warpwright::runner {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kLimit{60};

Result<std::string> disassembly(const std::string &cubin, const std::filesystem::path &tool) {
  const auto folder = PrivateDirectory::make();
  if (!folder)
    return fail("cannot make a folder for the machine code", "Set TMPDIR to a writable folder");
  const std::filesystem::path file = folder->path() / "code.cubin";
  TRY(write_atomically(file, cubin));
  const auto run = TRY(run_captured({tool.string(), "-c", file.string()}, "", kLimit));
  if (run.status.code != 0 || run.status.signal != 0)
    return fail("nvdisasm failed: " + run.errors.substr(0, run.errors.find('\n')),
                "Install an nvdisasm that is as new as NVRTC");
  return run.output;
}

std::string without_line_directives(const std::string &source) {
  std::istringstream lines(source);
  std::string text;
  for (std::string line; std::getline(lines, line);)
    text += (line.starts_with("#line") ? "" : line) + "\n";
  return text;
}

/// Line of a row at or before an address; 0: there is none.
std::size_t line_at(const std::vector<deep::LineRow> &rows, const deep::LineRow &place) {
  std::size_t line = 0;
  for (const deep::LineRow &row : rows)
    if (row.kernel == place.kernel && row.address <= place.address)
      line = row.line;
  return line;
}

/// [{"name": ..., "rows": [[address, line of PTX, line of source], ...]}, ...]
json kernels_json(const deep::LineTables &tables) {
  std::map<std::string, json> rows;
  for (const deep::LineRow &row : tables.ptx) // the finer table
    rows[row.kernel].push_back({row.address, row.line, line_at(tables.source, row)});
  json kernels = json::array();
  for (auto &[name, list] : rows)
    kernels.push_back({{"name", name}, {"rows", std::move(list)}});
  return kernels;
}

void add_disassembly(const std::string &cubin, json &document) {
  const auto tool = deep::find(deep::Tool::Nvdisasm);
  const auto sass = tool ? disassembly(cubin, *tool) : Result<std::string>(std::unexpected(tool.error()));
  if (!sass) {
    document["sass_missing"] = {{"message", sass.error().message}, {"remedy", sass.error().remedy}};
    return;
  }
  document["sass"] = *sass;
  document["nvdisasm"] = tool->string() + deep::version_of(*tool);
}

Result<json> listing(const ListingCommand &command) {
  const auto plan = TRY(load_json_file(command.plan_path, model::plan_from_json));
  const auto compiler = TRY(cuda::Compiler::make({command.capability, nullptr}));
  const std::string source = without_line_directives(plan.source);
  std::vector<std::string> options = plan.options;
  options.push_back("-lineinfo");
  const auto compiled = compiler->compile({source, std::move(options), plan::kernels_of(plan)});
  if (!compiled)
    return fail("the plan does not compile: " + compiled.error().message);
  const auto tables = TRY(deep::read_line_tables(compiled->code.cubin));
  json document{{"source", source},
                {"ptx", tables.ptx_text},
                {"kernels", kernels_json(tables)},
                {"nvrtc", compiler->version()}};
  add_disassembly(compiled->code.cubin, document);
  return document;
}

} // namespace

int run_listing(const ListingCommand &command) {
  const Result<json> document = listing(command);
  const json shown = document ? *document
                              : json{{"error", {{"message", document.error().message},
                                                {"remedy", document.error().remedy}}}};
  std::cout << shown.dump(1, ' ', false, json::error_handler_t::replace) << std::endl;
  return document ? 0 : 2;
}

} // namespace warpwright::runner
