#!/usr/bin/env -S node --max-semi-space-size=16 --min-semi-space-size=4
import { enableCompileCache } from 'node:module'

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
if (code !== undefined) process.exitCode = code
