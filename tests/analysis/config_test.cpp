// Flags, compile databases, .warpwright.toml and toolkit discovery, all on files held in memory.
// Thread: one.
#include "analysis/config/file_settings.h"
#include "analysis/config/flags.h"
#include "analysis/config/makefile.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>

namespace {

using namespace warpwright;
using namespace warpwright::config;

std::string joined(const std::vector<std::string> &words) {
  std::string result;
  for (const std::string &word : words)
    result += (result.empty() ? "" : " ") + word;
  return result;
}

std::string translated(const std::string &command,
                       const std::map<std::string, std::string> &files = {}) {
  return joined(translate_flags(split_command(command), "/project/build",
                                [&](const std::string &path) -> std::optional<std::string> {
                                  const auto file = files.find(path);
                                  return file == files.end() ? std::nullopt
                                                             : std::optional(file->second);
                                })
                    .flags);
}

llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem>
files_with(const std::map<std::string, std::string> &texts) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const auto &[path, text] : texts)
    files->addFile(path, 1, llvm::MemoryBuffer::getMemBufferCopy(text, path), {}, {}, {},
                   llvm::sys::fs::owner_read | llvm::sys::fs::owner_write);
  return files;
}

/// Of a user who has approved everything, or nothing.
Consent consent(bool approves) {
  return {[approves](const std::string &, const std::string &) { return approves; },
          [](const std::string &named) { return named; }};
}

FileSettings settings_of(const std::string &file, const std::map<std::string, std::string> &texts,
                         const std::map<std::string, std::string> &environment = {},
                         bool approves = true) {
  return SettingsReader(
             files_with(texts),
             [&](const char *name) {
               const auto value = environment.find(name);
               return value == environment.end() ? std::string() : value->second;
             },
             consent(approves))
      .read(file);
}

std::string config_error(const std::string &text) {
  const auto config = parse_project_config(text, "/p/.warpwright.toml");
  return config ? "accepted" : config.error().message;
}

const char *kDatabase = R"([
 {"directory": "/p/build", "file": "../src/a.cu", "command": "nvcc -DA -I../include -c ../src/a.cu -o a.o"},
 {"directory": "/p/build", "file": "/p/src/b.cpp", "arguments": ["g++", "-DB", "-c", "/p/src/b.cpp"]},
 {"directory": "/p/build", "file": "/p/other/c.cu", "command": "nvcc -DC -c /p/other/c.cu"}
])";

} // namespace

TEST_CASE("nvcc's code generation and linking flags are dropped with their values") {
  CHECK(translated("nvcc -gencode arch=compute_90,code=sm_90 -gencode=arch=compute_80,code=sm_80 "
                   "-arch=sm_90 -arch sm_80 "
                   "-code sm_80 -rdc=true -rdc true -dc -ccbin g++-12 --expt-relaxed-constexpr "
                   "--extended-lambda "
                   "-Xptxas -v,-O3 -Xlinker -rpath,/x -Xcudafe --display_error_number -lineinfo "
                   "-use_fast_math -O3 -G -g "
                   "-maxrregcount=64 -t 4 -MD -MT a.o -MF a.d -x cu -c /p/a.cu -o a.o") ==
        "-x cuda");
}

TEST_CASE("definitions, include paths and the standard are kept, with absolute paths") {
  CHECK(translated("/usr/local/cuda/bin/nvcc -DN=3 -D M=4 --define-macro=K -UX -I../include -I "
                   "/abs -isystem=sys "
                   "-isystem /s -include pre.h --std c++17 -std=c++20 a.cu") ==
        "-DN=3 -DM=4 -DK -UX -I /project/include -I /abs -isystem /project/build/sys -isystem /s "
        "-include /project/build/pre.h -std=c++17 -std=c++20");
}

TEST_CASE("host compiler flags inside -Xcompiler are kept when they matter and dropped when not") {
  CHECK(
      translated("nvcc -Xcompiler -fPIC,-DHOST -Xcompiler=-fopenmp --compiler-options='-Wall,-I/h' "
                 "-Xcompiler \"-O2 -DTWO\" a.cu") == "-DHOST -fopenmp -I /h -DTWO");
}

TEST_CASE("response files are read, once each, and missing ones are passed over") {
  CHECK(translated("nvcc --options-file flags.rsp @more.rsp @absent.rsp -DLAST",
                   {{"/project/build/flags.rsp", "-DONE -I\"with space\""},
                    {"/project/build/more.rsp", "-DTWO @more.rsp"}}) ==
        "-DONE -I /project/build/with space -DTWO -DLAST");
}

