// Parsing of shell URLs: one function per scheme, in a table.
#include "runner/shell/shell_url.h"
#include "runner/net/tls_url.h"
#include "runner/net/url_query.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

constexpr std::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr const char *kCommonForm = "python=PATH, cpu=yes, runner=PATH, retry-s=SECONDS";

bool has_only(std::string_view text, std::string_view signs) {
  return std::ranges::all_of(text, [&](char c) {
    return kLetters.contains(c) || signs.contains(c);
  });
}

/// A name that is not empty, cannot be taken for an option, and means nothing to a shell.
bool is_name(std::string_view text, std::string_view signs) {
  return !text.empty() && text.front() != '-' && has_only(text, signs);
}

/// Options that are the same for all schemes, and those of the scheme.
struct Query {
  std::string python, runner, cpu, retry_s;
  std::map<std::string, std::string *> known{
      {"python", &python}, {"runner", &runner}, {"cpu", &cpu}, {"retry-s", &retry_s}};
};

/// A path there: quoted in double quotes, so a leading ~/ is written as $HOME/.
Result<std::string> path_there(const std::string &text, const char *option, const std::string &form) {
  if (text.empty())
    return text;
  const bool in_home = text.starts_with("~/");
  if (!is_name(text.substr(in_home ? 2 : 0), "/._+-@"))
    return fail(std::string(option) + " of the runner URL is not a plain path: " + text, form);
  return in_home ? "$HOME/" + text.substr(2) : text;
}

Result<void> read_options(std::string_view query, Query &options, const std::string &form,
                          ShellTarget &target) {
  TRY(net::read_query(query, options.known, form));
  target.python = TRY(path_there(options.python, "python", form));
  target.runner = TRY(path_there(options.runner, "runner", form));
  if (!options.cpu.empty() && options.cpu != "yes")
    return fail("cpu of the runner URL is '" + options.cpu + "'", "Write cpu=yes, or leave it out");
  target.copies_cpu_worker = options.cpu == "yes";
  if (!options.retry_s.empty())
    target.retry = std::chrono::seconds(TRY(net::to_seconds(options.retry_s, "retry-s", form)));
  return {};
}

struct Host {
  std::string user, name, port;
  std::string login() const { return user.empty() ? name : user + "@" + name; }
};

/// Parses "[USER@]HOST[:PORT]"; an IPv6 address stands in brackets.
Result<Host> parse_host(const std::string &text, const std::string &form) {
  Host host;
  const auto at = text.rfind('@');
  std::string rest = text.substr(at == std::string::npos ? 0 : at + 1);
  host.user = at == std::string::npos ? "" : text.substr(0, at);
  const bool bracketed = rest.starts_with('[');
  const auto end = bracketed ? rest.find(']') : rest.find(':');
  host.name = rest.substr(bracketed, end == std::string::npos ? end : end - bracketed);
  rest = end == std::string::npos ? "" : rest.substr(end + bracketed);
  if (rest.starts_with(':'))
    host.port = rest.substr(1);
  const bool is_whole = rest.empty() || (rest.starts_with(':') && net::is_port(host.port));
  if (!is_whole || !is_name(host.name, bracketed ? ":.%" : "._-") ||
      (at != std::string::npos && !is_name(host.user, "._-+@")))
    return fail("'" + text + "' is no [USER@]HOST[:PORT]", form);
  return host;
}

/// ssh with a connection that is found dead within a minute. Without a terminal, ssh must not ask
/// for anything, because nobody would see the question.
std::vector<std::string> ssh_command(const Host &host, bool may_ask) {
  std::vector<std::string> command{"ssh", "-T", "-o", "ServerAliveInterval=15", "-o",
                                   "ServerAliveCountMax=3", "-o", "ConnectTimeout=30"};
  if (!may_ask)
    command.insert(command.end(), {"-o", "BatchMode=yes"});
  if (!host.port.empty())
    command.insert(command.end(), {"-p", host.port});
  command.insert(command.end(), {"--", host.login()});
  return command;
}

std::string ssh_attempt(const Host &host) {
  return "ssh " + (host.port.empty() ? "" : "-p " + host.port + " ") + host.login();
}

using Parts = std::pair<std::string, std::string_view>; ///< before and after the question mark

Result<ShellTarget> parse_ssh(const Parts &parts, bool may_ask) {
  const std::string form = std::string("Write ssh://[USER@]HOST[:PORT], with the options ") + kCommonForm;
  ShellTarget target;
  Query options;
  TRY(read_options(parts.second, options, form, target));
  const Host host = TRY(parse_host(parts.first, form));
  target.label = host.name;
  target.attempt = ssh_attempt(host);
  target.outer = ssh_command(host, may_ask);
  return target;
}

