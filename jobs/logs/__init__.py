"""What a running job says, kept as files: log streams, health records, who is watching.

The one idea: a log is a plain file that only grows, one a stream and generation, and every position
in it is a byte offset. Whoever writes names the offset, whoever reads remembers one; so the same
bytes may come twice, a connection may break anywhere, and nothing is lost or doubled. Nothing here
touches the database, and nothing here keeps a log in memory.

Layout: LOGS_DIR/<public id>/<attempt>/ holds NAME.GENERATION.log with its side files (.index .gaps
.seal .name), beats/<node>.ndjson, watched/NAME and input.
"""

from jobs.logs.course import chart, course_dir
from jobs.logs.files import (
    PastEnd,
    Stream,
    attempt_dir,
    delete,
    gap,
    gaps,
    generations,
    path_of,
    read,
    size,
    streams,
    write,
)
from jobs.logs.health import (
    append_beat,
    beats,
    heard,
    last_beat,
    last_heard,
    listing,
)
from jobs.logs.holes import Gap, kept
from jobs.logs.line_index import (
    Found,
    Lines,
    line_at,
    lines,
    search,
    tail_lines,
    total_lines,
)
from jobs.logs.names import log_path
from jobs.logs.sealing import Seal, close, complete, seal
from jobs.logs.touching import last_touched, touched
from jobs.logs.watching import watch, watch_mark, watched

__all__ = [
    "Found",
    "Gap",
    "Lines",
    "PastEnd",
    "Seal",
    "Stream",
    "append_beat",
    "attempt_dir",
    "beats",
    "chart",
    "close",
    "complete",
    "course_dir",
    "delete",
    "gap",
    "gaps",
    "generations",
    "heard",
    "kept",
    "last_beat",
    "last_heard",
    "last_touched",
    "line_at",
    "lines",
    "listing",
    "log_path",
    "path_of",
    "read",
    "seal",
    "search",
    "size",
    "streams",
    "tail_lines",
    "total_lines",
    "touched",
    "watch",
    "watch_mark",
    "watched",
    "write",
]
