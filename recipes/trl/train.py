"""GRPO with LoRA on the contrastive prompts of a service, by TRL.

    pip install -r recipes/trl/requirements.txt
    python3 recipes/common/dataset.py --form trl --seeds 4 --to prompts.jsonl
    WARPWRIGHT_URL=http://127.0.0.1:8000 python3 recipes/trl/train.py --config recipes/trl/grpo.toml

"""

import argparse
import sys
import tomllib

from reward import warpwright_reward


def main(config_class, trainer_class, lora_class, load_dataset, arguments=None):
    """The classes are parameters, so that a dry run can pass its own (tests/environment/recipes_test.py)."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", required=True)
    parser.add_argument("--data", default="prompts.jsonl")
    chosen = parser.parse_args(arguments)
    with open(chosen.config, "rb") as file:
        settings = tomllib.load(file)
    trainer = trainer_class(model=settings["model"], reward_funcs=[warpwright_reward],
                            args=config_class(**settings["grpo"]), train_dataset=load_dataset(chosen.data),
                            peft_config=lora_class(**settings["lora"]))
    trainer.train()
    return trainer


if __name__ == "__main__":
    from datasets import load_dataset
    from peft import LoraConfig
    from trl import GRPOConfig, GRPOTrainer

    sys.exit(main(GRPOConfig, GRPOTrainer, LoraConfig,
                  lambda path: load_dataset("json", data_files=path, split="train")) is None)
