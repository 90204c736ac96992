-- Send the requests of a file in turn, each a line: METHOD, path, token, body, separated
-- by tabs. wrk passes the file's name after `--`.
local requests, position = {}, 0

function init(arguments)
  for line in io.lines(arguments[1]) do
    local method, path, token, body = line:match("^(.-)\t(.-)\t(.-)\t(.*)$")
    local headers = {["Authorization"] = "Bearer " .. token}
    if body ~= "" then
      headers["Content-Type"] = "application/json"
    else
      body = nil
    end
    requests[#requests + 1] = wrk.format(method, path, headers, body)
  end
end

function request()
  position = position % #requests + 1
  return requests[position]
end
-- Print one line for benchmarks/load.py: requests, duration, p50, p99 (times in
-- microseconds), errors.
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("@@%d %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99),
    e.status + e.connect + e.read + e.write + e.timeout))
end
