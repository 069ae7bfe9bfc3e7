import type { StatusLine } from '@orch/platform'
import { expect, test } from 'vitest'
import { type CtlOptions, CtlServer, runCtlIn } from './run-ctl.ts'

const shared = new CtlServer()

/** Runs a command; returns each text of its status line once, and the output between them, in order. */
async function statusOf(args: readonly string[], options: CtlOptions = {}): Promise<{ code: number; seen: string[]; isClosed: boolean }> {
  const seen: string[] = []
  let isClosed = false
  const statusLine: StatusLine = {
    show: (text) => void seen.push(`… ${text}`),
    giveWayTo: (text) => void seen.push(text.trimEnd()),
    suspendedWhile: (work) => work(),
    close() {
      isClosed = true
    },
  }
  const { code } = await runCtlIn(shared.folder, args, { ...options, statusLine })
  return { code, seen, isClosed }
}

const configMap = (name: string, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
})
const input = ['a', 'b'].map((name) => JSON.stringify(configMap(name))).join('\n---\n')
const ofFile = (...words: string[]) => statusOf([...words, '-f', '-'], { input })

test('commands about several objects show the next object, and clear the line at the end', async () => {
  expect(await ofFile('create')).toEqual({
    code: 0,
    seen: ['… creating configmap/a (1 of 2)', 'configmap/a created', '… creating configmap/b (2 of 2)', 'configmap/b created'],
    isClosed: true,
  })
  expect((await ofFile('apply')).seen).toContain('… applying configmap/b (2 of 2)')
  expect((await ofFile('replace')).seen).toContain('… replacing configmap/b (2 of 2)')
  expect((await ofFile('diff')).seen).toContain('… comparing configmap/b (2 of 2)')
  expect((await statusOf(['label', 'cm', 'a', 'b', 'x=y'])).seen).toContain('… changing labels of configmap/b (2 of 2)')
  expect((await statusOf(['patch', 'cm', 'a', 'b', '-p', '{"data":{"k":"v"}}'])).seen).toContain('… patching configmap/b (2 of 2)')
  expect((await statusOf(['delete', 'cm', 'a', 'b'])).seen).toEqual([
    '… deleting configmap/a (1 of 2)',
    'configmap "a" deleted',
    '… deleting configmap/b (2 of 2)',
    'configmap "b" deleted',
  ])
})

test('a single object shows no count', async () => {
  expect((await statusOf(['create', '-f', '-'], { input: JSON.stringify(configMap('a')) })).seen).toEqual([
    '… creating configmap/a',
    'configmap/a created',
  ])
})

test('delete --wait and wait show the awaited objects', async () => {
  const { objects } = shared.server.client
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'default' }
  await objects.create(configMap('a', { finalizers: ['example.com/held'] }))
  const release = () => objects.patch(reference, { metadata: { finalizers: null } }, { type: 'merge' })
  const whenShown = (words: string) => {
    let isReleased = false
    return (seen: string) => {
      if (!isReleased && seen.includes(words)) {
        isReleased = true
        void release()
      }
    }
  }
  const deleting = await statusOf(['delete', 'cm', 'a', '--wait'], { seen: whenShown('deleted') })
  expect(deleting.seen).toEqual(['… deleting configmap/a', 'configmap "a" deleted', '… waiting until configmap/a is gone'])
  expect((await statusOf(['wait', 'cm/a', '--for=delete'])).seen).toEqual(['… waiting for configmap/a: delete', 'configmap/a deleted'])
})

test('delete --wait waits after all deletions, since one object may wait for another', async () => {
  const { objects } = shared.server.client
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'default' }
  await objects.create(configMap('a', { finalizers: ['example.com/held'] }))
  await objects.create(configMap('b'))
  let hasBegun = false
  const { code, seen } = await statusOf(['delete', 'cm', 'a', 'b', '--wait'], {
    seen(out) {
      if (hasBegun || !out.includes('"b" deleted')) return
      hasBegun = true
      void objects.patch(reference, { metadata: { finalizers: null } }, { type: 'merge' })
    },
  })
  expect(code).toBe(0)
  expect(seen.slice(-2)).toEqual(['… waiting until configmap/a is gone (1 of 2)', '… waiting until configmap/b is gone (2 of 2)'])
})

test('delete --wait that is interrupted is a failure', async () => {
  await shared.server.client.objects.create(configMap('a', { finalizers: ['example.com/held'] }))
  const { code, seen } = await statusOf(['delete', 'cm', 'a', '--wait'], { signal: AbortSignal.abort() })
  expect(code).toBe(1)
  expect(seen.at(-1)).toBe('error: the command was ended before configmap/a was gone')
})

test('get shows the progress of reading a list', async () => {
  const { objects } = shared.server.client
  for (const name of ['a', 'b', 'c', 'd']) await objects.create(configMap(name, { namespace: 'kube-public' }))
  const reading = { seen: ['… reading configmaps', '… reading configmaps: 2 of 4'] }
  expect((await statusOf(['get', 'cm', '-n', 'kube-public', '--chunk-size=2', '-o', 'name'])).seen.slice(0, 2)).toEqual(reading.seen)
  expect((await statusOf(['get', 'cm', '-n', 'kube-public', '--chunk-size=2'])).seen.slice(0, 2)).toEqual(reading.seen)
  expect((await statusOf(['get', 'cm', 'a', '-n', 'kube-public', '-o', 'name'])).seen).toEqual(['configmap/a'])
})
