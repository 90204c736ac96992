"""The community board: posts, comments, votes, notices, images."""
