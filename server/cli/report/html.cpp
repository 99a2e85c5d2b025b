// HTML report in one self-contained file: a summary, then a section per kernel with its plots,
// table, diff and provenance. A banner says when nothing was measured on a GPU, and why.
#include "server/cli/report/report.h"

#include "server/cli/report/program_report.h"
#include "server/cli/report/style.h"
#include "server/cli/report/svg.h"
#include "support/words.h"

#include <algorithm>
#include <cmath>

namespace warpwright::cli {
namespace {

std::string table_cell(const std::string &content, const char *style = nullptr) {
  return (style ? std::string("<td class='") + style + "'>" : "<td>") + content + "</td>";
}

std::string big(const std::string &value, const std::string &caption, const char *style = "") {
  return std::string("<div class='") + style + "'><b>" + escape_html(value) + "</b><span>" +
         escape_html(caption) + "</span></div>";
}

std::string definition(const std::string &name, const std::string &value) {
  return value.empty() ? ""
                       : "<dt>" + escape_html(name) + "</dt><dd>" + escape_html(value) + "</dd>";
}

std::string percent(const std::optional<double> &share) {
  return share ? std::to_string(int(std::lround(*share * 100))) + "%" : "-";
}

std::string integer(const std::optional<int> &value) {
  return value ? std::to_string(*value) : "-";
}

const ReportVariant *best_of(const KernelReport &kernel) {
  return kernel.best ? &kernel.variants[*kernel.best] : nullptr;
}

std::string hero(const KernelReport &kernel, bool gpu) {
  const ReportVariant *best = best_of(kernel);
  const auto verified = std::count_if(kernel.variants.begin(), kernel.variants.end(),
                                      [](const ReportVariant &variant) {
                                        return variant.verdict.outcome == model::Outcome::Verified;
                                      });
  std::string html = "<div class='hero'>";
  if (best && best->verdict.speedup)
    html += big(printed("%.2f\xc3\x97", best->verdict.speedup->ratio), printed("95%% interval %.2f", best->verdict.speedup->low) + printed(" to %.2f", best->verdict.speedup->high), "best");
  else if (gpu)
    html += big("none faster", "with confidence");
  if (const model::Time *time = reference_time(kernel))
    html += big(time_text(time->median_ns), "original");
  if (best && best->verdict.candidate_time)
    html += big(time_text(best->verdict.candidate_time->median_ns), "best variant");
  if (best && shown_error(best->verdict.errors))
    html +=
        big(error_text(shown_error(best->verdict.errors)),
            best->verdict.errors.reference_fp64
                ? "error against fp64; original " + error_text(best->verdict.errors.reference_fp64)
                : "largest relative error");
  html += big(std::to_string(verified) + " of " + std::to_string(kernel.variants.size()),
              "variants verified");
  return html + "</div>";
}

std::string table_row(const KernelReport &kernel, std::size_t index) {
  const ReportVariant &variant = kernel.variants[index];
  const model::Verdict &verdict = variant.verdict;
  const bool verified = verdict.outcome == model::Outcome::Verified;
  std::string outcome = escape_html(outcome_text(verdict));
  if ((!verified || verdict.conditioning) && !verdict.message.empty())
    outcome += "<small>" + escape_html(verdict.message) + "</small>";
  const model::CompileReport compile =
      verdict.kernels.empty() ? model::CompileReport{} : verdict.kernels.front();
  return std::string("<tr class='") +
         (kernel.best == index ? "best"
          : verified           ? ""
                               : "failed") +
         "'>" + table_cell("<span class='mono'>" + escape_html(moves_text(variant.moves)) + "</span>") +
         table_cell(outcome) + table_cell(escape_html(error_text(shown_error(verdict.errors))), "n") +
         table_cell(verdict.candidate_time ? time_text(verdict.candidate_time->median_ns) : "-", "n g") +
         table_cell(verdict.speedup ? escape_html(speedup_text(*verdict.speedup)) : "-", "n g") +
         table_cell(integer(compile.registers), "n g") + table_cell(percent(compile.occupancy), "n g") +
         "</tr>";
}

std::string table(const KernelReport &kernel) {
  std::string html =
      "<h3>All variants</h3><div class='scroll'><table><thead><tr><th>Moves</th><th>Outcome</th>"
      "<th class='n'>Error</th><th class='n g'>Time</th><th class='n g'>Speedup</th>"
      "<th class='n g'>Registers</th><th class='n g'>Occupancy</th></tr></thead><tbody>";
  for (std::size_t index : reading_order(kernel))
    html += table_row(kernel, index);
  return html + "</tbody></table></div>";
}

/// Line numbers of one diff hunk header: "@@ -3,7 +3,9 @@".
void read_hunk(const std::string &line, int &old_line, int &new_line) {
  int old_count = 0;
  if (std::sscanf(line.c_str(), "@@ -%d,%d +%d", &old_line, &old_count, &new_line) != 3 &&
      std::sscanf(line.c_str(), "@@ -%d +%d", &old_line, &new_line) != 2)
    old_line = new_line = 0;
}

std::string gutter(int line) {
  return "<span class='gutter'>" + (line > 0 ? std::to_string(line) : "") + "</span>";
}

std::string diff_row(const char *style, const std::string &gutters, const std::string &line) {
  return std::string("<span class='row ") + style + "'>" + gutters + escape_html(line) + "</span>";
}

std::string diff(const std::string &unified) {
  std::string html;
  int old_line = 0, new_line = 0;
  for (std::size_t begin = 0; begin < unified.size();) {
    const std::size_t end = std::min(unified.find('\n', begin), unified.size());
    const std::string line = unified.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("---") || line.starts_with("+++"))
      continue;
    if (line.starts_with("@@")) {
      read_hunk(line, old_line, new_line);
      html += diff_row("hunk", gutter(0) + gutter(0), line);
    } else if (line.starts_with("+")) {
      html += diff_row("add", gutter(0) + gutter(new_line++), line);
    } else if (line.starts_with("-")) {
      html += diff_row("del", gutter(old_line++) + gutter(0), line);
    } else {
      html += diff_row("", gutter(old_line++) + gutter(new_line++), line.empty() ? " " : line);
    }
  }
  return html.empty() ? "" : "<h3>What changes</h3><pre>" + html + "</pre>";
}

std::string provenance(const KernelReport &kernel) {
  if (kernel.variants.empty())
    return {};
  const model::Verdict &verdict =
      (kernel.best ? kernel.variants[*kernel.best] : kernel.variants.front()).verdict;
  std::string html =
      definition("Device", verdict.device.name) + definition("Driver", verdict.device.driver) +
      definition("Host", verdict.device.host) +
      definition("Sizes", verdict.measured_sizes.empty() ? kernel.sizes : verdict.measured_sizes) +
      definition("Date", verdict.date);
  if (verdict.speedup)
    html += definition("Samples", std::to_string(verdict.speedup->samples) + " pairs, " +
                                      std::to_string(verdict.discarded_samples) +
                                      " discarded under throttling");
  std::string passed;
  for (const model::Check &check : verdict.checks)
    if (check.passed)
      passed += (passed.empty() ? "" : ", ") + check.name;
  html += definition("Checks passed", passed);
  html += definition("Task", kernel.task_hash.substr(0, 12));
  html += definition("Plan", verdict.plan_hash.substr(0, 12));
  return "<h3>Provenance</h3><dl>" + html + "</dl>";
}

std::string problem(const KernelReport &kernel) {
  std::string html = "<p class='error'>" + escape_html(describe(*kernel.error)) + "</p>";
  for (const auto &[name, question] : kernel.missing)
    html += "<p><code>" + escape_html(name) + "</code> " + escape_html(question) + "</p>";
  if (!kernel.comment.empty())
    html += "<h3>Insert above the kernel</h3><pre><span class='row'>" +
            escape_html(kernel.comment) + "</span></pre>";
  return html;
}

std::string section(const KernelReport &kernel, const Report &report, std::size_t index) {
  std::string html = "<section id='k" + std::to_string(index) + "'><div class='head'><h2>" +
                     escape_html(kernel.name) + "</h2><span class='muted mono'>" +
                     escape_html(kernel.file) + ":" + std::to_string(kernel.line) + "</span></div>";
  if (kernel.error)
    html += problem(kernel);
  if (kernel.variants.empty())
    return html +
           (kernel.error ? "" : "<p class='muted'>No move is legal here: nothing was tried.</p>") +
           "</section>";
  html += hero(kernel, on_gpu(report));
  if (const std::string plot = time_plot(kernel); !plot.empty())
    html += "<h3>Device time, median and 95% interval</h3>" + plot;
  html += "<h3>Outcomes</h3>" + outcome_plot(kernel);
  const std::string roof = report.device ? roofline_plot(kernel, *report.device) : "";
  if (roof.empty())
    html += provenance(kernel);
  else
    html += "<div class='two'><div><h3>Against what the device can do</h3>" + roof + "</div><div>" +
            provenance(kernel) + "</div></div>";
  html += table(kernel);
  if (!kernel.analysis.empty())
    html += "<p>" + escape_html(kernel.policy + ": " + kernel.analysis) + "</p>";
  for (const std::string &line : kernel.baselines)
    html += "<p class='mono'>" + escape_html(line) + "</p>";
  return html + diff(kernel.diff) + "</section>";
}

std::string summary_row(const KernelReport &kernel, std::size_t index) {
  const ReportVariant *best = best_of(kernel);
  const model::Time *reference = reference_time(kernel);
  const bool measured = best && best->verdict.speedup;
  std::string result =
      kernel.error ? "<span class='error'>" + escape_html(kernel.error->message) + "</span>"
      : best       ? "<span class='mono'>" + escape_html(moves_text(best->moves)) + "</span>"
                   : "<span class='muted'>nothing better found</span>";
  return "<tr>" +
         table_cell("<a href='#k" + std::to_string(index) + "'>" + escape_html(kernel.name) +
              "</a><small>" + escape_html(kernel.file) + "</small>") +
         table_cell(result) + table_cell(reference ? time_text(reference->median_ns) : "-", "n g") +
         table_cell(measured && best->verdict.candidate_time
                  ? time_text(best->verdict.candidate_time->median_ns)
                  : "-",
              "n g") +
         table_cell(measured ? escape_html(speedup_text(*best->verdict.speedup)) : "-", "n g") + "</tr>";
}

std::string banner(const Report &report) {
  if (on_gpu(report))
    return {};
  std::string html = report.device ? "<b>Checked on the CPU, not measured on a GPU.</b> A verified "
                                     "variant computes the same as "
                                     "the original. Nothing here says that it is faster, so no "
                                     "times and no speedups are shown."
                                   : "<b>No runner answered.</b> Nothing was verified or measured.";
  for (const std::string &note : report.notes)
    html += " " + escape_html(note);
  return "<div class='banner'>" + html + "</div>";
}

} // namespace

