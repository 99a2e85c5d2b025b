"""The GitHub action and the GitLab template, run as their servers run them: each `run` or `script` in bash, with the variables
that the server sets. The repository, git, warpwright and its runner are real; the worker is the
fake one of the runner's tests, whose times come from the source. The comment on GitHub's own pages
cannot be tried here.

usage: check_in_ci_test.py WARPWRIGHT FAKE_WORKER
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

WARPWRIGHT, FAKE_WORKER = sys.argv[1:3]
CI = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "ci")
SOURCE = """__global__ void square(const float *x, float *y, int n) {
  // fake_ns=%d
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * x[i];
}

int main() {
  const int n = 4096;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  square<<<(n + 255) / 256, 256>>>(x, y, n);
  return cudaDeviceSynchronize();
}
"""


def load(name):
    with open(os.path.join(CI, name)) as file:
        return yaml.safe_load(file)


class Repository:
    def __init__(self, folder):
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        self.commit(1000)
        self.base = self.git("rev-parse", "HEAD").strip()
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.git("checkout", "-q", "-b", "work")

    def git(self, *arguments):
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *identity, *arguments], cwd=self.folder, check=True, text=True, stdout=subprocess.PIPE).stdout

    def commit(self, time_ns):
        with open(os.path.join(self.folder, "square.cu"), "w") as file:
            file.write(SOURCE % time_ns)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "Change")

    def bash(self, script, **variables):
        environment = {**os.environ, "WARPWRIGHT_CPU_WORKER": FAKE_WORKER, "WARPWRIGHT_FAKE_WORKER": "measure", **variables}
        return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=self.folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class CheckInCi(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.repository = Repository(folder.name)

    def path(self, name):
        return os.path.join(self.repository.folder, name)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def run_action(self, **inputs):
        action = load("action.yml")
        values = {name: str(entry.get("default", "")) for name, entry in action["inputs"].items()}
        values.update({"program": WARPWRIGHT, "device": "cpu", **inputs})
        step = next(step for step in action["runs"]["steps"] if step.get("id") == "check")
        variables = {}
        for name, value in step["env"].items():
            found = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)
            self.assertTrue(found, value)
            variables[name] = values[found[1]]
        self.assertNotIn("${{", step["run"], "an expression in a script can be any text of a stranger")
        return self.repository.bash(step["run"], **variables, GITHUB_ACTION_PATH=CI, GITHUB_BASE_REF="main",
                                    GITHUB_OUTPUT=self.path("output"), GITHUB_STEP_SUMMARY=self.path("summary"))

    def test_action_reports_a_slower_commit(self):
        self.repository.commit(1500)
        ended = self.run_action()
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertIn("SLOWER", ended.stdout)
        output = dict(line.split("=", 1) for line in self.read("output").splitlines())
        self.assertEqual(output["result"], "worse")
        for name in ("sarif", "junit", "markdown"):
            self.assertTrue(os.path.getsize(self.path(output[name])) > 0, name)
        self.assertIn("1.50x slower", self.read("summary"))

    def test_action_takes_its_inputs(self):
        self.repository.commit(1500)
        self.assertEqual(self.run_action(**{"fail-slower": "80%"}).returncode, 0)
        self.assertEqual(self.run_action(paths="nowhere").returncode, 2)
        unknown = self.run_action(runner="unix:/nonexistent/socket")
        self.assertEqual(unknown.returncode, 3, unknown.stdout)
        self.assertTrue(self.read("output").splitlines()[-4] == "result=unknown")
        self.assertEqual(self.run_action(runner="unix:/nonexistent/socket", **{"allow-unknown": "true"}).returncode, 0)

    def test_action_without_program_or_base(self):
        missing = self.run_action(program="/nonexistent/warpwright")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("install a package of warpwright", missing.stdout)
        pushed = self.repository.bash(os.path.join(CI, "check.sh"), WARPWRIGHT_PROGRAM=WARPWRIGHT, GITHUB_BASE_REF="",
                                      CI_MERGE_REQUEST_DIFF_BASE_SHA="", WARPWRIGHT_BASE="")
        self.assertEqual(pushed.returncode, 2)
        self.assertIn("set WARPWRIGHT_BASE", pushed.stdout)

    def test_strangers_code_does_not_run_on_machines_of_ones_own(self):
        refuse = load("action.yml")["runs"]["steps"][0]
        self.assertIn("head.repo.fork", refuse["if"])
        self.assertIn("self-hosted", refuse["if"])
        self.assertEqual(self.repository.bash(refuse["run"]).returncode, 2)
        rule = load("gitlab.yml")[".warpwright-check"]["rules"][0]["if"]
        self.assertIn("$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID", rule)

    def test_gitlab_job(self):
        job = load("gitlab.yml")[".warpwright-check"]
        script = "\n".join(job["script"])

        def run():
            variables = {**job["variables"], "WARPWRIGHT_PROGRAM": WARPWRIGHT, "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.repository.base}
            variables["WARPWRIGHT_ARGUMENTS"] += " --device cpu"
            return self.repository.bash(script, **variables)

        self.repository.commit(1000)
        self.assertEqual(run().returncode, 0)
        self.repository.commit(1500)
        slower = run()
        self.assertEqual(slower.returncode, 1, slower.stdout)
        self.assertIn('failures="1"', self.read(job["artifacts"]["reports"]["junit"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
