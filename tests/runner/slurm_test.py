"""slurm:// with a real Slurm: a private cluster of one node, a copied runner and its CPU worker.

usage: slurm_test.py BIN_DIR [unittest's arguments]

Skipped without Slurm's programs, which scripts/install-deps.sh installs. The node has one GPU in
name, so a second allocation waits for the first.
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/editors"))
import documented  # noqa: E402
import sshd  # noqa: E402

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
PATIENCE_S = 120


def eventually(condition):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        for program in ("munged", "slurmctld", "slurmd", "srun"):
            if not shutil.which(program, path=path):
                raise unittest.SkipTest(f"{program} is not installed (scripts/install-deps.sh)")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="warpwright-slurm-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(0o755)  # the runner's workers give up root
        started = subprocess.run([ROOT / "scripts/slurm.sh", "start", cls.folder / "cluster"], capture_output=True, text=True)
        if started.returncode:
            raise AssertionError(started.stderr)
        cls.addClassCleanup(subprocess.run, [ROOT / "scripts/slurm.sh", "stop", cls.folder / "cluster"])
        cls.temporary = cls.folder / "tmp"
        cls.temporary.mkdir()
        cls.environment = documented.environment(cls.folder, BIN) | {"SLURM_CONF": started.stdout.strip(), "TMPDIR": str(cls.temporary),
                                                                     "CUDA_VISIBLE_DEVICES": ""}
        (cls.folder / "saxpy.cu").write_text(documented.saxpy())

    def start(self, *command, **more):
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment | more, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_there(self, *command, **more):
        """(exit code, output with stderr)"""
        process = self.start(*command, **more)
        output, _ = process.communicate(timeout=PATIENCE_S)
        return process.returncode, output

    def queue(self):
        """[(state, name, partition, gres)] of the jobs, as Slurm reports them."""
        found = subprocess.run(["squeue", "--noheader", "--format=%T %j %P %b"], env=self.environment, capture_output=True, text=True, check=True)
        return [tuple(line.split()) for line in found.stdout.splitlines()]

    def hold_the_gpu(self):
        """An allocation of the only GPU; ends with the returned process."""
        holder = self.start("srun", "--quiet", "--gres=gpu:1", "--job-name=holder", "sleep", "1000")
        self.assertTrue(eventually(lambda: any(row[:2] == ("RUNNING", "holder") for row in self.queue())), self.queue())
        return holder

    def test_a_runner_is_copied_into_an_allocation_that_ends_with_the_connection(self):
        code, output = self.run_there("warpwright", "doctor", "--runner", "slurm://gpu?cpu=yes")
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"(?m)^  ok  runner +slurm://gpu, version ")
        self.assertRegex(output, r"(?m)^  slurm://gpu\?cpu=yes +ready ")
        self.assertTrue(eventually(lambda: not self.queue()), self.queue())

    def test_variants_are_verified_in_an_allocation_with_the_options_of_the_url(self):
        search = self.start("warpwright", "optimize", "saxpy.cu", "--policy", "search", "--max-variants", "2", "--runner", "slurm://gpu?cpu=yes&time=5")
        self.assertTrue(eventually(lambda: ("RUNNING", "warpwright", "gpu", "gres:gpu:1") in self.queue() or search.poll() is not None), self.queue())
        self.assertIsNone(search.poll(), "the search ended before its job was seen")
        limit = subprocess.run(["squeue", "--noheader", "--format=%l"], env=self.environment, capture_output=True, text=True, check=True).stdout
        output, _ = search.communicate(timeout=PATIENCE_S)
        self.assertEqual(search.returncode, 0, output)
        self.assertEqual(limit.split(), ["5:00"])
        self.assertRegex(output, r"(?m)^  .* verified ")

    def test_the_queue_is_reported_and_waited_for(self):
        holder = self.hold_the_gpu()
        doctor = self.start("warpwright", "doctor", "--runner", "slurm://gpu?cpu=yes")
        self.assertTrue(eventually(lambda: any(row[:2] == ("PENDING", "warpwright") for row in self.queue())), self.queue())
        self.assertIsNone(doctor.poll())
        holder.terminate()
        output, _ = doctor.communicate(timeout=PATIENCE_S)
        self.assertEqual(doctor.returncode, 0, output)
        self.assertRegex(output, r"srun: job \d+ queued and waiting for resources")

    def test_a_client_that_leaves_while_it_waits_leaves_no_job(self):
        self.hold_the_gpu()
        doctor = self.start("warpwright", "doctor", "--runner", "slurm://gpu?cpu=yes")
        self.assertTrue(eventually(lambda: any(row[:2] == ("PENDING", "warpwright") for row in self.queue())), self.queue())
        doctor.terminate()
        self.assertTrue(eventually(lambda: all(row[1] != "warpwright" for row in self.queue())), self.queue())

    def test_what_slurm_refuses_is_reported_in_its_words(self):
        for url, cause in (("slurm://nowhere", "Invalid partition name specified"), ("slurm://gpu?gres=gpu:2", "Requested node configuration is not available")):
            code, output = self.run_there("warpwright", "doctor", "--runner", url)
            self.assertEqual(code, 1, output)
            self.assertRegex(output, rf"!!  runner +srun ended with exit code 1 .*{cause}")

    def test_srun_is_started_on_a_login_host(self):
        if not sshd.is_installed():
            self.skipTest("OpenSSH's server is not installed")
        host = self.folder / "login"
        host.mkdir()
        server = sshd.Sshd(host, {"SLURM_CONF": self.environment["SLURM_CONF"], "CUDA_VISIBLE_DEVICES": ""})
        self.addCleanup(server.stop)
        without = {name: value for name, value in self.environment.items() if name != "SLURM_CONF"}
        code, output = self.run_there("env", "-u", "SLURM_CONF", "warpwright", "doctor", "--runner", "slurm://gpu?host=gpu-box&cpu=yes",
                                      PATH=f"{host}/programs:{without['PATH']}")
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"(?m)^  ok  runner +slurm://gpu, version ")
        self.assertEqual(len(list((host / "cache/warpwright/runner").iterdir())), 1)

    def test_the_service_of_an_allocation_ends_with_it(self):
        code, output = self.run_there("warpwright", "doctor", "--runner", "slurm://gpu?cpu=yes")
        self.assertEqual(code, 0, output)
        self.assertTrue(eventually(lambda: not self.services()), self.services())

    def services(self):
        """Sockets in the folder of services on which a service still answers."""
        found = []
        for path in self.temporary.glob("warpwright-*/*.sock"):
            with socket.socket(socket.AF_UNIX) as probe:
                if probe.connect_ex(str(path)) == 0:
                    found.append(path.name)
        return found


if __name__ == "__main__":
    unittest.main(verbosity=2)
