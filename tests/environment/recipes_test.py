"""The recipes as far as they can be checked without a network: their keys against the recorded
signatures of the pinned versions, and a whole loop with stand-ins for the trainers and a model
that is a script, on the CPU backend."""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import types
import unittest
import unittest.mock

import service
from service import RIGHT, SCALE, SHIFT, WRONG, Service, answer, source
from warpwright_environment import Environment

RECIPES = service.SOURCE / "recipes"


def loaded(path):
    """A recipe as a module, found as a user starts it: with its own folder on the path."""
    folder = str((RECIPES / path).parent)
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location(path.replace("/", "_")[:-3], RECIPES / path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(folder)
        for name in ("reward", "rewards"):
            sys.modules.pop(name, None)


def signature(name):
    return json.loads((RECIPES / name / "signature.json").read_text())


def scripted(task_id, number):
    """The model: right answers first, then a wrong one, then one without form."""
    right = RIGHT if task_id == SCALE else source("y[i] = x[i] + 1.0f;")
    return [answer(right), answer(WRONG), "Use shared memory."][number % 3]


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service("--reward", "verified")
        os.environ["WARPWRIGHT_URL"] = cls.service.url

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def rows(self, form):
        dataset = loaded("common/dataset.py")
        with Environment(self.service.url) as environment:
            return dataset.rows(environment, form)

    def test_trl_trains_on_the_rewards_of_a_scripted_model(self):
        train, known, seen = loaded("trl/train.py"), signature("trl"), {}

        def config(**settings):
            unknown = set(settings) - set(known["grpo"]) - set(known["inherited"]["fields"])
            self.assertEqual(unknown, set())
            for name, choices in known["choices"].items():
                self.assertIn(settings.get(name, choices[0]), choices)
            return types.SimpleNamespace(**settings)

        def lora(**settings):
            self.assertEqual(set(settings) - set(known["lora"]["fields"]), set())
            return settings

        class Trainer:
            def __init__(self, model, reward_funcs, args, train_dataset, peft_config):
                self.rewards, self.args, self.data = reward_funcs, args, train_dataset

            def train(self):  # one group for each prompt, as GRPOTrainer calls reward functions
                for row in self.data:
                    group = range(self.args.num_generations)
                    completions = [[{"role": "assistant", "content": scripted(row["task_id"], i)}] for i in group]
                    seen[row["task_id"]] = self.rewards[0](prompts=[row["prompt"]] * len(group), completions=completions,
                                                           task_id=[row["task_id"]] * len(group), trainer_state=None)

        data = self.service.folder / "prompts.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in self.rows("trl")))
        train.main(config, Trainer, lora, lambda path: [json.loads(line) for line in open(path)],
                   ["--config", str(RECIPES / "trl/grpo.toml"), "--data", str(data)])
        self.assertEqual(set(seen), {SCALE, SHIFT})
        for rewards in seen.values():
            self.assertEqual(len(rewards), 8)
            self.assertEqual(rewards[0], 1)
            self.assertTrue(all(reward < 0 for reward in rewards[1:3]))

    def test_verls_command_has_known_keys_and_its_reward_function_scores(self):
        train, known = loaded("verl/train.py"), signature("verl")["tables"]
        for name in train.overrides():
            table, _, key = name.rpartition(".")
            self.assertIn(key, known.get(table, []), name)
        shown = subprocess.run([sys.executable, str(RECIPES / "verl/train.py"), "--dry-run", "trainer.total_epochs=1"],
                               capture_output=True, text=True, check=True).stdout.split("\n")
        self.assertIn("algorithm.adv_estimator=rloo", shown)
        self.assertIn("trainer.total_epochs=1", shown)
        score = loaded("verl/reward.py").compute_score
        for row in self.rows("verl"):
            task = row["reward_model"]["ground_truth"]
            right = score(row["data_source"], scripted(task, 0), task, row["extra_info"])
            self.assertEqual((right["score"], right["measured"], right["verified"]), (1, True, True))
            self.assertLess(score(row["data_source"], scripted(task, 2), task, row["extra_info"])["score"], 0)

    def test_gyms_server_forwards_a_verification(self):
        class Model:  # as much of pydantic's models as the server uses
            def __init__(self, **members):
                self.__dict__.update(members)

            def model_dump(self, mode):
                return dict(self.__dict__)

        class Server:
            def __init__(self, config):
                self.config = config

        def post(url, json=None, headers=None, timeout=None):
            with Environment(self.service.url) as environment:
                body = environment.post(url.removeprefix(self.service.url), json)
            return types.SimpleNamespace(json=lambda: body, raise_for_status=lambda: None)

        stand_ins = {
            "nemo_gym": types.ModuleType("nemo_gym"),
            "nemo_gym.base_resources_server": types.SimpleNamespace(
                BaseResourcesServerConfig=Model, BaseVerifyRequest=Model, BaseVerifyResponse=Model,
                SimpleResourcesServer=Server),
            "pydantic": types.SimpleNamespace(ConfigDict=dict),
            "requests": types.SimpleNamespace(post=post),
        }
        with unittest.mock.patch.dict(sys.modules, stand_ins):
            app = loaded("nemo_gym/app.py")
        server = app.WarpwrightServer(app.WarpwrightConfig(service_url=self.service.url))
        for row in self.rows("gym"):
            response = {"output": [{"type": "message", "role": "assistant",
                                    "content": [{"type": "output_text", "text": scripted(row["task_id"], 0)}]}]}
            request = app.WarpwrightVerifyRequest(**row, response=response)
            self.assertEqual(asyncio.run(server.verify(request)).reward, 1)

    def test_pinned_versions_are_those_of_the_signatures(self):
        for name in ("trl", "verl"):
            commit = signature(name)["source"].split("@")[1].split(":")[0]
            self.assertIn(commit, (RECIPES / name / "requirements.txt").read_text())


if __name__ == "__main__":
    unittest.main()
