"""Compares what engines make of exported rows and spans with what tv says itself. Called by `.ci/engines`."""

import contextlib, importlib.util, io, json, os, pathlib, re, socket, subprocess, sys, time, urllib.request
import duckdb

TV, WORK, ALL = sys.argv[1], pathlib.Path(sys.argv[2]), "--all" in sys.argv
FIXTURES = pathlib.Path("tests/fixtures").resolve()
MANUAL = pathlib.Path("assets/manual/engines.md").read_text()
CLASSES = ("input", "output", "cache_read", "cache_write", "requests")


def tv(*arguments):
    return subprocess.run([TV, *map(str, arguments)], capture_output=True)


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def queries(engine):
    """The statements of the manual for an engine, block by block."""
    for block in re.findall(r"```sql\n(.*?)```", MANUAL, re.S):
        if block.startswith(f"-- {engine}"):
            yield [statement.strip() for statement in block.split(";\n") if statement.strip()]


def exported():
    """The rows of all fixtures, written once, and the sessions among them."""
    before = time.time()
    tv("export", "--to", "jsonl", FIXTURES, "-o", f"{WORK}/rows/")
    sessions = [row for path in WORK.glob("rows/*.sessions.jsonl") for row in objects(path.read_text())]
    size = sum(path.stat().st_size for path in WORK.glob("rows/*.jsonl"))
    print(f"engines: {len(sessions)} sessions, {size >> 10} KB of rows in {time.time() - before:.1f} s")
    assert len(sessions) > 200, len(sessions)
    # What is exported is what every report says.
    stats = {(one["session"]["id"], one["path"]): one for one in objects(tv("stats", "--json", FIXTURES).stdout)}
    same = 0
    for row in sessions:
        known = stats.get((row["session"], row["path"]))
        if known:
            assert known["usage"] == row["usage"] and known["cost"] == row["cost"], row["path"]
            same += 1
    assert same > 150, same
    return sessions


def compare(engine, sessions, sums):
    """`sums`: by session and path the tokens, the requests and the cost."""
    checked = 0
    for row in sessions:
        usage, usd = row["usage"], row["cost"]["usd"] or 0
        found = sums.get((row["session"], row["path"]))
        if found is None:
            assert not any(usage[name] for name in CLASSES), row["path"]
            continue
        assert [int(n or 0) for n in found[:5]] == [usage[name] or 0 for name in CLASSES], (row["path"], found, usage)
        # Each request is rounded to a millionth of a dollar.
        assert abs((found[5] or 0) - usd) <= 1e-6 * max(1, usage["requests"]), (row["path"], found, usd)
        checked += 1
    print(f"engines: the sums of {checked} sessions in {engine} are those of tv")
    assert checked > 100, checked


def in_duckdb(sessions):
    os.chdir(WORK)
    columns = "{session: 'VARCHAR', path: 'VARCHAR', usage: 'STRUCT(\"input\" BIGINT, \"output\" BIGINT, cache_read BIGINT, cache_write BIGINT, requests BIGINT)', cost: 'STRUCT(usd DOUBLE)'}"
    rows = duckdb.execute(
        "SELECT session, path, sum(usage.input), sum(usage.output), sum(usage.cache_read), sum(usage.cache_write), sum(usage.requests), sum(cost.usd) "
        f"FROM read_json('rows/*.requests.jsonl', format = 'newline_delimited', columns = {columns}) GROUP BY ALL").fetchall()
    compare(f"DuckDB {duckdb.__version__}", sessions, {row[:2]: row[2:] for row in rows})
    calls = duckdb.execute(
        "SELECT session, path, count(DISTINCT call_id) FROM read_json('rows/*.calls.jsonl', format = 'newline_delimited', "
        "columns = {session: 'VARCHAR', path: 'VARCHAR', call_id: 'VARCHAR'}) GROUP BY ALL").fetchall()
    calls = {row[:2]: row[2] for row in calls}
    for row in sessions:
        found = calls.get((row["session"], row["path"]), 0)
        assert found <= row["pairing"]["calls"], (row["path"], found)
    run = 0
    for statements in queries("DuckDB"):
        # Twice: what replaces earlier rows must leave as many.
        for again in range(2):
            for statement in statements:
                result = duckdb.execute(statement).fetchall()
                run += 1
                if "SELECT" in statement and "FROM read_json_auto" in statement and statement.lstrip("-").strip()[:4] != "COPY" and again:
                    assert result is not None
    table = duckdb.execute("SELECT count(*), count(DISTINCT (id, path)) FROM requests").fetchone()
    loaded = duckdb.execute("SELECT count(DISTINCT id) FROM read_json_auto('rows/*.requests.jsonl', union_by_name = true)").fetchone()[0]
    assert table[0] == loaded, (table, loaded)
    parquet = duckdb.execute("SELECT round(sum(cost.usd), 6) FROM 'requests.parquet'").fetchone()[0]
    usd = sum(row["cost"]["usd"] or 0 for row in sessions)
    assert abs(parquet - usd) < 1e-3, (parquet, usd)
    print(f"engines: {run} statements of the manual in DuckDB")
    assert run >= 20, run


