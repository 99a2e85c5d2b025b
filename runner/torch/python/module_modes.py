"""The mode that a task's module is called in: "made", as its constructor leaves each of its parts, "eval" or "train". Thread: any."""


def in_mode(module, mode):
    return module if mode == "made" else module.train(mode == "train")
