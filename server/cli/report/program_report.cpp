// The report on a whole program as text, JSON and a section of HTML.
#include "server/cli/report/program_report.h"

#include "server/cli/report/svg.h"
#include "support/words.h"

#include <algorithm>
#include <array>
#include <ranges>

namespace warpwright::cli {
namespace {

using Json = nlohmann::json;
using State = ProgramKernel::State;

constexpr std::size_t kColumns = 7;
using Row = std::array<std::string, kColumns>;
const Row kHeading{"kernel", "launches", "GPU time", "of GPU", "of run", "run at best", "result"};

std::string name(State state) {
  switch (state) {
  case State::Kept:
    return "kept";
  case State::LeftOut:
    return "left out";
  case State::NothingFaster:
    return "nothing faster";
  case State::Failed:
    return "failed";
  case State::NotTried:
    return "not tried";
  }
  return "unknown";
}

std::string percent(double part) { return printed("%.1f%%", 100 * part); }
std::string seconds_text(double seconds) { return model::time_text(seconds * 1e9); }

std::string measured_text(const Measured &one, std::string (*text)(double)) {
  return text(one.median) + " [" + text(one.low) + ", " + text(one.high) + "]";
}

std::string ratio_number(double ratio) { return printed("%.3f", ratio); }

/// Amdahl's law: the factor by which the run ends sooner at best, if a part of it takes no time.
std::string at_best(double part) { return part >= 0.999 ? "any" : printed("%.2fx", 1 / (1 - part)); }

/// Where a launch takes another time in the program than in the task; else empty.
std::string fidelity_text(const ProgramKernel &kernel) {
  constexpr double kAlike = 1.5;
  if (!kernel.task_ns || kernel.launches == 0 || kernel.total_ns <= 0)
    return {};
  const double mean_ns = kernel.total_ns / static_cast<double>(kernel.launches);
  if (mean_ns < kAlike * *kernel.task_ns && *kernel.task_ns < kAlike * mean_ns)
    return {};
  return "; a launch takes " + model::time_text(mean_ns) + " in the program and " +
         model::time_text(*kernel.task_ns) + " in the task";
}

std::string result_text(const ProgramKernel &kernel) {
  std::string text;
  if (kernel.speedup)
    text = model::speedup_text(*kernel.speedup) + " ";
  if (!kernel.moves.empty())
    text += moves_text(kernel.moves);
  if (kernel.changed_total_ns)
    text += (text.empty() ? "" : "; ") + ("in the program " + model::time_text(kernel.total_ns) + " -> " +
                                          model::time_text(*kernel.changed_total_ns));
  text += fidelity_text(kernel);
  if (kernel.state != State::Kept)
    text = name(kernel.state) + (kernel.why.empty() ? "" : ": " + kernel.why) + (text.empty() ? "" : " (" + text + ")");
  std::ranges::replace(text, '\n', ' ');
  return text;
}

Row row_of(const ProgramKernel &kernel) {
  return {kernel.name,
          std::to_string(kernel.launches),
          model::time_text(kernel.total_ns),
          percent(kernel.gpu_share),
          kernel.run_share ? percent(*kernel.run_share) : "-",
          kernel.run_share ? at_best(*kernel.run_share * kernel.could_save) : "-",
          result_text(kernel)};
}

std::string table(const ProgramReport &report, std::size_t most_rows) {
  std::vector<Row> rows{kHeading};
  for (const ProgramKernel &kernel : report.kernels | std::views::take(most_rows))
    rows.push_back(row_of(kernel));
  std::array<std::size_t, kColumns> widths{};
  for (const Row &row : rows)
    for (std::size_t i = 0; i + 1 < kColumns; ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row &row : rows) {
    for (std::size_t i = 0; i + 1 < kColumns; ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      text += "  " + (i == 0 ? row[i] + padding : padding + row[i]);
    }
    text += "  " + row.back() + "\n";
  }
  if (report.kernels.size() > most_rows)
    text += "  and " + std::to_string(report.kernels.size() - most_rows) + " more, which --json and --html list\n";
  return text;
}

/// What the run takes, and what of it kernels could save at most.
std::string run_text(const ProgramReport &report) {
  std::string text = "GPU time " + model::time_text(report.gpu_ns);
  if (report.first_runs_s) {
    const double share = report.gpu_ns * 1e-9 / report.first_runs_s->median;
    text = "The run takes " + seconds_text(report.first_runs_s->median) + ", of which the GPU works " +
           model::time_text(report.gpu_ns) + " (" + percent(share) + "): at best " + at_best(share) + " of the run";
  }
  return text + ".\n";
}

std::string counts_text(const ProgramReport &report) {
  std::vector<std::string> parts;
  for (const State state : {State::Kept, State::LeftOut, State::NothingFaster, State::Failed, State::NotTried})
    if (const std::size_t number = count(report, state))
      parts.push_back(std::to_string(number) + " " + name(state));
  return joined(parts, ", ");
}

/// Lines on the changed program: its time, GPU time and output.
std::vector<std::string> comparison(const ProgramReport &report) {
  std::vector<std::string> lines;
  if (report.ratio)
    lines.push_back("Whole run: " + measured_text(*report.original_s, seconds_text) + " -> " +
                    measured_text(*report.changed_s, seconds_text) + ", ratio " +
                    measured_text(*report.ratio, ratio_number) + " over " + std::to_string(report.ratio->samples) +
                    " pairs");
  if (report.changed_gpu_ns)
    lines.push_back("GPU time: " + model::time_text(report.gpu_ns) + " -> " + model::time_text(*report.changed_gpu_ns));
  if (report.texts > 0)
    lines.push_back("Compared in each run: exit status, " + std::to_string(report.texts) +
                    (report.texts == 1 ? " text" : " texts (stdout and written files)") +
                    (report.check.empty() ? "" : ", and the check '" + report.check + "'"));
  lines.insert(lines.end(), report.not_compared.begin(), report.not_compared.end());
  return lines;
}

Json or_null(const std::optional<double> &value) { return value ? Json(*value) : Json(nullptr); }

Json to_json(const std::optional<Measured> &one) {
  if (!one)
    return nullptr;
  return {{"median", one->median}, {"low", one->low}, {"high", one->high}, {"samples", one->samples}};
}

Json to_json(const ProgramKernel &kernel) {
  Json json = {{"name", kernel.name},
               {"file", kernel.file.empty() ? Json(nullptr) : Json(kernel.file)},
               {"launches", kernel.launches},
               {"total_ns", kernel.total_ns},
               {"gpu_share", kernel.gpu_share},
               {"run_share", or_null(kernel.run_share)},
               {"could_save", kernel.could_save},
               {"budget_ms", kernel.budget ? Json(kernel.budget->count()) : Json(nullptr)},
               {"state", name(kernel.state)},
               {"why", kernel.why},
               {"moves", kernel.moves},
               {"speedup", nullptr},
               {"task_ns", or_null(kernel.task_ns)},
               {"changed_total_ns", or_null(kernel.changed_total_ns)}};
  if (kernel.speedup)
    json["speedup"] = {{"ratio", kernel.speedup->ratio}, {"low", kernel.speedup->low}, {"high", kernel.speedup->high}};
  return json;
}

} // namespace

std::size_t count(const ProgramReport &report, State state) {
  return static_cast<std::size_t>(std::ranges::count(report.kernels, state, &ProgramKernel::state));
}

std::string render_text(const ProgramReport &report, const TableOptions &options) {
  std::string text = report.run + " in " + report.folder + "\n" + run_text(report) + table(report, options.max_rows);
  if (const std::string counts = counts_text(report); !counts.empty())
    text += "  " + counts + "\n";
  for (const std::string &line : comparison(report))
    text += line + "\n";
  text += report.outcome + "\n";
  if (!report.patch_path.empty())
    text += "Patch: " + report.patch_path + " (" + joined(report.changed_files, ", ") + "); use it with: patch -p1 <" +
            report.patch_path + "\n";
  if (report.apply)
    text += report.apply->message + "\n";
  return text;
}

Json render_json(const ProgramReport &report) {
  Json kernels = Json::array();
  for (const ProgramKernel &kernel : report.kernels)
    kernels.push_back(to_json(kernel));
  Json json = {{"folder", report.folder},
               {"run", report.run},
               {"build", report.build},
               {"check", report.check},
               {"capture", report.capture},
               {"kernels", kernels},
               {"gpu_ns", report.gpu_ns},
               {"changed_gpu_ns", or_null(report.changed_gpu_ns)},
               {"first_runs_s", to_json(report.first_runs_s)},
               {"original_s", to_json(report.original_s)},
               {"changed_s", to_json(report.changed_s)},
               {"ratio", to_json(report.ratio)},
               {"texts", report.texts},
               {"not_compared", report.not_compared},
               {"tests", report.tests},
               {"changed_files", report.changed_files},
               {"patch", report.patch},
               {"patch_path", report.patch_path.empty() ? Json(nullptr) : Json(report.patch_path)},
               {"outcome", report.outcome},
               {"interrupted", report.interrupted},
               {"applied", nullptr}};
  if (report.apply)
    json["applied"] = {{"applied", report.apply->state == ApplyResult::State::Applied},
                       {"message", report.apply->message}};
  return json;
}

std::string render_html(const ProgramReport &report) {
  std::string html = "<section id='program'><h2>" + escape_html(report.run) + "</h2><p class='muted mono'>" +
                     escape_html(report.folder) + "</p><p>" + escape_html(report.outcome) + "</p><p>" +
                     escape_html(run_text(report)) + "</p><div class='scroll'><table><thead><tr>";
  for (const std::string &heading : kHeading)
    html += "<th>" + escape_html(heading) + "</th>";
  html += "</tr></thead><tbody>";
  for (const ProgramKernel &kernel : report.kernels) {
    html += "<tr>";
    for (const std::string &cell : row_of(kernel))
      html += "<td>" + escape_html(cell) + "</td>";
    html += "</tr>";
  }
  html += "</tbody></table></div>";
  for (const std::string &line : comparison(report))
    html += "<p>" + escape_html(line) + "</p>";
  return html + "</section>";
}

} // namespace warpwright::cli
