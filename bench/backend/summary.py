"""Rows of run.py as a plain table, and what they say together."""

REGIMES = {"called": "as called", "graph": "CUDA graph", "reduce-overhead": "reduce-overhead"}
PLAIN = {"called": "compile", "graph": "compile", "reduce-overhead": "compile reduce-overhead"}


def ratio_text(one):
    return f"{one['ratio']:.2f} [{one['low']:.2f}, {one['high']:.2f}]"


def beside(row, regime, which):
    """Ours beside the best right form of the regime, or beside Inductor in the same mode; None: not measured."""
    found = row.get(regime)
    name = found and (found["best"] if which == "best" else PLAIN[regime])
    return found["baselines"].get(name) if name else None


def line_of(row):
    if "failed" in row:
        return f"{row['id']:52} failed: {row['failed']}"
    verdict = "right" if row["right"] else "WRONG"
    text = f"{row['id']:52} {verdict}, {row['bound']}/{row['graphs']} graphs bound, {row['covered']}/{row['operators']} operators"
    for regime, words in REGIMES.items():
        plain, best = beside(row, regime, "plain"), beside(row, regime, "best")
        if plain:
            text += f"; {words} {row[regime]['ours_us']:.0f} us, compile {ratio_text(plain)}"
        if best and row[regime]["best"] != PLAIN[regime]:
            text += f", best ({row[regime]['best']}) {ratio_text(best)}"
    if row.get("share_of_device_time") is not None:
        text += f"; {100 * row['share_of_device_time']:.0f}% of device time in plans"
    for kind, facts in (("", row["forms"]), ("as a CUDA graph ", row.get("captured", {}))):
        for name, one in facts.items():
            text += "".join(f"\n    {kind}{name} {what}: {one[what]}" for what in ("wrong", "as_inductor", "failed") if what in one)
    return text


def show(rows):
    rows = list(rows)
    for row in rows:
        print(line_of(row))
    good = [row for row in rows if "failed" not in row]
    print(f"\n{len(rows)} modules, {len(rows) - len(good)} failed; of {len(good)}: {sum(row['right'] for row in good)} right "
          f"({sum('as_inductor' in row['forms'].get('ours', {}) for row in good)} of them as Inductor, not as eager), "
          f"{sum(bool(row['bound']) for row in good)} with plans")
    for regime, words in REGIMES.items():
        for which, other in (("plain", "compile"), ("best", "the best right form")):
            pairs = [(row["id"], one) for row in good if (one := beside(row, regime, which))]
            below = [name for name, one in pairs if one["high"] < 1]
            if pairs:
                print(f"{words}, beside {other}: {len(pairs)} modules, {sum(one['low'] > 1.05 for _, one in pairs)} above 1.05 by interval, "
                      f"{sum(one['ratio'] > 1.05 for _, one in pairs)} by median; {len(below)} below 1 by interval")
                print("".join(f"    {name}\n" for name in below), end="")
    shares = [row["share_of_device_time"] for row in good if row.get("share_of_device_time") is not None]
    if shares:
        print(f"device time in plans, mean of {len(shares)} modules: {100 * sum(shares) / len(shares):.0f}%")
