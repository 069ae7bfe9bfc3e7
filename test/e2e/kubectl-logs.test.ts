import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { virtualClock } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { aKubectl, describeKubectls, ownServer } from './kubectl.ts'

const manifest = `
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web}
  annotations:
    simulation.orch.io/logs.main: "up\\nevery 1s: tick \${n}"
    simulation.orch.io/run-for.main: 10s
    simulation.orch.io/exit-code.main: "3"
    simulation.orch.io/usage.main: cpu=2,memory=8Gi
spec:
  nodeName: node-1
  restartPolicy: Never
  initContainers: [{name: first, image: 'img:1'}]
  containers: [{name: main, image: 'img:1'}, {name: side, image: 'img:1'}]
`

describeKubectls('%s', { timeout: 180_000 }, (binary) => {
  test('NODE-IO-04, NODE-IO-08, NODE-MET-06, NODE-GOAL-03: reads logs on simulated nodes, follows one to its end, and shows their use against what they offer', async () => {
    const clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
    const server = await ownServer({ clock, nodes: 1, controllers: ['*', '-workloads', '-serviceaccount', '-root-ca-cert-publisher'] })
    const { kubectl, withFile, env } = await aKubectl(binary, async () => server)
    await withFile('create', manifest)
    await server.settled({ within: 60_000 })
    await clock.advance('2s')
    expect((await kubectl('top', 'nodes', '--no-headers')).trim().split(/ +/)).toEqual(['node-1', '2051m', '25%', '8412Mi', '25%'])
    const main = (...flags: string[]) => kubectl('logs', 'web', '-c', 'main', ...flags)
    expect(await main('--tail=2', '--timestamps')).toBe('2026-01-01T00:00:01.000000000Z tick 1\n2026-01-01T00:00:02.000000000Z tick 2\n')
    expect(await main('--since=1s')).toBe('tick 1\ntick 2\n')
    expect(await main('--since-time=2026-01-01T00:00:02Z')).toBe('tick 2\n')
    expect(await main('--limit-bytes=4')).toBe('up\nt')
    const prefixed = await kubectl('logs', '-l', 'app=web', '--all-containers', '--prefix', '--tail=1')
    expect(prefixed.trimEnd().split('\n').sort()).toEqual([
      '[pod/web/first] first: ended with exit code 0',
      '[pod/web/main] tick 2',
      '[pod/web/side] side: started, simulated from image img:1',
    ])
    await expect(main('--previous')).rejects.toThrow('previous terminated container "main" in pod "web" not found')
    const follower = spawn(binary, ['logs', 'web', '-c', 'main', '-f', '--tail=1'], { env })
    const ended = once(follower, 'close')
    onTestFinished(() => void follower.kill())
    let followed = ''
    follower.stdout.on('data', (chunk) => {
      followed += String(chunk)
    })
    await expect.poll(() => followed, { timeout: 60_000 }).toBe('tick 2\n')
    await clock.advance('20s')
    await ended
    expect(followed).toBe(`${[2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => `tick ${n}`).join('\n')}\n`)
  })
})
