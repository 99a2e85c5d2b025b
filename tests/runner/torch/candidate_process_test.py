"""A candidate's process as its worker sees it, with the fake device's timer. Usage, as its candidates are
started by a supervisor: runner_supervise FOLDER LIBRARY candidate_process_test.py FOLDER_OF_HOST_PY
LIBRARY"""

import glob
import os
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
FOLDER, LIBRARY = sys.argv.pop(1), sys.argv.pop(1)
sys.path.insert(0, FOLDER)

try:
    import torch
except ImportError:
    print(f"{sys.executable} has no torch: all cases skipped")
    sys.exit(0)

import candidate_calls
import candidate_process
from compiled_module import GpuTurn
from host_errors import HostError
from module_host import ModuleHost



class TimedProcess(candidate_process.CandidateProcess):
    """As on a GPU."""

    def open(self, device, timed):
        super().open(device, True)


candidate_calls.CandidateProcess = TimedProcess
HEADER = "import torch\nimport torch.nn as nn\n"
TASK = HEADER + """
class Model(nn.Module):
    def forward(self, x):
        return x * 2

def get_inputs():
    return [torch.rand(64)]
"""
ANSWER = HEADER + """
class ModelNew(nn.Module):
    def forward(self, x):
        return x + x
"""
LOG_OF_IMPORTS = """
import os

with open(os.path.join(os.environ["HOME"], "imports"), "a+") as file:
    file.write(os.environ.get("CUDA_VISIBLE_DEVICES", "all") + ";")
    file.seek(0)
    IMPORTS = file.read()
"""
LIE = """
import time
import candidate_module

honest = candidate_module.CandidateServer.on_time

def lie(self, handle, as_called):
    honest(self, handle, as_called)
    time.sleep(0.05)
    return {"ns": 1000.0, "throttled": False}

candidate_module.CandidateServer.on_time = lie
"""


def folders():
    """Of candidates, as the supervisor makes them where there is no worker's directory."""
    return set(glob.glob(os.path.join(tempfile.gettempdir(), "candidate-*")))


