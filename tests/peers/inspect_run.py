# SPDX-License-Identifier: MIT
"""inspect_run.py URL MODEL FILE LOGS: a file of `rung task --format inspect` through inspect, asked of a server; logs as JSON."""
import os
import sys

os.environ["OPENAI_API_KEY"] = "none"
import inspect_ai
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate

url, model, file, logs = sys.argv[1:]
task = inspect_ai.Task(dataset=json_dataset(file), solver=generate(), scorer=match(location="exact"), name="rung")
[log] = inspect_ai.eval(task, model=f"openai/{model}", model_base_url=url + "/v1", model_args={"responses_api": False}, temperature=0,
                        log_dir=logs, log_format="json", display="none", max_connections=2, max_retries=0, timeout=60)
assert log.status == "success", log.error
print(f"inspect {inspect_ai.__version__}: {len(log.samples)} samples, accuracy {log.results.scores[0].metrics['accuracy'].value}")
