// Style of training pages, in addition to the project's report style: a palette of eight colors and a grid of plots.
// Thread: constant data.
#pragma once

namespace warpwright::trainer {

inline constexpr char kPageStyle[] = R"css(
:root { --c0: #3d6fb4; --c1: #0f7b53; --c2: #c2701e; --c3: #8250df; --c4: #b0413e; --c5: #0e7c86; --c6: #8a6d3b; --c7: #b83280; }
@media (prefers-color-scheme: dark) { :root {
  --c0: #7cabeb; --c1: #4fc893; --c2: #f0a35e; --c3: #b794f6; --c4: #ee8a84; --c5: #5fc4cf; --c6: #cfab6d; --c7: #f08cc0; } }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(400px, 1fr)); gap: 22px 34px; margin-top: 12px; }
@media (max-width: 820px) { .plots { grid-template-columns: 1fr; } }
figure { margin: 0; } figcaption { font-size: 13px; font-weight: 600; color: var(--muted); margin: 0 0 6px; }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; } .curve.faint { stroke-width: 1; opacity: .3; }
.band { opacity: .14; stroke: none; }
.s0 { stroke: var(--c0); } .s1 { stroke: var(--c1); } .s2 { stroke: var(--c2); } .s3 { stroke: var(--c3); }
.s4 { stroke: var(--c4); } .s5 { stroke: var(--c5); } .s6 { stroke: var(--c6); } .s7 { stroke: var(--c7); }
circle.s0, .band.s0 { fill: var(--c0); } circle.s1, .band.s1 { fill: var(--c1); } circle.s2, .band.s2 { fill: var(--c2); }
circle.s3, .band.s3 { fill: var(--c3); } circle.s4, .band.s4 { fill: var(--c4); } circle.s5, .band.s5 { fill: var(--c5); }
circle.s6, .band.s6 { fill: var(--c6); } circle.s7, .band.s7 { fill: var(--c7); }
.k0 { background: var(--c0); } .k1 { background: var(--c1); } .k2 { background: var(--c2); } .k3 { background: var(--c3); }
.k4 { background: var(--c4); } .k5 { background: var(--c5); } .k6 { background: var(--c6); } .k7 { background: var(--c7); }
td.name { white-space: nowrap; } td.won { color: var(--best); font-weight: 600; } td.lost { color: var(--bad); } details pre { padding: 10px 16px; white-space: pre-wrap; }
summary { cursor: pointer; color: var(--muted); font-size: 13.5px; margin-top: 8px; }
)css";

} // namespace warpwright::trainer
