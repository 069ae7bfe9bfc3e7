import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { expect, test } from 'vitest'
import { createLifecycle, type SignalSource, stopOnSignal } from './lifecycle.ts'
import { silentLog } from './log.ts'

test('parts stop in the reverse order of their opening, once', async () => {
  const told: string[] = []
  const part = (name: string) => ({ name, close: () => void told.push(`-${name}`) })
  const lifecycle = createLifecycle({ log: silentLog })
  expect(lifecycle.opened('the part a', part('a')).name).toBe('a')
  lifecycle.onStop('the part b', part('b').close)
  lifecycle.opened('the part c', part('c'))
  await Promise.all([lifecycle.stop(), lifecycle.stop()])
  expect(told).toEqual(['-c', '-b', '-a'])
})

test('a part that fails to stop does not keep the others running', async () => {
  const told: string[] = []
  const lifecycle = createLifecycle({ log: silentLog })
  lifecycle.onStop('a', () => void told.push('-a'))
  lifecycle.onStop('b', () => Promise.reject(new Error('no')))
  await lifecycle.stop()
  expect(told).toEqual(['-a'])
})

class FakeProcess extends EventEmitter implements SignalSource {
  readonly codes: number[] = []
  exit(code: number) {
    this.codes.push(code)
  }
}

test('the first signal stops the server and exits 0, the second signal exits at once', async () => {
  const source = new FakeProcess()
  const { promise, resolve } = Promise.withResolvers<void>()
  stopOnSignal({ source, log: silentLog, stop: () => promise })
  source.emit('SIGTERM')
  expect(source.codes).toEqual([])
  source.emit('SIGTERM')
  expect(source.codes).toEqual([1])
  resolve()
  await Promise.resolve()
  expect(source.codes).toEqual([1, 0])
})

test('a stopping process stays alive until it has stopped', async () => {
  const lifecycle = new URL('./lifecycle.ts', import.meta.url).href
  const script = `
    const { stopOnSignal } = await import(${JSON.stringify(lifecycle)})
    const hold = setInterval(() => {}, 1000)
    const source = { on: (signal, listener) => process.on(signal, listener), off() {}, exit: (code) => process.exit(code) }
    const stop = async () => {
      clearInterval(hold)
      await new Promise((resolve) => setTimeout(resolve, 50).unref())
      console.log('stopped')
    }
    stopOnSignal({ source, log: { error() {} }, stop })
    console.log('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
    if (printed === 'ready\n') child.kill('SIGTERM')
  })
  const [code] = (await once(child, 'close')) as [number | null]
  expect({ code, printed }).toEqual({ code: 0, printed: 'ready\nstopped\n' })
})
