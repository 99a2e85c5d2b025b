// Copies of folders, and real commands in them: make, a compiler, and a program.
#include "server/program/program_trial.h"

#include "support/files.h"

#include <doctest/doctest.h>
#include <fstream>
#include <stdlib.h>

using namespace warpwright;
using namespace warpwright::program;

namespace {

namespace fs = std::filesystem;

struct Project {
  fs::path root;
  Project() {
    std::string name = (fs::temp_directory_path() / "warpwright-trial-XXXXXX").string();
    root = ::mkdtemp(name.data());
    fs::create_directories(root / "above/program/.git");
    write("above/data.txt", "seven\n");
  }
  ~Project() { fs::remove_all(root); }
  fs::path folder() const { return root / "above/program"; }
  void write(const std::string &path, const std::string &text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  ScratchFolder scratch() const {
    auto made = ScratchFolder::make(folder());
    REQUIRE_MESSAGE(made, (made ? "" : describe(made.error())));
    return *std::move(made);
  }
  std::string text(const std::string &path) const { return read_file(root / path).value_or("none"); }
};

void done(const Result<void> &result) { REQUIRE_MESSAGE(result, (result ? "" : describe(result.error()))); }

ProgramRun ran(ProgramTrial &trial, const std::string &tree) {
  auto run = trial.run(tree);
  REQUIRE_MESSAGE(run, (run ? "" : describe(run.error())));
  return *std::move(run);
}

/// A program in C whose number stands in a header that its makefile does not name.
constexpr char kMakefile[] = "main: main.c\n\tcc -o main main.c\n";
constexpr char kMain[] =
    "#include <stdio.h>\n#include \"number.h\"\n"
    "int main(void) { printf(\"number %d\\n\", NUMBER); fclose(fopen(\"made.txt\", \"w\")); return 0; }\n";

} // namespace

TEST_CASE("a program is built and run in copies, with edits, and the user's folder stays as it is") {
  const Project project;
  project.write("above/program/Makefile", kMakefile);
  project.write("above/program/main.c", kMain);
  project.write("above/program/number.h", "#define NUMBER 1\n");
  ProgramTrial trial(project.scratch(), {.run = "./main", .build = "make", .check = {}});
  done(trial.build(kOriginal));
  done(trial.build(kChanged, {{"number.h", "#define NUMBER 2\n"}}));
  const ProgramRun original = ran(trial, kOriginal), changed = ran(trial, kChanged);
  CHECK(original.failure == "");
  CHECK(original.output.texts == std::map<std::string, std::string>{{kStdout, "number 1\n"}, {"made.txt", ""}});
  CHECK(changed.output.texts.at(kStdout) == "number 2\n");
  CHECK(original.seconds > 0);
  CHECK(ran(trial, kOriginal).output.texts == original.output.texts); // each run in a fresh copy
  CHECK(project.text("above/program/number.h") == "#define NUMBER 1\n");
  CHECK_FALSE(fs::exists(project.folder() / "main"));
  CHECK_FALSE(fs::exists(project.folder() / "made.txt"));
}

TEST_CASE("a build that fails gives the end of its output, and the trees before it stay") {
  const Project project;
  project.write("above/program/main.c", kMain);
  project.write("above/program/number.h", "#define NUMBER 1\n");
  ProgramTrial trial(project.scratch(), {.run = "./main", .build = "cc -o main main.c", .check = {}});
  done(trial.build(kOriginal));
  const auto failed = trial.build(kChanged, {{"number.h", "#error no number\n"}});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.find("the build 'cc -o main main.c' ended with the status 1") != std::string::npos);
  CHECK(failed.error().message.find("no number") != std::string::npos);
  CHECK(ran(trial, kOriginal).output.texts.at(kStdout) == "number 1\n");
}

