import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startProcess } from './server-process.ts'

const run = promisify(execFile)
const hasCurl = spawnSync('curl', ['--version']).status === 0

test.skipIf(!hasCurl)('the commands of the start message work as they are printed [skipped: no curl on the path]', async () => {
  const { message } = await startProcess(['--memory'])
  const [list = '', create = '', watch = ''] = message.split('\n').filter((line) => line.startsWith('  curl'))
  const shell = async (command: string) => (await run('sh', ['-c', command])).stdout
  expect(await shell(`${list} --silent`)).toContain('"kind": "NamespaceList"')
  expect(await shell(`${create} --silent`)).toContain('"greeting": "hello"')
  const url = /'(https:\S+)'/.exec(watch)?.[1] ?? ''
  expect(await shell(`${watch.replace(url, `${url}&timeoutSeconds=1`)} --silent`)).toContain('"type":"ADDED"')
})
