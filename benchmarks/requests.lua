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

dofile((debug.getinfo(1, "S").source:sub(2):gsub("requests%.lua$", "summary.lua")))
