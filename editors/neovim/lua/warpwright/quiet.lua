-- Starts the server with the first buffer that may hold a kernel or a module. A Python or C++ file
-- starts it only when it contains a word such as `Module` or `Tensor`.
local M = {}

-- A word without which a text of the language has no kernel; server/workspace_files.cpp has the same test.
local words = { cuda = '__global__', python = 'Module', cpp = 'Tensor' }

local waiting = {} -- bufnr -> true

local function holds_word(bufnr, first, last)
  local word = words[vim.bo[bufnr].filetype]
  if not word then return true end -- a file type that the user added
  for _, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, first, last, false)) do
    if line:find(word, 1, true) then return true end
  end
  return false
end

--- Calls start(bufnr) once, now or when the buffer may hold a kernel.
function M.when_needed(bufnr, start)
  if holds_word(bufnr, 0, -1) then return start(bufnr) end
  if waiting[bufnr] then return end
  waiting[bufnr] = true
  vim.api.nvim_buf_attach(bufnr, false, {
    on_lines = function(_, _, _, first, _, last)
      if not holds_word(bufnr, first, last) then return end
      waiting[bufnr] = nil
      vim.schedule(function()
        if vim.api.nvim_buf_is_loaded(bufnr) then start(bufnr) end
      end)
      return true -- ends the watch
    end,
    on_detach = function() waiting[bufnr] = nil end,
  })
end

return M
