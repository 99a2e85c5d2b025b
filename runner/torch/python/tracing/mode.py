"""Dispatch mode that records the ATen calls of a forward pass as nodes.

The mode runs below autograd, so that in all versions it sees operators as the module calls them
(`conv2d`, `layer_norm`, `scaled_dot_product_attention`), before PyTorch decomposes them. PyTorch's
composite kernels decompose operators without a handler. Operators without a composite kernel become
opaque `aten` nodes. Tensors are fake: they have shapes and no memory. In-place operators become
their functional form and a write.
"""
import torch
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from . import operators  # noqa: F401, registers the handlers
from .call import Call, bound_arguments, dtype_name, map_tensors, with_dtype
from .errors import Mistake, NeedsValues, Refusal
from .opaque import number_dtype, opaque, wants_tensor
from .refusals import on_cpu, refuse_by_name
from .registry import HANDLERS, SHAPES, View
from .values import Tracked, Values

CONSTANT_ELEMENTS = 65536
AUGMENTED = {"__iand__": "bitwise_and", "__ior__": "bitwise_or", "__ixor__": "bitwise_xor", "__ilshift__": "bitwise_left_shift",
             "__irshift__": "bitwise_right_shift"}  # assignments such as "&="


def is_fake(tensor):
    return hasattr(tensor, "fake_mode")


def is_composite(func):
    return torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")


def short_name(func):
    return func._schema.name.split("::")[-1]


def as_tensor(value):
    return torch.scalar_tensor(value, dtype=number_dtype(value)) if isinstance(value, (bool, int, float)) else value


def functional_form(func, written):
    """The overload that returns the values that `func` writes; None if there is none."""
    name = short_name(func)
    packet = getattr(torch.ops.aten, AUGMENTED.get(name) or (name[:-1] if name.endswith("_") else name), None)
    if packet is None:
        return None
    wanted = [a.name for a in func._schema.arguments if name.endswith("_") or a.name not in written]
    for overload in packet.overloads():
        candidate = getattr(packet, overload)
        arguments = candidate._schema.arguments
        if [a.name for a in arguments] == wanted and not any(a.alias_info and a.alias_info.is_write for a in arguments):
            if [str(a.type) for a in arguments] == [str(a.type) for a in func._schema.arguments if a.name in wanted]:
                return candidate
    return None


