"""Benchmarks of the service against plain Django and peers, on temporary stores.

`script/bench` runs them. The subjects of a comparison take turns within each round
(A B C A B C …) and ratios are computed per round, so that noise of the machine affects
both sides of a ratio. All connections go to 127.0.0.1.

T is the trivial authenticated GET, of this checkout or of another revision
(`--reference`), Q the bare SQL of an answer, prepared, from the totals that are kept.
"""
