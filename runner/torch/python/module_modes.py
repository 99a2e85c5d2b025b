"""The mode in which a task's module is called: "made" (as its constructor leaves each submodule),
"eval" or "train". Thread: any."""


def in_mode(module, mode):
    return module if mode == "made" else module.train(mode == "train")