std::string render_html(const Report &report) {
  std::string html = "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
                     "<meta name='viewport' content='width=device-width, "
                     "initial-scale=1'><title>Warpwright report</title>"
                     "<style>" +
                     std::string(kReportStyle) + "</style></head><body><main" +
                     (on_gpu(report) ? "" : " class='cpu'") + "><h1>Kernel report</h1>";
  std::string where = report.device ? report.device->name : "no device";
  if (report.device && !report.device->driver.empty())
    where += ", " + report.device->driver;
  html += "<p class='muted'>" + escape_html(where) + " \xc2\xb7 " + escape_html(report.date) +
          "</p>" + banner(report);
  for (const Error &error : report.failures)
    html += "<div class='banner error'>" + escape_html(describe(error)) + "</div>";
  if (report.program)
    html += render_html(*report.program);
  if (report.kernels.size() > 1) {
    html += "<section><div class='scroll'><table><thead><tr><th>Kernel</th><th>Best "
            "variant</th><th class='n g'>Original"
            "</th><th class='n g'>Best</th><th class='n g'>Speedup</th></tr></thead><tbody>";
    for (std::size_t i = 0; i < report.kernels.size(); ++i)
      html += summary_row(report.kernels[i], i);
    html += "</tbody></table></div></section>";
  }
  for (std::size_t i = 0; i < report.kernels.size(); ++i)
    html += section(report.kernels[i], report, i);
  return html + "<footer>Warpwright " + escape_html(report.version) + " \xc2\xb7 <code>" +
         escape_html(report.command) + "</code></footer></main></body></html>\n";
}

} // namespace warpwright::cli
