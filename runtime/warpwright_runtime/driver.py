"""ctypes interface to the CUDA driver: loading of kernels, and attributes of devices and functions.
Errors: RuntimeError with the driver's text. Thread: any, with the device's context current.
"""

import ctypes
import struct

NOT_FOUND = 500  # CUDA_ERROR_NOT_FOUND
OWN_SHARED = 1  # CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
MULTIPROCESSORS, COOPERATIVE_LAUNCH, MAX_SHARED = 16, 95, 97  # CUdevice_attribute


class Driver:
    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def address(self, name):
        """Address of a function of the driver; 0 if this driver is too old to have it."""
        return ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value if hasattr(self.library, name) else 0

    def check(self, status):
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(status, ctypes.byref(text))
            raise RuntimeError(f"loading the verified kernels: {text.value.decode() if text.value else status}")

    def context(self):
        context = ctypes.c_void_p()
        self.check(self.library.cuCtxGetCurrent(ctypes.byref(context)))
        return context.value

    def load(self, cubin, lowered, constants=()):
        """{kernel's name: CUfunction}. The module stays loaded as long as the process lives.
        @param constants (name, "int32" or "int64", value) of __constant__ variables that differ from the source's"""
        module, functions = ctypes.c_void_p(), {}
        self.check(self.library.cuModuleLoadData(ctypes.byref(module), cubin))
        for name, symbol in lowered.items():
            function = ctypes.c_void_p()
            self.check(self.library.cuModuleGetFunction(ctypes.byref(function), module, symbol.encode()))
            functions[name] = function.value
        for name, dtype, value in constants:
            self.set_constant(module, name, struct.pack("q" if dtype == "int64" else "i", value))
        return functions

    def set_constant(self, module, name, packed):
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        status = self.library.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), module, name.encode())
        if status == NOT_FOUND:  # the compiler dropped it, since no kernel reads it
            return
        self.check(status)
        if size.value != len(packed):
            raise RuntimeError(f"loading the verified kernels: {name} has {size.value} bytes")
        self.check(self.library.cuMemcpyHtoD_v2(address, packed, ctypes.c_size_t(len(packed))))

    def allow_shared(self, function, size_bytes):
        self.check(self.library.cuFuncSetAttribute(ctypes.c_void_p(function), MAX_DYNAMIC_SHARED, size_bytes))

    def own_shared(self, function):
        """Static shared memory of a kernel in bytes."""
        value = ctypes.c_int()
        self.check(self.library.cuFuncGetAttribute(ctypes.byref(value), OWN_SHARED, ctypes.c_void_p(function)))
        return value.value

    def most_shared(self):
        """Maximum shared memory per block in bytes."""
        return self.attribute(MAX_SHARED)

    def resident_blocks(self, function, threads, shared_bytes):
        """Number of blocks that can be resident at once if nothing else runs on the current device;
        0 without support for cooperative launches."""
        blocks = ctypes.c_int()
        self.check(self.library.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            ctypes.byref(blocks), ctypes.c_void_p(function), threads, ctypes.c_size_t(shared_bytes)))
        return blocks.value * self.attribute(MULTIPROCESSORS) if self.attribute(COOPERATIVE_LAUNCH) else 0

    def attribute(self, which):
        device, value = ctypes.c_int(), ctypes.c_int()
        self.check(self.library.cuCtxGetDevice(ctypes.byref(device)))
        self.check(self.library.cuDeviceGetAttribute(ctypes.byref(value), which, device))
        return value.value
