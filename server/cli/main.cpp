// Entry point of `warpwright`: parses the command line and calls one command.
//
// Exit codes: 0 done, 1 some kernel or file failed, 2 wrong arguments, 3 unknown (commands.h).
#include "generator/search/env.h"
#include "server/cli/commands.h"
#include "server/cli/files.h"
#include "server/interrupt.h"
#include "server/cli/sources.h"
#include "server/kernelbench/bench_options.h"
#include "server/lsp/lsp_main.h"
#include "server/policy_choice.h"
#include "support/build/build_description.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <map>

namespace {

using namespace warpwright;
using namespace warpwright::cli;

constexpr char kFooter[] = "Exit codes: 0 done, 1 some kernel or file failed, 2 wrong arguments.";

/// The command line quoted for a shell: "warpwright optimize 'a file.cu'".
std::string command_text(int argc, char **argv) {
  std::string text = "warpwright";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool plain =
        argument.find_first_of(" \t\n'\"\\$`*?;&|<>()") == std::string::npos && !argument.empty();
    text += plain ? " " + argument : " '" + argument + "'";
  }
  return text;
}

CLI::Validator duration_validator() {
  return CLI::Validator(
      [](std::string &text) {
        const auto duration = parse_duration(text);
        return duration ? std::string() : describe(duration.error());
      },
      "TIME");
}

/// Options of all commands. They must outlive the parser, which refers to them.
struct Options {
  OptimizeOptions optimize;
  AnalyzeOptions analyze;
  DoctorOptions doctor;
  CheckOptions check;
  CaptureOptions capture;
  TrustOptions trust;
  InstallRuntimeOptions install_runtime;
  McpOptions mcp;
  server::BenchCommand bench;
  std::string budget, apply, duration;
  server::LspOptions lsp;
  bool stdio = true;
  std::string lsp_ledger;
};

void add_optimize(CLI::App &app, Options &all) {
  OptimizeOptions &options = all.optimize;
  CLI::App *command = app.add_subcommand(
      "optimize", "Search for faster versions of kernels, verify and measure them");
  command
      ->add_option(
          "paths", options.paths,
          "CUDA sources, Python files with torch modules, or directories with them");
  command->add_option("--program", options.program,
                      "Make a whole CUDA program faster: the command that runs it, in its folder; paths are then "
                      "the sources to change, by default all in the folder");
  command->add_option("--build", options.build,
                      "Of --program: the command that builds it; default: make, where there is a makefile");
  command->add_option("--check", options.check,
                      "Of --program: a command that ends with 0 if the run before it was right; outputs are "
                      "compared, too. WARPWRIGHT_STDOUT names the file with the run's stdout");
  command->add_option("--patch", options.patch, "Of --program: write the unified diff here");
  command->add_option("--kernel,--class", options.kernel,
                      "Only the kernel, or the module class, of this name");
  command->add_option("--spec", options.spec,
                      "File that answers what cannot be inferred from the source");
  command->add_option(
      "--runner", options.runner,
      "Runner to use: ssh://HOST, slurm://PARTITION, docker://IMAGE, tls://HOST:PORT?ca=FILE, "
      "unix:/path or stdio:COMMAND; default: start one");
  command
      ->add_option("--budget", all.budget,
                   "Time for each kernel, as 2m or 500ms; default: the project's, else 30s. With --program "
                   "for all kernels, default 5m")
      ->check(duration_validator());
  command->add_flag(
      "--apply{measured}", all.apply,
      "Write the best variant back; =checked also takes what was only checked on a CPU");
  command->add_flag("--in-place", options.in_place,
                    "Of Python modules: decorate the class instead of adding one");
  command->add_flag("--standalone", options.standalone,
                    "Of Python modules: where it takes at most 100 lines, write the kernels into the "
                    "file, which else imports the package warpwright and has a plan file beside it");
  command
      ->add_option_function<std::string>(
          "--mode",
          [&options](const std::string &mode) { options.mode = model::module_mode_from_name(mode); },
          "Of Python modules: how they are called: eval, train, or made, as their constructor leaves "
          "them; default: what the comment above the class says, else eval")
      ->check(CLI::IsMember({"eval", "train", "made"}));
  command->add_option("--output", options.output,
                      "With --apply: write the file with the best variant here instead");
  command->add_flag("--json", options.json, "Print one JSON document");
  command->add_option("--html", options.html, "Write a report with plots to this file");
  command
      ->add_option("--device", options.device,
                   "Device of the runner: cuda:0, cpu; default: its best")
      ->check(CLI::Validator(
          [](std::string &text) {
            const bool known = text == "cpu" || text == "cuda" ||
                               (text.starts_with("cuda:") && text.size() > 5 && text.size() < 9 &&
                                text.find_first_not_of("0123456789", 5) == std::string::npos);
            return known ? std::string() : "'" + text + "' is no device; write cpu or cuda:0";
          },
          "DEVICE"));
  command->add_option("--max-variants", options.max_variants, "Variants to try for each kernel")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command
      ->add_option("--policy", options.policy,
                   "Who proposes variants of kernels: ranked, search, builtin, builtin:WEIGHTS or "
                   "endpoint:URL#MODEL; default: the project's, else ranked")
      ->check(CLI::Validator(
          [](std::string &text) {
            const auto choice = server::parse_policy(text);
            return choice ? std::string() : describe(choice.error());
          },
          "POLICY"));
  command->add_flag("!--no-learn", options.learn,
                    "Do not let this project's earlier verdicts change the order of variants");
  command->add_option("--ledger", options.ledger, "Database that keeps the verdicts");
  command->footer(kFooter);
}

