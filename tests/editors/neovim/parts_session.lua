-- What needs no optimization: options, tables of hovers, runners, doctor, health, a program that is
-- missing, lenses above lines, completion, the pages of the help.
package.path = os.getenv('WARPWRIGHT_TESTS') .. '/?.lua;' .. package.path
local t = require('harness')

local function check_options()
  local options = require('warpwright.options')
  local result, problems = options.merge({ lens = true, hover_key = false, comand = {} })
  assert(result.lens == 'above' and result.hover_key == false and #problems == 1)
  t.expect('unknown option', problems[1], "no option 'comand'; it has cmd, filetypes")
  _, problems = options.merge({ restarts = 'often' })
  t.expect('wrong type', problems[1], "'restarts' must be a number, it is a string")
  result, problems = options.merge({ lens = 'below' })
  t.expect('wrong value', problems[1], "must be 'end', 'above' or false")
  assert(result.lens == 'above')
end

local function check_tables()
  local hover = require('warpwright.hover')
  local lines = hover.align_tables({ 'a', '| x | long |', '|---|---|', '| µµµµ | 1\194\160us |', 'b' })
  assert(vim.deep_equal(lines, { 'a', '| x    | long |', '| ---- | ---- |', '| µµµµ | 1 us |', 'b' }), vim.inspect(lines))
  local both = hover.combine({ { kind = 'markdown', value = 'one\n' }, 'two', '' })
  assert(vim.deep_equal(both, { 'one', '', '---', '', 'two' }), vim.inspect(both))
  t.say('tables', 'aligned')
end

local code = {
  source = 'void scale() {\n  x[i] = 2;\n}', ptx = '.entry scale\nmov.u32 %r1, 2;\nst.global.u32 [%rd1], %r1;\nret;',
  sass = '', missing = 'nvdisasm is not installed', rows = { { 0, 2, 2 }, { 16, 3, 2 }, { 32, 4, 3 } },
}

local function check_code()
  local details = require('warpwright.details')
  local _, to_source = details.links(vim.tbl_extend('force', code, { sass = '\t.text.scale:\n  /*0000*/ MOV R1, 0x2 ;\n  /*0020*/ EXIT ;' }))
  assert(vim.deep_equal(to_source, { [2] = { 2 }, [3] = { 3 } }), vim.inspect(to_source))
  local source, other = details.open_code('scale', code)
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  vim.cmd('doautocmd CursorMoved')
  local namespace = vim.api.nvim_get_namespaces().warpwright_code
  local marked = vim.tbl_map(function(mark) return mark[2] + 1 end, vim.api.nvim_buf_get_extmarks(other, namespace, 0, -1, {}))
  assert(vim.deep_equal(marked, { 2, 3 }), vim.inspect(marked))
  vim.cmd('wincmd l')
  vim.api.nvim_win_set_cursor(0, { 4, 0 })
  vim.cmd('doautocmd CursorMoved')
  assert(vim.api.nvim_buf_get_extmarks(source, namespace, 0, -1, {})[1][2] == 2, 'the line of the source is not marked')
  t.expect('why there is PTX only', t.message('PTX only'), 'nvdisasm')
  vim.cmd('tabclose')
end

-- A file without a kernel starts no server until it has one.
local function check_quiet_start()
  vim.cmd('edit ' .. vim.fn.fnamemodify(os.getenv('WARPWRIGHT_FILE'), ':h') .. '/host.cu')
  assert(not t.child('warpwright'), 'the server was started for a file without a kernel')
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { '__global__ void late(float *x) { x[threadIdx.x] = 0; }' })
  vim.cmd('doautocmd TextChanged')
  t.wait('the server', 60, function() return t.child('warpwright') end)
  t.say('quiet start', 'with the first kernel')
  vim.cmd('bwipeout!')
end

local far = { name = 'far', url = 'tls://127.0.0.1:1?token-file=/nonexistent' }
local options = { settings = {}, runners = { far } }

local function check_runners()
  local runners = require('warpwright.runners')
  assert(runners.problem_of('tls://secret@host:1'):match('token%-file'))
  assert(runners.problem_of('tcp://host:1'):match('tls://'))
  assert(not runners.problem_of('tls://host:1?token-file=/x@y') and not runners.problem_of('unix:/run/x'))
  for _, url in ipairs({ 'ssh://me@gpu-box:2222', 'slurm://', 'slurm://gpu?host=login', 'docker://img', 'kubectl://ns/pod' }) do
    assert(not runners.problem_of(url), url)
  end
  assert(runners.problem_of('ssh://') and runners.problem_of('ssh://a b'))
  local hosts = runners.hosts_of({ '# Host no', 'Host gpu-box lab1', '  HostName 10.0.0.7', 'Host *.lab !x', 'host=last' })
  assert(table.concat(hosts, ' ') == 'gpu-box lab1 last', table.concat(hosts, ' '))
  local offered = {}
  t.select('cpu', offered)
  vim.cmd('WarpwrightRunners')
  t.wait('the CPU', 60, function() return t.message('runner cpu is ready') end)
  t.expect('chosen', require('warpwright.options').current.settings.device, 'cpu')
  t.expect('offered', table.concat(offered, ';'), 'add a runner')
  t.setup(options) -- as in a new session: the choice was kept
  t.expect('kept', require('warpwright.options').current.settings.device, 'cpu')
  vim.cmd('WarpwrightRunners far')
  t.wait('a verdict on it', 60, function() return t.message('runner far does not work') end)
  t.expect('what is wrong', t.message('does not work'), 'token file')
  assert(vim.tbl_contains(vim.fn.getcompletion('WarpwrightRunners c', 'cmdline'), 'cpu'))
