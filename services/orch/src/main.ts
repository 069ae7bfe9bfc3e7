#!/usr/bin/env -S node --max-semi-space-size=16 --min-semi-space-size=4
import { enableCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

enableCompileCache()
// They are for those who write a library, not for those who read the log of a server.
process.noDeprecation = true
const { runCommand } = await import('./command-line.ts')

const code = await runCommand({
  arguments: process.argv.slice(2),
  env: process.env,
  workingFolder: process.cwd(),
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
})
if (code === undefined) {
  // A server goes on running. V8 would put some of the objects of each request straight among the old ones, and all that
  // these refer to would be kept until the next full collection. Set after the start: before, Node's own compiled code would
  // not be taken, as it was made with other flags.
  setFlagsFromString('--no-allocation-site-pretenuring')
} else process.exitCode = code