bool has_argument(int argc, char **argv, std::string_view name) {
  return std::any_of(argv + 1, argv + argc, [&](std::string_view argument) {
    return argument == name ||
           (argument.starts_with(name) && argument.substr(name.size()).starts_with('='));
  });
}

void add_analyze(CLI::App &app, Options &all) {
  CLI::App *command =
      app.add_subcommand("analyze", "Show what is known of kernels without running anything");
  command
      ->add_option("paths", all.analyze.paths,
                   "CUDA sources, or directories with them")
      ->required();
  command->add_flag("--json", all.analyze.json, "Print one JSON document");
  command->add_option("--slices", all.analyze.slices,
                      "Directory for the self-contained source of each kernel");
  command->footer(kFooter);
}

void add_doctor(CLI::App &app, Options &all) {
  CLI::App *command = app.add_subcommand(
      "doctor", "Show what was found on this machine and what to do about the rest");
  command->add_flag("--json", all.doctor.json, "Print one JSON document");
  command->add_option("--runner", all.doctor.runners,
                      "Runner to ask; may be repeated; default: one that is started, and those of "
                      "runners.toml");
  command->add_option("--ledger", all.doctor.ledger, "Database to try");
}

/// "2%" or "2" as a share.
CLI::Validator percent_validator() {
  return CLI::Validator(
      [](std::string &text) {
        const std::string digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
        char *end = nullptr;
        const double value = std::strtod(digits.c_str(), &end);
        if (digits.empty() || *end != '\0' || !(value >= 0) || value > 1000)
          return "'" + text + "' is no percentage; write 2% or 0.5%";
        text = std::to_string(value / 100);
        return std::string();
      },
      "PERCENT");
}

void add_check(CLI::App &app, Options &all) {
  CheckOptions &options = all.check;
  CLI::App *command = app.add_subcommand(
      "check", "Compare the kernels and modules that changed since a revision with their older selves");
  command->add_option("--base", options.base,
                      "Revision to compare with, such as origin/main; its newest common commit with HEAD is used")
      ->required();
  command->add_option("paths", options.paths, "Files and folders to look at; default: the whole repository");
  command->add_option("--fail-slower", options.fail_slower, "Slowdown that fails, as 2%; default: 2%")
      ->transform(percent_validator());
  command->add_option("--fail-diagnostics", options.fail_diagnostics,
                      "New diagnostics of this severity or above fail: error, warning, information, hint")
      ->check(CLI::IsMember({"error", "warning", "information", "hint"}));
  command->add_flag("--results-may-change", options.results_may_change,
                    "Other results are no failure: such kernels are reported as unknown");
  command->add_flag("--allow-unknown", options.allow_unknown, "Exit with 0 where nothing is worse but not all is known");
  command->add_option("--runner", options.runner, "Runner to use, as for optimize");
  command->add_option("--device", options.device, "Device of the runner: cuda:0, cpu; default: its best");
  command->add_option("--ledger", options.ledger, "Database with the variants that were applied");
  command->add_option("--sarif", options.sarif, "Write a SARIF 2.1.0 file");
  command->add_option("--junit", options.junit, "Write a JUnit XML file");
  command->add_option("--markdown", options.markdown, "Write a table for a pull request's comment");
  command->footer("Exit codes: 0 fine, 1 something is worse, 2 wrong arguments, 3 not everything is known.");
}