TEST_CASE("unknown flags, launchers and flags without their value are never fatal") {
  CHECK(translated("ccache nvcc --no-such-flag -fno-such-thing -mno-such -DX") == "-DX");
  CHECK(translated("nvcc -I") == "");
  CHECK(translated("nvcc -gencode -DX") == "-DX");
  CHECK(translated("nvcc -Werror all-warnings -O 3 -DX") == "-DX");
  CHECK(translated("") == "");
}

TEST_CASE("the toolkit is known from the compiler's path") {
  CHECK(translate_flags({"/opt/cuda-12/bin/nvcc"}, "/", {}).cuda_path == "/opt/cuda-12");
  CHECK(translate_flags({"clang++", "--cuda-path=/c"}, "/", {}).cuda_path == "/c");
  CHECK(translate_flags({"g++"}, "/", {}).cuda_path == "");
}

TEST_CASE("a file takes its own command, a header that of its namesake, a stranger that of the "
          "nearest of its kind") {
  const auto commands = parse_compile_database(kDatabase, "/p/build/compile_commands.json");
  REQUIRE(commands.has_value());
  CHECK(command_for(*commands, "/p/src/a.cu")->arguments[1] == "-DA");
  CHECK(command_for(*commands, "/p/include/b.h")->file == "/p/src/b.cpp");
  CHECK(command_for(*commands, "/p/src/new.cu")->file == "/p/src/a.cu");
  CHECK(command_for(*commands, "/p/other/deep/new.cuh")->file == "/p/other/c.cu");
  CHECK(command_for({}, "/p/src/a.cu") == nullptr);
}

TEST_CASE(
    "a broken compile database says which entry and what to do, and the file is still parsed") {
  const FileSettings settings =
      settings_of("/p/src/a.cu", {{"/p/compile_commands.json", R"([{"file": "a.cu"}])"}});
  REQUIRE(settings.problems.size() == 1);
  CHECK(describe(settings.problems[0]).contains("entry 0 of /p/compile_commands.json"));
  CHECK(settings.parse.flags.empty());
  CHECK(settings_of("/p/a.cu", {{"/p/compile_commands.json", "{"}}).problems.size() == 1);
}

TEST_CASE("the database is found upward and in build folders, and joined with .warpwright.toml") {
  const FileSettings settings = settings_of(
      "/p/src/a.cu",
      {{"/p/build/compile_commands.json", kDatabase},
       {"/p/.warpwright.toml", "flags = ['-DEXTRA']\nremove_flags = ['-DA']\nbudget = '500ms'\n"
                               "runner = 'unix:/run/w'\npython = 'venv/bin/python'\ndisable_rules "
                               "= ['x']\n[sizes]\nn = 4096\n"}});
  CHECK(settings.problems.empty());
  CHECK(settings.compile_commands == "/p/build/compile_commands.json");
  CHECK(joined(settings.parse.flags) == "-I /p/include -DEXTRA");
  CHECK(settings.parse.directory == "/p/build");
  CHECK(settings.project.budget_ms == 500);
  CHECK(settings.project.runner_url == "unix:/run/w");
  CHECK(settings.project.python == "/p/venv/bin/python");
  CHECK(settings.project.disabled_rules == std::vector<std::string>{"x"});
  CHECK(settings.project.sizes.at("n") == 4096);
}

