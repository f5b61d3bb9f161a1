"""Wire formats and servers: how others sit at our table, and ours at theirs."""
