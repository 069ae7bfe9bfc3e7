import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'

const entry = join(import.meta.dirname, '../../services/orch/dist/bundle/main.js')

/** Runs a command of `orch` to its end in a folder, as the package of that name does. */
function orchBy(npm_package_name: string, folder: string, ...args: readonly string[]) {
  const env = { ...process.env, KUBECONFIG: '', HOME: folder, npm_package_name }
  const { status, stdout, stderr } = spawnSync(process.execPath, [entry, ...args], { cwd: folder, encoding: 'utf8', env })
  return { code: status, out: stdout, error: stderr }
}

const orch = (folder: string, ...args: readonly string[]) => orchBy('project', folder, ...args)

test.each([
  ['of a clone', 'orch-workspace', [], 'npm run orch -- stop'],
  ['with the folder', 'project', ['--data-dir=kept'], 'orch stop --data-dir <folder>/kept'],
])('up --detach names the command %s that ends the server', (_which, name, flags, expected) => {
  const folder = aFolder()
  const command = expected.replace('<folder>', folder)
  onTestFinished(() => void orch(folder, 'stop', ...flags))
  const { out } = orchBy(name, folder, 'up', '--detach', '--secure-port=0', ...flags)
  expect(/End it with: (.*)$/m.exec(out)?.[1]).toBe(command)
  expect(orch(folder, ...command.split(' ').slice(command.split(' ').indexOf('stop'))).code).toBe(0)
})

test('up --detach returns when the server is ready; status finds it, a second start on its folder fails with the reason, stop ends it', () => {
  const folder = aFolder()
  onTestFinished(() => void orch(folder, 'stop'))
  const { code, out } = orch(folder, 'up', '--detach', '--secure-port=0')
  expect(code).toBe(0)
  const [, url, pid] =
    /^orch is ready at (\S+) [\s\S]*^Process (\d+) goes on in the background on the folder \S+\.orch\/orch; its log is .*server\.log\. End it with: orch stop$/m.exec(
      out,
    ) ?? []
  expect(orch(folder, 'status')).toEqual({ code: 0, out: `.orch/orch: process ${pid} listens on ${url} and is ready\n`, error: '' })
  const second = orch(folder, 'up', '--detach', '--secure-port=0')
  expect(second.code).toBe(1)
  expect(second.error).toMatch(/^orch: the data directory .* is in use by process \d+, which listens on /)
  expect(orch(folder, 'ctl', 'get', 'namespaces', '-o', 'name').out).toContain('namespace/default\n')
  expect(orch(folder, 'stop')).toEqual({ code: 0, out: `.orch/orch: process ${pid} has ended\n`, error: '' })
  expect(orch(folder, 'status')).toEqual({ code: 1, out: '.orch/orch: no server runs on it\n', error: '' })
})