def in_chdb(sessions):
    from chdb import session as chdb

    os.chdir(WORK)
    engine = chdb.Session(f"{WORK}/chdb")
    names = ", ".join(f"sum(usage.{name})" for name in CLASSES)
    structure = "session String, path String, usage Tuple(input Nullable(Int64), output Nullable(Int64), cache_read Nullable(Int64), cache_write Nullable(Int64), requests Nullable(Int64)), cost Tuple(usd Nullable(Float64))"
    rows = objects(str(engine.query(
        f"SELECT session, path, {names}, sum(cost.usd) FROM file('rows/*.requests.jsonl', JSONEachRow, '{structure}') GROUP BY session, path "
        "SETTINGS input_format_skip_unknown_fields = 1, output_format_json_quote_64bit_integers = 0", "JSONCompactEachRow")))
    compare("ClickHouse", sessions, {tuple(row[:2]): row[2:] for row in rows})
    engine.query("CREATE DATABASE IF NOT EXISTS tv ENGINE = Atomic")
    engine.query("USE tv")
    run = 0
    for statements in queries("ClickHouse"):
        for statement in statements:
            engine.query(statement)
            run += 1
    # Rows that come again replace those before.
    insert = next(statement for statements in queries("ClickHouse") for statement in statements if statement.startswith("INSERT"))
    engine.query(insert)
    count, output, usd = objects(str(engine.query(
        "SELECT count(), toInt64(sum(usage.output)), sum(cost.usd) FROM requests FINAL SETTINGS output_format_json_quote_64bit_integers = 0", "JSONCompactEachRow")))[0]
    ids = {}
    for path in WORK.glob("rows/*.requests.jsonl"):
        for row in objects(path.read_text()):
            ids[row["id"]] = row
    assert count == len(ids), (count, len(ids))
    print(f"engines: {run} statements of the manual in ClickHouse, {count} rows after two loads")
    assert run >= 8, run


def in_phoenix():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    grpc = port + 1
    environment = {**os.environ, "PHOENIX_WORKING_DIR": f"{WORK}/phoenix", "PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(grpc), "PHOENIX_HOST": "127.0.0.1", "PHOENIX_TELEMETRY_ENABLED": "false"}
    server = subprocess.Popen([f"{pathlib.Path(sys.executable).parent}/phoenix", "serve"], env=environment, stdout=open(f"{WORK}/phoenix.log", "w"), stderr=subprocess.STDOUT)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}/healthz", timeout=2)
                break
            time.sleep(0.5)
        sessions, seen = 0, set()
        expected = {"prompt": 0, "completion": 0}
        for path in sorted(FIXTURES.glob("claude-code/*.jsonl")) + sorted(FIXTURES.glob("codex/*.jsonl")) + sorted(FIXTURES.glob("pi/*.jsonl")):
            stats = objects(tv("stats", "--json", path).stdout)
            spans = tv("export", "--to", "otlp-protobuf", path).stdout
            if len(stats) != 1 or not spans or stats[0]["session"]["id"] in seen:
                continue
            # Copies of a session have the same spans.
            seen.add(stats[0]["session"]["id"])
            request = urllib.request.Request(f"{address}/v1/traces", spans, {"Content-Type": "application/x-protobuf"})
            urllib.request.urlopen(request, timeout=30)
            usage = stats[0]["usage"]
            expected["prompt"] += sum(usage[name] or 0 for name in ("input", "cache_read", "cache_write"))
            expected["completion"] += usage["output"] or 0
            sessions += 1
        from phoenix.client import Client

        client = Client(base_url=address)
        found = None
        for _ in range(60):
            found = {"prompt": 0, "completion": 0}
            for project in client.projects.list():
                frame = client.spans.get_spans_dataframe(project_identifier=project["name"], limit=100000)
                for name in found:
                    column = f"attributes.llm.token_count.{name}"
                    if column in frame:
                        found[name] += int(frame[column].fillna(0).sum())
            if found == expected:
                break
            time.sleep(1)
        assert found == expected, (found, expected)
        print(f"engines: the tokens of {sessions} sessions in Phoenix are those of tv: {found}")
    finally:
        server.terminate()
        server.wait(30)


def in_harbor():
    from harbor.utils.trajectory_validator import TrajectoryValidator

    tv("export", "--to", "atif", FIXTURES, "-o", f"{WORK}/atif/")
    more = os.environ.get("ENGINES_SESSIONS")
    if more:
        tv("export", "--to", "atif", more, "-o", f"{WORK}/atif/")
    files = sorted(WORK.glob("atif/*.json"))
    wrong = []
    for path in files:
        validator = TrajectoryValidator()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            is_valid = validator.validate(path)
        if not is_valid:
            wrong.append((path.name, validator.errors[:3]))
    assert not wrong, (len(wrong), wrong[:5])
    print(f"engines: Harbor accepts {len(files)} trajectories")
    assert len(files) > 100, len(files)


sessions = exported()
in_duckdb(sessions)
if ALL:
    in_chdb(sessions)
    if importlib.util.find_spec("harbor"):
        in_harbor()
    in_phoenix()