Result<ShellTarget> parse_slurm(const Parts &parts, bool may_ask) {
  const std::string form =
      std::string("Write slurm://[PARTITION]?host=[USER@]HOST[:PORT]&gres=gpu:1&time=30&account=NAME"
                  "&qos=NAME&constraint=NAME, with the options ") + kCommonForm;
  ShellTarget target;
  Query options;
  std::string host_text, gres = "gpu:1", time, account, qos, constraint;
  options.known.insert({{"host", &host_text}, {"gres", &gres}, {"time", &time},
                        {"account", &account}, {"qos", &qos}, {"constraint", &constraint}});
  TRY(read_options(parts.second, options, form, target));
  // Without --unbuffered srun passes output on by lines, and messages do not end with one.
  target.inner = {"srun", "--ntasks=1", "--unbuffered", "--job-name=warpwright"};
  const std::string &partition = parts.first;
  for (const auto &[name, value] : std::initializer_list<std::pair<const char *, std::string>>{
           {"partition", partition}, {"gres", gres}, {"time", time}, {"account", account},
           {"qos", qos}, {"constraint", constraint}}) {
    if (value.empty())
      continue;
    if (!is_name(value, "._-:,=&|"))
      return fail(std::string(name) + " of the runner URL is not a plain name: " + value, form);
    target.inner.push_back("--" + std::string(name) + "=" + value);
  }
  target.label = partition.empty() ? "the Slurm cluster" : "the Slurm partition " + partition;
  target.attempt = "srun" + (partition.empty() ? "" : " --partition=" + partition) + " hostname";
  target.may_queue = true;
  if (host_text.empty())
    return target;
  const Host host = TRY(parse_host(host_text, form));
  target.outer = ssh_command(host, may_ask);
  target.label += " of " + host.name;
  target.attempt = ssh_attempt(host) + " " + target.attempt;
  return target;
}

Result<ShellTarget> parse_docker(const Parts &parts, bool) {
  const std::string form =
      std::string("Write docker://IMAGE?gpus=all&program=docker, with the options ") + kCommonForm;
  ShellTarget target;
  Query options;
  std::string gpus = "all", program = "docker";
  options.known.insert({{"gpus", &gpus}, {"program", &program}});
  TRY(read_options(parts.second, options, form, target));
  const std::string &image = parts.first;
  if (!is_name(image, "._-/:@+") || !is_name(program, "._-/") || !is_name(gpus, "._-,=:"))
    return fail("'" + image +
                    "' is not an image, or an option of the runner URL is not a plain name",
                form);
  target.inner = {program, "run", "--rm", "--interactive", "--entrypoint=sh"};
  if (gpus != "none")
    target.inner.push_back("--gpus=" + gpus);
  target.inner.push_back(image);
  target.label = "the container of " + image;
  target.attempt = program + " run --rm " + image + " true";
  target.may_queue = true; // an image that is not here is fetched
  return target;
}

Result<ShellTarget> parse_kubectl(const Parts &parts, bool) {
  const std::string form =
      std::string("Write kubectl://[NAMESPACE/]POD?container=NAME&context=NAME, with the options ") +
      kCommonForm;
  ShellTarget target;
  Query options;
  std::string container, context;
  options.known.insert({{"container", &container}, {"context", &context}});
  TRY(read_options(parts.second, options, form, target));
  const auto slash = parts.first.find('/');
  const std::string space = slash == std::string::npos ? "" : parts.first.substr(0, slash);
  const std::string pod = parts.first.substr(slash == std::string::npos ? 0 : slash + 1);
  if (!is_name(pod, ".-") || (slash != std::string::npos && !is_name(space, ".-")) ||
      (!container.empty() && !is_name(container, ".-")) ||
      (!context.empty() && !is_name(context, "._-:/@")))
    return fail("'" + parts.first + "' is not [NAMESPACE/]POD, or an option is not a plain name",
                form);
  target.inner = {"kubectl", "exec", "--stdin", "--quiet"};
  for (const auto &[name, value] : std::initializer_list<std::pair<const char *, std::string>>{
           {"context", context}, {"namespace", space}, {"container", container}})
    if (!value.empty())
      target.inner.push_back("--" + std::string(name) + "=" + value);
  target.inner.insert(target.inner.end(), {pod, "--"});
  target.label = "the pod " + parts.first;
  target.attempt = "kubectl exec " + (space.empty() ? "" : "--namespace=" + space + " ") + pod + " -- true";
  return target;
}

struct Scheme {
  std::string_view prefix;
  Result<ShellTarget> (*parse)(const Parts &parts, bool may_ask);
};
constexpr Scheme kSchemes[] = {{"ssh://", parse_ssh},
                               {"slurm://", parse_slurm},
                               {"docker://", parse_docker},
                               {"kubectl://", parse_kubectl}};

} // namespace

std::vector<std::string> ShellTarget::command(const std::string &line) const {
  std::vector<std::string> words = inner;
  const bool has_shell = !inner.empty() && std::ranges::find(inner, "--entrypoint=sh") != inner.end();
  if (!has_shell)
    words.push_back("sh");
  words.insert(words.end(), {"-c", line});
  if (outer.empty())
    return words;
  // The login shell of the target may be any: single quotes mean the same to all of them.
  std::string quoted;
  for (const std::string &word : words)
    quoted += (quoted.empty() ? "'" : " '") + word + "'";
  std::vector<std::string> command = outer;
  command.push_back(quoted);
  return command;
}

bool is_shell_url(const std::string &url) {
  return std::ranges::any_of(kSchemes,
                             [&](const Scheme &scheme) { return url.starts_with(scheme.prefix); });
}

Result<ShellTarget> parse_shell_url(const std::string &url, bool may_ask) {
  for (const Scheme &scheme : kSchemes) {
    if (!url.starts_with(scheme.prefix))
      continue;
    const auto question = std::min(url.find('?'), url.size());
    const Parts parts{url.substr(scheme.prefix.size(), question - scheme.prefix.size()),
                      std::string_view(url).substr(std::min(question + 1, url.size()))};
    auto target = scheme.parse(parts, may_ask);
    if (target)
      target->url = url.substr(0, question);
    return target;
  }
  return fail("the runner URL \"" + url + "\" is not understood");
}

} // namespace warpwright::runner