TEST_CASE(
    "until the user approves it, a project's file chooses no program, host or folder outside") {
  const std::string text =
      "runner = 'tls://gpu.lab:4433'\npython = 'venv/bin/python'\n"
      "policy = 'builtin:w.bin'\ncuda_path = '/opt/x'\n"
      "compile_commands = '/elsewhere'\nbudget = '500ms'\n"
      "flags = ['-DN=3', '-Iinc', '-I/outside', '-isystem../up', '-std=c++20']\n"
      "disable_rules = ['x']\n[sizes]\nn = 4096\n";
  const FileSettings settings = settings_of("/p/a.cu", {{"/p/.warpwright.toml", text}}, {}, false);
  const ProjectConfig &project = settings.project;
  CHECK(joined(settings.parse.flags) == "-DN=3 -I /p/inc -std=c++20");
  CHECK(project.runner_url + project.python + project.policy + project.cuda_path +
            project.compile_commands ==
        "");
  CHECK(project.budget_ms == 500);
  CHECK(project.sizes.at("n") == 4096);
  CHECK(project.disabled_rules == std::vector<std::string>{"x"});
  CHECK(project.file.is_withheld());
  const auto notice = warpwright::consent::withheld_notice(project.file);
  REQUIRE(notice.has_value());
  CHECK(describe(*notice).contains("/p/.warpwright.toml is not approved"));
  for (const char *key : {"runner", "python", "policy", "cuda_path", "compile_commands", "flags"})
    CHECK_MESSAGE(notice->message.contains(key), key);
  CHECK(notice->remedy.contains("warpwright trust /p/.warpwright.toml"));

  const FileSettings approved = settings_of("/p/a.cu", {{"/p/.warpwright.toml", text}});
  CHECK(joined(approved.parse.flags) == "-DN=3 -I /p/inc -I /outside -isystem /up -std=c++20");
  CHECK(approved.project.runner_url == "tls://gpu.lab:4433");
  CHECK(approved.project.python == "/p/venv/bin/python");
  CHECK_FALSE(warpwright::consent::withheld_notice(approved.project.file).has_value());
}

TEST_CASE("a project's file that asks for nothing needs no approval") {
  const auto text = "flags = ['-DN=3', '-Iinc']\nbudget = '1s'\n[sizes]\nn = 3\n";
  const FileSettings settings = settings_of("/p/a.cu", {{"/p/.warpwright.toml", text}}, {}, false);
  CHECK_FALSE(settings.project.file.is_withheld());
  CHECK(settings.problems.empty());
}

TEST_CASE("flags that load, write or read other files are left out, approved or not, and named") {
  const std::vector<std::pair<std::string, std::string>> harmful{
      {"'-fplugin=/p/evil.so'", "-fplugin=/p/evil.so"},
      {"'-Xclang', '-load', '-Xclang', '/p/evil.so'", "-Xclang -load"},
      {"'-fpass-plugin=/p/evil.so'", "-fpass-plugin"},
      {"'-mllvm', '-load=/p/evil.so'", "-mllvm"},
      {"'-o', '/home/u/.bashrc'", "-o /home/u/.bashrc"},
      {"'-MD', '-MF', '/home/u/.bashrc'", "-MF /home/u/.bashrc"},
      {"'@/etc/passwd'", "@/etc/passwd"},
      {"'--options-file', '/etc/passwd'", "--options-file /etc/passwd"},
      {"'-x', 'ast'", "-x ast"},
      {"'-include-pch', '/p/evil.pch'", "-include-pch"},
      {"'-fmodule-file=/p/evil.pcm'", "-fmodule-file"},
      {"'--config=/p/evil.cfg'", "--config=/p/evil.cfg"},
      {"'-serialize-diagnostics', '/home/u/x'", "-serialize-diagnostics"},
      {"'-working-directory', '/'", "-working-directory"}};
  for (const auto &[flags, named] : harmful) {
    CAPTURE(flags);
    const FileSettings settings =
        settings_of("/p/a.cu", {{"/p/.warpwright.toml", "flags = [" + flags + ", '-DLAST']"},
                                {"/etc/passwd", "-DREAD"}});
    CHECK(joined(settings.parse.flags) == "-DLAST");
    CHECK(std::ranges::any_of(
        settings.problems, [&](const Error &problem) { return problem.message.contains(named); }));
    std::string command = "clang++";
    for (char c : flags)
      command += c == ',' ? ' ' : c;
    const std::string translated_command = translated("clang++ " + command + " -DLAST");
    CHECK(translated_command == "-DLAST");
  }
}

