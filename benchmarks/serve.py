"""Run a service for `benchmarks.against`, of the checkout in the working directory.

    python …/benchmarks/serve.py FILE

It loads the data, starts the web server, writes its address and the sessions into the
file as JSON, and runs until its standard input ends.
"""

import json
import sys
from pathlib import Path

# In place of the folder of this file.
sys.path[0] = str(Path.cwd())

from benchmarks.dataset import DatasetSpec  # noqa: E402
from benchmarks.environment import benchmark_environment  # noqa: E402

MEMBERS, ENTRIES_PER_MEMBER, LARGE_MEMBER_ENTRIES = 40, 500, 10_000


if __name__ == "__main__":
    spec = DatasetSpec(MEMBERS, ENTRIES_PER_MEMBER, (LARGE_MEMBER_ENTRIES,))
    with benchmark_environment(spec) as environment:
        target = environment.service_target("/", spec.typical_member)
        file = Path(sys.argv[1])
        new_file = file.with_suffix(".new")
        new_file.write_text(
            json.dumps(
                {
                    "port": target.port,
                    "workers": environment.list_workers(),
                    "database": environment.settings["DATABASE_URL"],
                    "tokens": {m: environment.get_token(m) for m in spec.all_members},
                }
            )
        )
        # Complete as soon as it is there.
        new_file.rename(file)
        sys.stdin.read()