void add_capture(CLI::App &app, Options &all) {
  CLI::App *command = app.add_subcommand(
      "capture", "Run a CUDA program and record its kernel launches: warpwright capture -- PROGRAM "
                 "ARGUMENTS");
  auto *out = command->add_option("--out", all.capture.out,
                                  "New folder for the record; default: one in the cache folder");
  auto *duration = command
                       ->add_option("--for", all.duration,
                                    "Record for this time from the first CUDA call on, as 60s; "
                                    "the program goes on afterwards")
                       ->check(duration_validator());
  auto *contents = command->add_flag("--contents", all.capture.contents,
                                     "Run the program a second time to see what its buffers hold: statistics are kept, "
                                     "no values");
  auto *list =
      command->add_flag("--list", all.capture.list, "Print the captures in the cache folder");
  auto *remove = command->add_option("--delete", all.capture.remove,
                                     "Delete the capture of this name in the cache folder");
  list->excludes(out)->excludes(duration)->excludes(contents)->excludes(remove);
  remove->excludes(out)->excludes(duration)->excludes(contents);
  command->footer("The exit code is that of the program; 127: it cannot be started.");
}

void add_trust(CLI::App &app, Options &all) {
  CLI::App *command = app.add_subcommand(
      "trust", "Approve what a project's .warpwright.toml asks for, and that its code is run");
  command->add_option("path", all.trust.path,
                      "Folder of the project, or a file in it; default: the working directory");
  auto *list = command->add_flag("--list", all.trust.list, "Print what was approved");
  auto *revoke = command->add_flag("--revoke", all.trust.revoke, "Forget what was approved here");
  auto *yes = command->add_flag("--yes", all.trust.yes, "Approve without a question");
  list->excludes(revoke)->excludes(yes);
  revoke->excludes(yes);
}

void add_install_runtime(CLI::App &app, Options &all) {
  CLI::App *command = app.add_subcommand(
      "install-runtime", "Install what applied variants of Python modules import, with pip");
  command->add_option("--python", all.install_runtime.python,
                      "The Python to install it for; default: $WARPWRIGHT_PYTHON, else python3");
}

CLI::App *add_lsp(CLI::App &app, Options &all) {
  CLI::App *command = app.add_subcommand(
      "lsp", "Serve an editor: the Language Server Protocol on stdin and stdout");
  command->add_flag("--stdio", all.stdio,
                    "Accepted for editors that pass it; there is no other transport");
  command->add_option("--runner", all.lsp.runner, "Runner to use; default: start one");
  command->add_option("--ledger", all.lsp_ledger, "Database that keeps the verdicts");
  return command;
}

void add_mcp(CLI::App &app, Options &all) {
  McpOptions &options = all.mcp;
  CLI::App *command = app.add_subcommand(
      "mcp", "Serve coding agents: the Model Context Protocol on stdin and stdout, or over HTTP");
  command->add_option("--root", options.root,
                      "Folder of the project; agents read no file outside; default: the working "
                      "directory");
  command->add_option("--runner", options.runner,
                      "Runner to use; default: the approved project's, else start one");
  command->add_option("--device", options.device, "Device of the runner; default: its best");
  command->add_option("--policy", options.policy, "Who proposes variants, as for optimize");
  command->add_option("--base", options.base,
                      "Revision of Git that verify compares with; default: the agent's, else HEAD");
  command->add_option("--ledger", options.ledger, "Database that keeps the verdicts");
  auto *http = command->add_option("--http", options.http,
                                   "Serve streamable HTTP here, as 127.0.0.1:8765, instead of "
                                   "stdin and stdout");
  command
      ->add_option("--token-file", options.token_file,
                   "With --http: the file of the bearer token, made where it is missing; default: "
                   "mcp-token in the state folder")
      ->needs(http);
}

