#include "server/program/output_mask.h"

#include "support/words.h"

#include <algorithm>

namespace warpwright::program {

OutputMask::OutputMask(std::span<const RunOutput> originals, const NumberTolerance &tolerance)
    : status_(originals.front().status) {
  std::map<std::string, std::vector<std::string>> texts;
  for (const RunOutput &run : originals)
    for (const auto &[name, text] : run.texts)
      texts[name].push_back(text);
  for (const auto &[name, each] : texts)
    if (each.size() == originals.size())
      masks_.emplace(name, TextMask(each, tolerance));
    else
      varying_.push_back(name);
}

std::vector<std::string> OutputMask::differences(const RunOutput &run) const {
  std::vector<std::string> found;
  if (run.status != status_)
    found.push_back("it ends with the status " + std::to_string(run.status) + ", and the original with " +
                    std::to_string(status_));
  for (const auto &[name, mask] : masks_)
    if (const auto text = run.texts.find(name); text == run.texts.end())
      found.push_back("it does not write " + name);
    else if (const auto told = mask.difference(text->second))
      found.push_back(name + ": " + *told);
  for (const auto &[name, text] : run.texts)
    if (!masks_.contains(name) && varying_.empty()) // else names of files differ from run to run
      found.push_back("it writes " + name + ", which the original does not");
  return found;
}

std::vector<std::string> OutputMask::left_out() const {
  std::vector<std::string> notes;
  for (const auto &[name, mask] : masks_)
    if (const std::string note = mask.left_out(); !note.empty())
      notes.push_back(name + ": " + note);
  if (!varying_.empty())
    notes.push_back("not compared, because not every run of the original writes them: " + joined(varying_, ", "));
  return notes;
}

} // namespace warpwright::program