TEST_CASE("what lies beside the folder is found by relative paths, and is not copied") {
  const Project project;
  fs::remove(project.folder() / ".git");
  fs::create_directories(project.root / "above/.git");
  project.write("above/other/library.h", "in the library\n");
  ScratchFolder scratch = project.scratch();
  CHECK(scratch.place().filename() == "program");
  ProgramTrial trial(std::move(scratch),
                     {.run = "cat ../data.txt ../other/library.h; echo x >new", .build = {}, .check = {}});
  done(trial.build(kOriginal));
  CHECK(ran(trial, kOriginal).output.texts.at(kStdout) == "seven\nin the library\n");
}

TEST_CASE("a link to a file outside of the folder is replaced in the copy, and its file is not written") {
  const Project project;
  fs::create_symlink("../data.txt", project.folder() / "linked.cu");
  ProgramTrial trial(project.scratch(), {.run = "cat linked.cu", .build = {}, .check = {}});
  done(trial.build(kChanged, {{"linked.cu", "changed\n"}}));
  CHECK(ran(trial, kChanged).output.texts.at(kStdout) == "changed\n");
  CHECK(project.text("above/data.txt") == "seven\n");
  fs::create_directory_symlink("..", project.folder() / "up");
  ProgramTrial again(project.scratch(), {.run = "true", .build = {}, .check = {}});
  const auto refused = again.build(kChanged, {{"up/data.txt", "changed\n"}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("does not lie in the program's folder") != std::string::npos);
  CHECK(project.text("above/data.txt") == "seven\n");
}

TEST_CASE("build folders of CMake and .git are left out of copies") {
  const Project project;
  project.write("above/program/build/CMakeCache.txt", "");
  project.write("above/program/build/main", "");
  project.write("above/program/sources/main.c", "");
  ProgramTrial trial(project.scratch(), {.run = "find . -type f; ls -a", .build = {}, .check = {}});
  done(trial.build(kOriginal));
  CHECK(ran(trial, kOriginal).output.texts.at(kStdout) == "./sources/main.c\n.\n..\nsources\n");
}

TEST_CASE("failed runs, failed checks and runs over their limit say so") {
  const Project project;
  ProgramTrial failing(project.scratch(), {.run = "echo out; echo reason >&2; exit 3", .build = {}, .check = "true"});
  done(failing.build(kOriginal));
  const ProgramRun failed = ran(failing, kOriginal);
  CHECK(failed.failure == "it ended with the status 3: reason\n");
  CHECK(failed.output.status == 3);

  ProgramTrial checked(project.scratch(),
                       {.run = "echo 4 >result", .build = {}, .check = "grep -q 5 result || { echo no 5; false; }"});
  done(checked.build(kOriginal));
  CHECK(ran(checked, kOriginal).failure.find("ended with the status 1: no 5") != std::string::npos);
  ProgramTrial right(project.scratch(), {.run = "echo 5", .build = {}, .check = "grep -q 5 \"$WARPWRIGHT_STDOUT\""});
  done(right.build(kOriginal));
  CHECK(ran(right, kOriginal).failure == "");

  // The sleeping grandchild is ended, too: it would hold the file open.
  ProgramTrial endless(project.scratch(),
                       {.run = "(while :; do sleep 0.01; date >>/dev/null; done) & wait", .build = {}, .check = {}});
  done(endless.build(kOriginal));
  endless.limit_runs(std::chrono::milliseconds(50));
  CHECK(ran(endless, kOriginal).failure.starts_with("it did not end within"));
}

TEST_CASE("programs and object files that a run builds are no output, and large files are compared by their sums") {
  const Project project;
  project.write("above/program/main.c", "int main(void) { return 0; }\n");
  ProgramTrial trial(
      project.scratch(),
      {.run = "cc -c main.c && cc -o main main.o && head -c 20000000 /dev/zero >zeros", .build = {}, .check = {}});
  done(trial.build(kOriginal));
  const auto texts = ran(trial, kOriginal).output.texts;
  CHECK(texts.size() == 2);
  CHECK(texts.at("zeros").size() < 100);
}

TEST_CASE("a folder that is not there is named") {
  const auto made = ScratchFolder::make("/no/such/folder");
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("/no/such/folder") != std::string::npos);
}