end

local function add_runner()
  local answers = { 'tls://127.0.0.1:1?token-file=/nonexistent', 'here' }
  vim.ui.input = function(_, on_confirm) on_confirm(table.remove(answers, 1)) end
  vim.ui.select = function(items, opts, choose)
    local wanted = opts.prompt:match('does not work') and '^Add' or 'add a runner'
    for index, item in ipairs(items) do
      if (opts.format_item and opts.format_item(item) or item):match(wanted) then return choose(item, index) end
    end
  end
  vim.cmd('WarpwrightRunners')
  t.wait('an added runner', 60, function() return require('warpwright.runners').find('here') end)
  t.expect('tried before it is kept', t.message('runner here does not work') or 'none', 'token file')
  local kept = table.concat(vim.fn.readfile(vim.fn.stdpath('data') .. '/warpwright/runners.json'))
  t.expect('kept in a file', kept, '127.0.0.1')
end

local function check_doctor_and_health()
  vim.cmd('WarpwrightRunners automatic')
  t.wait('the automatic one', 60, function() return t.message('runner automatic is ready') end)
  vim.cmd('WarpwrightDoctor')
  t.wait('doctor', 60, function() return t.text(0):match('CPU worker') end)
  t.expect('doctor', t.text(0), 'Ready')
  vim.cmd('close')
  vim.cmd('checkhealth warpwright')
  t.wait('health', 60, function() return t.text(0):match('position encoding') end)
  for _, wanted in ipairs({ 'setup{} was called', 'the program is /', 'CPU worker', 'running for' }) do
    t.expect('health', t.text(0), wanted)
  end
  assert(not t.text(0):match('ERROR'), t.text(0))
  vim.cmd('bwipeout!')
end

local function check_buffer(bufnr)
  t.wait('lens above', 60, function() return t.lenses(bufnr):match('not measured') end)
  local namespace = vim.api.nvim_get_namespaces().warpwright_lens
  local mark = vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { details = true })[1]
  assert(mark[4].virt_lines and mark[4].virt_lines_above, 'the lens is not above its line')
  t.say('lens', 'above the line')
  require('warpwright.options').current.lens = 'end'
  vim.api.nvim_buf_set_lines(bufnr, 0, 0, false, { '// another line' })
  t.wait('lens at the end', 60, function()
    mark = vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { details = true })[1]
    return mark and mark[4].virt_text
  end)
  t.say('lens', 'at the end of the line')
  assert(vim.deep_equal(vim.fn.getcompletion('WarpwrightOptimize s', 'cmdline'), { 'saxpy' }))
  vim.cmd('WarpwrightApply')
  t.wait('nothing to apply', 30, function() return t.message('no verified variant of saxpy') end)
  vim.cmd('WarpwrightCancel')
  t.wait('nothing to cancel', 30, function() return t.message('nothing is running') end)
end

-- A kernel of which nothing says how it is launched.
local function insert_facts()
  vim.cmd('edit ' .. vim.fn.fnamemodify(os.getenv('WARPWRIGHT_FILE'), ':h') .. '/lone.cu')
  local bufnr = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, { '__global__ void lone(float *x, const int *map) {', '  x[map[threadIdx.x]] = 0;', '}' })
  t.wait('what is missing', 60, function() return t.lenses(bufnr):match('missing facts') end)
  if vim.fn.has('nvim-0.10') == 1 then
    local hint = t.wait('inlay hints', 60, function() return vim.lsp.inlay_hint.get({ bufnr = bufnr })[1] end)
    t.expect('inlay hint', hint.inlay_hint.label, 'irregular')
  end
  vim.cmd('WarpwrightInsertFacts')
  t.wait('a comment', 60, function() return t.text(bufnr):match('// warpwright:') end)
  t.say('facts', 'asked for')
  vim.cmd('bwipeout!')
end

local function check_help()
  vim.cmd('helptags ' .. os.getenv('WARPWRIGHT_PLUGIN') .. '/doc')
  for name in pairs(vim.api.nvim_get_commands({})) do
    if name:match('^Warpwright') then vim.cmd('help :' .. name) end
  end
  for _, option in ipairs({ 'cmd', 'runners', 'lens', 'hover_key', 'restarts' }) do vim.cmd('help warpwright-' .. option) end
  t.say('help', 'has every command')
  vim.cmd('helpclose')
end

local function check_missing_program()
  for _, client in ipairs(require('warpwright.compat').clients()) do require('warpwright.compat').stop(client, true) end
  t.wait('its end', 30, function() return not t.child('warpwright') end)
  require('warpwright').setup({ cmd = { '/nonexistent/warpwright', 'lsp' } })
  t.expect('missing program', t.message('there is no program') or 'none', '/nonexistent/warpwright')
  vim.cmd('checkhealth warpwright')
  t.wait('health', 30, function() return t.text(0):match('there is no program') end)
  t.expect('health', t.text(0), 'Put warpwright on the PATH')
end

t.session(function()
  check_options()
  check_tables()
  check_code()
  t.setup(options)
  check_quiet_start()
  vim.cmd('edit ' .. os.getenv('WARPWRIGHT_FILE'))
  local bufnr = vim.api.nvim_get_current_buf()
  check_buffer(bufnr)
  check_runners()
  add_runner()
  check_doctor_and_health()
  insert_facts()
  check_help()
  check_missing_program()
end)
