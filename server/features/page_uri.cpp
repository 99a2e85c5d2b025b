#include "server/features/page_uri.h"

#include "server/protocol/lifecycle.h"
#include "server/protocol/uri.h"

namespace warpwright::server::features {

namespace {

constexpr std::string_view kReviewFolder = "/review/", kDetailsFolder = "/details/";
constexpr std::string_view kDiff = ".diff", kMarkdown = ".md";

} // namespace

std::string page_name(const PageReference &reference) {
  return reference.kernel.kernel +
         std::string(reference.page == Page::Review ? kDiff : kMarkdown);
}

std::string page_uri(const PageReference &reference) {
  return std::string(protocol::kPageScheme) + ":" +
         std::string(reference.page == Page::Review ? kReviewFolder : kDetailsFolder) +
         protocol::percent_encoded(page_name(reference)) + "?" +
         protocol::percent_encoded(reference.kernel.uri) +
         (reference.kernel.plan ? "&" + *reference.kernel.plan : "");
}

Result<PageReference> parse_page_uri(const std::string &uri) {
  const Error unknown{"there is no page " + uri, "Ask for it from its kernel's lens or code action"};
  const std::size_t colon = uri.find(':'), question = uri.find('?');
  if (uri.substr(0, colon) != protocol::kPageScheme || question == std::string::npos)
    return std::unexpected(unknown);
  const std::string path = protocol::percent_decoded(uri.substr(colon + 1, question - colon - 1));
  const std::size_t plan = uri.find('&', question);
  PageReference reference;
  reference.kernel.uri = protocol::percent_decoded(uri.substr(question + 1, plan - question - 1));
  if (plan != std::string::npos)
    reference.kernel.plan = uri.substr(plan + 1);
  const auto take = [&](std::string_view folder, std::string_view extension, Page page) {
    if (!path.starts_with(folder) || !path.ends_with(extension) ||
        path.size() <= folder.size() + extension.size())
      return false;
    reference.page = page;
    reference.kernel.kernel =
        path.substr(folder.size(), path.size() - folder.size() - extension.size());
    return true;
  };
  if (take(kReviewFolder, kDiff, Page::Review) || take(kDetailsFolder, kMarkdown, Page::Details))
    return reference;
  return std::unexpected(unknown);
}

} // namespace warpwright::server::features