class GraphMode(TorchDispatchMode):
    """@param fake_mode the FakeTensorMode around this mode"""

    def __init__(self, builder, fake_mode):
        super().__init__()
        self.builder = builder
        self.fake_mode = fake_mode
        self.values = Values()
        self.stand_ins = {}  # id of a real tensor -> its fake tensor
        self.laid_out = set()
        self.attribute = lambda tensor: None  # adds a leaf for a tensor in a module's attribute

    # Tensors and values.

    def fake(self, tensor):
        if is_fake(tensor):
            return tensor
        if id(tensor) not in self.stand_ins:
            self.stand_ins[id(tensor)] = self.fake_mode.from_tensor(tensor)
            self.values.alive.append(tensor)
        return self.stand_ins[id(tensor)]

    def track(self, tensor, value):
        tracked = self.values.bind(tensor, Tracked(value))
        if self.fake(tensor) is not tensor:
            self.values.bind(self.fake(tensor), tracked)
        return tracked

    def tracked(self, tensor):
        return self.values.find(tensor) or self.attribute(tensor) or self.captured(tensor)

    def captured(self, tensor):
        """Tracks a tensor of unknown origin as a constant: a literal, or a tensor that the source
        made earlier."""
        if is_fake(tensor) or tensor.device.type == "meta":
            raise NeedsValues()
        if tensor.numel() > CONSTANT_ELEMENTS:
            raise Refusal("forward uses a tensor of shape %s that is neither an input nor the module's own; register it "
                          "with register_buffer" % list(tensor.shape))
        with no_dispatch():
            values = tensor.detach().cpu().reshape(-1).tolist()
        return self.track(tensor, self.builder.constant_tensor(values, dtype_name(tensor.dtype), tuple(tensor.shape)))

    def read(self, tensor):
        return self.values.read(self.tracked(tensor))

    # Calls.

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if not func._schema.name.startswith("aten::"):
            if func._schema.name.startswith("prim::"):
                return func(*map_tensors(self.fake, args), **map_tensors(self.fake, kwargs))
            raise Refusal("forward calls %s, an operator that is not ATen's" % func._schema.name)
        args, kwargs = on_cpu(args, kwargs)
        return self.call(func, args, with_dtype(func, args, kwargs))

    def call(self, func, args, kwargs):
        bound = bound_arguments(func, args, kwargs)
        known = self.known_number(func, bound)
        if known is not None:
            return known
        refuse_by_name(func, bound)
        if not any("Tensor" in str(result.type) for result in func._schema.returns):
            return func(*map_tensors(self.fake, args), **map_tensors(self.fake, kwargs))
        changed = [a for a in func._schema.arguments if a.alias_info and a.alias_info.is_write]
        written, into_out = [a.name for a in changed], any(a.kwarg_only for a in changed)
        name = short_name(func)
        handler = HANDLERS.get(name + "." + func._schema.overload_name) or HANDLERS.get(name)
        if into_out or (written and handler is None):
            return self.in_place(func, args, kwargs, bound, written)
        if handler is None and is_composite(func):
            return self.taken_apart(func, args, kwargs)
        return self.recorded(func, args, kwargs, handler)

    def known_number(self, func, bound):
        """The result of Tensor.item() for a tensor that is a constant; None for other calls."""
        if short_name(func) not in ("item", "_local_scalar_dense"):
            return None
        node = self.builder.by_name[self.read(bound["self"])]
        value = node["attributes"].get("value")
        return value if node["op"] == "constant" and isinstance(value, (bool, int, float)) else None

    def taken_apart(self, func, args, kwargs):
        with self:
            return func.decompose(*args, **kwargs)

    def recorded(self, func, args, kwargs, handler):
        call = Call(self, func, args, kwargs)
        shape_rule = SHAPES.get(short_name(func))
        out = shape_rule(call) if shape_rule else NotImplemented
        if out is NotImplemented:
            out = self.computed(func, map_tensors(self.fake, args), map_tensors(self.fake, kwargs))
        call.out = out
        result = handler(call) if handler else NotImplemented
        if result is NotImplemented:
            if handler and is_composite(func):
                return self.taken_apart(func, args, kwargs)
            result = self.guarded_views(call, opaque(call))
        out = call.out
        outs = [out] if isinstance(out, torch.Tensor) else list(out)
        results = result if isinstance(result, list) else [result]
        for tensor, entry in zip(outs, results):
            if tensor is not None and entry is not None:
                self.bind(tensor, entry)
        return out

    @staticmethod
    def computed(func, args, kwargs):
        """The result of an operator. PyTorch's own callers may pass numbers where the operator
        expects tensors."""
        try:
            return func(*args, **kwargs)
        except RuntimeError as error:
            if "Expected a value of type 'Tensor'" not in str(error):
                raise
            return func(*[as_tensor(value) if wants_tensor(argument) else value
                          for value, argument in zip(args, func._schema.arguments)], **kwargs)

    def guarded_views(self, call, results):
        """Results of an opaque operator that share memory with an argument. They may be read until
        a write to that memory, which is refused."""
        shared = [r.alias_info is not None for r in call.func._schema.returns]
        if not any(shared):
            return results

        def refuse(*_):
            raise Refusal("forward writes in place to a tensor that %s looks at" % call.func)
        views, source = [], self.tracked(call.positional[0])
        for value in results:
            views.append(View(call.positional[0], refuse, refuse))
            views[-1].now = value
        self.values.read(source)
        return views

    def bind(self, tensor, entry):
        if isinstance(entry, View):
            base = self.tracked(entry.base)
            current = self.values.read(base)
            value = entry.now or entry.forward(current)
            self.values.bind(tensor, Tracked(value, base, entry.forward, entry.backward))
        else:
            value = entry
            self.values.bind(tensor, Tracked(value))
        kind = (dtype_name(tensor.dtype), tuple(tensor.shape))
        if kind != (self.builder.dtype(value), self.builder.shape(value)):
            raise Mistake("the tracer made %s %s%s of what PyTorch says is %s%s" % (
                value, self.builder.dtype(value), self.builder.shape(value), *kind))
        self.layout(value, tensor)

    def layout(self, value, tensor):
        """Gives a node the strides of the first tensor that is bound to it."""
        if value in self.laid_out:
            return
        self.laid_out.add(value)
        if self.builder.by_name[value]["op"] not in ("input", "parameter", "constant", "item"):
            self.builder.set_strides(value, tensor.stride())

    def in_place(self, func, args, kwargs, bound, written):
        """Records the functional form and a write of its results."""
        form = functional_form(func, written)
        if form is None:
            raise Refusal("forward calls %s, which works in place and has no functional form" % func)
        arguments = form._schema.arguments
        results = self.call(form, tuple(bound[a.name] for a in arguments if not a.kwarg_only),
                            {a.name: bound[a.name] for a in arguments if a.kwarg_only})
        results = [results] if isinstance(results, torch.Tensor) else list(results)
        for name, result in zip(written, results):
            target = bound[name]
            value = self.builder.cast(self.read(result), dtype_name(target.dtype))
            self.values.write(self.tracked(target), self.builder.expand(value, tuple(target.shape)))
        targets = [bound[name] for name in written]
        return targets[0] if len(targets) == 1 else tuple(targets)