def processes(mark):
    """Those whose command has this word, be it that of a child that has not called exec yet."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words:
            found.append(path)
    return found


class Timed(unittest.TestCase):
    def setUp(self):
        self.before = folders()
        sys.argv[1:] = [LIBRARY]
        self.host = ModuleHost("cpu")
        self.host.load({"language": "python", "source": TASK, "model": "Model", "inputs": "get_inputs", "init_inputs": "get_init_inputs",
                        "mode": "made"})
        self.x, self.y = torch.rand(64), torch.full((64,), -7.0)

    def tearDown(self):
        if self.host.candidates is not None:
            self.host.candidates.forget()

    def bound(self, source):
        described = [{"address": one.data_ptr(), "dtype": "float32", "shape": [64], "strides": [], "name": name}
                     for one, name in ((self.x, "x"), (self.y, "y"))]
        return self.host.bind_candidate(source, "ModelNew", described[:1], described[1:])

    def refused(self, kind, part, act):
        with self.assertRaises(HostError) as raised:
            act()
        self.assertEqual(raised.exception.kind, kind, raised.exception.message)
        self.assertIn(part, raised.exception.message)
        self.assertFalse(raised.exception.device_lost)

    def test_a_timed_run_gives_a_time_and_its_result_on_fresh_inputs(self):
        handle = self.bound(ANSWER)
        self.assertEqual(self.host.record_candidate(handle), "")
        for as_called in (False, True, False):
            self.x.copy_(torch.rand(64))
            self.y.fill_(-7)
            sample = self.host.time_candidate(handle, as_called)
            self.assertGreater(sample["ns"], 0)
            self.assertTrue(torch.equal(self.y, self.x * 2))
        self.host.forget(handle)

    def test_a_time_that_another_process_s_clock_denies_is_suspect(self):
        handle = self.bound(ANSWER + LIE)
        self.host.record_candidate(handle)

        def often():
            for _ in range(10):
                self.host.time_candidate(handle, False)

        self.refused("suspected", "another process's clock", often)

    def test_a_time_that_is_no_number_is_suspect(self):
        handle = self.bound(ANSWER + LIE.replace("1000.0", "'soon'"))
        self.host.record_candidate(handle)
        self.refused("suspected", "time that is none", lambda: self.host.time_candidate(handle, False))

    def test_a_call_is_made_with_other_inputs_first(self):
        handle = self.bound(ANSWER.replace("return x + x", "self.first = getattr(self, 'first', x + x)\n        return self.first"))
        self.refused("suspected", "earlier call", lambda: self.host.call(handle))

    def test_a_process_that_is_gone_is_said_to_be_so_and_the_next_job_gets_another(self):
        handle = self.bound(ANSWER)
        os.kill(self.host.candidates.process.process.pid, 9)
        self.refused("crash", "SIGKILL", lambda: self.host.call(handle))
        handle = self.bound(ANSWER)
        self.host.call(handle)
        self.host.publish(handle)
        self.assertTrue(torch.equal(self.y, self.x * 2))

    def test_what_it_started_and_left_ends_with_it(self):
        mark = f"600.{os.getpid()}"
        self.bound(ANSWER + f"import subprocess\nsubprocess.Popen(['setsid', '-f', 'sleep', '{mark}']).wait()\n")
        self.assertEqual(len(processes(mark)), 1)
        self.host.candidates.forget()
        self.assertEqual(processes(mark), [])

    def test_it_stands_still_between_its_calls_with_all_that_it_started(self):
        handle = self.bound(ANSWER + "import os, subprocess\nsubprocess.Popen(['sh', '-c', 'while :; do echo >> ' + os.environ['HOME'] + "
                            "'/busy; done'])\n")
        self.assertTrue(self.host.candidates.process.is_frozen)
        (folder,) = folders() - self.before
        busy = os.path.join(folder, "busy")
        for _ in range(3):
            self.host.call(handle)
            size = os.path.getsize(busy)
            time.sleep(0.05)
            self.assertEqual(os.path.getsize(busy), size)
        self.host.candidates.process.go_on("call")
        while os.path.getsize(busy) == size:
            time.sleep(0.01)

    def test_they_follow_one_another(self):
        for _ in range(2):
            handle = self.bound(ANSWER)
            self.host.call(handle)
            self.host.publish(handle)
            self.assertTrue(torch.equal(self.y, self.x * 2))
            pid = self.host.candidates.process.process.pid
            os.kill(pid, 0)
            self.host.candidates.forget()
            with self.assertRaises(ProcessLookupError):
                os.kill(pid, 0)

    def test_where_others_use_the_gpu_too_its_file_is_imported_before_with_no_gpu_in_sight(self):
        told = []
        self.host.turn = GpuTurn(lambda: told.append("give"), lambda: told.append("take"), lambda: None)
        try:
            for more in ("", "# another answer, in a folder of its own"):
                told.clear()
                handle = self.bound(LOG_OF_IMPORTS + ANSWER.replace("return x + x", "return x + x if IMPORTS == ';all;' else x") + more)
                self.assertEqual(told, ["give", "take"])
                self.host.call(handle)
                self.host.publish(handle)
                self.assertTrue(torch.equal(self.y, self.x * 2))
            self.refused("compile_failed", "RuntimeError: broken", lambda: self.bound("raise RuntimeError('broken')"))
            self.refused("crash", "exit code 3", lambda: self.bound("import os\nos._exit(3)"))
            self.assertEqual(told, ["give", "take"] * 3)
        finally:
            self.host.candidates.forget()
        self.assertEqual(self.host.candidates.process, None)

    def test_its_folder_goes_with_it(self):
        self.bound(ANSWER)
        process = self.host.candidates.process
        self.assertEqual(len(folders() - self.before), 1)
        self.host.candidates.forget()
        self.assertEqual(folders() - self.before, set())
        self.assertIsNotNone(process.process.returncode)


if __name__ == "__main__":
    unittest.main(verbosity=2)
