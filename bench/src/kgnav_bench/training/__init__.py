"""GraphWalker's training: two stages of fine-tuning on walks, then GRPO on the live server.

commands       `kgnav-bench train`
settings       the paper's hyperparameters, a TOML file, flags
conversations  ShareGPT conversations as messages
masks          which tokens carry loss
preview        what `--dry-run` prints
sft            both stages of fine-tuning, on TRL's SFTTrainer
environment    the live server: the observation after each turn
rollouts       conversations of the model in training with the server
grpo           GRPO, on TRL's GRPOTrainer
outputs        the folder that a training writes, and continuing it
packages       the extra `train`, imported where it is used

Source: GraphWalker, sections 2.3 and 3.1, appendix G.
"""
