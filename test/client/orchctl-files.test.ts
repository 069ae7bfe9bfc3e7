import { describe, expect, test } from 'vitest'
import { CtlServer } from './run-ctl.ts'

const shared = new CtlServer(() => ({ controllers: [] }))
const { ctl } = shared
const configMap = (name: string, labels: object = {}) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data: { key: name } })

describe('-k', () => {
  const built = { code: 0, out: `${configMap('a')}\n---\n${configMap('b')}\n`, error: '' }

  test.each([
    ['kustomize', ['kustomize build overlay']],
    ['kubectl', ['kustomize build overlay', 'kubectl kustomize overlay']],
  ])('the objects of a kustomization equal the output of %s', async (present, expected) => {
    const asked: string[] = []
    const capture = (program: string, words: readonly string[]) => {
      asked.push([program, ...words].join(' '))
      return program === present ? built : undefined
    }
    expect(await ctl(['apply', '-k', 'overlay'], { capture })).toEqual({
      code: 0,
      out: 'configmap/a serverside-applied\nconfigmap/b serverside-applied\n',
      error: '',
    })
    expect(asked).toEqual(expected)
    expect((await ctl(['get', '-k', 'overlay', '-o', 'name'], { capture })).out).toBe('configmap/a\nconfigmap/b\n')
    expect((await ctl(['diff', '-k', 'overlay'], { capture })).code).toBe(0)
    expect((await ctl(['delete', '-k', 'overlay'], { capture })).out).toBe('configmap "a" deleted\nconfigmap "b" deleted\n')
  })

  test('an invalid folder prints the error of the program, and a missing program is named', async () => {
    const capture = () => ({ code: 1, out: '', error: 'no such file\n' })
    const failed = { code: 1, out: '' }
    expect(await ctl(['apply', '-k', 'overlay'], { capture })).toEqual({
      ...failed,
      error: 'error: kustomize cannot build overlay: no such file\n',
    })
    expect(await ctl(['apply', '-k', 'overlay'])).toEqual({
      ...failed,
      error: 'error: -k wants kustomize or kubectl on the PATH, which build kustomizations\n',
    })
    expect(await ctl(['apply', '-k', 'overlay', '-f', 'x.yaml'])).toEqual({
      ...failed,
      error: 'error: only one of -f or -k can be specified\n',
    })
  })
})

describe('wait', () => {
  const input = `${configMap('a', { app: 'web' })}\n---\n${configMap('b', { app: 'web' })}\n---\n${configMap('c')}\n`

  test('accepts the objects of files, of selectors, or all objects', async () => {
    await ctl(['create', '-f', '-'], { input })
    const met = (...names: string[]) => names.map((name) => `configmap/${name} condition met\n`).join('')
    const condition = '--for=jsonpath={.kind}=ConfigMap'
    expect((await ctl(['wait', '-f', '-', condition], { input })).out).toBe(met('a', 'b', 'c'))
    expect((await ctl(['wait', 'cm', '-l', 'app=web', condition])).out).toBe(met('a', 'b'))
    expect((await ctl(['wait', 'cm', '--field-selector', 'metadata.name=c', condition])).out).toBe(met('c'))
    expect((await ctl(['wait', 'cm', '--all', condition])).out).toBe(met('a', 'b', 'c'))
  })

  test('takes months and fractions of a millisecond as a timeout', async () => {
    const wait = ['wait', 'ns/default', '--for']
    expect(await ctl([...wait, 'jsonpath={.kind}=Namespace', '--timeout=2000h'])).toMatchObject({ code: 0 })
    const late = { code: 1, error: expect.stringContaining('timed out waiting for the condition on namespace/default') }
    expect(await ctl([...wait, 'jsonpath={.kind}=Pod', '--timeout=1500us'])).toMatchObject(late)
  })

  test('fails if nothing matches, except for a wait for deletion', async () => {
    const none = ['wait', 'cm', '-l', 'app=none']
    expect(await ctl([...none, '--for=create'])).toEqual({ code: 1, out: '', error: 'error: no matching resources found\n' })
    expect(await ctl([...none, '--for=delete'])).toEqual({ code: 0, out: '', error: '' })
  })
})

test('flags of every command may precede it, and an unknown flag is named', async () => {
  expect((await ctl(['-n', 'kube-public', '--as=jane', 'auth', 'can-i', 'get', 'pods'])).out).toBe('no\n')
  expect((await ctl(['--as', 'jane', 'auth', 'whoami', '-o', 'json'])).out).toContain('"jane"')
  expect(await ctl(['--nothing', 'get', 'pods'])).toMatchObject({ code: 1, error: 'error: unknown flag: --nothing\n' })
  for (const words of [[], ['help'], ['--help'], ['-h'], ['-n', 'default']]) {
    expect(await ctl(words)).toMatchObject({ code: 0, out: expect.stringMatching(/^Usage: orchctl <command>/) })
  }
  expect((await ctl(['-h', 'get'])).out).toMatch(/^Usage: orchctl get/)
})
