#!/usr/bin/env -S node --max-semi-space-size=16 --min-semi-space-size=8
import { enableCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

enableCompileCache()
// They are for those who write a library, not for those who read the log of a server.
process.noDeprecation = true
const { runCommand } = await import('./command-line.ts')
const { openStatusLine } = await import('@orch/platform')
const { notifyStarter } = await import('./process/starter.ts')

// A log or an audit log on a full disk, or one whose reader is gone, ends no server: what it says there is lost until there is room.
let isOutputLost = false
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  isOutputLost ||= code !== 'EPIPE'
})
process.stderr.on('error', () => {})
const code = await runCommand({
  arguments: process.argv.slice(2),
  env: process.env,
  workingFolder: process.cwd(),
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
  statusLine: openStatusLine(process.stderr, process.env),
  notify: notifyStarter,
})
if (code === undefined) {
  // A server goes on running, and V8's guesses do not fit it. Set after the start: before, Node's own compiled code would not be
  // taken, as it was made with other flags.
  // Some objects of each request would be put straight among the old ones, and all that they refer to would be kept until the
  // next full collection.
  setFlagsFromString('--no-allocation-site-pretenuring')
  // Under writes full collections would come whenever some 24 MB of objects have been stored, of which they can free nothing.
  setFlagsFromString('--heap-growing-percent=100')
  // By default TurboFan compiles a function after 3,000 calls. Until then, and again after each deoptimization, Maglev's slower code runs,
  // which is most of the time in the first half minute of writes.
  setFlagsFromString('--invocation-count-for-turbofan=800')
  const { collectWhenIdle, ownHeap } = await import('./idle-collection.ts')
  const { systemClock } = await import('@orch/platform')
  collectWhenIdle({ clock: systemClock, ...ownHeap() })
} else {
  // Whatever a failed start has left open ends with the process, and with it the lock of the data folder.
  await written(process.stdout)
  await written(process.stderr)
  process.exit(code === 0 && isOutputLost ? 1 : code)
}

/** Resolves when all that was given to the stream has been written, or its reader is gone. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}
