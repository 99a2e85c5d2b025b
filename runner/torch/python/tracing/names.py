"""C identifiers for the names of a graph and its buffers.

Names with a meaning in C++ or CUDA get an underscore, because the generator uses names in device
source.
"""
import re

RESERVED = set("""
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const consteval constexpr
constinit continue co_await co_return co_yield decltype default delete do double else enum explicit export extern false float
for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
register requires return short signed sizeof static struct switch template this throw true try typedef typeid typename union
unsigned using virtual void volatile wchar_t while xor xor_eq half threadIdx blockIdx blockDim gridDim warpSize dim3 main std
""".split())


def identifier(text):
    """`text` as a C identifier of about 100 characters: other characters become '_'."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text)[:100] or "_"
    if name[0].isdigit() or name.startswith("__"):
        name = "v" + name
    return name + "_" if name in RESERVED else name


class Names:
    """The set of used names. Results of ops are numbered: `add_1`, `add_2`."""

    def __init__(self):
        self.taken = set()
        self.counts = {}

    def leaf(self, text):
        """A name for an input or a parameter: the identifier of `text`, with a suffix if it is
        used."""
        name, number = identifier(text), 1
        base = name
        while name in self.taken:
            name, number = "%s_v%d" % (base, number), number + 1
        self.taken.add(name)
        return name

    def result(self, op):
        while True:
            self.counts[op] = self.counts.get(op, 0) + 1
            name = "%s_%d" % (op, self.counts[op])
            if name not in self.taken:
                self.taken.add(name)
                return name
