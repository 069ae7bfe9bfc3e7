#!/usr/bin/env -S node --max-semi-space-size=16 --min-semi-space-size=8
import { endOnEarlySignals } from '@orch/platform/early-signals'
import { isServerCommand, loadFast } from './process/before-modules.ts'

// Runs before the modules load, which takes a while on a busy machine.
if (isServerCommand(process.argv[2])) endOnEarlySignals()
loadFast(import.meta.url)
// These warnings are for authors of a library, not for readers of a server's log.
process.noDeprecation = true
const { runCommand } = await import('./command-line.ts')
const { openStatusLine } = await import('@orch/platform')
const { notifyStarter } = await import('./process/terminal.ts')

// A full disk or a closed reader of the log or audit log does not end a server: output is lost until it can be written again.
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
  const { collectWhenIdle, isTuned, ownHeap, setServingFlags } = await import('./process/v8.ts')
  if (isTuned(process.env)) {
    setServingFlags()
    const { systemClock } = await import('@orch/platform')
    collectWhenIdle({ clock: systemClock, ...ownHeap() })
  }
} else {
  // The end of the process closes everything that a failed start has opened, and releases the lock of the data folder.
  await written(process.stdout)
  await written(process.stderr)
  process.exit(code === 0 && isOutputLost ? 1 : code)
}

/** Resolves when all bytes of the stream have been written, or its reader has closed. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}
