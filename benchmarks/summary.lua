-- Print one line for benchmarks/load.py: requests, duration, p50, p99 (times in
-- microseconds), errors.
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("@@%d %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99),
    e.status + e.connect + e.read + e.write + e.timeout))
end
