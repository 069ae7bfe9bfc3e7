import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startProcess } from './server-process.ts'

const run = promisify(execFile)
const hasCurl = spawnSync('curl', ['--version']).status === 0

test.skipIf(!hasCurl)('the commands of the start message work unchanged [skipped: no curl on the path]', async () => {
  const { message } = await startProcess(['--memory'])
  const lines = (/Try:\n((?: {2}.*\n)+)/.exec(message)?.[1] ?? '').replace('watch=1', 'watch=1&timeoutSeconds=1')
  const { stdout } = await run('sh', ['-c', lines])
  expect(stdout).toContain('"kind": "NamespaceList"')
  expect(stdout).toContain('"say": "hello"')
  expect(stdout).toContain('"type":"ADDED"')
})