TEST_CASE("a project's runner carries no credentials and no options, approved or not") {
  for (const char *url :
       {"tls://h:1?token-file=/proc/self/environ", "tls://TOKEN@h:1", "tls://h:1?ca=/x",
        "tls://h:1?cert=/x&key=/y", "tls://h:1?server-name=x", "amqps://u:p@h/v",
        "amqps://h/v?password_file=/etc/shadow", "amqp://u:p@h", "local:/p/evil", "stdio:sh",
        "unix:relative", "tls://%61@h:1", "tls://h:1/x", "tls://", "http://h:1", "ssh://me@h", "ssh://h?runner=/p/evil",
        "ssh://h/x", "ssh://", "slurm://gpu", "docker://img", "kubectl://pod"}) {
    CAPTURE(url);
    const std::string error = config_error("runner = '" + std::string(url) + "'");
    CHECK(error.contains("\"runner\" must be the URL of a runner"));
    CHECK(error.contains("without credentials"));
    CHECK_FALSE(error.contains("environ"));
  }
  for (const char *url : {"unix:/run/w", "tls://gpu.lab:4433", "tls://[::1]:4433",
                          "amqps://broker.lab:5671/fleet", "amqps://broker", "ssh://gpu-box", "ssh://gpu-box:2222"})
    CHECK(config_error("runner = '" + std::string(url) + "'") == "accepted");
}

TEST_CASE("the arguments of a run are those of the makefile's target run, with its variables") {
  const auto run = [](const std::string &makefile) {
    return joined(Makefile(makefile).run_arguments());
  };
  CHECK(run("program = main\nrun: $(program)\n\t$(LAUNCHER) ./$(program) 10000 200 100\n") ==
        "10000 200 100");
  CHECK(run("N := 64\nARGS = $(N) data/${N}.txt # small\nrun:\n\t@echo running\n\t./main $(ARGS) > "
            "out.txt 2>&1\n") == "64 data/64.txt");
  CHECK(run("run: main\n\tOMP_NUM_THREADS=4 mpirun -np 2 ./main -n 5 \\\n\t  --seed 3; echo "
            "done\n") == "-n 5 --seed 3");
  CHECK(run("run: main\n\t./main 7 $$HOME 9\n") == "7");
  CHECK(run("all: main\n\t./main 7\nclean:\n\trm -f main\n") == "");
  CHECK(run("X = $(X) 1\nrun:\n\t./main $(X) 2\n") != ""); // ends
  CHECK(run("N = 1\nN = 2\nrun:\n\t./main $(N)\n") == "2");
}

TEST_CASE("the flags of a file are those of the makefile's command that compiles it") {
  const auto compile = [](const std::string &makefile, const char *file = "main.cu") {
    return joined(Makefile(makefile).compile_command(file));
  };
  const std::string usual = "CC := nvcc\nOPTIMIZE = yes\nDEBUG = no\nCFLAGS := $(EXTRA) -std=c++17 \\\n  -DTILE=8\n"
                            "ifeq ($(DEBUG),yes)\n  CFLAGS += -g -DDEBUG\nendif\n"
                            "ifeq ($(OPTIMIZE),yes)\n  CFLAGS += -O3 -use_fast_math # fast\nelse\n  CFLAGS += -O0\nendif\n"
                            "main: main.o\n\t$(CC) $(CFLAGS) main.o -o $@\n%.o: %.cu Makefile\n\t$(CC) $(CFLAGS) -c $< -o $@\n";
  CHECK(compile(usual) == "nvcc -std=c++17 -DTILE=8 -O3 -use_fast_math -c -o");
  CHECK(compile("all:\n\tg++ -DHOST -c tool.cpp\n\t@nvcc -DKERNEL a/main.cu -o main\n") == "nvcc -DKERNEL a/main.cu -o main");
  CHECK(compile("x.o: x.cu\n\tnvcc -DX -c x.cu\nmain.o: main.cu\n\tnvcc -DMAIN -c $<\n") == "nvcc -DMAIN -c");
  CHECK(compile("ifndef NVCC\nNVCC = /opt/cuda/bin/nvcc\nendif\n.cu.o:\n\t-$(NVCC) -DN=$$HOME -DM=2 -c $<\n") ==
        "/opt/cuda/bin/nvcc");
  CHECK(compile("ifeq \"a\" 'b'\nF=1\nelse ifneq (,$(shell pwd))\nF=2\nelse\nF=3\nendif\nm: main.cu\n\tnvcc -DF=$(F) -c $<\n") ==
        "nvcc -DF=3 -c");
  CHECK(compile("clean:\n\trm -f *.o\nrun:\n\t./main\n") == "");
  CHECK(compile("A = $(B)$(B)$(B)\nB = $(A)$(A)\nm: main.cu\n\tnvcc $(A)\n") == "nvcc"); // ends

  const FileSettings settings = settings_of("/p/src/main.cu", {{"/p/Makefile", usual + "override CFLAGS += -I../inc\n"},
                                                               {"/p/src/main.cu", ""}});
  CHECK(joined(settings.parse.flags) == "-std=c++17 -DTILE=8 -I /inc");
  CHECK(joined(settings.parse.code_generation) == "--use_fast_math");
  CHECK(settings.command_of == "/p/Makefile");
}

