"""The steps of docs/first-ten-minutes.md: which lines of their output the page shows.

The page itself has the commands. A step names its region there as "PLACE NAME", and its key lines:
patterns that the output must have in this order. The page shows these lines and replaces all others
by "...". A step with `gpu` is recorded on a machine with a GPU. Without one, its commands still
run, changed as `without_gpu` states, and only the key lines for a CPU must be there.
"""
import typing


class Key(typing.NamedTuple):
    pattern: str
    on: str = "any"    # "gpu" or "cpu": expected only there
    most: int = 1      # lines in a row that may match


class Step(typing.NamedTuple):
    region: str
    keys: list
    gpu: bool = False
    exit_code: int = 0
    without_gpu: tuple = ()   # (old, new) texts of commands

    @property
    def place(self):
        return self.region.split()[0]


ON_CPU_THERE = (("ssh://gpu-box", "'ssh://gpu-box?cpu=yes'"),)
DIFF = [Key(r"^--- a/examples/transpose\.cu$"), Key(r"^\+\+\+ b/examples/transpose\.cu$"), Key(r"^-    out\[x \* rows \+ y\]"),
        Key(r"^\+  __shared__ ")]
VARIANTS = [Key(r"^transpose  examples/transpose\.cu:8 "), Key(r"^  moves +outcome +error +time +speedup +device$"),
            Key(r"^  (.* verified .*\d [um]s +\d.*x \[|\+ )", "gpu", most=4), Key(r"^  .*tiled_transpose.* verified ", "cpu")]

STEPS = [
    Step("laptop doctor", [Key(r"^  ok  analysis "), Key(r"^  ok  runner +started by warpwright, version "), Key(r"^  ok  CPU worker "),
                           Key(r"^  --  GPU +No GPU"), Key(r"^Ready to check variants on the CPU\.")]),
    Step("laptop analyze", [Key(r"^examples/transpose\.cu$"), Key(r"^  transpose  line 8, 1 launch$"), Key(r"^    looks like +transpose$"),
                            Key(r"^    global accesses +1 coalesced, 1 strided$"), Key(r"^    task +known$"),
                            Key(r"^  8:\d+: hint: .*\[missing-restrict\]$"), Key(r"^  12:5: warning: .*\[uncoalesced-access\]$")]),
    Step("laptop optimize", [Key(r"^No GPU here: "), *VARIANTS, *DIFF, Key(r"^Checked on the CPU: "),
                             Key(r"^Apply it: .*--kernel transpose --apply=checked$")]),
    Step("laptop apply", [Key(r"^Applied to examples/transpose\.cu: .*tiled_transpose")]),
    Step("laptop diff", [Key(r"^ examples/transpose\.cu \| "), Key(r"^ 1 file changed, \d+ insertions")]),

    Step("ssh login", [Key(r"^GPU 0: ", "gpu"), Key("^Linux$", "cpu")], gpu=True, without_gpu=(("nvidia-smi -L", "uname -s"),)),
    Step("ssh doctor", [Key(r"^warpwright: copying the runner to gpu-box \(\d+ MB\)$"), Key(r"^  ok  runner +ssh://gpu-box, version "),
                        Key(r"^  ok  CPU worker ", "cpu"), Key(r"^  ok  GPU ", "gpu"), Key(r"^  runner +state +GPU +driver +latency +isolation$"),
                        Key(r"^  ssh://gpu-box +ready "), Key(r"^Ready: variants are verified and measured on the GPU\.$", "gpu"),
                        Key(r"^Ready to check variants on the CPU\.", "cpu")], gpu=True, without_gpu=ON_CPU_THERE),
    Step("ssh again", [Key(r"^  ssh://gpu-box +ready ")], gpu=True, without_gpu=ON_CPU_THERE),
    Step("ssh optimize", [*VARIANTS, *DIFF, Key(r"^Apply it: .* --apply( |$)", "gpu"), Key(r"^Apply it: ", "cpu")], gpu=True,
         without_gpu=ON_CPU_THERE),
    Step("ssh apply", [Key(r"^Applied to examples/transpose\.cu: .*tiled_transpose")], gpu=True,
         without_gpu=(*ON_CPU_THERE, ("--apply", "--apply=checked"))),
    Step("ssh mistake", [Key(r"^  !!  runner +there is no host gpu-bax: "), Key(r"^ +Try it in a terminal: ssh gpu-bax$")], exit_code=1),

    Step("pip install", [Key(r"^Successfully installed warpwright-")], gpu=True),
    Step("pip backends", [Key(r"'warpwright'")], gpu=True),
    Step("pip search", [Key(r"^warpwright: region \d+/\d+: ", most=3), Key(r"^warpwright: 1 of 1 graphs use plans", "cpu"),
                        Key(r"^warpwright: \d of 1 graphs use plans", "gpu"), Key(r"^  graph 1: ")], gpu=True),
    Step("pip later", [Key(r"^torch\.Size\(\[64, 2048\]\)$"), Key(r"^warpwright: \d of 1 graphs use plans"), Key(r"^  graph 1: ")], gpu=True),
    Step("pip refused", [Key(r"^warpwright\.core\.CoreError: the model and its inputs are on the CPU, and plans are for GPUs")], exit_code=1),
]
