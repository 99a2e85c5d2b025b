#include "support/model/verdict_text.h"

#include "support/model/json.h"
#include "support/words.h"

#include <algorithm>

namespace warpwright::model {

std::string outcome_text(Outcome outcome) {
  std::string text(name(outcome));
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string outcome_text(const Verdict &verdict) {
  return outcome_text(verdict.outcome) + (verdict.conditioning ? ", ill-conditioned" : "");
}

bool blames_reference(const Verdict &verdict) {
  return verdict.outcome == Outcome::Unsupported &&
         verdict.message.starts_with("the task's reference");
}

std::string speedup_text(const Speedup &speedup) {
  return printed("%.2fx [", speedup.ratio) + printed("%.2f, ", speedup.low) +
         printed("%.2f]", speedup.high);
}

std::string time_text(double nanoseconds) {
  const auto three_digits = [](double value) { // for values in [1, 1000)
    return printed(value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value);
  };
  if (nanoseconds < 999.5)
    return printed("%.0f ns", nanoseconds);
  if (nanoseconds < 999.5e3)
    return three_digits(nanoseconds / 1e3) + " us";
  if (nanoseconds < 999.5e6)
    return three_digits(nanoseconds / 1e6) + " ms";
  return printed("%.2f s", nanoseconds / 1e9);
}

} // namespace warpwright::model
