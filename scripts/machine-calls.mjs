/**
 * Finds uses of the machine's time, timers and chance in the product's code. In a test the server takes these from its clock and its seed, so code must
 * use `Clock` and `Chance`. Listeners of an AbortSignal are found too: an aborted signal calls none that is added later, so its user would wait for ever.
 * The exceptions are listed here with their reasons.
 */
import { lineAt, parse, walk } from './syntax.mjs'

const sockets = 'it bounds a connection or a process, whose other end lives in real time'
const secrets = 'a secret or a nonce: what a seed decides can be guessed'
const ownProcess = 'it waits for another process, outside of any server'

/** The machine calls that each file may use, with the reason. */
export const machineFiles = {
  'shared/platform/src/clock.ts': { takes: ['time', 'timers'], reason: 'the clock itself' },
  'shared/platform/src/chance.ts': { takes: ['chance'], reason: 'chance itself' },
  'shared/platform/src/abort.ts': { takes: ['aborts'], reason: 'it looks at the signal first' },
  'shared/platform/src/activity.ts': { takes: ['timers'], reason: 'it waits for work while the clock stands still' },
  'shared/platform/src/idle-timer.ts': { takes: ['timers'], reason: sockets },
  'shared/platform/src/lifecycle.ts': { takes: ['timers'], reason: 'it keeps the process alive while it stops' },
  'shared/platform/src/backends/program.ts': { takes: ['timers', 'chance'], reason: ownProcess },
  'shared/platform/src/tls/certificate.ts': { takes: ['chance'], reason: 'serial numbers of certificates, which no seed decides' },
  'shared/client/src/retries.ts': { takes: ['timers'], reason: 'a client lives in the time of its own process' },
  'shared/client/src/transports/http1-transport.ts': { takes: ['timers'], reason: sockets },
  'shared/client/src/transports/http2-connection.ts': { takes: ['timers'], reason: sockets },
  'shared/client/src/transports/negotiated-transport.ts': {
    takes: ['timers', 'aborts'],
    reason: `${sockets}; its callers look at the signal first`,
  },
  'services/gateway/src/aggregation/http2-sessions.ts': { takes: ['timers'], reason: sockets },
  'services/gateway/src/exchange/http1-connection.ts': { takes: ['timers'], reason: sockets },
  'services/gateway/src/exchange/http1.ts': { takes: ['timers'], reason: sockets },
  'services/gateway/src/exchange/refused-heads.ts': { takes: ['timers'], reason: sockets },
  'services/gateway/src/listener/shared-port.ts': { takes: ['timers'], reason: sockets },
  'services/gateway/src/texts/text-thread.ts': { takes: ['timers'], reason: 'it bounds the work of a thread' },
  'services/orch/src/controllers/open.ts': {
    takes: ['timers'],
    reason: 'first requests go before controllers, whatever the clock says',
  },
  'services/orch/src/distributed/run-service.ts': { takes: ['timers'], reason: 'it keeps the process alive' },
  'services/orch/src/envtest/api-server-main.ts': { takes: ['aborts'], reason: 'nothing aborts the signal before' },
  'services/orch/src/envtest/kube-apiserver.ts': { takes: ['timers'], reason: ownProcess },
  'services/orch/src/instance/commands.ts': { takes: ['timers'], reason: ownProcess },
  'services/orch/src/process/terminal.ts': { takes: ['timers'], reason: ownProcess },
  'services/gateway/src/console/secrets.ts': { takes: ['chance'], reason: secrets },
  'services/storage/src/encryption/local-keys.ts': { takes: ['chance'], reason: secrets },
  'services/storage/src/kms/kms-provider.ts': { takes: ['chance'], reason: secrets },
  'services/storage/src/etcd/client.ts': { takes: ['timers'], reason: sockets },
  'services/storage/src/etcd/latest-revision.ts': { takes: ['timers'], reason: sockets },
  'services/storage/src/etcd/watch.ts': { takes: ['timers'], reason: sockets },
}

const advice = {
  time: 'passes the clock by; take a Clock, or systemClock',
  timers: 'passes the clock by; take clock.after, clock.every, sleep or timeoutSignal',
  chance: 'passes chance by; draw from a Chance',
  aborts: 'misses an earlier abort; take onAbort, aborted or unlessAborted',
}

const members = {
  'Date.now': 'time',
  'performance.now': 'time',
  'process.hrtime': 'time',
  'AbortSignal.timeout': 'timers',
  'Math.random': 'chance',
  'crypto.randomUUID': 'chance',
  'crypto.getRandomValues': 'chance',
}
const timers = ['setTimeout', 'setInterval']
const imports = {
  'node:crypto': { names: ['randomUUID', 'randomBytes', 'randomInt', 'randomFill', 'randomFillSync', 'getRandomValues'], kind: 'chance' },
  'node:timers': { names: timers, kind: 'timers' },
  'node:timers/promises': { names: [...timers, 'scheduler'], kind: 'timers' },
  'node:perf_hooks': { names: ['performance'], kind: 'time' },
}

/** The violations in files, given by their paths and texts, and the entries of the list that no file needs. */
export function checkMachineCalls(files, list = machineFiles) {
  const needless = new Map(Object.entries(list).map(([file, { takes }]) => [file, new Set(takes)]))
  const violations = files.flatMap(({ file, text }) =>
    callsOf(file, text).flatMap(({ line, name, kind }) => {
      needless.get(file)?.delete(kind)
      return list[file]?.takes.includes(kind) ? [] : [`${file}:${line}: ${name} ${advice[kind]}`]
    }),
  )
  const there = new Set(files.map(({ file }) => file))
  for (const [file, kinds] of needless) {
    if (!there.has(file)) violations.push(`scripts/machine-calls.mjs lists ${file}, which is not there`)
    else for (const kind of kinds) violations.push(`scripts/machine-calls.mjs lists ${file} for ${kind}, which it does not take`)
  }
  return violations
}

function callsOf(file, text) {
  const calls = []
  const found = (node, name, kind) => calls.push({ line: lineAt(text, node.start), name, kind })
  walk(parse(file, text), undefined, (node) => {
    if (node.type === 'MemberExpression') {
      const name = `${node.object.name ?? node.object.property?.name}.${node.property.name}`
      if (members[name] !== undefined) found(node, name, members[name])
    }
    if (node.type === 'NewExpression' && node.callee.name === 'Date' && node.arguments.length === 0) found(node, 'new Date()', 'time')
    if (isAbortListener(node)) found(node, "addEventListener('abort')", 'aborts')
    if (node.type === 'CallExpression' && timers.includes(timerOf(node.callee))) found(node, timerOf(node.callee), 'timers')
    if (node.type === 'ImportDeclaration' && imports[node.source.value] !== undefined) {
      const { names, kind } = imports[node.source.value]
      for (const { imported } of node.specifiers) if (names.includes(imported?.name)) found(node, imported.name, kind)
    }
  })
  return calls
}

function isAbortListener({ type, callee, arguments: given }) {
  return type === 'CallExpression' && callee.property?.name === 'addEventListener' && given[0]?.value === 'abort'
}

/** The name of a timer function that is called directly or as a member of `globalThis`; a socket has methods of the same name. */
function timerOf(callee) {
  return callee.name ?? (callee.object?.name === 'globalThis' ? callee.property.name : undefined)
}