TEST_CASE("flags that change the machine code of kernels are kept for NVRTC") {
  const auto generated = [](const char *command) {
    return joined(translate_flags(split_command(command), "/p", {}).code_generation);
  };
  CHECK(generated("nvcc -use_fast_math -fmad=false -maxrregcount 64 -prec-div 0 --ftz=true a.cu") ==
        "--use_fast_math --fmad=false --maxrregcount=64 --prec-div=false --ftz=true");
  CHECK(generated("nvcc -fmad=true -fmad=false") == "--fmad=false");
  CHECK(generated("nvcc -maxrregcount=many -O3 -Xcompiler -ffast-math") == "");
  const FileSettings settings =
      settings_of("/p/a.cu", {{"/p/.warpwright.toml", "flags = ['--use_fast_math']\n"}, {"/p/a.cu", ""}});
  CHECK(settings.problems.empty());
  CHECK(joined(settings.parse.code_generation) == "--use_fast_math");
}

TEST_CASE("run of .warpwright.toml comes before the makefile, and both before nothing") {
  const std::map<std::string, std::string> makefile{{"/p/Makefile", "run:\n\t./main 100\n"},
                                                    {"/p/main.cu", ""}};
  CHECK(joined(settings_of("/p/main.cu", makefile).parse.run.arguments) == "100");
  CHECK(settings_of("/p/main.cu", makefile).parse.run.source == "the target run of Makefile");
  auto both = makefile;
  both["/p/.warpwright.toml"] = "run = \"./main 5 6\"\n";
  CHECK(joined(settings_of("/p/main.cu", both, {}, false).parse.run.arguments) == "5 6");
  CHECK(settings_of("/p/main.cu", {{"/p/main.cu", ""}}).parse.run.arguments.empty());
}

TEST_CASE("errors of .warpwright.toml name file, line and key") {
  CHECK(config_error("flags = []\nflgas = []") == "/p/.warpwright.toml:2: unknown key \"flgas\"");
  CHECK(config_error("\n\nbudget = '30'")
            .starts_with("/p/.warpwright.toml:3: \"budget\" must be a time"));
  CHECK(config_error("[sizes]\nn = 0").contains("\"sizes\" must be"));
  CHECK(config_error("flags = '-DX'").contains("\"flags\" must be a list"));
  CHECK(
      config_error("runner = 'stdio:rm -rf x'").contains("\"runner\" must be the URL of a runner"));
  CHECK(config_error("flags = [").starts_with("/p/.warpwright.toml:1: "));
  CHECK(config_error("") == "accepted");
}

TEST_CASE("the toolkit is looked for where it was asked for, then in the environment, then in the "
          "usual places") {
  const std::string runtime = "/include/cuda_runtime.h", api = "/include/cuda_runtime_api.h";
  const std::map<std::string, std::string> files{
      {"/env/cuda" + runtime, ""},
      {"/usr/local/cuda" + runtime, ""},
      {"/usr/local/cuda" + api, "#define CUDART_VERSION  12080\n"},
      {"/nv/bin/nvcc", ""},
      {"/nv" + runtime, ""}};
  CHECK(settings_of("/p/a.cu", files, {{"CUDA_HOME", "/env/cuda"}}).toolkit->path == "/env/cuda");
  CHECK(settings_of("/p/a.cu", files, {{"CUDA_HOME", "/absent"}, {"PATH", "/bin:/nv/bin"}})
            .toolkit->path == "/nv");
  const auto usual = settings_of("/p/a.cu", files).toolkit;
  REQUIRE(usual.has_value());
  CHECK(usual->path == "/usr/local/cuda");
  CHECK(usual->version == "12.8");
  CHECK(!settings_of("/p/a.cu", {}).toolkit.has_value());
  auto wrong = files;
  wrong["/p/.warpwright.toml"] = "cuda_path = 'nothing/here'";
  const FileSettings settings = settings_of("/p/a.cu", wrong);
  REQUIRE(settings.problems.size() == 1);
  CHECK(settings.problems[0].message.contains("/p/nothing/here"));
  CHECK(settings.parse.cuda_path == "/usr/local/cuda");
}
