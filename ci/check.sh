#!/usr/bin/env bash
# `warpwright check` in a continuous integration job. Writes the reports, adds the table to the
# job's page where the server has one, and ends with the exit code of the check: 0 fine, 1 worse, 2
# wrong arguments, 3 unknown.
#
# Environment:
#   WARPWRIGHT_BASE        revision to compare with; default: the target of the merge or pull request
#   WARPWRIGHT_PROGRAM     the program; default: warpwright
#   WARPWRIGHT_ARGUMENTS   further arguments, as "--fail-slower 2% --runner ssh://gpu-box"; words are split at blanks
#   WARPWRIGHT_REPORTS     folder for warpwright.sarif, warpwright.xml and warpwright.md; default: warpwright-reports
# usage: ci/check.sh
set -uo pipefail

program=${WARPWRIGHT_PROGRAM:-warpwright}
reports=${WARPWRIGHT_REPORTS:-warpwright-reports}
base=${WARPWRIGHT_BASE:-}
[ -n "$base" ] || base=${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}
[ -n "$base" ] || base=${GITHUB_BASE_REF:+origin/$GITHUB_BASE_REF}
if [ -z "$base" ]; then
  echo "check.sh: this job has no merge or pull request: set WARPWRIGHT_BASE to the revision to compare with" >&2
  exit 2
fi
command -v "$program" >/dev/null || { echo "check.sh: there is no program $program: install a package of warpwright before" >&2; exit 2; }
read -r -a arguments <<<"${WARPWRIGHT_ARGUMENTS:-}"
mkdir -p "$reports"
"$program" check --base "$base" --sarif "$reports/warpwright.sarif" --junit "$reports/warpwright.xml" \
  --markdown "$reports/warpwright.md" ${arguments[@]+"${arguments[@]}"}
code=$?
case $code in 0) result=fine ;; 1) result=worse ;; 3) result=unknown ;; *) result=failed ;; esac
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  printf 'result=%s\nsarif=%s\njunit=%s\nmarkdown=%s\n' "$result" "$reports/warpwright.sarif" "$reports/warpwright.xml" "$reports/warpwright.md" >>"$GITHUB_OUTPUT"
fi
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || [ ! -e "$reports/warpwright.md" ] || cat "$reports/warpwright.md" >>"$GITHUB_STEP_SUMMARY"
exit $code
