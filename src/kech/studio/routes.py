"""Routes: what a page may ask of the server.  Every answer is a page, a file of the studio itself, or JSON."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from html import escape
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

import kech
from kech.errors import BadOption, KechError
from kech.release.writing import WRITTEN_FORMATS
from kech.request.reference import describe_forms
from kech.studio.jobs import Job
from kech.studio.worker import UNKNOWN_QUESTION
from kech.studio.workspace import EXAMPLES, OpenTable, PlanChange, Stale, Workspace
from kech.tables.source import READ_FORMATS
from kech.views import screen
from kech.views.report.page import make_policy

PAGES = Path(__file__).parent / "pages"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PATIENCE = 0.5  # seconds an answer about a job waits for its end
MOST_JSON = 1 << 24  # bytes of a plan or a hierarchy
WRITTEN_ENDINGS = [ending for ending, kind in WRITTEN_FORMATS.items() if ending == f".{kind}"]  # one of each format


class Ask(msgspec.Struct, forbid_unknown_fields=True):
    """A verb and its options."""

    verb: str
    options: dict[str, Any] = {}
    revision: int | None = None  # of the plan that the page asks about


def make_app(workspace: Workspace) -> Starlette:
    """All routes of one workspace."""
    shell = (PAGES / "studio.html").read_text("utf-8")
    files = {path.name: (path.read_bytes(), TYPES[path.suffix]) for path in PAGES.iterdir() if path.suffix in TYPES}

    async def page(request: Request) -> Response:
        del request
        return HTMLResponse(shell)

    async def static(request: Request) -> Response:
        if request.path_params["file"] not in files:
            raise HTTPException(404)
        body, kind = files[request.path_params["file"]]
        return Response(body, media_type=kind)

    routes = [
        Route("/", page),
        Route("/tables/{table}", page),
        Route("/static/{file}", static),
        *state_routes(workspace),
        *table_routes(workspace),
        *content_routes(workspace),
        *series_routes(workspace),
        *tree_routes(workspace),
        *job_routes(workspace),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        yield
        await workspace.close()

    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={KechError: refuse})


def hand_over(secret: str, home: str) -> Response:
    """The page that the one-time address opens, with the secret in it; its script goes on to the address `home`."""
    shell = (PAGES / "studio.html").read_text("utf-8")
    handed = f'<meta name="kech-secret" content="{escape(secret)}" data-home="{escape(home)}">\n</head>'
    return HTMLResponse(shell.replace("</head>", handed, 1))


# -- tables --------------------------------------------------------------------------------------------------


def state_routes(workspace: Workspace) -> list[Route]:
    """Routes that tell what the studio holds: tables, series, and the fields of a request."""

    async def state(request: Request) -> Response:
        del request
        facts: dict[str, Any] = {"version": kech.__version__, "folder": str(workspace.target)}
        facts["examples"], facts["series"] = list(EXAMPLES), await asyncio.to_thread(workspace.list_series)
        facts["releases"] = await asyncio.to_thread(workspace.list_releases)
        return answer(facts | {"tables": [{"id": table.id, "name": table.name} for table in workspace]})

    async def file(request: Request) -> Response:
        path = await asyncio.to_thread(workspace.find_file, request.path_params["folder"], request.path_params["name"])
        return Response(await asyncio.to_thread(path.read_bytes), media_type="application/octet-stream")

    async def address(request: Request) -> Response:
        path = await asyncio.to_thread(workspace.find_file, request.path_params["folder"], request.path_params["name"])
        return answer({"address": f"/reports/{workspace.address_report(path)}"})

    async def report(request: Request) -> Response:
        path = workspace.open_report(request.path_params["word"])
        if path is None:
            raise HTTPException(404, "This address of a report opens once. Open the report again from the studio.\n")
        body = await asyncio.to_thread(path.read_bytes)
        return HTMLResponse(
            body, headers={"content-security-policy": f"sandbox; {make_policy()}; frame-ancestors 'none'"}
        )

    return [
        Route("/api/state", state),
        Route("/api/fields", tell_fields),
        Route("/api/releases/{folder:path}/{name}", file),
        Route("/api/releases/{folder:path}/{name}", address, methods=["POST"]),
        Route("/reports/{word}", report),
    ]


def table_routes(workspace: Workspace) -> list[Route]:
    """Routes that open, show, change and close a table."""

    async def upload(request: Request) -> Response:
        name = request.query_params.get("name", "")
        return answer((await workspace.take_upload(name, request.stream())).to_json(), 201)

    async def example(request: Request) -> Response:
        if request.path_params["example"] not in EXAMPLES:
            raise HTTPException(404)
        table = await asyncio.to_thread(workspace.open_example, request.path_params["example"])
        return answer(table.to_json(), 201)

    async def look(request: Request) -> Response:
        return answer(find_table(request, workspace).to_json())

    async def change(request: Request) -> Response:
        table = find_table(request, workspace)
        table.change(await decode_body(request, PlanChange))
        return answer(table.to_json())

    async def close(request: Request) -> Response:
        await workspace.forget(find_table(request, workspace))
        return answer({})

    one = "/api/tables/{table}"
    return [
        Route("/api/tables", upload, methods=["POST"]),
        Route("/api/examples/{example}", example, methods=["POST"]),
        Route(one, look),
        Route(one, change, methods=["PUT"]),
        Route(one, close, methods=["DELETE"]),
    ]


def content_routes(workspace: Workspace) -> list[Route]:
    """Routes to some cells of a table, and to its plan as a file."""

    async def cells(request: Request) -> Response:
        job = await find_table(request, workspace).read_cells(await decode_body(request, list[int]))
        return Response(job.body, 200 if job.state == "done" else 422, media_type="application/json")

    async def write_plan(request: Request) -> Response:
        return Response(find_table(request, workspace).write_plan(), media_type="text/plain")

    async def read_plan(request: Request) -> Response:
        plan = find_table(request, workspace).read_plan(await read_body(request))
        return answer({"plan": msgspec.to_builtins(plan)})

    one = "/api/tables/{table}"
    return [
        Route(one + "/cells", cells, methods=["POST"]),
        Route(one + "/plan", write_plan),
        Route(one + "/plan", read_plan, methods=["POST"]),
    ]


def series_routes(workspace: Workspace) -> list[Route]:
    """Routes that show a series."""

    async def look(request: Request) -> Response:
        return answer(await asyncio.to_thread(workspace.describe_series, request.path_params["series"]))

    async def draw(request: Request) -> Response:
        return answer(await asyncio.to_thread(workspace.draw_series, request.path_params["series"]))

    return [Route("/api/series/{series}", look), Route("/api/series/{series}/picture", draw)]


def tree_routes(workspace: Workspace) -> list[Route]:
    """Routes that take a hierarchy and give it back."""

    async def add_tree(request: Request) -> Response:
        body = await read_body(request)
        name = find_table(request, workspace).add_tree(request.query_params.get("name", ""), body)
        return answer({"hierarchy": name}, 201)

    async def tree(request: Request) -> Response:
        trees = find_table(request, workspace).trees
        if request.path_params["tree"] not in trees:
            raise HTTPException(404)
        headers = {"content-disposition": f"attachment; filename={request.path_params['tree']}"}
        return Response(trees[request.path_params["tree"]].read_bytes(), media_type="text/plain", headers=headers)

    return [
        Route("/api/tables/{table}/trees", add_tree, methods=["POST"]),
        Route("/api/tables/{table}/trees/{tree}", tree),
    ]


def find_table(request: Request, workspace: Workspace) -> OpenTable:
    """The table a path names."""
    table = workspace.tables.get(request.path_params["table"])
    if table is None:
        raise HTTPException(404, "This table is closed. Open it again.\n")
    return table


# -- jobs ----------------------------------------------------------------------------------------------------


def job_routes(workspace: Workspace) -> list[Route]:
    """Routes that start a job, tell its progress, give its answer and cancel it."""

    async def ask(request: Request) -> Response:
        table, question = find_table(request, workspace), await decode_body(request, Ask)
        table.check_revision(question.revision)
        options = question.options
        if question.verb == "release":
            return await tell_progress(table.release(resolve_release_paths(workspace, table, options)))
        if question.verb == "publish":
            return await tell_progress(table.publish(resolve_version_paths(workspace, options)))
        if question.verb == "hierarchy" and options.get("source"):
            options = options | {"source": str(table.tree(str(options["source"])))}
        return await tell_progress(table.ask(question.verb, options))

    async def look(request: Request) -> Response:
        return await tell_progress(find_job(request, workspace))

    async def result(request: Request) -> Response:
        job = find_job(request, workspace)
        await job.over.wait()
        return Response(job.body, 200 if job.state == "done" else 422, media_type="application/json")

    async def cancel(request: Request) -> Response:
        job = find_job(request, workspace)
        find_table(request, workspace).cancel(job)
        return await tell_progress(job)

    many, one = "/api/tables/{table}/jobs", "/api/tables/{table}/jobs/{job}"
    return [
        Route(many, ask, methods=["POST"]),
        Route(one, look),
        Route(one, cancel, methods=["DELETE"]),
        Route(one + "/result", result),
    ]


def find_job(request: Request, workspace: Workspace) -> Job:
    """The job a path names."""
    job = find_table(request, workspace).job(request.path_params["job"])
    if job is None:
        raise HTTPException(404, "This job is no longer known. Start it again.\n")
    return job


async def tell_fields(request: Request) -> Response:
    """Everything that a plan can ask for, to make forms of, and the endings of files."""
    del request
    texts = [ending for ending, kind in READ_FORMATS.items() if kind == "csv"]
    endings = {"read": list(READ_FORMATS), "text": texts, "written": WRITTEN_ENDINGS}
    return answer(describe_forms() | {"endings": endings})


async def tell_progress(job: Job) -> Response:
    """How far a job is; one that is nearly done is waited for."""
    with suppress(TimeoutError):
        await asyncio.wait_for(job.over.wait(), PATIENCE)
    return answer(job.to_json())


class ReleaseTarget(msgspec.Struct, forbid_unknown_fields=True):
    """What a page may say of a release: the name of a folder, never a path."""

    folder: str
    ending: str = WRITTEN_ENDINGS[0]
    allow_composition: bool = False


def resolve_release_paths(workspace: Workspace, table: OpenTable, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a release: names of its folder and files become paths below the folder of the studio."""
    try:
        target = msgspec.convert(options, ReleaseTarget)
    except msgspec.ValidationError:
        raise BadOption("release", UNKNOWN_QUESTION) from None
    if target.ending not in WRITTEN_ENDINGS:
        raise BadOption("release", f"kech does not write such files. Choose among {', '.join(WRITTEN_ENDINGS)}.")
    terms = {
        "ledger": not table.is_example,
        "earlier": table.list_earlier(),
        "allow_composition": target.allow_composition,
    }
    stem = "".join(letter for letter in Path(table.name).stem if letter.isprintable()).lstrip("-") or "table"
    names = {"folder": str(workspace.resolve_folder(target.folder)), "file": stem + target.ending}
    return names | terms


