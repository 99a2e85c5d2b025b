#include "server/program/program_trial.h"

#include "support/files.h"
#include "support/hash.h"

namespace warpwright::program {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 16 << 20; ///< of a file that is compared by its text, not by its sum

/// Programs, object files and libraries, which a run may build: they say nothing about results.
bool is_machine_code(const std::string &bytes) {
  return bytes.starts_with("\x7f"
                           "ELF") ||
         bytes.starts_with("!<arch>");
}

/// Replaces a file of a copy. A link in the copy becomes a file, since it may name a file of the user's.
Result<void> replace(const fs::path &place, const std::string &path, const std::string &text) {
  const fs::path file = place / path;
  std::error_code error;
  const fs::path folder = fs::canonical(file.parent_path(), error).lexically_relative(fs::canonical(place, error));
  if (error || folder.empty() || *folder.begin() == "..")
    return fail("cannot change " + path + ": it does not lie in the program's folder");
  if (fs::is_symlink(file, error))
    fs::remove(file, error);
  return write_atomically(file, text);
}

std::string ended_text(const ShellRun &run) {
  return run.timed_out ? "did not end in time" : "ended with the status " + std::to_string(run.status);
}

} // namespace

Result<void> ProgramTrial::build(const std::string &tree, const Sources &sources) {
  TRY(scratch_.start());
  for (const auto &[path, text] : sources)
    TRY(replace(scratch_.place(), path, text));
  if (!commands_.build.empty()) {
    touch_sources(scratch_.place());
    const fs::path output = scratch_.beside("build.out"), errors = scratch_.beside("build.err");
    const ShellRun run = TRY(run_shell(
        commands_.build,
        {.folder = scratch_.place(), .output = output, .errors = errors, .limit = limits_.build, .environment = {}}));
    if (run.status != 0 || run.timed_out)
      return fail("the build '" + commands_.build + "' " + ended_text(run) + ":\n" + tail_of(output, 1000) +
                      tail_of(errors),
                  "Name the command that builds the program with --build");
  }
  return scratch_.keep(tree);
}

Result<RunOutput> ProgramTrial::output_of(const std::string &tree, int status) const {
  RunOutput output{.status = status, .texts = {}};
  output.texts[kStdout] = TRY(read_file(scratch_.beside("run.out")));
  for (const std::string &path : scratch_.changed_since(tree)) {
    const fs::path file = scratch_.place() / path;
    std::string bytes = TRY(read_file(file));
    if (is_machine_code(bytes))
      continue;
    if (bytes.size() > kMostBytes)
      bytes = std::string("sum\0", 4) + sha256_hex(bytes);
    output.texts[path] = std::move(bytes);
  }
  return output;
}

Result<ProgramRun> ProgramTrial::run(const std::string &tree, const std::vector<std::string> &environment) {
  TRY(scratch_.restore(tree));
  ShellOptions options{.folder = scratch_.place(),
                       .output = scratch_.beside("run.out"),
                       .errors = scratch_.beside("run.err"),
                       .limit = limits_.run,
                       .environment = environment};
  const ShellRun ran = TRY(run_shell(commands_.run, options));
  ProgramRun run{.output = TRY(output_of(tree, ran.status)), .seconds = ran.seconds, .failure = {}};
  if (ran.timed_out)
    run.failure = "it did not end within " + std::to_string(limits_.run.count() / 1000) + " s";
  else if (ran.status != 0)
    run.failure = "it ended with the status " + std::to_string(ran.status) + ": " + tail_of(options.errors, 500);
  if (!run.failure.empty() || commands_.check.empty())
    return run;
  options.environment = {"WARPWRIGHT_STDOUT=" + options.output.string()};
  options.output = scratch_.beside("check.out");
  options.errors = scratch_.beside("check.err");
  const ShellRun checked = TRY(run_shell(commands_.check, options));
  if (checked.status != 0 || checked.timed_out)
    run.failure = "the check '" + commands_.check + "' " + ended_text(checked) + ": " + tail_of(options.output, 300) +
                  tail_of(options.errors, 300);
  return run;
}

} // namespace warpwright::program
