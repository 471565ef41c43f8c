// Drives an installed copy of http-cache-tests, and contains nothing of it.
//
//   node suite.mjs catalogue '{"suite": DIR}'
//   node suite.mjs origin    '{"suite": DIR}'
//   node suite.mjs run       '{"suite": DIR, "base": URL, "ids": [ID...], "parallel": N,
//                              "warm": N, "seconds": N, "trace": [ID...]}'
//
// DIR is absolute. catalogue and run answer with one JSON document on standard output;
// origin says where it listens and serves until its standard input ends. Everything
// else, the suite's own chatter included, is on standard error.

import fs from 'node:fs'
import http from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

// requestSeconds ends a request that the proxy leaves hanging. The repository edition
// has the same limit built in.
const requestSeconds = 10

// open knows the two layouts: the repository keeps its modules under test-engine, the
// npm release at the top.
function open (dir) {
  const repository = fs.existsSync(path.join(dir, 'test-engine'))
  const engine = repository ? path.join(dir, 'test-engine') : dir
  const load = (...parts) => import(pathToFileURL(path.join(...parts)).href)
  return {
    edition: repository ? 'repository' : 'npm',
    require: createRequire(path.join(dir, 'package.json')),
    version: JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8')).version,
    engine: (...parts) => load(engine, ...parts),
    async groups () {
      const groups = [...(await load(dir, 'tests', 'index.mjs')).default]
      // The npm release's index leaves this group out; its command line adds it.
      const further = path.join(dir, 'tests', 'surrogate-control.mjs')
      if (fs.existsSync(further)) groups.push((await load(further)).default)
      // What is for browsers only says nothing about a proxy.
      return groups.map(g => ({ ...g, tests: g.tests.filter(t => !t.browser_only) }))
    }
  }
}

async function catalogue (suite) {
  const tests = (await suite.groups()).flatMap(g => g.tests.map(t => ({
    id: t.id,
    group: g.id,
    kind: t.kind ?? 'required',
    depends_on: t.depends_on ?? []
  })))
  return { edition: suite.edition, version: suite.version, tests }
}

// warmField marks a request that only makes a URL, or a variant of it, known to the proxy.
// The origin answers it with something that may be stored: an answer that may not could
// change how the proxy treats the URL's next request. Its value is the answer's Vary, - for
// none.
const warmField = 'Conformance-Warm'

// origin serves with the suite's handlers, but on loopback only, on a port that the
// system chooses, and without the handler that gives away files.
async function origin (suite) {
  const handlers = new Map()
  for (const name of ['config', 'state', 'test']) {
    handlers.set(name, (await suite.engine('server', `handle-${name}.mjs`)).default)
  }
  const server = http.createServer((request, response) => {
    if (warmField.toLowerCase() in request.headers) {
      const vary = request.headers[warmField.toLowerCase()]
      response.writeHead(200, { 'Cache-Control': 'max-age=60', ...(vary === '-' ? {} : { Vary: vary }) }).end('warm')
      return
    }
    const [first, ...rest] = new URL(request.url, 'http://origin').pathname.split('/').slice(1)
    const handler = handlers.get(first)
    if (handler) return handler(rest, request, response)
    response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1', () => process.stdout.write(`listening on 127.0.0.1:${server.address().port}\n`))
  process.stdin.on('end', () => process.exit()).resume()
}

// asker returns the fetch that the suite's client uses.
function asker (suite) {
  if (suite.edition === 'repository') {
    try {
      suite.require.resolve('undici')
    } catch {
      throw new Error('the repository edition needs undici: run npm install --ignore-scripts --omit=dev in its folder')
    }
    return globalThis.fetch
  }
  const fetch = suite.require('node-fetch')
  return (url, init) => fetch(url, { timeout: requestSeconds * 1000, ...init })
}

// warmed asks for every URL of a test, or for every variant that it asks for, so many times
// before the test begins, for a policy that stores on a later sighting. A test begins with
// the PUT that tells the origin its requests, and these requests are in no book of the
// origin: nothing has happened but that the proxy has seen what the test asks for.
function warmed (ask, base, times) {
  const prefix = `${base}/config/`
  return async (url, init) => {
    if (url.startsWith(prefix) && init?.method === 'PUT') {
      for (const { target, headers } of variantsOf(url.slice(prefix.length), JSON.parse(init.body))) {
        for (let i = 0; i < times; i++) {
          const response = await ask(`${base}/test/${target}`, { headers })
          await response.text()
        }
      }
    }
    return ask(url, init)
  }
}

// variantsOf lists what a test asks for: each target once, or, where its first response
// with Vary names fields, once for each of their values.
function variantsOf (id, requests) {
  const fieldsOf = (list, name) => (list ?? []).filter(([n]) => n.toLowerCase() === name.toLowerCase()).map(([, v]) => String(v))
  const varyOf = new Map()
  for (const r of requests) {
    const target = targetOf(id, r)
    const vary = fieldsOf(r.response_headers, 'vary').join(', ')
    if (!varyOf.get(target)) varyOf.set(target, vary.includes('*') ? '' : vary)
  }
  const variants = new Map()
  for (const r of requests) {
    const target = targetOf(id, r)
    const vary = varyOf.get(target)
    const names = vary.split(',').map(n => n.trim()).filter(n => n)
    const headers = names.flatMap(n => fieldsOf(r.request_headers, n).map(v => [n, v]))
    // Values that a cache may take for the same count as the same.
    const values = names.map(n => fieldsOf(headers, n).join(',').toLowerCase().split(/[\s,;]+/).filter(Boolean).sort().join(' '))
    const key = JSON.stringify([target, values])
    if (!variants.has(key)) variants.set(key, { target, headers: [[warmField, vary || '-'], ...headers] })
  }
  return variants.values()
}

function targetOf (id, request) {
  return id +
    ('filename' in request ? `/${request.filename}` : '') +
    ('query_arg' in request ? `?${request.query_arg}` : '')
}

// run plays the tests named by ids and answers with what the suite says of each: true, or why not.
async function run (suite, { base, ids, parallel, warm, seconds, trace }) {
  const chosen = new Set(ids)
  const groups = (await suite.groups()).map(g => ({ ...g, tests: g.tests.filter(t => chosen.has(t.id)) }))
  for (const t of groups.flatMap(g => g.tests)) t.dump = trace?.includes(t.id)

  let ask = asker(suite)
  if (warm > 0) ask = warmed(ask, base, warm)
  const runner = await suite.engine('client', 'runner.mjs')
  let played
  if (suite.edition === 'repository') {
    globalThis.fetch = ask
    played = runner.runTests(groups, false, base, parallel)
  } else {
    played = runner.runTests(groups, ask, false, base, parallel)
  }
  let timer
  const late = new Promise(resolve => { timer = setTimeout(resolve, seconds * 1000, false) })
  const finished = await Promise.race([played.then(() => true), late])
  clearTimeout(timer)
  return { finished, answers: runner.getResults() }
}

console.log = console.error // the suite reports there what goes on
const commands = { catalogue, origin, run }
const [, , command, json] = process.argv
try {
  const options = JSON.parse(json)
  const answer = await commands[command](open(options.suite), options)
  // Connections that are kept open must not keep the process.
  if (answer) process.stdout.write(JSON.stringify(answer) + '\n', () => process.exit())
} catch (err) {
  console.error(`suite.mjs: ${err.message}`)
  process.exit(1)
}
