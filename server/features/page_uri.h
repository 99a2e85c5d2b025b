// URIs of the server's own documents, which it gives as workspace/textDocumentContent (LSP 3.18).
//
//   warpwright:/review/transpose.diff?file:///project/k.cu   the changes of the best variant
//   warpwright:/details/transpose.md?file:///project/k.cu    all that is known of the kernel
//
// The part after `?` is the document, percent-encoded; a plan may follow after `&`. Thread: any.
#pragma once

#include "server/protocol/types.h"
#include "support/error.h"

namespace warpwright::server::features {

enum class Page { Review, Details };

struct PageReference {
  Page page = Page::Details;
  protocol::KernelReference kernel; ///< uri, kernel and plan
};

std::string page_uri(const PageReference &reference);
/// "transpose.md", the name of the page as a file.
std::string page_name(const PageReference &reference);
/// Errors: not a URI of page_uri().
Result<PageReference> parse_page_uri(const std::string &uri);

} // namespace warpwright::server::features
