"""`contrib/`: metrics that exist, units and proxies that their programs accept."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from administration.metrics_view import render_metrics
from config import server
from core.jobs.models import JobRun
from core.metrics import DURATION_BUCKETS
from devstack.environment import ROOT

CONTRIB = ROOT / "contrib"
RULES = CONTRIB / "prometheus" / "household-ledger.rules.yml"
DASHBOARD = CONTRIB / "grafana" / "household-ledger.json"
UNITS = sorted((CONTRIB / "systemd").iterdir())
PYTHON = "/opt/household-ledger/.venv/bin/python"
SUFFIXES = {
    "counter": ("_total",),
    "histogram": ("_bucket", "_sum", "_count"),
    "gauge": ("",),
}
NAME_RE = re.compile(r"\bledger_[a-z_]+")


@pytest.fixture
def metric_names(db: None) -> set[str]:
    """Return the names of all samples that a scrape can have."""
    JobRun.objects.create(job="backup", state="DONE", started_at=timezone.now())
    families = text_string_to_metric_families(render_metrics().decode())
    return {
        family.name + suffix
        for family in families
        for suffix in SUFFIXES.get(family.type, ())
        # The library adds a gauge with the time of each counter's first sample.
        if family.name.startswith("ledger_") and not family.name.endswith("_created")
    }


def list_rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def list_panels() -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    return [panel for panel in panels if panel["type"] != "row"]


def read_expressions(panel: dict[str, Any]) -> Iterator[str]:
    for target in panel["targets"]:
        yield target["expr"]


def test_rules_and_dashboard_name_metrics_that_exist(metric_names: set[str]) -> None:
    assert len(metric_names) >= 30
    assert DURATION_BUCKETS
    for rule in list_rules():
        named = set(NAME_RE.findall(rule["expr"]))
        assert named <= metric_names, rule["alert"]
        assert named or "up{" in rule["expr"], rule["alert"]
    variables = DASHBOARD.read_text().split('"panels"')[0]
    assert set(NAME_RE.findall(variables)) <= metric_names
    for panel in list_panels():
        for expression in read_expressions(panel):
            named = set(NAME_RE.findall(expression))
            assert named, panel["title"]
            assert named <= metric_names, panel["title"]


def test_every_metric_is_documented_and_shown(metric_names: set[str]) -> None:
    documented = set(NAME_RE.findall((ROOT / "docs" / "operations.md").read_text()))
    shown = set(NAME_RE.findall(DASHBOARD.read_text() + RULES.read_text()))
    for name in metric_names:
        base = re.sub("_(bucket|sum|count)$", "", name)
        assert {name, base} & documented, name
        if base == name and not name.endswith("_timestamp_seconds"):
            assert name in shown, name


def test_jobs_that_run_on_demand_are_never_late() -> None:
    (rule,) = [rule for rule in list_rules() if rule["alert"] == "LedgerJobLate"]
    (names,) = re.findall('job!~"([^"]*)"', rule["expr"])
    assert set(names.split("|")) == settings.ON_DEMAND_JOBS


@pytest.mark.parametrize(
    "metric",
    [
        *("ledger_security_events_total", "ledger_backup_failed", "ledger_mail_oldest"),
        *(
            "ledger_backup_last_success",
            "ledger_images_total",
            "ledger_commits_waiting",
        ),
        *("ledger_image_deletion_oldest", "ledger_object_store_failures_total"),
        'ledger_store_up{store="image_store"}',
    ],
)
def test_what_an_operator_must_not_miss_has_an_alert(metric: str) -> None:
    assert any(metric in rule["expr"] for rule in list_rules())


def test_every_alert_says_what_is_wrong_and_how_urgent_it_is() -> None:
    rules = list_rules()
    assert len({rule["alert"] for rule in rules}) == len(rules) > 15
    for rule in rules:
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["summary"].endswith(".")


def test_panels_of_the_dashboard_do_not_overlap() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells


@pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool")
def test_prometheus_accepts_the_rules() -> None:
    ended = subprocess.run(["promtool", "check", "rules", RULES], timeout=60)
    assert ended.returncode == 0


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_unit_runs_what_is_there(unit: Path) -> None:
    text = unit.read_text()
    for command in re.findall("^ExecStart=(.*)$", text, re.MULTILINE):
        program, *arguments = command.split()
        assert program == PYTHON
        module = arguments[1] if arguments[0] == "-m" else arguments[0]
        assert module in {
            *("config.server", "celery", "manage.py", "devstack.environment")
        }
        if module == "devstack.environment":
            assert arguments[2:5] == [PYTHON, "-m", "devstack.backup"]
        assert "User=ledger\n" in text
        assert "NoNewPrivileges=yes\n" in text
        assert "MemoryMax=" in text or "migrate" in unit.name
    for name in re.findall(r"household-ledger-\w+\.(?:service|timer)", text):
        assert (unit.parent / name).exists(), name


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    copies = []
    for unit in UNITS:
        # It looks whether programs and pages are there.
        text = unit.read_text().replace(PYTHON, "/bin/true")
        copies.append(tmp_path / unit.name)
        copies[-1].write_text(text.replace("file:///opt", "file:///usr"))
    ended = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *copies],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    said = [line for line in ended.stderr.splitlines() if "household-ledger" in line]
    assert (ended.returncode, said) == (0, [])


def find_nginx() -> str | None:
    return shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")


@pytest.mark.skipif(
    not (find_nginx() and shutil.which("openssl")), reason="no nginx, no openssl"
)
def test_nginx_accepts_its_configuration(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"),
            *("-subj", "/CN=ledger.example", "-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    text = (CONTRIB / "nginx" / "household-ledger.conf").read_text()
    folder = "/etc/letsencrypt/live/ledger.example"
    text = text.replace(f"{folder}/fullchain.pem", str(certificate))
    text = text.replace(f"{folder}/privkey.pem", str(key))
    assert folder not in text
    # Ports that any user may open.
    text = re.sub(r"(listen (?:\[::\]:)?)(80|443)", r"\g<1>1\2", text)
    text = text.replace("1443", "14430").replace("180", "18080")
    (tmp_path / "site.conf").write_text(text)
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; include {tmp_path}/site.conf; }}\n"
    )
    ended = subprocess.run(
        [str(find_nginx()), "-t", "-c", tmp_path / "nginx.conf"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("name", ["nginx/household-ledger.conf", "Caddyfile"])
def test_proxies_close_idle_connections_before_the_web_server_does(name: str) -> None:
    text = (CONTRIB / name).read_text()
    found = re.search(r"keepalive(?:_timeout)? (\d+)s", text)
    assert found
    assert int(found[1]) * 1000 < server.HEADER_TIMEOUT_MILLISECONDS
    assert "/metrics" in text
    assert re.search(r"(?:max_size|client_max_body_size) 11(?:m|MB)", text)
