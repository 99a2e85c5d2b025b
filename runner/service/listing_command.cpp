// `listing PLAN`, an internal subcommand: compiles a plan as the GPU's worker does, and disassembles the
// machine code with NVIDIA's nvdisasm. It runs nothing, so it needs no GPU.
#include "plan/program.h"
#include "runner/cuda/compiler.h"
#include "runner/deep/tools.h"
#include "runner/isolation/private_directory.h"
#include "runner/service/commands.h"
#include "runner/service/json_file.h"
#include "support/files.h"
#include "support/process.h"

#include <iostream>

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

Result<json> listing(const ListingCommand &command) {
  const auto plan = TRY(load_json_file(command.plan_path, model::plan_from_json));
  const auto tool = TRY(deep::find(deep::Tool::Nvdisasm));
  const auto compiler = TRY(cuda::Compiler::make({command.capability, nullptr}));
  const auto compiled =
      compiler->compile({plan.source, plan.options, plan::kernels_of(plan)});
  if (!compiled)
    return fail("the plan does not compile: " + compiled.error().message);
  const std::string sass = TRY(disassembly(compiled->code.cubin, tool));
  return json{{"sass", sass},
              {"nvrtc", compiler->version()},
              {"nvdisasm", tool.string() + deep::version_of(tool)}};
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
