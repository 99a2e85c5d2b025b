-- A project that the user has not approved: opening it starts nothing, a message says what is
-- ignored, and the first optimization asks. The file next to the source names an interpreter that
-- leaves a mark where it is started.
package.path = os.getenv('WARPWRIGHT_TESTS') .. '/?.lua;' .. package.path
local t = require('harness')

local asked = {}

--- Answers the next questions with the choice of this text, or with the default.
local function answer_with(text)
  vim.api.nvim_list_uis = function() return { {} } end -- as if someone sat here
  vim.fn.confirm = function(message, choices, default)
    table.insert(asked, message)
    for index, choice in ipairs(vim.split(choices, '\n')) do
      if choice:match('^&%d ' .. text .. '$') then return index end
    end
    return default
  end
end

local function optimize()
  local outcome
  require('warpwright').optimize('saxpy', function(err, result) outcome = { err = err, result = result } end)
  t.wait('an outcome', 180, function() return outcome end)
  return outcome
end

t.session(function()
  local folder = vim.fn.fnamemodify(os.getenv('WARPWRIGHT_FILE'), ':h')
  vim.fn.writefile({ 'python = "python.sh"' }, folder .. '/.warpwright.toml')
  vim.fn.writefile({ '#!/bin/sh', 'touch ' .. folder .. '/started', 'exec python3 "$@"' }, folder .. '/python.sh')
  vim.fn.setfperm(folder .. '/python.sh', 'rwx------')
  t.asks_for_trust = true
  t.setup()
  answer_with('none of these')
  vim.cmd('edit ' .. os.getenv('WARPWRIGHT_FILE'))
  local bufnr = vim.api.nvim_get_current_buf()
  t.wait('lens', 30, function() return t.lenses(bufnr):match('not measured') end)
  t.wait('what is ignored', 30, function() return t.message('is not approved, so what it says about python is ignored') end)
  t.expect('questions on opening', #asked, 0)

  t.expect('refused', optimize().err.message, 'not trusted')
  t.expect('question', asked[1], 'Do you trust ' .. folder)
  t.expect('with the requests', asked[1], 'python = ')
  answer_with('Trust Folder Only')
  t.expect('verified', optimize().result.verified > 0, true)
  t.expect('the interpreter', vim.fn.filereadable(folder .. '/started'), 0)
  t.expect('questions', #asked, 2)
  optimize()
  t.expect('questions after', #asked, 2)

  answer_with('Trust')
  vim.cmd('WarpwrightTrust')
  t.wait('the approval', 30, function() return #asked == 3 end)
  local store = (os.getenv('XDG_STATE_HOME') or '') .. '/warpwright/approvals.json'
  t.wait('it is kept', 30, function()
    return vim.fn.filereadable(store) == 1 and table.concat(vim.fn.readfile(store)):match('warpwright%.toml')
  end)
  t.expect('mode', vim.fn.getfperm(store), 'rw-------')
end)
