// The HTML report: self-contained, escaped, and silent about speed where nothing was measured.
#include "server/cli/report/svg.h"
#include "tests/server/cli/sample_report.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::cli;

namespace {

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("the page is one file: no script, no address, nothing to load") {
  const std::string html = render_html(sample_report());
  for (const char *forbidden : {"<script", "http:", "https:", "src=", "@import", "url("})
    CHECK_MESSAGE(!has(html, forbidden), forbidden);
  CHECK(has(html, "prefers-color-scheme: dark"));
}

TEST_CASE("the page shows plots, table, diff and provenance") {
  const std::string html = render_html(sample_report());
  CHECK(has(html, "4.20\xc3\x97"));
  CHECK(has(html, "95% interval 4.11 to 4.28"));
  CHECK(has(html, "Device time of each variant of matmul"));
  CHECK(has(html, "aria-label='Roofline'"));
  CHECK(has(html, "class='row del'"));
  CHECK(has(html, "120 pairs"));
  CHECK(has(html, "580.65"));
}

TEST_CASE("text from outside is escaped") {
  const std::string html = render_html(sample_report());
  CHECK(has(html, "3 &lt;instead&gt; of 4"));
  CHECK(has(html, "int a &lt; b;"));
  CHECK(escape_html("<a b='c'>&\"") == "&lt;a b=&#39;c&#39;&gt;&amp;&quot;");
}

TEST_CASE("a CPU report has no time plot and says that nothing was measured") {
  const std::string html = render_html(sample_cpu_report());
  CHECK(has(html, "not measured on a GPU"));
  CHECK(!has(html, "Device time"));
  CHECK(!has(html, "Roofline"));
}

TEST_CASE("a kernel without floating-point work is shown against the copy rate") {
  KernelReport kernel = sample_kernel();
  kernel.work_flops = std::nullopt;
  const model::DeviceInfo device = kernel.variants[1].verdict.device;
  CHECK(has(roofline_plot(kernel, device), "measured copy rate 4.1 TB/s"));
  kernel.work_bytes = std::nullopt;
  CHECK(roofline_plot(kernel, device).empty());
}

TEST_CASE("the roofline gives the share of the roof that is reached") {
  // 2 * 1024^3 operations in 98.2 us are 21.9 TFLOP/s of 51.
  CHECK(has(roofline_plot(sample_kernel(), sample_kernel().variants[1].verdict.device),
            "best, 43% of the roof"));
}

TEST_CASE("ticks are round numbers inside the range") {
  CHECK(nice_ticks(0, 10, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
  const std::vector<double> ticks = nice_ticks(0, 412e3, 6);
  CHECK(ticks.front() == 0);
  CHECK(ticks[1] == 100e3);
  CHECK(ticks.back() <= 412e3);
}
