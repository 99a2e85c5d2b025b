// Comparison of runner URLs by place, and the reader of runners.toml.
#include "analysis/consent/known_runners.h"

#include "analysis/consent/approvals.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace warpwright::consent {
namespace {

constexpr std::string_view kSocket = "unix:", kSsh = "ssh://";

struct Place {
  std::string scheme, host; ///< the host with its port
  std::string vhost;        ///< brokers only
  bool operator==(const Place &) const = default;
};

/// Scheme, host, port and virtual host of a URL, without the user, credentials and options; nullopt
/// for unknown schemes.
std::optional<Place> place_of(const std::string &url) {
  const std::size_t colon = url.find("://");
  if (colon == std::string::npos)
    return std::nullopt;
  Place place{.scheme = url.substr(0, colon), .host = {}, .vhost = {}};
  if (place.scheme != "tls" && place.scheme != "amqps" && place.scheme != "ssh")
    return std::nullopt;
  std::string rest = url.substr(colon + 3);
  rest.resize(std::min(rest.find('?'), rest.size()));
  const std::size_t slash = rest.find('/');
  if (slash != std::string::npos)
    place.vhost = rest.substr(slash + 1);
  place.host = rest.substr(0, slash);
  place.host.erase(0, place.host.rfind('@') + 1);
  std::ranges::transform(place.host, place.host.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool has_port = place.host.find(':', place.host.rfind(']') + 1) != std::string::npos;
  if (place.scheme == "amqps" && !has_port)
    place.host += ":5671"; // the default port, as in runner/fleet/address.h
  return place.host.empty() ? std::nullopt : std::optional(place);
}

/// Whether a runner's URL contains its own credentials. Otherwise they would come from the
/// environment.
bool has_credentials(const std::string &url) {
  const std::size_t authority = url.find("://") + 3;
  const std::size_t at = url.substr(0, url.find_first_of("/?", authority)).rfind('@');
  return at != std::string::npos || url.find("token-file=") != std::string::npos ||
         url.find("password_file=") != std::string::npos;
}

} // namespace

Result<std::vector<std::string>> known_runners(const std::filesystem::path &file) {
  struct stat status {};
  if (file.empty() || ::stat(file.c_str(), &status) != 0)
    return std::vector<std::string>{};
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077))
    return fail(file.string() + " is not used, because others than you may read or write it",
                "chmod 600 " + file.string());
  const auto text = read_own(file);
  if (!text)
    return fail("cannot read " + file.string(), "chmod 600 " + file.string());
  const toml::parse_result parsed = toml::parse(*text, file.string());
  const toml::array *runners = parsed ? parsed.table()["runners"].as_array() : nullptr;
  std::vector<std::string> known;
  bool all_texts = runners != nullptr;
  for (std::size_t i = 0; runners && i < runners->size(); ++i) {
    const auto url = (*runners)[i].value_exact<std::string>();
    all_texts = all_texts && url.has_value();
    known.push_back(url.value_or(""));
  }
  if (!all_texts)
    return fail(file.string() + " is not a list of runners",
                "Write runners = [\"tls://HOST:PORT?ca=FILE&token-file=FILE\"]");
  return known;
}

bool may_name_runner(const std::string &url) {
  const bool plain = std::ranges::all_of(url, [](unsigned char c) {
    return c > ' ' && c < 0x7f && std::string_view("@?#%\\\"'").find(char(c)) == std::string::npos;
  });
  if (!plain)
    return false;
  if (url.starts_with(kSocket))
    return url.size() > kSocket.size() && url[kSocket.size()] == '/';
  const auto place = place_of(url);
  return place && (place->scheme == "amqps" || !url.substr(6).contains('/'));
}

std::string runner_place(const std::string &url) {
  const auto place = place_of(url);
  return place ? place->host : url.substr(std::min(url.find(':') + 1, url.size()));
}

std::filesystem::path known_runners_path() {
  const auto folder = user_folder("XDG_CONFIG_HOME", ".config");
  return folder.empty() ? std::filesystem::path() : folder / "warpwright" / "runners.toml";
}

Result<std::string> own_runner_url(const std::string &named, const std::filesystem::path &file) {
  if (named.starts_with(kSocket))
    return named;
  const auto known = known_runners(file);
  if (!known)
    return std::unexpected(known.error());
  const auto own = std::ranges::find_if(*known, [wanted = place_of(named)](const std::string &url) {
    return wanted && place_of(url) == wanted;
  });
  const std::string remedy = "Write its URL with token-file= or password_file= into " +
                             (file.empty() ? "runners.toml" : file.string()) +
                             ", or choose another runner in your settings or with --runner";
  if (own == known->end())
    return fail("the project names the runner " + runner_place(named) +
                    ", which is none of your runners",
                remedy);
  if (!own->starts_with(kSsh) && !has_credentials(*own)) // ssh has its own
    return fail("your runner " + runner_place(named) + " has no credentials of its own", remedy);
  return *own;
}

} // namespace warpwright::consent
