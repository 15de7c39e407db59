"""The HTTP interface under `/api/v1`: thin routes that parse, ask the session, and answer."""