int optimize(Options &all, std::string command) {
  const std::map<std::string, ApplyMode> modes{
      {"", ApplyMode::Never}, {"measured", ApplyMode::Measured}, {"checked", ApplyMode::Checked}};
  const auto mode = modes.find(all.apply);
  if (mode == modes.end()) {
    std::cerr << "warpwright: --apply=" << all.apply
              << " is not known. Write --apply or --apply=checked\n";
    return kUsage;
  }
  all.optimize.apply = mode->second;
  if (!all.budget.empty())
    all.optimize.budget = *parse_duration(all.budget);
  all.optimize.command = std::move(command);
  const OptimizeOptions &options = all.optimize;
  if (options.program.empty() && options.paths.empty()) {
    std::cerr << "warpwright: no path is named. Name sources, or a program with --program 'make run'\n";
    return kUsage;
  }
  if (options.program.empty() && !(options.build + options.check + options.patch).empty()) {
    std::cerr << "warpwright: --build, --check and --patch belong to --program\n";
    return kUsage;
  }
  return run_optimize(all.optimize);
}

/// The command of `capture`, which stands after the first "--" and is none of ours to parse. Cuts
/// it off the arguments.
std::vector<std::string> take_program(int &argc, char **argv) {
  if (argc < 2 || std::string_view(argv[1]) != "capture")
    return {};
  const auto mark = std::find(argv + 2, argv + argc, std::string_view("--"));
  if (mark == argv + argc)
    return {};
  std::vector<std::string> program(mark + 1, argv + argc);
  argc = static_cast<int>(mark - argv);
  return program;
}

int run(int argc, char **argv) {
  CLI::App app("Faster CUDA kernels, each verified and measured before it is offered",
               "warpwright");
  app.set_version_flag("--version", version_line("warpwright"));
  app.require_subcommand(1);
  app.footer(kFooter);
  Options options;
  options.capture.program = take_program(argc, argv);
  const bool kernelbench = has_argument(argc, argv, "--kernelbench");
  if (kernelbench) // `optimize` then runs a benchmark's tasks and writes result files
    server::add_bench_options(
        *app.add_subcommand(
            "optimize", "Optimize the tasks of a benchmark in KernelBench's form, and sum up what "
                        "was measured"),
        options.bench);
  else
    add_optimize(app, options);
  add_analyze(app, options);
  CLI::App *lsp = add_lsp(app, options);
  CLI::App *env = app.add_subcommand(
      "env", "Serve a trainer: tasks, moves and plans over JSON-RPC on stdin and stdout");
  add_doctor(app, options);
  add_check(app, options);
  add_capture(app, options);
  add_trust(app, options);
  add_install_runtime(app, options);
  add_mcp(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  if (lsp->parsed()) {
    options.lsp.ledger = options.lsp_ledger;
    return server::run_lsp(options.lsp);
  }
  if (env->parsed())
    return search::run_env([reader = std::make_shared<InputReader>()](const std::string &path) {
      return reader->settings_of(path).parse;
    });
  if (app.got_subcommand("analyze"))
    return run_analyze(options.analyze);
  if (app.got_subcommand("capture")) {
    if (!options.duration.empty())
      options.capture.duration = *parse_duration(options.duration);
    return run_capture(options.capture);
  }
  if (app.got_subcommand("trust"))
    return run_trust(options.trust);
  if (app.got_subcommand("install-runtime"))
    return run_install_runtime(options.install_runtime);
  if (app.got_subcommand("check"))
    return run_check(options.check);
  if (app.got_subcommand("mcp"))
    return run_mcp(options.mcp);
  if (app.got_subcommand("doctor"))
    return run_doctor(options.doctor);
  if (kernelbench) {
    options.bench.command = command_text(argc, argv);
    const server::Interrupt interrupt;
    return server::run_kernelbench(options.bench, interrupt.token());
  }
  return optimize(options, command_text(argc, argv));
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &error) {
    std::cerr << "warpwright: an error that should not happen: " << error.what()
              << ". Please report it\n";
    return kFailed;
  }
}
