// URLs of runners behind a shell, the shell line, and the explanation of what went wrong.
#include "runner/shell/shell_failure.h"
#include "runner/shell/shell_script.h"
#include "support/words.h"

#include <doctest/doctest.h>
#include <sys/utsname.h>

namespace warpwright::runner {
namespace {

std::string command_of(const std::string &url, bool may_ask = false) {
  const auto target = parse_shell_url(url, may_ask);
  return target ? joined(target->command("LINE"), " ") : "error: " + describe(target.error());
}

const std::string kSsh = "ssh -T -o ServerAliveInterval=15 -o ServerAliveCountMax=3 -o ConnectTimeout=30 ";

TEST_CASE("a URL becomes the command line of ssh, srun, docker or kubectl") {
  for (const auto &[url, command] : std::initializer_list<std::pair<const char *, std::string>>{
           {"ssh://gpu-box", kSsh + "-o BatchMode=yes -- gpu-box 'sh' '-c' 'LINE'"},
           {"ssh://me@10.0.0.7:2222", kSsh + "-o BatchMode=yes -p 2222 -- me@10.0.0.7 'sh' '-c' 'LINE'"},
           {"ssh://me@[fe80::1]:22?cpu=yes", kSsh + "-o BatchMode=yes -p 22 -- me@fe80::1 'sh' '-c' 'LINE'"},
           {"slurm://", "srun --ntasks=1 --unbuffered --job-name=warpwright --gres=gpu:1 sh -c LINE"},
           {"slurm://gpu?gres=gpu:h100:2&time=30&account=lab",
            "srun --ntasks=1 --unbuffered --job-name=warpwright --partition=gpu --gres=gpu:h100:2 "
            "--time=30 --account=lab sh -c LINE"},
           {"slurm://gpu?host=me@login", kSsh + "-o BatchMode=yes -- me@login 'srun' '--ntasks=1' '--unbuffered' "
            "'--job-name=warpwright' '--partition=gpu' '--gres=gpu:1' 'sh' '-c' 'LINE'"},
           {"docker://nvcr.io/nvidia/cuda:12.4.1-base",
            "docker run --rm --interactive --entrypoint=sh --gpus=all nvcr.io/nvidia/cuda:12.4.1-base -c LINE"},
           {"docker://img?gpus=none&program=podman", "podman run --rm --interactive --entrypoint=sh img -c LINE"},
           {"kubectl://pod-7", "kubectl exec --stdin --quiet pod-7 -- sh -c LINE"},
           {"kubectl://lab/pod-7?container=cuda&context=east",
            "kubectl exec --stdin --quiet --context=east --namespace=lab --container=cuda pod-7 -- sh -c LINE"}}) {
    CAPTURE(url);
    CHECK(is_shell_url(url));
    CHECK(command_of(url) == command);
  }
  CHECK(command_of("ssh://gpu-box", true) == kSsh + "-- gpu-box 'sh' '-c' 'LINE'");
  CHECK_FALSE(is_shell_url("tls://h:1"));
}

TEST_CASE("a URL cannot hold an option, a second command or a secret place for one") {
  for (const char *url :
       {"ssh://", "ssh://-oProxyCommand=x", "ssh://-l@host", "ssh://@host", "ssh://a b", "ssh://host;ls",
        "ssh://host/path", "ssh://host:", "ssh://host:99999", "ssh://host:x", "ssh://$(ls)", "ssh://h'x",
        "ssh://host?oops=1", "ssh://host?python=a;b", "ssh://host?python=$(x)", "ssh://host?runner=-x",
        "ssh://host?cpu=no", "ssh://host?retry-s=-1", "slurm://-x", "slurm://a?time=1;2", "slurm://a?host=-x",
        "docker://", "docker://-v/:/x", "docker://img?program=-x", "docker://img?gpus=a b", "kubectl://",
        "kubectl://-n/x", "kubectl:///pod", "kubectl://ns/", "kubectl://a/b/c"}) {
    CAPTURE(url);
    const std::string command = command_of(url);
    CHECK(command.starts_with("error: "));
  }
  CHECK(command_of("ssh://host:x").contains("Write ssh://[USER@]HOST[:PORT]"));
}

TEST_CASE("the shell line stands in single quotes of any shell") {
  for (const char *url : {"ssh://h", "ssh://h?runner=~/bin/warpwright-runner&python=~/venv/bin/python"}) {
    const std::string line = shell_script(parse_shell_url(url, false).value(), "nonce", "0.1.0-key");
    CHECK(line.find_first_of("'!\\\n") == std::string::npos);
  }
  const std::string line =
      shell_script(parse_shell_url("ssh://h?runner=~/r&python=/v/python", false).value(), "nonce", "");
  CHECK(line.contains(R"sh(r="$(command -v "$HOME/r")")sh"));
  CHECK(line.ends_with(R"sh(exec "$r" connect --ready $n --python "/v/python")sh"));
}

std::string told(const std::string &url, ShellEnd end) {
  const auto target = parse_shell_url(url, false).value();
  const net::LinkFailure failure = explain(target, end);
  return (failure.is_final ? "final: " : "again: ") + describe(failure.error);
}

ShellEnd ended(int code, const std::string &errors) {
  ShellEnd end;
  end.status.code = code;
  end.errors = errors;
  return end;
}

TEST_CASE("what ssh, the loader and the shell say becomes a sentence with a remedy") {
  const std::string url = "ssh://me@gpu-box:2222";
  ShellEnd old = ended(1, "/r: /lib/libc.so.6: version `GLIBC_2.34' not found (required by /r)\n"
                          "/r: /lib/libc.so.6: version `GLIBC_2.36' not found (required by /r)\n");
  old.hello = parse_hello("need Linux x86_64 glibc 2.31");
  ShellEnd full = ended(90, "head: error writing 'standard output': No space left on device\n");
  full.failed_folder = "/home/me/.cache/warpwright/runner";
  ShellEnd forbidden = full;
  forbidden.errors = "mkdir: cannot create directory '/home/me': Permission denied\n";
  ShellEnd musl = ended(127, "sh: /r: not found\n");
  musl.hello = parse_hello("have Linux x86_64 ");
  const std::string cases[][2] = {
      {told(url, ended(255, "Host key verification failed.\r\n")),
       "final: the host key of gpu-box is not known here. Connect once in a terminal and compare the key: "
       "ssh -p 2222 me@gpu-box"},
      {told(url, ended(255, "me@gpu-box: Permission denied (publickey).\r\n")),
       "final: gpu-box does not accept this login: me@gpu-box: Permission denied (publickey). Unlock your key "
       "with ssh-add, or connect once in a terminal: ssh -p 2222 me@gpu-box"},
      {told(url, ended(255, "ssh: connect to host gpu-box port 2222: Connection refused\n")),
       "again: gpu-box cannot be reached: ssh: connect to host gpu-box port 2222: Connection refused. Try it in a "
       "terminal: ssh -p 2222 me@gpu-box"},
      {told(url, old), "final: the runner needs glibc 2.36, and gpu-box has 2.31. Build the runner on a system as "
                       "old as that one, and name it with ?runner=PATH"},
      {told(url, full), "final: there is no space for the runner in /home/me/.cache/warpwright/runner on gpu-box. "
                        "Free some. Set XDG_CACHE_HOME there to another folder, or name an installed runner with "
                        "?runner=PATH"},
      {told(url, forbidden), "final: the runner cannot be put into /home/me/.cache/warpwright/runner on gpu-box: "
                             "mkdir: cannot create directory '/home/me': Permission denied. Set XDG_CACHE_HOME there "
                             "to another folder, or name an installed runner with ?runner=PATH"},
      {told("docker://alpine", musl), "final: the container of alpine has no glibc, which the runner needs. Use an "
                                      "image or a machine with glibc"},
      {told("slurm://gpu", ended(1, "srun: error: Invalid partition name specified: gpu\n")),
       "again: srun ended with exit code 1 before the runner at the Slurm partition gpu answered: srun: error: "
       "Invalid partition name specified: gpu. Try the way alone in a terminal: srun --partition=gpu hostname"}};
  for (const auto &[text, expected] : cases)
    CHECK(text == expected);
}

TEST_CASE("a machine of another kind cannot run the copy, but its own runner") {
  utsname here{};
  ::uname(&here);
  const auto hello = parse_hello("need Linux riscv64 glibc 2.40");
  REQUIRE(hello.has_value());
  const auto copied = parse_shell_url("ssh://h", false).value(), own = parse_shell_url("ssh://h?runner=/r", false).value();
  CHECK(why_unfit(copied, *hello) == std::string("h is a machine of Linux riscv64, and the runner here is for Linux ") + here.machine);
  CHECK(why_unfit(own, *hello).empty());
  CHECK_FALSE(parse_hello("hello there").has_value());
}

} // namespace
} // namespace warpwright::runner