class VersionTarget(msgspec.Struct, forbid_unknown_fields=True):
    """What a page may say of the next version of a series: names below the folder of the studio."""

    series: str
    file: str
    wait: float | None = None
    most_changed: float | None = None


def resolve_version_paths(workspace: Workspace, options: dict[str, Any]) -> dict[str, Any]:
    """The options of the next version of a series: names of its folder and file become paths below the studio's."""
    try:
        target = msgspec.convert(options, VersionTarget)
    except msgspec.ValidationError:
        raise BadOption("publish", UNKNOWN_QUESTION) from None
    return {
        "series": str(workspace.resolve_folder(target.series)),
        "file": str(workspace.resolve_folder(target.file)),
        "wait": target.wait,
        "most_changed": target.most_changed,
    }


# -- JSON ----------------------------------------------------------------------------------------------------


def answer(content: dict[str, Any], status: int = 200) -> Response:
    """A response with JSON."""
    return Response(msgspec.json.encode(content), status, media_type="application/json")


async def refuse(request: Request, refusal: Exception) -> Response:
    """A refusal as the command line tells it."""
    del request
    assert isinstance(refusal, KechError)
    return answer(screen.describe_refusal(refusal), 409 if isinstance(refusal, Stale) else 422)


async def read_body(request: Request) -> bytes:
    """The body of a request; refused where it is large."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_JSON:
            raise HTTPException(413, "The request is too large. Shorten it.\n")
    return bytes(body)


async def decode_body(request: Request, kind: type[Any]) -> Any:
    """A body of JSON, checked."""
    try:
        return msgspec.json.decode(await read_body(request), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BadOption("request", UNKNOWN_QUESTION) from None
