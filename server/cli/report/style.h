// Style sheet of the HTML report: light or dark by the reader's system, tabular figures, a print
// layout. Thread: constant data.
#pragma once

namespace warpwright::cli {

inline constexpr char kReportStyle[] = R"css(
:root { color-scheme: light dark;
  --page: #fbfaf8; --card: #ffffff; --ink: #1c1f23; --muted: #666e77; --rule: #e4e2dd; --grid: #eceae5;
  --best: #0f7b53; --best-soft: #e3f3eb; --variant: #3d6fb4; --reference: #8a6d3b; --roof: #b0413e; --bad: #b0413e;
  --warn: #9a6700; --warn-soft: #fdf4dd; --add: #e2f3e8; --add-ink: #12603f; --del: #fbe9e7; --del-ink: #8d2b25; }
@media (prefers-color-scheme: dark) { :root {
  --page: #121416; --card: #1a1d20; --ink: #e7e9ea; --muted: #98a1a9; --rule: #2d3236; --grid: #262a2e;
  --best: #4fc893; --best-soft: #17332a; --variant: #7cabeb; --reference: #cfab6d; --roof: #ee8a84; --bad: #ee8a84;
  --warn: #e3b341; --warn-soft: #332a12; --add: #15301f; --add-ink: #8fdcb2; --del: #3a1d1b; --del-ink: #f3aaa5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; }
main { max-width: 1060px; margin: 0 auto; padding: 40px 24px 72px; }
h1 { font-size: 28px; line-height: 1.2; letter-spacing: -.02em; margin: 0 0 6px; font-weight: 650; }
h2 { font-size: 21px; letter-spacing: -.01em; margin: 0; font-weight: 650; }
h3 { font-size: 13px; font-weight: 600; color: var(--muted); margin: 26px 0 8px; }
p { margin: 6px 0; } a { color: var(--variant); text-decoration: none; } a:hover { text-decoration: underline; }
.muted { color: var(--muted); }
code, pre, .mono { font-family: ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 12.5px; }
.banner { background: var(--warn-soft); border-left: 3px solid var(--warn); padding: 12px 16px; border-radius: 4px; margin: 20px 0; }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 24px 28px 28px; margin: 28px 0; }
.head { display: flex; justify-content: space-between; align-items: baseline; gap: 24px; flex-wrap: wrap; }
.hero { display: flex; gap: 44px; flex-wrap: wrap; margin: 18px 0 4px; }
.hero div { min-width: 110px; } .hero b { display: block; font-size: 25px; line-height: 1.25; font-weight: 620; letter-spacing: -.015em; }
.hero .best b { color: var(--best); } .hero span { font-size: 13px; color: var(--muted); }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { text-align: left; font-weight: 600; color: var(--muted); font-size: 12.5px; padding: 6px 14px 6px 0; border-bottom: 1px solid var(--rule); white-space: nowrap; }
td { padding: 6px 14px 6px 0; border-bottom: 1px solid var(--grid); vertical-align: top; }
th.n, td.n { text-align: right; white-space: nowrap; } td:last-child, th:last-child { padding-right: 0; }
tr.best td { background: var(--best-soft); } tr.best td:first-child { box-shadow: inset 3px 0 var(--best); padding-left: 10px; font-weight: 600; }
tr.failed td { color: var(--muted); } td small { display: block; color: var(--muted); font-size: 12px; max-width: 62ch; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font-family: inherit; fill: var(--ink); paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; } .label { font-size: 12.5px; } .value { font-size: 12.5px; fill: var(--muted) !important; }
svg .strong { font-weight: 650; fill: var(--ink) !important; } .tick, .axis { font-size: 11.5px; fill: var(--muted) !important; }
svg .on-bar { fill: var(--card) !important; stroke: none; font-weight: 600; }
.cpu .g { display: none; }
.grid { stroke: var(--grid); } .baseline { stroke: var(--reference); stroke-dasharray: 4 4; } .roof { stroke: var(--roof); stroke-width: 2; }
.interval { stroke-width: 5; stroke-linecap: butt; opacity: .45; }
line.reference { stroke: var(--reference); } line.variant { stroke: var(--variant); } line.best { stroke: var(--best); }
circle.reference, rect.reference { fill: var(--reference); } circle.variant { fill: var(--variant); } circle.best, rect.best { fill: var(--best); }
.outcome-0 { fill: var(--best); background: var(--best); } .outcome-1 { fill: #8b949e; background: #8b949e; }
.outcome-2 { fill: var(--bad); background: var(--bad); } .outcome-3 { fill: #c69026; background: #c69026; }
.outcome-4 { fill: #8250df; background: #8250df; } .outcome-5 { fill: #d14791; background: #d14791; } .outcome-6 { fill: #b6bcc2; background: #b6bcc2; }
.legend { font-size: 13px; color: var(--muted); } .legend span { margin-right: 20px; } .legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 7px; }
.two { display: grid; grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); gap: 40px; } @media (max-width: 820px) { .two { grid-template-columns: 1fr; gap: 0; } }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 5px 20px; margin: 0; font-size: 13.5px; } dt { color: var(--muted); } dd { margin: 0; overflow-wrap: anywhere; }
pre { margin: 0; overflow-x: auto; border: 1px solid var(--rule); border-radius: 6px; padding: 10px 0; line-height: 1.5; background: var(--page); }
pre .row { display: block; padding: 0 16px; min-width: max-content; } pre .gutter { display: inline-block; width: 4ch; margin-right: 1ch; text-align: right; color: var(--muted); opacity: .75; user-select: none; }
pre .add { background: var(--add); color: var(--add-ink); } pre .del { background: var(--del); color: var(--del-ink); } pre .hunk { color: var(--muted); padding-top: 6px; }
.error { color: var(--bad); } footer { color: var(--muted); font-size: 13px; }
@media print { section { break-inside: avoid; } }
)css";

} // namespace warpwright::cli
