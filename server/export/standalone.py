def _warpwright_plans(source, plan):
    """A class decorator: calls that are as verified launch the plan's kernels, all others run the class's own forward. Needs torch 2.8."""
    import collections, torch, types, warnings  # noqa: E401
    kernels, refused, ran, backends = {}, collections.Counter(), collections.Counter(), torch.backends
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
    def is_verified(module, guards):  # a module without submodules
        flags, held, missing = guards["flags"], vars(module), object()
        for _, name, value in guards["attributes"]:
            of_class = isinstance(value, tuple)  # no attribute of the module hides it
            if of_class and name in held or value != ("class",) and repr(getattr(module, name, missing)) != repr(value[1] if of_class else value):
                return False
        return (module.training == (guards["training"] == "T") and not module._modules and not torch.is_autocast_enabled()
                and (backends.cuda.matmul.allow_tf32 or not flags.get("matmul_tf32")) and (backends.cudnn.allow_tf32 or not flags.get("cudnn_tf32"))
                and (flags["deterministic"] or not torch.are_deterministic_algorithms_enabled()) and not torch._C._get_tracing_state()
                and flags["default_dtype"] == str(torch.get_default_dtype())[6:]
                and not torch._C._len_torch_dispatch_stack() and torch._C._functorch.peek_interpreter_stack() is None)
    def is_as(tensor, dtype, shape, device):
        return (type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.device == device and str(tensor.dtype) == "torch." + dtype
                and list(tensor.shape) == shape and tensor.is_contiguous() and tensor.data_ptr() % 16 == 0 and not tensor.is_conj()
                and not tensor.is_neg() and not (tensor.requires_grad and torch.is_grad_enabled()))
    def compiled(device):
        found, target = torch.cuda.get_device_properties(device), plan["target"] and plan["target"][3:]
        if plan["capability"] not in (None, 10 * found.major + found.minor) or found.multi_processor_count < (plan["multiprocessors"] or 0):
            raise RuntimeError("the GPU is another than it was verified on")
        return {name: torch.cuda._compile_kernel(source, name, compute_capability=target, nvcc_options=list(plan["options"]))
                for name in {step[1] for step in plan["steps"]}}
    def outputs(kind, module, inputs, keywords):
        if not torch.cuda.is_available():
            raise RuntimeError("there is no CUDA GPU")
        if keywords or type(module) is not kind or not any(is_verified(module, guards) for guards in plan["guards"]):
            raise RuntimeError("the module, a flag, a mode or the arguments are not as verified")
        device, tensors = torch.device("cuda", torch.cuda.current_device()), [*inputs, *(getattr(module, name, None) for name in plan["state"])]
        if len(tensors) != len(plan["arguments"]) or not all(is_as(one, *as_, device) for one, (_, *as_) in zip(tensors, plan["arguments"])):
            raise RuntimeError("an input or a tensor of the module is not as verified")
        if device not in kernels:
            kernels[device] = None  # if this fails
            kernels[device] = compiled(device)
        if not kernels[device]:
            raise RuntimeError("the kernels are not for this GPU, or could not be compiled")
        held = {name: one for one, (name, *_) in zip(tensors, plan["arguments"])}
        for name, dtype, shape in plan["results"] + plan["temporaries"]:
            held[name] = torch.empty(shape, dtype=getattr(torch, dtype), device=device)
        for _, name, grid, block, shared, arguments, *_ in plan["steps"]:
            values = [held[value].view(-1)[offset[0]:] if as_ == "buffer" else value for as_, value, *offset in arguments]
            kernels[device][name](grid=grid, block=block, args=values, shared_mem=shared)
        return tuple(held[name] for name, *_ in plan["results"])
    def decorate(kind):
        def forward(self, *inputs, **keywords):
            if is_compiling():
                return original(self, *inputs, **keywords)
            try:
                found = outputs(kind, self, inputs, keywords)
                ran[kind] += 1
                return found[0] if plan["outputs"] is ... else found
            except (AttributeError, OSError, RuntimeError) as error:
                refused[str(error)] += 1
                if refused[str(error)] == 1:
                    warnings.warn(f"{kind.__name__}: the verified kernels are not used, its own forward runs: {error} (said once)", RuntimeWarning)
            return original(self, *inputs, **keywords)
        original, kind.forward = kind.forward, forward
        kind.warpwright_plan = types.SimpleNamespace(runs=lambda: ran[kind], fallbacks=lambda: dict(refused))
        return kind
    return decorate
